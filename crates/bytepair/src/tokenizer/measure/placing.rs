//! Ids with their places in the text, and the places of pieces.
//!
//! Two ways. If a piece stands in the text as it was given, and the bytes of its tokens add up to it, their lengths are their
//! places; so too in a text whose spaces alone are replaced. Everything else is traced, in parts as short as cuts allow: the
//! normalizer changed something, or a token stands for text of any length. A traced token lies where its text came from.
//! Costs a look at each token, or what tracing takes.

use std::ops::Range;

use memchr::memmem;

use super::Tokenizer;
use crate::added::Part;
use crate::encoding::{Row, Traced};
use crate::error::Result;
use crate::segment::Segment;
use crate::tokenizer::blocks::append_text;
use crate::tokenizer::call::Call;
use crate::tokenizer::spaces::Spaces;
use crate::tokenizer::walk::{Depth, Met};
use crate::tokenizer::worker::{Worker, append_ids};
use crate::vocabulary::{TokenId, TokenKind};
use bytepair_split::{Behaviour, Boundaries, Splitter, Stage};

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

    /// Adds a piece, a range behind a place, that may be a token as a whole.
    fn push_piece(&mut self, first: usize, range: &Range<usize>, whole: Option<TokenId>) {
        let span = first + range.start..first + range.end;
        if let Some(id) = whole {
            self.ids.push(id);
            self.tokens.push(span.clone());
        }
        self.pieces.push(span);
    }

    /// Adds the pieces of a text that begins at a place, and counts them.
    fn push_pieces(
        &mut self,
        splitter: &Splitter,
        text: &[u8],
        start: usize,
        found: &mut PieceCount,
    ) -> Result<()> {
        let mut from = 0;
        while from < text.len() {
            from = splitter.split_block(text, from, &mut self.boundaries)?;
            for piece in self.boundaries.pieces() {
                self.pieces.push(start + piece.start..start + piece.end);
                found.add(&Part::Text(piece));
            }
        }
        Ok(())
    }

    /// Places the tokens from an index on in a text that begins at a place; returns whether their lengths fill it.
    ///
    /// At most `n_marks` bytes of them stand before the text. A token of these alone has the place of the first character.
    fn fill(
        &mut self,
        from: usize,
        start: usize,
        text: &[u8],
        (lens, n_marks): (&[u32], usize),
    ) -> bool {
        let ids = &self.ids[from..];
        let Some(n_more) = total_len(ids, lens).and_then(|len| len.checked_sub(text.len())) else {
            return false;
        };
        if n_more > n_marks {
            return false;
        }
        self.tokens.reserve(ids.len());
        let mut n_before = 0;
        for &id in ids {
            let begin = usize::saturating_sub(n_before, n_more);
            n_before += lens[id as usize] as usize;
            let end = match n_before.saturating_sub(n_more) {
                0 => first_character_len(text),
                end => end,
            };
            self.tokens.push(start + begin..start + end);
        }
        true
    }

    /// Adds the tokens of a part that begins at a place: each lies where it came from.
    fn push_traced(&mut self, row: &Row, first: usize) {
        let mut rest = row.offsets();
        for run in row.words().chunk_by(|one, other| one == other) {
            let spans = rest.split_off(..run.len()).unwrap_or_default();
            let start = spans.iter().map(|span| span.0).min().unwrap_or_default();
            let end = spans.iter().map(|span| span.1).max().unwrap_or_default();
            self.pieces.push(first + start..first + end.max(start));
            let span = |&(start, end): &(usize, usize)| first + start..first + end.max(start);
            spans.iter().for_each(|place| self.tokens.push(span(place)));
        }
        self.ids.extend_from_slice(&row.ids);
    }
}

/// The length of ids; `None` where that of one is not known.
fn total_len(ids: &[TokenId], lens: &[u32]) -> Option<usize> {
    let (mut sum, mut is_known) = (0_usize, true);
    for &id in ids {
        let len = lens.get(id as usize).copied().unwrap_or_default();
        is_known &= len > 0;
        sum = sum.saturating_add(len as usize);
    }
    is_known.then_some(sum)
}

