//! Turns texts and readers into stretches of text whose pieces can be counted independently.
//!
//! A text is cut at its special tokens and normalized. What is cut off is added to a stretch as soon as a cut after it
//! changes no piece ([`Splitter::safe_cut`]), and what follows the last such cut is carried over to the next stretch. A
//! stretch is about as large as a processor's second-level cache and its memory is reused, so that the text is still in
//! the cache when it is split and counted.
//!
//! Training that continues from a tokenizer counts the pieces that this tokenizer encodes. So the tokenizer itself
//! finds the added tokens, changes the text between them, and says where a text can be cut ([`AsEncoded`]).
//!
//! A feeder does what must be done in order: it reads, searches for special tokens, and normalizes. It does not split,
//! and it checks UTF-8 only if a normalizer is set. Its memory is two stretches, one as it is read and one as it is
//! handed out, and the longest text without a safe cut, which may be limited.

use std::fmt::Debug;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use crate::dictionary::{Occurrence, Search};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::reserve_exact;
use crate::normalize::Normalizer;
use crate::segment::Segment;
use bytepair_split::Splitter;

/// How much text is handed out at once, in bytes.
const STRETCH_LEN: usize = 256 << 10;
/// How much of a text is read at once, at least, in bytes.
const MIN_READ_LEN: usize = 64 << 10;
/// The longest stretch, unless there is no place to cut it, in bytes.
pub(super) const MAX_STRETCH_LEN: usize = STRETCH_LEN + MIN_READ_LEN;
/// About the most parts of a stretch: parts of tiny texts take more memory than the texts.
const MAX_PARTS: usize = 1 << 13;
/// Longest UTF-8 character, in bytes.
const MAX_CHARACTER_LEN: usize = 4;

/// A tokenizer that cuts texts as it does when it encodes them.
pub trait AsEncoded: Debug + Send + Sync {
    /// The last place in a range of a text where a cut changes no piece, whatever follows the text.
    fn last_cut(&self, text: &[u8], range: Range<usize>) -> Option<usize>;

    /// Visits the added tokens of a text, including all special ones, and the text between them, in order.
    ///
    /// # Errors
    /// If the text is not UTF-8 but has to be, or `visit` fails.
    fn for_each_part(
        &self,
        text: Segment<'_>,
        visit: &mut dyn FnMut(EncodedPart<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EncodedPart<'t> {
    /// An added token: its index in [`Preparation::special_tokens`], and its length in the text, in bytes.
    Added(usize, usize),
    /// Text for the splitter.
    Text(&'t [u8]),
}

/// What happens to text before its pieces are counted.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// If set, cuts out the special tokens and changes the text, instead of the following fields.
    pub as_encoded: Option<Arc<dyn AsEncoded>>,
    /// Applied to each segment between special tokens.
    pub normalizer: Normalizer,
    /// Cuts normalized segments into pieces.
    pub splitter: Splitter,
    /// Boundaries in the text, which are not counted. The longest at a place is taken.
    pub special_tokens: Vec<String>,
    /// The separator of texts that are in one source. It is not counted either.
    pub separator: Option<String>,
    /// Whether text that is not UTF-8 is an error.
    pub requires_utf8: bool,
}

/// What was read, apart from the distinct pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorpusReport {
    /// The number of texts.
    pub n_texts: u64,
    /// The length of all texts as they were read, in bytes.
    pub n_bytes: u64,
    /// The length of all texts after normalization, in characters, without special tokens, each text multiplied by the
    /// weight of its source; `i64::MAX` if that exceeds 63 bits.
    pub n_characters: i64,
    /// The number of pieces, including repeated ones, without weights.
    pub n_pieces: u64,
    /// The number of pieces, each multiplied by the weight of its source; `i64::MAX` if that exceeds 63 bits.
    pub mass: i64,
    /// By special token of the preparation: how often it occurred in the texts.
    pub n_special: Vec<u64>,
    /// The number of added tokens that were found as in encoding, each multiplied by the weight of its source.
    pub n_added: i64,
}

/// A stretch of text: parts of one buffer, in order.
#[derive(Default)]
pub(super) struct Stretch {
    pub(super) buffer: Vec<u8>,
    pub(super) parts: Vec<Part>,
    /// How much of the buffer is handed out. While a stretch is filled, the rest is not.
    n_ready: usize,
}

/// Text that begins and ends at a segment boundary or at a cut that changes no piece.
pub(super) struct Part {
    /// Its range in the buffer.
    pub(super) range: Range<usize>,
    /// The position of its first byte in the corpus.
    pub(super) position: u64,
    /// The offset of its first byte in its text.
    pub(super) offset: u64,
    /// The number of its document: of a text, or of what the separator cuts out of one.
    pub(super) document: u64,
}

/// A search for the special tokens and, numbered after them, the separator.
pub(super) fn boundaries(preparation: &Preparation) -> Result<Search> {
    let special_tokens = match preparation.as_encoded {
        Some(_) => &[],
        None => preparation.special_tokens.as_slice(),
    };
    let texts: Vec<_> = special_tokens.iter().chain(&preparation.separator).collect();
    if texts.iter().any(|text| text.is_empty()) {
        let problem = "an empty text would match everywhere";
        return Err(Error::option("special_tokens, separator", problem));
    }
    Search::new(&texts)
}

/// Fills one stretch after the other from a series of texts.
pub(super) struct Feeder<'c, T, R, P> {
    pub(super) preparation: &'c Preparation,
    pub(super) boundaries: &'c Search,
    pub(super) report: &'c mut CorpusReport,
    /// The position of the text that is handed out next.
    pub(super) position: &'c mut u64,
    pub(super) texts: T,
    /// Called with the number of bytes read of a text.
    pub(super) progress: P,
    pub(super) text: Option<Text<R>>,
    /// Memory of earlier texts, for reuse.
    pub(super) spare: Vec<u8>,
    /// How many added tokens the tokenizer found.
    pub(super) n_added: u64,
    /// The longest text without a safe cut, in bytes.
    pub(super) longest: usize,
    /// Whether a stretch ends only where a text ends.
    pub(super) keeps_texts_whole: bool,
}

