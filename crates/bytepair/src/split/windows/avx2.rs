//! The loops of [`super::kernels`] with AVX2: one instruction looks up 32 bytes in a table of 16.
//!
//! A larger table is looked up in parts. The byte is changed so that its high half is zero where it belongs to
//! the part; adding 0x70 then sets the highest bit of all others, for which the instruction gives zero.
//! Cost: about 80 instructions for 64 bytes, and 16 for each step of a group. Patterns with more than
//! [`MAX_NUMBERS`] numbers of letters are not for this kernel; others than ASCII are read one by one.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_adds_epu8, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_xor_si256,
};

use super::kernels::{Cuts, WORD};
use super::program::Step;

/// The numbers of letters that two tables hold.
pub(super) const MAX_NUMBERS: usize = 32;

/// The bytes of a vector.
const HALF: usize = 32;

/// The entries of a table.
const PART: usize = 16;

pub(super) fn letters(
    text: &[u8],
    tables: (&[u8; 128], u8),
    letters: &mut [u8],
    leads: &mut [u64],
) {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { all_letters(text, tables, letters, leads) }
}

#[target_feature(enable = "avx2")]
fn all_letters(
    text: &[u8],
    (ascii, other): (&[u8; 128], u8),
    letters: &mut [u8],
    leads: &mut [u64],
) {
    let mut tables = [_mm256_set1_epi8(0); 128 / PART];
    for (table, part) in tables.iter_mut().zip(ascii.chunks_exact(PART)) {
        *table = load_part(part);
    }
    let other = _mm256_set1_epi8(other.cast_signed());
    let least = _mm256_set1_epi8(0xC0_u8.cast_signed());
    leads[..text.len().div_ceil(WORD)].fill(0);
    for (index, (bytes, letters)) in text.chunks(HALF).zip(letters.chunks_mut(HALF)).enumerate() {
        let mut padded = [0; HALF];
        padded[..bytes.len()].copy_from_slice(bytes);
        let bytes = load(&padded);
        let known = look_up(bytes, &tables);
        // The highest bit of the byte chooses.
        let found = _mm256_blendv_epi8(known, other, bytes);
        let is_lead = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes);
        let bits = _mm256_movemask_epi8(is_lead).cast_unsigned();
        leads[index / 2] |= u64::from(bits) << (index % 2 * HALF);
        let mut whole = [0; HALF];
        store(&mut whole, found);
        let length = letters.len();
        letters.copy_from_slice(&whole[..length]);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn look_up<const N: usize>(bytes: __m256i, tables: &[__m256i; N]) -> __m256i {
    let mut found = _mm256_set1_epi8(0);
    let mut part = bytes;
    for (index, &table) in tables.iter().enumerate() {
        // The high half of the byte loses the number of the part, having lost that of the one before.
        let change = (index ^ index.saturating_sub(1)) << 4;
        part = _mm256_xor_si256(
            part,
            _mm256_set1_epi8(u8::try_from(change).unwrap_or(0).cast_signed()),
        );
        let place = _mm256_adds_epu8(part, _mm256_set1_epi8(0x70));
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(table, place));
    }
    found
}

pub(super) fn group(letters: &[u8], steps: &[Step], cuts: Option<&Cuts>, words: &mut [u64]) {
    // SAFETY: `Kernel::Avx2` is made only where these instructions were found.
    unsafe { steps_in_a_row(letters, steps, cuts, words) }
}

#[target_feature(enable = "avx2")]
fn steps_in_a_row(letters: &[u8], steps: &[Step], cuts: Option<&Cuts>, words: &mut [u64]) {
    let edge = _mm256_set1_epi8(cuts.map_or(0, |cuts| cuts.edge).cast_signed());
    let none = _mm256_set1_epi8(0);
    for (index, word) in words.iter_mut().enumerate() {
        let mut all = [_mm256_set1_epi8(-1); 2];
        for step in steps {
            let tables = [load_part(&step.table[..PART]), load_part(&step.table[PART..2 * PART])];
            let cut = cuts.map_or(0, |cuts| cuts.places[step.distance][index]);
            let Some(shown) = letters[index * WORD + step.distance..].first_chunk::<WORD>() else {
                return;
            };
            let halves = [load(first_half(shown)), load(second_half(shown))];
            for (half, (all, shown)) in all.iter_mut().zip(halves).enumerate() {
                let is_cut = spread(cut >> (half * HALF));
                let shown = _mm256_blendv_epi8(shown, edge, is_cut);
                *all = _mm256_and_si256(*all, look_up(shown, &tables));
            }
        }
        for (half, all) in all.into_iter().enumerate() {
            let is_none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(all, none)).cast_unsigned();
            *word |= u64::from(!is_none) << (half * HALF);
        }
    }
}

/// All bits of byte `i` set where bit `i` is.
#[target_feature(enable = "avx2")]
#[inline]
fn spread(bits: u64) -> __m256i {
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
