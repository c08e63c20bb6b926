//! Rows of values in large pages, where the system has them and the row is large.
//!
//! What is looked up here and there in many small pages takes a second look-up each time, to find the page, and each
//! small page is a call of the system when it is first written. Large pages are a wish: a system that does not grant
//! it gives small ones, and nothing else changes. What grows while others wait wishes for small ones where large
//! ones were slow to come ([`crate::memory::fresh_pages`] says why).
#![expect(
    unsafe_code,
    reason = "standard vectors cannot be aligned; a third less time in large tables"
)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::memory::fresh_pages::populate;

/// The size of a large page, on most systems.
const PAGE_LEN: usize = 2 << 20;

/// The size of a cache line, on most processors.
const LINE_LEN: usize = 64;

/// The size of a small page, on most systems. Where it is larger, some advice is not taken.
const SMALL_PAGE_LEN: usize = 4 << 10;

/// Fewer small pages are not worth a call of the system.
const MIN_SMALL_PAGES: usize = 16;

/// What a large page takes at most to come and to be filled if all is well; as many small ones take about as long.
const QUICK: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(1) };

/// Smaller vectors, in bytes, have no large page in them, or hardly any.
const MIN_VECTOR_LEN: usize = 2 * PAGE_LEN;

/// A row that outgrows its room gets room for so many times as much as it needs, from so many bytes on: what is not used
/// of it costs nothing where the system does not count it, and the row is seldom moved. Where there is no such room less
/// has to do.
const ROOM_FACTORS: [(usize, usize); 4] = if cfg!(test) {
    [(0, 2), (256, 8), (2 << 10, 4), (4 << 10, 2)]
} else {
    [(0, 2), (512 << 10, 8), (16 << 20, 4), (256 << 20, 2)]
};

/// For so many vectors large pages are not asked for after they were slow to come.
const N_WITHOUT: usize = 16;

/// For how many vectors that is still so.
static N_LEFT_WITHOUT: AtomicUsize = AtomicUsize::new(0);

/// In which pages a row is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// For a row that is made once.
    Large,
    /// For one that grows while others wait: where they are slow to come, large ones take longer than what they
    /// save.
    Small,
}

impl Pages {
    /// Those that are quick to come as far as is known, for a row that [grows](LargeRow::fill_up_or_give_up) while
    /// others wait.
    pub(crate) fn quick() -> Self {
        if are_distrusted() { Self::Small } else { Self::Large }
    }
}

/// A row of so many values, which grows into room that it has from the beginning, or is given when it needs some.
pub struct LargeRow<T> {
    start: NonNull<T>,
    len: usize,
    /// How many values the memory holds. The system gives a page when it is first written.
    room: usize,
    pages: Pages,
}

// SAFETY: the row owns its values, as a vector does.
unsafe impl<T: Send> Send for LargeRow<T> {}
// SAFETY: a shared row gives out shared values alone.
unsafe impl<T: Sync> Sync for LargeRow<T> {}

impl<T> Default for LargeRow<T> {
    /// No values, and no room.
    fn default() -> Self {
        Self { start: NonNull::dangling(), len: 0, room: 0, pages: Pages::Large }
    }
}

impl<T: Copy> LargeRow<T> {
    /// `len` times the same value, at least once.
    pub(crate) fn filled(value: T, len: usize) -> Self {
        Self::filled_with_room(value, len, (len, Pages::Large))
    }

    /// The same, with room for `room` values.
    pub(crate) fn filled_with_room(value: T, len: usize, (room, pages): (usize, Pages)) -> Self {
        let mut row = Self::with_room(room.max(len), pages);
        row.fill_up(value, len);
        row
    }

    /// No values, and room for `room` of them.
    ///
    /// # Panics
    /// Where so many values would take more bytes than there are addresses.
    pub fn with_room(room: usize, pages: Pages) -> Self {
        Self::try_with_room(room, pages).unwrap_or_else(|| match layout::<T>(room) {
            Some(layout) => handle_alloc_error(layout),
            None => panic!("a row of {room} values does not fit in memory"),
        })
    }

