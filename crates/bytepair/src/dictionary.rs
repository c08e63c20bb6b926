//! The longest of some texts that begins at each place of another text.
//!
//! There are two ways to [`Search`], which find the same. An automaton that runs forward, with vectors that find where a pattern
//! may begin, is for patterns that are [few](are_few) and short, as the added tokens of published files. It takes time
//! quadratic in their number to make, and in their length to run. A [`Dictionary`] takes its place where they are many or long:
//! an automaton that reads backwards.
//!
//! Reading from the end, the state at a place is the longest beginning of a reversed pattern that ends there, so the
//! longest pattern that begins there is known at once. No place is read again after a match that came to nothing, as
//! leftmost-longest search forwards has to.
//!
//! Its construction takes time linear in the total length of the patterns, and sorting them. A node takes 13 bytes. The
//! search takes time linear in the text and, as texts are read in blocks no shorter than the longest pattern, memory
//! for the matches of one block. Where patterns begin alike, vectors find the next place where one may begin.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind, packed};
use memchr::memchr;

use crate::error::{Error, Result};

/// Patterns with more bytes together, or with more in one of them, are many.
const MAX_LEN_OF_FEW: usize = 8 << 10;
const MAX_LEN_OF_ONE: usize = 256;

/// How many states have a row of all transitions: the root and, as a rule, all states behind one byte.
const MAX_COMPLETE: usize = 256;

/// A block of a text in bytes, where no pattern is longer: behind a beginning of one, and where these are not known.
const BLOCK_LEN_AT_BEGINNING: usize = 256;
const BLOCK_LEN: usize = 4 << 10;

/// Bytes of a pattern by which its beginning is found: the most that leave few enough different ones.
const BEGINNING_LENS: [usize; 3] = [4, 3, 2];
const MAX_BEGINNINGS: usize = 32;

/// Bytes of one of few patterns by which its beginning is found.
const BEGINNING_LEN: usize = 4;

/// How many bytes of text there are at least for each beginning of no pattern: where these come more often, as in text made
/// of beginnings, the automaton looks at each byte once.
const MIN_LEN_PER_MISS: usize = 64;

/// So many of them may come at once.
const N_MISSES: usize = 8;

/// In shorter texts the automaton finds beginnings by itself.
const MIN_LEN_FOR_BEGINNINGS: usize = 64;

/// A pattern with its place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) pattern: usize,
    pub(crate) place: Range<usize>,
}

/// Whether patterns are so few and short that an automaton that runs forward may look for them.
pub(crate) fn are_few<P: AsRef<[u8]>>(patterns: &[P]) -> bool {
    let lens = || patterns.iter().map(|pattern| pattern.as_ref().len());
    lens().sum::<usize>() <= MAX_LEN_OF_FEW && lens().all(|len| len <= MAX_LEN_OF_ONE)
}

/// Finds the longest of some texts at each place of another one.
#[derive(Clone, Debug, Default)]
pub(crate) enum Search {
    #[default]
    Nothing,
    Few(Few),
    Many(Dictionary),
}

/// Finds texts that are few and short.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    automaton: AhoCorasick,
    /// Finds where one may begin, sooner than the automaton does. Present where they begin with several bytes:
    /// for these the automaton stops at any byte that is rare in English, as half of those of Chinese are.
    pub(crate) beginnings: Option<packed::Searcher>,
}

impl Search {
    /// None of the patterns may be empty; of equal ones the first counts.
    ///
    /// # Errors
    /// Where there are more than can be searched for.
    pub(crate) fn new(patterns: &[impl AsRef<[u8]>]) -> Result<Self> {
        match patterns {
            [] => Ok(Self::Nothing),
            _ if are_few(patterns) => Few::new(patterns).map(Self::Few),
            _ => Dictionary::new(patterns).map(Self::Many),
        }
    }

    /// The length of the longest pattern.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Few(few) => few.automaton.max_pattern_len(),
            Self::Many(dictionary) => dictionary.longest(),
        }
    }

    /// The first occurrence from a place on, which grows from call to call with the same `ahead`.
    pub(crate) fn next(&self, text: &[u8], from: usize, ahead: &mut Ahead) -> Option<Occurrence> {
        match self {
            Self::Nothing => None,
            Self::Few(few) => few.next(text, from),
            Self::Many(dictionary) => dictionary.next(text, from, ahead),
        }
    }

    /// The occurrences that do not overlap, from the left.
    pub(crate) fn find_iter(&self, text: &[u8]) -> impl Iterator<Item = Occurrence> {
        let (mut from, mut ahead) = (0, Ahead::default());
        std::iter::from_fn(move || {
            let found = self.next(text, from, &mut ahead)?;
            from = found.place.end;
            Some(found)
        })
    }
}

