//! A text that grows inside its last piece.
//!
//! If the appended text ends no piece, the ids before the last piece stay, and those of the piece are continued
//! (`encode::growing`). So one more letter costs the same, however long a word is. Everything that could change earlier ids
//! is checked first: added tokens, the normalizer, and the splitter, which continues from its state.
//!
//! Left out, so that the text is counted again: patterns for the backtracker, normalizers that cannot be cut there, and what
//! `encode::growing` leaves out.

use super::Tokenizer;
use crate::encode::Growing;
use crate::segment::Segment;
use bytepair_split::{OpenPiece, Splitter};

/// Shorter pieces are counted anew.
const MIN_LEN: usize = if cfg!(test) { 4 } else { 256 };

/// What is known of a text that ends inside of a piece.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    splitter: Splitter,
    normalized: Vec<u8>,
    open: OpenPiece,
    piece: Growing,
    /// The number of ids before the piece.
    n_before: usize,
}

impl Growth {
    /// Takes a text of so many ids in, if it ends inside of a piece that is long and may grow.
    pub(super) fn new(tokenizer: &Tokenizer, segment: Segment<'_>, n_ids: usize) -> Option<Self> {
        let parts = &tokenizer.parts;
        let is_possible = segment.text.len() >= MIN_LEN
            && std::str::from_utf8(segment.text).is_ok()
            && !parts.normalizer.adds_behind()
            && !tokenizer.all_special.has_late_specials();
        if !is_possible {
            return None;
        }
        let splitter = parts.pre_tokenizer.only_splitter()?;
        let mut piece = tokenizer.encoder().growing()?;
        let normalized = parts.normalizer.normalize(segment).ok()?.into_owned();
        if tokenizer.all_special.finds_any(segment.text, &normalized) {
            return None;
        }
        let (start, open) = splitter.open_piece(&normalized)?;
        let min_len = MIN_LEN.max(tokenizer.encoder().longest_whole() + 1);
        if normalized.len() - start < min_len {
            return None;
        }
        tokenizer.grow(&mut piece, &normalized[start..])?;
        let n_before = n_ids.checked_sub(piece.n_ids())?;
        Some(Self { splitter, normalized, open, piece, n_before })
    }

    /// The number of ids of a text whose bytes from a place on are new; `None` where it has to be counted
    /// anew.
    pub(super) fn append(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        new: usize,
    ) -> Option<usize> {
        let normalizer = &tokenizer.parts.normalizer;
        let appended = &text[new..];
        let can_cut = normalizer.steps().is_empty() || normalizer.can_cut(text, new);
        if !can_cut || std::str::from_utf8(appended).is_err() {
            return None;
        }
        let segment = Segment { is_last: true, is_rest: true, ..Segment::inner(appended) };
        let place = self.normalized.len();
        self.normalized.extend_from_slice(&normalizer.normalize(segment).ok()?);
        let [raw_reach, reach] = tokenizer.all_special.reaches();
        let ends = [
            &text[new.saturating_sub(raw_reach)..],
            &self.normalized[place.saturating_sub(reach)..],
        ];
        if tokenizer.all_special.finds_any(ends[0], ends[1]) {
            return None;
        }
        self.splitter.grow(&self.normalized, place, &mut self.open)?;
        tokenizer.grow(&mut self.piece, &self.normalized[place..])?;
        Some(self.n_before + self.piece.n_ids())
    }
}

impl Tokenizer {
    fn grow(&self, piece: &mut Growing, text: &[u8]) -> Option<()> {
        self.workers.with(|worker| self.encoder().grow(piece, text, &mut worker.scratch))
    }
}
