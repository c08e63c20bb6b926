//! Sums over the texts of a corpus: how often each id occurs, and the lengths from which ratios are computed.
//!
//! Texts belong to groups, and each group has its own sums. Long texts and streams are cut into stretches where
//! neither ids nor words change (`cutting`). Threads measure texts and stretches as they come and add each to its
//! group, so results do not depend on threads, stretches or order. Ratios are computed elsewhere.
//!
//! Words are the matches of the caller's pattern in the original text. Tokens and pieces belong to the words with
//! which they share a byte (`placing`). Memory is eight bytes for each id of the vocabulary in each group, and the ids
//! of a stretch in each thread. Costs what encoding costs and splitting once more; with words, also a look at each
//! token, and alignment if the normalizer changes the text.
//!
//! The calling thread reads and cuts a stream, and other threads measure it. This takes the memory of some stretches
//! for each thread, and of the longest part that cannot be cut, whose length is limited.

mod placing;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::placing::{PieceCount, Place, is_cut_inside};
use super::call::{Call, Rules};
use super::cutting::characters_beside;
use super::stream::{Feed, MAX_UNCUT, Stretch};
use super::worker::Worker;
use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::batch;
use crate::count::n_characters;
use crate::error::{Error, Result};
use crate::memory::ask;
use crate::segment::Segment;
use crate::vocabulary::TokenId;
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched};

/// More groups are taken for a mistake, since each has a count for each id.
const MAX_GROUPS: usize = 1024;

/// Longer texts, and streams, are measured in stretches of this many bytes, so that the tokens of one stretch fit a
/// cache.
const STRETCH_LEN: usize = if crate::SMALL { 16 } else { 64 << 10 };

/// Advice for parts that are too long.
const WAY_OUT: &str = "cut the text into documents";

/// Sums over the texts of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sums {
    /// The number of texts.
    pub texts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their characters; a stray continuation byte is not counted.
    pub characters: u64,
    /// Their lines: newlines, and the rest after the last newline of a text.
    pub lines: u64,
    /// Their ids.
    pub tokens: u64,
    /// Pieces, which no merge crosses; an added token is a piece.
    pub pieces: u64,
    /// Words.
    pub words: u64,
    /// The tokens that share a byte with a word, summed over words.
    pub word_tokens: u64,
    /// The pieces that share a byte with a word, summed over words.
    pub word_pieces: u64,
    /// Words that share bytes with one token.
    pub whole_words: u64,
    /// Words that share bytes with several tokens.
    pub continued_words: u64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.texts += other.texts;
        self.bytes += other.bytes;
        self.characters += other.characters;
        self.lines += other.lines;
        self.tokens += other.tokens;
        self.pieces += other.pieces;
        self.words += other.words;
        self.word_tokens += other.word_tokens;
        self.word_pieces += other.word_pieces;
        self.whole_words += other.whole_words;
        self.continued_words += other.continued_words;
    }

    /// Adds a part of a text.
    fn add_text(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.characters += n_characters(text);
        self.lines += memchr::memchr_iter(b'\n', text).count() as u64;
    }

    #[inline]
    fn add_word(&mut self, n_tokens: u64, n_pieces: u64) {
        self.words += 1;
        self.word_tokens += n_tokens;
        self.word_pieces += n_pieces;
        self.whole_words += u64::from(n_tokens == 1);
        self.continued_words += u64::from(n_tokens > 1);
    }

    /// Adds the end of a text, whose last byte is given if there is one.
    fn end_text(&mut self, last: Option<u8>) {
        self.texts += 1;
        self.lines += u64::from(last.is_some_and(|byte| byte != b'\n'));
    }
}

/// The state of a group.
#[derive(Clone, Debug, Default)]
struct Group {
    name: Vec<u8>,
    sums: Sums,
    /// By id: how often it occurs.
    counts: Vec<u64>,
    /// By text: how often a token for missing units stands for it.
    missing: BTreeMap<Vec<u8>, u64>,
}

