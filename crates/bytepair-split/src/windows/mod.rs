//! Finds where pieces start from the few characters around each place, at many places at once.
//!
//! The automaton of a published pattern forgets quickly: after a few symbols, its state does not depend on what came
//! before. So whether a piece starts at a place nearly always follows from the *window* around it: the four symbols
//! before the place, the one at it, and the one after it. The windows of a pattern are built once:
//!
//! | | |
//! |---|---|
//! | [`letters`] | what a window shows of a symbol: classes that the automaton tells apart, and what follows a run |
//! | [`views`] | every state that the run may have between two symbols, and the steps from one to the next |
//! | [`contexts`] | what is certain after the symbols before a place, as far as a sample of texts needs it |
//! | [`products`] | these answers as a few products of letter sets |
//! | [`tables`] | eight products at once as tables of bytes |
//!
//! Then they run over texts:
//!
//! | | |
//! |---|---|
//! | [`reader`] | text → letters |
//! | [`kernels`] | the loops over every byte, 64 at once if the processor can |
//! | [`spans`] | marks the certain starts, and runs the automaton between them wherever nothing is certain |
//!
//! `docs/explanation/splitting.md` has the proof. Left out: patterns with too many letters, views or products, which run by
//! `automaton::scan`.
//! Cost: half a CPU cycle for each byte of ASCII with published patterns, two for other scripts.

mod contexts;
mod kernels;
mod letters;
mod products;
mod reader;
mod spans;
mod tables;
#[cfg(test)]
mod tests;
mod views;

use self::contexts::{Analysis, Context};
pub(crate) use self::kernels::Kernel;
pub use self::kernels::{instructions, limit_instructions};
use self::letters::{Kinds, LetterSet, Letters, N_SHOWN, Product, Window, all_letters};
use self::products::{cover, loosened};
use self::reader::Reader;
use self::spans::LookupTables;
pub(crate) use self::spans::{Scratch, WindowRun, Windows};
use self::tables::Numbering;
use self::views::PossibleMarks;
use crate::automaton::Automaton;

/// With more look-ups per byte, the automaton is faster.
const MAX_LOOKUPS: usize = 64;

/// Words are sorted only if that saves at least this many look-ups.
const MIN_SPARED: usize = 8;

/// The rare characters. A kind is rare if all its ASCII characters are among these.
const RARE: &[u8] = b"'/0123456789";

impl Windows {
    /// `None` if the pattern is too large.
    pub(crate) fn new(automaton: &Automaton) -> Option<Self> {
        let kinds = Kinds::new(automaton);
        let analysis = Analysis::best(automaton, &kinds)?;
        let Analysis { letters, contexts, known, .. } = &analysis;
        let all = questions(automaton, contexts, known, letters.len())?;
        let common = common_letters(automaton, &kinds, letters).and_then(|set| {
            let common = common_questions(automaton, &analysis, set)?;
            let sets = vec![[set; N_SHOWN]];
            Some((
                Numbering::new(letters, all.iter().chain(&common).chain([&sets]), set)?,
                common,
                set,
            ))
        });
        let (numbering, common) = match common {
            Some((numbering, common, set)) => (numbering, Some((common, set))),
            None => (Numbering::new(letters, all.iter(), LetterSet::MAX)?, None),
        };
        let all = LookupTables::new(&numbering, &all, LetterSet::MAX);
        let common = common.map(|(common, set)| {
            (LookupTables::new(&numbering, &common, set), numbering.set(!set))
        });
        let windows = Self {
            reader: Reader::new(automaton.alphabet(), &kinds, letters, &numbering),
            common: common.filter(|(tables, _)| tables.spares_much_of(&all)),
            all,
            n_letters: numbering.n_numbers,
            has_lookahead: letters.lookahead.is_some(),
        };
        (windows.all.n_lookups() <= MAX_LOOKUPS).then_some(windows)
    }
}

impl LookupTables {
    /// The tables for texts that show only these letters.
    fn new(numbering: &Numbering, questions: &Questions, shown: LetterSet) -> Self {
        Self(questions.each_ref().map(|products| numbering.groups(products, shown)))
    }

