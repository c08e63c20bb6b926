//! Rows of values in huge pages, where the system has them and the row is large.
//!
//! A table that is read here and there over many small pages costs a second lookup each time, to find the page, and each
//! small page interrupts the program when it is first written. So rows of 2 MiB and more begin at a multiple of a huge
//! page and ask for huge pages. This is advice: a system that does not grant it gives small pages, and nothing else changes.
//!
//! Left out: waiting. No clock decides whether huge pages are quick to come; `benchmarks/tried` has the figures.
//!
//! Cost: appending is amortised constant; a row never moves within its room.
#![expect(
    unsafe_code,
    reason = "standard vectors cannot be aligned; large tables take a third less time"
)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The size of a huge page, on most systems.
const PAGE_LEN: usize = 2 << 20;

/// The size of a cache line, on most processors.
const LINE_LEN: usize = 64;

/// The size of a small page, on most systems. If it is larger, some advice is not taken.
#[cfg(target_os = "linux")]
const SMALL_PAGE_LEN: usize = 4 << 10;

/// Smaller vectors, in bytes, contain no whole huge page, or hardly any.
const MIN_VECTOR_LEN: usize = 2 * PAGE_LEN;

/// A row of values, which grows into the room that it has from the beginning, or moves when it needs more.
pub struct HugePageRow<T> {
    start: NonNull<T>,
    len: usize,
    /// How many values the memory holds. The system gives a page when it is first written.
    room: usize,
}

// SAFETY: the row owns its values, as a vector does.
unsafe impl<T: Send> Send for HugePageRow<T> {}
// SAFETY: a shared row gives out only shared values.
unsafe impl<T: Sync> Sync for HugePageRow<T> {}

impl<T> Default for HugePageRow<T> {
    /// A row without values or room.
    fn default() -> Self {
        Self { start: NonNull::dangling(), len: 0, room: 0 }
    }
}

impl<T: Copy> HugePageRow<T> {
    /// `len` times the same value, at least once.
    pub(crate) fn filled(value: T, len: usize) -> Self {
        let mut row = Self::with_room(len);
        row.lengthen(value, len);
        row
    }

    /// A row without values that has room for `room` of them.
    ///
    /// # Panics
    /// If this many values would take more bytes than there are addresses.
    pub fn with_room(room: usize) -> Self {
        Self::try_with_room(room).unwrap_or_else(|| match layout::<T>(room) {
            Some(layout) => handle_alloc_error(layout),
            None => panic!("a row of {room} values does not fit in memory"),
        })
    }

    /// A row without values that has room for `room` of them; `None` if there is no memory for so many.
    pub(crate) fn try_with_room(room: usize) -> Option<Self> {
        let layout = layout::<T>(room)?;
        // SAFETY: the layout has a size, since `room` is not 0 and the type is no empty one (`layout` checks both).
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start.cast::<T>())?;
        advise_huge_pages(start.as_ptr().cast(), layout.size());
        Some(Self { start, len: 0, room })
    }

    /// How long the row can become in its place.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Makes room for this many values in all.
    #[inline]
    pub(crate) fn reserve(&mut self, len: usize) {
        if len > self.room {
            self.make_room(len);
        }
    }

    /// Moves the row to if there is room for twice as many, or for a quarter more where memory is short.
    #[cold]
    fn make_room(&mut self, len: usize) {
        let roomy = Self::try_with_room(len.saturating_mul(2));
        let mut longer = roomy.unwrap_or_else(|| Self::with_room(len + len / 4));
        for (place, &value) in longer.spare().iter_mut().zip(&**self) {
            place.write(value);
        }
        longer.len = self.len;
        *self = longer;
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.reserve(self.len + 1);
        self.spare()[0].write(value);
        self.len += 1;
    }

    /// Appends a value until there are `len`, and makes room for them if there is none.
    #[inline]
    pub(crate) fn lengthen(&mut self, value: T, len: usize) {
        self.reserve(len);
        let n_new = len.saturating_sub(self.len);
        self.spare()[..n_new].fill(MaybeUninit::new(value));
        self.len += n_new;
    }

    /// The room after the values.
    #[inline]
    fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        let start = self.start.as_ptr().wrapping_add(self.len).cast();
        // SAFETY: the memory has room for `room` values, `len` of them come before, and nobody else has the row; whatever
        // it holds may be called uninitialised.
        unsafe { std::slice::from_raw_parts_mut(start, self.room - self.len) }
    }
}

impl<T> HugePageRow<T> {
    /// Keeps the first `len` values, or all.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives the memory of the room after the values back to the system, where it is much. The room stays.
    pub(crate) fn give_back(&mut self) {
        let (n_used, n_bytes) = (self.len * size_of::<T>(), self.room * size_of::<T>());
        if n_bytes - n_used >= PAGE_LEN {
            let idle = self.start.as_ptr().cast::<u8>().wrapping_add(n_used);
            // SAFETY: these bytes belong to the row, and hold no values; its memory ends with a huge page.
            unsafe { forget(idle, n_bytes - n_used) };
        }
    }
}

