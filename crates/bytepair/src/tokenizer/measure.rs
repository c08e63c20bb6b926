//! Sums over the texts of a corpus: how often each id occurs, and the lengths from which ratios are computed.
//!
//! Texts belong to groups, and each group has its own sums. Rows of a column and streams of any length are cut into stretches
//! where neither ids nor words change (`cutting`), and threads measure these as they come and add each to its group. So
//! nothing depends on threads, blocks or order. Ratios are computed elsewhere.
//!
//! Words are the matches of the caller's pattern in the original text, and tokens and pieces belong to the words with which
//! they share a byte (`placing`). Memory is eight bytes for each id of the vocabulary in each group, and the ids of a stretch in
//! each thread. Costs what encoding costs and splitting once more; with words, also a look at each token, and tracing if the
//! normalizer changes the text.
//!
//! A stream is one text: the calling thread reads and cuts it, others measure. It takes the memory of some stretches for each
//! thread, and of the longest part that has no place to cut, which has a limit.

mod placing;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::placing::{PieceCount, Place, Placing, is_cut_inside};
use super::call::{Call, Rules};
use super::stream::{Feed, Stretch};
use super::worker::Worker;
use super::{AddedTokens, EncodeOptions, Parts, Tokenizer};
use crate::count::n_characters;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::ask;
use crate::parallel::in_order;
use crate::segment::Segment;
use crate::units::{ByteIds, Units};
use crate::vocabulary::{Token, TokenId, Vocabulary};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched};

/// More groups than this are taken for a mistake: each has a count for each id.
const MAX_GROUPS: usize = 1024;

/// A run of texts ends when it is this long, in bytes.
const RUN_LEN: usize = if cfg!(test) { 40 } else { 64 << 10 };

/// A longer text, and a stream, is measured in stretches, in bytes: what is known of the tokens of one fits a cache.
const STRETCH_LEN: usize = if cfg!(test) { 16 } else { 64 << 10 };

/// How long a part of a stream without a place to cut may be, in bytes, and what to do about a longer one.
const MAX_UNCUT: (usize, &str) = (256 << 20, "cut the text into documents");

/// What is added up over the texts of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Texts.
    pub texts: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Characters of them; a stray continuation byte is none.
    pub characters: u64,
    /// Lines of them: newlines, and what stands behind the last one of a text.
    pub lines: u64,
    /// Ids.
    pub tokens: u64,
    /// Pieces, which no merge crosses; an added token is one.
    pub pieces: u64,
    /// Words.
    pub words: u64,
    /// For each word the tokens that share a byte with it.
    pub word_tokens: u64,
    /// For each word the pieces that share a byte with it.
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

    /// Adds the end of a text, whose last byte this is, if it has any.
    fn end_text(&mut self, last: Option<u8>) {
        self.texts += 1;
        self.lines += u64::from(last.is_some_and(|byte| byte != b'\n'));
    }
}

/// What is known of a group.
#[derive(Clone, Debug, Default)]
struct Group {
    name: Vec<u8>,
    sums: Sums,
    /// By id: how often it occurs.
    counts: Vec<u64>,
    /// By text: how often a token for missing units stands for it.
    missing: BTreeMap<Vec<u8>, u64>,
}

/// Adds up what a tokenizer makes of texts.
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
pub struct Measure {
    tokenizer: Arc<Tokenizer>,
    rules: Rules,
    words: Option<Words>,
    groups: Vec<Mutex<Group>>,
    /// By name: the number of a group.
    numbers: HashMap<Vec<u8>, usize>,
    places: Vec<Place>,
    /// Whether a text may be cut inside of pieces.
    is_cut_inside: bool,
    /// The token that stands for missing units, if their texts are wanted.
    missing: Option<TokenId>,
}

/// What words are.
#[derive(Debug)]
struct Words {
    splitter: Splitter,
    /// Cuts texts where words end; of its tokens nothing is asked.
    cutting: Tokenizer,
    /// By id: how many bytes of the text a token stands for, where that is the same everywhere, else 0.
    lens: Vec<u32>,
}

