//! The number of ids of a text that grows, known after each part.
//!
//! What is appended is cut at the last place where a cut changes nothing, whatever follows (`cutting`). The ids before it
//! are counted once and for all; the text behind it, as a rule a word, is kept and counted again with what comes next.
//! So the number is that of the whole text at any time, and costs what encoding the new text and the kept end takes. Where
//! the kept end is one long piece that goes on, its last ids alone are made anew ([`Growth`]). A tokenizer that can do
//! neither keeps the whole text, and counts it each time.
//!
//! If the appended text ends no piece, the ids before the last piece stay, and those of the piece are continued
//! (`encode::growing`). So one more letter costs the same, however long a word is. Everything that could change earlier ids
//! is checked first: added tokens, the normalizer, and the splitter, which continues from its state.
//!
//! Left out, so that the text is counted again: patterns for the backtracker, normalizers that cannot be cut there, and what
//! `encode::growing` leaves out.

use std::sync::Arc;

use super::call::{Call, Rules};
use super::threads::Team;
use super::{EncodeOptions, Tokenizer, definition};
use crate::encode::Growing;
use crate::error::Result;
use crate::segment::Segment;
use bytepair_split::{OpenPiece, Splitter};

/// Whether a place is a cut depends on less than so many bytes around it: three characters.
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
    /// The text behind the last cut.
    tail: Vec<u8>,
    /// The number of bytes before it.
    n_settled_bytes: u64,
    n_settled: usize,
    n_tail: usize,
    /// Present where the tail is long and may grow by itself.
    growth: Option<Box<Growth>>,
}

impl TokenCounter {
    /// A counter of an empty text. Of the options, those about special tokens in the text count.
    ///
    /// # Errors
    /// Where a name is no special token.
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

    /// The number of ids of all that was appended.
    pub fn total(&self) -> usize {
        self.n_settled + self.n_tail
    }

    /// Appends a text and gives the number of ids of all by now.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`] of all text by now. The counter is as it was then.
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

    /// What may grow by itself; nothing where tokens that must not be there are looked for in normalized text.
    fn grown(&self, n_tail: usize) -> Option<Growth> {
        match &self.rules.disallowed {
            Some(disallowed) if disallowed.has_late() => None,
            _ => Growth::new(&self.tokenizer, self.kept(), n_tail),
        }
    }

    /// Whether a token that must not be there ends in the kept text behind a place, before which none does.
    fn refuses(&self, new: usize) -> bool {
        let found = self.rules.disallowed.as_ref().and_then(|disallowed| {
            disallowed.find(&self.tail[new.saturating_sub(disallowed.longest())..])
        });
        found.is_some()
    }

    fn call(&self) -> Call<'_> {
        Call::by_rules(&self.tokenizer, &self.rules)
    }

    /// The kept text, as a part of all.
    fn kept(&self) -> Segment<'_> {
        let is_begun = self.n_settled_bytes > 0;
        Segment { is_first: !is_begun, is_rest: is_begun, ..Segment::whole(&self.tail) }
    }

    /// The number of ids of the kept text before a cut and behind it.
    fn counts(&self, cut: usize) -> Result<(usize, usize)> {
        let (call, kept) = (self.call(), self.kept());
        let (settled, tail) = (kept.part(0..cut), kept.rest(cut));
        self.tokenizer.workers.with(|worker| {
            let mut count = |part| call.count_by(part, &mut Team::of_one(worker));
            let n_settled = count(settled)?;
            let n_tail = count(tail).map_err(|error| error.moved_by(cut as u64))?;
            Ok((n_settled, n_tail))
        })
    }
}

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
        let is_possible = !definition::is_on()
            && segment.text.len() >= MIN_LEN
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::added::Specials;
    use crate::test_support::{bytes_vocabulary, pattern};
    use crate::tokenizer::Parts;
    use crate::units::{ByteIds, Units};
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Behaviour, Flavour, Splitter, Stage};

    /// Bytes, a few merges, and the special token `<s>`, behind these stages.
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

    /// Appends each part to a long word, and compares with the whole text counted anew.
    fn count_growing<'p>(
        tokenizer: &Arc<Tokenizer>,
        options: EncodeOptions<'_>,
        word: &str,
        parts: impl IntoIterator<Item = &'p str>,
    ) {
        let mut counter = TokenCounter::new(Arc::clone(tokenizer), options).unwrap();
        let mut text = word.repeat(9);
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
