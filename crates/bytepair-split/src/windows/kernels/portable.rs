//! The loops in plain Rust: the definition of what the other kernels do, and moves of bits that they share.
//!
//! A word of `inner` bits tells which of 64 bytes are inside of a character: a symbol has no place there. Packing letters and
//! gathering bits leaves these out, spreading bits puts zeros there.

use super::Loop;
use crate::windows::tables::{
    AsciiLetters, Characters, Cuts, Group, N_OF_TABLE, WORD, Wide, Words, number_of,
};

pub(super) fn run(task: Loop<'_>) {
    match task {
        Loop::Letters { text, ascii, letters, leads } => read(text, ascii, letters, leads),
        Loop::Wide { text, wide, letters, characters } => {
            self::wide(text, wide, letters, characters);
        }
        Loop::Pack { letters, inner, n_letters } => *n_letters = pack(letters, inner, *n_letters),
        Loop::Spread { words, inner } => spread(words, inner, spread_by_bit),
        Loop::Gather { words, inner } => gather(words, inner, gather_by_bit),
        Loop::Group { letters, group, cuts, words } => look_up(letters, group, cuts, words),
    }
}

/// Takes out the letters of inner bytes, of so many; returns how many are left.
fn pack(letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    let mut n_letters = 0;
    for index in 0..n_bytes {
        if inner[index / WORD] >> (index % WORD) & 1 == 0 {
            letters[n_letters] = letters[index];
            n_letters += 1;
        }
    }
    n_letters
}

/// From bits for symbols to bits for bytes, by a way to move those of one word.
#[inline]
pub(super) fn spread(words: &mut [u64], inner: &[u64], moved: impl Fn(u64, u64) -> u64) {
    let n_words = words.len().min(inner.len());
    let n_symbols = |inner: &u64| inner.count_zeros() as usize;
    let mut symbol: usize = inner[..n_words].iter().map(n_symbols).sum();
    // Each word is read before it is written: symbols do not come later than their bytes.
    for index in (0..n_words).rev() {
        symbol -= n_symbols(&inner[index]);
        let word = word_at(words, symbol);
        words[index] = if inner[index] == 0 { word } else { moved(word, inner[index]) };
    }
}

/// From bits for bytes to bits for symbols, by a way to move those of one word.
#[inline]
pub(super) fn gather(words: &mut [u64], inner: &[u64], moved: impl Fn(u64, u64) -> u64) {
    let mut symbol = 0;
    for (index, &inner) in inner.iter().enumerate().take(words.len()) {
        let gathered = moved(std::mem::take(&mut words[index]), inner);
        let (word, shift) = (symbol / WORD, symbol % WORD);
        words[word] |= gathered << shift;
        // Bits that go past the word of this byte are none.
        if shift > 0 && word < index {
            words[word + 1] |= gathered >> (WORD - shift);
        }
        symbol += inner.count_zeros() as usize;
    }
}

fn spread_by_bit(word: u64, inner: u64) -> u64 {
    let places = (0..WORD).filter(|place| inner >> place & 1 == 0);
    places.enumerate().fold(0, |all, (symbol, place)| all | (word >> symbol & 1) << place)
}

fn gather_by_bit(word: u64, inner: u64) -> u64 {
    let places = (0..WORD).filter(|place| inner >> place & 1 == 0);
    places.enumerate().fold(0, |all, (symbol, place)| all | (word >> place & 1) << symbol)
}

/// 64 bits from one on.
#[inline]
fn word_at(words: &[u64], bit: usize) -> u64 {
    let (index, shift) = (bit / WORD, bit % WORD);
    let low = words.get(index).copied().unwrap_or(0);
    let high = words.get(index + 1).copied().unwrap_or(0);
    low >> shift | (high << 1) << (WORD - 1 - shift)
}

fn read(text: &[u8], ascii: &AsciiLetters, letters: &mut [u8], leads: &mut [u64]) {
    let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
    for ((bytes, letters), leads) in words.zip(leads) {
        *leads = 0;
        for (index, (&byte, letter)) in bytes.iter().zip(letters).enumerate() {
            *letter = ascii.letters.get(usize::from(byte)).copied().unwrap_or(ascii.other);
            *leads |= u64::from(byte >= 0xC0) << index;
        }
    }
}

fn wide(text: &[u8], wide: &Wide, letters: &mut [u8], characters: Characters<'_>) {
    let Characters { leads, inner } = characters;
    for place in 0..text.len() {
        let (index, bit) = (place / WORD, place % WORD);
        if leads[index] >> bit & 1 == 0 {
            continue;
        }
        let (letter, length) = match text[place..] {
            [first @ 0xC2..0xE0, second @ 0x80..0xC0, ..] => (wide.short([first, second]), 2),
            [0xE0, 0x80..0xA0, ..] | [0xED, 0xA0..0xC0, ..] => continue,
            [first @ 0xE0..0xF0, second @ 0x80..0xC0, third @ 0x80..0xC0, ..] => {
                (wide.long([first, second, third]), 3)
            }
            _ => continue,
        };
        letters[place] = letter;
        leads[index] &= !(1 << bit);
        for place in place + 1..place + length {
            inner[place / WORD] |= 1 << (place % WORD);
        }
    }
}

fn look_up(letters: &[u8], group: &Group, cuts: Option<&Cuts>, words: Words<'_>) {
    let Words { numbers, bits } = words;
    for index in numbers.iter().copied().map(usize::from) {
        for bit in 0..WORD {
            let looked_up = group.lookups.iter().map(|step| {
                let edge = cuts
                    .filter(|cuts| cuts.places[step.distance][index] >> bit & 1 == 1)
                    .map(|cuts| cuts.edge);
                let letter = edge.unwrap_or(letters[index * WORD + bit + step.distance]);
                let number = number_of(letter);
                debug_assert!(number < N_OF_TABLE || group.has_second_table, "no such letter");
                step.table[number]
            });
            bits[index] |= u64::from(looked_up.fold(u8::MAX, |all, byte| all & byte) != 0) << bit;
        }
    }
}
