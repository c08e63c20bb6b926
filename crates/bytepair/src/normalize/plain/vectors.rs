//! Runs of plain characters, 64 bytes at a time, with AVX-512 (VBMI).
//!
//! A byte that begins a character of two or three bytes is looked at together with the byte behind it: the five or four
//! low bits of the one and the upper three of its neighbour's six find a byte of a table, and the lower three a bit of it. Of
//! two bytes that bit is the character itself; of three it says whether all 64 characters that begin so are plain, and
//! where they are not, the character is looked at by itself. All other bytes belong to a character that begins before
//! them, or to none.
//!
//! Cost: about a dozen cycles for 64 bytes.
#![expect(
    unsafe_code,
    reason = "vector instructions; text of other scripts is passed over in a tenth of the time"
)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpge_epu8_mask, _mm512_mask_blend_epi8, _mm512_movepi8_mask,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_set1_epi8, _mm512_set1_epi64,
    _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_srli_epi16, _mm512_test_epi8_mask,
};

use super::Plain;
use crate::piece::vectors::{VECTOR_LEN, Vectors, load};

/// A vector, and the byte behind it.
const AROUND_LEN: usize = VECTOR_LEN + 1;

/// Words of a vector.
const N_WORDS: usize = VECTOR_LEN / 8;

/// How long the plain characters are that a text begins with, as far as whole vectors go, and whether one that is not
/// plain follows.
pub(super) fn run_len(_: Vectors, plain: &Plain, text: &[u8]) -> (usize, bool) {
    // SAFETY: whoever has `Vectors` has a processor with these instructions.
    unsafe { by_vectors(plain, text) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn by_vectors(plain: &Plain, text: &[u8]) -> (usize, bool) {
    let short = load_table::<4>(&plain.short);
    let full = load_table::<2>(&plain.full);
    let mut start = 0;
    while let Some(around) = text[start..].first_chunk() {
        let mut asked = not_surely_plain(around, &short, &full);
        while asked != 0 {
            let place = start + asked.trailing_zeros() as usize;
            if plain.len(&text[place..]).is_none() {
                return (place, true);
            }
            asked &= asked - 1;
        }
        start += VECTOR_LEN;
    }
    // The last character may end behind the vectors.
    let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
    (start + text[start..].iter().take_while(is_inner).count(), false)
}

/// A bit for each byte that begins a character which has to be looked at by itself.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn not_surely_plain(around: &[u8; AROUND_LEN], short: &[__m512i; 4], full: &[__m512i; 2]) -> u64 {
    let bytes = load(&around[..]);
    if _mm512_movepi8_mask(bytes) == 0 {
        return 0;
    }
    let next = load(&around[1..]);
    let is_at_least = |least: u8| _mm512_cmpge_epu8_mask(bytes, set(least));
    let begins = is_at_least(0xC0);
    // Both shifts are of two bytes at once; what comes from the other is cut off.
    let upper = _mm512_and_si512(_mm512_slli_epi16::<3>(bytes), set(0xF8));
    let lower = _mm512_and_si512(_mm512_srli_epi16::<3>(next), set(0x07));
    let number = _mm512_or_si512(upper, lower);
    let of_two = _mm512_mask_blend_epi8(
        _mm512_movepi8_mask(number),
        _mm512_permutex2var_epi8(short[0], number, short[1]),
        _mm512_permutex2var_epi8(short[2], number, short[3]),
    );
    let of_three = _mm512_permutex2var_epi8(full[0], number, full[1]);
    let found = _mm512_mask_blend_epi8(is_at_least(0xE0), of_two, of_three);
    let bit = _mm512_shuffle_epi8(
        _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed()),
        _mm512_and_si512(next, set(0x07)),
    );
    let is_plain = _mm512_test_epi8_mask(found, bit) & !is_at_least(0xF0);
    begins & !is_plain
}

#[target_feature(enable = "avx512f")]
#[inline]
fn set(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// The vectors of a table, as bytes from low to high.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_table<const N: usize>(table: &[u64]) -> [__m512i; N] {
    std::array::from_fn(|part| load(&table[part * N_WORDS..]))
}
