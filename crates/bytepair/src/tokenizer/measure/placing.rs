//! Ids with their places in the text, and the places of pieces.
//!
//! A text is encoded as always, and its pieces are walked through with their spans. If the bytes of the tokens add up to
//! those of each piece, their lengths are their places in it. Otherwise a token stands for text of any length, or units were
//! left out: then the text is traced, in parts as short as cuts allow. A token lies where its text came from. Costs another
//! walk and a look at each token, or what tracing takes.

use std::ops::Range;

use super::Tokenizer;
use crate::encoding::{Row, Traced};
use crate::error::Result;
use crate::segment::Segment;
use crate::tokenizer::call::Call;
use crate::tokenizer::walk::{Depth, Met};
use crate::tokenizer::worker::Worker;
use crate::vocabulary::{TokenId, TokenKind};
use bytepair_split::Boundaries;

/// How long a part is that is traced, in bytes, if it can be cut.
const TRACED_LEN: usize = if cfg!(test) { 8 } else { 256 };

/// Ids, where each lies, and where the pieces lie.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) ids: Vec<TokenId>,
    pub(super) tokens: Spans,
    pub(super) pieces: Spans,
    /// Memory for the words of a text.
    pub(super) boundaries: Boundaries,
}

impl Place {
    pub(super) fn clear(&mut self) {
        self.truncate([0; 3]);
    }

    fn lens(&self) -> [usize; 3] {
        [self.ids.len(), self.tokens.len(), self.pieces.len()]
    }

    fn truncate(&mut self, [n_ids, n_tokens, n_pieces]: [usize; 3]) {
        self.ids.truncate(n_ids);
        self.tokens.truncate(n_tokens);
        self.pieces.truncate(n_pieces);
    }

    /// Finds the ids of a stretch, and where they and the pieces lie; returns the number of pieces. `lens` are those of
    /// [`lens`].
    pub(super) fn fill(
        &mut self,
        call: &Call<'_>,
        lens: &[u32],
        stretch: Segment<'_>,
        worker: &mut Worker,
    ) -> Result<PieceCount> {
        let count = Placing { call, lens, worker, place: self }.place(stretch, 0)?;
        self.tokens.sort();
        self.pieces.sort();
        Ok(count)
    }

    /// Adds the tokens of a part that begins at a place: each lies where it came from.
    fn push_traced(&mut self, row: &Row, first: usize) {
        let mut rest = row.offsets();
        for run in row.words().chunk_by(|one, other| one == other) {
            let spans = rest.split_off(..run.len()).unwrap_or_default();
            spans.iter().for_each(|span| self.tokens.push(first, *span));
            self.push_piece(run.len());
        }
        self.ids.extend_from_slice(&row.ids);
    }

    /// Adds the piece of the last tokens.
    fn push_piece(&mut self, n_tokens: usize) {
        let from = self.tokens.len() - n_tokens;
        let start = self.tokens.starts[from..].iter().copied().min().unwrap_or_default();
        let end = self.tokens.ends[from..].iter().copied().max().unwrap_or_default();
        self.pieces.push(0, (start, end));
    }
}

/// Ranges of a text: where they begin, and where they end, each in order.
#[derive(Debug, Default)]
pub(super) struct Spans {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Spans {
    fn len(&self) -> usize {
        self.starts.len()
    }

    fn truncate(&mut self, len: usize) {
        self.starts.truncate(len);
        self.ends.truncate(len);
    }

    /// Adds a span of a part that begins at a place.
    #[inline]
    fn push(&mut self, first: usize, (start, end): (usize, usize)) {
        self.starts.push(first + start);
        self.ends.push(first + end.max(start));
    }

    /// Joins a range to the one before it.
    fn join(&mut self, index: usize) {
        if (1..self.starts.len()).contains(&index) {
            self.starts.remove(index);
            self.ends.remove(index - 1);
        }
    }

    fn sort(&mut self) {
        self.starts.sort_unstable();
        self.ends.sort_unstable();
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
    /// How many spans share a byte with a range that comes after all earlier ranges.
    #[inline]
    pub(super) fn n_within(&mut self, range: &Range<usize>) -> u64 {
        let (starts, ends) = (&self.spans.starts[self.n_begun..], &self.spans.ends[self.n_ended..]);
        self.n_begun += starts.iter().take_while(|&&start| start < range.end).count();
        self.n_ended += ends.iter().take_while(|&&end| end <= range.start).count();
        (self.n_begun - self.n_ended) as u64
    }
}

/// The number of pieces of a part of a text, and whether its ends lie in one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PieceCount {
    n: u64,
    begins_inside: Option<bool>,
    ends_inside: bool,
}

impl PieceCount {
    /// Adds a piece, or an added token.
    fn add(&mut self, is_text: bool) {
        self.n += 1;
        self.begins_inside.get_or_insert(is_text);
        self.ends_inside = is_text;
    }

