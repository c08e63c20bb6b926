//! What precedes a place, distinguished as far as it helps.
//!
//! A *context* is a set of letters for each of the nearest symbols before a place, with the views that are possible
//! after all of them. At first, contexts distinguish the nearest symbol alone. If that decides too little at some place
//! of a sample text, they are divided by the symbol before it, and so on. Letters that leave the same views stay
//! together. The sample only selects which distinctions are made: the views of a context are those of every text that
//! shows it. Contexts do not overlap, and symbols that are in no context precede no place of any text.
//!
//! Cost: contexts × letters steps, and a few steps for each window of the sample.

use std::collections::BTreeMap;

use super::letters::{
    Before, Kinds, LetterSet, Letters, Lookahead, N_BEFORE, N_SHOWN, Window, all_letters,
    lookaheads, merged,
};
use super::views::{Graph, PossibleMarks, Relation, Views, image};
use crate::automaton::Automaton;

const MAX_CONTEXTS: usize = 400;

pub(super) struct Context {
    /// Products, one of which holds: a set for each symbol before the place, the farthest first.
    pub(super) before: Vec<Before>,
    /// By letter at the place.
    pub(super) marks: Vec<PossibleMarks>,
}

/// The contexts of a pattern, divided as far as these windows need it, and the windows that the contexts decide. `None`
/// if there are too many contexts.
pub(super) fn contexts(
    graph: &Graph,
    letters: &Letters,
    sample: Vec<Window>,
) -> Option<(Vec<Context>, Vec<Window>)> {
    let behind = (0..letters.len()).map(|letter| graph.after(letter)).collect();
    let mut builder =
        ContextBuilder { graph, letters, behind, contexts: Vec::new(), known: Vec::new() };
    let before = [all_letters(letters.len()); N_BEFORE];
    builder.add(&Sequences { relation: graph.identity(), before, windows: sample }, 0)?;
    Some((builder.contexts, builder.known))
}

/// Whether these marks, by letter at the place, tell nothing certain about a window.
fn is_unknown(marks: &[PossibleMarks], window: Window) -> bool {
    let known = marks[usize::from(window[N_BEFORE])].is_unknown().no;
    known >> window[N_BEFORE + 1] & 1 == 0
}

/// Sequences of letters with the same effect on views.
struct Sequences {
    relation: Relation,
    before: Before,
    /// Windows of the sample that show one of the sequences and that shorter sequences do not decide.
    windows: Vec<Window>,
}

/// By letter before some sequences: the windows that show it.
type Shown = BTreeMap<usize, Vec<Window>>;

struct ContextBuilder<'a> {
    graph: &'a Graph,
    letters: &'a Letters,
    /// By letter: the views after it, whatever precedes it.
    behind: Vec<Views>,
    contexts: Vec<Context>,
    known: Vec<Window>,
}

impl ContextBuilder<'_> {
    /// Adds the contexts of sequences of `depth` letters, divided by the letter before them.
    fn add(&mut self, sequences: &Sequences, depth: usize) -> Option<()> {
        for (views, shown) in self.told_apart(sequences, depth) {
            self.add_group(sequences, &views, shown, depth)?;
        }
        (self.contexts.len() <= MAX_CONTEXTS).then_some(())
    }

    /// Adds the contexts of sequences with those letters before them that leave the same views. Sequences with a window
    /// that is still unknown are divided further.
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

    /// Adds the contexts of sequences with letters before them, divided by the effect of those letters. Returns the
    /// sequences for which a further division does not help.
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

    /// The letters that precede the sequences in some text, by the views that they leave.
    fn told_apart(&self, sequences: &Sequences, depth: usize) -> BTreeMap<Views, Shown> {
        let mut groups: BTreeMap<Views, Shown> = BTreeMap::new();
        let mut windows = vec![Vec::new(); self.letters.len()];
        for &window in &sequences.windows {
            windows[usize::from(window[N_BEFORE - 1 - depth])].push(window);
        }
        for (letter, windows) in windows.into_iter().enumerate() {
            let views = image(&self.behind[letter], &sequences.relation);
            if !views.is_empty() {
                groups.entry(views).or_default().insert(letter, windows);
            }
        }
        groups
    }

    /// The marks that are possible at a symbol with this letter, with the letters that may follow; none at an edge.
    fn marks_at(&self, views: &Views, letter: usize) -> PossibleMarks {
        match self.letters.letters[letter].kind {
            Some(_) => self.graph.marks(views, letter),
            None => PossibleMarks::default(),
        }
    }
}