/// Texts, or a part of one, that a thread measures in one go.
enum Job<'t> {
    Texts(Range<usize>),
    Stretch(usize, Segment<'t>),
}

/// What a thread has.
struct State<'s> {
    worker: &'s mut Worker,
    place: &'s mut Place,
}

/// The last text that was measured in part, and the pieces of its parts so far.
#[derive(Default)]
struct Joints(Option<(usize, PieceCount)>);

/// Texts and the numbers of their groups.
struct Column<'t> {
    texts: &'t [&'t [u8]],
    groups: Vec<usize>,
}

impl Measure {
    /// Nothing yet. Words are what the pattern matches, if there is one; it is read in the flavour of Rust.
    ///
    /// # Errors
    /// Where the pattern is not understood.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        words: Option<&str>,
        added_tokens: AddedTokens,
    ) -> Result<Self> {
        let options = EncodeOptions { added_tokens, ..EncodeOptions::default() };
        let rules = tokenizer.call(options)?.into_rules();
        let tokenizer = tokenizer.shared_of(added_tokens);
        let words = words.map(|pattern| Words::new(pattern, &tokenizer)).transpose()?;
        let (groups, numbers, places) = (Vec::new(), HashMap::new(), Vec::new());
        let is_cut_inside = is_cut_inside(&tokenizer);
        let missing = None;
        Ok(Self { tokenizer, rules, words, groups, numbers, places, is_cut_inside, missing })
    }

    /// Counts also what the token for [missing units](Tokenizer::with_missing) stands for. Costs tracing the parts of texts
    /// that have it.
    #[must_use]
    pub fn naming_missing(self, id: TokenId) -> Self {
        Self { missing: Some(id), ..self }
    }

    /// The names of the groups that texts were added to, in the order in which they came.
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

    /// What the token for missing units stands for in a group, and how often; in no order.
    pub fn missing(&self, group: usize) -> Option<Vec<(Vec<u8>, u64)>> {
        let texts = |group: &Group| {
            group.missing.iter().map(|(text, n)| (text.clone(), *n)).collect::<Vec<_>>()
        };
        self.groups.get(group).map(|group| texts(&lock(group)))
    }

    /// Adds texts on `n_threads` threads, each to the group of its name, which is empty where there are no names.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_batch`], and where there are too many groups. Some of the texts may have been added
    /// then.
    pub fn add(
        &mut self,
        texts: &[&[u8]],
        names: Option<&[&[u8]]>,
        n_threads: usize,
    ) -> Result<()> {
        let column = Column { texts, groups: self.groups_of(texts.len(), names)? };
        let n_bytes: usize = texts.iter().map(|text| text.len() + 16).sum();
        let n_threads = n_threads.clamp(1, n_bytes.div_ceil(RUN_LEN).max(1));
        self.with_states(n_threads, |measure, states| {
            let mut jobs = Jobs { measure, texts, next: 0, rest: None };
            let work = |job, state: &mut State<'_>| measure.do_job(job, &column, state);
            let mut joints = Joints::default();
            let take = |done: Result<Option<(usize, PieceCount)>>| {
                done.map(|counted| measure.join_in(&column, &mut joints, counted))
            };
            in_order(states, || Ok(jobs.next()), work, take)
        })
    }

    /// Adds all that `reader` gives as one text of a group, on `n_threads` threads.
    ///
    /// # Errors
    /// As for [`Measure::add`]; where reading fails; and where a part of the text that cannot be cut is too long. Some of
    /// the text may have been added then.
    pub fn add_stream(&mut self, reader: impl Read, name: &[u8], n_threads: usize) -> Result<()> {
        let number = self.group(name)?;
        self.with_states(n_threads.max(1), |measure, states| {
            let group = &measure.groups[number];
            let cut = |text: &[u8], range| measure.last_cut(text, range);
            let feed = Feed::new(cut, reader, STRETCH_LEN, MAX_UNCUT);
            let work = |stretch: &Stretch, state: &mut State<'_>, count: &mut PieceCount| {
                *count = measure.measure(stretch.segment(), group, state)?;
                Ok(())
            };
            let (mut last, mut joints) = (None, Joints::default());
            feed.for_each(states, work, |stretch, count| {
                measure.join(&mut joints, 0, (number, count));
                last = stretch.segment().text.last().copied();
                Ok(())
            })?;
            lock(group).sums.end_text(last);
            Ok(())
        })
    }

    /// Calls `work` with a state for each thread.
    fn with_states<R>(
        &mut self,
        n_threads: usize,
        work: impl FnOnce(&Self, &mut [State<'_>]) -> R,
    ) -> R {
        let mut places = std::mem::take(&mut self.places);
        places.resize_with(places.len().max(n_threads), Place::default);
        let measure = &*self;
        let result = measure.tokenizer.with_workers(n_threads, |workers| {
            let both = workers.iter_mut().zip(&mut places);
            let mut states: Vec<_> = both.map(|(worker, place)| State { worker, place }).collect();
            work(measure, &mut states)
        });
        self.places = places;
        result
    }

    /// The numbers of the groups of texts.
    fn groups_of(&mut self, n_texts: usize, names: Option<&[&[u8]]>) -> Result<Vec<usize>> {
        let Some(names) = names else { return Ok(vec![self.group(b"")?; n_texts]) };
        if names.len() != n_texts {
            return Err(Error::option("groups", "there must be one for each text"));
        }
        names.iter().map(|name| self.group(name)).collect()
    }

    /// The number of a group.
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

    /// Measures texts, or a part of one; for a part, returns its pieces.
    fn do_job(
        &self,
        job: Job<'_>,
        column: &Column<'_>,
        state: &mut State<'_>,
    ) -> Result<Option<(usize, PieceCount)>> {
        match job {
            Job::Texts(mut range) => range
                .try_for_each(|index| {
                    let text = Segment::whole(column.texts[index]);
                    self.measure_of(index, text, column, state).map(drop)
                })
                .map(|()| None),
            Job::Stretch(index, stretch) => {
                self.measure_of(index, stretch, column, state).map(|count| Some((index, count)))
            }
        }
    }

    /// Measures a text of a column, or a part of it.
    fn measure_of(
        &self,
        index: usize,
        segment: Segment<'_>,
        column: &Column<'_>,
        state: &mut State<'_>,
    ) -> Result<PieceCount> {
        let (text, group) = (column.texts[index], &self.groups[column.groups[index]]);
        let count = self.measure(segment, group, state).map_err(|error| {
            let error = self.call().first_error(text, error);
            ErrorKind::InBatch { index, error }
        })?;
        if segment.is_last {
            lock(group).sums.end_text(text.last().copied());
        }
        Ok(count)
    }

    /// Appends a part of a text to its earlier parts; it may continue their last piece.
    fn join(&self, joints: &mut Joints, text: usize, (group, count): (usize, &PieceCount)) {
        let before = joints.0.replace((text, *count)).filter(|(last, _)| *last == text);
        let Some((_, mut all)) = before.filter(|_| self.is_cut_inside) else { return };
        let is_joined = all.reaches_into(count);
        if is_joined {
            lock(&self.groups[group]).sums.pieces -= 1;
        }
        all.append(count, is_joined);
        joints.0 = Some((text, all));
    }

    /// Appends a part of a text of a column, if there is one.
    fn join_in(
        &self,
        column: &Column<'_>,
        joints: &mut Joints,
        counted: Option<(usize, PieceCount)>,
    ) {
        let Some((text, count)) = counted else { return };
        self.join(joints, text, (column.groups[text], &count));
    }

    fn call(&self) -> Call<'_> {
        Call::by_rules(&self.tokenizer, &self.rules)
    }

    /// Adds a text, or a part of one that begins and ends where a cut changes neither ids nor words, to a group.
    fn measure(
        &self,
        stretch: Segment<'_>,
        group: &Mutex<Group>,
        state: &mut State<'_>,
    ) -> Result<PieceCount> {
        let (call, State { worker, place }, mut sums) = (self.call(), state, Sums::default());
        place.clear();
        let count = match &self.words {
            None => call.encode_and_count(stretch, worker, place)?,
            Some(words) => {
                let count = Placing { call, lens: &words.lens, worker, place }.place(stretch)?;
                words.add_up(stretch.text, place, &mut sums)?;
                count
            }
        };
        sums.pieces = count.n();
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

    /// What a token stands for in a stretch, each time.
    fn texts_of(&self, id: TokenId, stretch: Segment<'_>) -> Result<Vec<Vec<u8>>> {
        let row = self.call().trace_stretch(stretch)?;
        let spans = row.ids.iter().zip(row.offsets()).filter(|(other, _)| **other == id);
        Ok(spans.map(|(_, &(start, end))| stretch.text[start..end.max(start)].to_vec()).collect())
    }

    /// Where a text can be cut at or behind a length; its end, if there is no such place.
    fn stretch_end(&self, text: &[u8]) -> usize {
        let Some(words) = &self.words else {
            return self.tokenizer.stretch_end(text, STRETCH_LEN);
        };
        let mut near = STRETCH_LEN;
        while near < text.len() && words.cutting.has_cuts() {
            near = match self.tokenizer.stretch_end(text, near) {
                end if end == text.len() || words.is_cut(text, end) => return end,
                end => end + 1,
            };
        }
        text.len()
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

/// Texts dealt out as jobs.
struct Jobs<'m, 't> {
    measure: &'m Measure,
    texts: &'t [&'t [u8]],
    next: usize,
    /// What is left of a long text.
    rest: Option<Segment<'t>>,
}

impl<'t> Iterator for Jobs<'_, 't> {
    type Item = Job<'t>;

    fn next(&mut self) -> Option<Job<'t>> {
        let text = *self.texts.get(self.next)?;
        if text.len() > STRETCH_LEN {
            return Some(self.stretch(text));
        }
        let (first, mut left) = (self.next, RUN_LEN);
        while let Some(text) = self.texts.get(self.next).filter(|text| text.len() <= STRETCH_LEN) {
            self.next += 1;
            left = left.saturating_sub(text.len() + 16);
            if left == 0 {
                break;
            }
        }
        Some(Job::Texts(first..self.next))
    }
}

