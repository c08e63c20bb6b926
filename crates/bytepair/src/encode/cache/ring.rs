//! The ids of pieces that have too many for a slot, and the bytes and ids of long pieces, in memory that is written round
//! and round.
//!
//! An entry says how long it is, then come the bytes of a piece and its ids. What is written takes the place of what was
//! written longest ago; whether an entry still stands is seen from where it was written, counted since the beginning.

use super::long::N_PLACES;
use crate::fresh_pages::Ahead;
use crate::large_pages::reserve;
use crate::vocabulary::TokenId;

/// Bytes of a ring, at most.
pub(super) const MAX_LEN: usize = 32 << 20;
/// Longest entry, in bytes: a long piece of as many ids.
const MAX_ENTRY_LEN: usize = 20 << 10;
/// Bytes that say how long an entry is.
const HEAD_LEN: usize = 8;
/// Ids that are read at once, whatever their number.
const STEP_IDS: usize = 16;
/// Entries begin at multiples of it, in bytes.
const UNIT: usize = 8;
/// By how much it grows at least, and when it is large, in bytes.
const STEP_LEN: usize = 16 << 10;
const MIN_LARGE_LEN: usize = 256 << 10;
/// In the number of ids: each has two bytes, not four.
const SHORT: u32 = 1 << 30;

/// Entries in the order in which they were written.
pub(super) struct Ring {
    bytes: Vec<u8>,
    /// How many bytes were ever written, those that were passed over at the end of a round included.
    head: u64,
    max_len: usize,
    ahead: Ahead,
}

impl Ring {
    /// The length is a power of two, so that no place needs a division, and no less than [`UNIT`].
    pub(super) fn new(max_len: usize) -> Self {
        debug_assert!(max_len.is_power_of_two() && max_len >= UNIT, "a ring of {max_len} bytes");
        Self { bytes: Vec::new(), head: 0, max_len, ahead: Ahead::default() }
    }

    /// Appends the ids of the entry at a place, if it still stands and is that of the piece.
    #[inline]
    pub(super) fn append(&self, place: u64, piece: &[u8], out: &mut Vec<TokenId>) -> bool {
        let start = place * UNIT as u64;
        if self.head > start + self.max_len as u64 {
            return false;
        }
        let entry = &self.bytes[self.offset(start)..];
        let Some((head, rest)) = entry.split_first_chunk() else { return false };
        let (len, n_ids) = lens(u64::from_le_bytes(*head));
        if len as usize != piece.len() {
            return false;
        }
        let (bytes, rest) = rest.split_at(piece.len());
        if bytes != piece {
            return false;
        }
        let n = (n_ids & !SHORT) as usize;
        if n_ids & SHORT > 0 {
            append_first(n, rest.as_chunks().0, out, |id| u16::from_le_bytes(id).into());
        } else {
            append_first(n, rest.as_chunks().0, out, TokenId::from_le_bytes);
        }
        true
    }

    /// Writes an entry, if it is not too long; returns its place, less than [`N_PLACES`].
    #[expect(clippy::cast_possible_truncation, reason = "ids that are short fit two bytes")]
    pub(super) fn push(&mut self, piece: &[u8], ids: &[TokenId]) -> Option<u64> {
        let is_short = ids.iter().all(|&id| id >> 16 == 0);
        let ids_len = ids.len() * if is_short { 2 } else { 4 };
        let len = (HEAD_LEN + piece.len() + ids_len).next_multiple_of(UNIT);
        if len > MAX_ENTRY_LEN.min(self.max_len) {
            return None;
        }
        if self.offset(self.head) + len > self.max_len {
            self.head = self.head.next_multiple_of(self.max_len as u64);
        }
        let (place, start) = (self.head / UNIT as u64, self.offset(self.head));
        if self.bytes.len() < start + len {
            self.lengthen(start + len);
        }
        let (head, rest) = self.bytes[start..].split_first_chunk_mut()?;
        *head = self::head(piece, ids.len(), is_short).to_le_bytes();
        let (bytes, rest) = rest.split_at_mut(piece.len());
        bytes.copy_from_slice(piece);
        if is_short {
            let ids = ids.iter().map(|&id| (id as u16).to_le_bytes());
            rest.as_chunks_mut().0.iter_mut().zip(ids).for_each(|(bytes, id)| *bytes = id);
        } else {
            let ids = ids.iter().map(|&id| id.to_le_bytes());
            rest.as_chunks_mut().0.iter_mut().zip(ids).for_each(|(bytes, id)| *bytes = id);
        }
        self.head += len as u64;
        Some(place)
    }

