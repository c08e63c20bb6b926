//! The loops that go over every byte: from bytes to letters, from letters to the places where a group of products holds, and
//! from bits for symbols to bits for bytes.
//!
//! Each is written twice: in plain Rust ([`portable`], the definition), and over vectors ([`loops`]), whose operations are
//! those of AVX2 ([`avx2`]) or AVX-512 ([`avx512`]). Tests compare the kernels on random letters, tables and cuts
//! (`fast_kernels_find_what_the_plain_one_finds`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod loops;
mod portable;

#[cfg(target_arch = "x86_64")]
use self::{avx2::Avx2, avx512::Avx512};
use super::tables::{AsciiLetters, Characters, Cuts, Group, MAX_NUMBERS, Wide, Words};

/// How the loops are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// By the definition: slower than the automaton.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// One of the loops, with what it reads and writes.
pub(super) enum Loop<'a> {
    /// Writes the letter of each ASCII character, another for any other byte; for each byte, whether it is
    /// one that starts characters of several bytes (or no character at all) goes to the bits of `leads`.
    Letters { text: &'a [u8], ascii: &'a AsciiLetters, letters: &'a mut [u8], leads: &'a mut [u64] },
    /// Writes the letters of characters of several bytes as far as `wide` knows them, at their first bytes;
    /// takes these out of `leads`, and adds the bytes behind them to `inner`, which has one word more.
    Wide { text: &'a [u8], wide: &'a Wide, letters: &'a mut [u8], characters: Characters<'a> },
    /// Takes out the letters of inner bytes, of `n_letters`; how many are left is written there.
    Pack { letters: &'a mut [u8], inner: &'a [u64], n_letters: &'a mut usize },
    /// From bits for symbols to bits for bytes: none for inner ones. There are at most as many words as of these.
    Spread { words: &'a mut [u64], inner: &'a [u64] },
    /// From bits for bytes to bits for symbols; the bits of inner bytes are left out.
    Gather { words: &'a mut [u64], inner: &'a [u64] },
    /// Adds the places where the group holds, in the words of these numbers: bit `i` of all words is for the window from
    /// `letters[i]` on. All letters are below [`MAX_NUMBERS`], and there are enough for the windows of each word. Cuts have
    /// as many words.
    Group { letters: &'a [u8], group: &'a Group, cuts: Option<&'a Cuts>, words: Words<'a> },
}

impl Kernel {
    /// The fastest that this processor has, if one is faster than going on byte by byte.
    pub(crate) fn fast() -> Option<Self> {
        Self::all().pop().filter(|&kernel| kernel != Self::Portable)
    }

    /// Those that this processor has, the fastest last.
    pub(crate) fn all() -> Vec<Self> {
        std::iter::once(Self::Portable).chain(Self::with_vectors()).collect()
    }

    #[cfg(target_arch = "x86_64")]
    fn with_vectors() -> impl Iterator<Item = Self> {
        [Avx2::detect().map(Self::Avx2), Avx512::detect().map(Self::Avx512)].into_iter().flatten()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn with_vectors() -> impl Iterator<Item = Self> {
        std::iter::empty()
    }

    /// How many numbers of letters its tables hold, and how many lookups are not too many.
    pub(crate) fn limits(self) -> (usize, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => (avx2::MAX_NUMBERS, avx2::MAX_LOOKUPS),
            _ => (MAX_NUMBERS, usize::MAX),
        }
    }

    /// Shorter texts are not worth the preparation.
    pub(crate) fn min_len(self) -> usize {
        match self {
            Self::Portable => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) | Self::Avx512(_) => 64,
        }
    }

    #[inline]
    pub(super) fn run(self, task: Loop<'_>) {
        match self {
            Self::Portable => portable::run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(vectors) => vectors.run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(vectors) => vectors.run(task),
        }
    }
}
