//! Memory: checked allocation; rows in huge pages (`huge_pages`), and prefetching (`prefetch`).
//!
//! Checked allocation tests memory before it is allocated, so that running out of it is an error.
//!
//! The standard library ends the process if memory runs out. So everything that grows with a text, a file or a number of
//! pieces is tested here first: the room of a row before it grows, the work space for a long piece. Small allocations are
//! not tested, and neither is what several threads allocate at the same moment; some more memory must remain for both. A
//! test takes some microseconds, and nothing for small sizes.

pub(crate) mod huge_pages;
pub(crate) mod prefetch;

use std::hint::black_box;
use std::io::Read;

use crate::error::{ErrorKind, Result};

/// Smaller sizes are not tested, in bytes.
const MIN_ASKED: usize = 1 << 20;

/// What must remain besides, in bytes. This is also more than allocators keep for themselves, so the test does not change
/// how they work.
const SPARE: usize = 64 << 20;

/// How much of a part of a file is read at once where its length is not to be believed, in bytes.
const BLOCK_LEN: usize = 64 << 10;

/// For how much of such a part there is room at once, in bytes.
const BELIEVED_LEN: usize = 8 << 20;

/// Refuses work that takes about this many bytes if there is no memory for them.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
#[inline]
pub fn ask(n_bytes: usize) -> Result<()> {
    if n_bytes < MIN_ASKED { Ok(()) } else { ask_for_much(n_bytes) }
}

#[cold]
fn ask_for_much(n_bytes: usize) -> Result<()> {
    let mut room = Vec::<u8>::new();
    let asked = room.try_reserve_exact(n_bytes.saturating_add(SPARE));
    // Without this, a compiler may find that nobody uses the room and that it need not be there.
    black_box(&mut room);
    asked.map_err(|_| out_of_memory(n_bytes))
}

/// Asks for what a row takes that is about to get this many more values, where it has no room for them.
#[inline]
pub(crate) fn ask_to_grow<T>(row: &Vec<T>, n_more: usize) -> Result<()> {
    if row.capacity() - row.len() >= n_more { Ok(()) } else { ask_for_room(row, n_more) }
}

#[cold]
fn ask_for_room<T>(row: &Vec<T>, n_more: usize) -> Result<()> {
    // A row that grows becomes twice as long at least.
    let n_values = row.len().saturating_add(n_more).max(row.capacity().saturating_mul(2));
    ask(n_values.saturating_mul(size_of::<T>()))
}

/// Makes room for exactly this many more values.
pub(crate) fn reserve_exact<T>(row: &mut Vec<T>, n_more: usize) -> Result<()> {
    ask_to_grow(row, n_more)?;
    row.try_reserve_exact(n_more).map_err(|_| out_of_memory(n_more.saturating_mul(size_of::<T>())))
}

/// The next `length` bytes of a file, in memory that grows as they are found; `None` if the file ends before.
///
/// `check` sees each block as it comes, and may refuse it.
pub fn read_claimed(
    mut file: impl Read,
    length: usize,
    mut check: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reserve_exact(&mut bytes, length.min(BELIEVED_LEN))?;
    while bytes.len() < length {
        let (start, n_wanted) = (bytes.len(), BLOCK_LEN.min(length - bytes.len()));
        ask_to_grow(&bytes, n_wanted)?;
        if file.by_ref().take(n_wanted as u64).read_to_end(&mut bytes)? < n_wanted {
            return Ok(None);
        }
        check(&bytes[start..])?;
    }
    Ok(Some(bytes))
}

fn out_of_memory(n_bytes: usize) -> crate::Error {
    ErrorKind::OutOfMemory { n_bytes }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_holds_is_an_error() {
        assert!(ask(usize::MAX).is_err());
        assert!(ask(isize::MAX as usize - SPARE).is_err());
        assert!(ask_to_grow(&vec![0_u64; 3], usize::MAX / 8).is_err());
        assert!(reserve_exact(&mut Vec::<u64>::new(), usize::MAX / 8).is_err());
    }

    #[test]
    fn what_is_there_is_given() {
        ask(0).unwrap();
        ask(2 * MIN_ASKED).unwrap();
        let mut row = vec![1_u16];
        reserve_exact(&mut row, 1000).unwrap();
        assert!(row.capacity() >= 1001);
        ask_to_grow(&row, 1000).unwrap();
    }

    #[test]
    fn a_length_that_is_only_claimed_takes_no_memory() {
        let file = [7_u8; 100];
        let read = |length| read_claimed(&file[..], length, |_| Ok(())).unwrap();
        assert_eq!(read(100).unwrap(), file);
        assert!(read(0).unwrap().is_empty());
        assert!(read(101).is_none());
        assert!(read(usize::MAX).is_none());
    }
}