    /// Makes the memory at least so many bytes long. A ring that becomes large gets room for all that it may ever have,
    /// which costs nothing before it is used.
    #[cold]
    fn lengthen(&mut self, len: usize) {
        if len > MIN_LARGE_LEN {
            let n_more = self.max_len - self.bytes.len();
            reserve(&mut self.bytes, n_more);
            self.ahead.of(&mut self.bytes);
        }
        self.bytes.resize((len + STEP_LEN).min(self.max_len), 0);
    }

    /// Whether places may run out with the next entry.
    pub(super) fn is_used_up(&self) -> bool {
        self.head / UNIT as u64 + 2 * self.max_len as u64 > N_PLACES
    }

    /// Makes as if places were about to run out.
    #[cfg(test)]
    pub(super) fn write_last(&mut self) {
        self.head = (N_PLACES - self.max_len as u64) / self.max_len as u64
            * self.max_len as u64
            * UNIT as u64;
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the length of the ring")]
    fn offset(&self, place: u64) -> usize {
        (place & (self.max_len as u64 - 1)) as usize
    }
}

/// Appends the first of some ids, few of them without a branch for each: more are written, and those that do not count
/// are taken away again.
#[inline]
fn append_first<const N: usize>(
    n_ids: usize,
    ids: &[[u8; N]],
    out: &mut Vec<TokenId>,
    id: impl Fn([u8; N]) -> TokenId,
) {
    match ids.first_chunk::<STEP_IDS>() {
        Some(first) if n_ids <= STEP_IDS => {
            out.extend_from_slice(&first.map(id));
            out.truncate(out.len() - STEP_IDS + n_ids);
        }
        _ => out.extend(ids[..n_ids].iter().map(|&bytes| id(bytes))),
    }
}

/// What says how long an entry is, and of which kind.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an entry is far shorter")]
fn head(piece: &[u8], n_ids: usize, is_short: bool) -> u64 {
    let kind = if is_short { SHORT } else { 0 };
    u64::from(n_ids as u32 | kind) << 32 | u64::from(piece.len() as u32)
}

/// The length of a piece and the number of its ids, with what kind they are.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves")]
fn lens(head: u64) -> (u32, u32) {
    (head as u32, (head >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stands_until_it_is_written_over_and_is_that_of_its_piece_alone() {
        let mut ring = Ring::new(128);
        let mut written = Vec::new();
        for number in 0..200_u32 {
            let piece = vec![b'a' + (number % 7) as u8; 1 + number as usize % 50];
            let id = if number % 4 == 0 { number << 16 } else { number };
            let ids = vec![id; number as usize % 9];
            let place = ring.push(&piece, &ids).unwrap();
            let found = |ring: &Ring, piece: &[u8], place| {
                let mut found = Vec::new();
                ring.append(place, piece, &mut found).then_some(found)
            };
            assert_eq!(found(&ring, &piece, place), Some(ids.clone()));
            assert_eq!(found(&ring, &piece[1..], place), None);
            assert_eq!(found(&ring, &[&piece[..], b"1000"].concat(), place), None);
            written.push((place, piece, ids));
            for (place, piece, ids) in &written {
                let found = found(&ring, piece, *place);
                assert!(found.is_none_or(|found| found == *ids));
            }
        }
        assert!(ring.push(&[0; 129], &[]).is_none());
    }
}