impl Few {
    pub(crate) fn new(patterns: &[impl AsRef<[u8]>]) -> Result<Self> {
        let patterns: Vec<_> = patterns.iter().map(AsRef::as_ref).collect();
        let patterns = patterns.as_slice();
        let beginnings = beginnings_of_few(patterns);
        let start_kind = if beginnings.is_some() { StartKind::Both } else { StartKind::Unanchored };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(start_kind)
            .build(patterns)
            .map_err(|error| Error::option("special_tokens", error.to_string()))?;
        Ok(Self { automaton, beginnings })
    }

    pub(crate) fn next(&self, text: &[u8], mut from: usize) -> Option<Occurrence> {
        let find = |input: Input<'_>| {
            let found = self.automaton.find(input)?;
            Some(Occurrence { pattern: found.pattern().as_usize(), place: found.range() })
        };
        let rest = |from| Input::new(text).span(from..text.len());
        let beginnings = self.beginnings.as_ref();
        let Some(beginnings) = beginnings.filter(|_| text.len() - from >= MIN_LEN_FOR_BEGINNINGS)
        else {
            return find(rest(from));
        };
        let (first, mut n_missed) = (from, 0);
        while n_missed <= N_MISSES + (from - first) / MIN_LEN_PER_MISS {
            let start = beginnings.find_in(text, (from..text.len()).into())?.start();
            let found = find(rest(start).anchored(Anchored::Yes));
            if found.is_some() {
                return found;
            }
            (from, n_missed) = (start + 1, n_missed + 1);
        }
        find(rest(from))
    }
}

/// What finds the beginnings of tokens; `None` where these are one byte, too many, or no rarity: white space, letters.
fn beginnings_of_few(patterns: &[&[u8]]) -> Option<packed::Searcher> {
    let beginning = |pattern: &&[u8]| pattern[..pattern.len().min(BEGINNING_LEN)].to_vec();
    let beginnings: BTreeSet<_> = patterns.iter().map(beginning).collect();
    let is_frequent = |beginning: &Vec<u8>| {
        beginning.len() < 2
            || beginning[0].is_ascii_alphanumeric()
            || beginning[0].is_ascii_whitespace()
    };
    let begin_alike = patterns.iter().all(|pattern| pattern[0] == patterns[0][0]);
    if begin_alike || beginnings.len() > MAX_BEGINNINGS || beginnings.iter().any(is_frequent) {
        return None;
    }
    packed::Searcher::new(beginnings)
}

/// No pattern.
const NONE: u32 = u32::MAX;

/// The automaton of the reversed patterns, its states in the order of their depth.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    /// By state; one more state ends the children of the last.
    states: Vec<State>,
    /// By state: the byte that leads to it.
    labels: Vec<u8>,
    /// By state: where each byte leads, for the first states.
    complete: Vec<[u32; 256]>,
    /// By pattern: its length.
    lens: Vec<usize>,
    longest_len: usize,
    /// Finds where a pattern may begin, sooner than the automaton does. Present where few beginnings are different and the
    /// processor has vectors for this.
    beginnings: Option<packed::Searcher>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The first of its children, which follow each other. Those of the next state come behind them.
    first_child: u32,
    /// The state of the longest proper suffix that is one.
    failure: u32,
    /// The longest pattern that is a suffix.
    found: u32,
}

/// Matches of a block of text that are not visited yet.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Places and patterns, the last place first.
    found: Vec<(usize, u32)>,
    /// Where the next block begins.
    end: usize,
}

impl Dictionary {
    /// Of equal patterns the first counts.
    ///
    /// # Errors
    /// Where the patterns have 4 GB or more together.
    pub(crate) fn new<P: AsRef<[u8]>>(patterns: &[P]) -> Result<Self> {
        let n_bytes: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        let is_too_long = |_| Error::option("special_tokens", "have 4 GB or more together");
        u32::try_from(n_bytes.saturating_add(patterns.len() + 1)).map_err(is_too_long)?;
        let lens: Vec<_> = patterns.iter().map(|pattern| pattern.as_ref().len()).collect();
        let mut dictionary = Self {
            states: Vec::new(),
            labels: Vec::new(),
            complete: Vec::new(),
            longest_len: lens.iter().copied().max().unwrap_or(0),
            lens,
            beginnings: beginnings(patterns),
        };
        dictionary.grow(&Reversed::new(patterns, n_bytes));
        dictionary.link();
        Ok(dictionary)
    }

