//! Letters that most stretches of a text show alone, and what is to be asked of windows that show no others.
//!
//! Much of what a pattern asks is about characters that are rare: a quote that may begin `'ll`, digits that are counted
//! in threes, a slash behind punctuation. Where none of these is near, it need not be asked, and what is left is told
//! by a half or a third of the products. Windows of common letters are windows: what is known of all is known of them.
//! So contexts are narrowed to common letters, with nothing asked where others are shown, and covered again.
//!
//! Left out: stretches with edges inside, and patterns of which that makes little difference.
//! Cost: up to half a millisecond, once; one look-up for each byte more.

use super::super::alphabet::Alphabet;
use super::Analysis;
use super::contexts::{Context, N_SHOWN};
use super::cover::{Product, cover, loosened};
use super::kernels::{Kernel, MAX_WORDS, WORD, all_words};
use super::knowledge::{Answers, Marks};
use super::letters::{Kinds, LetterSet, all_letters};
use super::program::Group;

/// What is not common, if nothing else that is ASCII is the same to the pattern.
const RARE: &[u8] = b"'/0123456789";

/// What is asked of windows of common letters.
pub(super) struct Common {
    pub(super) letters: LetterSet,
    pub(super) starts: Vec<Product>,
    pub(super) unknown: Vec<Product>,
    pub(super) unmatched: Vec<Product>,
}

impl Common {
    /// `None` if there are too many products, or no rare letters.
    pub(super) fn new(
        (alphabet, kinds): (&Alphabet, &Kinds),
        analysis: &Analysis,
        covers_everything: bool,
    ) -> Option<Self> {
        let Analysis { letters, contexts, known } = analysis;
        let kind_of = |byte: u8| kinds.kind_of[usize::from(alphabet.ascii()[usize::from(byte)])];
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
        let unmatched = match covers_everything {
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

/// Which words of a span show common letters alone, and which do not.
#[derive(Clone, Debug)]
pub(super) struct Sorted {
    numbers: [[u8; MAX_WORDS]; 2],
    lens: [usize; 2],
    /// Letters that are not common.
    others: Vec<u64>,
}

impl Default for Sorted {
    fn default() -> Self {
        Self { numbers: [[0; MAX_WORDS]; 2], lens: [0; 2], others: Vec::new() }
    }
}

impl Sorted {
    /// Sorts the first words; `others` holds where a letter is not common.
    pub(super) fn sort(&mut self, kernel: Kernel, letters: &[u8], n_words: usize, others: &Group) {
        let Self { numbers, lens, others: found } = self;
        found.clear();
        found.resize(n_words + 1, 0);
        kernel.group(letters, others, None, (all_words(n_words + 1), found));
        *lens = [0; 2];
        for (number, pair) in all_words(n_words).iter().zip(found.windows(2)) {
            // The windows of a word go on into the next one.
            let is_other = pair[0] | pair[1] << (WORD + 1 - N_SHOWN) != 0;
            let kind = usize::from(is_other);
            numbers[kind][lens[kind]] = *number;
            lens[kind] += 1;
        }
    }

    /// The numbers of the words of common letters, and of the others.
    pub(super) fn numbers(&self) -> [&[u8]; 2] {
        [0, 1].map(|kind| &self.numbers[kind][..self.lens[kind]])
    }
}
