//! CSV to columns of texts, block by block.
//!
//! The first record names the columns; the requested ones are kept. A value may contain quotes, delimiters and line ends, and
//! may extend over any number of blocks: the next block continues where the last one ended. Empty lines are not records. A
//! quote that is never closed takes the rest of the file. Nothing is decoded: bytes of a value that are not UTF-8 stay.
//! `csv-core` does the parsing; it takes one pass, and memory for a block and the longest record.

use csv_core::{ReadFieldResult, ReaderBuilder};
use memchr::memchr_iter;

use crate::error::{Error, Result};
use crate::memory::ask_to_grow;

/// How much of a value is copied at once, in bytes.
const VALUE_LEN: usize = 16 << 10;

/// A first record of more values is no header.
const MAX_COLUMNS: usize = 1 << 20;

/// A column: the texts of all rows one after the other, and where each begins; after the last one, where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The texts.
    pub text: Vec<u8>,
    /// Where each begins and the last one ends.
    pub offsets: Vec<usize>,
}

/// A record that is no row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadRecord {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: String,
}

/// What a block held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The requested columns, in this order.
    pub columns: Vec<Column>,
    /// The records of another length, in order.
    pub bad: Vec<BadRecord>,
}

/// Reads a file of CSV from its beginning.
///
/// ```
/// let mut table = bytepair::documents::csv::Table::new(b',', vec!["text".to_owned()], usize::MAX);
/// let rows = table.read(b"id,text\n1,\"one, ", false).unwrap();
/// assert!(rows.columns[0].text.is_empty());
/// let rows = table.read(b"two\"\n2,three\n", true).unwrap();
/// assert_eq!((rows.columns[0].text.as_slice(), &*rows.columns[0].offsets), (&b"one, twothree"[..], &[0, 8, 13][..]));
/// ```
pub struct Table {
    reader: csv_core::Reader,
    wanted: Vec<String>,
    /// How many bytes a value of them may have.
    longest: usize,
    /// Once the first record was read.
    header: Option<Header>,
    /// Values of the record that is being read: all of them of the header, else those that are wanted.
    record: Vec<Vec<u8>>,
    /// How many values of the record are whole.
    n_values: usize,
    /// Whether a record has begun that is not whole.
    is_within: bool,
    /// The line on which it began.
    line: u64,
}

/// What the first record says.
struct Header {
    n_columns: usize,
    /// For each column of the file: which of the wanted ones it is.
    places: Vec<Option<usize>>,
}

impl Table {
    /// A table whose columns with these names are wanted, each named once.
    /// A value of them has at most `longest` bytes.
    pub fn new(delimiter: u8, wanted: Vec<String>, longest: usize) -> Self {
        Self {
            longest,
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            wanted,
            header: None,
            record: Vec::new(),
            n_values: 0,
            is_within: false,
            line: 1,
        }
    }

    /// The rows that end in the next block of the file.
    ///
    /// # Errors
    /// If the first record lacks a column that is wanted, or names it twice.
    pub fn read(&mut self, block: &[u8], is_last: bool) -> Result<Rows> {
        let column = Column { text: Vec::new(), offsets: vec![0] };
        let mut rows = Rows { columns: vec![column; self.wanted.len()], bad: Vec::new() };
        let mut rest = block;
        let mut value = [0; VALUE_LEN];
        loop {
            if !self.is_within {
                rest = self.skip_line_ends(rest);
            }
            if rest.is_empty() && !is_last {
                return Ok(rows);
            }
            let (result, n_read, n_written) = self.reader.read_field(rest, &mut value);
            rest = &rest[n_read..];
            self.is_within |= n_read > 0;
            self.take(&value[..n_written])?;
            let is_block_done = matches!(result, ReadFieldResult::InputEmpty) && !is_last;
            self.n_values += usize::from(matches!(result, ReadFieldResult::Field { .. }));
            if matches!(result, ReadFieldResult::Field { record_end: true }) {
                self.end_record(&mut rows)?;
            } else if is_block_done || matches!(result, ReadFieldResult::End) {
                return Ok(rows);
            }
        }
    }