    /// Makes the trie of the reversed patterns, level by level.
    ///
    /// States of a level stand in the queue as the range of the patterns that share their bytes so far.
    fn grow(&mut self, patterns: &Reversed) {
        let mut queue = VecDeque::from([(0, 0..patterns.order.len())]);
        self.labels.push(0);
        while let Some((depth, sharing)) = queue.pop_front() {
            let n_ended = sharing.clone().take_while(|&place| patterns.len(place) == depth);
            let n_ended = n_ended.count();
            let found = if n_ended > 0 { patterns.order[sharing.start] } else { NONE };
            let first_child = as_u32(self.labels.len());
            self.states.push(State { first_child, failure: 0, found });
            let mut start = sharing.start + n_ended;
            while start < sharing.end {
                let label = patterns.byte(start, depth);
                let is_same = |&place: &usize| patterns.byte(place, depth) == label;
                let n = (start..sharing.end).take_while(is_same).count();
                self.labels.push(label);
                queue.push_back((depth + 1, start..start + n));
                start += n;
            }
        }
        let first_child = as_u32(self.labels.len());
        self.states.push(State { first_child, failure: 0, found: NONE });
    }

    /// Finds for each state that of its longest proper suffix. All of these come before it.
    fn link(&mut self) {
        for state in 0..as_u32(self.labels.len()) {
            let State { failure, found, .. } = self.states[state as usize];
            if found == NONE && state > 0 {
                self.states[state as usize].found = self.states[failure as usize].found;
            }
            if self.complete.len() < MAX_COMPLETE {
                let row = self.row(state);
                self.complete.push(row);
            }
            if state == 0 {
                continue; // a state behind one byte has no shorter suffix than nothing
            }
            for child in self.children(state) {
                self.states[child].failure = self.step(failure, self.labels[child]);
            }
        }
    }

    /// The state behind a state and each byte, if those before it have their rows.
    fn row(&self, state: u32) -> [u32; 256] {
        let mut row = match state {
            0 => [0; 256],
            _ => self.complete[self.states[state as usize].failure as usize],
        };
        for child in self.children(state) {
            row[usize::from(self.labels[child])] = as_u32(child);
        }
        row
    }

    fn children(&self, state: u32) -> Range<usize> {
        let first_child = |state: usize| self.states[state].first_child as usize;
        first_child(state as usize)..first_child(state as usize + 1)
    }

    /// The state behind another and a byte.
    #[inline]
    fn step(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            if let Some(row) = self.complete.get(state as usize) {
                return row[usize::from(byte)];
            }
            let children = self.children(state);
            if let Some(place) = memchr(byte, &self.labels[children.clone()]) {
                return as_u32(children.start + place);
            }
            state = self.states[state as usize].failure;
        }
    }

    /// The length of the longest pattern.
    pub(super) fn longest(&self) -> usize {
        self.longest_len
    }

    /// The first match at or behind a place. Places only ever grow from call to call.
    pub(crate) fn next(&self, text: &[u8], from: usize, ahead: &mut Ahead) -> Option<Occurrence> {
        loop {
            if let Some(found) = self.take_found(from, ahead) {
                return Some(found);
            }
            let rest = from.max(ahead.end)..text.len();
            if rest.is_empty() {
                return None;
            }
            let (start, block_len) = match &self.beginnings {
                Some(beginnings) => {
                    let first = beginnings.find_in(text, rest.clone().into());
                    (first.map_or(rest.end, |first| first.start()), BLOCK_LEN_AT_BEGINNING)
                }
                None => (rest.start, BLOCK_LEN),
            };
            let end = text.len().min(start + self.longest_len.max(block_len));
            self.search(text, start..end, &mut ahead.found);
            ahead.end = end;
        }
    }

    /// Takes the first match of the block that begins at or behind a place.
    fn take_found(&self, from: usize, ahead: &mut Ahead) -> Option<Occurrence> {
        while let Some((start, pattern)) = ahead.found.pop() {
            let pattern = pattern as usize;
            if start >= from {
                return Some(Occurrence { pattern, place: start..start + self.lens[pattern] });
            }
        }
        None
    }

    /// Collects the matches that begin in a block, the last first.
    fn search(&self, text: &[u8], block: Range<usize>, found: &mut Vec<(usize, u32)>) {
        let reach = text.len().min(block.end + self.longest_len);
        let mut state = 0;
        for &byte in text[block.end..reach].iter().rev() {
            state = self.step(state, byte);
        }
        for (place, &byte) in block.clone().zip(&text[block]).rev() {
            state = self.step(state, byte);
            let pattern = self.states[state as usize].found;
            if pattern != NONE {
                found.push((place, pattern));
            }
        }
    }
}

/// Finds the beginnings of patterns, none of them empty; `None` where they are too many.
fn beginnings<P: AsRef<[u8]>>(patterns: &[P]) -> Option<packed::Searcher> {
    packed::Searcher::new(BEGINNING_LENS.into_iter().find_map(|len| few(patterns, len))?)
}

/// The beginnings of a length, if they are few.
fn few<P: AsRef<[u8]>>(patterns: &[P], len: usize) -> Option<BTreeSet<&[u8]>> {
    let mut beginnings = BTreeSet::new();
    for pattern in patterns {
        let pattern = pattern.as_ref();
        beginnings.insert(&pattern[..pattern.len().min(len)]);
        if beginnings.len() > MAX_BEGINNINGS {
            return None;
        }
    }
    Some(beginnings)
}

