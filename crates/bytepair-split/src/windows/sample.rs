//! A text by which windows are chosen.
//!
//! It decides which runs are looked through and how far windows look, never what they tell. Left out: what is
//! learned from it ([`super::contexts`]). Cost: a few passes over some thousand characters.

use std::collections::BTreeMap;

use super::super::automaton::Automaton;
use super::contexts::{N_BEFORE, N_SHOWN, Window};
use super::knowledge::{Graph, Views};
use super::letters::{Kinds, LetterSet, Letters};

/// Prose, code and scripts.
const SAMPLE: &str = include_str!("sample.txt");

/// The kinds of the sample with line ends of both kinds.
pub(super) struct Sample {
    n_kinds: usize,
    /// An edge is as the kind past the last.
    kinds: Vec<usize>,
}

impl Sample {
    pub(super) fn new(automaton: &Automaton, kinds: &Kinds) -> Self {
        let n_kinds = kinds.n_kinds();
        let edges = [n_kinds; N_BEFORE];
        let kind_of = |character: char| {
            kinds.kind_of[usize::from(automaton.alphabet().class_of(u32::from(character)))]
        };
        let mut shown = edges.to_vec();
        for sample in [SAMPLE, &SAMPLE.replace('\n', "\r\n")] {
            shown.extend(sample.chars().map(kind_of));
            shown.extend(edges);
        }
        Self { n_kinds, kinds: shown }
    }

    /// Every place at which a symbol stands.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.kinds.len()).filter(|&place| self.kinds[place] < self.n_kinds).collect()
    }

    /// What these letters show of each place.
    pub(super) fn shown(&self, letters: &Letters) -> Vec<u8> {
        let number = |letter: usize| u8::try_from(letter).unwrap_or(u8::MAX);
        let table = |promise: bool| {
            let row = (0..self.n_kinds).map(|kind| letters.of(kind, promise));
            row.chain([letters.edge()]).map(number).collect::<Vec<u8>>()
        };
        let table = [false, true].map(table);
        // By letter: what is promised before it, if that depends on it alone.
        let promises =
            |letter: usize| (!letters.is_in_run(letter)).then_some(letters.is_goal(letter));
        let promises: Vec<Option<bool>> = (0..letters.len()).map(promises).collect();
        let mut promise = false;
        let letter = |&kind: &usize| {
            let letter = table[usize::from(promise)][kind];
            promise = promises[usize::from(letter)].unwrap_or(promise);
            letter
        };
        let mut shown: Vec<u8> = self.kinds.iter().rev().map(letter).collect();
        shown.reverse();
        shown
    }
}

/// The windows at some places, each once.
pub(super) fn windows_at(shown: &[u8], places: &[usize]) -> Vec<Window> {
    // As numbers they are sorted quickly.
    let window = |&place: &usize| {
        let letters = &shown[place - N_BEFORE..][..N_SHOWN];
        letters.iter().fold(0, |window, &letter| window << 8 | u64::from(letter))
    };
    let mut windows: Vec<u64> = places.iter().map(window).collect();
    windows.sort_unstable();
    windows.dedup();
    let window = |window: u64| {
        let bytes = window.to_be_bytes();
        std::array::from_fn(|index| bytes[size_of::<u64>() - N_SHOWN + index])
    };
    windows.into_iter().map(window).collect()
}

/// The places of which windows tell nothing, among some.
pub(super) fn unknown(graph: &Graph, shown: &[u8], places: &[usize]) -> Vec<usize> {
    let mut walk = Walk { graph, sets: Vec::new(), numbers: BTreeMap::new(), steps: Vec::new() };
    let universe = walk.number(graph.universe());
    let is_unknown = |&place: &usize| {
        let before = &shown[place - N_BEFORE..place];
        let set = before.iter().fold(universe, |set, &letter| walk.step(set, letter).0);
        walk.step(set, shown[place]).1 >> shown[place + 1] & 1 == 0
    };
    places.iter().copied().filter(is_unknown).collect()
}

/// Steps from sets of views to sets of views, each found once.
struct Walk<'g> {
    graph: &'g Graph,
    sets: Vec<Views>,
    numbers: BTreeMap<Views, usize>,
    /// By number of a set and letter: the set after it, and the letters behind with which its place is known.
    steps: Vec<Option<(usize, LetterSet)>>,
}

impl Walk<'_> {
    fn number(&mut self, views: Views) -> usize {
        let next = self.sets.len();
        let number = *self.numbers.entry(views.clone()).or_insert(next);
        if number == next {
            self.sets.push(views);
            self.steps.extend(std::iter::repeat_n(None, self.graph.n_letters()));
        }
        number
    }

    fn step(&mut self, set: usize, letter: u8) -> (usize, LetterSet) {
        let letter = usize::from(letter);
        let index = set * self.graph.n_letters() + letter;
        if let Some(step) = self.steps[index] {
            return step;
        }
        let known = self.graph.marks(&self.sets[set], letter).is_unknown().no;
        let step = (self.number(self.graph.after(&self.sets[set], letter)), known);
        self.steps[index] = Some(step);
        step
    }
}
