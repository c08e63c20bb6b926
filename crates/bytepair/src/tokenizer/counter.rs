//! Counts the ids of a text, also of one that grows, and finds the longest prefix of a text with at most a given
//! number of ids.
//!
//! To count, a long text is encoded stretch by stretch (`stream`); the ids of each stretch are counted and dropped.
//! Template, truncation and padding are computed. Costs what encoding costs, and memory for one stretch on each
//! thread.
//!
//! To cut, the candidates are the places where one of the first ids of the text ends, each moved back to a character
//! boundary. The last candidate is chosen whose prefix has at most the wanted number of ids: without the text after
//! it, the end of a prefix may take more ids. The text is encoded stretch by stretch until there are too many ids, so
//! the rest is never looked at; the stretch in which that happens is encoded again with the places of its ids.
//!
//! Text that is appended to a growing text is cut at the last place where a cut changes nothing, whatever follows
//! (`cutting`). The ids before it are counted once; the text after it, usually a word, is kept and counted again with
//! the next text. So the number is always that of the whole text, and costs what encoding the new text and the kept
//! end takes. If the kept end is one long piece that goes on, only its last ids are recomputed ([`Growth`]). A
//! tokenizer that supports neither keeps the whole text, and counts it each time.
//!
//! If the appended text ends no piece, the ids before the last piece stay, and those of the piece are continued
//! (`encode::growing_piece`). So one more letter costs the same, however long a word is. Everything that could change
//! earlier ids is checked first: added tokens, the normalizer, and the splitter, which continues from its state. The
//! text is counted again for backtracking patterns, for normalizers that cannot be cut there, and for what
//! `encode::growing_piece` does not support.

use std::sync::Arc;

use bytepair_split::{OpenPiece, Splitter};

use super::call::{Call, Rules};
use super::stream::n_useful;
use super::worker::Worker;
use super::{EncodeOptions, Tokenizer, definition};
use crate::batch;
use crate::encode::Growing;
use crate::error::Result;
use crate::memory::prefetch::prefetch_beginning;
use crate::normalize::character_length;
use crate::segment::Segment;

/// Texts with fewer bytes are encoded at once.
const MAX_SHORT_LEN: usize = if crate::SMALL { 16 } else { 16 << 10 };

