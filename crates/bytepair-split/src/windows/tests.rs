//! What windows tell is what the definition says: the kernels, and the short ways by which windows are worked out.

mod texts;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::contexts::{Sample, contexts, unknown, windows_at};
use super::kernels::{Kernel, Loop};
use super::letters::{
    Kinds, LetterSet, Letters, N_SHOWN, Product, Window, all_letters, lookaheads,
};
use super::products::{Column, ProductIndex, agree, grouped, join, join_is_disjoint, widened};
use super::reader::clip;
use super::tables::{AsciiLetters, Cuts, Group, Lookup, MAX_NUMBERS, WORD, Words};
use super::views::{Answers, Graph};
use crate::automaton::table::Automaton;
use crate::engine::Engine;
use crate::engine::compile::{CompileOptions, compile_one};
use crate::program::Target;
use crate::stages::named;
use crate::unicode::UnicodeTables;

/// So many letters for products at random.
const N_LETTERS: usize = 9;

pub(super) fn for_each_named_automaton(mut visit: impl FnMut(&str, &Automaton)) {
    let unicode = UnicodeTables::latest();
    let options = CompileOptions {
        targets: &Target::BEST_FIRST,
        kernel: None,
        builds_windows_at_once: false,
    };
    for name in named::names() {
        for stage in named::named(name).unwrap() {
            let engine = compile_one(&stage.pattern, &unicode, options).unwrap();
            if let Engine::Automaton(machine) = engine {
                visit(name, machine.automaton());
            }
        }
    }
}

/// What contexts know of a window is what a walk over its letters says; and a lookahead loses nothing.
#[test]
fn contexts_know_what_walks_know_and_foresights_know_more() {
    for_each_named_automaton(|name, automaton| {
        let kinds = Kinds::new(automaton);
        let sample = Sample::new(automaton, &kinds);
        let places = sample.places();
        let mut open: Option<Vec<usize>> = None;
        let all = std::iter::once(None).chain(lookaheads(automaton, &kinds).into_iter().map(Some));
        for lookahead in all {
            let letters = Letters::new(&kinds, lookahead).unwrap();
            let Some(graph) = Graph::new(automaton, &kinds, &letters) else { continue };
            let shown = sample.shown(&letters);
            let windows = windows_at(&shown, &places);
            let unknown = unknown(&graph, &shown, &places);
            let (_, known) = contexts(&graph, &letters, windows.clone()).unwrap();
            let known: BTreeSet<Window> = known.into_iter().collect();
            let others = windows.into_iter().filter(|window| !known.contains(window));
            assert!(others.eq(windows_at(&shown, &unknown)), "{name}");
            let open = open.get_or_insert_with(|| unknown.clone());
            assert!(unknown.iter().all(|place| open.contains(place)), "{name}");
        }
    });
}

fn letter_set() -> impl Strategy<Value = LetterSet> {
    // Few letters or many, so that products both meet and do not.
    prop_oneof![0..1_u128 << N_LETTERS, (0..N_LETTERS).prop_map(|letter| 1 << letter)]
}

/// Every product has some window: a letter at each distance.
fn product() -> impl Strategy<Value = Product> {
    prop::array::uniform6(letter_set().prop_filter("a letter", |&set| set != 0))
}

fn meet(one: &Product, other: &Product) -> bool {
    one.iter().zip(other).all(|(one, other)| one & other != 0)
}

fn widened_by_definition(mut product: Product, refused: &[Product], order: &[usize]) -> Product {
    for &index in order {
        let is_allowed = |&letter: &usize| {
            let mut with = product;
            with[index] = 1 << letter;
            !refused.iter().any(|other| meet(&with, other))
        };
        let allowed = (0..N_LETTERS).filter(is_allowed);
        product[index] |= allowed.fold(0, |set, letter| set | 1 << letter);
    }
    product
}

/// Letters with the first of the sets with whose columns theirs agree, one letter after the other.
fn grouped_by_definition(answers: &[Answers]) -> Vec<(LetterSet, Column)> {
    let mut groups: Vec<(LetterSet, Column)> = Vec::new();
    let mut open = 0;
    for letter in 0..N_LETTERS {
        let answer = |answers: &Answers| {
            let is_yes = answers.yes >> letter & 1 == 1;
            (is_yes || answers.no >> letter & 1 == 1).then_some(is_yes)
        };
        let column: Column = answers.iter().map(answer).collect();
        if column.iter().all(Option::is_none) {
            open |= 1 << letter;
        } else if let Some(group) = groups.iter_mut().find(|group| agree(&group.1, &column)) {
            group.0 |= 1 << letter;
            join(&mut group.1, &column);
        } else {
            groups.push((1 << letter, column));
        }
    }
    groups.retain(|group| group.1.contains(&Some(true)));
    groups.into_iter().map(|(set, column)| (set | open, column)).collect()
}

fn lookups() -> impl Strategy<Value = Vec<Lookup>> {
    let table = prop::collection::vec(any::<u8>(), MAX_NUMBERS);
    let tables = prop::collection::btree_map(0..N_SHOWN, table, 1..=N_SHOWN);
    tables.prop_map(|tables| {
        let step = |(distance, table): (usize, Vec<u8>)| Lookup {
            distance,
            table: table.try_into().unwrap(),
        };
        tables.into_iter().map(step).collect()
    })
}

