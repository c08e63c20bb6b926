//! Memory that was never written, asked of the system before it is.
//!
//! A system gives a page when it is first written, by an interruption each time: three microseconds for four
//! kilobytes on some virtual machines, as long as it takes to encode the text whose ids fill them. Asked for some
//! hundred kilobytes at once, pages take half of that. Large ones ([`crate::large_pages`]) take less still, a tenth of a millisecond for
//! a megabyte, but not where the machine is a virtual one that hands idle memory back to its host: it does so in large
//! pages, and getting one again may take six milliseconds. So they are timed.
//!
//! All this is a wish: a system that does not know it gives pages as before.
#![expect(unsafe_code, reason = "calls of the system; new text is encoded in a fifth less time")]

use std::time::{Duration, Instant};

use crate::large_pages::{distrust, give_up};

/// How much is asked for at once, in bytes. A large page comes as a whole.
const STEP_LEN: usize = 256 << 10;

/// Rows with less room are not worth a call of the system, in bytes.
const MIN_ROOM: usize = 1 << 20;

/// Size of a page on most systems. Where it is larger, some calls have no effect.
const PAGE_LEN: usize = 4 << 10;

/// What a step takes at most if all is well; large pages take less than small ones then.
const QUICK: Duration = Duration::from_millis(1);

/// Keeps ahead of what is written to a row, from the front to the back.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The address up to which pages were asked for, of the row that was looked at last.
    end: usize,
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
        (written + STEP_LEN / 2..=written + 2 * STEP_LEN).contains(&self.end)
    }

    /// The room begins where the last step ended, or anywhere if it is of another row.
    #[cold]
    fn ask<T>(&mut self, row: &mut Vec<T>, size: usize) {
        let room = row.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        let is_begun = (room.addr()..room.addr() + STEP_LEN).contains(&self.end);
        let first = if is_begun { self.end } else { room.addr().next_multiple_of(PAGE_LEN) };
        let n_before = first - room.addr();
        let len = STEP_LEN.min(size.saturating_sub(n_before)) / PAGE_LEN * PAGE_LEN;
        let start = Instant::now();
        populate(room.wrapping_add(n_before), len);
        if start.elapsed() > QUICK && distrust() {
            give_up(row);
        }
        self.end = first + len;
    }
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
}
