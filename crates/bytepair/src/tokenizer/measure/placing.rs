//! Ids with their ranges in the text, and the ranges of pieces.
//!
//! Each piece is encoded as the walk reaches it. If the lengths of its tokens add up to its own, they give the ranges
//! of the tokens in the piece, and the walk knows where the piece came from; a text that is one piece except for its
//! spaces is not walked through its changes at all. Otherwise a token stands for text of any length, or units were
//! left out: then the text is traced, in parts as short as cuts allow. A token lies where its text came from. Costs a
//! look at each token, or what tracing takes.

use std::ops::Range;

use memchr::memmem;

use super::Tokenizer;
use crate::encoding::{Row, Traced};
use crate::error::Result;
use crate::segment::Segment;
use crate::tokenizer::blocks::append_text;
use crate::tokenizer::call::Call;
use crate::tokenizer::plan::Route;
use crate::tokenizer::spaces::Spaces;
use crate::tokenizer::walk::{Depth, Met};
use crate::tokenizer::worker::{Worker, append_ids};
use crate::vocabulary::{TokenId, TokenKind};
use bytepair_split::{Boundaries, Splitter};

/// The length of a part that is traced, in bytes, if it can be cut.
const TRACED_LEN: usize = if crate::SMALL { 8 } else { 256 };

/// Ids and their ranges, and the ranges of the pieces.
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

    /// Finds the ids of a stretch and returns the number of pieces. If `lens`, as made by [`lens`], are given, also
    /// finds the ranges of ids and pieces.
    pub(super) fn fill(
        &mut self,
        call: &Call<'_>,
        lens: Option<&[u32]>,
        stretch: Segment<'_>,
        worker: &mut Worker,
    ) -> Result<PieceCount> {
        let count = Placing { call, lens, worker, place: self }.place(stretch, 0)?;
        self.tokens.sort();
        self.pieces.sort();
        Ok(count)
    }

    /// Adds the tokens of a part at an offset, each where it came from.
    fn push_traced(&mut self, row: &Row, first: usize) {
        let mut rest = &row.offsets[..];
        for run in row.words.chunk_by(|one, other| one == other) {
            let spans = rest.split_off(..run.len()).unwrap_or_default();
            spans.iter().for_each(|span| self.tokens.push(first, *span));
            let start = spans.iter().map(|span| span.0).min().unwrap_or_default();
            let end = spans.iter().map(|span| span.1).max().unwrap_or_default();
            self.pieces.push(first, (start, end));
        }
        self.ids.extend_from_slice(&row.ids);
    }

    /// Places the tokens from an index on in one or several pieces; returns their start and end if their lengths fill
    /// it.
    ///
    /// A space may have been put in front. A token of that space alone has the place of the first character.
    fn push_by_lengths(
        &mut self,
        from: usize,
        first: usize,
        (text, piece): (&Traced<'_>, &Range<usize>),
        lens: &[u32],
    ) -> Option<(usize, usize)> {
        let mut left = piece.len();
        let len = |&id: &TokenId| lens[id as usize] as usize;
        let total: usize = self.ids[from..].iter().map(len).sum();
        left += total.checked_sub(left).filter(|&n_more| n_more <= 1)?;
        let (mut low, mut high) = (usize::MAX, 0);
        for id in &self.ids[from..] {
            let start = piece.end - left.min(piece.len());
            left -= len(id);
            let mut end = piece.end - left.min(piece.len());
            if end == piece.start {
                end += first_character_len(&text.text[piece.clone()]);
            }
            let span = text.span(start..end);
            self.tokens.push(first, span);
            (low, high) = (low.min(span.0), high.max(span.1));
        }
        self.ids[from..].iter().all(|id| len(id) > 0).then_some((low, high))
    }
}

impl Place {
    /// Counts the pieces of a segment, and places them if the place of the segment is known.
    fn push_pieces(
        &mut self,
        splitter: &Splitter,
        segment: &[u8],
        places: Option<(usize, &Traced<'_>, usize)>,
        found: &mut PieceCount,
    ) -> Result<()> {
        let mut from = 0;
        while from < segment.len() {
            from = splitter.split_block(segment, from, &mut self.boundaries)?;
            self.boundaries.pieces().for_each(|_| found.add(true));
            let Some((first, text, begin)) = places else { continue };
            for piece in self.boundaries.pieces() {
                let span = text.span(begin + piece.start..begin + piece.end);
                self.pieces.push(first, span);
            }
        }
        Ok(())
    }

    /// Adds the id of an added token, with its place if that is known.
    fn push_whole(&mut self, id: TokenId, first: usize, span: Option<(usize, usize)>) {
        self.ids.push(id);
        if let Some(span) = span {
            self.tokens.push(first, span);
            self.pieces.push(first, span);
        }
    }
}

fn first_character_len(text: &[u8]) -> usize {
    1 + text.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count()
}

/// Ranges of a text: their starts and their ends, each in order.
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