proptest! {
    #[test]
    fn products_are_widened_and_joined_by_bits_like_by_the_definition(
        many in prop::collection::vec(product(), 0..150),
        one in product(),
        other in product(),
        order in Just([0, 1, 2, 3, 4, 5]).prop_shuffle(),
    ) {
        let meetings = ProductIndex::new(many.iter().copied(), N_LETTERS);
        let met = [one, other].map(|product| meetings.met(&product));
        let joined: Product = std::array::from_fn(|index| one[index] | other[index]);
        let expected = !many.iter().any(|product| meet(product, &joined));
        prop_assert_eq!(join_is_disjoint(&met[0], &met[1]), expected);
        let [met, _] = met;
        let wide = widened(one, met, &meetings, order);
        prop_assert_eq!(wide, widened_by_definition(one, &many, &order));
    }

    #[test]
    fn letters_are_grouped_by_sets_like_by_their_columns(
        answers in prop::collection::vec((letter_set(), letter_set(), letter_set()), 0..12),
    ) {
        let answers = answers.into_iter().map(|(yes, no, asked)| {
            Answers { yes: yes & asked, no: no & asked & !yes }
        });
        let answers: Vec<Answers> = answers.collect();
        prop_assert_eq!(grouped(&answers, N_LETTERS), grouped_by_definition(&answers));
        prop_assert!(grouped(&answers, N_LETTERS).iter().all(|group| group.0 & !all_letters(N_LETTERS) == 0));
    }

    #[test]
    fn fast_kernels_pack_and_spread_like_the_plain_one(
        letters in prop::collection::vec(any::<u8>(), 0..300),
        inner in prop::collection::vec(prop_oneof![Just(0), any::<u64>()], 6),
        bits in prop::collection::vec(any::<u64>(), 6),
    ) {
        let n_words = letters.len().div_ceil(WORD);
        let mut inner = inner[..=n_words].to_vec();
        clip(&mut inner, 0..letters.len());
        let packed = |kernel: Kernel| {
            let mut all = letters.clone();
            all.resize((n_words + 2) * WORD, 0);
            let mut n_letters = letters.len();
            kernel.run(Loop::Pack { letters: &mut all, inner: &inner, n_letters: &mut n_letters });
            all.truncate(n_letters);
            all
        };
        let by_definition: Vec<u8> = letters.iter().enumerate()
            .filter(|(index, _)| inner[index / WORD] >> (index % WORD) & 1 == 0)
            .map(|(_, &letter)| letter)
            .collect();
        let moved = |move_bits: &dyn Fn(&mut [u64])| {
            let mut words = bits[..=n_words].to_vec();
            move_bits(&mut words);
            words
        };
        for kernel in Kernel::all() {
            prop_assert_eq!(packed(kernel), by_definition.as_slice());
            let spread = moved(&|words| kernel.run(Loop::Spread { words, inner: &inner }));
            prop_assert_eq!(&spread, &moved(&|words| Kernel::Portable.run(Loop::Spread { words, inner: &inner })));
            prop_assert!(spread.iter().zip(&inner).all(|(spread, inner)| spread & inner == 0));
            let gathered = moved(&|words| kernel.run(Loop::Gather { words, inner: &inner }));
            prop_assert_eq!(&gathered, &moved(&|words| Kernel::Portable.run(Loop::Gather { words, inner: &inner })));
            let again = moved(&|words| {
                kernel.run(Loop::Spread { words, inner: &inner });
                kernel.run(Loop::Gather { words, inner: &inner });
            });
            let n_symbols = inner.iter().map(|word| word.count_zeros() as usize).sum();
            let kept = moved(&|words| clip(words, 0..n_symbols));
            prop_assert_eq!(again, kept);
        }
    }

    #[test]
    fn fast_kernels_find_what_the_plain_one_finds(
        text in prop::collection::vec(any::<u8>(), 0..300),
        n_numbers in prop::sample::select(vec![32_u8, 64]),
        ascii in prop::collection::vec(0..32_u8, 128),
        lookups in lookups(),
        cuts in prop::option::of(prop::collection::vec(any::<u64>(), 5 * N_SHOWN)),
        asked in prop::collection::vec(any::<bool>(), 5),
    ) {
        let ascii: [u8; 128] = ascii.try_into().unwrap();
        let ascii = AsciiLetters {
            letters: ascii.map(|letter| letter + n_numbers - 32),
            other: n_numbers - 1,
        };
        let cuts = cuts.map(|words| Cuts {
            places: std::array::from_fn(|distance| words[5 * distance..][..5].to_vec()),
            edge: n_numbers - 3,
        });
        let n_words = text.len().div_ceil(WORD);
        let numbers: Vec<u8> = (0..5).filter(|&number| asked[usize::from(number)]).collect();
        let read = |kernel: Kernel| {
            let mut letters = vec![0; n_words * WORD + 2 * WORD];
            let mut leads = vec![0; n_words];
            kernel.run(Loop::Letters { text: &text, ascii: &ascii, letters: &mut letters, leads: &mut leads });
            letters[text.len()..].fill(n_numbers - 2);
            let mut words = vec![0; n_words];
            let numbers = &numbers[..numbers.partition_point(|&number| usize::from(number) < n_words)];
            let group = Group { lookups: lookups.clone() };
            kernel.run(Loop::Group { letters: &letters, group: &group, cuts: cuts.as_ref(), words: Words { numbers, bits: &mut words } });
            (letters, leads, words)
        };
        for kernel in Kernel::all().into_iter().filter(|kernel| kernel.limits().0 >= usize::from(n_numbers)) {
            prop_assert_eq!(read(kernel), read(Kernel::Portable));
        }
    }
}
