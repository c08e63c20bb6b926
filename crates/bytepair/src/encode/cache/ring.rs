//! The bytes and ids of pieces that are too long for a slot, in memory that is written round and round.
//!
//! An entry is the bytes of a piece and then its ids. What is written takes the place of what was written longest
//! ago; whether an entry still stands is seen from where it was written, counted since the beginning.

use crate::vocabulary::TokenId;

/// Bytes of a ring, at most.
pub(super) const MAX_LEN: usize = 16 << 20;
/// Longest entry, in bytes: a long piece of as many ids.
const MAX_ENTRY_LEN: usize = 20 << 10;

/// Entries in the order in which they were written.
pub(super) struct Ring {
    bytes: Vec<u8>,
    /// How many bytes were ever written, those that were passed over at the end of a round included.
    head: u64,
    max_len: usize,
}

/// Where an entry is.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The `head` when it was written.
    start: u64,
    /// Bytes of the piece.
    len: u32,
    n_ids: u32,
}

impl Entry {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "taken apart as it was put together")]
    pub(super) fn of_bits(bits: u128) -> Self {
        Self { start: bits as u64, len: (bits >> 64) as u32, n_ids: (bits >> 96) as u32 }
    }

    pub(super) fn to_bits(self) -> u128 {
        u128::from(self.start) | u128::from(self.len) << 64 | u128::from(self.n_ids) << 96
    }
}

impl Ring {
    pub(super) fn new(max_len: usize) -> Self {
        Self { bytes: Vec::new(), head: 0, max_len }
    }

    /// Appends the ids of an entry, if it still stands and is that of the piece.
    #[inline]
    pub(super) fn append(&self, entry: Entry, piece: &[u8], out: &mut Vec<TokenId>) -> bool {
        if entry.len as usize != piece.len() || self.head > entry.start + self.max_len as u64 {
            return false;
        }
        let start = self.offset(entry.start);
        let (bytes, rest) = self.bytes[start..].split_at(piece.len());
        if bytes != piece {
            return false;
        }
        let ids = &rest.as_chunks().0[..entry.n_ids as usize];
        out.extend(ids.iter().map(|&id| TokenId::from_le_bytes(id)));
        true
    }

    /// Writes an entry, if it is not too long.
    pub(super) fn push(&mut self, piece: &[u8], ids: &[TokenId]) -> Option<Entry> {
        let len = piece.len() + ids.len() * 4;
        if len > MAX_ENTRY_LEN.min(self.max_len) {
            return None;
        }
        if self.offset(self.head) + len > self.max_len {
            self.head = self.head.next_multiple_of(self.max_len as u64);
        }
        let [piece_len, n_ids] = [piece.len(), ids.len()].map(u32::try_from);
        let entry = Entry { start: self.head, len: piece_len.ok()?, n_ids: n_ids.ok()? };
        let start = self.offset(self.head);
        if self.bytes.len() < start + len {
            self.bytes.resize(start + len, 0);
        }
        let (bytes, rest) = self.bytes[start..start + len].split_at_mut(piece.len());
        bytes.copy_from_slice(piece);
        for (bytes, id) in rest.as_chunks_mut().0.iter_mut().zip(ids) {
            *bytes = id.to_le_bytes();
        }
        self.head += len as u64;
        Some(entry)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the length of the ring")]
    fn offset(&self, place: u64) -> usize {
        (place % self.max_len as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stands_until_it_is_written_over_and_is_that_of_its_piece_alone() {
        let mut ring = Ring::new(100);
        let mut written = Vec::new();
        for number in 0..200_u32 {
            let piece = vec![b'a' + (number % 7) as u8; 1 + number as usize % 40];
            let ids = vec![number; number as usize % 9];
            let entry = Entry::of_bits(ring.push(&piece, &ids).unwrap().to_bits());
            let mut found = Vec::new();
            assert!(ring.append(entry, &piece, &mut found));
            assert_eq!(found, ids);
            assert!(!ring.append(entry, &piece[1..], &mut found));
            assert!(!ring.append(entry, &[&piece[..], b"1000"].concat(), &mut found));
            written.push((entry, piece, ids));
            for (entry, piece, ids) in &written {
                let mut found = Vec::new();
                assert!(!ring.append(*entry, piece, &mut found) || found == *ids);
            }
        }
        assert!(ring.push(&[0; 101], &[]).is_none());
    }
}
