//! Long pieces of line feeds and spaces, by how many of each: four of five long pieces of tables and indented text.
//!
//! Takes no hash, and looks at each byte once. Left out: other white space, and what is longer.

use super::MAX_KEY_LEN;
use crate::vocabulary::TokenId;

/// Line feeds of such a piece, at most.
const MAX_FEEDS: usize = 3;
/// Bytes of such a piece, at most.
const MAX_LEN: usize = 255;

/// Ids by indent.
#[derive(Default)]
pub(super) struct Indents {
    /// By line feeds and length: where the ids are, and how many; none where they are not known.
    rows: Vec<(u32, u32)>,
    ids: Vec<TokenId>,
}

impl Indents {
    /// Appends the ids of a piece, if it is an indent whose ids are known.
    #[inline]
    pub(super) fn append(&self, piece: &[u8], out: &mut Vec<TokenId>) -> bool {
        let Some(&(start, n_ids @ 1..)) = place(piece).and_then(|place| self.rows.get(place))
        else {
            return false;
        };
        out.extend_from_slice(&self.ids[start as usize..][..n_ids as usize]);
        true
    }

    /// Remembers the ids of a piece; returns whether it is an indent.
    pub(super) fn insert(&mut self, piece: &[u8], ids: &[TokenId]) -> bool {
        let Some(place) = place(piece) else { return false };
        let [Ok(start), Ok(n_ids)] = [self.ids.len(), ids.len()].map(u32::try_from) else {
            return false;
        };
        self.rows.resize((MAX_FEEDS + 1) * (MAX_LEN + 1), (0, 0));
        if self.rows[place].1 == 0 {
            self.rows[place] = (start, n_ids);
            self.ids.extend_from_slice(ids);
        }
        true
    }
}

/// The number of an indent that is too long for a key; every one has its own.
#[inline]
fn place(piece: &[u8]) -> Option<usize> {
    if !(MAX_KEY_LEN + 1..=MAX_LEN).contains(&piece.len()) || piece.last() != Some(&b' ') {
        return None;
    }
    let n_feeds = piece.iter().take(MAX_FEEDS).take_while(|&&byte| byte == b'\n').count();
    // Without leaving early, which is quicker for so few.
    let others = piece[n_feeds..].iter().fold(0, |others, &byte| others | (byte ^ b' '));
    (others == 0).then_some(n_feeds * (MAX_LEN + 1) + piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition.
    fn is_indent(piece: &str) -> bool {
        let spaces = piece.trim_start_matches('\n');
        let n_feeds = piece.len() - spaces.len();
        n_feeds <= 3
            && (16..256).contains(&piece.len())
            && spaces.trim_matches(' ').is_empty()
            && !spaces.is_empty()
    }

    #[test]
    fn each_indent_has_its_own_ids_and_nothing_else_has_any() {
        let mut indents = Indents::default();
        let pieces = (0..6).flat_map(|n_feeds| (0..300).map(move |n_spaces| (n_feeds, n_spaces)));
        let pieces = pieces.map(|(n_feeds, n_spaces)| "\n".repeat(n_feeds) + &" ".repeat(n_spaces));
        let known: Vec<_> =
            (0..).zip(pieces).map(|(id, piece)| (vec![id; 1 + piece.len() % 5], piece)).collect();
        for (ids, piece) in &known {
            assert_eq!(indents.insert(piece.as_bytes(), ids), is_indent(piece), "{piece:?}");
        }
        for (ids, piece) in &known {
            let mut found = Vec::new();
            assert_eq!(indents.append(piece.as_bytes(), &mut found), is_indent(piece), "{piece:?}");
            assert!(!is_indent(piece) || found == *ids, "{piece:?}");
        }
        let with = |piece: &str, other| {
            [piece.to_owned() + other, other.to_owned() + piece, piece.replacen(' ', other, 1)]
        };
        let others = known.iter().flat_map(|(_, piece)| {
            ["x", "\t", "\r"].into_iter().flat_map(|other| with(piece, other))
        });
        for other in others.filter(|other| !is_indent(other)) {
            assert!(!indents.append(other.as_bytes(), &mut Vec::new()), "{other:?}");
        }
    }
}