    /// The same; `None` where there is no memory for so many.
    fn try_with_room(room: usize, pages: Pages) -> Option<Self> {
        let layout = layout::<T>(room)?;
        // SAFETY: the layout has a size, since `room` is not 0 and the type is no empty one (`layout` checks both).
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start.cast::<T>())?;
        if pages == Pages::Large {
            ask_for_large_pages(start.as_ptr().cast(), layout.size());
        }
        Some(Self { start, len: 0, room, pages })
    }

    /// How long the row can become in its place.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Makes room for so many values in all.
    #[inline]
    pub(crate) fn reserve(&mut self, len: usize) {
        if len > self.room {
            self.make_room(len);
        }
    }

    /// Moves the row to where there is room for more than so many.
    #[cold]
    fn make_room(&mut self, len: usize) {
        let n_bytes = len.saturating_mul(size_of::<T>());
        let is_for_it = |&&(least, _): &&(usize, usize)| least <= n_bytes;
        let factor = ROOM_FACTORS.iter().rfind(is_for_it).map_or(2, |&(_, factor)| factor);
        let rooms = [len.saturating_mul(factor), len.saturating_mul(2)];
        let roomy = rooms.into_iter().find_map(|room| Self::try_with_room(room, self.pages));
        let mut longer = roomy.unwrap_or_else(|| Self::with_room(len + len / 4, self.pages));
        // SAFETY: the values lie in two places, each of which has room for them.
        unsafe { longer.start.copy_from_nonoverlapping(self.start, self.len) };
        longer.len = self.len;
        *self = longer;
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.reserve(self.len + 1);
        // SAFETY: there is room for one more.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: as before; it holds no value yet.
        unsafe { place.write(value) };
        self.len += 1;
    }

    /// Appends a value until there are `len`, and makes room for them where there is none.
    #[inline]
    pub(crate) fn lengthen(&mut self, value: T, len: usize) {
        self.reserve(len);
        self.fill_up(value, len);
    }

    /// Appends a value until there are `len`, which the row has room for.
    #[inline]
    pub(crate) fn fill_up(&mut self, value: T, len: usize) {
        assert!(len <= self.room, "{len} values in room for {}", self.room);
        let n_new = len.saturating_sub(self.len);
        let new = self.start.as_ptr().wrapping_add(self.len);
        if self.pages == Pages::Small {
            ask_for_small_pages(new.cast(), n_new * size_of::<T>());
        }
        for place in 0..n_new {
            // SAFETY: the memory has room for `len` values.
            let place = unsafe { new.add(place) };
            // SAFETY: as before; it holds none yet.
            unsafe { place.write(value) };
        }
        self.len = self.len.max(len);
    }

    /// The same, one large page after the other; if one is slow to come, the rest of the room has small ones.
    pub(crate) fn fill_up_or_give_up(&mut self, value: T, len: usize) {
        const { assert!(0 < size_of::<T>() && size_of::<T>() <= PAGE_LEN, "a page holds values") };
        let n_in_page = PAGE_LEN / size_of::<T>();
        while self.pages == Pages::Large && self.len + n_in_page <= len {
            let began = Instant::now();
            self.fill_up(value, self.len + n_in_page);
            if began.elapsed() > QUICK {
                distrust();
                self.pages = Pages::Small;
                let n_used = self.len * size_of::<T>();
                let rest = self.start.as_ptr().cast::<u8>().wrapping_add(n_used);
                refuse_large_pages(rest, self.room * size_of::<T>() - n_used);
            }
        }
        self.fill_up(value, len);
    }
}

