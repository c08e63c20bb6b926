//! Prefetching: starts loading memory before it is read, so that several cache lines arrive at the same time.
//!
//! A processor runs ahead by some hundred instructions, and by itself loads only what these read. Prefetched memory has
//! arrived by the time it is read. On processors other than x86-64 and 64-bit Arm, nothing is prefetched.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(
        unsafe_code,
        reason = "an instruction; known pieces are found in two thirds of the time"
    )
)]

/// Prefetches the value at an index, if there is one. Has no other effect.
#[inline]
pub(crate) fn prefetch<T>(values: &[T], place: usize) {
    let value = values.as_ptr().wrapping_add(place);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching does not read the value, so any address is allowed.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(value.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching does not read the value, so any address is allowed. No register, flag or stack is changed.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{value}]", value = in(reg) value, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}

/// How much of a text is prefetched, in bytes.
const BEGINNING_LEN: usize = 4 << 10;

/// The bytes of a line of the processor's cache.
const LINE_LEN: usize = 64;

/// Prefetches the beginning of the text that is encoded next. The processor predicts further reads by itself, but not
/// where they begin.
pub(crate) fn prefetch_beginning(text: &[u8]) {
    let n_bytes = text.len().min(BEGINNING_LEN);
    (0..n_bytes).step_by(LINE_LEN).for_each(|place| prefetch(text, place));
}
