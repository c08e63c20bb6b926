//! Prefetching: memory is fetched before it is read, so that several lines come at the same time.
//!
//! A processor runs ahead by some hundred instructions, and fetches at once only what these read. What was prefetched is
//! there when it is read. Other processors than x86-64 and 64-bit Arm prefetch nothing.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(
        unsafe_code,
        reason = "an instruction; known pieces are found in two thirds of the time"
    )
)]

/// Fetches the value at a place, if there is one. Nothing that can be seen changes.
#[inline]
pub(crate) fn prefetch<T>(values: &[T], place: usize) {
    let value = values.as_ptr().wrapping_add(place);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: what is prefetched is not read: any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(value.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: what is prefetched is not read: any address will do. No register, flag or stack is changed.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{value}]", value = in(reg) value, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
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
