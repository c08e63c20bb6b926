//! A compiled file read again, and every way to damage a small one.

use super::{
    BY_RANK, N_SECTIONS, SECTIONS_AT, TABLE_AT, VERSION, checksum, read, read_from, write,
};
use crate::native;
use bytepair::count::PieceCounts;
use bytepair::dialect::Dialect;
use bytepair::for_formats::merge_table;
use bytepair::train::{Target, train};
use bytepair::units::Units;
use bytepair::vocabulary::{Merge, Token, Vocabulary};
use bytepair::{Parts, Tokenizer};

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
        let mut changed = file.clone();
        changed[place] = [0, 1, 0x7F, 0xFF][place / 3 % 4];
        if let Ok(tokenizer) = read(&sealed(changed)) {
            use_it(&tokenizer);
            n_read += 1;
        }
    }
    assert!(n_read > 200, "the checksums are false: {n_read}");
    let mut longer = file;
    longer[TABLE_AT..TABLE_AT + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(read(&sealed(longer)).unwrap_err().to_string().contains("lengths of the sections"));
}

/// Encodes a short and a long piece, and asks for what is made at first use.
fn use_it(tokenizer: &Tokenizer) {
    for text in ["lower lowest", &"lower".repeat(20)] {
        let _ = tokenizer.encode_ordinary(text.as_bytes());
    }
    let vocabulary = &tokenizer.parts().vocabulary;
    assert_eq!(vocabulary.merges().len(), vocabulary.n_merges());
}

/// The lengths of the sections of a file.
fn lengths(file: &[u8]) -> [usize; N_SECTIONS] {
    let records = file[TABLE_AT..SECTIONS_AT].as_chunks::<16>().0;
    let length = |at: usize| u64::from_le_bytes(records[at][..8].try_into().unwrap());
    std::array::from_fn(|at| usize::try_from(length(at)).unwrap())
}

/// A tokenizer of some thousand merges, more than a block holds. The ids that they make ascend or descend, or merges
/// have priorities.
fn large(n_merges: u32, is_ascending: bool, has_priorities: bool) -> Tokenizer {
    let mut vocabulary = Vocabulary::new();
    let n_ids = n_merges + 256;
    (0..n_ids).for_each(|id| drop(vocabulary.push(Token::plain(&id.to_be_bytes()))));
    for place in 0..n_merges {
        let result = if is_ascending { 256 + place } else { n_ids - 1 - place };
        let merge = Merge { left: place % 256, right: place / 256, result };
        match has_priorities {
            true => vocabulary.push_merge_with_priority(merge, place / 2),
            false => vocabulary.push_merge_to(merge),
        }
    }
    Tokenizer::new(Parts::new(Units::characters(), vocabulary.into())).unwrap()
}

#[test]
fn merges_are_a_table_where_they_fit_one_and_a_list_else() {
    for (n_merges, is_ascending, has_priorities, is_table) in [
        (30_000, true, false, true),
        (10_000, false, false, true),
        (30_000, false, false, true),
        (70_000, false, false, false),
        (10_000, true, true, false),
    ] {
        let tokenizer = large(n_merges, is_ascending, has_priorities);
        let file = write(&tokenizer).unwrap();
        let [_, _, _, list, priorities, description, slots, _] = lengths(&file);
        assert_eq!([list == 0, description == 8, slots > 0], [is_table; 3], "{n_merges}");
        assert_eq!(priorities > 0, has_priorities);
        let same = read(&file).unwrap();
        assert_eq!(merge_table(&same.parts().vocabulary).is_some(), is_table);
        assert_eq!(same.parts().vocabulary.merges(), tokenizer.parts().vocabulary.merges());
        assert_eq!(native::fingerprint(&same), native::fingerprint(&tokenizer));
        assert_eq!(write(&same).unwrap(), file);
        use_it(&same);
    }
}

#[test]
fn a_loaded_vocabulary_that_grew_is_written_again() {
    let loaded = read(&write(&large(700, true, false)).unwrap()).unwrap();
    let mut vocabulary = Vocabulary::clone(&loaded.parts().vocabulary);
    vocabulary.insert(1 << 16, Token::plain(b"far away")).unwrap();
    let grown = Tokenizer::new(Parts::new(Units::characters(), vocabulary.into())).unwrap();
    let same = read(&write(&grown).unwrap()).unwrap();
    assert_eq!(native::fingerprint(&same), native::fingerprint(&grown));
    assert_eq!(same.parts().vocabulary.merges(), loaded.parts().vocabulary.merges());
}

/// With another hash, another order of bits or of buckets, the files that there are would be refused as damaged, or
/// worse. If this test fails, raise the version.
#[test]
fn the_content_of_a_file_is_that_of_its_version() {
    let [head, ..] = lengths(&file());
    let checksum = checksum(&file()[SECTIONS_AT + head..]);
    assert_eq!((VERSION, checksum), (3, 0xF16A_1774_0E60_44FE));
}

#[test]
fn a_file_of_another_version_is_refused_with_advice() {
    let mut file = file();
    file[8] = 2;
    let problem = read(&file).unwrap_err().to_string();
    assert!(problem.contains("version") && problem.contains("save it again"), "{problem}");
}

#[test]
fn a_description_that_is_none_of_its_slots_is_an_error() {
    let file = file();
    let lengths = lengths(&file);
    let at = SECTIONS_AT + lengths[..5].iter().sum::<usize>();
    assert_eq!(lengths[5], 8);
    for (place, value) in [(at, 0), (at, u32::MAX), (at + 4, BY_RANK), (at + 4, 30), (at + 4, 31)] {
        let mut changed = file.clone();
        changed[place..place + 4].copy_from_slice(&value.to_le_bytes());
        let problem = read(&sealed(changed)).unwrap_err().to_string();
        assert!(problem.contains("table of merges"), "{problem}");
    }
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

#[test]
fn a_file_that_is_mostly_a_hole_on_the_disk_is_refused_before_it_takes_memory() {
    use std::io::{Seek, SeekFrom, Write};
    let bytes = file();
    for section in 0..N_SECTIONS {
        let record = TABLE_AT + 16 * section;
        let mut head = bytes[..SECTIONS_AT].to_vec();
        let length = u64::from_le_bytes(head[record..record + 8].try_into().unwrap());
        // A multiple of the lengths of all records.
        let n_more = (1_u64 << 40) * 3;
        head[record..record + 8].copy_from_slice(&(length + n_more).to_le_bytes());
        let sum = checksum(&head[TABLE_AT..SECTIONS_AT]);
        head[TABLE_AT - 8..TABLE_AT].copy_from_slice(&sum.to_le_bytes());
        let lengths = (0..section).map(|before| {
            let record = TABLE_AT + 16 * before;
            u64::from_le_bytes(bytes[record..record + 8].try_into().unwrap())
        });
        let end = SECTIONS_AT + usize::try_from(lengths.sum::<u64>() + length).unwrap();
        let mut hole = tempfile::tempfile().unwrap();
        hole.write_all(&head).unwrap();
        hole.write_all(&bytes[SECTIONS_AT..end]).unwrap();
        hole.seek(SeekFrom::Current(n_more.cast_signed())).unwrap();
        hole.write_all(&bytes[end..]).unwrap();
        let n_bytes = hole.metadata().unwrap().len().max(end as u64 + n_more);
        hole.set_len(n_bytes).unwrap();
        hole.rewind().unwrap();
        assert!(read_from(hole, n_bytes).is_err(), "section {section}");
    }
}
