//! Ids with their places in the text, and the places of pieces, in the fastest way that is exact.
//!
//! If the text is split unchanged, tokens are adjacent, and the lengths of their bytes give their places; they are checked to
//! add up to the text. The same holds if only spaces are replaced. Everything else (the normalizer changed something, an
//! unknown token stands for text of any length) is traced, in parts as short as cuts allow, and a token is placed where its
//! text came from. Costs a look at each token, or what tracing takes.

use std::ops::Range;

use memchr::memmem;

use super::spans::{Bits, Spans, WordCount, count_words};
use super::tally::{MAX_LEN, Tally};
use super::{Desk, Tokenizer};
use crate::added::Part;
use crate::error::Result;
use crate::segment::Segment;
use crate::tokenizer::blocks::{append_text, n_pieces_of, set};
use crate::tokenizer::call::Call;
use crate::tokenizer::spaces::Spaces;
use crate::tokenizer::walk::Depth as PartKind;
use crate::tokenizer::worker::{Worker, append_ids};
use crate::vocabulary::{TokenId, TokenKind};
use bytepair_split::{Behaviour, Boundaries, Splitter, Stage};

/// How long a part is that is traced, in bytes, if it can be cut.
const TRACED_LEN: usize = if cfg!(test) { 8 } else { 256 };

/// Ids, where each lies, and where the pieces lie.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) ids: Vec<TokenId>,
    /// Whether tokens cover the text, and pieces do; else they lie where the spans say.
    pub(super) is_covered: bool,
    pub(super) token_starts: Bits,
    pub(super) piece_starts: Bits,
    pub(super) tokens: Spans,
    pub(super) pieces: Spans,
    /// Added tokens and the texts between two, each with the number of its ids.
    parts: Vec<(Part, usize)>,
}

impl Place {
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.is_covered = false;
        self.tokens.clear();
        self.pieces.clear();
        self.parts.clear();
    }

    /// Each part with its ids.
    fn parts(&self) -> impl Iterator<Item = (&Part, &[TokenId])> {
        let mut rest = &self.ids[..];
        self.parts.iter().map(move |(part, n_ids)| {
            let (ids, behind) = rest.split_at(*n_ids);
            rest = behind;
            (part, ids)
        })
    }

    /// Places the tokens of parts as ranges; returns whether they follow each other and fill the parts.
    fn fill_spaced(&mut self, text: &[u8], lens: &[u32]) -> bool {
        let (mut tokens, mut pieces) =
            (std::mem::take(&mut self.tokens), std::mem::take(&mut self.pieces));
        let is_filled = self.parts().all(|(part, ids)| {
            let (Part::Token(_, range) | Part::Text(range)) = part;
            pieces.push(range.clone());
            if let Part::Text(range) = part {
                return fill_behind_mark((text, 0), range, ids, lens, &mut tokens);
            }
            tokens.push(range.clone());
            true
        });
        (self.tokens, self.pieces) = (tokens, pieces);
        is_filled
    }

    /// The words of a block of a text that is covered.
    pub(super) fn words_of(&self, boundaries: &Boundaries) -> WordCount {
        count_words(boundaries, &self.token_starts, &self.piece_starts)
    }

    fn lens(&self) -> [usize; 3] {
        [self.ids.len(), self.tokens.len(), self.pieces.len()]
    }

    fn truncate(&mut self, [n_ids, n_tokens, n_pieces]: [usize; 3]) {
        self.ids.truncate(n_ids);
        self.tokens.truncate(n_tokens);
        self.pieces.truncate(n_pieces);
    }
}

