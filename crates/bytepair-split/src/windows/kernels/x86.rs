//! Registers of 16, 32 and 64 bytes on x86: SSSE3, AVX2 and AVX-512.
//!
//! The loops are in [`super::loops`].
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

#[cfg(target_arch = "x86")]
use std::arch::x86 as arch;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

use self::arch::{
    __m128i, __m256i, __m512i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi64x,
    _mm_shuffle_epi8, _mm_subs_epi8, _mm_xor_si128, _mm256_and_si256, _mm256_cmpeq_epi8,
    _mm256_movemask_epi8, _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_subs_epi8,
    _mm256_xor_si256, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_movepi8_mask,
    _mm512_movm_epi8, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_subs_epi8, _mm512_xor_si512,
};
use super::loops::{MAX_REGISTERS, vectors};
use crate::windows::tables::WORD;

vectors! {
    /// Stands for a processor with SSSE3.
    struct Ssse3 called "ssse3" needs "ssse3", which is_x86_feature_detected!("ssse3");
    4 registers of __m128i;
    and is _mm_and_si128,
    xor is _mm_xor_si128,
    equal is _mm_cmpeq_epi8,
    shuffle is _mm_shuffle_epi8,
    minus is _mm_subs_epi8;

    fn fill(bytes: u64) -> __m128i {
        _mm_set1_epi64x(bytes.cast_signed())
    }

    fn bits(word: [__m128i; MAX_REGISTERS]) -> u64 {
        let mut bits = 0;
        for register in word.into_iter().rev() {
            bits = bits << 16 | u64::from(_mm_movemask_epi8(register).cast_unsigned());
        }
        bits
    }
}

vectors! {
    /// Stands for a processor with AVX2.
    struct Avx2 called "avx2" needs "avx2,bmi1,popcnt",
        which is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
    2 registers of __m256i;
    and is _mm256_and_si256,
    xor is _mm256_xor_si256,
    equal is _mm256_cmpeq_epi8,
    shuffle is _mm256_shuffle_epi8,
    minus is _mm256_subs_epi8;

    fn fill(bytes: u64) -> __m256i {
        _mm256_set1_epi64x(bytes.cast_signed())
    }

    fn bits(word: [__m256i; MAX_REGISTERS]) -> u64 {
        let low = u64::from(_mm256_movemask_epi8(word[0]).cast_unsigned());
        low | u64::from(_mm256_movemask_epi8(word[1]).cast_unsigned()) << 32
    }
}

vectors! {
    /// Stands for a processor with AVX-512.
    struct Avx512 called "avx512" needs "avx512bw,bmi1,popcnt",
        which is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
    1 registers of __m512i;
    and is _mm512_and_si512,
    xor is _mm512_xor_si512,
    shuffle is _mm512_shuffle_epi8,
    minus is _mm512_subs_epi8;

    fn equal(one: __m512i, other: __m512i) -> __m512i {
        _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(one, other))
    }

    fn fill(bytes: u64) -> __m512i {
        _mm512_set1_epi64(bytes.cast_signed())
    }

    fn bits(word: [__m512i; MAX_REGISTERS]) -> u64 {
        _mm512_movepi8_mask(word[0])
    }
}
