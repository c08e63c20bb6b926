//! Registers of 16, 32 and 64 bytes on x86: SSSE3, AVX2 and AVX-512 (BW).
//!
//! A look-up in a table of 16 takes the low four bits of a place. So the letters of ASCII are in eight tables, each of
//! which holds how it differs from the one before:
//!
//! ```text
//! for each part n:
//!     place = byte - 16 n, saturating, signed      negative where the part is behind the byte, or the byte no ASCII
//!     found = found ^ shuffle(part n ^ part n - 1, place)
//! ```
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
    __m128i, __m256i, __m512i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8,
    _mm_set1_epi8, _mm_set1_epi64x, _mm_shuffle_epi8, _mm_storeu_si128, _mm_subs_epi8,
    _mm_xor_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_set1_epi64x,
    _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_subs_epi8, _mm256_xor_si256, _mm512_and_si512,
    _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_movepi8_mask,
    _mm512_movm_epi8, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_shuffle_epi8,
    _mm512_storeu_si512, _mm512_subs_epi8, _mm512_xor_si512,
};
use super::loops::{MAX_REGISTERS, N_ASCII, N_PARTS, vectors};
use crate::windows::tables::{N_OF_TABLE, WORD};

vectors! {
    /// Stands for a processor with SSSE3.
    struct Ssse3 needs "ssse3", which is_x86_feature_detected!("ssse3");
    4 registers of __m128i;

    fn load(bytes: &[u8; WORD], part: usize) -> __m128i {
        load_16(&bytes.as_chunks().0[part])
    }

    fn store(bytes: &mut [u8; WORD], part: usize, register: __m128i) {
        let place: &mut [u8; 16] = &mut bytes.as_chunks_mut().0[part];
        // SAFETY: the array has the 16 bytes that are written, which need no alignment.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), register) }
    }

    fn fill(bytes: u64) -> __m128i {
        _mm_set1_epi64x(bytes.cast_signed())
    }

    fn table(bytes: &[u8; N_OF_TABLE]) -> __m128i {
        load_16(bytes)
    }

    fn and(one: __m128i, other: __m128i) -> __m128i {
        _mm_and_si128(one, other)
    }

    fn xor(one: __m128i, other: __m128i) -> __m128i {
        _mm_xor_si128(one, other)
    }

    fn equal(one: __m128i, other: __m128i) -> __m128i {
        _mm_cmpeq_epi8(one, other)
    }

    fn shuffle(bytes: __m128i, places: __m128i) -> __m128i {
        _mm_shuffle_epi8(bytes, places)
    }

    fn ascii(letters: &[u8; N_ASCII]) -> [__m128i; N_PARTS] {
        let mut tables = [_mm_set1_epi8(0); N_PARTS];
        for (table, part) in tables.iter_mut().zip(&differences(letters)) {
            *table = load_16(part);
        }
        tables
    }

    fn look_up_ascii(table: &[__m128i; N_PARTS], bytes: __m128i) -> __m128i {
        let (mut places, mut found) = (bytes, _mm_set1_epi8(0));
        for &part in table {
            found = _mm_xor_si128(found, _mm_shuffle_epi8(part, places));
            places = _mm_subs_epi8(places, _mm_set1_epi8(16));
        }
        found
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
    struct Avx2 needs "avx2,bmi1,popcnt",
        which is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
    2 registers of __m256i;

    fn load(bytes: &[u8; WORD], part: usize) -> __m256i {
        let place: &[u8; 32] = &bytes.as_chunks().0[part];
        // SAFETY: the array has the 32 bytes that are read, which need no alignment.
        unsafe { _mm256_loadu_si256(place.as_ptr().cast()) }
    }

    fn store(bytes: &mut [u8; WORD], part: usize, register: __m256i) {
        let place: &mut [u8; 32] = &mut bytes.as_chunks_mut().0[part];
        // SAFETY: the array has the 32 bytes that are written, which need no alignment.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), register) }
    }

    fn fill(bytes: u64) -> __m256i {
        _mm256_set1_epi64x(bytes.cast_signed())
    }

    fn table(bytes: &[u8; N_OF_TABLE]) -> __m256i {
        _mm256_broadcastsi128_si256(load_16(bytes))
    }

    fn and(one: __m256i, other: __m256i) -> __m256i {
        _mm256_and_si256(one, other)
    }

    fn xor(one: __m256i, other: __m256i) -> __m256i {
        _mm256_xor_si256(one, other)
    }

    fn equal(one: __m256i, other: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(one, other)
    }

    fn shuffle(bytes: __m256i, places: __m256i) -> __m256i {
        _mm256_shuffle_epi8(bytes, places)
    }

    fn ascii(letters: &[u8; N_ASCII]) -> [__m256i; N_PARTS] {
        let mut tables = [_mm256_set1_epi8(0); N_PARTS];
        for (table, part) in tables.iter_mut().zip(&differences(letters)) {
            *table = _mm256_broadcastsi128_si256(load_16(part));
        }
        tables
    }

    fn look_up_ascii(table: &[__m256i; N_PARTS], bytes: __m256i) -> __m256i {
        let (mut places, mut found) = (bytes, _mm256_set1_epi8(0));
        for &part in table {
            found = _mm256_xor_si256(found, _mm256_shuffle_epi8(part, places));
            places = _mm256_subs_epi8(places, _mm256_set1_epi8(16));
        }
        found
    }

    fn bits(word: [__m256i; MAX_REGISTERS]) -> u64 {
        let low = u64::from(_mm256_movemask_epi8(word[0]).cast_unsigned());
        low | u64::from(_mm256_movemask_epi8(word[1]).cast_unsigned()) << 32
    }
}

vectors! {
    /// Stands for a processor with AVX-512 for bytes.
    struct Avx512 needs "avx512f,avx512bw,bmi1,popcnt",
        which is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
    1 registers of __m512i;

    fn load(bytes: &[u8; WORD], _part: usize) -> __m512i {
        // SAFETY: the array has the 64 bytes that are read, which need no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    fn store(bytes: &mut [u8; WORD], _part: usize, register: __m512i) {
        // SAFETY: the array has the 64 bytes that are written, which need no alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
    }

    fn fill(bytes: u64) -> __m512i {
        _mm512_set1_epi64(bytes.cast_signed())
    }

    fn table(bytes: &[u8; N_OF_TABLE]) -> __m512i {
        _mm512_broadcast_i32x4(load_16(bytes))
    }

    fn and(one: __m512i, other: __m512i) -> __m512i {
        _mm512_and_si512(one, other)
    }

    fn xor(one: __m512i, other: __m512i) -> __m512i {
        _mm512_xor_si512(one, other)
    }

    fn equal(one: __m512i, other: __m512i) -> __m512i {
        _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(one, other))
    }

    fn shuffle(bytes: __m512i, places: __m512i) -> __m512i {
        _mm512_shuffle_epi8(bytes, places)
    }

    fn ascii(letters: &[u8; N_ASCII]) -> [__m512i; N_PARTS] {
        let mut tables = [_mm512_set1_epi8(0); N_PARTS];
        for (table, part) in tables.iter_mut().zip(&differences(letters)) {
            *table = _mm512_broadcast_i32x4(load_16(part));
        }
        tables
    }

    fn look_up_ascii(table: &[__m512i; N_PARTS], bytes: __m512i) -> __m512i {
        let (mut places, mut found) = (bytes, _mm512_set1_epi8(0));
        for &part in table {
            found = _mm512_xor_si512(found, _mm512_shuffle_epi8(part, places));
            places = _mm512_subs_epi8(places, _mm512_set1_epi8(16));
        }
        found
    }

    fn bits(word: [__m512i; MAX_REGISTERS]) -> u64 {
        _mm512_movepi8_mask(word[0])
    }
}

/// The tables of ASCII, each as how it differs from the one before.
fn differences(letters: &[u8; N_ASCII]) -> [[u8; N_OF_TABLE]; N_PARTS] {
    let (parts, _) = letters.as_chunks::<N_OF_TABLE>();
    let mut tables = [[0; N_OF_TABLE]; N_PARTS];
    for (number, table) in tables.iter_mut().enumerate() {
        *table = parts[number];
        if number > 0 {
            table.iter_mut().zip(parts[number - 1]).for_each(|(byte, before)| *byte ^= before);
        }
    }
    tables
}

#[target_feature(enable = "sse2")]
#[inline]
fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has the 16 bytes that are read, which need no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}