/// The part of a text that is handed out next.
#[derive(Clone, Copy)]
struct Cut<'r> {
    raw: &'r [u8],
    /// The offset of its first byte in the text as it was read.
    offset: u64,
    /// Whether the segment ends with it.
    ends: bool,
}

/// What a user can do about text without a safe cut that is too long.
const WAY_OUT: &str =
    "raise the memory limit, of which it is a sixteenth, or choose a dialect that cuts such text";

/// A text that is being read.
pub(super) struct Text<R> {
    reader: R,
    n_read: u64,
    /// What was read and is still to be normalized.
    raw: Vec<u8>,
    /// What was normalized and is not handed out yet.
    normalized: Vec<u8>,
    /// The offset of the text that is handed out next.
    offset: u64,
    /// Whether a part of the segment has been normalized already.
    segment_begun: bool,
    /// Whether a special token came before.
    special_before: bool,
}

impl<R> Text<R> {
    fn new(reader: R, raw: Vec<u8>) -> Self {
        let (segment_begun, special_before, normalized) = (false, false, Vec::new());
        Self { reader, n_read: 0, raw, normalized, offset: 0, segment_begun, special_before }
    }
}

impl<T, R, P> Feeder<'_, T, R, P>
where
    T: Iterator<Item = R>,
    R: Read,
    P: FnMut(u64) -> Result<()>,
{
    /// Fills a stretch; returns whether there may be more.
    pub(super) fn fill(&mut self, stretch: &mut Stretch) -> Result<bool> {
        stretch.buffer.clear();
        stretch.parts.clear();
        stretch.n_ready = 0;
        while stretch.buffer.len() < STRETCH_LEN && stretch.parts.len() < MAX_PARTS
            || self.keeps_texts_whole && self.text.is_some()
        {
            let text = match self.text.take() {
                Some(text) => text,
                None => match self.texts.next() {
                    Some(reader) => {
                        self.report.n_texts += 1;
                        Text::new(reader, std::mem::take(&mut self.spare))
                    }
                    None => return Ok(false),
                },
            };
            self.text = self.take(text, stretch)?;
        }
        Ok(true)
    }

    /// Reads a text until there is something to hand out; returns the text if it continues.
    fn take(&mut self, mut text: Text<R>, stretch: &mut Stretch) -> Result<Option<Text<R>>> {
        let n_before = stretch.buffer.len();
        stretch.n_ready = n_before;
        stretch.buffer.append(&mut text.normalized);
        let mut raw = std::mem::take(&mut text.raw);
        loop {
            let at_end = self.read(&mut text, &mut raw, stretch)?;
            let n_taken = self.cut(&mut text, &raw, at_end, stretch)?;
            raw.drain(..n_taken);
            if at_end {
                self.spare = raw;
                return Ok(None);
            }
            self.check_len(text.n_read - raw.len() as u64, &raw)?;
            // Approximately where it begins: a normalizer changes few lengths.
            let uncut = &stretch.buffer[stretch.n_ready..];
            let end = text.n_read - raw.len() as u64;
            self.check_len(end.saturating_sub(uncut.len() as u64), uncut)?;
            if stretch.n_ready > n_before {
                text.raw = raw;
                text.normalized.extend_from_slice(&stretch.buffer[stretch.n_ready..]);
                stretch.buffer.truncate(stretch.n_ready);
                return Ok(Some(text));
            }
        }
    }

    /// Hands out the part of `raw` that is decided; returns its length.
    fn cut(
        &mut self,
        text: &mut Text<R>,
        raw: &[u8],
        at_end: bool,
        stretch: &mut Stretch,
    ) -> Result<usize> {
        let begin = text.n_read - raw.len() as u64;
        let decided = self.decided(raw, at_end);
        let mut start = 0;
        for Occurrence { pattern, place } in self.boundaries.find_iter(raw) {
            if place.start >= decided {
                break;
            }
            let offset = begin + start as u64;
            self.push(text, Cut { raw: &raw[start..place.start], offset, ends: true }, stretch)?;
            text.special_before = !self.note_boundary(pattern);
            text.offset += place.len() as u64;
            *self.position += place.len() as u64;
            start = place.end;
        }
        let end = if at_end { raw.len() } else { self.last_cut(raw, start..decided.max(start)) };
        let offset = begin + start as u64;
        self.push(text, Cut { raw: &raw[start..end], offset, ends: at_end }, stretch)?;
        Ok(end)
    }

    /// Counts a special token; returns whether it is the separator, after which the next text begins.
    fn note_boundary(&mut self, pattern: usize) -> bool {
        let Preparation { as_encoded, special_tokens, separator, .. } = self.preparation;
        let is_separator = |name: &String| separator.as_ref() == Some(name);
        let special = match as_encoded {
            Some(_) => special_tokens.iter().position(is_separator),
            None => Some(pattern).filter(|&pattern| pattern < special_tokens.len()),
        };
        let ends_text = special.is_none_or(|special| is_separator(&special_tokens[special]));
        if let Some(special) = special {
            self.report.n_special[special] += 1;
        }
        self.report.n_texts += u64::from(ends_text);
        ends_text
    }

    /// Hands out the next part of a text.
    fn push(&mut self, text: &mut Text<R>, cut: Cut<'_>, stretch: &mut Stretch) -> Result<()> {
        if let Some(tokenizer) = &self.preparation.as_encoded {
            return self.push_encoded(&**tokenizer, text, cut, stretch);
        }
        self.check_utf8(cut)?;
        self.normalize(text, cut, &mut stretch.buffer)?;
        let normalized = &stretch.buffer[stretch.n_ready..];
        let n_ready = if cut.ends {
            normalized.len()
        } else {
            let is_all = normalized.len() >= self.longest;
            last_safe_cut(&self.preparation.splitter, normalized, is_all).unwrap_or(0)
        };
        let ready = stretch.n_ready..stretch.n_ready + n_ready;
        stretch.n_ready = ready.end;
        let document = self.report.n_texts;
        push_part(&mut stretch.parts, ready, (self.position, &mut text.offset), document);
        Ok(())
    }

    fn push_encoded(
        &mut self,
        tokenizer: &dyn AsEncoded,
        text: &mut Text<R>,
        Cut { raw, offset, ends }: Cut<'_>,
        stretch: &mut Stretch,
    ) -> Result<()> {
        let is_rest = text.segment_begun;
        let segment = Segment { text: raw, is_first: !is_rest, is_last: ends, is_rest };
        let (n_found, document) = (&mut self.report.n_special, self.report.n_texts);
        let Stretch { buffer, parts, n_ready } = stretch;
        text.offset = offset;
        let visited = tokenizer.for_each_part(segment, &mut |part| {
            match part {
                EncodedPart::Added(place, len) => {
                    n_found[place] += 1;
                    self.n_added += 1;
                    text.offset += len as u64;
                    *self.position += len as u64;
                }
                EncodedPart::Text(changed) => {
                    let begin = buffer.len();
                    buffer.extend_from_slice(changed);
                    let places = (&mut *self.position, &mut text.offset);
                    push_part(parts, begin..buffer.len(), places, document);
                }
            }
            Ok(())
        });
        visited.map_err(|error| error.moved_by(offset))?;
        *n_ready = buffer.len();
        text.offset = offset + raw.len() as u64;
        text.segment_begun = !ends && (is_rest || !raw.is_empty());
        Ok(())
    }

    /// Appends the next bytes of a text to what was read; returns whether the text ends with them.
    ///
    /// Reads as much as a stretch has room for, or as much as the text has that cannot be cut yet.
    fn read(&mut self, text: &mut Text<R>, raw: &mut Vec<u8>, stretch: &Stretch) -> Result<bool> {
        let n_uncut = raw.len() + stretch.buffer.len() - stretch.n_ready;
        let most = self.longest.saturating_sub(n_uncut);
        let room = STRETCH_LEN.saturating_sub(stretch.buffer.len() + raw.len());
        let wanted = room.max(n_uncut.min(most)).max(MIN_READ_LEN);
        reserve_exact(raw, wanted)?;
        let n_new = text.reader.by_ref().take(wanted as u64).read_to_end(raw)?;
        text.n_read += n_new as u64;
        self.report.n_bytes += n_new as u64;
        (self.progress)(text.n_read)?;
        Ok(n_new < wanted)
    }

    /// Rejects text without a safe cut that is too long. It begins at `offset` of its text.
    fn check_len(&self, offset: u64, uncut: &[u8]) -> Result<()> {
        match uncut.len() < self.longest {
            true => Ok(()),
            false => Err(Error::part_too_long(offset, uncut, self.longest, WAY_OUT)),
        }
    }

    /// A boundary that begins before this place is completely in `raw`, and so is any longer one that begins there, and
    /// a character.
    fn decided(&self, raw: &[u8], at_end: bool) -> usize {
        let margin = if at_end { 0 } else { self.boundaries.longest() + MAX_CHARACTER_LEN };
        raw.len().saturating_sub(margin)
    }

    /// The last place in a range where the text can be changed in two parts, or its start. Never inside a character.
    fn last_cut(&self, raw: &[u8], Range { start, end }: Range<usize>) -> usize {
        let normalizer = &self.preparation.normalizer;
        if let Some(tokenizer) = &self.preparation.as_encoded {
            return start + tokenizer.last_cut(&raw[start..], 0..end - start).unwrap_or(0);
        }
        if normalizer.steps().is_empty() {
            let is_inside = |&place: &usize| raw.get(place).is_some_and(|byte| byte & 0xC0 == 0x80);
            let n_inside =
                (start + 1..=end).rev().take(MAX_CHARACTER_LEN - 1).take_while(is_inside).count();
            return end - n_inside;
        }
        let can_cut = |&place: &usize| normalizer.can_cut(raw, place);
        (start..end).rev().find(can_cut).unwrap_or(start)
    }

    fn normalize(&self, text: &mut Text<R>, cut: Cut<'_>, buffer: &mut Vec<u8>) -> Result<()> {
        let is_first = !text.segment_begun && !text.special_before;
        let is_rest = text.segment_begun;
        let segment = Segment { text: cut.raw, is_first, is_last: false, is_rest };
        let normalized = self.preparation.normalizer.normalize(segment)?;
        buffer.extend_from_slice(&normalized);
        text.segment_begun = !cut.ends && (is_rest || !cut.raw.is_empty());
        Ok(())
    }

    /// Rejects text that is not UTF-8 if the dialect requires it. An incomplete character at the end is an error only
    /// if the text is complete.
    fn check_utf8(&self, Cut { raw, offset, ends }: Cut<'_>) -> Result<()> {
        let is_changed = !self.preparation.normalizer.steps().is_empty();
        if !self.preparation.requires_utf8 || !is_changed {
            return Ok(()); // nothing to check, or checked when it is counted
        }
        match std::str::from_utf8(raw) {
            Err(error) if ends || error.error_len().is_some() => {
                Err(ErrorKind::NotUtf8 { offset: offset + error.valid_up_to() as u64 }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Hands out a range of the buffer.
fn push_part(
    parts: &mut Vec<Part>,
    range: Range<usize>,
    (position, offset): (&mut u64, &mut u64),
    document: u64,
) {
    if range.is_empty() {
        return;
    }
    let len = range.len() as u64;
    parts.push(Part { range, position: *position, offset: *offset, document });
    *position += len;
    *offset += len;
}

/// A safe cut near the end of a text: searched for in the last bytes first, and then further back. If none is found so and
/// `is_all` is set, the last of all safe cuts.
fn last_safe_cut(splitter: &Splitter, text: &[u8], is_all: bool) -> Option<usize> {
    let mut distance = 256;
    while distance < text.len() {
        let cut = splitter.safe_cut(text, text.len() - distance);
        if cut.is_some_and(|cut| cut < text.len()) {
            return cut;
        }
        distance *= 8;
    }
    let is_cut = |&place: &usize| text[place] & 0xC0 != 0x80 && splitter.is_safe_cut(text, place);
    let is_searched = is_all && splitter.has_safe_cuts();
    is_searched.then(|| (1..text.len()).rev().find(is_cut)).flatten()
}
