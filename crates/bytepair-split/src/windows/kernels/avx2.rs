//! The loops of [`super`] with AVX2: one instruction looks up 32 bytes in a table of 16.
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
//! The hot loop is [`all_lookups`]; it is that of `avx512` with two halves of a word.
//!
//! Safety: functions with a target feature are called only for `Kernel::Avx2`, which exists only where the processor has
//! these features (`Kernel::all`). All vectors are loaded from arrays of their own length.
//!
//! Cost: about 80 instructions for 64 bytes, and 16 for each lookup of a group. Left out: patterns with more than
//! [`MAX_NUMBERS`] numbers of letters; characters that are not ASCII are read one by one.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set_epi64x, _mm_shuffle_epi8, _mm256_add_epi8,
    _mm256_adds_epu8, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi64x,
    _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_xor_si256,
};

use super::portable;
use crate::windows::tables::{AsciiLetters, Cuts, Lookup, NO_CUTS, WORD, Words};

/// The numbers of letters that two tables hold.
pub(super) const MAX_NUMBERS: usize = 32;

/// With more lookups the automaton is faster.
pub(super) const MAX_LOOKUPS: usize = 32;

/// The bytes of a vector.
const HALF: usize = 32;

/// The entries of a table.
const PART: usize = 16;

pub(super) fn letters(
    text: &[u8],
    ascii: &AsciiLetters,
    letters: &mut [u8],
    leads: &mut [u64],
) -> bool {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { all_letters(text, ascii, letters, leads) }
}

#[target_feature(enable = "avx2")]
fn all_letters(text: &[u8], ascii: &AsciiLetters, letters: &mut [u8], leads: &mut [u64]) -> bool {
    let mut tables = [_mm256_set1_epi8(0); 128 / PART];
    for (table, part) in tables.iter_mut().zip(ascii.letters.chunks(PART)) {
        *table = load_part(part);
    }
    let other = _mm256_set1_epi8(ascii.other.cast_signed());
    let least = _mm256_set1_epi8(0xC0_u8.cast_signed());
    leads[..text.len().div_ceil(WORD)].fill(0);
    for (index, (bytes, letters)) in text.chunks(HALF).zip(letters.chunks_mut(HALF)).enumerate() {
        let mut padded = [0; HALF];
        let bytes = bytes.first_chunk().unwrap_or_else(|| {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        });
        let bytes = load(bytes);
        let known = look_up(bytes, &tables);
        // The highest bit of the byte chooses.
        let found = _mm256_blendv_epi8(known, other, bytes);
        let is_lead = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes);
        let bits = _mm256_movemask_epi8(is_lead).cast_unsigned();
        leads[index / 2] |= u64::from(bits) << (index % 2 * HALF);
        if let Some(letters) = letters.first_chunk_mut() {
            store(letters, found);
        } else {
            let mut whole = [0; HALF];
            store(&mut whole, found);
            letters.copy_from_slice(&whole[..letters.len()]);
        }
    }
    leads[..text.len().div_ceil(WORD)].iter().all(|&word| word == 0)
}

pub(super) fn pack(letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { pack_all(letters, inner, n_bytes) }
}

#[target_feature(enable = "avx2,popcnt")]
fn pack_all(letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    let mut n_letters = 0;
    for (index, &inner) in inner.iter().enumerate().take(n_bytes.div_ceil(WORD)) {
        // A letter moves to the front or stays, so nothing is written over that was not read.
        if inner == 0 {
            letters.copy_within(index * WORD..(index + 1) * WORD, n_letters);
            n_letters += WORD;
            continue;
        }
        for part in 0..WORD / 8 {
            let inner_before = inner & ((1 << (part * 8)) - 1);
            let place = n_letters + part * 8 - inner_before.count_ones() as usize;
            let Some(&eight) = letters[index * WORD + part * 8..].first_chunk() else { break };
            let order = PACKED[(inner >> (part * 8) & 0xFF) as usize];
            if let Some(place) = letters[place..].first_chunk_mut() {
                *place = pack_eight(eight, order);
            }
        }
        n_letters += inner.count_zeros() as usize;
    }
    n_letters - (n_bytes.next_multiple_of(WORD) - n_bytes)
}

#[target_feature(enable = "avx2")]
#[inline]
fn pack_eight(letters: [u8; 8], order: [u8; 8]) -> [u8; 8] {
    let vector = |bytes: [u8; 8]| _mm_set_epi64x(0, i64::from_le_bytes(bytes));
    _mm_cvtsi128_si64(_mm_shuffle_epi8(vector(letters), vector(order))).to_le_bytes()
}

pub(super) fn spread(words: &mut [u64], inner: &[u64]) {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { spread_all(words, inner) }
}

#[target_feature(enable = "avx2,popcnt")]
fn spread_all(words: &mut [u64], inner: &[u64]) {
    portable::spread(words, inner, portable::spread_fast);
}

pub(super) fn gather(words: &mut [u64], inner: &[u64]) {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { gather_all(words, inner) }
}

