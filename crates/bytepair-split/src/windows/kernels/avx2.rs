//! Words of 64 bytes with AVX2: two vectors, and look-ups in tables of 16.
//!
//! A larger table is looked up in parts of 16, and what the parts give is taken together with *or*:
//!
//! ```text
//! for each part n:
//!     x = byte ^ (n << 4)                 below 0x10 exactly where the byte belongs to the part
//!     place = saturating(x + 0x70)        0x70 to 0x7F there, 0x80 or more elsewhere
//!     found = found | pshufb(part, place) takes the low four bits, and gives 0 where the highest bit is set
//! ```
//!
//! No instruction moves bits apart or together, as `pdep` and `pext` do on later processors. So they move in six rounds: in
//! round *i*, all bits whose distance has the binary digit *i* move by 2^*i*.
//!
//! The loops are in [`super::loops`]. Left out: patterns with more than [`MAX_NUMBERS`] numbers of letters; characters that
//! are not ASCII are read one by one.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_shuffle_epi8, _mm256_add_epi8,
    _mm256_adds_epu8, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256,
    _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_shuffle_epi8, _mm256_storeu_si256,
    _mm256_xor_si256,
};

use super::loops::vectors;
use super::portable;
use crate::windows::tables::{AsciiLetters, Characters, Table, WORD, Wide};

/// The numbers of letters that two tables hold.
pub(super) const MAX_NUMBERS: usize = 2 * PART;

/// With more lookups the automaton is faster.
pub(super) const MAX_LOOKUPS: usize = 32;

/// The bytes of a vector.
const HALF: usize = 32;

/// The entries of a table.
const PART: usize = 16;

/// So many inner bits are inserted one by one sooner than in rounds.
const FEW: u32 = 8;

fn is_here() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

vectors! {
    /// Stands for a processor with AVX2.
    struct Avx2 needs "avx2,popcnt", which is_here finds;

    type Word = [__m256i; 2];
    type Table = [__m256i; 2];
    type Ascii = AsciiTable;

    fn load(bytes: &[u8; WORD]) -> [__m256i; 2] {
        load(bytes)
    }

    fn store(bytes: &mut [u8; WORD], word: [__m256i; 2]) {
        store(bytes, word);
    }

    fn fill(byte: u8) -> [__m256i; 2] {
        [_mm256_set1_epi8(byte.cast_signed()); 2]
    }

    fn and(one: [__m256i; 2], other: [__m256i; 2]) -> [__m256i; 2] {
        [_mm256_and_si256(one[0], other[0]), _mm256_and_si256(one[1], other[1])]
    }

    fn choose(bits: u64, yes: [__m256i; 2], no: [__m256i; 2]) -> [__m256i; 2] {
        let [low, high] = [bytes_of(bits), bytes_of(bits >> HALF)];
        [_mm256_blendv_epi8(no[0], yes[0], low), _mm256_blendv_epi8(no[1], yes[1], high)]
    }

    fn non_zero(word: [__m256i; 2]) -> u64 {
        let zero = _mm256_set1_epi8(0);
        !bits_of(word.map(|half| _mm256_cmpeq_epi8(half, zero)))
    }

    fn at_least(word: [__m256i; 2], least: u8) -> u64 {
        let least = _mm256_set1_epi8(least.cast_signed());
        bits_of(word.map(|half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, least), half)))
    }

    fn table(table: &Table) -> [__m256i; 2] {
        let (parts, _) = table.as_chunks();
        [twice(&parts[0]), twice(&parts[1])]
    }

    fn look_up(table: [__m256i; 2], word: [__m256i; 2]) -> [__m256i; 2] {
        word.map(|half| look_up(half, &table))
    }

    fn ascii(ascii: &AsciiLetters) -> AsciiTable {
        let (parts, _) = ascii.letters.as_chunks();
        let other = _mm256_set1_epi8(ascii.other.cast_signed());
        AsciiTable { parts: std::array::from_fn(|part| twice(&parts[part])), other }
    }

    fn letters(ascii: &AsciiTable, word: [__m256i; 2]) -> [__m256i; 2] {
        // The highest bit of the byte chooses.
        word.map(|half| _mm256_blendv_epi8(look_up(half, &ascii.parts), ascii.other, half))
    }

    fn pack(letters: &mut [u8], from: usize, to: usize, inner: u64) {
        if inner == 0 {
            return letters.copy_within(from..from + WORD, to);
        }
        for part in 0..WORD / 8 {
            let inner_before = inner & ((1 << (part * 8)) - 1);
            let place = to + part * 8 - inner_before.count_ones() as usize;
            let Some(&eight) = letters[from + part * 8..].first_chunk() else { return };
            let order = PACKED[(inner >> (part * 8) & 0xFF) as usize];
            if let Some(place) = letters[place..].first_chunk_mut() {
                *place = pack_eight(eight, order);
            }
        }
    }

    fn spread(bits: u64, inner: u64) -> u64 {
        spread(bits, inner)
    }

    fn gather(bits: u64, inner: u64) -> u64 {
        gather(bits, inner)
    }

    fn wide(text: &[u8], wide: &Wide, letters: &mut [u8], characters: Characters<'_>) {
        portable::wide(text, wide, letters, characters);
    }
}