impl<T> LargeRow<T> {
    /// Keeps the first `len` values, or all.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives the memory of the room behind the values back to the system, where it is much. The room stays.
    pub(crate) fn give_back(&mut self) {
        let (n_used, n_bytes) = (self.len * size_of::<T>(), self.room * size_of::<T>());
        if n_bytes - n_used >= PAGE_LEN {
            let idle = self.start.as_ptr().cast::<u8>().wrapping_add(n_used);
            // SAFETY: these bytes belong to the row, and hold no values; its memory ends with a large page.
            unsafe { forget(idle, n_bytes - n_used) };
        }
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
        let Some(layout) = layout::<T>(self.room) else { return };
        // SAFETY: it was allocated with this layout. The values are `Copy`: there is nothing to drop of them.
        unsafe { dealloc(self.start.as_ptr().cast(), layout) };
    }
}

impl<T: fmt::Debug> fmt::Debug for LargeRow<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

/// Large rows begin at a large page and end with one, as [`forget`] needs; others begin at a cache line. `None` for rows
/// without bytes, and for those that no memory could hold.
fn layout<T>(len: usize) -> Option<Layout> {
    let layout = Layout::array::<T>(len).ok().filter(|layout| layout.size() > 0)?;
    match layout.size() {
        PAGE_LEN.. => layout.align_to(PAGE_LEN).ok().map(|layout| layout.pad_to_align()),
        _ => layout.align_to(LINE_LEN).ok(),
    }
}

/// Makes room in a vector for so many more values, in large pages where whole ones lie within. The number may be a guess:
/// where there is no memory for so many, the vector stays as it is.
///
/// The small page in which it begins is asked for too: a block of the allocator's that had two kinds of pages could not
/// be moved when the vector grows.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n_more: usize) {
    if values.capacity() - values.len() >= n_more {
        return;
    }
    if values.try_reserve_exact(n_more).is_err() {
        return;
    }
    let size = values.capacity() * size_of::<T>();
    if size >= MIN_VECTOR_LEN && are_trusted() {
        ask_for_large_pages(values.as_mut_ptr().cast(), size);
    }
}

/// Whether large pages were quick to come lately, as far as is known.
fn are_trusted() -> bool {
    let one_less = |n_left: usize| n_left.checked_sub(1);
    N_LEFT_WITHOUT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
}

/// Whether large pages were slow to come lately.
pub(crate) fn are_distrusted() -> bool {
    N_LEFT_WITHOUT.load(Ordering::Relaxed) > 0
}

/// Says that pages were slow to come.
pub(crate) fn distrust() {
    N_LEFT_WITHOUT.store(N_WITHOUT, Ordering::Relaxed);
}

/// Takes back that large pages were asked for a vector, where it has none yet.
pub(crate) fn give_up<T>(values: &mut Vec<T>) {
    let size = values.capacity() * size_of::<T>();
    if size >= MIN_VECTOR_LEN {
        refuse_large_pages(values.as_mut_ptr().cast(), size);
    }
}

/// For all small pages that have a part of this memory.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: *mut u8, size: usize) {
    advise(start, size, libc::MADV_HUGEPAGE);
}

#[cfg(target_os = "linux")]
fn refuse_large_pages(start: *mut u8, size: usize) {
    advise(start, size, libc::MADV_NOHUGEPAGE);
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize, advice: libc::c_int) {
    if size >= PAGE_LEN {
        let n_before = start.addr() % SMALL_PAGE_LEN;
        let size = (size + n_before).next_multiple_of(SMALL_PAGE_LEN);
        let start = start.wrapping_sub(n_before);
        // SAFETY: the range begins at a page, and the advice changes nothing of what is in it, whoever owns it.
        unsafe { libc::madvise(start.cast(), size, advice) };
    }
}