    /// Adds a span of a part at an offset.
    #[inline]
    fn push(&mut self, first: usize, (start, end): (usize, usize)) {
        self.starts.push(first + start);
        self.ends.push(first + end.max(start));
    }

    /// Joins a range to the previous one.
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

    /// A cursor over the spans, for comparison with other ranges.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { spans: self, n_begun: 0, n_ended: 0 }
    }
}

/// Walks through spans in order.
pub(super) struct Cursor<'s> {
    spans: &'s Spans,
    n_begun: usize,
    n_ended: usize,
}

impl Cursor<'_> {
    /// How many spans share a byte with `range`, which must come after all earlier ranges.
    #[inline]
    pub(super) fn n_within(&mut self, range: &Range<usize>) -> u64 {
        let (starts, ends) = (&self.spans.starts[self.n_begun..], &self.spans.ends[self.n_ended..]);
        self.n_begun += starts.iter().take_while(|&&start| start < range.end).count();
        self.n_ended += ends.iter().take_while(|&&end| end <= range.start).count();
        (self.n_begun - self.n_ended) as u64
    }
}

/// The number of pieces of a part of a text, and whether its ends lie inside a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PieceCount {
    pub(super) n: u64,
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

    /// Whether a piece continues from this part into the next, if texts are cut inside pieces.
    pub(super) fn reaches_into(&self, next: &Self) -> bool {
        self.ends_inside && next.begins_inside == Some(true)
    }

    /// Appends the next part.
    pub(super) fn append(&mut self, next: &Self, is_joined: bool) {
        self.n += next.n - u64::from(is_joined);
        if let Some(begins) = next.begins_inside {
            self.begins_inside.get_or_insert(begins);
            self.ends_inside = next.ends_inside;
        }
    }
}

/// By id: how many bytes of a piece a token stands for, if that is always the same; otherwise 0. In a text that is one
/// piece except for its spaces, the mark of a space counts as one byte.
pub(super) fn lens(tokenizer: &Tokenizer) -> Vec<u32> {
    let vocabulary = &tokenizer.parts.vocabulary;
    let mark = tokenizer.plan().words.as_ref().and_then(Spaces::is_one_piece).map(String::from);
    let mut lens = vec![0; vocabulary.len()];
    for (id, token) in vocabulary.iter().filter(|(_, token)| token.kind != TokenKind::Unknown) {
        let mark = mark.as_ref().filter(|_| matches!(token.kind, TokenKind::Text(_)));
        let n_less = mark.map_or(0, |mark| {
            (mark.len() - 1) * memmem::find_iter(token.bytes, mark.as_bytes()).count()
        });
        lens[id as usize] = u32::try_from(token.bytes.len() - n_less).unwrap_or_default();
    }
    lens
}

/// Whether texts are cut inside pieces.
pub(super) fn is_cut_inside(tokenizer: &Tokenizer) -> bool {
    let first = tokenizer.parts.pre_tokenizer.rounds().first();
    first.is_none_or(|round| round.splitter.stages().is_empty())
}

impl Call<'_> {
    /// How the words of a stretch are cut before they are normalized, if all of it is one piece and it does not
    /// contain the mark of a space.
    fn spaces(&self, stretch: Segment<'_>) -> Option<&Spaces> {
        let words = self.tokenizer.plan().words.as_ref();
        let spaces = words.filter(|spaces| spaces.takes(stretch.text))?;
        let mark = String::from(spaces.is_one_piece()?);
        let is_free = memmem::find(stretch.text, mark.as_bytes()).is_none();
        (is_free && !self.matcher.has_whole_pieces()).then_some(spaces)
    }

    /// The splitter of all text between added tokens, if it drops nothing.
    fn whole_splitter(&self, stretch: Segment<'_>) -> Option<&Splitter> {
        let Tokenizer { parts, .. } = self.tokenizer;
        match self.tokenizer.plan().route(parts, &self.matcher, stretch.text) {
            Route::Segments(splitter) if splitter.covers_everything() => Some(splitter),
            _ => None,
        }
    }
}

