//! A compiled file read again, and every way to damage a small one.

use super::checksum::checksum;
use super::{N_SECTIONS, SECTIONS_AT, TABLE_AT, read, read_from, write};
use crate::format::native;
use crate::{Dialect, PieceCounts, Target, train};

fn file() -> Vec<u8> {
    let dialect = Dialect::named("gpt2").unwrap();
    let mut counts = PieceCounts::new();
    counts.add(b"lower", 5, None).unwrap();
    counts.add(b"lowest", 3, None).unwrap();
    let options = dialect.train_options(Target::Merges(6), vec!["<|end|>".to_owned()]);
    let go_on = |_| Ok(std::ops::ControlFlow::Continue(()));
    let trained = train(&counts, &dialect.units, &options, go_on).unwrap();
    write(&dialect.tokenizer(trained, &options).unwrap()).unwrap()
}

/// A file whose checksums are right again, as far as its lengths are.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let mut start = SECTIONS_AT;
    for section in 0..N_SECTIONS {
        let record = TABLE_AT + 16 * section;
        let length = u64::from_le_bytes(file[record..record + 8].try_into().unwrap());
        let Some(end) = usize::try_from(length).ok().and_then(|length| start.checked_add(length))
        else {
            break;
        };
        let sum = file.get(start..end).map_or(0, checksum);
        file[record + 8..record + 16].copy_from_slice(&sum.to_le_bytes());
        start = end;
    }
    let sum = checksum(&file[TABLE_AT..SECTIONS_AT]);
    file[TABLE_AT - 8..TABLE_AT].copy_from_slice(&sum.to_le_bytes());
    file
}

#[test]
fn a_compiled_tokenizer_is_the_one_that_was_written() {
    let file = file();
    let tokenizer = read(&file).unwrap();
    assert_eq!(write(&tokenizer).unwrap(), file);
    let native = native::read(&native::write(&tokenizer)).unwrap();
    assert_eq!(native::fingerprint(&native), native::fingerprint(&tokenizer));
}

#[test]
fn every_changed_bit_and_every_cut_is_an_error() {
    let file = file();
    for bit in 0..file.len() * 8 {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&changed).is_err(), "bit {bit}");
    }
    for end in 0..file.len() {
        assert!(read(&file[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn a_false_number_under_a_right_checksum_is_no_panic() {
    let file = file();
    let mut n_read = 0;
    for place in TABLE_AT..file.len() {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut changed = file.clone();
            changed[place] = value;
            n_read += usize::from(read(&sealed(changed)).is_ok());
        }
    }
    assert!(n_read > 1000, "the checksums are false: {n_read}");
    let mut longer = file;
    longer[TABLE_AT..TABLE_AT + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(read(&sealed(longer)).unwrap_err().to_string().contains("lengths of the sections"));
}

/// Gives a byte at a time, as a pipe may.
struct Slow<'f>(&'f [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = into.len().min(1);
        std::io::Read::read(&mut self.0, &mut into[..n_bytes])
    }
}

#[test]
fn a_file_that_comes_in_parts_is_the_same_and_one_that_ends_early_is_an_error() {
    let file = file();
    let n_bytes = file.len() as u64;
    let tokenizer = read_from(Slow(&file), n_bytes).unwrap();
    assert_eq!(write(&tokenizer).unwrap(), file);
    for end in 0..file.len() {
        assert!(read_from(&file[..end], n_bytes).is_err(), "{end} bytes");
    }
}
