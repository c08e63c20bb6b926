//! Vectors of 64 bytes, with AVX-512: whether the processor has them, and how they are read and written.
//!
//! Where its instructions are enabled, an intrinsic on values is safe. One that takes a pointer is not, since a pointer
//! does not say how much memory is behind it. A slice does: so these functions are safe, and the vectors of this crate
//! need no other unsafe step than the one that enters them.
//!
//! Cost: an instruction each.
#![expect(unsafe_code, reason = "reading and writing vectors takes pointers")]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
};

/// Bytes of a vector.
pub(crate) const VECTOR_LEN: usize = 64;

/// A number whose every bit pattern is a value. Implemented only here.
pub(crate) trait Number: Copy {}
impl Number for u8 {}
impl Number for u32 {}
impl Number for u64 {}

/// Whether the processor has the instructions of all vectors of this crate.
pub(crate) fn are_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// The first 64 bytes of a row of numbers.
///
/// # Panics
/// If it has fewer.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn load<T: Number>(numbers: &[T]) -> __m512i {
    let numbers = &numbers[..VECTOR_LEN / size_of::<T>()];
    // SAFETY: the slice has the 64 bytes that are read. They need no alignment.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Writes a vector over the first 64 bytes of a row of numbers.
///
/// # Panics
/// If it has fewer.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn store<T: Number>(vector: __m512i, numbers: &mut [T]) {
    let numbers = &mut numbers[..VECTOR_LEN / size_of::<T>()];
    // SAFETY: the slice has the 64 bytes that are written, and its numbers may have any bits. They need no alignment.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) };
}

/// A row of four words, which has no padding.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn load_row<T>(row: &T) -> __m256i {
    const { assert!(size_of::<T>() == VECTOR_LEN / 2, "a row is four words") };
    // SAFETY: a row is the 32 bytes that are read. They need no alignment.
    unsafe { _mm256_loadu_si256((&raw const *row).cast()) }
}