    /// Whether a piece reaches from this part into the next, where a text is cut inside of pieces.
    pub(super) fn reaches_into(&self, next: &Self) -> bool {
        self.ends_inside && next.begins_inside == Some(true)
    }

    /// Puts the next part behind.
    pub(super) fn append(&mut self, next: &Self, is_joined: bool) {
        self.n += next.n - u64::from(is_joined);
        if let Some(begins) = next.begins_inside {
            self.begins_inside.get_or_insert(begins);
            self.ends_inside = next.ends_inside;
        }
    }

    pub(super) fn n(&self) -> u64 {
        self.n
    }
}

/// By id: how many bytes of a piece a token stands for, where that is the same everywhere; 0 where it is not.
pub(super) fn lens(tokenizer: &Tokenizer) -> Vec<u32> {
    let vocabulary = &tokenizer.parts.vocabulary;
    let mut lens = vec![0; vocabulary.len()];
    for (id, token) in vocabulary.iter().filter(|(_, token)| token.kind != TokenKind::Unknown) {
        lens[id as usize] = u32::try_from(token.bytes.len()).unwrap_or_default();
    }
    lens
}

/// Whether a text is cut inside of pieces.
pub(super) fn is_cut_inside(tokenizer: &Tokenizer) -> bool {
    let first = tokenizer.parts.pre_tokenizer.rounds().first();
    first.is_none_or(|round| round.splitter.stages().is_empty())
}

impl Call<'_> {
    /// The number of pieces of a stretch, an added token being one.
    pub(super) fn n_pieces(&self, stretch: Segment<'_>) -> Result<PieceCount> {
        let mut found = PieceCount::default();
        self.walk(&Traced::plain(stretch), Depth::Piece, |met| {
            match met {
                Met::Token { .. } => found.add(false),
                Met::Text { place, .. } if !place.is_empty() => found.add(true),
                Met::Segment { .. } | Met::Text { .. } => {}
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Finds places.
struct Placing<'c> {
    call: &'c Call<'c>,
    /// By id: how many bytes of a piece a token stands for, as [`lens`] gives them.
    lens: &'c [u32],
    worker: &'c mut Worker,
    place: &'c mut Place,
}

impl Placing<'_> {
    /// Places the tokens and pieces of a stretch that begins at a place, by their lengths if that is certain.
    fn place(&mut self, stretch: Segment<'_>, first: usize) -> Result<PieceCount> {
        let before = self.place.lens();
        self.call.encode_stretch(stretch, &mut self.place.ids, self.worker)?;
        if let Some(found) = self.place_by_lengths(stretch, first, before[0])? {
            return Ok(found);
        }
        self.place.truncate(before);
        self.place_in_parts(stretch, first)
    }

    /// Places the tokens from an index on; `None` if their lengths are not those of the pieces.
    fn place_by_lengths(
        &mut self,
        stretch: Segment<'_>,
        first: usize,
        from: usize,
    ) -> Result<Option<PieceCount>> {
        let Self { call, lens, place, .. } = self;
        let (mut next, mut found, mut fits) = (from, PieceCount::default(), true);
        call.walk(&Traced::of(stretch), Depth::Piece, |met| {
            let (text, range, is_token) = match met {
                Met::Segment { .. } => return Ok(()),
                Met::Token { text, place, .. } => (text, place, true),
                Met::Text { text, place } => (text, place, false),
            };
            if range.is_empty() || !fits {
                return Ok(());
            }
            found.add(!is_token);
            let (before, mut start) = (next, range.start);
            while start < range.end {
                let len = place.ids.get(next).map_or(0, |&id| lens[id as usize] as usize);
                let end = if is_token { range.end } else { start + len };
                if start == end || end > range.end || next == place.ids.len() {
                    fits = false;
                    return Ok(());
                }
                place.tokens.push(first, text.span(start..end));
                (next, start) = (next + 1, end);
            }
            place.push_piece(next - before);
            Ok(())
        })?;
        Ok((fits && next == self.place.ids.len()).then_some(found))
    }

    /// Cuts a stretch into short parts, and traces it if it has no place to cut.
    fn place_in_parts(&mut self, stretch: Segment<'_>, first: usize) -> Result<PieceCount> {
        let tokenizer = self.call.tokenizer;
        let (mut all, mut rest, mut first) = (PieceCount::default(), stretch, first);
        while !rest.text.is_empty() {
            let end = tokenizer.stretch_end(rest.text, TRACED_LEN);
            if end == stretch.text.len() {
                self.place.push_traced(&self.call.trace_stretch(stretch)?, first);
                return self.call.n_pieces(stretch);
            }
            let n_before = self.place.pieces.len();
            let found = self.place(rest.part(0..end), first)?;
            let is_joined = is_cut_inside(tokenizer) && all.reaches_into(&found);
            if is_joined {
                self.place.pieces.join(n_before);
            }
            all.append(&found, is_joined);
            first += end;
            rest = rest.rest(end);
        }
        Ok(all)
    }
}
