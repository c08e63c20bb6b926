//! Where pieces start, read off the few characters around each place, many places at once.
//!
//! The automaton of a published pattern forgets quickly: after a few symbols, its state does not depend on what came before.
//! So whether a piece starts at a place nearly always follows from the *window* around it: four symbols before, the one at
//! the place, and the one behind. Building a pattern's windows, once:
//!
//! | | |
//! |---|---|
//! | [`letters`] | what a window shows of a symbol: classes that the automaton tells apart, and what follows a run |
//! | [`views`] | everything that the run can be between two symbols, and the steps from one to the next |
//! | [`contexts`] | what follows for certain from the symbols before a place, as far as a sample of texts needs it |
//! | [`products`] | these answers as few products of letter sets |
//! | [`tables`] | eight products at once as tables of bytes |
//!
//! and running them over a text:
//!
//! | | |
//! |---|---|
//! | [`reader`] | text → letters |
//! | [`kernels`] | the loops over every byte, 64 at once where the processor can |
//! | [`spans`] | marks the certain starts, and runs the automaton from one to the next where nothing is certain |
//!
//! `docs/explanation/splitting.md` has the proof. Left out: patterns with too many letters, views or products, and
//! processors without the instructions; these stay with `automaton::lanes`.
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
use self::letters::{Kinds, LetterSet, N_SHOWN, Product, all_letters};
use self::products::{cover, loosened};
use self::reader::Reader;
use self::spans::LookupTables;
pub(crate) use self::spans::{Scratch, WindowRun, Windows};
use self::tables::Numbering;
use self::views::{Answers, Marks};
use crate::automaton::table::Automaton;

/// Words are sorted only where that spares so many look-ups.
const MIN_SPARED: usize = 8;

impl Windows {
    /// `None` if the pattern is too large, or too large for the kernel.
    pub(crate) fn new(automaton: &Automaton, kernel: Kernel) -> Option<Self> {
        let kinds = Kinds::new(automaton);
        let analysis = Analysis::best(automaton, &kinds)?;
        let Analysis { letters, contexts, known } = &analysis;
        let starts = cover(contexts, letters.len(), Marks::starts)?;
        let unknown = cover(contexts, letters.len(), Marks::is_unknown)?;
        let unknown = loosened(&unknown, known, letters.len());
        let unmatched = if automaton.covers_everything() {
            Vec::new()
        } else {
            cover(contexts, letters.len(), Marks::starts_unmatched)?
        };
        let products = [&starts[..], &unknown, &unmatched];
        let common = Common::new(automaton, &kinds, &analysis);
        let with_common = common.and_then(|common| {
            let Common { starts, unknown, unmatched, .. } = &common;
            let sets = common.sets();
            let lists = [&products[..], &[starts, unknown, unmatched, &sets]].concat();
            Some((Numbering::new(letters, &lists)?, common))
        });
        let (max_numbers, max_lookups) = kernel.limits();
        let with_common = with_common.filter(|(numbering, _)| numbering.n_numbers <= max_numbers);
        let (numbering, common) = match with_common {
            Some((numbering, common)) => (numbering, Some(common)),
            None => (Numbering::new(letters, &products)?, None),
        };
        let all = LookupTables::new(&numbering, products);
        let common = common.map(|common| {
            let Common { letters, starts, unknown, unmatched } = &common;
            let tables = LookupTables::new(&numbering, [starts, unknown, unmatched]);
            (tables, numbering.set(!letters))
        });
        let windows = Self {
            reader: Reader::new(automaton.alphabet(), &kinds, letters, &numbering),
            common: common.filter(|(tables, _)| tables.spares_much_of(&all)),
            all,
            n_letters: numbering.n_numbers,
            has_lookahead: letters.lookahead.is_some(),
        };
        let is_small = windows.n_letters <= max_numbers && windows.all.n_lookups() <= max_lookups;
        is_small.then_some(windows)
    }
}

impl LookupTables {
    fn new(numbering: &Numbering, [starts, unknown, unmatched]: [&[Product]; 3]) -> Self {
        let groups = |products: &[Product]| numbering.groups(products);
        Self { starts: groups(starts), unknown: groups(unknown), unmatched: groups(unmatched) }
    }

