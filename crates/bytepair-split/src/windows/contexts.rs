//! What stands before a place, told apart as far as it helps.
//!
//! A *context* is a set of letters for each of the nearest symbols before a place, with the views that all
//! texts of these letters leave. Contexts begin with the nearest symbol alone. Where that tells too little at
//! some place of a sample text, they are told apart by the symbol before, and so on; letters that leave the
//! same views stay together. The sample only decides what is worth telling apart: the views of a context are
//! those of every text that shows it. Contexts do not overlap, and what is in none is in no text.
//!
//! Cost: the number of contexts x letters steps, and a few steps for each window of the sample.

use std::collections::BTreeMap;

use super::cover::merged;
use super::knowledge::{Graph, Marks, Relation, Views};
use super::letters::{LetterSet, Letters, all_letters};

/// How many letters before a place are looked at.
pub(super) const N_BEFORE: usize = 4;

/// The letters of a window: those before the place, the one at it, the one behind.
pub(super) const N_SHOWN: usize = N_BEFORE + 2;

const MAX_CONTEXTS: usize = 400;

/// The letters of one window, the farthest before the place first.
pub(super) type Window = [u8; N_SHOWN];

pub(super) struct Context {
    /// Products of which one holds: for each symbol before the place, the farthest first.
    pub(super) before: Vec<Before>,
    /// By letter at the place.
    pub(super) marks: Vec<Marks>,
}

/// A set of letters for each symbol before a place, the farthest first.
pub(super) type Before = [LetterSet; N_BEFORE];

/// The contexts of a pattern, told apart for these windows, and the windows of which they tell something. `None`
/// if there are too many.
pub(super) fn contexts(
    graph: &Graph,
    letters: &Letters,
    sample: Vec<Window>,
) -> Option<(Vec<Context>, Vec<Window>)> {
    let universe = graph.universe();
    let behind = (0..letters.len()).map(|letter| graph.after(&universe, letter)).collect();
    let mut maker = Maker { graph, letters, behind, contexts: Vec::new(), known: Vec::new() };
    let before = [all_letters(letters.len()); N_BEFORE];
    maker.add(&Sequences { relation: graph.identity(), before, windows: sample }, 0)?;
    Some((maker.contexts, maker.known))
}

/// Whether a window is one of which these marks, by letter at the place, say nothing certain.
fn is_unknown(marks: &[Marks], window: Window) -> bool {
    let known = marks[usize::from(window[N_BEFORE])].is_unknown().no;
    known >> window[N_BEFORE + 1] & 1 == 0
}

/// Sequences of letters that do the same to views.
struct Sequences {
    relation: Relation,
    before: Before,
    /// Windows of the sample that show one of them, and of which less tells nothing.
    windows: Vec<Window>,
}

/// By letter before some sequences: the windows that show it.
type Shown = BTreeMap<usize, Vec<Window>>;

struct Maker<'a> {
    graph: &'a Graph,
    letters: &'a Letters,
    /// By letter: the views behind it, whatever stands before.
    behind: Vec<Views>,
    contexts: Vec<Context>,
    known: Vec<Window>,
}

impl Maker<'_> {
    /// Adds what sequences of so many letters fall into by the letter before them.
    fn add(&mut self, sequences: &Sequences, depth: usize) -> Option<()> {
        for (views, shown) in self.told_apart(sequences, depth) {
            self.add_group(sequences, (&views, shown), depth)?;
        }
        (self.contexts.len() <= MAX_CONTEXTS).then_some(())
    }

    /// Adds sequences with letters before them that leave the same views. Those of which some window is still
    /// unknown are told apart in turn.
    fn add_group(
        &mut self,
        sequences: &Sequences,
        (views, mut shown): (&Views, Shown),
        depth: usize,
    ) -> Option<()> {
        let marks: Vec<Marks> =
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

    /// Adds sequences with letters before them, told apart by what these do; returns those for which that is of
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

    /// The letters that stand before sequences in some text, by the views that are left then.
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

    /// What may stand at a symbol with this letter, by the letter behind; nothing is asked about an edge.
    fn marks_at(&self, views: &Views, letter: usize) -> Marks {
        match self.letters.letters[letter].kind {
            Some(_) => self.graph.marks(views, letter),
            None => Marks::default(),
        }
    }
}

/// The same with these letters as what stands before.
fn with_letters(mut before: Before, letters: LetterSet, depth: usize) -> Before {
    before[N_BEFORE - 1 - depth] = letters;
    before
}
