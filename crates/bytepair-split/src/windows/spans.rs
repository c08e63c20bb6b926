//! Runs a task by windows: certain starts first, then the places between them that are unknown.
//!
//! ```text
//! for each span of the text:
//!     read it as letters
//!     starts, unknown, unmatched = the places where a product of each kind holds, 64 at once
//!     if too many places are unknown: leave the whole span to the automaton
//!     mark the starts that are not unknown
//! for each unknown place that is not settled yet:
//!     run the automaton from the last start before it to the next certain one
//! ```
//!
//! Invariant: every start that is marked is a start of a piece of the text, and each unknown place lies between two of them
//! when it is settled. So the automaton finds the right starts there, and runs over each byte once.
//!
//! A block ends at the last certain start in it. No later text can move that start, since a window is right for every
//! text that shows it.

use std::ops::Range;

use super::kernels::{Kernel, Loop};
use super::letters::N_SHOWN;
use super::reader::{Reader, Source, Span, clip};
use super::tables::{Group, SPAN, WORD, Words, all_words};
use crate::automaton::running::{Position, Reached, Running};
use crate::automaton::scan::{Scan, Task};
use crate::bits::{Bits, Marked};

/// If more than one place in this many is unknown in a span, the automaton is faster.
const MIN_BYTES_PER_UNKNOWN: usize = 12;

/// Spans with at least this many words are sorted into words of common letters and others.
const MIN_SORTED: usize = if crate::SMALL { 2 } else { 6 };

/// The windows of a pattern.
pub(crate) struct Windows {
    pub(super) reader: Reader,
    pub(super) all: LookupTables,
    /// Tables for windows that show only common letters, with the group that holds at any other letter.
    pub(super) common: Option<(LookupTables, Group)>,
    pub(super) n_letters: usize,
    pub(super) has_lookahead: bool,
}

/// The three questions about windows, as tables: where a piece starts, where that is unknown, and where the piece that
/// starts matches nothing.
pub(super) struct LookupTables(pub(super) [Vec<Group>; 3]);

impl Windows {
    /// A description for people: the number of letters, and of the table look-ups for each byte.
    pub(crate) fn in_words(&self) -> String {
        let ahead = if self.has_lookahead { ", runs looked through" } else { "" };
        let common = self.common.as_ref().map_or_else(String::new, |(tables, _)| {
            format!(", {} where no rare letter is near", tables.n_lookups() + 1)
        });
        let n_lookups = self.all.n_lookups();
        format!("windows of {} letters, {n_lookups} look-ups{common}{ahead}", self.n_letters)
    }
}

impl LookupTables {
    /// The number of look-ups for each byte.
    pub(super) fn n_lookups(&self) -> usize {
        self.0.iter().flatten().map(|group| group.lookups.len()).sum()
    }
}

/// Memory that is reused from task to task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    span: Span,
    /// Places about which windows tell nothing, from the start of the task.
    unknown: Bits,
    /// Where the pieces of the stage before start.
    edges: Bits,
    words: [Vec<u64>; 3],
    sorted: WordPartition,
}

impl Scratch {
    /// Leaves a stretch without marks to the automaton: from the start before it and, if the text has edges, from each
    /// edge in it. Otherwise the stored edges are those of an earlier text.
    fn leave(&mut self, places: Range<usize>, has_edges: bool) {
        self.unknown.insert(places.start);
        if !has_edges {
            return;
        }
        let mut next = self.edges.first_from(places.start);
        while let Some(edge) = next.filter(|edge| places.contains(edge)) {
            self.unknown.insert(edge);
            next = self.edges.first_from(edge + 1);
        }
    }
}

/// Runs a stage by windows.
#[derive(Clone, Copy)]
pub(crate) struct WindowRun<'a> {
    pub(crate) running: &'a Running,
    pub(crate) windows: &'a Windows,
    pub(crate) kernel: Kernel,
}

