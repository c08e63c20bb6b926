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

use super::key::Keyed;

/// Bytes of a vector.
pub(crate) const VECTOR_LEN: usize = 64;

/// A number whose every bit pattern is a value. Implemented only here.
pub(crate) trait Number: Copy {}
impl Number for u8 {}
impl Number for u32 {}
impl Number for u64 {}

/// Says that the processor has the instructions of all vectors of this crate: only [`Self::detect`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vectors(());

impl Vectors {
    /// This, if the processor has them and they may be used.
    pub(crate) fn detect() -> Option<Self> {
        (are_here() && bytepair_split::instructions() == "avx512").then_some(Self(()))
    }
}

/// A value of two words whose bytes are all those of its fields: it has no padding.
///
/// # Safety
/// A type that has padding must not be one of these: the bytes are read.
pub(crate) unsafe trait TwoWords {}

// SAFETY: a number has no padding.
unsafe impl TwoWords for u128 {}

fn are_here() -> bool {
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

/// The four words of a slot.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn load_row<V: TwoWords>(row: &Keyed<V>) -> __m256i {
    const { assert!(size_of::<Keyed<V>>() == VECTOR_LEN / 2, "a row is four words") };
    const { assert!(size_of::<V>() == size_of::<u128>(), "half of them are the value") };
    // SAFETY: a row is the 32 bytes that are read: a number, and behind it a value of as many bytes without padding. They
    // need no alignment.
    unsafe { _mm256_loadu_si256((&raw const *row).cast()) }
}
