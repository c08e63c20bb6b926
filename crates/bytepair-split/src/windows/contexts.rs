//! What precedes a place, distinguished as far as it helps.
//!
//! A *context* is a set of letters for each of the nearest symbols before a place, with the views that are possible behind
//! all of them. Contexts begin with the nearest symbol alone. Where that decides too little at some place of a sample text,
//! they are divided by the symbol before it, and so on; letters that leave the same views stay together. The sample only
//! decides what is worth distinguishing: the views of a context are those of every text that shows it. Contexts do not
//! overlap, and what is in none of them is in no text.
//!
//! Cost: contexts × letters steps, and a few steps for each window of the sample.

use std::collections::BTreeMap;

use super::letters::{
    Before, Kinds, LetterSet, Letters, Lookahead, N_BEFORE, N_SHOWN, Window, all_letters,
    lookaheads, merged,
};
use super::views::{Graph, PossibleMarks, Relation, Views};
use crate::automaton::table::Automaton;

const MAX_CONTEXTS: usize = 400;

pub(super) struct Context {
    /// Products, one of which holds: for each symbol before the place, the farthest first.
    pub(super) before: Vec<Before>,
    /// By letter at the place.
    pub(super) marks: Vec<PossibleMarks>,
}

/// The contexts of a pattern, distinguished for these windows, and those windows that they decide. `None`
/// if there are too many.
pub(super) fn contexts(
    graph: &Graph,
    letters: &Letters,
    sample: Vec<Window>,
) -> Option<(Vec<Context>, Vec<Window>)> {
    let universe = graph.universe();
    let behind = (0..letters.len()).map(|letter| graph.after(&universe, letter)).collect();
    let mut builder =
        ContextBuilder { graph, letters, behind, contexts: Vec::new(), known: Vec::new() };
    let before = [all_letters(letters.len()); N_BEFORE];
    builder.add(&Sequences { relation: graph.identity(), before, windows: sample }, 0)?;
    Some((builder.contexts, builder.known))
}

/// Whether these marks, by letter at the place, say nothing certain about a window.
fn is_unknown(marks: &[PossibleMarks], window: Window) -> bool {
    let known = marks[usize::from(window[N_BEFORE])].is_unknown().no;
    known >> window[N_BEFORE + 1] & 1 == 0
}

/// Sequences of letters that do the same to views.
struct Sequences {
    relation: Relation,
    before: Before,
    /// Windows of the sample that show one of them and that shorter sequences do not decide.
    windows: Vec<Window>,
}

/// By letter before some sequences: the windows that show it.
type Shown = BTreeMap<usize, Vec<Window>>;

struct ContextBuilder<'a> {
    graph: &'a Graph,
    letters: &'a Letters,
    /// By letter: the views behind it, whatever precedes it.
    behind: Vec<Views>,
    contexts: Vec<Context>,
    known: Vec<Window>,
}

