//! What windows tell is what the definition says, on every kernel.

mod texts;

use proptest::prelude::*;

use super::kernels::{Kernel, Loop};
use super::letters::N_SHOWN;
use super::reader::clip;
use super::tables::{
    AsciiLetters, Characters, Cuts, Group, Lookup, MAX_NUMBERS, N_OF_TABLE, WORD, Wide, Words,
    letter_with, number_of,
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

/// The words that have the bits of these places.
fn bits_of(places: impl Iterator<Item = usize>, n_words: usize) -> Vec<u64> {
    let mut bits = vec![0; n_words];
    places.for_each(|place| bits[place / WORD] |= 1 << (place % WORD));
    bits
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
        let is_set = |words: &[u64], place: usize| words[place / WORD] >> (place % WORD) & 1 == 1;
        let starts: Vec<usize> = (0..(n_words + 1) * WORD).filter(|&place| !is_set(&inner, place)).collect();
        let symbols = starts.iter().enumerate();
        let of_symbols = symbols.clone().filter(|pair| is_set(&bits, pair.0)).map(|pair| *pair.1);
        let of_bytes = symbols.filter(|pair| is_set(&bits, *pair.1)).map(|pair| pair.0);
        let [spread_bits, gathered_bits] = [bits_of(of_symbols, n_words + 1), bits_of(of_bytes, n_words + 1)];
        let moved = |move_bits: &dyn Fn(&mut [u64])| {
            let mut words = bits[..=n_words].to_vec();
            move_bits(&mut words);
            words
        };
        for kernel in Kernel::known().into_iter().filter_map(|known| known.1) {
            prop_assert_eq!(packed(kernel), by_definition.as_slice());
            let spread = moved(&|words| kernel.run(Loop::Spread { words, inner: &inner }));
            prop_assert_eq!(&spread, &spread_bits);
            let gathered = moved(&|words| kernel.run(Loop::Gather { words, inner: &inner }));
            prop_assert_eq!(&gathered, &gathered_bits);
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
        let n_words = len.div_ceil(WORD);
        let is_lead = |&place: &usize| text[place] >= 0xC0;
        let start = (vec![0xFF; n_words * WORD], bits_of((0..len).filter(is_lead), n_words), vec![0; n_words + 1]);
        let (mut letters, mut leads, mut inner) = start.clone();
        for place in (0..len).filter(is_lead) {
            let chunk = text[place..len.min(place + 4)].utf8_chunks().next();
            let character = chunk.and_then(|chunk| chunk.valid().chars().next());
            let Some(character) = character.filter(|character| character.len_utf8() < 4) else { continue };
            letters[place] = alphabet.class_of(u32::from(character));
            leads[place / WORD] &= !(1 << (place % WORD));
            (place + 1..place + character.len_utf8()).for_each(|place| inner[place / WORD] |= 1 << (place % WORD));
        }
        for kernel in Kernel::known().into_iter().filter_map(|known| known.1) {
            let mut read = start.clone();
            let characters = Characters { leads: &mut read.1, inner: &mut read.2 };
            kernel.run(Loop::Wide { text: &text, wide: &wide, letters: &mut read.0, characters });
            prop_assert_eq!(read, (letters.clone(), leads.clone(), inner.clone()));
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
        let numbers = &numbers[..numbers.partition_point(|&number| usize::from(number) < n_words)];
        let letter_of = |&byte: &u8| ascii.letters.get(usize::from(byte)).copied().unwrap_or(ascii.other);
        let mut letters: Vec<u8> = text.iter().map(letter_of).collect();
        letters.resize((n_words + 2) * WORD, letter_with(n_numbers - 2));
        let leads = bits_of((0..text.len()).filter(|&place| text[place] >= 0xC0), n_words);
        let holds = |place: &usize| {
            let looked_up = lookups.iter().map(|step| {
                let cuts = cuts.as_ref().filter(|cuts| cuts.places[step.distance][place / WORD] >> (place % WORD) & 1 == 1);
                step.table[number_of(cuts.map_or(letters[place + step.distance], |cuts| cuts.edge))]
            });
            looked_up.fold(u8::MAX, |all, byte| all & byte) != 0
        };
        let asked = numbers.iter().flat_map(|&number| usize::from(number) * WORD..(usize::from(number) + 1) * WORD);
        let found = bits_of(asked.filter(holds), n_words);
        let group = Group { lookups: lookups.clone(), has_second_table: n_numbers > N_OF_TABLE };
        for kernel in Kernel::known().into_iter().filter_map(|known| known.1) {
            let (mut read, mut marked, mut words) = (vec![0; letters.len()], vec![0; n_words], vec![0; n_words]);
            kernel.run(Loop::Letters { text: &text, ascii: &ascii, letters: &mut read, leads: &mut marked });
            read[text.len()..].fill(letter_with(n_numbers - 2));
            let asked = Words { numbers, bits: &mut words };
            kernel.run(Loop::Group { letters: &read, group: &group, cuts: cuts.as_ref(), words: asked });
            prop_assert_eq!((read, marked, words), (letters.clone(), leads.clone(), found.clone()));
        }
    }
}
