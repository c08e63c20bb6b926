//! Windows split texts as the definition does, on every kernel.

use proptest::prelude::*;

use crate::shared_tests::{
    any_script, by_windows, long_texts, named_with_kernel, patterns, pieces_by_block, rows, stage,
};
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;
use crate::{Flavour, Splitter, Unmatched, named, names};

/// Each sequence of common letters, then each of them with a rare letter after every 41 sequences, so that it stands at
/// every place of a word of 64.
fn common_and_rare(length: u32) -> Vec<u8> {
    let common: [&[u8]; 8] =
        [b"a", b"s", b"A", b" ", b"\n", b"!", "中".as_bytes(), "\u{301}".as_bytes()];
    let rare: [&[u8]; 5] = [b"'s", b"1", b"12345", b"/", b"' "];
    let mut text: Vec<u8> = rows(&common, length).flatten().collect();
    for (number, row) in rows(&common, length).enumerate() {
        text.extend(row);
        if number % 41 == 0 {
            text.extend(rare[number / 41 % rare.len()]);
        }
    }
    text
}

/// Checks short texts, one for every sequence up to a length, and long texts without edges that contain every sequence.
fn check_rows(length: u32) {
    let many = "a|s|l|A|'|!|/| |\t|\n|\r|1|é|中|\u{3000}|\u{301}".split('|').map(str::as_bytes);
    let many: Vec<_> = many.chain([&b"\xff"[..]]).collect();
    let few: [&[u8]; 7] = [b"a", b"s", b"'", b" ", b"\n", b"1", "，".as_bytes()];
    let parts: [&[u8]; 9] = [b"a", b"s", b"A", b"'", b" ", b"\n", b"1", b"!", "中".as_bytes()];
    let without_edges = rows(&parts, length).flatten().collect();
    let texts: Vec<_> =
        rows(&many, length - 2).chain(rows(&few, length)).chain([without_edges]).collect();
    for name in names() {
        let windows = named_with_kernel(name, Kernel::fast());
        let naive = Splitter::naive(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
        for text in &texts {
            let is_same = windows.pieces(text).unwrap() == naive.pieces(text).unwrap();
            assert!(is_same, "{name} {:?}", String::from_utf8_lossy(&text[..99.min(text.len())]));
        }
    }
    let text = common_and_rare(length);
    let sorted = ["gpt2", "o200k", "minicpm5"];
    for name in sorted.into_iter().chain(["clip", "seed-coder", "cl100k", "tekken"]) {
        let naive = Splitter::naive(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
        let expected = naive.pieces(&text).unwrap();
        for (_, kernel) in Kernel::known() {
            let windows = named_with_kernel(name, kernel);
            assert!(windows.pieces(&text).unwrap() == expected, "{name} {kernel:?}");
        }
        let explained = named_with_kernel(name, Kernel::fast()).explain();
        let has_common = explained.iter().any(|line| line.contains("no rare"));
        assert_eq!(has_common, sorted.contains(&name), "{name}");
    }
}

#[test]
fn windows_split_every_row_of_letters_like_the_definition() {
    check_rows(4);
}

#[test]
#[ignore = "slow: longer rows"]
fn windows_split_every_longer_row_of_letters_like_the_definition() {
    check_rows(5);
}

proptest! {
    #[test]
    fn any_script_is_split_the_same_by_every_kernel(
        name in prop::sample::select(names().collect::<Vec<_>>()),
        text in any_script(),
    ) {
        let automaton = named_with_kernel(name, None);
        let expected = automaton.pieces(&text).unwrap();
        for (_, kernel) in Kernel::known() {
            let splitter = named_with_kernel(name, kernel);
            prop_assert_eq!(splitter.pieces(&text).unwrap(), expected.clone());
        }
    }

    #[test]
    fn long_texts_split_the_same_by_the_automaton_and_by_windows(
        name in prop::sample::select(names().collect::<Vec<_>>()),
        source in prop::option::of(patterns()),
        text in long_texts(),
        block_len in 2000_usize..5000,
    ) {
        let own = |source: String| vec![stage(&source, Flavour::Rust, Unmatched::Keep)];
        let stages = source.map_or_else(|| named(name).unwrap(), own);
        let unicode = UnicodeTables::latest();
        if let Ok(splitter) = Splitter::new(stages.clone(), &unicode) {
            let naive = Splitter::naive(stages, &unicode).unwrap();
            let expected = pieces_by_block(&naive, &text, usize::MAX);
            let automaton = Splitter::with_kernel(splitter.stages().to_vec(), &unicode, None).unwrap();
            let windows = by_windows(splitter.stages()).unwrap();
            for splitter in [splitter, automaton, windows] {
                let found = pieces_by_block(&splitter, &text, block_len);
                // A long text may need more steps than allowed; the naive engine has no such limit.
                prop_assume!(expected.is_some() && found.is_some());
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
