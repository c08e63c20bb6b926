//! Which characters may be joined to the one before, eight at a time, with AVX-512.
//!
//! The rows of eight characters are turned into a vector for each of their four words, so that a lane is a character and
//! the lane before it, shifted in from the vectors of the eight before, the one that it is asked about. The definitions
//! are [`Side::joins_part`] and [`Side::may_join`].
//!
//! Cost: about 2 cycles for a character, where the definitions take 5.
#![expect(
    unsafe_code,
    reason = "vector instructions; new text without spaces is encoded in a twentieth less time"
)]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm512_alignr_epi64, _mm512_and_si512, _mm512_or_si512,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_test_epi64_mask,
};

use super::{Side, Sides};
use crate::piece_row::{STEP_LEN, transposed};

/// What [`Sides::joined`] gives. Call only where [`crate::piece_row::is_here`].
pub(super) fn joined(sides: &Sides, rows: &[u32]) -> [u64; 2] {
    debug_assert!(crate::piece_row::is_here(), "vectors that the processor lacks");
    // SAFETY: callers ask for it only where these instructions were found.
    unsafe { joined_by_eight(sides, rows) }
}

#[target_feature(enable = "avx512f")]
fn joined_by_eight(sides: &Sides, rows: &[u32]) -> [u64; 2] {
    let (mut in_part, mut whole) = (0, 0);
    let mut before = [_mm512_setzero_si512(); 4];
    for (step, rows) in rows.chunks(STEP_LEN).enumerate() {
        // Lanes behind the last are those of whatever row.
        let side = |lane: usize| load(sides.of(rows.get(lane).copied().unwrap_or(0)));
        let here = transposed(side);
        let [part, all] = joined_to(before, here);
        in_part |= u64::from(part) << (step * STEP_LEN);
        whole |= u64::from(all) << (step * STEP_LEN);
        before = here;
    }
    let here = (1 << rows.len()) - 1;
    [in_part & here, whole & here]
}

/// A bit for each of eight characters that may be joined to the one before, in part, and as a whole.
#[target_feature(enable = "avx512f")]
#[inline]
fn joined_to(before: [__m512i; 4], here: [__m512i; 4]) -> [u8; 2] {
    let left = |word: usize| _mm512_alignr_epi64::<7>(here[word], before[word]);
    let (behind, followers, left_rest) = (left(1), left(2), left(3));
    let (one, byte) = (_mm512_set1_epi64(1), _mm512_set1_epi64(0xFF));
    let group = _mm512_and_si512(_mm512_srli_epi64::<32>(here[3]), byte);
    let first = _mm512_and_si512(_mm512_srli_epi64::<48>(here[3]), byte);
    let last = _mm512_and_si512(_mm512_srli_epi64::<40>(left_rest), byte);
    let is_long = _mm512_srli_epi64::<56>(left_rest);
    let ends = _mm512_and_si512(_mm512_srlv_epi64(here[0], last), is_long);
    let part = _mm512_or_si512(ends, _mm512_srlv_epi64(behind, first));
    let whole = _mm512_srlv_epi64(followers, group);
    [_mm512_test_epi64_mask(part, one), _mm512_test_epi64_mask(whole, one)]
}

/// What is known of a character: words of what may stand before it, behind it, which groups do, and the rest.
#[target_feature(enable = "avx512f")]
#[inline]
fn load(side: &Side) -> __m256i {
    const { assert!(size_of::<Side>() == 32, "four words of 64 bits") };
    // SAFETY: a row is the 32 bytes that are read.
    unsafe { _mm256_loadu_si256((&raw const *side).cast()) }
}