/// The letters of ASCII as eight tables of 16, and what any other byte gets.
#[derive(Clone, Copy)]
pub(crate) struct AsciiTable {
    parts: [__m256i; 128 / PART],
    other: __m256i,
}

/// Bytes whose high half is not the number of a part give zero.
#[target_feature(enable = "avx2")]
#[inline]
fn look_up<const N: usize>(bytes: __m256i, parts: &[__m256i; N]) -> __m256i {
    let mut found = _mm256_set1_epi8(0);
    let mut number = _mm256_set1_epi8(0);
    for &part in parts {
        let place = _mm256_adds_epu8(_mm256_xor_si256(bytes, number), _mm256_set1_epi8(0x70));
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(part, place));
        number = _mm256_add_epi8(number, _mm256_set1_epi8(0x10));
    }
    found
}

/// The highest bit of each byte.
#[target_feature(enable = "avx2")]
#[inline]
fn bits_of(word: [__m256i; 2]) -> u64 {
    let [low, high] = word.map(|half| u64::from(_mm256_movemask_epi8(half).cast_unsigned()));
    low | high << HALF
}

/// All bits of byte `i` set where bit `i` is.
#[target_feature(enable = "avx2")]
#[inline]
fn bytes_of(bits: u64) -> __m256i {
    let each = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let low = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
    let byte_of =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(low.cast_signed()), byte_of);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each)
}

/// A part of a table in both halves of a vector, as the look-up wants it.
#[target_feature(enable = "avx2")]
#[inline]
fn twice(part: &[u8; PART]) -> __m256i {
    let mut bytes = [0; HALF];
    bytes[..PART].copy_from_slice(part);
    bytes[PART..].copy_from_slice(part);
    load_half(&bytes)
}

#[target_feature(enable = "avx2")]
#[inline]
fn pack_eight(letters: [u8; 8], order: [u8; 8]) -> [u8; 8] {
    let vector = |bytes: [u8; 8]| _mm_set_epi64x(0, i64::from_le_bytes(bytes));
    _mm_cvtsi128_si64(_mm_shuffle_epi8(vector(letters), vector(order))).to_le_bytes()
}

/// For eight bits that tell which of eight bytes are inner: the numbers of the others.
static PACKED: [[u8; 8]; 256] = packed();

const fn packed() -> [[u8; 8]; 256] {
    let mut all = [[0; 8]; 256];
    let mut inner = 0;
    while inner < 256 {
        let (mut from, mut to) = (0_u8, 0);
        while from < 8 {
            if inner >> from & 1 == 0 {
                all[inner][to] = from;
                to += 1;
            }
            from += 1;
        }
        inner += 1;
    }
    all
}

#[inline]
fn spread(word: u64, inner: u64) -> u64 {
    let mut word = word;
    if inner.count_ones() <= FEW {
        let mut left = inner;
        while left != 0 {
            let below = (left & left.wrapping_neg()) - 1;
            word = word & below | (word & !below) << 1;
            left &= left - 1;
        }
        return word;
    }
    for (digit, movers) in movers(inner).into_iter().enumerate().rev() {
        word = word & !movers | word << (1 << digit) & movers;
    }
    word & !inner
}

#[inline]
fn gather(word: u64, inner: u64) -> u64 {
    let mut word = word & !inner;
    for (digit, movers) in movers(inner).into_iter().enumerate() {
        let moving = word & movers;
        word = word ^ moving | moving >> (1 << digit);
    }
    word
}

/// For each round, which bits move down in it, where they are then, when inner bits are left out.
#[inline]
fn movers(inner: u64) -> [u64; 6] {
    let mut kept = !inner;
    // The number of inner bits below each bit; a round looks at the lowest digit of this number.
    let mut counted = inner << 1;
    let mut rounds = [0; 6];
    for (digit, movers) in rounds.iter_mut().enumerate() {
        let is_odd = parities(counted);
        *movers = is_odd & kept;
        kept = kept ^ *movers | *movers >> (1 << digit);
        counted &= !is_odd;
    }
    rounds
}

/// At each place, whether the number of bits up to it is odd.
#[inline]
fn parities(bits: u64) -> u64 {
    (0..6).fold(bits, |bits, digit| bits ^ bits << (1 << digit))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; WORD]) -> [__m256i; 2] {
    let (halves, _) = bytes.as_chunks();
    [load_half(&halves[0]), load_half(&halves[1])]
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_half(bytes: &[u8; HALF]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read, which need no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(bytes: &mut [u8; WORD], word: [__m256i; 2]) {
    let (halves, _) = bytes.as_chunks_mut();
    store_half(&mut halves[0], word[0]);
    store_half(&mut halves[1], word[1]);
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_half(bytes: &mut [u8; HALF], half: __m256i) {
    // SAFETY: the array has the 32 bytes that are written, which need no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), half) }
}
