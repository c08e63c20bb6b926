//! Pieces with scores to merges: the meaning of a SentencePiece vocabulary.
//!
//! Two neighbours are merged whenever what they make is a piece, the highest score first, the leftmost of
//! equal ones. So a piece has a merge for each of its cuts whose sides are pieces, all of the same priority.
//! Single characters that are no pieces merge there too, and become unknown only in the end; a vocabulary
//! where that can happen is refused, as units outside the alphabet merge with nothing here. For a piece,
//! cuts are tried where both lengths are those of pieces, so long pieces cost no more than the file has
//! lengths.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::normalize::SPACE_SYMBOL;
use crate::split::{Behaviour, Flavour, Pattern, Stage, first_begins};
use crate::vocabulary::{Merge, TokenId, Vocabulary};

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
    let ids: HashMap<&str, TokenId> = pieces.iter().map(|piece| (piece.text, piece.id)).collect();
    let is_length = lengths(pieces);
    let mut order: Vec<_> = pieces.iter().filter(|piece| !is_one_character(piece.text)).collect();
    order.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
    let (mut priority, mut last_score) = (0, None);
    for piece in order {
        if last_score.is_some_and(|score| score > piece.score) {
            priority += 1;
        }
        last_score = Some(piece.score);
        for (left, right) in cuts(piece.text, &is_length) {
            let (left, right) = match (side(&ids, left), side(&ids, right)) {
                (Side::Other, _) | (_, Side::Other) => continue,
                (Side::Piece(left), Side::Piece(right)) => (left, right),
                (Side::Stranger(unit), _) | (_, Side::Stranger(unit)) => {
                    let problem = format!("it is made of {unit:?}, which is no piece");
                    return Err(Error::format(format, format!("piece {}", piece.id), problem));
                }
            };
            let merge = Merge { left, right, result: piece.id };
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

/// What stands on one side of a cut.
enum Side<'p> {
    Piece(TokenId),
    /// A character that is no piece.
    Stranger(&'p str),
    /// Nothing that a merge could make.
    Other,
}

fn side<'p>(ids: &HashMap<&str, TokenId>, text: &'p str) -> Side<'p> {
    match ids.get(text) {
        Some(&id) => Side::Piece(id),
        None if is_one_character(text) => Side::Stranger(text),
        None => Side::Other,
    }
}

fn is_one_character(text: &str) -> bool {
    text.chars().nth(1).is_none()
}

/// By length in bytes: whether a side of a cut may have it.
fn lengths(pieces: &[Scored<'_>]) -> Vec<bool> {
    let longest = pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0);
    let mut is_length = vec![false; longest.max(4) + 1];
    is_length[1..=4].fill(true);
    pieces.iter().for_each(|piece| is_length[piece.text.len()] = true);
    is_length
}

fn cuts<'p>(text: &'p str, is_length: &[bool]) -> impl Iterator<Item = (&'p str, &'p str)> {
    let places = text.char_indices().skip(1).map(|(place, _)| place);
    places
        .filter(|&place| is_length[place] && is_length[text.len() - place])
        .map(|place| text.split_at(place))
}