    /// Passes over ends of lines before a record, and notes on which line it begins.
    fn skip_line_ends<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let n_ends = block.iter().take_while(|byte| is_end(byte)).count();
        let (ends, rest) = block.split_at(n_ends);
        let n_lines = memchr_iter(b'\n', ends).count() as u64;
        self.line = self.reader.line() + n_lines;
        self.reader.set_line(self.line);
        rest
    }

    /// Keeps a part of the value that is being read, where it is wanted.
    fn take(&mut self, part: &[u8]) -> Result<()> {
        let place = match &self.header {
            None => Some(self.n_values),
            Some(header) => header.places.get(self.n_values).copied().flatten(),
        };
        let Some(place) = place else { return Ok(()) };
        if self.header.is_none() && place >= MAX_COLUMNS {
            let problem =
                format!("more than {MAX_COLUMNS} columns; is the delimiter the right one?");
            return Err(Error::format("CSV", "header", problem));
        }
        if self.record.len() <= place {
            self.record.resize(place + 1, Vec::new());
        }
        let held = &self.record[place];
        if held.len() + part.len() > self.longest {
            let place = format!("the record of line {}", self.line);
            let problem = format!(
                "a value has more than {} bytes, which is the most that the memory limit leaves room for, a \
                 sixteenth of it; raise the limit",
                self.longest
            );
            return Err(Error::format("CSV", place, problem));
        }
        ask_to_grow(held, part.len())?;
        self.record[place].extend_from_slice(part);
        Ok(())
    }

    fn end_record(&mut self, rows: &mut Rows) -> Result<()> {
        let n_values = std::mem::take(&mut self.n_values);
        self.is_within = false;
        let Some(header) = &self.header else {
            self.header = Some(self.read_header(n_values)?);
            self.record = vec![Vec::new(); self.wanted.len()];
            return Ok(());
        };
        if n_values == header.n_columns {
            for (column, value) in rows.columns.iter_mut().zip(&self.record) {
                ask_to_grow(&column.text, value.len())?;
                column.text.extend_from_slice(value);
                column.offsets.push(column.text.len());
            }
        } else {
            let problem = format!("{n_values} columns, not {}", header.n_columns);
            rows.bad.push(BadRecord { line: self.line, problem });
        }
        self.record.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn read_header(&self, n_columns: usize) -> Result<Header> {
        let names = self.record.iter().take(n_columns);
        let names: Vec<_> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let mut places = vec![None; n_columns];
        for (number, wanted) in self.wanted.iter().enumerate() {
            let mut found = names.iter().enumerate().filter(|(_, name)| *name == wanted);
            match (found.next(), found.next()) {
                (Some((place, _)), None) => places[place] = Some(number),
                (Some(_), Some(_)) => {
                    let problem = format!("two columns are named {wanted}");
                    return Err(Error::format("CSV", "header", problem));
                }
                (None, _) => {
                    let known = names.join(", ");
                    let problem = format!("no column {wanted}; there are {known}");
                    return Err(Error::format("CSV", "header", problem));
                }
            }
        }
        Ok(Header { n_columns, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All rows of two columns, and the bad records, where a file is read in blocks of a length.
    fn read(file: &[u8], block_len: usize) -> (Vec<Vec<Vec<u8>>>, Vec<BadRecord>) {
        let mut table = Table::new(b',', vec!["a".to_owned(), "c".to_owned()], usize::MAX);
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        let mut take = |found: Rows| {
            let [a, c] = &found.columns[..] else { panic!("two columns") };
            assert_eq!(a.offsets.len(), c.offsets.len());
            let value = |column: &Column, row: usize| {
                column.text[column.offsets[row]..column.offsets[row + 1]].to_vec()
            };
            rows.extend((0..a.offsets.len() - 1).map(|row| vec![value(a, row), value(c, row)]));
            bad.extend(found.bad);
        };
        for block in file.chunks(block_len) {
            take(table.read(block, false).unwrap());
        }
        take(table.read(b"", true).unwrap());
        (rows, bad)
    }

    fn quoted(value: &str) -> String {
        format!("\"{}\"", value.replace('"', "\"\""))
    }

    proptest! {
        #[test]
        fn what_was_written_comes_back_in_blocks_of_any_length(
            rows in prop::collection::vec(prop::collection::vec("[ab\",\n\r\u{fc}]{0,6}", 3), 0..6),
            block_len in 1..40_usize,
            end in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        ) {
            let mut file = format!("a,b,c{end}");
            for row in &rows {
                let values: Vec<_> = row.iter().map(|value| quoted(value)).collect();
                file += &(values.join(",") + end);
            }
            let expected: Vec<_> = rows
                .iter()
                .map(|row| vec![row[0].clone().into_bytes(), row[2].clone().into_bytes()])
                .collect();
            prop_assert_eq!(read(file.as_bytes(), block_len), (expected, Vec::new()));
        }

        #[test]
        fn blocks_do_not_show(file in "a,b,c[ab\",\n\r]{0,30}", block_len in 1..9_usize) {
            let file = file.replace("a,b,c", "a,b,c\n");
            prop_assert_eq!(read(file.as_bytes(), block_len), read(file.as_bytes(), usize::MAX));
        }
    }

    #[test]
    fn a_record_of_another_length_is_told_by_the_line_on_which_it_begins() {
        let (rows, bad) = read(b"a,b,c\r\n1,\"x\ny\",2\r\n\r\n3,4\r\n5,6,7,8\r\n,,", 4);
        assert_eq!(rows, [[&b"1"[..], b"2"], [b"", b""]]);
        let problem = |n: u32| format!("{n} columns, not 3");
        let bad: Vec<_> = bad.into_iter().map(|bad| (bad.line, bad.problem)).collect();
        assert_eq!(bad, [(5, problem(2)), (6, problem(4))]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        assert_eq!(read(b"\xef\xbb\xbfa,c\n1,2\n", 100).0, [[b"1", b"2"]]);
    }

    #[test]
    fn columns_that_are_not_there_once_are_told() {
        let mut table = Table::new(b'\t', vec!["x".to_owned()], usize::MAX);
        let error = table.read(b"a\tb\n", true).unwrap_err().to_string();
        assert!(error.contains("no column x; there are a, b"), "{error}");
        let mut table = Table::new(b'\t', vec!["a".to_owned()], usize::MAX);
        assert!(table.read(b"a\ta\n", true).unwrap_err().to_string().contains("two columns"));
        assert_eq!(
            Table::new(b',', vec!["x".to_owned()], usize::MAX).read(b"", true).unwrap().bad,
            []
        );
    }

    #[test]
    fn a_value_that_is_too_long_is_an_error_that_names_its_line() {
        let read = |longest| {
            let mut table = Table::new(b',', vec!["a".to_owned()], longest);
            table.read(b"a,b\n1,2\n3,4\n12345,", true).map(|rows| rows.columns[0].text.clone())
        };
        assert_eq!(read(5).unwrap(), b"1312345");
        let error = read(4).unwrap_err().to_string();
        assert!(
            error.starts_with("CSV: the record of line 4: a value has more than 4 bytes"),
            "{error}"
        );
    }

    #[test]
    fn more_columns_than_any_table_has_are_an_error() {
        let mut table = Table::new(b',', vec!["a".to_owned()], usize::MAX);
        let error = table.read(&vec![b','; MAX_COLUMNS + 1], true).unwrap_err().to_string();
        assert!(error.starts_with("CSV: header: more than"), "{error}");
    }
}
