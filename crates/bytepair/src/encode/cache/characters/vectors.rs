//! The classes of characters, eight at a time, with AVX-512: each class is some bits of their packed ids, and testing these
//! gives a bit for each character. The definition is [`CharacterKinds::one_by_one`].
//!
//! Cost: about a cycle for a character, where the definition takes 4.
#![expect(
    unsafe_code,
    reason = "vector instructions; with those of `cuts` new Chinese takes a tenth less time"
)]

use std::arch::x86_64::{_mm512_set1_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask};

use crate::piece::vectors::load;

use super::{ALL_BITS, CharacterKinds, FIRST, N_AT_ONCE};

/// What [`CharacterKinds::of`] gives. Call only where [`crate::piece::vectors::are_here`].
pub(super) fn kinds(all: &[u64; N_AT_ONCE], n_characters: usize) -> CharacterKinds {
    debug_assert!(crate::piece::vectors::are_here(), "vectors that the processor lacks");
    // SAFETY: callers come here only where `vectors::are_here` found these instructions.
    unsafe { kinds_by_eight(all, n_characters) }
}

#[target_feature(enable = "avx512f")]
fn kinds_by_eight(all: &[u64; N_AT_ONCE], n_characters: usize) -> CharacterKinds {
    let (mut known, mut first, mut several, mut new) = (0, 0, 0, 0);
    for (step, eight) in all.as_chunks::<8>().0.iter().enumerate() {
        let eight = load(eight);
        let has = |bits: u64| {
            let found = _mm512_test_epi64_mask(eight, _mm512_set1_epi64(bits.cast_signed()));
            u64::from(found) << (8 * step)
        };
        known |= has(3 << ALL_BITS);
        first |= has(FIRST);
        several |= has(2 << ALL_BITS);
        new |= u64::from(_mm512_testn_epi64_mask(eight, eight)) << (8 * step);
    }
    let here = (1 << n_characters) - 1;
    let (known, first) = (known & here, first & here);
    CharacterKinds { known, first, single: known & first & !several, new: new & here }
}
