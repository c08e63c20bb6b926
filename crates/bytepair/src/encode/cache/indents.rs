//! Long pieces of line feeds and spaces, by how many of each: four of five long pieces of tables and indented text.
//!
//! Takes no hash, and looks at each byte once. Left out: other white space, and what is longer.

use super::MAX_KEY_LEN;
use crate::vocabulary::TokenId;

/// Line feeds of such a piece, at most.
pub(super) const MAX_FEEDS: usize = 3;
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
        n_feeds(piece).is_some_and(|n_feeds| self.append_by(n_feeds, piece.len(), out))
    }

    /// The same for an indent of so many line feeds, and of so many bytes in all.
    #[inline]
    pub(super) fn append_by(&self, n_feeds: usize, len: usize, out: &mut Vec<TokenId>) -> bool {
        let Some(&(start, n_ids @ 1..)) = self.rows.get(place(n_feeds, len)) else { return false };
        out.extend_from_slice(&self.ids[start as usize..][..n_ids as usize]);
        true
    }

    /// Remembers the ids of a piece; returns whether it is an indent.
    pub(super) fn insert(&mut self, piece: &[u8], ids: &[TokenId]) -> bool {
        let Some(n_feeds) = n_feeds(piece) else { return false };
        let [Ok(start), Ok(n_ids)] = [self.ids.len(), ids.len()].map(u32::try_from) else {
            return false;
        };
        self.rows.resize((MAX_FEEDS + 1) * (MAX_LEN + 1), (0, 0));
        let row = &mut self.rows[place(n_feeds, piece.len())];
        if row.1 == 0 {
            *row = (start, n_ids);
            self.ids.extend_from_slice(ids);
        }
        true
    }
}

/// Each indent has a row of its own.
#[inline]
fn place(n_feeds: usize, len: usize) -> usize {
    n_feeds * (MAX_LEN + 1) + len
}

/// Whether a piece may be an indent by its length and its last byte.
#[inline]
pub(super) fn may_be_one(piece: &[u8]) -> bool {
    (MAX_KEY_LEN + 1..=MAX_LEN).contains(&piece.len()) && piece.last() == Some(&b' ')
}

/// The number of line feeds of an indent that is too long for a key.
#[inline]
pub(super) fn n_feeds(piece: &[u8]) -> Option<usize> {
    if !may_be_one(piece) {
        return None;
    }
    let n_feeds = piece.iter().take(MAX_FEEDS).take_while(|&&byte| byte == b'\n').count();
    piece[n_feeds..].iter().all(|&byte| byte == b' ').then_some(n_feeds)
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
