//! What windows tell is what the definition says, on every kernel.

mod texts;

use proptest::prelude::*;

use super::kernels::{Kernel, Loop};
use super::letters::N_SHOWN;
use super::reader::clip;
use super::tables::{
    AsciiLetters, Characters, Cuts, Group, Lookup, MAX_NUMBERS, N_OF_TABLE, WORD, Wide, Words,
    letter_with,
};
use crate::parser::tree::CharSet;
use crate::program::alphabet::Alphabet;

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
    fn fast_kernels_read_characters_like_the_plain_one(
        pieces in prop::collection::vec(prop_oneof![any::<char>().prop_map(String::from), "[ -~]{0,9}", "[\u{80}-\u{FFFF}]"], 0..80),
        broken in prop::collection::vec((any::<usize>(), prop_oneof![0x80..=0xFF_u8, Just(0xE0), Just(0xED)]), 0..9),
    ) {
        let mut text = pieces.concat().into_bytes();
        let len = text.len();
        broken.into_iter().filter(|_| len > 0).for_each(|(place, byte)| text[place % len] = byte);
        let alphabet = Alphabet::new(&[CharSet::range('\u{a5}', '\u{900}'), CharSet::range('一', '龠'), CharSet::single('、')]).unwrap();
        let letters: Vec<u8> = (0..=254).collect();
        let wide = Wide::new(&alphabet, &letters);
        let read = |kernel: Kernel| {
            let n_words = len.div_ceil(WORD);
            let mut letters = vec![0xFF; n_words * WORD];
            let (mut leads, mut inner) = (vec![0; n_words], vec![0; n_words + 1]);
            for place in (0..len).filter(|&place| text[place] >= 0xC0) {
                leads[place / WORD] |= 1 << (place % WORD);
            }
            let characters = Characters { leads: &mut leads, inner: &mut inner };
            kernel.run(Loop::Wide { text: &text, wide: &wide, letters: &mut letters, characters });
            (letters, leads, inner)
        };
        for kernel in Kernel::all() {
            prop_assert_eq!(read(kernel), read(Kernel::Portable));
        }
    }

    #[test]
    fn fast_kernels_find_what_the_plain_one_finds(
        text in prop::collection::vec(any::<u8>(), 0..300),
        n_numbers in prop::sample::select(vec![N_OF_TABLE, MAX_NUMBERS]),
        ascii in prop::collection::vec(0..MAX_NUMBERS, 128),
        lookups in lookups(),
        cuts in prop::option::of(prop::collection::vec(any::<u64>(), 5 * N_SHOWN)),
        asked in prop::collection::vec(any::<bool>(), 5),
    ) {
        let ascii: [usize; 128] = ascii.try_into().unwrap();
        let ascii = AsciiLetters {
            letters: ascii.map(|number| letter_with(number % n_numbers)),
            other: letter_with(n_numbers - 1),
        };
        let cuts = cuts.map(|words| Cuts {
            places: std::array::from_fn(|distance| words[5 * distance..][..5].to_vec()),
            edge: letter_with(n_numbers - 3),
        });
        let n_words = text.len().div_ceil(WORD);
        let numbers: Vec<u8> = (0..5).filter(|&number| asked[usize::from(number)]).collect();
        let read = |kernel: Kernel| {
            let mut letters = vec![0; n_words * WORD + 2 * WORD];
            let mut leads = vec![0; n_words];
            kernel.run(Loop::Letters { text: &text, ascii: &ascii, letters: &mut letters, leads: &mut leads });
            letters[text.len()..].fill(letter_with(n_numbers - 2));
            let mut words = vec![0; n_words];
            let numbers = &numbers[..numbers.partition_point(|&number| usize::from(number) < n_words)];
            let group = Group { lookups: lookups.clone(), has_second_table: n_numbers > N_OF_TABLE };
            kernel.run(Loop::Group { letters: &letters, group: &group, cuts: cuts.as_ref(), words: Words { numbers, bits: &mut words } });
            (letters, leads, words)
        };
        for kernel in Kernel::all() {
            prop_assert_eq!(read(kernel), read(Kernel::Portable));
        }
    }
}