/// Sums over the texts that a tokenizer encodes.
///
/// ```
/// # use bytepair::{AddedTokens, Parts, Tokenizer};
/// # use bytepair::inspect::Measure;
/// # use bytepair::units::{ByteIds, Units};
/// # use bytepair::vocabulary::{Token, Vocabulary};
/// # use std::sync::Arc;
/// # let mut vocabulary = Vocabulary::new();
/// # for byte in 0..=255 { vocabulary.push(Token::plain(&[byte]))?; }
/// # vocabulary.push_merge(u32::from(b'a'), u32::from(b'b'))?;
/// # let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary));
/// let tokenizer = Arc::new(Tokenizer::new(parts)?);
/// let mut measure = Measure::new(tokenizer, Some(r"\w+"), AddedTokens::Find)?;
/// measure.add(&[b"ab abc"], None, 1)?;
/// let sums = measure.sums(0).unwrap_or_default();
/// assert_eq!((sums.tokens, sums.words, sums.word_tokens), (4, 2, 3)); // ab, a space, ab, c
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Measure {
    tokenizer: Arc<Tokenizer>,
    rules: Rules,
    words: Option<Words>,
    groups: Vec<Mutex<Group>>,
    /// By name: the index of a group.
    numbers: HashMap<Vec<u8>, usize>,
    /// Whether a text may be cut inside pieces.
    is_cut_inside: bool,
    /// The token that stands for missing units, if their texts are wanted.
    missing: Option<TokenId>,
}

/// How words are found.
#[derive(Debug)]
struct Words {
    splitter: Splitter,
    /// By id: how many bytes of a piece a token stands for, if that is always the same, otherwise 0.
    lens: Vec<u32>,
}

/// The state of a thread.
struct State<'s> {
    worker: &'s mut Worker,
    place: Place,
}