impl WindowRun<'_> {
    /// Marks the pieces of a task up to its limit or further; returns how far. `None` if nothing is marked because
    /// windows tell too little about this text.
    pub(crate) fn run(self, scan: &mut Scan<'_>, scratch: &mut Scratch) -> Option<usize> {
        let (from, length) = (scan.task.from, scan.task.text.len());
        let mut limit = scan.task.limit.min(length);
        let mut spans = Spans { run: self, scratch, has_edges: false };
        spans.scratch.unknown.clear();
        let mut reached = from;
        loop {
            while reached < limit {
                reached = spans.mark(scan, reached, limit)?;
            }
            let last = scan.marked.starts.last_within(scan.place(from + 1)..scan.place(reached));
            let end = if reached >= length {
                Some(length)
            } else {
                last.map(|place| place.wrapping_sub(scan.task.shift))
            };
            if let Some(end) = end {
                spans.settle(scan, end, 0_usize.wrapping_sub(from));
                return Some(end);
            }
            limit = length.min(limit + (limit - from).max(SPAN));
        }
    }

    /// Splits each piece of a whole block as a text of its own, except dropped ones, and marks the new pieces.
    pub(crate) fn run_pieces(
        self,
        text: &[u8],
        marked: &mut Marked,
        dropped: Option<&Bits>,
        scratch: &mut Scratch,
    ) {
        scratch.unknown.clear();
        scratch.edges.copy_from(&marked.starts);
        let mut spans = Spans { run: self, scratch, has_edges: true };
        let task = Task { text, from: 0, limit: text.len(), shift: 0 };
        let mut scan = Scan { task, marked, unmatched_end: None };
        let mut reached = 0;
        while reached < text.len() {
            let Some(next) = spans.mark(&mut scan, reached, text.len()) else { return };
            reached = next;
        }
        if let Some(dropped) = dropped {
            for places in dropped_pieces(&spans.scratch.edges, dropped, text.len()) {
                scan.marked.starts.remove_range(places.start + 1..places.end);
                scan.marked.unmatched.remove_range(places.clone());
                spans.scratch.unknown.remove_range(places);
            }
        }
        spans.settle_pieces(&mut scan);
    }
}

struct Spans<'a> {
    run: WindowRun<'a>,
    scratch: &'a mut Scratch,
    /// Whether the text consists of several texts with edges between them.
    has_edges: bool,
}

impl Spans<'_> {
    /// Marks what windows tell from `start` on; returns how far. `None` if they tell too little at the very start.
    fn mark(&mut self, scan: &mut Scan<'_>, start: usize, limit: usize) -> Option<usize> {
        let from = scan.task.from;
        let end = limit.min(start + SPAN);
        let Self { run: WindowRun { running, windows, kernel }, scratch, has_edges } = self;
        let source = Source {
            text: scan.task.text,
            edges: has_edges.then_some(&scratch.edges),
            alphabet: running.automaton().alphabet(),
            from,
        };
        let known = windows.reader.read(*kernel, source, start..end, &mut scratch.span);
        scan.marked.reserve(scan.place(end + 2 * WORD));
        scratch.unknown.reserve(end + 2 * WORD - from);
        if known == start {
            scratch.leave(start - from..end - from, *has_edges);
            return Some(end);
        }
        let Scratch { span, sorted, words, .. } = &mut **scratch;
        let n_words = span.n_words();
        let parts = match (&windows.common, span.cuts()) {
            (Some((common, others)), None) if n_words >= MIN_SORTED => {
                sorted.sort(*kernel, span.windows(), n_words, others);
                let [of_common, of_others] = &sorted.numbers;
                [(common, &of_common[..]), (&windows.all, of_others)]
            }
            _ => [(&windows.all, all_words(n_words)), (&windows.all, &[])],
        };
        for (index, words) in words.iter_mut().enumerate() {
            words.clear();
            words.resize(n_words, 0);
            for (tables, numbers) in parts {
                look_up(*kernel, span, &tables.0[index], Words { numbers, bits: words });
            }
            span.spread(*kernel, words);
            clip(words, start - span.first..known - span.first);
        }
        let [starts, unknown, unmatched] = &scratch.words;
        let n_unknown: usize = unknown.iter().map(|word| word.count_ones() as usize).sum();
        if n_unknown * MIN_BYTES_PER_UNKNOWN > known - start + SPAN / 16 {
            if start == from && !*has_edges {
                return None;
            }
            scratch.leave(start - from..known - from, *has_edges);
            return Some(known);
        }
        for (index, ((starts, unknown), unmatched)) in
            starts.iter().zip(unknown).zip(unmatched).enumerate()
        {
            let offset = scratch.span.first + index * WORD;
            scan.marked.starts.insert_word(scan.place(offset), starts & !unknown);
            scratch.unknown.insert_word(offset - from, *unknown);
            if *unmatched != 0 {
                let unmatched = unmatched & starts & !unknown;
                scan.marked.unmatched.insert_word(scan.place(offset), unmatched);
            }
        }
        Some(known)
    }

    /// Runs the automaton wherever nothing is certain, up to `end`, which is a start or the end of the text. The number
    /// of an unknown place is its offset plus `shift`, wrapping.
    fn settle(&self, scan: &mut Scan<'_>, end: usize, shift: usize) {
        let from = scan.task.from;
        let unknown_from = |offset: usize| {
            let unknown = self.scratch.unknown.first_from(offset.wrapping_add(shift))?;
            Some(unknown.wrapping_sub(shift)).filter(|&offset| offset < end)
        };
        let mut next = unknown_from(from);
        while let Some(unknown) = next {
            let start =
                if unknown == from { from } else { scan.last_start(unknown - 1).unwrap_or(from) };
            let certain = scan.marked.starts.first_from(scan.place(unknown) + 1);
            let certain = certain.map(|place| place.wrapping_sub(scan.task.shift));
            let reached = match certain.filter(|&place| place < end) {
                Some(certain) => self.run_to_start(scan, start, certain),
                None => self.run_to_end(scan, start, end),
            };
            next = unknown_from(reached);
        }
    }

    /// Runs the automaton wherever nothing is certain. Each piece between edges is a text of its own.
    fn settle_pieces(&self, scan: &mut Scan<'_>) {
        let text = scan.task.text;
        let mut next = self.scratch.unknown.first_from(0);
        while let Some(unknown) = next.filter(|&place| place < text.len()) {
            let first = self.scratch.edges.last_up_to(unknown).unwrap_or(0);
            let last = self.scratch.edges.first_from(unknown + 1).unwrap_or(text.len());
            let text = &text[first..last.min(text.len())];
            let task = Task { text, from: 0, limit: text.len(), shift: first };
            let marked = &mut *scan.marked;
            let mut piece = Scan { task, marked, unmatched_end: None };
            self.settle(&mut piece, text.len(), first);
            next = self.scratch.unknown.first_from(last);
        }
    }

    /// Runs from a start to a later one, which is certain and marked. Returns how far everything is settled.
    fn run_to_start(&self, scan: &mut Scan<'_>, start: usize, end: usize) -> usize {
        debug_assert!(scan.marked.starts.contains(scan.place(end)), "a piece starts at the end");
        // The mark is removed so that it shows whether the automaton has reached this start.
        scan.marked.starts.remove(scan.place(end));
        let mut position = Position::between_pieces(start);
        while position.offset < end {
            let reached = scan.run_on(self.run.running, position, end + 1);
            let Position { offset, state } = reached.position;
            if reached.is_stopped {
                position = scan.look_back(self.run.running, offset);
            } else if scan.marked.starts.contains(scan.place(end))
                || state == self.run.running.unmatched_state()
            {
                break;
            } else {
                // The attempt in progress goes on past the end, without success.
                position = scan.look_back(self.run.running, end);
            }
        }
        scan.marked.starts.insert(scan.place(end));
        position.offset.max(end)
    }

    /// Runs from a start to `end`, which is a start or the end of the text.
    fn run_to_end(&self, scan: &mut Scan<'_>, start: usize, end: usize) -> usize {
        if end < scan.task.text.len() {
            return self.run_to_start(scan, start, end);
        }
        let mut position = Position::between_pieces(start);
        loop {
            let Reached { position: reached, is_stopped } =
                scan.run_on(self.run.running, position, end);
            if !is_stopped && self.run.running.ends_here(reached.state) {
                return end;
            }
            position = scan.look_back(self.run.running, reached.offset);
            if position.offset >= end {
                return end;
            }
        }
    }
}