impl Tokenizer {
    /// The number of ids of a text, found on `n_threads` threads.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`].
    pub fn count(
        &self,
        text: &[u8],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<usize> {
        if text.len() <= MAX_SHORT_LEN {
            return self.with_ids(text, options, <[_]>::len);
        }
        let call = self.call(options)?;
        let n_threads = n_useful(text.len(), n_threads);
        call.tokenizer.with_workers(n_threads, |workers| call.count(text, 0, workers))
    }

    /// The number of ids of each text of a batch.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_batch`].
    pub fn count_batch(
        &self,
        texts: &[&[u8]],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<usize>> {
        let call = self.call(options)?;
        let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let n_threads = batch::n_useful(&lens, n_threads);
        let count_one = |index: usize, workers: &mut [_]| {
            texts.get(index + 1).into_iter().for_each(|next| prefetch_beginning(next));
            call.count(texts[index], index as u64, workers)
        };
        let counts = call
            .tokenizer
            .with_workers(n_threads, |workers| batch::map(&lens, workers, true, count_one))?;
        let longest = counts.iter().copied().max().unwrap_or_default();
        Ok(match call.padding() {
            Some(padding) => counts.iter().map(|&count| count.max(padding.len(longest))).collect(),
            None => counts,
        })
    }
}

impl Call<'_> {
    /// The number of ids that [`Call::encode`] appends.
    pub(super) fn count(
        &self,
        text: &[u8],
        index: u64,
        workers: &mut [Box<Worker>],
    ) -> Result<usize> {
        if self.dropping(index).is_some() {
            let mut ids = Vec::new();
            self.encode(text, index, &mut ids, workers)?;
            return Ok(ids.len());
        }
        let n_ids = self.count_by(Segment::whole(text), workers)?;
        let contents = self.contents(false);
        let n_ids = match self.truncation() {
            Some(truncation) => truncation.lens(n_ids, None, contents)?.0,
            None => n_ids,
        };
        let n_ids = contents.n_ids((n_ids, 0));
        Ok(self.padding().map_or(n_ids, |padding| n_ids.max(padding.len(n_ids))))
    }
}

/// The first and the greatest length of stretches, in bytes.
const STRETCH_LENS: (usize, usize) = (1 << 10, 64 << 10);

/// The approximate number of bytes per id.
const N_BYTES_PER_ID: usize = 4;

impl Tokenizer {
    /// The longest prefix of a text that ends where one of its first `n_ids` ids does, or at the end, and that itself
    /// has at most `n_ids` ids. Options about lengths and the template are ignored.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], for the part of the text that is looked at.
    pub fn truncate<'t>(
        &self,
        text: &'t [u8],
        n_ids: usize,
        options: EncodeOptions<'_>,
    ) -> Result<&'t [u8]> {
        let call = self.call(EncodeOptions { dropout: None, ..options })?;
        let len = n_ids.saturating_mul(N_BYTES_PER_ID).clamp(STRETCH_LENS.0, STRETCH_LENS.1);
        let (mut n_before, mut rest) = (0, Segment::whole(text));
        while !rest.text.is_empty() {
            let stretch = rest.part(0..call.tokenizer.stretch_end(rest.text, len));
            let start = text.len() - rest.text.len();
            let n_here =
                call.count_stretch(stretch).map_err(|error| error.moved_by(start as u64))?;
            if n_before + n_here > n_ids {
                let end = call.end_of_ids(stretch, n_ids - n_before)?;
                return Ok(&text[..start + end]);
            }
            n_before += n_here;
            rest = rest.rest(stretch.text.len());
        }
        Ok(text)
    }
}

impl Call<'_> {
    /// The last place in a stretch where one of its first ids ends and the text before has no more ids than allowed.
    fn end_of_ids(&self, stretch: Segment<'_>, n_ids: usize) -> Result<usize> {
        let row = self.trace(stretch, 0)?;
        let ends = row.offsets[..n_ids.min(row.ids.len())].iter().scan(0, |last, &(_, end)| {
            *last = end.max(*last);
            Some(whole_characters(stretch.text, *last))
        });
        let mut ends: Vec<_> = ends.collect();
        ends.dedup();
        while let Some(end) = ends.pop() {
            let begin = Segment { is_last: true, ..stretch.part(0..end) };
            if self.count_stretch(begin)? <= n_ids {
                return Ok(end);
            }
        }
        Ok(0)
    }
}

/// The last character boundary up to `end`.
fn whole_characters(text: &[u8], end: usize) -> usize {
    let starts = (end.saturating_sub(3)..end).rev();
    let is_cut = |&start: &usize| {
        character_length(&text[start..]).is_some_and(|length| start + length > end)
    };
    starts.filter(|&start| text[start] & 0xC0 != 0x80).take(1).find(is_cut).unwrap_or(end)
}

/// Whether a place is a cut depends on fewer than this many bytes around it, which hold three characters.
const REACH: usize = 16;

/// Counts the ids of a text that is appended part by part.
///
/// ```
/// # use bytepair::{EncodeOptions, Parts, TokenCounter, Tokenizer};
/// # use bytepair::units::{ByteIds, Units};
/// # use bytepair::vocabulary::{Token, Vocabulary};
/// # use std::sync::Arc;
/// # let mut vocabulary = Vocabulary::new();
/// # for byte in 0..=255 { vocabulary.push(Token::plain(&[byte]))?; }
/// # vocabulary.push_merge(u32::from(b'a'), u32::from(b'b'))?;
/// # let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary));
/// let tokenizer = Arc::new(Tokenizer::new(parts)?);
/// let mut counter = TokenCounter::new(tokenizer, EncodeOptions::default())?;
/// assert_eq!(counter.append(b"ca")?, 2);
/// assert_eq!(counter.append(b"bc")?, 3); // c, ab, c
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenCounter {
    tokenizer: Arc<Tokenizer>,
    rules: Rules,
    /// The text after the last cut.
    tail: Vec<u8>,
    /// The number of bytes before it.
    n_settled_bytes: u64,
    n_settled: usize,
    n_tail: usize,
    /// Present if the tail is long and may grow by itself.
    growth: Option<Box<Growth>>,
}

