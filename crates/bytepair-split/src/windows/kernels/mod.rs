//! The loops that go over every byte: from bytes to letters, from letters to the places where a group of products holds, and
//! from bits for symbols to bits for bytes.
//!
//! Each loop is written in plain Rust ([`portable`], the definition), with AVX2 ([`avx2`]) and with AVX-512 ([`avx512`]). A
//! [`Kernel`] is made only where the processor has its instructions, so calling it needs no further check. Tests compare the
//! kernels on random letters, tables and cuts (`fast_kernels_find_what_the_plain_one_finds`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::tables::{AsciiLetters, Characters, Cuts, Group, MAX_NUMBERS, Wide, Words};

/// How the loops are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// By the definition: slower than the automaton.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest that this processor has, if one is faster than going on byte by byte.
    pub(crate) fn fast() -> Option<Self> {
        Self::all().pop().filter(|&kernel| kernel != Self::Portable)
    }

    /// Those that this processor has.
    pub(crate) fn all() -> Vec<Self> {
        let mut kernels = vec![Self::Portable];
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

    /// How many numbers of letters its tables hold, and how many lookups are not too many.
    pub(crate) fn limits(self) -> (usize, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => (avx2::MAX_NUMBERS, avx2::MAX_LOOKUPS),
            _ => (MAX_NUMBERS, usize::MAX),
        }
    }

    /// Shorter texts are not worth the preparation.
    pub(crate) fn min_len(self) -> usize {
        match self {
            Self::Portable => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::Avx512 => 64,
        }
    }

    /// Writes the letter of each ASCII character, another for any other byte; for each byte, whether it is
    /// one that starts characters of several bytes (or no character at all) goes to the bits of `leads`.
    /// Returns whether there are none.
    pub(super) fn letters(
        self,
        text: &[u8],
        ascii: &AsciiLetters,
        letters: &mut [u8],
        leads: &mut [u64],
    ) -> bool {
        match self {
            Self::Portable => portable::letters(text, ascii, letters, leads),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::letters(text, ascii, letters, leads),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::letters(text, ascii, letters, leads),
        }
    }

    /// Writes the letters of characters of several bytes as far as `wide` knows them, at their first bytes;
    /// takes these out of `leads`, and adds the bytes behind them to `inner`, which has one word more.
    pub(super) fn wide(
        self,
        text: &[u8],
        wide: &Wide,
        letters: &mut [u8],
        characters: &mut Characters<'_>,
    ) {
        match self {
            // The others are read one by one, which is the definition.
            Self::Portable => {}
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => portable::wide_one_by_one(text, wide, letters, characters),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::wide(text, wide, letters, characters),
        }
    }

    /// Takes out the letters of inner bytes, of so many; returns how many are left.
    pub(super) fn pack(self, letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::pack(letters, inner, n_bytes),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::pack(letters, inner, n_bytes),
            Self::Portable => portable::pack(letters, inner, n_bytes),
        }
    }

    /// From bits for symbols to bits for bytes: none for inner ones. There are at most as many words as of these.
    pub(super) fn spread(self, words: &mut [u64], inner: &[u64]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::spread(words, inner),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::spread(words, inner),
            Self::Portable => portable::spread(words, inner, portable::spread_by_bit),
        }
    }

    /// From bits for bytes to bits for symbols; the bits of inner bytes are left out.
    pub(super) fn gather(self, words: &mut [u64], inner: &[u64]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::gather(words, inner),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::gather(words, inner),
            Self::Portable => portable::gather(words, inner, portable::gather_by_bit),
        }
    }

    /// Adds the places where the group holds, in the words of these numbers: bit `i` of all words is for the window from
    /// `letters[i]` on. All letters are below [`MAX_NUMBERS`]. Cuts have as many words.
    pub(super) fn group(
        self,
        letters: &[u8],
        group: &Group,
        cuts: Option<&Cuts>,
        words: &mut Words<'_>,
    ) {
        match self {
            Self::Portable => portable::group(letters, &group.lookups, cuts, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::group(letters, &group.lookups, cuts, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::group(letters, &group.lookups, cuts, words),
        }
    }
}
