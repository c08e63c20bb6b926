//! Which characters may be joined to the one before, eight at a time, with AVX-512.
//!
//! The neighbours of eight characters are turned into a vector for each of their four words, so that a lane is a character, and
//! the lane before it the one that it is asked about; before the first lane comes the last of the eight before. The
//! definitions are [`Neighbours::joins_part`] and [`Neighbours::may_join`]. Left out: what the bitmap knows of pairs.
//!
//! Cost: about 3 cycles for a character, where the definitions take 5.
#![expect(
    unsafe_code,
    reason = "vector instructions; with those of `sequence` and `characters` new Chinese takes a tenth less time"
)]

use std::arch::x86_64::{
    __m512i, _mm512_alignr_epi64, _mm512_and_si512, _mm512_or_si512, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_test_epi64_mask,
};

use std::mem::offset_of;

use super::{NeighbourTable, Neighbours};
use crate::piece::row::{STEP_LEN, transposed};
use crate::piece::vectors::load_row;

/// The words of the neighbours of a character. The last is of several numbers; where the bits of each begin.
const BEFORE: usize = offset_of!(Neighbours, before) / 8;
const BEHIND: usize = offset_of!(Neighbours, behind) / 8;
const FOLLOWERS: usize = offset_of!(Neighbours, followers) / 8;
const REST: usize = 3;
const GROUP: u32 = first_bit(offset_of!(Neighbours, group));
const LAST: u32 = first_bit(offset_of!(Neighbours, last));
const FIRST: u32 = first_bit(offset_of!(Neighbours, first));
const IS_LONG: u32 = first_bit(offset_of!(Neighbours, is_long));

/// Where the bits of a byte of the last word begin, by its place in them.
#[expect(clippy::cast_possible_truncation, reason = "less than 64")]
const fn first_bit(offset: usize) -> u32 {
    assert!(
        offset / 8 == REST && size_of::<Neighbours>() == 8 * (REST + 1),
        "neighbours are four words"
    );
    8 * (offset % 8) as u32
}

/// What [`NeighbourTable::joined`] gives. Call only where [`crate::piece::vectors::are_here`].
pub(super) fn joined(neighbours: &NeighbourTable, code_points: &[u32]) -> [u64; 2] {
    debug_assert!(crate::piece::vectors::are_here(), "vectors that the processor lacks");
    // SAFETY: callers come here only where `vectors::are_here` found these instructions.
    unsafe { joined_by_eight(neighbours, code_points) }
}

#[target_feature(enable = "avx512f")]
fn joined_by_eight(neighbours: &NeighbourTable, code_points: &[u32]) -> [u64; 2] {
    let (mut in_part, mut whole) = (0, 0);
    let mut before = [_mm512_setzero_si512(); 4];
    for (step, eight) in code_points.chunks(STEP_LEN).enumerate() {
        // Lanes behind the last are those of any character.
        let side = |lane: usize| load_row(neighbours.of(eight.get(lane).copied().unwrap_or(0)));
        let here = transposed(side);
        let [part, all] = joined_to(before, here);
        in_part |= u64::from(part) << (step * STEP_LEN);
        whole |= u64::from(all) << (step * STEP_LEN);
        before = here;
    }
    let here = (1 << code_points.len()) - 1;
    [in_part & here, whole & here]
}

/// A bit for each of eight characters that may be joined to the one before, in part, and as a whole.
#[target_feature(enable = "avx512f")]
#[inline]
fn joined_to(before: [__m512i; 4], here: [__m512i; 4]) -> [u8; 2] {
    let left = |word: usize| _mm512_alignr_epi64::<7>(here[word], before[word]);
    let (left_rest, rest) = (left(REST), here[REST]);
    let (one, byte) = (_mm512_set1_epi64(1), _mm512_set1_epi64(0xFF));
    let group = _mm512_and_si512(_mm512_srli_epi64::<GROUP>(rest), byte);
    let first = _mm512_and_si512(_mm512_srli_epi64::<FIRST>(rest), byte);
    let last = _mm512_and_si512(_mm512_srli_epi64::<LAST>(left_rest), byte);
    let is_long = _mm512_and_si512(_mm512_srli_epi64::<IS_LONG>(left_rest), byte);
    let ends = _mm512_and_si512(_mm512_srlv_epi64(here[BEFORE], last), is_long);
    let part = _mm512_or_si512(ends, _mm512_srlv_epi64(left(BEHIND), first));
    let whole = _mm512_srlv_epi64(left(FOLLOWERS), group);
    [_mm512_test_epi64_mask(part, one), _mm512_test_epi64_mask(whole, one)]
}
