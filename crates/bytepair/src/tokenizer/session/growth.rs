//! A text that ends inside a long piece, which may become longer.
//!
//! The ids before the piece stay, and those of the piece are continued (`encode::growing_piece`), so one more letter
//! costs the same however long the piece is. Everything that could change earlier ids is checked for each part that is
//! appended: added tokens, the normalizer, and in each round of cutting the change and the splitter, which continues
//! from its state.
//!
//! Left out, so that the text is encoded again from its last cut: sessions that refuse disallowed tokens, backtracking
//! patterns, normalizers that cannot continue at the end of the text, and what `encode::growing_piece` leaves out.

use bytepair_split::OpenPiece;

use crate::encode::Growing;
use crate::encoding::Traced;
use crate::normalize::Normalizer;
use crate::patch::Patch;
use crate::pretokenize::Round;
use crate::segment::Segment;
use crate::tokenizer::{Tokenizer, definition};

/// Shorter pieces are encoded again.
pub(super) const MIN_LEN: usize = if crate::SMALL { 4 } else { 256 };

/// What is known of a text that ends inside a piece.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// The text after the normalizer.
    normalized: Vec<u8>,
    /// The last piece of each round of cutting. Each lies in the one before.
    open: Vec<Open>,
    piece: Growing,
    /// The number of ids before the piece.
    n_before: usize,
}

/// The last piece of a round.
#[derive(Clone, Debug)]
struct Open {
    text: Vec<u8>,
    state: OpenPiece,
}

impl Growth {
    /// Accepts a text of this many ids if it ends inside a piece that is long and may grow.
    pub(super) fn new(tokenizer: &Tokenizer, text: Segment<'_>, n_ids: usize) -> Option<Self> {
        let parts = &tokenizer.parts;
        let is_possible = !definition::is_on()
            && text.text.len() >= MIN_LEN
            && std::str::from_utf8(text.text).is_ok()
            && !parts.normalizer.adds_behind();
        if !is_possible {
            return None;
        }
        let mut piece = tokenizer.encoder().growing()?;
        let asks_for_the_first = parts.pre_tokenizer.asks_for_the_first();
        let traced = if asks_for_the_first { Traced::of(text) } else { Traced::plain(text) };
        let normalized = traced.changed(&parts.normalizer).ok()?;
        if tokenizer.all_special.finds_any(text.text, &normalized.text) {
            return None;
        }
        let mut open = Vec::new();
        open_pieces(parts.pre_tokenizer.rounds(), &normalized, &mut open)?;
        let normalized = normalized.text.to_vec();
        let last = open.last().map_or(&normalized, |open| &open.text);
        let longest_whole =
            tokenizer.encoder().longest_whole().max(tokenizer.all_special.longest_whole_piece());
        if last.len() < MIN_LEN.max(longest_whole + 1) {
            return None;
        }
        tokenizer.grow(&mut piece, last)?;
        let n_before = n_ids.checked_sub(piece.n_ids())?;
        Some(Self { normalized, open, piece, n_before })
    }

    /// How the ids of a text change whose bytes from a place on are new; `None` if it has to be encoded again.
    pub(super) fn append(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        new: usize,
    ) -> Option<Patch> {
        let parts = &tokenizer.parts;
        let mut from = continue_text(&parts.normalizer, text, new, &mut self.normalized)?;
        let [raw_reach, reach] = tokenizer.all_special.reaches();
        let ends = [
            &text[new.saturating_sub(raw_reach)..],
            &self.normalized[from.saturating_sub(reach)..],
        ];
        if tokenizer.all_special.finds_any(ends[0], ends[1]) {
            return None;
        }
        let mut before = &self.normalized;
        for (round, open) in parts.pre_tokenizer.rounds().iter().zip(&mut self.open) {
            from = continue_text(&round.change, before, from, &mut open.text)?;
            round.splitter.grow(&open.text, from, &mut open.state)?;
            before = &open.text;
        }
        let grown = tokenizer.grow(&mut self.piece, &before[from..])?;
        Some(Patch { keep: self.n_before + grown.keep, ..grown })
    }
}

/// Finds the last piece of each round; `None` if one does not end with the text.
fn open_pieces(rounds: &[Round], text: &Traced<'_>, open: &mut Vec<Open>) -> Option<()> {
    let Some((round, later)) = rounds.split_first() else { return Some(()) };
    let changed = text.changed(&round.change).ok()?;
    std::str::from_utf8(&changed.text).ok()?;
    let (start, state) = round.splitter.open_piece(&changed.text)?;
    open.push(Open { text: changed.text[start..].to_vec(), state });
    open_pieces(later, &changed.piece(start..changed.text.len()), open)
}

/// Appends what a normalizer makes of a text from a place on to what it made of the text before; returns where the new
/// part begins. `None` if both parts have to be normalized together.
fn continue_text(
    normalizer: &Normalizer,
    text: &[u8],
    place: usize,
    done: &mut Vec<u8>,
) -> Option<usize> {
    let from = done.len();
    if !normalizer.can_continue(text, place, done) {
        return None;
    }
    let segment = Segment { is_last: true, is_rest: true, ..Segment::inner(&text[place..]) };
    let more = normalizer.normalize(segment).ok()?;
    std::str::from_utf8(&more).ok()?;
    done.extend_from_slice(&more);
    Some(from)
}

impl Tokenizer {
    fn grow(&self, piece: &mut Growing, text: &[u8]) -> Option<Patch> {
        self.workers.with(|worker| self.encoder().grow(piece, text, &mut worker.scratch))
    }
}