/// For each symbol in the words of these numbers: whether one of the groups holds.
fn look_up(kernel: Kernel, span: &Span, groups: &[Group], words: Words<'_>) {
    let Words { numbers, bits } = words;
    if numbers.is_empty() {
        return;
    }
    for group in groups {
        let (letters, cuts) = (span.windows(), span.cuts());
        kernel.run(Loop::Group { letters, group, cuts, words: Words { numbers, bits } });
    }
}

/// The pieces that start at `dropped`.
fn dropped_pieces(edges: &Bits, dropped: &Bits, end: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut next = dropped.first_from(0);
    while let Some(start) = next {
        pieces.push(start..edges.first_from(start + 1).unwrap_or(end));
        next = dropped.first_from(start + 1);
    }
    pieces
}

/// Which words of a span show only common letters, and which do not.
#[derive(Clone, Debug, Default)]
struct WordPartition {
    /// The numbers of the words of common letters, and of the others.
    numbers: [Vec<u8>; 2],
    /// Bits of the letters that are not common.
    others: Vec<u64>,
}

impl WordPartition {
    /// Sorts the first `n_words` words. `others` holds at letters that are not common.
    fn sort(&mut self, kernel: Kernel, letters: &[u8], n_words: usize, others: &Group) {
        let Self { numbers, others: found } = self;
        found.clear();
        found.resize(n_words + 1, 0);
        let words = Words { numbers: all_words(n_words + 1), bits: found };
        kernel.run(Loop::Group { letters, group: others, cuts: None, words });
        numbers.iter_mut().for_each(Vec::clear);
        for (&number, pair) in all_words(n_words).iter().zip(found.windows(2)) {
            // The windows of a word continue in the next word.
            let is_other = pair[0] | pair[1] << (WORD + 1 - N_SHOWN) != 0;
            numbers[usize::from(is_other)].push(number);
        }
    }
}
