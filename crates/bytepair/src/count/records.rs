//! A piece with what is known of it, in an order, on its way to disk and back.
//!
//! On disk a record is five numbers (group, count, source and offset of the first occurrence, length) and
//! the bytes of the piece. A number has seven bits in each byte, the lowest first, and the highest bit of a byte
//! says that more follow; so most records take some five bytes beside their piece. Such files are private:
//! no other program reads them, and they may change at any time. Takes O(1) for each byte.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};

use super::First;
use crate::error::Result;
use crate::hash::hash_bytes;
use crate::piece::key::{high_hash, piece_key};

/// The most bytes of a number.
const MAX_NUMBER_LEN: usize = 10;

/// Bytes of a piece for which there is room before they are read.
const MAX_RESERVED_LEN: usize = 1 << 20;

/// The part of a corpus that was counted alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The number of the group that its documents are of.
    pub group: u32,
    /// Its place in the corpus: where pieces first occur is asked across parts.
    pub source: u32,
}

/// What is known of a piece.
#[derive(Clone, Copy)]
pub(super) struct RecordRef<'p> {
    pub(super) piece: &'p [u8],
    pub(super) group: u32,
    pub(super) count: u64,
    pub(super) first: First,
}

/// A row of its own, which compares as its order says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    key: u128,
    pub(super) piece: Vec<u8>,
    pub(super) group: u32,
    pub(super) count: u64,
    pub(super) first: First,
}

/// In which order records stand. Those of one key stand in the order of their pieces, then of their groups.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Equal pieces beside each other, in the order of tables: short pieces by hash, then long ones by hash.
    Hash,
    /// By first occurrence.
    First,
    /// The most frequent first; those of one count by their bytes.
    Rank,
}

impl Order {
    /// What decides before pieces are compared.
    pub(super) fn key(self, row: &RecordRef<'_>) -> u128 {
        match self {
            Self::Hash => match piece_key(row.piece, 0, row.piece.len()) {
                Some(key) => high_hash(key).into(),
                None => 1 << 64 | u128::from(hash_bytes(row.piece, 0)),
            },
            Self::First => u128::from(row.first.source) << 64 | u128::from(row.first.offset),
            // The beginning of the piece spares most looks at the piece itself.
            Self::Rank => u128::from(u64::MAX - row.count) << 64 | u128::from(beginning(row.piece)),
        }
    }

    pub(super) fn record(self, row: &RecordRef<'_>) -> Record {
        self.keyed(row.piece.to_vec(), row.group, row.count, row.first)
    }

    fn keyed(self, piece: Vec<u8>, group: u32, count: u64, first: First) -> Record {
        let key = self.key(&RecordRef { piece: &piece, group, count, first });
        Record { key, piece, group, count, first }
    }
}

impl Record {
    pub(super) fn row(&self) -> RecordRef<'_> {
        RecordRef { piece: &self.piece, group: self.group, count: self.count, first: self.first }
    }

    pub(super) fn is_of_same_piece(&self, other: &Self) -> bool {
        self.key == other.key && self.piece == other.piece
    }

    /// Adds another record of the piece. A sum that saturates becomes an error where it is read.
    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.first = self.first.min(other.first);
    }
}

/// Records in order, in which each piece of a group comes once.
pub(super) struct AddedUp<I: Iterator>(std::iter::Peekable<I>);

impl<I: Iterator<Item = Result<Record>>> AddedUp<I> {
    /// Takes records in order.
    pub(super) fn new(records: I) -> Self {
        Self(records.peekable())
    }
}

impl<I: Iterator<Item = Result<Record>>> Iterator for AddedUp<I> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut sum = match self.0.next()? {
            Ok(record) => record,
            failed => return Some(failed),
        };
        let is_same = |sum: &Record, other: &Result<Record>| {
            other
                .as_ref()
                .is_ok_and(|other| sum.group == other.group && sum.is_of_same_piece(other))
        };
        while let Some(Ok(same)) = self.0.next_if(|other| is_same(&sum, other)) {
            sum.add(&same);
        }
        Some(Ok(sum))
    }
}

/// Writes a record.
pub(super) fn write_record(writer: &mut impl Write, row: &RecordRef<'_>) -> Result<()> {
    let First { source, offset } = row.first;
    let numbers = [row.group.into(), row.count, source.into(), offset, row.piece.len() as u64];
    let mut header = [0; 5 * MAX_NUMBER_LEN];
    let mut n_bytes = 0;
    for mut number in numbers {
        while number >= 0x80 {
            header[n_bytes] = number.to_le_bytes()[0] | 0x80;
            number >>= 7;
            n_bytes += 1;
        }
        header[n_bytes] = number.to_le_bytes()[0];
        n_bytes += 1;
    }
    writer.write_all(&header[..n_bytes])?;
    Ok(writer.write_all(row.piece)?)
}

/// Reads the records of a file.
pub(super) struct RecordReader {
    file: BufReader<File>,
    order: Order,
    part: Part,
}

impl RecordReader {
    /// Reads a file whose records are of a part, as each says for itself where it is of several.
    pub(super) fn new(file: File, buffer_len: usize, order: Order, part: Part) -> Self {
        Self { file: BufReader::with_capacity(buffer_len, file), order, part }
    }

    /// The next record; `None` at the end of the file.
    pub(super) fn read(&mut self) -> Result<Option<Record>> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let group = self.number_from(self.part.group)?;
        let count = self.number()?;
        let source = self.number_from(self.part.source)?;
        let offset = self.number()?;
        let len = self.number()?;
        let piece = self.piece(len)?;
        Ok(Some(self.order.keyed(piece, group, count, First { source, offset })))
    }

    /// The bytes of a piece. Memory for a long one is taken as they come, whatever a changed file says of their number.
    fn piece(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut piece = Vec::new();
        if let Ok(len @ 0..=MAX_RESERVED_LEN) = usize::try_from(len) {
            piece.resize(len, 0);
            self.file.read_exact(&mut piece)?;
        } else if (&mut self.file).take(len).read_to_end(&mut piece)? as u64 != len {
            return Err(damaged().into());
        }
        Ok(piece)
    }

    /// A number that is counted from another one.
    fn number_from(&mut self, first: u32) -> Result<u32> {
        let number =
            u32::try_from(self.number()?).ok().and_then(|number| number.checked_add(first));
        number.ok_or_else(|| damaged().into())
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte)?;
            number |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged().into())
    }
}

fn damaged() -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, "a temporary file of counts was changed")
}

/// The first eight bytes of a piece as a number that compares as they do.
fn beginning(piece: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = piece.len().min(bytes.len());
    bytes[..len].copy_from_slice(&piece[..len]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek;

    #[test]
    fn a_length_or_a_group_that_no_file_has_is_an_error() {
        let part = Part { group: u32::MAX, source: 0 };
        for bytes in
            [&b"\x01\x01\x00\x00\x01a"[..], b"\x00\x01\x00\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7Fa"]
        {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            file.rewind().unwrap();
            assert!(RecordReader::new(file, 16, Order::Hash, part).read().is_err());
        }
    }

    #[test]
    fn a_file_that_ends_in_a_record_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        let first = First { source: 0, offset: 300 };
        write_record(&mut file, &RecordRef { piece: b"low", group: 0, count: 1, first }).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        file.rewind().unwrap();
        assert!(RecordReader::new(file, 16, Order::Hash, Part::default()).read().is_err());
    }
}
