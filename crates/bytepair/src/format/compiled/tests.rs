//! A compiled file read again, and every way to damage a small one.

use super::checksum::checksum;
use super::{COVERED_FROM, read, write};
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

/// A file whose checksum is right again.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&file[COVERED_FROM..]);
    file[COVERED_FROM - 8..COVERED_FROM].copy_from_slice(&sum.to_le_bytes());
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
    for place in COVERED_FROM..file.len() {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut changed = file.clone();
            changed[place] = value;
            let _ = read(&sealed(changed));
        }
    }
    let mut longer = file;
    longer[COVERED_FROM..COVERED_FROM + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(read(&sealed(longer)).unwrap_err().to_string().contains("lengths of the sections"));
}