impl ContextBuilder<'_> {
    /// Adds what sequences of so many letters fall into by the letter before them.
    fn add(&mut self, sequences: &Sequences, depth: usize) -> Option<()> {
        for (views, shown) in self.told_apart(sequences, depth) {
            self.add_group(sequences, &views, shown, depth)?;
        }
        (self.contexts.len() <= MAX_CONTEXTS).then_some(())
    }

    /// Adds sequences with letters before them that leave the same views. Those with a window that is still
    /// unknown are distinguished in turn.
    fn add_group(
        &mut self,
        sequences: &Sequences,
        views: &Views,
        mut shown: Shown,
        depth: usize,
    ) -> Option<()> {
        let marks: Vec<PossibleMarks> =
            (0..self.letters.len()).map(|letter| self.marks_at(views, letter)).collect();
        for windows in shown.values_mut() {
            let is_known = |window: &mut Window| !is_unknown(&marks, *window);
            self.known.extend(windows.extract_if(.., is_known));
        }
        let is_settled = depth + 1 == N_BEFORE || shown.values().all(Vec::is_empty);
        let left = if is_settled {
            let letters = shown.keys().fold(0, |set, letter| set | 1 << letter);
            vec![with_letters(sequences.before, letters, depth)]
        } else {
            self.refined(sequences, shown, depth)?
        };
        if !left.is_empty() {
            self.contexts.push(Context { before: merged(left), marks });
        }
        Some(())
    }

    /// Adds sequences with letters before them, distinguished by what these do; returns those for which that is of
    /// no use.
    fn refined(
        &mut self,
        sequences: &Sequences,
        shown: Shown,
        depth: usize,
    ) -> Option<Vec<Before>> {
        let mut relations: BTreeMap<Relation, (LetterSet, Vec<Window>)> = BTreeMap::new();
        for (letter, mut windows) in shown {
            let relation = self.graph.before(letter, &sequences.relation);
            let (letters, all) = relations.entry(relation).or_default();
            *letters |= 1 << letter;
            all.append(&mut windows);
        }
        let all = relations.into_iter().map(|(relation, (letters, windows))| {
            let before = with_letters(sequences.before, letters, depth);
            Sequences { relation, before, windows }
        });
        let (open, others): (Vec<_>, Vec<_>) =
            all.partition(|sequences| !sequences.windows.is_empty());
        let mut left: Vec<Before> = others.iter().map(|sequences| sequences.before).collect();
        for sequences in &open {
            let (n_contexts, n_known) = (self.contexts.len(), self.known.len());
            self.add(sequences, depth + 1)?;
            if self.known.len() == n_known {
                self.contexts.truncate(n_contexts);
                left.push(sequences.before);
            }
        }
        Some(left)
    }

    /// The letters that precede sequences in some text, by the views that are left then.
    fn told_apart(&self, sequences: &Sequences, depth: usize) -> BTreeMap<Views, Shown> {
        let mut groups: BTreeMap<Views, Shown> = BTreeMap::new();
        let mut windows = vec![Vec::new(); self.letters.len()];
        for &window in &sequences.windows {
            windows[usize::from(window[N_BEFORE - 1 - depth])].push(window);
        }
        for (letter, windows) in windows.into_iter().enumerate() {
            let views = self.graph.image(&self.behind[letter], &sequences.relation);
            if views.iter().any(|&word| word != 0) {
                groups.entry(views).or_default().insert(letter, windows);
            }
        }
        groups
    }

    /// The marks that are possible at a symbol with this letter, by the letter behind; none at an edge.
    fn marks_at(&self, views: &Views, letter: usize) -> PossibleMarks {
        match self.letters.letters[letter].kind {
            Some(_) => self.graph.marks(views, letter),
            None => PossibleMarks::default(),
        }
    }
}

/// Puts these letters in front of those that are known.
fn with_letters(mut before: Before, letters: LetterSet, depth: usize) -> Before {
    before[N_BEFORE - 1 - depth] = letters;
    before
}

/// What is known about all windows of a pattern.
pub(super) struct Analysis {
    pub(super) letters: Letters,
    pub(super) contexts: Vec<Context>,
    /// The windows of the sample about which something is known.
    pub(super) known: Vec<Window>,
}

impl Analysis {
    /// With the lookahead that leaves the least unknown of the sample, if any helps.
    pub(super) fn best(automaton: &Automaton, kinds: &Kinds) -> Option<Self> {
        let sample = Sample::new(automaton, kinds);
        let places = sample.places();
        let candidate = |lookahead: Option<Lookahead>, places: &[usize]| {
            let letters = Letters::new(kinds, lookahead)?;
            let graph = Graph::new(automaton, kinds, &letters)?;
            Some(Candidate::new(letters, graph, &sample, places))
        };
        let mut best = candidate(None, &places)?;
        let open = best.unknown.clone();
        // Their graphs may be large: of all but the best only the lookahead is kept.
        let mut others = Vec::new();
        // What is known without a lookahead is known with any.
        for lookahead in if open.is_empty() { Vec::new() } else { lookaheads(automaton, kinds) } {
            let Some(mut next) = candidate(Some(lookahead), &open) else { continue };
            if next.n_unknown < best.n_unknown {
                std::mem::swap(&mut best, &mut next);
            }
            others.push((next.n_unknown, next.letters.lookahead));
        }
        best.analysis(&places).or_else(|| {
            others.sort_by_key(|other| other.0);
            let mut others = others.into_iter();
            others.find_map(|(_, lookahead)| candidate(lookahead, &places)?.analysis(&places))
        })
    }
}

/// The letters of a lookahead or of none, and how they show the sample.
struct Candidate {
    letters: Letters,
    graph: Graph,
    shown: Vec<u8>,
    /// The places about which windows say nothing.
    unknown: Vec<usize>,
    /// How many windows they have.
    n_unknown: usize,
}

impl Candidate {
    /// Of some places of the sample.
    fn new(letters: Letters, graph: Graph, sample: &Sample, places: &[usize]) -> Self {
        let shown = sample.shown(&letters);
        let unknown = unknown(&graph, &shown, places);
        let n_unknown = windows_at(&shown, &unknown).len();
        Self { letters, graph, shown, unknown, n_unknown }
    }

    fn analysis(self, places: &[usize]) -> Option<Analysis> {
        let windows = windows_at(&self.shown, places);
        let (contexts, known) = contexts(&self.graph, &self.letters, windows)?;
        Some(Analysis { letters: self.letters, contexts, known })
    }
}

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

    /// Every place of a symbol.
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

/// The places about which windows say nothing, among some.
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