fn first_character_len(text: &[u8]) -> usize {
    1 + text.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count()
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

    fn reserve(&mut self, n_more: usize) {
        self.starts.reserve(n_more);
        self.ends.reserve(n_more);
    }

    #[inline]
    fn push(&mut self, span: Range<usize>) {
        self.starts.push(span.start);
        self.ends.push(span.end);
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
    /// Adds an added token, or a piece.
    fn add(&mut self, part: &Part) {
        let is_text = match part {
            Part::Text(range) if range.is_empty() => return,
            Part::Text(_) => true,
            Part::Token(..) => false,
        };
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

/// By id: how many bytes of the text a token stands for, where that is the same everywhere; 0 where it is not.
pub(super) fn lens(tokenizer: &Tokenizer) -> Vec<u32> {
    let vocabulary = &tokenizer.parts.vocabulary;
    let mark = tokenizer.spaces().and_then(Spaces::is_one_piece).map(String::from);
    let mut lens = vec![0; vocabulary.len()];
    for (id, token) in vocabulary.iter() {
        let is_text = matches!(token.kind, TokenKind::Text(_));
        let mark = mark.as_ref().filter(|_| is_text).map(String::as_bytes);
        // A space is written as the mark.
        let n_less =
            mark.map_or(0, |mark| (mark.len() - 1) * memmem::find_iter(token.bytes, mark).count());
        if token.kind != TokenKind::Unknown {
            lens[id as usize] = u32::try_from(token.bytes.len() - n_less).unwrap_or_default();
        }
    }
    lens
}

/// Where a part of a text begins in it; `None` where it is a changed copy.
fn place_in(text: &[u8], part: &[u8]) -> Option<usize> {
    let place = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (place + part.len() <= text.len()).then_some(place)
}

/// Whether words are cut at spaces alone, and what stands for a space is not in the text.
fn has_free_mark(spaces: &Spaces, text: &[u8]) -> bool {
    let mark = spaces.is_one_piece().map(String::from);
    mark.is_some_and(|mark| memmem::find(text, mark.as_bytes()).is_none())
}

/// Whether a text is cut inside of pieces.
pub(super) fn is_cut_inside(tokenizer: &Tokenizer) -> bool {
    let first = tokenizer.parts.pre_tokenizer.rounds().first();
    first.is_none_or(|round| round.splitter.stages().is_empty())
}

impl Call<'_> {
    /// How the words of a stretch are cut before they are normalized, if they are.
    fn spaces(&self, stretch: Segment<'_>) -> Option<&Spaces> {
        let spaces = self.tokenizer.spaces().filter(|spaces| spaces.takes(stretch.text));
        spaces.filter(|_| !self.matcher.has_whole_pieces())
    }

    /// What cuts a text between added tokens into pieces, if one splitter does.
    fn splitter(&self) -> Option<&Splitter> {
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter();
        splitter.filter(|_| !self.matcher.has_whole_pieces())
    }

    /// What cuts it into pieces that cover it, if one splitter does.
    fn covering_splitter(&self) -> Option<&Splitter> {
        let drops = |stage: &Stage| stage.behaviour == Behaviour::Removed;
        self.splitter().filter(|splitter| !splitter.stages().iter().any(drops))
    }

    /// Appends the ids of a stretch and counts its pieces.
    pub(super) fn encode_and_count(
        &self,
        stretch: Segment<'_>,
        worker: &mut Worker,
        place: &mut Place,
    ) -> Result<PieceCount> {
        let Some(splitter) = self.splitter().filter(|_| self.spaces(stretch).is_none()) else {
            self.encode_stretch(stretch, &mut place.ids, worker)?;
            return self.n_pieces(stretch);
        };
        let (mut found, encoder) = (PieceCount::default(), self.tokenizer.encoder());
        self.walk(&Traced::plain(stretch), Depth::Segment, |met| match met {
            Met::Token { id, place: range, .. } => {
                found.add(&Part::Token(id, range));
                place.ids.push(id);
                Ok(())
            }
            Met::Segment { .. } => Ok(()),
            Met::Text { text, place: range } => {
                let text = &text.text[range];
                append_text(encoder, splitter, text, &mut place.ids, worker)?;
                place.push_pieces(splitter, text, 0, &mut found)
            }
        })?;
        Ok(found)
    }

    /// The number of pieces of a stretch, an added token being one.
    fn n_pieces(&self, stretch: Segment<'_>) -> Result<PieceCount> {
        let mut found = PieceCount::default();
        if self.spaces(stretch).is_some_and(|spaces| spaces.is_one_piece().is_some()) {
            self.matcher.cut_raw(stretch.text, |part| {
                found.add(&part);
                Ok(())
            })?;
            return Ok(found);
        }
        self.walk(&Traced::plain(stretch), Depth::Piece, |met| {
            match met {
                Met::Token { id, place, .. } => found.add(&Part::Token(id, place)),
                Met::Segment { .. } => {}
                Met::Text { place, .. } => found.add(&Part::Text(place)),
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Finds places.
pub(super) struct Placing<'c> {
    pub(super) call: Call<'c>,
    /// By id: how many bytes of the text a token stands for, as [`lens`] gives them.
    pub(super) lens: &'c [u32],
    pub(super) worker: &'c mut Worker,
    pub(super) place: &'c mut Place,
}

impl Placing<'_> {
    /// Finds the ids of a stretch, and where they and the pieces lie; returns the number of pieces.
    pub(super) fn place(&mut self, stretch: Segment<'_>) -> Result<PieceCount> {
        if let Some(found) = self.place_by_lengths(stretch, 0)? {
            return Ok(found);
        }
        self.place.clear();
        self.place_in_parts(stretch)
    }

    /// Finds where tokens and pieces lie by the lengths of tokens, in a stretch that begins at a place; `None` if that
    /// is not certain.
    fn place_by_lengths(
        &mut self,
        stretch: Segment<'_>,
        first: usize,
    ) -> Result<Option<PieceCount>> {
        match self.call.spaces(stretch).map(|spaces| has_free_mark(spaces, stretch.text)) {
            Some(true) => self.place_spaced(stretch, first),
            Some(false) => Ok(None),
            None => self.place_pieces(stretch, first),
        }
    }

    /// [`Self::place_by_lengths`] for a text whose words are cut at spaces. A mark may come before its first token.
    fn place_spaced(&mut self, stretch: Segment<'_>, first: usize) -> Result<Option<PieceCount>> {
        let Self { call, lens, worker, place } = self;
        let Some(spaces) = call.spaces(stretch) else { return Ok(None) };
        let (mut found, mut is_placed) = (PieceCount::default(), true);
        call.tokenizer.check_utf8(stretch.text)?;
        call.check_disallowed(stretch)?;
        call.matcher.cut_raw(stretch.text, |part| {
            found.add(&part);
            let range = match part {
                Part::Token(id, range) => {
                    place.push_piece(first, &range, Some(id));
                    return Ok(());
                }
                Part::Text(range) if range.is_empty() => return Ok(()),
                Part::Text(range) => range,
            };
            let n_before = place.ids.len();
            place.push_piece(first, &range, None);
            let segment = stretch.between(range.clone());
            spaces.append(call.tokenizer.encoder(), segment, &mut place.ids, worker)?;
            is_placed &= place.fill(n_before, first + range.start, segment.text, (lens, 1));
            Ok(())
        })?;
        Ok(is_placed.then_some(found))
    }

    /// [`Self::place_by_lengths`], by what stands between added tokens where one splitter cuts that into pieces that cover
    /// it, else piece by piece.
    fn place_pieces(&mut self, stretch: Segment<'_>, first: usize) -> Result<Option<PieceCount>> {
        let Self { call, lens, worker, place } = self;
        let (mut found, mut is_placed) = (PieceCount::default(), true);
        let encoder = call.tokenizer.encoder();
        let splitter = call.covering_splitter();
        let depth = splitter.map_or(Depth::Piece, |_| Depth::Segment);
        call.walk(&Traced::plain(stretch), depth, |met| {
            let (text, part) = match met {
                Met::Segment { .. } => return Ok(()),
                Met::Token { id, text, place, .. } => (&*text.text, Part::Token(id, place)),
                Met::Text { place, .. } if place.is_empty() => return Ok(()),
                Met::Text { text, place } => (&*text.text, Part::Text(place)),
            };
            let base = place_in(stretch.text, text).filter(|_| is_placed);
            let Some(base) = base.map(|base| first + base) else {
                is_placed = false;
                return Ok(());
            };
            let (whole, range) = match &part {
                Part::Token(id, range) => (Some(*id), range.clone()),
                Part::Text(range) => {
                    (call.matcher.whole_piece(&text[range.clone()]), range.clone())
                }
            };
            if whole.is_some() {
                found.add(&part);
                place.push_piece(base, &range, whole);
                return Ok(());
            }
            let (n_before, start) = (place.ids.len(), base + range.start);
            if let Some(splitter) = splitter {
                let text = &text[range.clone()];
                append_text(encoder, splitter, text, &mut place.ids, worker)?;
                place.push_pieces(splitter, text, start, &mut found)?;
            } else {
                found.add(&part);
                place.push_piece(base, &range, None);
                append_ids(encoder, text, range.clone(), &mut place.ids, worker)?;
            }
            is_placed = place.fill(n_before, start, &text[range], (lens, 0));
            Ok(())
        })?;
        Ok(is_placed.then_some(found))
    }

    /// Cuts a stretch into short parts, and traces those whose tokens' lengths do not tell where they lie.
    fn place_in_parts(&mut self, stretch: Segment<'_>) -> Result<PieceCount> {
        let tokenizer = self.call.tokenizer;
        let (mut all, mut rest, mut first) = (PieceCount::default(), stretch, 0);
        while !rest.text.is_empty() {
            let end = tokenizer.stretch_end(rest.text, TRACED_LEN);
            let (part, before) = (rest.part(0..end), self.place.lens());
            let found = if let Some(found) = self.place_by_lengths(part, first)? {
                found
            } else {
                self.place.truncate(before);
                self.place.push_traced(&self.call.trace_stretch(part)?, first);
                self.call.n_pieces(part)?
            };
            let is_joined = is_cut_inside(tokenizer) && all.reaches_into(&found);
            if is_joined {
                self.place.pieces.join(before[2]);
            }
            all.append(&found, is_joined);
            first += end;
            rest = rest.rest(end);
        }
        self.place.tokens.sort();
        self.place.pieces.sort();
        Ok(all)
    }
}
