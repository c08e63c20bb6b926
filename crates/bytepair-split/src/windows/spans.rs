//! A task by windows: certain starts first, then what is left between them.
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
//! Invariant: every start that is marked is one of the pieces that the text has, and each unknown place lies between two of
//! them when it is settled. So what the automaton finds there is right, and each byte is run over once.
//!
//! A block ends at the last certain start in it. No later text can move that start, since windows speak of all texts that
//! show them.

use std::ops::Range;

use super::kernels::{Kernel, Loop};
use super::letters::N_SHOWN;
use super::reader::{Reader, Source, Span, clip};
use super::tables::{Group, SPAN, WORD, Words, all_words};
use crate::automaton::running::{Position, Reached, Running};
use crate::automaton::scan::{Scan, Task};
use crate::bits::{Bits, Marked};

/// With more places in a span than one of so many, the automaton is faster.
const MIN_BYTES_PER_UNKNOWN: usize = 12;

/// To tell words of common letters from others pays from so many on.
const MIN_SORTED: usize = if crate::SMALL { 2 } else { 6 };

/// A pattern as windows.
pub(crate) struct Windows {
    pub(super) reader: Reader,
    pub(super) all: LookupTables,
    /// For windows that show common letters alone, with the group that holds where there is another one.
    pub(super) common: Option<(LookupTables, Group)>,
    pub(super) n_letters: usize,
    pub(super) has_lookahead: bool,
}

/// The three questions about windows, as tables: where a piece starts, where that is unknown, and where what starts
/// matches nothing.
pub(super) struct LookupTables(pub(super) [Vec<Group>; 3]);

impl Windows {
    /// For people: the letters and the table look-ups for each byte.
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
    /// The look-ups for each byte.
    pub(super) fn n_lookups(&self) -> usize {
        self.0.iter().flatten().map(|group| group.lookups.len()).sum()
    }
}

/// Memory for one task after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    span: Span,
    /// Places about which windows say nothing, from the start of the task.
    unknown: Bits,
    /// Where pieces of the stage before start.
    edges: Bits,
    words: [Vec<u64>; 3],
    sorted: WordPartition,
}

impl Scratch {
    /// Leaves a stretch without marks to the automaton: from the start before it and from each edge in it, if there
    /// are edges. Without, those that are held are of an earlier text.
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

/// What runs a stage by windows.
#[derive(Clone, Copy)]
pub(crate) struct WindowRun<'a> {
    pub(crate) running: &'a Running,
    pub(crate) windows: &'a Windows,
    pub(crate) kernel: Kernel,
}

impl WindowRun<'_> {
    /// Marks the pieces of a task up to its limit or further; returns how far. `None` if nothing is marked, because
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

    /// Marks the pieces of every piece that is marked in a whole block: each of them is a text of its own, but
    /// for those that were dropped.
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
    /// Whether the text is many, with edges between.
    has_edges: bool,
}

impl Spans<'_> {
    /// Marks what windows tell from `start` on; returns how far. `None` if that is too little from the start.
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

    /// Runs the automaton where nothing is certain, up to `end`, which is a start or the end of the text. The number of an
    /// unknown place is its offset plus `shift`, wrapping.
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

    /// Runs the automaton where nothing is certain, within each piece between edges as a text of its own.
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

    /// From a start to a later one; returns up to where all is settled. The later one is certain and marked.
    fn run_to_start(&self, scan: &mut Scan<'_>, start: usize, end: usize) -> usize {
        debug_assert!(scan.marked.starts.contains(scan.place(end)), "a piece starts at the end");
        // Whether the automaton has come to it is seen by its mark.
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
                // The attempt in progress goes on past the end, in vain.
                position = scan.look_back(self.run.running, end);
            }
        }
        scan.marked.starts.insert(scan.place(end));
        position.offset.max(end)
    }

    /// From a start to the end, which is that of the text or a start.
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

/// Where one of the groups holds, for each symbol of the words of these numbers.
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

/// Which words of a span show common letters alone, and which do not.
#[derive(Clone, Debug, Default)]
struct WordPartition {
    /// The numbers of the words of common letters, and of the others.
    numbers: [Vec<u8>; 2],
    /// Letters that are not common.
    others: Vec<u64>,
}

impl WordPartition {
    /// Sorts the first words; `others` holds where a letter is not common.
    fn sort(&mut self, kernel: Kernel, letters: &[u8], n_words: usize, others: &Group) {
        let Self { numbers, others: found } = self;
        found.clear();
        found.resize(n_words + 1, 0);
        let words = Words { numbers: all_words(n_words + 1), bits: found };
        kernel.run(Loop::Group { letters, group: others, cuts: None, words });
        numbers.iter_mut().for_each(Vec::clear);
        for (&number, pair) in all_words(n_words).iter().zip(found.windows(2)) {
            // The windows of a word go on into the next one.
            let is_other = pair[0] | pair[1] << (WORD + 1 - N_SHOWN) != 0;
            numbers[usize::from(is_other)].push(number);
        }
    }
}