impl Measure {
    /// An empty measure. Words are the matches of the pattern, if there is one; it is read in Rust's flavour.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        words: Option<&str>,
        added_tokens: AddedTokens,
    ) -> Result<Self> {
        let options = EncodeOptions { added_tokens, ..EncodeOptions::default() };
        let rules = tokenizer.call(options)?.into_rules();
        let tokenizer = tokenizer.shared_of(added_tokens);
        let words = words.map(|pattern| Words::new(pattern, &tokenizer)).transpose()?;
        let (groups, numbers) = (Vec::new(), HashMap::new());
        let is_cut_inside = is_cut_inside(&tokenizer);
        let missing = None;
        Ok(Self { tokenizer, rules, words, groups, numbers, is_cut_inside, missing })
    }

    /// Also counts what the token for [missing units](Tokenizer::with_missing) stands for. Costs tracing the parts of
    /// texts that contain it.
    #[must_use]
    pub fn naming_missing(self, id: TokenId) -> Self {
        Self { missing: Some(id), ..self }
    }

    /// The names of the groups that texts were added to, in order of appearance.
    pub fn groups(&self) -> Vec<Vec<u8>> {
        self.groups.iter().map(|group| lock(group).name.clone()).collect()
    }

    /// The sums of a group.
    pub fn sums(&self, group: usize) -> Option<Sums> {
        self.groups.get(group).map(|group| lock(group).sums)
    }

    /// How often each id occurs in a group.
    pub fn counts(&self, group: usize) -> Option<Vec<u64>> {
        self.groups.get(group).map(|group| lock(group).counts.clone())
    }

    /// What the token for missing units stands for in a group, and how often, in no particular order.
    pub fn missing(&self, group: usize) -> Option<Vec<(Vec<u8>, u64)>> {
        let texts = |group: &Group| {
            group.missing.iter().map(|(text, n)| (text.clone(), *n)).collect::<Vec<_>>()
        };
        self.groups.get(group).map(|group| texts(&lock(group)))
    }

    /// Adds texts on `n_threads` threads, each to the group with its name; the name is empty if no names are given.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_batch`], and if there are too many groups. Some of the texts may then have been
    /// added.
    pub fn add(
        &mut self,
        texts: &[&[u8]],
        names: Option<&[&[u8]]>,
        n_threads: usize,
    ) -> Result<()> {
        let groups = self.groups_of(texts.len(), names)?;
        let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
        self.with_states(batch::n_useful(&lens, n_threads), |measure, states| {
            let add = |index: usize, states: &mut [State<'_>]| {
                measure.add_text(texts[index], &measure.groups[groups[index]], states)
            };
            batch::map(&lens, states, true, add).map(drop)
        })
    }

    /// Adds the whole content of `reader` as one text of a group, on `n_threads` threads.
    ///
    /// # Errors
    /// As for [`Measure::add`]; if reading fails; and if a part of the text that cannot be cut is too long. Some of
    /// the text may then have been added.
    pub fn add_stream(&mut self, reader: impl Read, name: &[u8], n_threads: usize) -> Result<()> {
        let number = self.group(name)?;
        self.with_states(n_threads.max(1), |measure, states| {
            measure.add_stretches(reader, MAX_UNCUT, &measure.groups[number], states)
        })
    }

    /// Calls `work` with a state for each thread.
    fn with_states<R>(
        &self,
        n_threads: usize,
        work: impl FnOnce(&Self, &mut [State<'_>]) -> R,
    ) -> R {
        self.tokenizer.with_workers(n_threads, |workers| {
            let state = |worker| State { worker, place: Place::default() };
            work(self, &mut workers.iter_mut().map(|worker| state(worker)).collect::<Vec<_>>())
        })
    }

    fn add_text(&self, text: &[u8], group: &Mutex<Group>, states: &mut [State<'_>]) -> Result<()> {
        let added = if text.len() > STRETCH_LEN {
            self.add_stretches(text, usize::MAX, group, states)
        } else {
            let whole = Segment::whole(text);
            states.first_mut().map_or(Ok(()), |state| self.measure(whole, group, state).map(drop))
        };
        added.map_err(|error| self.call().first_error(text, error))?;
        if text.len() <= STRETCH_LEN {
            lock(group).sums.end_text(text.last().copied());
        }
        Ok(())
    }

    /// Adds a text stretch by stretch.
    fn add_stretches(
        &self,
        reader: impl Read,
        max_uncut: usize,
        group: &Mutex<Group>,
        states: &mut [State<'_>],
    ) -> Result<()> {
        let cut = |text: &[u8], range| self.last_cut(text, range);
        let feed = Feed::new(cut, reader, STRETCH_LEN, (max_uncut, WAY_OUT));
        let work = |stretch: &Stretch, state: &mut State<'_>, count: &mut PieceCount| {
            *count = self.measure(stretch.segment(), group, state)?;
            Ok(())
        };
        let (mut last, mut all) = (None, PieceCount::default());
        feed.for_each(states, work, |stretch, count| {
            let is_joined = self.is_cut_inside && all.reaches_into(count);
            lock(group).sums.pieces -= u64::from(is_joined);
            all.append(count, is_joined);
            last = stretch.segment().text.last().copied();
            Ok(())
        })?;
        lock(group).sums.end_text(last);
        Ok(())
    }

    /// The indices of the groups of texts.
    fn groups_of(&mut self, n_texts: usize, names: Option<&[&[u8]]>) -> Result<Vec<usize>> {
        let Some(names) = names else { return Ok(vec![self.group(b"")?; n_texts]) };
        if names.len() != n_texts {
            return Err(Error::option("groups", "there must be one for each text"));
        }
        names.iter().map(|name| self.group(name)).collect()
    }

    /// The index of a group.
    fn group(&mut self, name: &[u8]) -> Result<usize> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if self.groups.len() == MAX_GROUPS {
            let problem =
                format!("there are more than {MAX_GROUPS} of them; name a field with fewer values");
            return Err(Error::option("group", problem));
        }
        let n_ids = self.tokenizer.parts.vocabulary.len();
        ask(n_ids * size_of::<u64>())?;
        let counts = vec![0; n_ids];
        let group = Group { name: name.to_vec(), counts, ..Group::default() };
        self.groups.push(Mutex::new(group));
        self.numbers.insert(name.to_vec(), self.groups.len() - 1);
        Ok(self.groups.len() - 1)
    }

    fn call(&self) -> Call<'_> {
        Call::by_rules(&self.tokenizer, &self.rules)
    }

    /// Adds a text, or a part between cuts that change neither ids nor words, to a group.
    fn measure(
        &self,
        stretch: Segment<'_>,
        group: &Mutex<Group>,
        state: &mut State<'_>,
    ) -> Result<PieceCount> {
        let (call, State { worker, place }, mut sums) = (self.call(), state, Sums::default());
        place.clear();
        let lens = self.words.as_ref().map(|words| &words.lens[..]);
        let count = place.fill(&call, lens, stretch, worker)?;
        if let Some(words) = &self.words {
            words.add_up(stretch.text, place, &mut sums)?;
        }
        sums.pieces = count.n;
        sums.tokens = place.ids.len() as u64;
        sums.add_text(stretch.text);
        let missing = self.missing.filter(|id| place.ids.contains(id));
        let missing = missing.map(|id| self.texts_of(id, stretch)).transpose()?;
        let mut group = lock(group);
        group.sums.add(&sums);
        place.ids.iter().for_each(|&id| group.counts[id as usize] += 1);
        missing.into_iter().flatten().for_each(|text| *group.missing.entry(text).or_default() += 1);
        Ok(count)
    }

    /// What a token stands for at each of its occurrences in a stretch.
    fn texts_of(&self, id: TokenId, stretch: Segment<'_>) -> Result<Vec<Vec<u8>>> {
        let row = self.call().trace(stretch, 0)?;
        let spans = row.ids.iter().zip(&row.offsets).filter(|(other, _)| **other == id);
        Ok(spans.map(|(_, &(start, end))| stretch.text[start..end.max(start)].to_vec()).collect())
    }

    /// The last place in a range where a text can be cut.
    fn last_cut(&self, text: &[u8], mut range: Range<usize>) -> Option<usize> {
        loop {
            let cut = self.tokenizer.last_cut(text, range.clone())?;
            if self.words.as_ref().is_none_or(|words| words.is_cut(text, cut)) {
                return Some(cut);
            }
            range.end = cut;
        }
    }
}

