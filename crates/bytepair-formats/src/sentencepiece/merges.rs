//! Pieces with scores to merges: the meaning of a SentencePiece vocabulary.
//!
//! Two neighbours are merged whenever what they make is a piece, the highest score first, the leftmost of
//! equal ones. So a piece has a merge for each of its cuts whose sides are pieces, all of the same priority.
//! Single characters that are no pieces merge there too, and become unknown only in the end; a vocabulary
//! where that can happen is refused, as units outside the alphabet merge with nothing here.
//!
//! In sorted order a piece comes behind those that it begins with, so one pass finds them for all pieces, and another
//! over the reversed texts finds those that it ends with. Takes time linear in the text of the pieces, and sorting
//! them.

use std::cmp::Ordering;

use bytepair::normalize::SPACE_SYMBOL;
use bytepair::vocabulary::{Merge, TokenId, Vocabulary};
use bytepair::{Error, Result};
use bytepair_split::{Behaviour, Flavour, Pattern, Stage, first_begins};

/// A piece that takes part in merging.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'p> {
    pub(crate) id: TokenId,
    pub(crate) text: &'p str,
    pub(crate) score: f32,
}

/// Appends the merges of these pieces, which are different from each other.
///
/// # Errors
/// Where a piece could be made of a character that is no piece.
pub(crate) fn push_merges(
    format: &'static str,
    vocabulary: &mut Vocabulary,
    pieces: &[Scored<'_>],
) -> Result<()> {
    let [beginnings, endings] = [Side::Beginning, Side::End].map(|side| Nested::of(pieces, side));
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    let mut order: Vec<_> = (0..pieces.len()).collect();
    order.retain(|&place| !is_one_character(pieces[place].text));
    order.sort_by(|&one, &other| {
        let (one, other) = (pieces[one], pieces[other]);
        other.score.total_cmp(&one.score).then(one.id.cmp(&other.id))
    });
    let (mut priority, mut last_score) = (0, None);
    for place in order {
        let piece = &pieces[place];
        if last_score.is_some_and(|score| score > piece.score) {
            priority += 1;
        }
        last_score = Some(piece.score);
        beginnings.parts_of(pieces, place, &mut lefts);
        endings.parts_of(pieces, place, &mut rights);
        for (left, right) in fitting(&lefts, &rights, piece.text.len()) {
            let (Some(left_id), Some(right_id)) = (left.id, right.id) else {
                let unit = left.id.map_or(left.text, |_| right.text);
                let problem = format!("it is made of {unit:?}, which is not a piece");
                return Err(Error::format(format, format!("piece {}", piece.id), problem));
            };
            let merge = Merge { left: left_id, right: right_id, result: piece.id };
            vocabulary.push_merge_with_priority(merge, priority);
        }
    }
    Ok(())
}

/// Where the text is cut before merging: between parts of it that no piece spans.
///
/// Neighbouring unknown characters that become one must stay together too, so `▁` has to be known.
pub(crate) fn cut_stages<'p, P: Iterator<Item = &'p str>>(
    pieces: impl Fn() -> P,
    fuses_unknown: bool,
) -> Vec<Stage> {
    if fuses_unknown && !pieces().any(|text| text == SPACE_SYMBOL) {
        return Vec::new();
    }
    let spans_cut = |text: &str, before_is_space: bool| {
        let is_space = || text.chars().map(|character| SPACE_SYMBOL.starts_with(character));
        is_space().zip(is_space().skip(1)).any(|pair| pair == (before_is_space, !before_is_space))
    };
    if !pieces().any(|text| spans_cut(text, false)) {
        return SPACE_SYMBOL.chars().map(first_begins).collect();
    }
    if pieces().any(|text| spans_cut(text, true)) {
        return Vec::new();
    }
    let pattern = Pattern { source: "[^▁]*▁+|[^▁]+".to_owned(), flavour: Flavour::Rust };
    vec![Stage { pattern, behaviour: Behaviour::Isolated, invert: false }]
}

fn is_one_character(text: &str) -> bool {
    text.chars().nth(1).is_none()
}

/// From which side texts are read.
#[derive(Clone, Copy)]
enum Side {
    Beginning,
    End,
}

impl Side {
    fn order(self, one: &str, other: &str) -> Ordering {
        match self {
            Self::Beginning => one.cmp(other),
            Self::End => one.bytes().rev().cmp(other.bytes().rev()),
        }
    }

    /// The first eight bytes as a number of the same order.
    fn key(self, text: &str) -> u64 {
        let mut key = [0; 8];
        match self {
            Self::Beginning => key.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte),
            Self::End => key.iter_mut().zip(text.bytes().rev()).for_each(|(to, byte)| *to = byte),
        }
        u64::from_be_bytes(key)
    }

    /// Whether a text has another on this side.
    fn has(self, text: &str, part: &str) -> bool {
        match self {
            Self::Beginning => text.starts_with(part),
            Self::End => text.ends_with(part),
        }
    }

    /// The character on this side.
    fn character(self, text: &str) -> &str {
        let len = match self {
            Self::Beginning => text.chars().next(),
            Self::End => text.chars().next_back(),
        };
        let len = len.map_or(0, char::len_utf8);
        match self {
            Self::Beginning => &text[..len],
            Self::End => &text[text.len() - len..],
        }
    }
}

