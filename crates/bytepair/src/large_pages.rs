//! Rows of values in large pages, where the system has them and the row is large.
//!
//! What is looked up here and there in many small pages takes a second look-up each time, to find the page, and each
//! small page is a call of the system when it is first written. Large pages are a wish: a system that does not grant
//! it gives small ones, and nothing else changes.
#![expect(
    unsafe_code,
    reason = "standard vectors cannot be aligned; a third less time in large tables"
)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The size of a large page, on most systems.
const PAGE_LEN: usize = 2 << 20;

/// The size of a cache line, on most processors.
const LINE_LEN: usize = 64;

/// A row of so many values, which never grows.
pub(crate) struct LargeRow<T> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: the row owns its values, as a vector does.
unsafe impl<T: Send> Send for LargeRow<T> {}
// SAFETY: a shared row gives out shared values alone.
unsafe impl<T: Sync> Sync for LargeRow<T> {}

impl<T: Copy> LargeRow<T> {
    /// `len` times the same value, at least once.
    pub(crate) fn filled(value: T, len: usize) -> Self {
        let layout = layout::<T>(len);
        // SAFETY: the layout has a size, since `len` is not 0 and the type is no empty one (`layout` checks both).
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start.cast::<T>()) else { handle_alloc_error(layout) };
        ask_for_large_pages(start.as_ptr().cast(), layout.size());
        for place in 0..len {
            // SAFETY: the memory has room for `len` values.
            let place = unsafe { start.add(place) };
            // SAFETY: as before; it holds none yet.
            unsafe { place.write(value) };
        }
        Self { start, len }
    }
}

impl<T> Deref for LargeRow<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` values were written, and the row owns them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for LargeRow<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for shared values; nobody else has the row.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for LargeRow<T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout. The values are `Copy`: there is nothing to drop of them.
        unsafe { dealloc(self.start.as_ptr().cast(), layout::<T>(self.len)) };
    }
}

impl<T: fmt::Debug> fmt::Debug for LargeRow<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

/// Large rows begin at a large page, others at a cache line.
fn layout<T>(len: usize) -> Layout {
    let layout = Layout::array::<T>(len).ok().filter(|layout| layout.size() > 0);
    let aligned = layout.and_then(|layout| match layout.size() {
        PAGE_LEN.. => layout.align_to(PAGE_LEN).ok(),
        _ => layout.align_to(LINE_LEN).ok(),
    });
    let Some(layout) = aligned else { panic!("a row of {len} values has no place in memory") };
    layout
}

/// Makes room in a vector for so many more values, in large pages where whole ones lie within.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n_more: usize) {
    if values.capacity() - values.len() >= n_more {
        return;
    }
    values.reserve_exact(n_more);
    let (start, n_bytes) = (values.as_mut_ptr().cast::<u8>(), values.capacity() * size_of::<T>());
    let n_before = start.align_offset(PAGE_LEN);
    if n_before < n_bytes {
        ask_for_large_pages(start.wrapping_add(n_before), n_bytes - n_before);
    }
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: *mut u8, size: usize) {
    if size >= PAGE_LEN {
        // SAFETY: the range was allocated, begins at a page, and the advice changes nothing of what is in it.
        unsafe { libc::madvise(start.cast(), size / PAGE_LEN * PAGE_LEN, libc::MADV_HUGEPAGE) };
    }
}

/// Elsewhere there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_start: *mut u8, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_any_length_holds_its_values_and_takes_others() {
        for len in [1, 1000, PAGE_LEN / 8, PAGE_LEN / 8 * 3 + 5] {
            let mut row = LargeRow::filled(7_u64, len);
            assert!(row.len() == len && row.iter().all(|&value| value == 7));
            row[len - 1] = 8;
            assert_eq!(row.iter().sum::<u64>(), 7 * len as u64 + 1);
        }
    }
}