#[target_feature(enable = "avx2,popcnt")]
fn gather_all(words: &mut [u64], inner: &[u64]) {
    portable::gather(words, inner, portable::gather_fast);
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

/// Bytes whose high half is not the number of a table give zero.
#[target_feature(enable = "avx2")]
#[inline]
fn look_up<const N: usize>(bytes: __m256i, tables: &[__m256i; N]) -> __m256i {
    let mut found = _mm256_set1_epi8(0);
    let mut number = _mm256_set1_epi8(0);
    for &table in tables {
        let part = _mm256_xor_si256(bytes, number);
        let place = _mm256_adds_epu8(part, _mm256_set1_epi8(0x70));
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(table, place));
        number = _mm256_add_epi8(number, _mm256_set1_epi8(0x10));
    }
    found
}

pub(super) fn group(
    letters: &[u8],
    lookups: &[Lookup],
    cuts: Option<&Cuts>,
    words: &mut Words<'_>,
) {
    match lookups.len() {
        0 => {}
        1 => any_cuts::<1>(letters, lookups, cuts, words),
        2 => any_cuts::<2>(letters, lookups, cuts, words),
        3 => any_cuts::<3>(letters, lookups, cuts, words),
        4 => any_cuts::<4>(letters, lookups, cuts, words),
        5 => any_cuts::<5>(letters, lookups, cuts, words),
        _ => any_cuts::<6>(letters, lookups, cuts, words),
    }
}

fn any_cuts<const N: usize>(
    letters: &[u8],
    lookups: &[Lookup],
    cuts: Option<&Cuts>,
    words: &mut Words<'_>,
) {
    let Some(lookups) = lookups.first_chunk() else { return };
    if let Some(cuts) = cuts {
        // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
        unsafe { all_lookups::<N, true>(letters, lookups, cuts, words) }
    } else {
        // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
        unsafe { all_lookups::<N, false>(letters, lookups, &NO_CUTS, words) }
    }
}

/// Adds the places where a group holds.
///
/// ```text
/// for each word of 64 places, in two halves:
///     all = 0xFF in each byte
///     for each lookup:
///         shown = the letters from (place + distance) on; the edge where one lies between
///         all = all & table[shown]
///     bits = bits | (all != 0)
/// ```
///
/// Invariant: bit `p` of byte `i` of `all` says whether product `p` may still hold at place `i`. Words behind the
/// letters are not visited.
#[target_feature(enable = "avx2")]
fn all_lookups<const N: usize, const HAS_CUTS: bool>(
    letters: &[u8],
    lookups: &[Lookup; N],
    cuts: &Cuts,
    words: &mut Words<'_>,
) {
    let edge = _mm256_set1_epi8(cuts.edge.cast_signed());
    let mut tables = [[_mm256_set1_epi8(0); 2]; N];
    for index in 0..N {
        let (low, high) = lookups[index].table.split_at(PART);
        tables[index] = [load_part(low), load_part(high)];
    }
    let Words { numbers, bits } = words;
    for index in numbers.iter().copied().map(usize::from) {
        let mut all = [_mm256_set1_epi8(-1); 2];
        for step in 0..N {
            let distance = lookups[step].distance;
            let cut = cut_at::<HAS_CUTS>(&cuts.places[distance], index);
            let rest = &letters[index * WORD + distance..];
            let Some(shown) = rest.first_chunk::<WORD>() else { return };
            let low = shown_past::<HAS_CUTS>(load(first_half(shown)), edge, cut);
            let high = shown_past::<HAS_CUTS>(load(second_half(shown)), edge, cut >> HALF);
            all[0] = _mm256_and_si256(all[0], look_up(low, &tables[step]));
            all[1] = _mm256_and_si256(all[1], look_up(high, &tables[step]));
        }
        bits[index] |= non_zero(all[0]) | non_zero(all[1]) << HALF;
    }
}

#[inline]
fn cut_at<const HAS_CUTS: bool>(words: &[u64], index: usize) -> u64 {
    if HAS_CUTS { words[index] } else { 0 }
}

/// The letters, or the edge where one is cut off.
#[target_feature(enable = "avx2")]
#[inline]
fn shown_past<const HAS_CUTS: bool>(letters: __m256i, edge: __m256i, cut: u64) -> __m256i {
    if HAS_CUTS { _mm256_blendv_epi8(letters, edge, bytes_of(cut)) } else { letters }
}

/// Which bytes are not zero.
#[target_feature(enable = "avx2")]
#[inline]
fn non_zero(bytes: __m256i) -> u64 {
    let is_zero = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0));
    u64::from(!_mm256_movemask_epi8(is_zero).cast_unsigned())
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

fn first_half(word: &[u8; WORD]) -> &[u8; HALF] {
    word.first_chunk().unwrap_or(&[0; HALF])
}

fn second_half(word: &[u8; WORD]) -> &[u8; HALF] {
    word.last_chunk().unwrap_or(&[0; HALF])
}

/// The table in both halves of a vector, as the look-up wants it; all zero if it is too short.
#[target_feature(enable = "avx2")]
#[inline]
fn load_part(part: &[u8]) -> __m256i {
    let part: &[u8; PART] = part.first_chunk().unwrap_or(&[0; PART]);
    // SAFETY: the array has the 16 bytes that are read, which need no alignment.
    let part = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(part)
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; HALF]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read, which need no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(bytes: &mut [u8; HALF], vector: __m256i) {
    // SAFETY: the array has the 32 bytes that are written, which need no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}
