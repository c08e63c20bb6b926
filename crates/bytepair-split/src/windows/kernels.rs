//! The loops that go over every byte: from bytes to letters, from letters to where a group holds, and from bits
//! for symbols to bits for bytes.
//!
//! Each exists in plain Rust, which is the definition, with AVX2 in [`super::avx2`], and with AVX-512 (VBMI, VBMI2) in
//! [`super::avx512`]. Which of them runs is found out when the program runs.

use super::contexts::N_SHOWN;
use super::moves;
use super::program::{Group, MAX_NUMBERS, Step};
use super::wide::Wide;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// The bytes of a word of bits.
pub(super) const WORD: usize = 64;

/// Edges inside of a text: at each distance of a window, the places from which an edge lies before what stands
/// there, and the letter to be shown instead. Nothing is cut at the place itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    pub(super) places: [Vec<u64>; N_SHOWN],
    pub(super) edge: u8,
}

/// No edges.
pub(super) static NO_CUTS: Cuts = Cuts { places: [const { Vec::new() }; N_SHOWN], edge: 0 };

/// More words than a span has.
pub(super) const MAX_WORDS: usize = 80;

/// The numbers of words: of all, as many as are asked for.
pub(super) fn all_words(n_words: usize) -> &'static [u8] {
    static NUMBERS: [u8; MAX_WORDS] = {
        let mut numbers = [0; MAX_WORDS];
        let mut number = 1;
        while number < MAX_WORDS {
            numbers[number] = numbers[number - 1] + 1;
            number += 1;
        }
        numbers
    };
    &NUMBERS[..n_words]
}

/// How the loops are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kernel {
    /// By the definition: slower than the automaton.
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest that this processor has, if one is faster than going on byte by byte.
    pub(in super::super) fn fast() -> Option<Self> {
        Self::all().pop().filter(|&kernel| kernel != Self::Plain)
    }

    /// Those that this processor has.
    pub(in super::super) fn all() -> Vec<Self> {
        let mut kernels = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            kernels.push(Self::Avx2);
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            kernels.push(Self::Avx512);
        }
        kernels
    }

    /// How many numbers of letters its tables hold, and how many steps are not too many.
    pub(in super::super) fn limits(self) -> (usize, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => (avx2::MAX_NUMBERS, avx2::MAX_STEPS),
            _ => (MAX_NUMBERS, usize::MAX),
        }
    }

    /// Shorter texts are not worth the preparation.
    pub(in super::super) fn min_len(self) -> usize {
        match self {
            Self::Plain => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::Avx512 => 64,
        }
    }

    /// Writes the letter of each ASCII character, `other` for any other byte; for each byte, whether it is
    /// one that starts characters of several bytes (or no character at all) goes to the bits of `leads`.
    /// Returns whether there are none.
    pub(super) fn letters(
        self,
        text: &[u8],
        (ascii, other): (&[u8; 128], u8),
        letters: &mut [u8],
        leads: &mut [u64],
    ) -> bool {
        match self {
            Self::Plain => plain_letters(text, (ascii, other), letters, leads),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::letters(text, (ascii, other), letters, leads),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::letters(text, (ascii, other), letters, leads),
        }
    }

    /// Writes the letters of characters of several bytes as far as `wide` knows them, at their first bytes;
    /// takes these out of `leads`, and adds the bytes behind them to `inner`, which has one word more.
    pub(super) fn wide(
        self,
        text: &[u8],
        wide: &Wide,
        letters: &mut [u8],
        (leads, inner): (&mut [u64], &mut [u64]),
    ) {
        match self {
            // The others are read one by one, which is the definition.
            Self::Plain => {}
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => one_by_one(text, wide, letters, (leads, inner)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::wide(text, wide, letters, (leads, inner)),
        }
    }

    /// Takes out the letters of inner bytes, of so many; returns how many are left.
    pub(super) fn pack(self, letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::pack(letters, inner, n_bytes),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::pack(letters, inner, n_bytes),
            Self::Plain => moves::pack(letters, inner, n_bytes),
        }
    }

    /// From bits for symbols to bits for bytes: none for inner ones. There are at most as many words as of these.
    pub(super) fn spread(self, words: &mut [u64], inner: &[u64]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::spread(words, inner),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::spread(words, inner),
            Self::Plain => moves::spread(words, inner, moves::spread_by_bit),
        }
    }

    /// From bits for bytes to bits for symbols; what stands at inner bytes is left out.
    pub(super) fn gather(self, words: &mut [u64], inner: &[u64]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::gather(words, inner),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::gather(words, inner),
            Self::Plain => moves::gather(words, inner, moves::gather_by_bit),
        }
    }

    /// Adds the places where the group holds, in the words of these numbers: bit `i` of all words is for the window from
    /// `letters[i]` on. All letters are below [`MAX_NUMBERS`]. Cuts have as many words.
    pub(super) fn group(
        self,
        letters: &[u8],
        group: &Group,
        cuts: Option<&Cuts>,
        words: (&[u8], &mut [u64]),
    ) {
        match self {
            Self::Plain => plain_group(letters, &group.steps, cuts, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::group(letters, &group.steps, cuts, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::group(letters, &group.steps, cuts, words),
        }
    }
}

fn plain_letters(
    text: &[u8],
    (ascii, other): (&[u8; 128], u8),
    letters: &mut [u8],
    leads: &mut [u64],
) -> bool {
    let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
    for ((bytes, letters), leads) in words.zip(leads) {
        *leads = 0;
        for (index, (&byte, letter)) in bytes.iter().zip(letters).enumerate() {
            *letter = ascii.get(usize::from(byte)).copied().unwrap_or(other);
            *leads |= u64::from(byte >= 0xC0) << index;
        }
    }
    !text.iter().any(|&byte| byte >= 0xC0)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn one_by_one(
    text: &[u8],
    wide: &Wide,
    letters: &mut [u8],
    (leads, inner): (&mut [u64], &mut [u64]),
) {
    for (index, leads) in leads.iter_mut().enumerate().filter(|(_, leads)| **leads != 0) {
        let place = index * WORD;
        let [others, here, next] = wide.read_each(&text[place..], *leads, &mut letters[place..]);
        *leads = others;
        inner[index] |= here;
        inner[index + 1] |= next;
    }
}

fn plain_group(
    letters: &[u8],
    steps: &[Step],
    cuts: Option<&Cuts>,
    (numbers, words): (&[u8], &mut [u64]),
) {
    for index in numbers.iter().copied().map(usize::from) {
        for bit in 0..WORD {
            let looked_up = steps.iter().map(|step| {
                let edge = cuts
                    .filter(|cuts| cuts.places[step.distance][index] >> bit & 1 == 1)
                    .map(|cuts| cuts.edge);
                let letter = edge.unwrap_or(letters[index * WORD + bit + step.distance]);
                step.table[usize::from(letter) % MAX_NUMBERS]
            });
            words[index] |= u64::from(looked_up.fold(u8::MAX, |all, byte| all & byte) != 0) << bit;
        }
    }
}