impl<T> Deref for HugePageRow<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` values were written, and the row owns them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for HugePageRow<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for shared values; nobody else has the row.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for HugePageRow<T> {
    fn drop(&mut self) {
        let Some(layout) = layout::<T>(self.room) else { return };
        // SAFETY: it was allocated with this layout. The values are `Copy`: there is nothing to drop of them.
        unsafe { dealloc(self.start.as_ptr().cast(), layout) };
    }
}

impl<T: fmt::Debug> fmt::Debug for HugePageRow<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

/// Large rows begin at a huge page and end with one, as [`forget`] needs; others begin at a cache line. `None` for rows
/// without bytes, and for those that no memory could hold.
fn layout<T>(len: usize) -> Option<Layout> {
    let layout = Layout::array::<T>(len).ok().filter(|layout| layout.size() > 0)?;
    match layout.size() {
        PAGE_LEN.. => layout.align_to(PAGE_LEN).ok().map(|layout| layout.pad_to_align()),
        _ => layout.align_to(LINE_LEN).ok(),
    }
}

/// Makes room in a vector for this many more values, in huge pages where whole ones lie within. The number may be a guess:
/// if there is no memory for so many, the vector stays as it is.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n_more: usize) {
    if values.capacity() - values.len() >= n_more || values.try_reserve_exact(n_more).is_err() {
        return;
    }
    let size = values.capacity() * size_of::<T>();
    if size >= MIN_VECTOR_LEN {
        advise_huge_pages(values.as_mut_ptr().cast(), size);
    }
}

/// Advises huge pages for this memory, the small page in which it begins included: a block of the allocator's that had
/// two kinds of pages could not be moved when a vector grows.
#[cfg(target_os = "linux")]
fn advise_huge_pages(start: *mut u8, size: usize) {
    if size >= PAGE_LEN {
        let n_before = start.addr() % SMALL_PAGE_LEN;
        let size = (size + n_before).next_multiple_of(SMALL_PAGE_LEN);
        let start = start.wrapping_sub(n_before);
        // SAFETY: the range begins at a page, and the advice changes nothing of what is in it, whoever owns it.
        unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
    }
}

/// Other systems take no such advice.
#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_start: *mut u8, _size: usize) {}

/// Lets the system take the small pages that are all in this memory.
///
/// # Safety
/// Nobody must need what the memory holds, nor what follows it up to the next multiple of [`PAGE_LEN`]: a system whose
/// small pages are larger takes whole ones of these.
#[cfg(target_os = "linux")]
unsafe fn forget(start: *mut u8, size: usize) {
    let n_before = start.addr().next_multiple_of(SMALL_PAGE_LEN) - start.addr();
    let len = size.saturating_sub(n_before) / SMALL_PAGE_LEN * SMALL_PAGE_LEN;
    // SAFETY: the pages are in this memory, which the caller no longer needs.
    unsafe { libc::madvise(start.wrapping_add(n_before).cast(), len, libc::MADV_DONTNEED) };
}

/// Other systems keep them.
#[cfg(not(target_os = "linux"))]
unsafe fn forget(_start: *mut u8, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_grows_into_its_room() {
        let n_page = PAGE_LEN / 8;
        let mut row = HugePageRow::with_room(4 * n_page);
        row.lengthen(7_u64, n_page / 2);
        row[0] = 1;
        let start = row.as_ptr();
        for len in [n_page, 3 * n_page + 5, 4 * n_page] {
            row.lengthen(9, len);
            assert_eq!((row.len(), row[0], row[n_page / 2 - 1], row[len - 1]), (len, 1, 7, 9));
        }
        assert_eq!((row.room(), row.as_ptr()), (row.len(), start));
    }

    #[test]
    fn what_is_given_back_is_room_again_and_values_stay() {
        let n_page = PAGE_LEN / 4;
        let lens = [0, 5, n_page, 2 * n_page + 1, 4 * n_page];
        for (len, room) in
            lens.into_iter().flat_map(|len| [(len, 4 * n_page), (len, 4 * n_page + 5)])
        {
            let mut row = HugePageRow::filled(7_u32, room);
            row.truncate(len);
            row.give_back();
            assert_eq!((row.len(), row.room()), (len, room));
            row.lengthen(9, room);
            assert!(row[..len].iter().all(|&value| value == 7));
            assert!(row[len..].iter().all(|&value| value == 9));
        }
    }

    #[test]
    fn a_row_that_no_memory_could_hold_is_refused() {
        assert!(HugePageRow::<u64>::try_with_room(usize::MAX / 8).is_none());
        assert!(HugePageRow::<u64>::try_with_room(usize::MAX / 16 + 1).is_none());
    }

    #[test]
    fn a_row_without_room_moves_to_where_there_is_some() {
        let mut row = HugePageRow::default();
        for len in [0, 1, 3, 40, 41, 500, 500, 2000, 3 * PAGE_LEN / 4] {
            row.lengthen(0_u32, len);
            (0..).zip(&mut row[..]).for_each(|(number, value)| *value = number);
            row.push(u32::MAX);
            assert!(row.len() == len + 1 && row.room() > len && row[len] == u32::MAX);
            row.truncate(len);
            row.reserve(2 * len);
            assert!((0..).zip(&row[..]).all(|(number, &value)| value == number));
        }
    }

    #[test]
    fn a_vector_of_any_room_takes_values_and_grows() {
        for len in [0, 1000, PAGE_LEN / 2, PAGE_LEN * 3 + 7] {
            let mut row: Vec<u32> = Vec::new();
            reserve(&mut row, len);
            assert!(row.is_empty() && row.capacity() >= len);
            row.extend((0..).take(2 * len));
            assert!((0..).zip(&row).all(|(number, &value)| value == number));
        }
    }
}