impl TokenCounter {
    /// A counter of an empty text. Of the options, only those about special tokens in the text are used.
    ///
    /// # Errors
    /// If a name is no special token.
    pub fn new(tokenizer: Arc<Tokenizer>, options: EncodeOptions<'_>) -> Result<Self> {
        let rules = tokenizer.call(options)?.into_rules();
        let tokenizer = tokenizer.shared_of(options.added_tokens);
        Ok(Self {
            rules,
            tokenizer,
            tail: Vec::new(),
            n_settled_bytes: 0,
            n_settled: 0,
            n_tail: 0,
            growth: None,
        })
    }

    /// The number of ids of everything appended so far.
    pub fn total(&self) -> usize {
        self.n_settled + self.n_tail
    }

    /// Appends a text and returns the number of ids of everything appended so far.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`] of everything appended so far. The counter is then unchanged.
    pub fn append(&mut self, text: &[u8]) -> Result<usize> {
        let n_before = self.tail.len();
        self.tail.extend_from_slice(text);
        let new = n_before.saturating_sub(REACH)..self.tail.len();
        let cut = self.tokenizer.last_cut(&self.tail, new).unwrap_or(0);
        let growth = self.growth.take().filter(|_| cut == 0 && !self.refuses(n_before));
        if let Some(mut growth) = growth
            && let Some(n_tail) = growth.append(&self.tokenizer, &self.tail, n_before)
        {
            self.n_tail = n_tail;
            self.growth = Some(growth);
            return Ok(self.total());
        }
        match self.counts(cut) {
            Ok((n_ids, n_tail)) => {
                self.n_settled += n_ids;
                self.n_tail = n_tail;
                self.n_settled_bytes += cut as u64;
                self.tail.drain(..cut);
                self.growth = self.grown(n_tail).map(Box::new);
                Ok(self.total())
            }
            Err(error) => {
                let error = self.call().first_error(&self.tail, error);
                self.tail.truncate(n_before);
                Err(error.moved_by(self.n_settled_bytes))
            }
        }
    }

    /// The state of a piece that may grow by itself; `None` if disallowed tokens are looked for in normalized text.
    fn grown(&self, n_tail: usize) -> Option<Growth> {
        match &self.rules.disallowed {
            Some(disallowed) if disallowed.has_late() => None,
            _ => Growth::new(&self.tokenizer, self.kept(), n_tail),
        }
    }

    /// Whether a disallowed token ends in the kept text after `new`. No such token ends before it.
    fn refuses(&self, new: usize) -> bool {
        self.rules.disallowed.as_ref().is_some_and(|disallowed| {
            let finder = &disallowed.as_written;
            finder.find(&self.tail[new.saturating_sub(finder.longest())..]).is_some()
        })
    }

    fn call(&self) -> Call<'_> {
        Call::by_rules(&self.tokenizer, &self.rules)
    }

    /// The kept text, as a part of the whole text.
    fn kept(&self) -> Segment<'_> {
        let is_begun = self.n_settled_bytes > 0;
        Segment { is_first: !is_begun, is_rest: is_begun, ..Segment::whole(&self.tail) }
    }

    /// The number of ids of the kept text before a cut and after it.
    fn counts(&self, cut: usize) -> Result<(usize, usize)> {
        let (call, kept) = (self.call(), self.kept());
        let (settled, tail) = (kept.part(0..cut), kept.rest(cut));
        self.tokenizer.workers.with(|worker| {
            let mut count = |part| call.count_by(part, std::slice::from_mut(worker));
            let n_settled = count(settled)?;
            let n_tail = count(tail).map_err(|error| error.moved_by(cut as u64))?;
            Ok((n_settled, n_tail))
        })
    }
}