/// Finds the ranges of ids and pieces.
struct Placing<'c> {
    call: &'c Call<'c>,
    /// By id: how many bytes of a piece a token stands for, as given by [`lens`], if ranges are wanted.
    lens: Option<&'c [u32]>,
    worker: &'c mut Worker,
    place: &'c mut Place,
}

impl Placing<'_> {
    /// Finds the ids of a stretch at an offset, and the ranges of ids and pieces.
    fn place(&mut self, stretch: Segment<'_>, first: usize) -> Result<PieceCount> {
        let before = self.place.lens();
        let (found, fits) = match self.call.whole_splitter(stretch) {
            Some(splitter) => self.encode_segments(splitter, stretch, first)?,
            None => self.encode(stretch, first)?,
        };
        if fits {
            return Ok(found);
        }
        self.place.truncate(before);
        self.place_in_parts(stretch, first)
    }

    /// Encodes a stretch piece by piece; returns whether the lengths of tokens give their ranges, if these are wanted.
    fn encode(&mut self, stretch: Segment<'_>, first: usize) -> Result<(PieceCount, bool)> {
        let Self { call, lens, worker, place } = self;
        let (encoder, spaces) = (call.tokenizer.encoder(), call.spaces(stretch));
        let depth = spaces.map_or(Depth::Piece, |_| Depth::Raw);
        let text = lens.map_or(Traced::plain(stretch), |_| Traced::of(stretch));
        let (mut found, mut fits) = (PieceCount::default(), true);
        call.walk(&text, depth, |met| {
            let is_text = matches!(met, Met::Text { .. });
            let (text, range, mut whole) = match met {
                Met::Segment { .. } => return Ok(()),
                Met::Token { id, text, place, .. } => (text, place, Some(id)),
                Met::Text { text, place } => (text, place, None),
            };
            if range.is_empty() || !fits {
                return Ok(());
            }
            found.add(is_text);
            let from = place.ids.len();
            whole = whole.or_else(|| call.matcher.whole_piece(&text.text[range.clone()]));
            if let Some(id) = whole {
                place.push_whole(id, first, lens.map(|_| text.span(range)));
                return Ok(());
            }
            match spaces {
                Some(spaces) => spaces.append(encoder, text.segment(), &mut place.ids, worker)?,
                None => append_ids(encoder, &text.text, range.clone(), &mut place.ids, worker)?,
            }
            let Some(lens) = lens else { return Ok(()) };
            match place.push_by_lengths(from, first, (text, &range), lens) {
                Some(span) => place.pieces.push(first, span),
                None => fits = false,
            }
            Ok(())
        })?;
        Ok((found, fits))
    }

    /// [`Self::encode`] for whole segments, which a splitter cuts.
    fn encode_segments(
        &mut self,
        splitter: &Splitter,
        stretch: Segment<'_>,
        first: usize,
    ) -> Result<(PieceCount, bool)> {
        let Self { call, lens, worker, place } = self;
        let encoder = call.tokenizer.encoder();
        let text = lens.map_or(Traced::plain(stretch), |_| Traced::of(stretch));
        let (mut found, mut fits) = (PieceCount::default(), true);
        call.walk(&text, Depth::Segment, |met| {
            let (text, range) = match met {
                Met::Segment { .. } => return Ok(()),
                Met::Token { id, text, place: range, .. } => {
                    found.add(false);
                    place.push_whole(id, first, lens.map(|_| text.span(range)));
                    return Ok(());
                }
                Met::Text { text, place } => (text, place),
            };
            let (from, segment) = (place.ids.len(), &text.text[range.clone()]);
            append_text(encoder, splitter, segment, &mut place.ids, worker)?;
            let places = lens.map(|_| (first, text, range.start));
            place.push_pieces(splitter, segment, places, &mut found)?;
            let Some(lens) = lens else { return Ok(()) };
            fits &= place.push_by_lengths(from, first, (text, &range), lens).is_some();
            Ok(())
        })?;
        Ok((found, fits))
    }

    /// Cuts a stretch into short parts, and traces it if it cannot be cut.
    fn place_in_parts(&mut self, stretch: Segment<'_>, first: usize) -> Result<PieceCount> {
        let tokenizer = self.call.tokenizer;
        let (mut all, mut rest, mut first) = (PieceCount::default(), stretch, first);
        while !rest.text.is_empty() {
            let end = tokenizer.stretch_end(rest.text, TRACED_LEN);
            if end == stretch.text.len() {
                self.place.push_traced(&self.call.trace(stretch, 0)?, first);
                let place = &mut Place::default();
                let mut counting =
                    Placing { lens: None, place, call: self.call, worker: self.worker };
                return counting.encode(stretch, first).map(|(found, _)| found);
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