/// Lets the system take the small pages that are all in this memory.
///
/// # Safety
/// Nobody must need what the memory holds, nor what is behind it up to the next multiple of [`PAGE_LEN`]: a system whose
/// small pages are larger takes whole ones of these.
#[cfg(target_os = "linux")]
unsafe fn forget(start: *mut u8, size: usize) {
    let n_before = start.addr().next_multiple_of(SMALL_PAGE_LEN) - start.addr();
    let len = size.saturating_sub(n_before) / SMALL_PAGE_LEN * SMALL_PAGE_LEN;
    // SAFETY: the pages are in this memory, which the caller no longer needs.
    unsafe { libc::madvise(start.wrapping_add(n_before).cast(), len, libc::MADV_DONTNEED) };
}

/// Elsewhere it keeps them.
#[cfg(not(target_os = "linux"))]
unsafe fn forget(_start: *mut u8, _size: usize) {}

/// Elsewhere there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_start: *mut u8, _size: usize) {}

#[cfg(not(target_os = "linux"))]
fn refuse_large_pages(_start: *mut u8, _size: usize) {}

/// Asks for the small pages that are all in this memory.
fn ask_for_small_pages(start: *mut u8, size: usize) {
    let n_before = start.addr().next_multiple_of(SMALL_PAGE_LEN) - start.addr();
    let n_pages = size.saturating_sub(n_before) / SMALL_PAGE_LEN;
    if n_pages >= MIN_SMALL_PAGES {
        populate(start.wrapping_add(n_before), n_pages * SMALL_PAGE_LEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_grows_into_its_room() {
        let n_page = PAGE_LEN / 8;
        for pages in [Pages::Large, Pages::Small] {
            grow(n_page, pages);
        }
    }

    #[test]
    fn a_row_that_gives_large_pages_up_keeps_its_values_and_grows_on() {
        let n_page = PAGE_LEN / 8;
        let mut row = LargeRow::with_room(6 * n_page, Pages::Large);
        // Any time is too long here.
        for (len, pages) in
            [(5, Pages::Large), (2 * n_page, Pages::Small), (6 * n_page, Pages::Small)]
        {
            row.fill_up_or_give_up(len, len);
            assert_eq!((row.len(), row.pages), (len, pages));
        }
        let expected =
            |place: usize| [5, 2 * n_page, 6 * n_page].into_iter().find(|&len| place < len);
        assert!(row.iter().enumerate().all(|(place, &value)| Some(value) == expected(place)));
    }

    #[test]
    fn what_is_given_back_is_room_again_and_values_stay() {
        let n_page = PAGE_LEN / 4;
        let lens = [0, 5, n_page, 2 * n_page + 1, 4 * n_page];
        for (len, room) in
            lens.into_iter().flat_map(|len| [(len, 4 * n_page), (len, 4 * n_page + 5)])
        {
            let mut row = LargeRow::filled(7_u32, room);
            row.truncate(len);
            row.give_back();
            assert_eq!((row.len(), row.room()), (len, room));
            row.fill_up(9, room);
            assert!(row[..len].iter().all(|&value| value == 7));
            assert!(row[len..].iter().all(|&value| value == 9));
        }
    }

    #[test]
    fn a_row_that_no_memory_could_hold_is_refused() {
        assert!(LargeRow::<u64>::try_with_room(usize::MAX / 8, Pages::Large).is_none());
        assert!(LargeRow::<u64>::try_with_room(usize::MAX / 16, Pages::Large).is_none());
    }

    #[test]
    fn a_row_without_room_moves_to_where_there_is_some() {
        let mut row = LargeRow::default();
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

    fn grow(n_page: usize, pages: Pages) {
        let mut row = LargeRow::filled_with_room(7_u64, n_page / 2, (4 * n_page, pages));
        row[0] = 1;
        for len in [n_page, 3 * n_page + 5, 4 * n_page] {
            row.fill_up(9, len);
            assert_eq!((row.len(), row[0], row[n_page / 2 - 1], row[len - 1]), (len, 1, 7, 9));
        }
        assert_eq!(row.room(), row.len());
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
