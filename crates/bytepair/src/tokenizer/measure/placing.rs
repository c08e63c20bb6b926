//! Ids with their places in the text, and the pieces' places, as fast as they can be told.
//!
//! Where the text goes to the splitter as it was given, tokens follow each other, and the lengths of their bytes tell where
//! each begins; that they add up to the piece is checked. Otherwise (the normalizer changed something, an unknown token
//! stands for any length) the stretch is traced, and a token lies where the text lies that it came from. Costs a look at each
//! token, or what tracing takes.

use std::ops::Range;

use super::Desk;
use crate::added::Part;
use crate::error::Result;
use crate::split::{Behaviour, Boundaries, Segment, Splitter};
use crate::tokenizer::Tokenizer;
use crate::tokenizer::blocks::append_text;
use crate::tokenizer::call::Call;
use crate::tokenizer::pieces::Grain;
use crate::tokenizer::worker::{Worker, append_ids};
use crate::vocabulary::{TokenId, TokenKind};

/// Ids, where each lies, and where the pieces lie.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) ids: Vec<TokenId>,
    pub(super) tokens: Spans,
    pub(super) pieces: Spans,
}

impl Place {
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.tokens.clear();
        self.pieces.clear();
    }
}

/// Ranges of a text: where they begin, in order, and where they end, in order.
#[derive(Debug, Default)]
pub(super) struct Spans {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Spans {
    fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }

    fn push(&mut self, span: Range<usize>) {
        self.starts.push(span.start);
        self.ends.push(span.end);
    }

    /// Adds tokens that follow each other and fill a range; returns whether their lengths are known and do that.
    fn fill(&mut self, range: Range<usize>, ids: &[TokenId], lens: &[Option<usize>]) -> bool {
        let mut place = range.start;
        for &id in ids {
            let Some(len) = lens.get(id as usize).copied().flatten() else { return false };
            self.push(place..place + len);
            place += len;
        }
        place == range.end
    }

    fn sort(&mut self) {
        self.starts.sort_unstable();
        self.ends.sort_unstable();
    }

    fn len(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Goes over them beside other ranges.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { spans: self, n_begun: 0, n_ended: 0 }
    }
}

/// Goes over spans in order.
pub(super) struct Cursor<'s> {
    spans: &'s Spans,
    n_begun: usize,
    n_ended: usize,
}

impl Cursor<'_> {
    /// How many spans share a byte with a range behind those that were asked for before.
    pub(super) fn n_within(&mut self, range: &Range<usize>) -> u64 {
        let Spans { starts, ends } = self.spans;
        while starts.get(self.n_begun).is_some_and(|&start| start < range.end) {
            self.n_begun += 1;
        }
        while ends.get(self.n_ended).is_some_and(|&end| end <= range.start) {
            self.n_ended += 1;
        }
        (self.n_begun - self.n_ended) as u64
    }
}

/// By id: how many bytes of the text a token stands for, where that is the same everywhere.
pub(super) fn lens(tokenizer: &Tokenizer) -> Vec<Option<usize>> {
    let vocabulary = &tokenizer.parts.vocabulary;
    let mut lens = vec![None; vocabulary.len()];
    for (id, token) in vocabulary.iter() {
        if token.kind != TokenKind::Unknown {
            lens[id as usize] = Some(token.bytes.len());
        }
    }
    lens
}

/// Where a part of a text begins in it; `None` where it is a changed copy.
fn place_in(text: &[u8], part: &[u8]) -> Option<usize> {
    let place = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (place + part.len() <= text.len()).then_some(place)
}

/// Adds where the pieces of a range of a text lie, which begins at a place of a longer one.
fn push_pieces(
    (text, place): (&[u8], usize),
    splitter: &Splitter,
    boundaries: &mut Boundaries,
    pieces: &mut Spans,
) -> Result<()> {
    let mut from = 0;
    while from < text.len() {
        from = splitter.split_block(text, from, boundaries)?;
        boundaries.pieces().for_each(|piece| pieces.push(place + piece.start..place + piece.end));
    }
    Ok(())
}

/// The number of pieces of a text.
fn n_pieces(text: &[u8], splitter: &Splitter, boundaries: &mut Boundaries) -> Result<u64> {
    let (mut n_pieces, mut from) = (0, 0);
    while from < text.len() {
        from = splitter.split_block(text, from, boundaries)?;
        let n_starts: u32 = boundaries.starts().iter().map(|word| word.count_ones()).sum();
        let dropped = boundaries.dropped().unwrap_or_default();
        let n_dropped: u32 = dropped.iter().map(|word| word.count_ones()).sum();
        n_pieces += u64::from(n_starts) - u64::from(n_dropped);
    }
    Ok(n_pieces)
}