/// Puts these letters before the known ones.
fn with_letters(mut before: Before, letters: LetterSet, depth: usize) -> Before {
    before[N_BEFORE - 1 - depth] = letters;
    before
}

/// Everything known about the windows of a pattern.
pub(super) struct Analysis {
    pub(super) letters: Letters,
    pub(super) contexts: Vec<Context>,
    /// The windows of the sample that are decided.
    pub(super) known: Vec<Window>,
    /// The number of the other windows.
    n_unknown: usize,
}

impl Analysis {
    /// The analysis with the lookahead that leaves the fewest windows of the sample unknown, or without one if none helps.
    pub(super) fn best(automaton: &Automaton, kinds: &Kinds) -> Option<Self> {
        let sample = Sample::new(automaton, kinds);
        let with = |lookahead: Option<Lookahead>| {
            let letters = Letters::new(kinds, lookahead)?;
            let graph = Graph::new(automaton, kinds, &letters)?;
            let windows = sample.windows(&letters);
            let n_windows = windows.len();
            let (contexts, known) = contexts(&graph, &letters, windows)?;
            let n_unknown = n_windows - known.len();
            Some(Self { letters, contexts, known, n_unknown })
        };
        let without = with(None);
        if without.as_ref().is_some_and(|analysis| analysis.n_unknown == 0) {
            return without;
        }
        let others = lookaheads(automaton, kinds).into_iter();
        let all = without.into_iter().chain(others.filter_map(|lookahead| with(Some(lookahead))));
        all.min_by_key(|analysis| analysis.n_unknown)
    }
}

/// Prose, code and many scripts.
const SAMPLE: &str = include_str!("sample.txt");

/// The kinds of the symbols of the sample, with line ends of both kinds.
struct Sample {
    n_kinds: usize,
    /// An edge has the kind after the last one.
    kinds: Vec<usize>,
}

impl Sample {
    fn new(automaton: &Automaton, kinds: &Kinds) -> Self {
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

    /// The windows of all symbols, each once.
    fn windows(&self, letters: &Letters) -> Vec<Window> {
        let row = |promise: bool| {
            let letters_of_kinds = (0..self.n_kinds).map(|kind| letters.of(kind, promise));
            letters_of_kinds.chain([letters.edge()]).collect::<Vec<usize>>()
        };
        let rows = [false, true].map(row);
        let mut promise = false;
        let letter = |&kind: &usize| {
            let letter = rows[usize::from(promise)][kind];
            if !letters.is_in_run(letter) {
                promise = letters.is_goal(letter);
            }
            u8::try_from(letter).unwrap_or(u8::MAX)
        };
        let mut shown: Vec<u8> = self.kinds.iter().rev().map(letter).collect();
        shown.reverse();
        let is_at_symbol = |&place: &usize| self.kinds[place] < self.n_kinds;
        // As numbers they sort fast.
        let number_at = |place: usize| {
            let window = &shown[place - N_BEFORE..][..N_SHOWN];
            window.iter().fold(0, |number, &letter| number << 8 | u64::from(letter))
        };
        let places = (0..shown.len()).filter(is_at_symbol);
        let mut windows: Vec<u64> = places.map(number_at).collect();
        windows.sort_unstable();
        windows.dedup();
        let window = |window: u64| {
            let bytes = window.to_be_bytes();
            std::array::from_fn(|index| bytes[size_of::<u64>() - N_SHOWN + index])
        };
        windows.into_iter().map(window).collect()
    }
}
