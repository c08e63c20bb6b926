//! A file of ids: numbers of two or four bytes, with or without the header of a `NumPy` file.
//!
//! Opening, replacing and closing the file is left to its owner. Takes memory for some thousand ids. Costs a copy of
//! each id, and writing.

use std::io::{Seek, SeekFrom, Write};

use crate::error::{Error, Result};
use crate::sink::Number;
use crate::sink::Sink;
use crate::vocabulary::TokenId;

/// How many ids are converted and written at once.
const N_AT_ONCE: usize = 16 << 10;

/// How ids are written. All numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdFormat {
    /// Whether a number has four bytes; otherwise it has two.
    pub is_wide: bool,
    /// Whether they follow the header of a `NumPy` file.
    pub has_header: bool,
}

/// A file of the ids of texts, concatenated.
///
/// The header of a `NumPy` file is written again at the end, when the number of ids is known.
#[derive(Debug)]
pub struct IdFile<W> {
    writer: W,
    format: IdFormat,
    n_ids: u64,
    /// The bytes of ids that are not yet written.
    numbers: Vec<u8>,
}

impl<W: Write + Seek> IdFile<W> {
    /// Begins a file of ids of a vocabulary of this size.
    ///
    /// # Errors
    /// If numbers of two bytes do not hold all ids of the vocabulary, or if writing fails.
    pub fn new(writer: W, format: IdFormat, n_vocab: usize) -> Result<Self> {
        if !format.is_wide && n_vocab > 1 << 16 {
            let problem = format!("the vocabulary has {n_vocab} ids, and uint16 holds 65536");
            return Err(Error::option("dtype", problem));
        }
        let mut file = Self { writer, format, n_ids: 0, numbers: Vec::new() };
        file.write_header()?;
        Ok(file)
    }

    /// Finishes the file, and returns the number of ids.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> Result<u64> {
        if self.format.has_header {
            self.writer.seek(SeekFrom::Start(0))?;
            self.write_header()?;
        }
        self.writer.flush()?;
        Ok(self.n_ids)
    }

    fn write_header(&mut self) -> Result<()> {
        if self.format.has_header {
            self.writer.write_all(&header(self.format, self.n_ids))?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for IdFile<W> {
    fn push(&mut self, ids: &[TokenId]) -> Result<()> {
        if !self.format.is_wide {
            u16::check(ids)?;
        }
        for ids in ids.chunks(N_AT_ONCE) {
            self.numbers.clear();
            match self.format.is_wide {
                true => self.numbers.extend(ids.iter().flat_map(|id| id.to_le_bytes())),
                false => {
                    self.numbers.extend(ids.iter().flat_map(|&id| u16::low_bits(id).to_le_bytes()));
                }
            }
            self.writer.write_all(&self.numbers)?;
        }
        self.n_ids += ids.len() as u64;
        Ok(())
    }

    fn end_text(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The length of the header of a `NumPy` file: more than its text takes, and a multiple of 64.
const HEADER_LEN: usize = 128;

/// How it begins: the format 1.0, and the length of the following text, in two bytes.
const MAGIC: [u8; 10] = *b"\x93NUMPY\x01\x00\x76\x00";

/// The header of a `NumPy` file of format 1.0, for one dimension.
fn header(format: IdFormat, n_ids: u64) -> [u8; HEADER_LEN] {
    let mut header = [b' '; HEADER_LEN];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    let width = if format.is_wide { 4 } else { 2 };
    let text = format!("{{'descr': '<u{width}', 'fortran_order': False, 'shape': ({n_ids},), }}");
    header[MAGIC.len()..][..text.len()].copy_from_slice(text.as_bytes());
    header[HEADER_LEN - 1] = b'\n';
    header
}