/// Shorter pieces are counted again.
const MIN_LEN: usize = if crate::SMALL { 4 } else { 256 };

/// What is known of a text that ends inside a piece.
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
    /// Accepts a text of this many ids if it ends inside a piece that is long and may grow.
    pub(super) fn new(tokenizer: &Tokenizer, segment: Segment<'_>, n_ids: usize) -> Option<Self> {
        let parts = &tokenizer.parts;
        let is_possible = !definition::is_on()
            && segment.text.len() >= MIN_LEN
            && std::str::from_utf8(segment.text).is_ok()
            && !parts.normalizer.adds_behind()
            && !tokenizer.all_special.has_late_specials;
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

    /// The number of ids of a text whose bytes from a place on are new; `None` if it has to be counted again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::added::Specials;
    use crate::test_support::{bytes_vocabulary, pattern};
    use crate::tokenizer::Parts;
    use crate::units::{ByteIds, Units};
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Behaviour, Flavour, Splitter, Stage};

    /// Bytes, a few merges, and the special token `<s>`, after these stages.
    fn tokenizer(patterns: &[&str], behaviour: Behaviour) -> Arc<Tokenizer> {
        let mut vocabulary = bytes_vocabulary();
        for (left, right) in [(b'a'.into(), b'b'.into()), (256, 256), (b'1'.into(), b'2'.into())] {
            vocabulary.push_merge(left, right).unwrap();
        }
        let stage = |source: &&str| Stage {
            pattern: pattern(source, Flavour::Oniguruma),
            behaviour,
            invert: false,
        };
        let stages = patterns.iter().map(stage).collect();
        let parts = Parts {
            pre_tokenizer: Splitter::new(stages, &UnicodeTables::latest()).unwrap().into(),
            ..Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary))
        };
        let special = [("<s>".to_owned(), None)];
        Arc::new(Tokenizer::new(parts).unwrap().with_special_tokens(&special).unwrap())
    }

    const NUMBERS_FIRST: [&str; 3] = [r"\p{N}{1,3}", "[一-龥]+", r"[!-/][A-Za-z]+|\s?\p{L}+|."];

    /// Appends each part to a long word, and compares with counting the whole text.
    fn count_growing<'p>(
        tokenizer: &Arc<Tokenizer>,
        options: EncodeOptions<'_>,
        word: &str,
        parts: impl IntoIterator<Item = &'p str>,
    ) {
        let mut counter = TokenCounter::new(Arc::clone(tokenizer), options).unwrap();
        let mut text = word.repeat(MIN_LEN + 5);
        counter.append(text.as_bytes()).unwrap();
        for part in parts {
            assert!(counter.growth.is_some(), "{word}");
            text.push_str(part);
            let n_ids = counter.append(part.as_bytes()).unwrap();
            assert_eq!(n_ids, tokenizer.count(text.as_bytes(), options, 1).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_word_grows_in_several_stages_and_where_nothing_matches() {
        let cases: [(&[&str], Behaviour, &str); 5] = [
            (&NUMBERS_FIRST, Behaviour::Isolated, "ab"),
            (&NUMBERS_FIRST, Behaviour::Isolated, "中文"),
            (&[r"\p{N}+"], Behaviour::Isolated, "ab"),
            (&[r"\p{N}+"], Behaviour::Removed, "ab"),
            (&[r"\p{N}+", "a+|b"], Behaviour::Isolated, "a"),
        ];
        for (patterns, behaviour, word) in cases {
            let tokenizer = tokenizer(patterns, behaviour);
            for disallowed_special in [Specials::None, Specials::All] {
                let options = EncodeOptions { disallowed_special, ..EncodeOptions::default() };
                let letters = word.repeat(9);
                let letters = letters.split("").filter(|letter| !letter.is_empty());
                count_growing(&tokenizer, options, word, letters);
            }
        }
    }
}
