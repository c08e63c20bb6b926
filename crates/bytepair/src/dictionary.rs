//! The longest of some texts that begins at each place of another text.
//!
//! An automaton reads the text backwards. Its state at a place is the longest beginning of a reversed pattern that ends there,
//! so the longest pattern that begins there is known at once. No place is read again after a match that came to nothing, as
//! leftmost-longest search forwards has to.
//!
//! The automaton reads only blocks of text in which a pattern begins: another one finds the next place where one may, by the
//! first bytes of patterns. If patterns have too many different beginnings, or the processor has no vectors for this, the
//! automaton reads all blocks.
//!
//! Construction takes time linear in the total length of the patterns, and sorting them. A node takes 13 bytes. The search
//! takes time linear in the text and, as blocks are no shorter than the longest pattern, memory for the matches of one block.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use aho_corasick::packed;
use memchr::memchr;

use crate::error::{Error, Result};

/// How many states have a row of all transitions: the root and, as a rule, all states behind one byte.
const MAX_COMPLETE: usize = 256;

/// The bytes of a block, if no pattern is longer: after a beginning of a pattern, and where beginnings are not known.
const BLOCK_LEN_AT_BEGINNING: usize = 64;
const BLOCK_LEN: usize = 4 << 10;

/// Bytes of a pattern by which its beginning is found: the most that leave few enough different ones.
const BEGINNING_LENS: [usize; 3] = [4, 3, 2];
const MAX_BEGINNINGS: usize = 32;

/// A pattern with its place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) pattern: usize,
    pub(crate) place: Range<usize>,
}

/// No pattern.
const NONE: u32 = u32::MAX;

/// Finds the longest of some texts at each place of another one: the automaton of the reversed patterns, its states in the
/// order of their depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
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
    pub(crate) beginnings: Option<packed::Searcher>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The first of its children, which follow each other. Those of the next state come after them.
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

impl Search {
    /// No pattern may be empty; of equal ones the first counts.
    ///
    /// # Errors
    /// If the patterns have 4 GB or more together.
    pub(crate) fn new<P: AsRef<[u8]>>(patterns: &[P]) -> Result<Self> {
        let n_bytes: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        let is_too_long = |_| Error::option("special_tokens", "have 4 GB or more together");
        u32::try_from(n_bytes.saturating_add(patterns.len() + 1)).map_err(is_too_long)?;
        let lens: Vec<_> = patterns.iter().map(|pattern| pattern.as_ref().len()).collect();
        let mut search = Self {
            states: Vec::new(),
            labels: Vec::new(),
            complete: Vec::new(),
            longest_len: lens.iter().copied().max().unwrap_or(0),
            lens,
            beginnings: beginnings(patterns),
        };
        search.grow(&Reversed::new(patterns, n_bytes));
        search.link();
        Ok(search)
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

    /// The state after a state and each byte, if those before it have their rows.
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

    /// The state after another and a byte.
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
    pub(crate) fn longest(&self) -> usize {
        self.longest_len
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

    /// The first occurrence from a place on, which grows from call to call with the same `ahead`.
    pub(crate) fn next(&self, text: &[u8], from: usize, ahead: &mut Ahead) -> Option<Occurrence> {
        if self.lens.is_empty() {
            return None;
        }
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

    /// Takes the first match of the block that begins at or after a place.
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

/// Finds the beginnings of patterns, none of them empty; `None` if they are too many.
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

/// Patterns read from their ends, sorted, one after the other.
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

    /// The first and longest match at or after a place, by comparing every pattern at every place.
    fn naive(patterns: &[Vec<u8>], text: &[u8], from: usize) -> Option<Occurrence> {
        (from..text.len()).find_map(|start| {
            let begins = |(_, pattern): &(usize, &Vec<u8>)| text[start..].starts_with(pattern);
            let fitting = patterns.iter().enumerate().filter(begins);
            let (pattern, content) = fitting.rev().max_by_key(|(_, pattern)| pattern.len())?;
            Some(Occurrence { pattern, place: start..start + content.len() })
        })
    }

    fn check(patterns: &[Vec<u8>], text: &[u8]) -> std::result::Result<(), TestCaseError> {
        let search = Search::new(patterns).unwrap();
        let (mut from, mut ahead) = (0, Ahead::default());
        loop {
            let found = search.next(text, from, &mut ahead);
            prop_assert_eq!(&found, &naive(patterns, text, from));
            let Some(found) = found else { return Ok(()) };
            from = found.place.end;
        }
    }

    proptest! {
        #[test]
        fn search_finds_what_comparing_every_pattern_finds(
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
            let search = Search::new(patterns).unwrap();
            // Some processors have no vectors for this.
            let has_vectors = packed::Searcher::new(["ab"]).is_some();
            assert_eq!(search.beginnings.is_some(), has_vectors && patterns.len() == 3);
            for n_before in block_len.saturating_sub(310)..block_len + 10 {
                let text = [b"-".repeat(n_before), long.clone(), b"zxx".to_vec()].concat();
                let mut ahead = Ahead::default();
                let found = [0, n_before + 301, n_before + 302, n_before + 304]
                    .map(|from| Some(search.next(&text, from, &mut ahead)?.pattern));
                assert_eq!(found, [Some(0), Some(2), Some(1), None]);
            }
        }
    }
}
