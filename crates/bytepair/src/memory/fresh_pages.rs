//! Memory that was never written, asked of the system before it is.
//!
//! A system gives a page when it is first written, by an interruption each time: three microseconds for four
//! kilobytes on some virtual machines, as long as it takes to encode the text whose ids fill them. Asked for some
//! hundred kilobytes at once, pages take half of that. Large ones ([`crate::memory::large_pages`]) take less still, a tenth of a millisecond for
//! a megabyte, but not where the machine is a virtual one that hands idle memory back to its host: it does so in large
//! pages, and getting one again may take six milliseconds. So they are timed. Memory that was used before has its pages;
//! it is asked which, a tenth of the work of asking for them.
//!
//! All this is a wish: a system that does not know it gives pages as before.
#![expect(unsafe_code, reason = "calls of the system; new text is encoded in a fifth less time")]

use std::time::{Duration, Instant};

use crate::memory::large_pages::{are_distrusted, distrust, give_up};

/// How much is asked for at once, in bytes. A large page comes as a whole.
const STEP_LEN: usize = 256 << 10;

/// Rows with less room are not worth a call of the system, in bytes.
const MIN_ROOM: usize = 1 << 20;

/// Size of a page on most systems. Where it is larger, some calls have no effect.
const PAGE_LEN: usize = 4 << 10;

/// For how much it is asked at once whether it is there, in bytes.
const LOOK_LEN: usize = 2 << 20;

/// What a step takes at most if all is well; large pages take less than small ones then.
const QUICK: Duration = Duration::from_millis(1);

/// Keeps ahead of what is written to a row, from the front to the back.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The address up to which pages were asked for, of the row that was looked at last.
    end: usize,
    /// Whether that row was given up for large pages.
    is_given_up: bool,
}

impl Ahead {
    /// Asks for the pages of the next values that a row has room for, unless that was done.
    #[inline]
    pub(crate) fn of<T>(&mut self, row: &mut Vec<T>) {
        let size = (row.capacity() - row.len()) * size_of::<T>();
        if size >= MIN_ROOM && !self.is_ahead(row.as_ptr_range().end.addr()) {
            self.ask(row, size);
        }
    }

    fn is_ahead(&self, written: usize) -> bool {
        (written + STEP_LEN / 2..=written + STEP_LEN + LOOK_LEN).contains(&self.end)
    }

    /// The room begins where the last step ended, or anywhere if it is of another row.
    #[cold]
    fn ask<T>(&mut self, row: &mut Vec<T>, size: usize) {
        let room = row.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        let is_begun = (room.addr()..room.addr() + STEP_LEN).contains(&self.end);
        let first = if is_begun { self.end } else { room.addr().next_multiple_of(PAGE_LEN) };
        let n_before = first - room.addr();
        let len_of = |most: usize| most.min(size.saturating_sub(n_before)) / PAGE_LEN * PAGE_LEN;
        let (start, len) = (room.wrapping_add(n_before), len_of(STEP_LEN));
        self.is_given_up &= is_begun;
        let len_there = len_there(start, len_of(LOOK_LEN));
        if len_there >= len {
            self.end = first + len_there;
            return;
        }
        if !self.is_given_up && are_distrusted() {
            give_up(row);
            self.is_given_up = true;
        }
        let began = Instant::now();
        populate(start, len);
        if began.elapsed() > QUICK {
            distrust();
        }
        self.end = first + len;
    }
}

/// How much of some memory, from its start on, has its pages. At most [`LOOK_LEN`] of it are looked at.
#[cfg(target_os = "linux")]
fn len_there(start: *mut u8, len: usize) -> usize {
    let mut pages = [0_u8; LOOK_LEN / PAGE_LEN];
    let len = len.min(LOOK_LEN);
    // SAFETY: the system writes a byte for each page of the memory, of which there are no more; it reads none of it.
    let result = unsafe { libc::mincore(start.cast(), len, pages.as_mut_ptr().cast()) };
    let n_there = pages.iter().take(len / PAGE_LEN).take_while(|&&page| page & 1 == 1).count();
    if result == 0 { n_there * PAGE_LEN } else { 0 }
}

/// Elsewhere nothing is known of it.
#[cfg(not(target_os = "linux"))]
fn len_there(_start: *mut u8, _len: usize) -> usize {
    0
}

/// Asks for pages that are about to be written.
#[cfg(target_os = "linux")]
pub(crate) fn populate(start: *mut u8, len: usize) {
    // SAFETY: the advice changes nothing of what memory holds, whoever owns it.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_POPULATE_WRITE) };
}

/// Elsewhere there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn populate(_start: *mut u8, _len: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_what_is_written_ahead_of_which_pages_were_asked_for() {
        let mut ahead = Ahead::default();
        for n_room in [0, 1000, MIN_ROOM / 4, MIN_ROOM] {
            let mut row: Vec<u32> = Vec::with_capacity(n_room);
            while row.len() < 2 * n_room {
                ahead.of(&mut row);
                let next = u32::try_from(row.len()).unwrap();
                row.extend(next..next + 5000);
            }
            assert!((0..).zip(&row).all(|(number, &value)| value == number));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_was_written_before_is_passed_over_in_longer_steps() {
        let mut row: Vec<u32> = vec![1; 2 * MIN_ROOM];
        row.clear();
        let mut ahead = Ahead::default();
        ahead.of(&mut row);
        let step = ahead.end - row.as_ptr().addr();
        assert!(step > STEP_LEN + PAGE_LEN, "{step}");
    }
}
