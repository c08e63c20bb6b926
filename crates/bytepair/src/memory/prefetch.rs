//! Prefetching: memory is fetched before it is read, so that several lines come at the same time.
//!
//! A processor runs ahead by some hundred instructions, and fetches at once only what these read. What was prefetched is
//! there when it is read. Where the language has no instruction for it, the value is read, which fetches it too.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "an instruction; a large corpus is merged in a tenth less time")
)]

/// Fetches the value at a place, if there is one. Nothing that can be seen changes.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch<T>(values: &[T], place: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let value = values.as_ptr().wrapping_add(place);
    // SAFETY: what is prefetched is not read: any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(value.cast()) };
}

/// Reads the value at a place, if there is one.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn prefetch<T: Copy>(values: &[T], place: usize) {
    std::hint::black_box(values.get(place).copied());
}

/// How much of a text is fetched, in bytes.
const BEGINNING_LEN: usize = 4 << 10;

/// The bytes of a line of the processor's cache.
const LINE_LEN: usize = 64;

/// Fetches the beginning of the text that is encoded next: the processor sees by itself how reading goes on, but not where
/// it begins.
pub(crate) fn prefetch_beginning(text: &[u8]) {
    let n_bytes = text.len().min(BEGINNING_LEN);
    (0..n_bytes).step_by(LINE_LEN).for_each(|place| prefetch(text, place));
}