    /// Whether it pays to tell which words it is enough for: it leaves half of the look-ups at most.
    fn spares_much_of(&self, all: &Self) -> bool {
        let n_spared = all.n_lookups().saturating_sub(self.n_lookups() + 1);
        n_spared >= MIN_SPARED && 2 * n_spared >= all.n_lookups()
    }
}

/// What is not common, if nothing else that is ASCII is the same to the pattern.
const RARE: &[u8] = b"'/0123456789";

/// The questions about windows that show common letters alone.
///
/// Many products concern rare characters: a quote that may begin `'ll`, digits that are counted in threes,
/// a slash behind punctuation. Where none of them is near, a half or a third of the products
/// is enough. Windows of common letters are windows, so what is known of all is known of them: contexts are narrowed to
/// common letters, where either answer will do for windows that show others, and covered again.
///
/// Left out: stretches with edges inside, and patterns for which it makes little difference.
/// Cost: up to half a millisecond, once; one lookup more for each byte.
struct Common {
    pub(super) letters: LetterSet,
    pub(super) starts: Vec<Product>,
    pub(super) unknown: Vec<Product>,
    pub(super) unmatched: Vec<Product>,
}

impl Common {
    /// `None` if there are too many products, or no rare letters.
    pub(super) fn new(automaton: &Automaton, kinds: &Kinds, analysis: &Analysis) -> Option<Self> {
        let Analysis { letters, contexts, known } = analysis;
        let kind_of =
            |byte: u8| kinds.kind_of[usize::from(automaton.alphabet().ascii()[usize::from(byte)])];
        let is_rare = |kind: usize| {
            let mut alike = (0..128).filter(|&byte| kind_of(byte) == kind).peekable();
            alike.peek().is_some() && alike.all(|byte| RARE.contains(&byte))
        };
        let is_common =
            |letter: &usize| letters.letters[*letter].kind.is_some_and(|kind| !is_rare(kind));
        let common = (0..letters.len()).filter(is_common).fold(0, |set, letter| set | 1 << letter);
        if common | 1 << letters.edge() == all_letters(letters.len()) {
            return None;
        }
        let narrow: Vec<_> =
            contexts.iter().filter_map(|context| narrowed(context, common)).collect();
        // All common letters are any: others are not shown.
        let products = |asks: fn(&Marks) -> Answers| {
            let products: Vec<Product> = cover(&narrow, letters.len(), asks)?;
            let any = |set: LetterSet| match set & common {
                set if set == common => LetterSet::MAX,
                set => set,
            };
            Some(products.into_iter().map(|product| product.map(any)).collect::<Vec<_>>())
        };
        let is_of_common =
            |window: &&[u8; N_SHOWN]| window.iter().all(|&letter| common >> letter & 1 == 1);
        let known: Vec<_> = known.iter().filter(is_of_common).copied().collect();
        let unknown = loosened(&products(Marks::is_unknown)?, &known, letters.len());
        let unmatched = match automaton.covers_everything() {
            true => Vec::new(),
            false => products(Marks::starts_unmatched)?,
        };
        Some(Self { letters: common, starts: products(Marks::starts)?, unknown, unmatched })
    }

    /// Products that tell common letters from others.
    pub(super) fn sets(&self) -> [Product; 1] {
        [[self.letters; N_SHOWN]]
    }
}

/// A context as far as it shows letters of a set alone; `None` if it never does.
fn narrowed(context: &Context, set: LetterSet) -> Option<Context> {
    let before = context.before.iter().map(|before| before.map(|letters| letters & set));
    let before: Vec<_> =
        before.filter(|before| before.iter().all(|&letters| letters != 0)).collect();
    let marks = context.marks.iter().enumerate().map(|(at, marks)| match set >> at & 1 {
        0 => Marks::default(),
        _ => Marks {
            inside: marks.inside & set,
            matches: marks.matches & set,
            unmatched: marks.unmatched & set,
        },
    });
    (!before.is_empty()).then(|| Context { before, marks: marks.collect() })
}
