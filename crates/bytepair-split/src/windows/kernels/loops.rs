//! The loops over vectors, written once for all processors that have them.
//!
//! [`Vectors`] is what a loop needs of a processor: operations on *words* of 64 bytes. A value of a type with this trait exists
//! only where the processor has the instructions, so the operations are safe to call, and so are the loops.
//!
//! A function runs fast only if it and all operations in it are compiled with the same instructions. So everything here is
//! `#[inline(always)]`, up to the one function for each processor that says which instructions it is compiled with
//! ([`vectors!`]). Left out: what the loops find ([`super::portable`] is the definition).
#![expect(
    clippy::inline_always,
    reason = "a loop that is not inlined is compiled without the instructions, and many times as slow"
)]

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::{Loop, portable};
use crate::windows::letters::N_SHOWN;
use crate::windows::tables::{
    AsciiLetters, Characters, Cuts, Lookup, SPAN, Table, WORD, Wide, Words,
};

/// What a processor does with words of 64 bytes.
pub(super) trait Vectors: Copy {
    /// 64 bytes.
    type Word: Copy;
    /// A byte for each number of a letter.
    type Table: Copy;
    /// The letters of ASCII, and what any other byte gets.
    type Ascii: Copy;

    /// The word of these bytes.
    fn load(self, bytes: &[u8; WORD]) -> Self::Word;
    /// Writes a word.
    fn store(self, bytes: &mut [u8; WORD], word: Self::Word);
    /// The byte in all places.
    fn fill(self, byte: u8) -> Self::Word;
    /// The bits that are set in both.
    fn and(self, one: Self::Word, other: Self::Word) -> Self::Word;
    /// The bytes of `yes` where a bit is set, and those of `no` elsewhere.
    fn choose(self, bits: u64, yes: Self::Word, no: Self::Word) -> Self::Word;
    /// Which bytes are not zero.
    fn non_zero(self, word: Self::Word) -> u64;
    /// Which bytes are at least so great.
    fn at_least(self, word: Self::Word, least: u8) -> u64;
    /// A table as look-ups want it.
    fn table(self, table: &Table) -> Self::Table;
    /// The byte of the table for each number of a letter; numbers are within the kernel's limit.
    fn look_up(self, table: Self::Table, word: Self::Word) -> Self::Word;
    /// The letters of ASCII as reading wants them.
    fn ascii(self, ascii: &AsciiLetters) -> Self::Ascii;
    /// The letter of each byte that is ASCII, and one for all others.
    fn letters(self, ascii: &Self::Ascii, word: Self::Word) -> Self::Word;
    /// Moves a word of letters from one place to another, which is not behind it, and leaves out those of inner bytes.
    fn pack(self, letters: &mut [u8], from: usize, to: usize, inner: u64);
    /// Moves bit `i` to the place of the `i`-th byte that is not inner.
    fn spread(self, bits: u64, inner: u64) -> u64;
    /// Moves the bit of the `i`-th byte that is not inner to place `i`.
    fn gather(self, bits: u64, inner: u64) -> u64;
    /// What [`Loop::Wide`] does.
    fn wide(self, text: &[u8], wide: &Wide, letters: &mut [u8], characters: Characters<'_>);
}

/// Makes a type of vectors from functions that are compiled with the instructions of a processor.
///
/// In such a function the intrinsics of these instructions are safe to call. It may itself be called only where the
/// processor has them, which is what the value of the type stands for; the two calls here are the only ones.
macro_rules! vectors {
    (
        $(#[$attribute:meta])*
        struct $name:ident needs $features:literal, which $is_here:ident finds;
        $(type $kind:ident = $type:ty;)+
        $(fn $method:ident($($argument:ident: $argument_type:ty),* $(,)?) $(-> $result:ty)? $body:block)+
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(());

        impl $name {
            /// The value, where the processor has the instructions.
            pub(super) fn detect() -> Option<Self> {
                $is_here().then_some(Self(()))
            }

            /// Runs a loop that is compiled with the instructions.
            pub(super) fn run(self, task: $crate::windows::kernels::Loop<'_>) {
                #[target_feature(enable = $features)]
                fn compiled(vectors: $name, task: $crate::windows::kernels::Loop<'_>) {
                    task.run_with(vectors);
                }
                // SAFETY: `self` exists only where the processor has these instructions.
                unsafe { compiled(self, task) }
            }
        }

        impl $crate::windows::kernels::loops::Vectors for $name {
            $(type $kind = $type;)+
            $(
                #[inline(always)]
                fn $method(self, $($argument: $argument_type),*) $(-> $result)? {
                    #[target_feature(enable = $features)]
                    #[inline]
                    fn compiled($($argument: $argument_type),*) $(-> $result)? $body
                    // SAFETY: `self` exists only where the processor has these instructions.
                    unsafe { compiled($($argument),*) }
                }
            )+
        }
    };
}
pub(super) use vectors;

impl Loop<'_> {
    /// Runs the loop; only what this is inlined in is compiled with the instructions.
    #[inline(always)]
    pub(super) fn run_with<V: Vectors>(self, vectors: V) {
        match self {
            Self::Letters { text, ascii, letters, leads } => {
                read(vectors, text, ascii, letters, leads);
            }
            Self::Wide { text, wide, letters, characters } => {
                vectors.wide(text, wide, letters, characters);
            }
            Self::Pack { letters, inner, n_letters } => {
                *n_letters = pack(vectors, letters, inner, *n_letters);
            }
            Self::Spread { words, inner } => {
                portable::spread(words, inner, |bits, inner| vectors.spread(bits, inner));
            }
            Self::Gather { words, inner } => {
                portable::gather(words, inner, |bits, inner| vectors.gather(bits, inner));
            }
            Self::Group { letters, group, cuts, words } => match group.lookups.len() {
                0 => {}
                1 => look_up::<1, V>(vectors, letters, &group.lookups, cuts, words),
                2 => look_up::<2, V>(vectors, letters, &group.lookups, cuts, words),
                3 => look_up::<3, V>(vectors, letters, &group.lookups, cuts, words),
                4 => look_up::<4, V>(vectors, letters, &group.lookups, cuts, words),
                5 => look_up::<5, V>(vectors, letters, &group.lookups, cuts, words),
                _ => look_up::<N_SHOWN, V>(vectors, letters, &group.lookups, cuts, words),
            },
        }
    }
}

/// Writes the letter of each ASCII character, and marks the bytes that start longer ones.
///
/// ```text
/// for each 64 bytes:
///     letters = ascii[byte]; where the byte is not ASCII, the letter of invalid bytes
///     leads = byte >= 0xC0
/// ```
///
/// The bytes behind the end of the text are read as zeros, and only as many letters are written as there are bytes, so
/// neither slice is left.
///
/// Cost: about six instructions for 64 bytes with AVX-512, 80 with AVX2.
#[inline(always)]
fn read<V: Vectors>(
    vectors: V,
    text: &[u8],
    ascii: &AsciiLetters,
    letters: &mut [u8],
    leads: &mut [u64],
) {
    let ascii = vectors.ascii(ascii);
    let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
    for ((bytes, letters), leads) in words.zip(leads) {
        let mut padded = [0; WORD];
        let bytes = bytes.first_chunk().unwrap_or_else(|| {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        });
        prefetch(bytes);
        let bytes = vectors.load(bytes);
        let found = vectors.letters(&ascii, bytes);
        *leads = vectors.at_least(bytes, 0xC0);
        if let Some(letters) = letters.first_chunk_mut() {
            vectors.store(letters, found);
        } else {
            let mut whole = [0; WORD];
            vectors.store(&mut whole, found);
            letters.copy_from_slice(&whole[..letters.len()]);
        }
    }
}

/// Takes out the letters of inner bytes; returns how many are left.
///
/// ```text
/// for each 64 letters:
///     move those that are not inner behind the ones that were moved before
/// ```
///
/// Invariant: a letter moves to the front or stays, so none is written over that was not read. The last word may be read
/// past `n_bytes`: no byte there is inner, so as many letters too many were moved as there are such bytes.
#[inline(always)]
fn pack<V: Vectors>(vectors: V, letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    let mut n_letters = 0;
    for (index, &inner) in inner.iter().enumerate().take(n_bytes.div_ceil(WORD)) {
        vectors.pack(letters, index * WORD, n_letters, inner);
        n_letters += inner.count_zeros() as usize;
    }
    n_letters - (n_bytes.next_multiple_of(WORD) - n_bytes)
}

/// Adds the places where a group of `N` lookups holds, without looking for edges where there are none.
#[inline(always)]
fn look_up<const N: usize, V: Vectors>(
    vectors: V,
    letters: &[u8],
    lookups: &[Lookup],
    cuts: Option<&Cuts>,
    words: Words<'_>,
) {
    static NO_CUTS: Cuts = Cuts { places: [const { Vec::new() }; N_SHOWN], edge: 0 };
    let Some(lookups) = lookups.first_chunk::<N>() else { return };
    match cuts {
        Some(cuts) => look_up_all::<N, true, V>(vectors, letters, lookups, cuts, words),
        None => look_up_all::<N, false, V>(vectors, letters, lookups, &NO_CUTS, words),
    }
}

/// Adds the places where a group holds.
///
/// ```text
/// for each word of 64 places:
///     all = 0xFF in each byte
///     for each lookup:                                       unrolled, the tables stay in registers
///         shown = the letters from (place + distance) on; the edge where one lies between
///         all = all & table[shown]
///     bits = bits | (all != 0)
/// ```
///
/// Invariant: bit `p` of byte `i` of `all` says whether product `p` may still hold at place `i`. The letters from each
/// distance on are cut into words once, as many as there are words of bits, so one comparison for each word is enough.
///
/// Cost: two instructions for each lookup with AVX-512, 16 with AVX2.
#[inline(always)]
fn look_up_all<const N: usize, const HAS_CUTS: bool, V: Vectors>(
    vectors: V,
    letters: &[u8],
    lookups: &[Lookup; N],
    cuts: &Cuts,
    words: Words<'_>,
) {
    let Words { numbers, bits } = words;
    let edge = vectors.fill(cuts.edge);
    // A closure in `map` would not be compiled with the instructions.
    let mut tables = [vectors.table(&lookups[0].table); N];
    let mut shown: [&[[u8; WORD]]; N] = [&[]; N];
    for step in 0..N {
        let Lookup { distance, table } = &lookups[step];
        tables[step] = vectors.table(table);
        shown[step] = &letters[*distance..].as_chunks().0[..bits.len()];
    }
    let n_words = bits.len();
    for index in numbers.iter().copied().map(usize::from).take_while(|&index| index < n_words) {
        let mut all = vectors.fill(0xFF);
        for step in 0..N {
            let mut letters = vectors.load(&shown[step][index]);
            if HAS_CUTS {
                letters = vectors.choose(cuts.places[lookups[step].distance][index], edge, letters);
            }
            all = vectors.and(all, vectors.look_up(tables[step], letters));
        }
        bits[index] |= vectors.non_zero(all);
    }
}

/// Prefetches the text of the next span, in case there is more.
#[inline(always)]
#[expect(unsafe_code, reason = "texts are read sooner than memory would give them")]
fn prefetch(bytes: &[u8; WORD]) {
    let next = bytes.as_ptr().wrapping_add(SPAN);
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address; every x86-64 processor has it.
    #[allow(unused_unsafe, reason = "older compilers call it unsafe")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(next.cast());
    }
}