impl Desk {
    /// Notes where tokens and parts start, and counts the ids, if tokens cover a text of a length; returns whether they do.
    fn cover_spaced(&mut self, len: usize, lens: &[u32]) -> bool {
        let is_covered = |(part, ids): (&Part, &[TokenId])| match part {
            Part::Token(..) => true,
            Part::Text(range) => n_marks(ids, range.len(), lens).is_some(),
        };
        if !self.place.parts().all(is_covered) {
            return false;
        }
        let [mut token_starts, mut piece_starts] =
            [&mut self.place.token_starts, &mut self.place.piece_starts].map(std::mem::take);
        token_starts.reset(len);
        piece_starts.reset(len);
        for (part, ids) in self.place.parts() {
            let (Part::Token(_, range) | Part::Text(range)) = part;
            piece_starts.insert(range.start);
            token_starts.insert(range.start);
            let first_len = ids.first().map_or(0, |&id| self.tally.add(id));
            let n_marks = n_marks(ids, range.len(), lens).unwrap_or_default();
            let behind = range.start + first_len.saturating_sub(n_marks)..range.end;
            put(ids.get(1..).unwrap_or_default(), behind, &mut self.tally, &mut token_starts);
        }
        (self.place.token_starts, self.place.piece_starts) = (token_starts, piece_starts);
        self.place.is_covered = true;
        true
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
    /// Adds an added token.
    fn token(&mut self) {
        self.n += 1;
        self.begins_inside.get_or_insert(false);
        self.ends_inside = false;
    }

    /// Adds the pieces of a text between two.
    fn text(&mut self, n: u64) {
        if n > 0 {
            self.n += n;
            self.begins_inside.get_or_insert(true);
            self.ends_inside = true;
        }
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
            let len = Some(token.bytes.len() - n_less).filter(|len| *len <= MAX_LEN);
            lens[id as usize] = len.and_then(|len| u32::try_from(len).ok()).unwrap_or_default();
        }
    }
    lens
}

/// The length of ids; `None` where that of one is not known.
fn total_len(ids: &[TokenId], lens: &[u32]) -> Option<usize> {
    let len = |id: &TokenId| lens.get(*id as usize).filter(|len| **len > 0);
    ids.iter().try_fold(0_usize, |sum, id| sum.checked_add(*len(id)? as usize))
}

/// Where a part of a text begins in it; `None` where it is a changed copy.
fn place_in(text: &[u8], part: &[u8]) -> Option<usize> {
    let place = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (place + part.len() <= text.len()).then_some(place)
}

/// Counts tokens, and notes where each starts if they follow each other and fill a range; returns whether they do.
fn put(ids: &[TokenId], range: Range<usize>, tally: &mut Tally, starts: &mut Bits) -> bool {
    let (mut place, mut is_known) = (range.start, true);
    for &id in ids {
        starts.insert(place);
        let len = tally.add(id);
        is_known &= len > 0;
        place = place.saturating_add(len);
    }
    is_known && place == range.end
}

/// Adds tokens that follow each other and fill a range; returns whether they do.
fn fill(range: &Range<usize>, ids: &[TokenId], lens: &[u32], tokens: &mut Spans) -> bool {
    if total_len(ids, lens) != Some(range.len()) {
        return false;
    }
    let mut place = range.start;
    for &id in ids {
        let end = place + lens[id as usize] as usize;
        tokens.push(place..end);
        place = end;
    }
    true
}

/// Fills in the starts of tokens for a range of a text that begins at a place. A mark may come before the first token; as
/// a token of its own, it has the place of the first character.
fn fill_behind_mark(
    (text, first): (&[u8], usize),
    range: &Range<usize>,
    ids: &[TokenId],
    lens: &[u32],
    tokens: &mut Spans,
) -> bool {
    let n_more = total_len(ids, lens).and_then(|len| len.checked_sub(range.len()));
    let Some(n_more @ 0..=1) = n_more else { return false };
    let continues = |byte: &&u8| **byte & 0xC0 == 0x80;
    let first_len = 1 + text[range.clone()].iter().skip(1).take_while(continues).count();
    let (place, mut n_before) = (first + range.start, 0);
    for &id in ids {
        let start = place + usize::saturating_sub(n_before, n_more);
        n_before += lens[id as usize] as usize;
        let is_mark_alone = n_before <= n_more;
        let len = if is_mark_alone { first_len } else { n_before - n_more };
        tokens.push(start..place + len);
    }
    true
}

/// How many marks stand before a text of a length that tokens fill: one that belongs to the first token, or none. `None`
/// where they do not fill it, or a mark is a token of its own.
fn n_marks(ids: &[TokenId], len: usize, lens: &[u32]) -> Option<usize> {
    let n_more = total_len(ids, lens)?.checked_sub(len)?;
    let first_len = ids.first().map_or(0, |&id| lens[id as usize] as usize);
    (n_more == 0 || n_more == 1 && first_len > 1).then_some(n_more)
}

/// Whether words are cut at spaces alone, and what stands for a space is not in the text.
fn has_free_mark(spaces: &Spaces, text: &[u8]) -> bool {
    let mark = spaces.is_one_piece().map(String::from);
    mark.is_some_and(|mark| memmem::find(text, mark.as_bytes()).is_none())
}

/// Whether a stage may leave text out.
fn may_drop(stage: &Stage) -> bool {
    stage.behaviour == Behaviour::Removed
}