impl Call<'_> {
    /// The number of pieces of a stretch, an added token being one.
    pub(super) fn n_pieces(
        &self,
        stretch: Segment<'_>,
        boundaries: &mut Boundaries,
        worker: &mut Worker,
    ) -> Result<u64> {
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter();
        let grain = if splitter.is_some() { Grain::Segment } else { Grain::Piece };
        let mut n_all = 0;
        self.for_each_part(stretch, (&mut Vec::new(), grain), worker, |text, part, _, _| {
            n_all += match (part, splitter) {
                (Part::Text(range), Some(splitter)) => {
                    n_pieces(&text[range], splitter, boundaries)?
                }
                (Part::Text(range), None) => u64::from(!range.is_empty()),
                (Part::Token(..), _) => 1,
            };
            Ok(())
        })?;
        Ok(n_all)
    }

    /// Finds the ids of a stretch, and where they and the pieces lie; returns the number of pieces.
    pub(super) fn place(
        &self,
        stretch: Segment<'_>,
        lens: &[Option<usize>],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<u64> {
        if self.place_by_lengths(stretch, lens, worker, desk)? {
            return Ok(desk.place.pieces.len());
        }
        desk.place.clear();
        self.place_by_tracing(stretch, &mut desk.place)?;
        self.n_pieces(stretch, &mut desk.boundaries, worker)
    }

    /// The same by the lengths of tokens; returns whether that could be done.
    fn place_by_lengths(
        &self,
        stretch: Segment<'_>,
        lens: &[Option<usize>],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<bool> {
        let Desk { place: Place { ids, tokens, pieces }, boundaries, .. } = desk;
        let encoder = self.tokenizer.encoder();
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter();
        let splitter = splitter.filter(|splitter| {
            !self.matcher.has_whole_pieces() && !splitter.stages().iter().any(may_drop)
        });
        let grain = if splitter.is_some() { Grain::Segment } else { Grain::Piece };
        let mut is_placed = true;
        self.for_each_part(stretch, (ids, grain), worker, |text, part, ids, worker| {
            let base = place_in(stretch.text, text).filter(|_| is_placed);
            let Some(base) = base else {
                is_placed = false;
                return Ok(());
            };
            let n_before = ids.len();
            let (id, range) = match part {
                Part::Token(id, range) => (Some(id), range),
                Part::Text(range) if splitter.is_some() => (None, range),
                Part::Text(range) => (self.matcher.whole_piece(&text[range.clone()]), range),
            };
            let span = base + range.start..base + range.end;
            if let Some(id) = id {
                ids.push(id);
                tokens.push(span.clone());
                pieces.push(span);
                return Ok(());
            }
            if let Some(splitter) = splitter {
                let text = &text[range];
                append_text(encoder, splitter, text, ids, worker)?;
                push_pieces((text, span.start), splitter, boundaries, pieces)?;
            } else {
                pieces.push(span.clone());
                append_ids(encoder, text, range, ids, worker)?;
            }
            is_placed = tokens.fill(span, &ids[n_before..], lens);
            Ok(())
        })?;
        Ok(is_placed)
    }

    /// The same by following each token to where it came from.
    fn place_by_tracing(&self, stretch: Segment<'_>, place: &mut Place) -> Result<()> {
        let row = self.trace_stretch(stretch)?;
        let spans = row.offsets().iter().map(|&(start, end)| start..end.max(start));
        for tokens in row.words().chunk_by(|one, other| one == other).scan(0, |first, run| {
            let range = *first..*first + run.len();
            *first = range.end;
            Some(&row.offsets()[range])
        }) {
            let start = tokens.iter().map(|span| span.0).min().unwrap_or_default();
            let end = tokens.iter().map(|span| span.1).max().unwrap_or_default();
            place.pieces.push(start..end.max(start));
        }
        spans.for_each(|span| place.tokens.push(span));
        place.tokens.sort();
        place.pieces.sort();
        place.ids = row.ids;
        Ok(())
    }
}

/// Whether a stage may leave text out.
fn may_drop(stage: &crate::split::Stage) -> bool {
    stage.behaviour == Behaviour::Removed
}