    /// Whether these tables save enough to pay for sorting words: they need at most three fifths of the look-ups.
    fn spares_much_of(&self, all: &Self) -> bool {
        let n_spared = all.n_lookups().saturating_sub(self.n_lookups() + 1);
        n_spared >= MIN_SPARED && 5 * n_spared >= 2 * all.n_lookups()
    }
}

/// The questions about each window, as products: where a piece certainly starts, where that is uncertain, and where the
/// piece that starts certainly matches nothing. The last has no products if the pattern is proven to match everything.
type Questions = [Vec<Product>; 3];

/// The questions about windows in these contexts; `None` if they need too many products.
fn questions(
    automaton: &Automaton,
    contexts: &[Context],
    known: &[Window],
    n_letters: usize,
) -> Option<Questions> {
    let starts = cover(contexts, n_letters, PossibleMarks::starts)?;
    let unknown = cover(contexts, n_letters, PossibleMarks::is_unknown)?;
    let unmatched = match automaton.covers_everything() {
        true => Vec::new(),
        false => cover(contexts, n_letters, PossibleMarks::starts_unmatched)?,
    };
    Some([starts, loosened(&unknown, known, n_letters), unmatched])
}

/// The questions about windows that show only common letters.
///
/// Many products concern rare characters: a quote that may begin `'ll`, digits that are counted in threes, a slash after
/// punctuation. If none of them is near, a half or a third of the products is enough. Everything known about all windows
/// holds for windows of common letters too. So contexts are narrowed to common letters and covered again. Either answer
/// will do for windows that show other letters.
///
/// Left out: stretches with edges inside, and patterns for which this saves little.
/// Cost: up to half a millisecond, once; one more look-up for each byte.
fn common_questions(
    automaton: &Automaton,
    Analysis { letters, contexts, known, .. }: &Analysis,
    common: LetterSet,
) -> Option<Questions> {
    let contexts: Vec<_> =
        contexts.iter().filter_map(|context| narrowed(context, common)).collect();
    let is_of_common = |window: &&Window| window.iter().all(|&letter| common >> letter & 1 == 1);
    let known: Vec<_> = known.iter().filter(is_of_common).copied().collect();
    // A set of all common letters becomes the set of all letters: other letters are not shown.
    let any = |set: LetterSet| if set & common == common { LetterSet::MAX } else { set & common };
    let mut questions = questions(automaton, &contexts, &known, letters.len())?;
    questions.iter_mut().flatten().for_each(|product| *product = product.map(any));
    Some(questions)
}

/// The letters of all symbols except rare ones; `None` if no letter is rare.
fn common_letters(automaton: &Automaton, kinds: &Kinds, letters: &Letters) -> Option<LetterSet> {
    let kind_of =
        |byte: u8| kinds.kind_of[usize::from(automaton.alphabet().ascii()[usize::from(byte)])];
    let is_rare = |kind: usize| {
        let mut alike = (0..128).filter(|&byte| kind_of(byte) == kind).peekable();
        alike.peek().is_some() && alike.all(|byte| RARE.contains(&byte))
    };
    let is_common =
        |letter: &usize| letters.letters[*letter].kind.is_some_and(|kind| !is_rare(kind));
    let common = (0..letters.len()).filter(is_common).fold(0, |set, letter| set | 1 << letter);
    (common | 1 << letters.edge() != all_letters(letters.len())).then_some(common)
}

/// A context narrowed to the letters of a set; `None` if nothing is left.
fn narrowed(context: &Context, set: LetterSet) -> Option<Context> {
    let before = context.before.iter().map(|before| before.map(|letters| letters & set));
    let before: Vec<_> =
        before.filter(|before| before.iter().all(|&letters| letters != 0)).collect();
    let marks = context.marks.iter().enumerate().map(|(at, marks)| match set >> at & 1 {
        0 => PossibleMarks::default(),
        _ => PossibleMarks {
            inside: marks.inside & set,
            matches: marks.matches & set,
            unmatched: marks.unmatched & set,
        },
    });
    (!before.is_empty()).then(|| Context { before, marks: marks.collect() })
}