/// Whether a text is cut inside of pieces.
pub(super) fn is_cut_inside(tokenizer: &Tokenizer) -> bool {
    let first = tokenizer.parts.pre_tokenizer.rounds().first();
    first.is_none_or(|round| round.splitter.stages().is_empty())
}

impl Call<'_> {
    /// Appends the ids of a stretch and counts its pieces.
    pub(super) fn encode_and_count(
        &self,
        stretch: Segment<'_>,
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<PieceCount> {
        let Desk { place: Place { ids, .. }, boundaries, .. } = desk;
        if self.spaces(stretch).is_some_and(|spaces| spaces.is_one_piece().is_some()) {
            return self.for_each_spaced(stretch, ids, worker, |_, _| true).map(|(found, _)| found);
        }
        let is_plain = !self.matcher.has_whole_pieces()
            && self.spaces(stretch).is_none()
            && self.tokenizer.repeats().is_none();
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter();
        let Some(splitter) = splitter.filter(|_| is_plain) else {
            self.encode_stretch(stretch, ids, worker)?;
            return self.n_pieces(stretch, boundaries, worker);
        };
        let (mut found, encoder) = (PieceCount::default(), self.tokenizer.encoder());
        worker.marks.is_wanted = true;
        let part_kind = PartKind::Segment;
        let all =
            self.for_each_part(stretch, (ids, part_kind), worker, |text, part, ids, worker| {
                match part {
                    Part::Token(id, _) => {
                        ids.push(id);
                        found.token();
                        Ok(())
                    }
                    Part::Text(range) => {
                        worker.marks.n_pieces = 0;
                        append_text(encoder, splitter, &text[range], ids, worker)?;
                        found.text(worker.marks.n_pieces);
                        Ok(())
                    }
                }
            });
        worker.marks.is_wanted = false;
        all.map(|()| found)
    }

    /// Finds the ids of a stretch, and where they and the pieces lie; returns the number of pieces.
    pub(super) fn place(
        &self,
        stretch: Segment<'_>,
        lens: &[u32],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<PieceCount> {
        desk.place.clear();
        if let Some(splitter) = self.covering_splitter(stretch) {
            worker.marks.is_wanted = true;
            let placed = self.place_covered((stretch, splitter), worker, desk);
            worker.marks.is_wanted = false;
            worker.marks.place = None;
            if let Some(found) = placed? {
                return Ok(found);
            }
            desk.tally.take_back(&desk.place.ids);
            desk.place.clear();
            return self.place_in_parts(stretch, lens, worker, desk);
        }
        let spaces = self.spaces(stretch);
        let placed = match spaces.is_some_and(|spaces| has_free_mark(spaces, stretch.text)) {
            true => self.place_spaced(stretch, lens, worker, desk)?,
            false => self.place_by_lengths((stretch, 0), lens, worker, desk)?,
        };
        if let Some(found) = placed {
            return Ok(found);
        }
        desk.place.clear();
        self.place_in_parts(stretch, lens, worker, desk)
    }

    /// What cuts a stretch into pieces that cover it, if one splitter does as a rule.
    fn covering_splitter(&self, stretch: Segment<'_>) -> Option<&Splitter> {
        if self.matcher.has_whole_pieces() || self.spaces(stretch).is_some() {
            return None;
        }
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter()?;
        (!splitter.stages().iter().any(may_drop)).then_some(splitter)
    }

    /// How the words of a stretch are cut before they are normalized, if they are.
    fn spaces(&self, stretch: Segment<'_>) -> Option<&Spaces> {
        let spaces = self.tokenizer.spaces().filter(|spaces| spaces.takes(stretch.text));
        spaces.filter(|_| !self.matcher.has_whole_pieces())
    }

    /// Finds where tokens and pieces start that cover the stretch, and counts the ids; `None` if they do not.
    fn place_covered(
        &self,
        (stretch, splitter): (Segment<'_>, &Splitter),
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<Option<PieceCount>> {
        let Desk { place, tally, .. } = desk;
        let Place { ids, token_starts, piece_starts, is_covered, .. } = place;
        token_starts.reset(stretch.text.len());
        piece_starts.reset(stretch.text.len());
        std::mem::swap(&mut worker.marks.starts, &mut piece_starts.0);
        let (mut found, encoder) = (PieceCount::default(), self.tokenizer.encoder());
        // What normalizing takes away is in no part, and then tokens do not cover the stretch.
        let (mut is_placed, mut n_covered) = (true, 0);
        let part_kind = PartKind::Segment;
        let all =
            self.for_each_part(stretch, (ids, part_kind), worker, |text, part, ids, worker| {
                let base = place_in(stretch.text, text).filter(|_| is_placed);
                let Some(base) = base else {
                    is_placed = false;
                    return Ok(());
                };
                let range = match part {
                    Part::Token(id, range) => {
                        ids.push(id);
                        tally.add(id);
                        n_covered += range.len();
                        token_starts.insert(base + range.start);
                        set(&mut worker.marks.starts, base + range.start);
                        found.token();
                        return Ok(());
                    }
                    Part::Text(range) => range,
                };
                n_covered += range.len();
                let (n_before, first) = (ids.len(), base + range.start);
                worker.marks.n_pieces = 0;
                worker.marks.place = Some(first);
                append_text(encoder, splitter, &text[range.clone()], ids, worker)?;
                found.text(worker.marks.n_pieces);
                is_placed = put(&ids[n_before..], first..first + range.len(), tally, token_starts);
                Ok(())
            });
        std::mem::swap(&mut worker.marks.starts, &mut piece_starts.0);
        all?;
        is_placed &= n_covered == stretch.text.len();
        *is_covered = is_placed;
        Ok(is_placed.then_some(found))
    }

    /// Finds where tokens and pieces lie by the lengths of tokens, in a stretch that begins at a place; `None` if that
    /// is not certain.
    fn place_by_lengths(
        &self,
        (stretch, first): (Segment<'_>, usize),
        lens: &[u32],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<Option<PieceCount>> {
        let Some(spaces) = self.spaces(stretch) else {
            return self.place_pieces((stretch, first), lens, worker, desk);
        };
        if !has_free_mark(spaces, stretch.text) {
            return Ok(None);
        }
        let Place { ids, tokens, pieces, .. } = &mut desk.place;
        let note = |part: Part, found: &[TokenId]| {
            let (Part::Token(_, range) | Part::Text(range)) = &part;
            pieces.push(first + range.start..first + range.end);
            if let Part::Text(range) = &part {
                return fill_behind_mark((stretch.text, first), range, found, lens, tokens);
            }
            tokens.push(first + range.start..first + range.end);
            true
        };
        let (found, is_placed) = self.for_each_spaced(stretch, ids, worker, note)?;
        Ok(is_placed.then_some(found))
    }

    /// [`Self::place_by_lengths`] for a stretch whose words are cut at spaces: tokens cover it, except for a mark that is a
    /// token of its own.
    fn place_spaced(
        &self,
        stretch: Segment<'_>,
        lens: &[u32],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<Option<PieceCount>> {
        let Desk { place: Place { ids, parts, .. }, .. } = desk;
        let note = |part: Part, found: &[TokenId]| {
            parts.push((part, found.len()));
            true
        };
        let (found, _) = self.for_each_spaced(stretch, ids, worker, note)?;
        let is_placed = desk.cover_spaced(stretch.text.len(), lens)
            || desk.place.fill_spaced(stretch.text, lens);
        Ok(is_placed.then_some(found))
    }

    /// [`Self::place_by_lengths`], piece by piece.
    fn place_pieces(
        &self,
        (stretch, first): (Segment<'_>, usize),
        lens: &[u32],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<Option<PieceCount>> {
        let Place { ids, tokens, pieces, .. } = &mut desk.place;
        let (mut found, encoder) = (PieceCount::default(), self.tokenizer.encoder());
        let (mut is_placed, part_kind) = (true, PartKind::Piece);
        self.for_each_part(stretch, (ids, part_kind), worker, |text, part, ids, worker| {
            let base = place_in(stretch.text, text).filter(|_| is_placed);
            let Some(base) = base.map(|base| first + base) else {
                is_placed = false;
                return Ok(());
            };
            let (whole, range) = match part {
                Part::Token(id, range) => {
                    found.token();
                    (Some(id), range)
                }
                Part::Text(range) if range.is_empty() => return Ok(()),
                Part::Text(range) => {
                    found.text(1);
                    (self.matcher.whole_piece(&text[range.clone()]), range)
                }
            };
            let span = base + range.start..base + range.end;
            pieces.push(span.clone());
            if let Some(id) = whole {
                ids.push(id);
                tokens.push(span);
                return Ok(());
            }
            let n_before = ids.len();
            append_ids(encoder, text, range, ids, worker)?;
            is_placed = fill(&span, &ids[n_before..], lens, tokens);
            Ok(())
        })?;
        Ok(is_placed.then_some(found))
    }

    /// Cuts a stretch into short parts, and traces those whose tokens' lengths do not tell where they lie.
    fn place_in_parts(
        &self,
        stretch: Segment<'_>,
        lens: &[u32],
        worker: &mut Worker,
        desk: &mut Desk,
    ) -> Result<PieceCount> {
        let (mut all, mut rest, mut first) = (PieceCount::default(), stretch, 0);
        while !rest.text.is_empty() {
            let end = self.tokenizer.stretch_end(rest.text, TRACED_LEN);
            let part = rest.part(0..end);
            let before = desk.place.lens();
            let placed = self.place_by_lengths((part, first), lens, worker, desk)?;
            let found = if let Some(found) = placed {
                found
            } else {
                desk.place.truncate(before);
                self.place_by_tracing(part, first, &mut desk.place)?;
                self.n_pieces(part, &mut desk.boundaries, worker)?
            };
            let is_joined = is_cut_inside(self.tokenizer) && all.reaches_into(&found);
            if is_joined {
                desk.place.pieces.join(before[2]);
            }
            all.append(&found, is_joined);
            first += end;
            rest = rest.rest(end);
        }
        desk.place.tokens.sort();
        desk.place.pieces.sort();
        Ok(all)
    }

    /// Follows each token to where it came from.
    fn place_by_tracing(&self, part: Segment<'_>, first: usize, place: &mut Place) -> Result<()> {
        let row = self.trace_stretch(part)?;
        let moved = |start: usize, end: usize| first + start..first + end.max(start);
        let mut n_before = 0;
        for run in row.words().chunk_by(|one, other| one == other) {
            let spans = &row.offsets()[n_before..n_before + run.len()];
            n_before += run.len();
            let start = spans.iter().map(|span| span.0).min().unwrap_or_default();
            let end = spans.iter().map(|span| span.1).max().unwrap_or_default();
            place.pieces.push(moved(start, end));
        }
        row.offsets().iter().for_each(|&(start, end)| place.tokens.push(moved(start, end)));
        place.ids.extend_from_slice(&row.ids);
        Ok(())
    }

    /// Appends the ids of a stretch whose words are cut at spaces, and calls `note` for each added token and each text
    /// between two, with its ids; returns whether it always said yes.
    fn for_each_spaced(
        &self,
        stretch: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
        mut note: impl FnMut(Part, &[TokenId]) -> bool,
    ) -> Result<(PieceCount, bool)> {
        let (mut found, mut is_noted) = (PieceCount::default(), true);
        let Some(spaces) = self.spaces(stretch) else { return Ok((found, false)) };
        self.tokenizer.check_utf8(stretch.text)?;
        self.check_disallowed(stretch)?;
        self.matcher.cut_raw(stretch.text, |part| {
            let n_before = ids.len();
            match &part {
                Part::Token(id, _) => {
                    found.token();
                    ids.push(*id);
                }
                Part::Text(range) if range.is_empty() => return Ok(()),
                Part::Text(range) => {
                    found.text(1);
                    let segment = stretch.between(range.clone());
                    spaces.append(self.tokenizer.encoder(), segment, ids, worker)?;
                }
            }
            is_noted &= note(part, &ids[n_before..]);
            Ok(())
        })?;
        Ok((found, is_noted))
    }

    /// The number of pieces of a stretch, an added token being one.
    fn n_pieces(
        &self,
        stretch: Segment<'_>,
        boundaries: &mut Boundaries,
        worker: &mut Worker,
    ) -> Result<PieceCount> {
        let splitter = self.tokenizer.parts.pre_tokenizer.one_splitter();
        let part_kind = if splitter.is_some() { PartKind::Segment } else { PartKind::Piece };
        let mut found = PieceCount::default();
        self.for_each_part(stretch, (&mut Vec::new(), part_kind), worker, |text, part, _, _| {
            match (part, splitter) {
                (Part::Text(range), Some(splitter)) => {
                    found.text(n_pieces(&text[range], splitter, boundaries)?);
                }
                (Part::Text(range), None) => found.text(u64::from(!range.is_empty())),
                (Part::Token(..), _) => found.token(),
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The number of pieces of a text.
fn n_pieces(text: &[u8], splitter: &Splitter, boundaries: &mut Boundaries) -> Result<u64> {
    let (mut n_pieces, mut from) = (0, 0);
    while from < text.len() {
        from = splitter.split_block(text, from, boundaries)?;
        n_pieces += n_pieces_of(boundaries);
    }
    Ok(n_pieces)
}