/// What stands on one side of a piece: another piece, or a character that is none.
#[derive(Clone, Copy)]
struct Beside<'p> {
    text: &'p str,
    id: Option<TokenId>,
}

/// Which pieces stand on one side of others.
struct Nested {
    side: Side,
    /// By place of a piece: the place of the longest other piece on that side of it.
    longest: Vec<Option<usize>>,
}

impl Nested {
    fn of(pieces: &[Scored<'_>], side: Side) -> Self {
        let with_key = |(place, piece): (usize, &Scored<'_>)| (side.key(piece.text), place);
        let mut order: Vec<_> = pieces.iter().enumerate().map(with_key).collect();
        order.sort_unstable_by(|one, other| {
            let texts = || side.order(pieces[one.1].text, pieces[other.1].text);
            one.0.cmp(&other.0).then_with(texts)
        });
        let mut longest = vec![None; pieces.len()];
        let mut open: Vec<usize> = Vec::new();
        for (_, place) in order {
            let text = pieces[place].text;
            while open.pop_if(|part| !side.has(text, pieces[*part].text)).is_some() {}
            longest[place] = open.last().copied();
            open.push(place);
        }
        Self { side, longest }
    }

    /// Everything on this side of a piece, the longest first.
    fn parts_of<'p>(&self, pieces: &[Scored<'p>], place: usize, parts: &mut Vec<Beside<'p>>) {
        parts.clear();
        let inner = std::iter::successors(self.longest[place], |&place| self.longest[place]);
        let beside = |place: usize| Beside { text: pieces[place].text, id: Some(pieces[place].id) };
        parts.extend(inner.map(beside));
        let character = self.side.character(pieces[place].text);
        if parts.last().is_none_or(|part| part.text.len() > character.len()) {
            parts.push(Beside { text: character, id: None });
        }
    }
}

/// The pairs of sides that are `len` bytes together, the shortest left side first.
fn fitting<'s, 'p>(
    lefts: &'s [Beside<'p>],
    rights: &'s [Beside<'p>],
    len: usize,
) -> impl Iterator<Item = (Beside<'p>, Beside<'p>)> + use<'s, 'p> {
    let mut rights = rights.iter().peekable();
    lefts.iter().rev().filter_map(move |left| {
        let wanted = len - left.text.len();
        while rights.next_if(|right| right.text.len() > wanted).is_some() {}
        let right = rights.peek().filter(|right| right.text.len() == wanted)?;
        Some((*left, **right))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytepair::vocabulary::Token;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    /// Merges by trying every cut, or the piece that is made of a character that is none.
    fn naive(pieces: &[Scored<'_>]) -> std::result::Result<Vec<Merge>, TokenId> {
        let ids: HashMap<_, _> = pieces.iter().map(|piece| (piece.text, piece.id)).collect();
        let mut order: Vec<_> = pieces.iter().collect();
        order.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        let mut merges = Vec::new();
        for piece in order {
            for place in piece.text.char_indices().skip(1).map(|(place, _)| place) {
                let (left, right) = piece.text.split_at(place);
                let is_unit = |text: &str| ids.contains_key(text) || is_one_character(text);
                let merge = |left, right| Merge { left, right, result: piece.id };
                match (ids.get(left), ids.get(right)) {
                    (Some(&left), Some(&right)) => merges.push(merge(left, right)),
                    _ if is_unit(left) && is_unit(right) => return Err(piece.id),
                    _ => (),
                }
            }
        }
        Ok(merges)
    }

    proptest! {
        #[test]
        fn merges_are_those_of_every_cut(
            texts in prop::collection::btree_set("[abé▁]{1,5}|a{1,9}", 1..40),
            shuffle in any::<[u8; 8]>(),
            has_characters in prop::bool::weighted(0.8),
        ) {
            let mut texts: BTreeSet<String> = texts;
            if has_characters {
                texts.extend(["a", "b", "é", "▁"].map(str::to_owned));
            }
            let mut texts: Vec<_> = texts.into_iter().collect();
            let key = |place: usize| u64::from(shuffle[place % 8]) * place as u64 % 7;
            let mut keyed: Vec<_> = texts.drain(..).enumerate().collect();
            keyed.sort_by_key(|(place, _)| key(*place));
            let mut vocabulary = Vocabulary::new();
            let mut pieces = Vec::new();
            for (id, (place, text)) in (0..).zip(&keyed) {
                vocabulary.insert(id, Token::plain(text.as_bytes())).unwrap();
                let score = f32::from(shuffle[place % 8] % 5);
                pieces.push(Scored { id, text, score });
            }
            let pushed = push_merges("a model", &mut vocabulary, &pieces);
            match naive(&pieces) {
                Ok(merges) => prop_assert_eq!(vocabulary.merges(), merges),
                Err(id) => {
                    let part = format!("piece {id}");
                    prop_assert!(pushed.unwrap_err().to_string().contains(&part));
                }
            }
        }
    }
}