/// Patterns read from their ends, sorted, one behind the other.
struct Reversed {
    /// By place: which pattern it is. Of equal ones the first comes first.
    order: Vec<u32>,
    /// By place: where its bytes begin; one more ends the last.
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

impl Reversed {
    fn new<P: AsRef<[u8]>>(patterns: &[P], n_bytes: usize) -> Self {
        let text = |pattern: u32| patterns[pattern as usize].as_ref();
        let mut keyed: Vec<_> = (0..as_u32(patterns.len())).map(|i| (key(text(i)), i)).collect();
        keyed.sort_unstable_by(|(one_key, one), (other_key, other)| {
            let texts = || text(*one).iter().rev().cmp(text(*other).iter().rev());
            one_key.cmp(other_key).then_with(texts).then(one.cmp(other))
        });
        let order: Vec<_> = keyed.into_iter().map(|(_, pattern)| pattern).collect();
        let (mut starts, mut bytes) = (vec![0], Vec::with_capacity(n_bytes));
        for &pattern in &order {
            bytes.extend(text(pattern).iter().rev());
            starts.push(bytes.len());
        }
        Self { order, starts, bytes }
    }

    fn len(&self, place: usize) -> usize {
        self.starts[place + 1] - self.starts[place]
    }

    fn byte(&self, place: usize, depth: usize) -> u8 {
        self.bytes[self.starts[place] + depth]
    }
}

/// The last eight bytes as a number, which is in the order of the reversed patterns.
fn key(pattern: &[u8]) -> u64 {
    let mut key = [0; 8];
    key.iter_mut().zip(pattern.iter().rev()).for_each(|(to, byte)| *to = *byte);
    u64::from_be_bytes(key)
}

#[expect(clippy::cast_possible_truncation, reason = "patterns and states are fewer than 2^32")]
fn as_u32(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first and longest match at or behind a place, by comparing every pattern at every place.
    fn naive(patterns: &[Vec<u8>], text: &[u8], from: usize) -> Option<Occurrence> {
        (from..text.len()).find_map(|start| {
            let begins = |(_, pattern): &(usize, &Vec<u8>)| text[start..].starts_with(pattern);
            let fitting = patterns.iter().enumerate().filter(begins);
            let (pattern, content) = fitting.rev().max_by_key(|(_, pattern)| pattern.len())?;
            Some(Occurrence { pattern, place: start..start + content.len() })
        })
    }

    fn check(patterns: &[Vec<u8>], text: &[u8]) -> std::result::Result<(), TestCaseError> {
        let dictionary = Dictionary::new(patterns).unwrap();
        let (mut from, mut ahead) = (0, Ahead::default());
        loop {
            let found = dictionary.next(text, from, &mut ahead);
            prop_assert_eq!(&found, &naive(patterns, text, from));
            let Some(found) = found else { return Ok(()) };
            from = found.place.end;
        }
    }

    proptest! {
        #[test]
        fn the_dictionary_finds_what_comparing_every_pattern_finds(
            patterns in prop::collection::vec(prop::collection::vec(b'a'..=b'c', 1..7), 1..40),
            text in prop::collection::vec(b'a'..=b'd', 0..200),
            any_patterns in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..3), 1..600),
            any_text in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            check(&patterns, &text)?;
            check(&any_patterns, &any_text)?;
        }
    }

    #[test]
    fn matches_across_blocks_are_found_once() {
        let long = [b"x".repeat(300), b"y".to_vec()].concat();
        let few = [long.clone(), b"xx".to_vec(), b"z".to_vec()];
        let unlike = (128..=255).map(|byte| vec![byte, byte]);
        let many: Vec<_> = few.iter().cloned().chain(unlike).collect();
        for (patterns, block_len) in [(&few[..], BLOCK_LEN_AT_BEGINNING), (&many[..], BLOCK_LEN)] {
            let dictionary = Dictionary::new(patterns).unwrap();
            // Some processors have no vectors for this.
            let has_vectors = packed::Searcher::new(["ab"]).is_some();
            assert_eq!(dictionary.beginnings.is_some(), has_vectors && patterns.len() == 3);
            for n_before in block_len.saturating_sub(310)..block_len + 10 {
                let text = [b"-".repeat(n_before), long.clone(), b"zxx".to_vec()].concat();
                let mut ahead = Ahead::default();
                let found = [0, n_before + 301, n_before + 302, n_before + 304]
                    .map(|from| Some(dictionary.next(&text, from, &mut ahead)?.pattern));
                assert_eq!(found, [Some(0), Some(2), Some(1), None]);
            }
        }
    }
}