impl<'t> Jobs<'_, 't> {
    fn stretch(&mut self, text: &'t [u8]) -> Job<'t> {
        let index = self.next;
        let rest = self.rest.take().unwrap_or_else(|| Segment::whole(text));
        let end = self.measure.stretch_end(rest.text);
        if end == rest.text.len() {
            self.next += 1;
        } else {
            self.rest = Some(rest.rest(end));
        }
        Job::Stretch(index, rest.part(0..end))
    }
}

impl Words {
    fn new(pattern: &str, tokenizer: &Tokenizer) -> Result<Self> {
        let pattern = Pattern { source: pattern.to_owned(), flavour: Flavour::Rust };
        let stage = Stage::matches(pattern, Unmatched::Drop);
        let splitter = Splitter::new(vec![stage], &UnicodeTables::latest())?;
        let mut bytes = Vocabulary::new();
        for byte in 0..=u8::MAX {
            bytes.push(Token::plain(&[byte]))?;
        }
        let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(bytes));
        let pre_tokenizer = splitter.clone().into();
        let cutting = Tokenizer::unprepared(Parts { pre_tokenizer, ..parts })?;
        Ok(Self { splitter, cutting, lens: placing::lens(tokenizer) })
    }

    /// Whether no word reaches across a place.
    fn is_cut(&self, text: &[u8], place: usize) -> bool {
        self.cutting.last_cut(text, place..place + 1).is_some()
    }

    /// Adds up the words of a text whose tokens and pieces have their places.
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