impl Words {
    fn new(pattern: &str, tokenizer: &Tokenizer) -> Result<Self> {
        let pattern = Pattern { source: pattern.to_owned(), flavour: Flavour::Rust };
        let stage = Stage::matches(pattern, Unmatched::Drop);
        let splitter = Splitter::new(vec![stage], &UnicodeTables::latest())?;
        Ok(Self { splitter, lens: placing::lens(tokenizer) })
    }

    /// Whether no word spans a place.
    fn is_cut(&self, text: &[u8], place: usize) -> bool {
        characters_beside(text, place).is_some_and(|beside| {
            self.splitter.is_safe_cut(&text[beside.clone()], place - beside.start)
        })
    }

    /// Adds up the words of a text whose tokens and pieces have been placed.
    fn add_up(&self, text: &[u8], place: &mut Place, sums: &mut Sums) -> Result<()> {
        let Place { tokens, pieces, boundaries, .. } = place;
        let (mut tokens, mut pieces, mut from) = (tokens.cursor(), pieces.cursor(), 0);
        while from < text.len() {
            from = self.splitter.split_block(text, from, boundaries)?;
            for word in boundaries.pieces() {
                sums.add_word(tokens.n_within(&word), pieces.n_within(&word));
            }
        }
        Ok(())
    }
}

fn lock(group: &Mutex<Group>) -> MutexGuard<'_, Group> {
    group.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
