//! Windows split texts as the definition does, on every kernel.

use proptest::prelude::*;

use crate::tests::{by_windows, patterns, pieces_by_block, stage};
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;
use crate::{Flavour, Splitter, Unmatched, named, names};

/// Mostly ASCII, with what makes real patterns look back.
fn long_texts() -> impl Strategy<Value = Vec<u8>> {
    let parts = vec![
        &b"a"[..],
        b"word",
        b" ",
        b"  ",
        b"\n\n  ",
        b"'ll",
        b"'re",
        b"'r",
        b"12345",
        b"!",
        b"...\r\n",
        b"Ab",
        b"\t",
        b"b",
        "é".as_bytes(),
        "中文".as_bytes(),
        "😀".as_bytes(),
        b"\xff",
        b"\xe4\xb8",
    ];
    let weights = [8, 20, 30, 3, 2, 1, 1, 1, 2, 4, 2, 3, 1, 8, 1, 1, 1, 1, 1];
    let choice =
        weights.into_iter().zip(parts).map(|(weight, part)| (weight, Just(part).boxed())).collect();
    prop::collection::vec(prop::strategy::Union::new_weighted(choice), 1500..4000)
        .prop_map(|parts| parts.concat())
}

/// Every row of so many of these parts.
fn rows(parts: &[&'static [u8]], length: u32) -> impl Iterator<Item = Vec<u8>> {
    let n_parts = parts.len();
    (0..n_parts.pow(length)).map(move |number| {
        let part = |place: u32| parts[number / n_parts.pow(place) % n_parts];
        (0..length).flat_map(part).copied().collect()
    })
}

#[test]
fn windows_split_every_short_text_like_the_definition() {
    let many: [&[u8]; 17] = [
        b"a",
        b"s",
        b"l",
        b"A",
        b"'",
        b"!",
        b"/",
        b" ",
        b"\t",
        b"\n",
        b"\r",
        b"1",
        b"\xff",
        "é".as_bytes(),
        "中".as_bytes(),
        "\u{3000}".as_bytes(),
        "\u{301}".as_bytes(),
    ];
    let few: [&[u8]; 7] = [b"a", b"s", b"'", b" ", b"\n", b"1", "，".as_bytes()];
    for name in names() {
        let stages = named(name).unwrap();
        let windows = by_windows(&stages).unwrap();
        let naive = Splitter::naive(stages, &UnicodeTables::latest()).unwrap();
        for text in rows(&many, 3).chain(rows(&few, 5)) {
            let expected = naive.pieces(&text).unwrap();
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(windows.pieces(&text).unwrap(), expected, "{name} {shown:?}");
        }
    }
}

#[test]
fn windows_split_text_without_edges_like_the_definition() {
    let parts: [&[u8]; 9] = [b"a", b"s", b"A", b"'", b" ", b"\n", b"1", b"!", "中".as_bytes()];
    for name in ["gpt2", "cl100k", "o200k", "qwen2", "llama3", "tekken", "letters-digits", "clip"] {
        let stages = named(name).unwrap();
        let windows = by_windows(&stages).unwrap();
        let naive = Splitter::naive(stages, &UnicodeTables::latest()).unwrap();
        // One text with every row of five parts in it.
        let text: Vec<u8> = rows(&parts, 5).flatten().collect();
        assert!(windows.pieces(&text).unwrap() == naive.pieces(&text).unwrap(), "{name}");
    }
}

/// Each row of five common letters, then each with a rare one behind every 41 rows, so that it stands at every place of a
/// word of 64.
#[test]
fn windows_split_common_letters_with_and_without_rare_ones_like_the_definition() {
    let common: [&[u8]; 8] =
        [b"a", b"s", b"A", b" ", b"\n", b"!", "中".as_bytes(), "\u{301}".as_bytes()];
    let rare: [&[u8]; 5] = [b"'s", b"1", b"12345", b"/", b"' "];
    let mut text: Vec<u8> = rows(&common, 5).flatten().collect();
    for (number, row) in rows(&common, 5).enumerate() {
        text.extend(row);
        if number % 41 == 0 {
            text.extend(rare[number / 41 % rare.len()]);
        }
    }
    for (name, is_sorted) in [
        ("gpt2", true),
        ("o200k", true),
        ("clip", false),
        ("seed-coder", false),
        ("minicpm5", true),
        ("cl100k", false),
        ("tekken", false),
    ] {
        let stages = named(name).unwrap();
        let unicode = UnicodeTables::latest();
        let naive = Splitter::naive(stages.clone(), &unicode).unwrap();
        let expected = naive.pieces(&text).unwrap();
        for kernel in Kernel::all() {
            let windows = Splitter::with_kernel(stages.clone(), &unicode, Some(kernel)).unwrap();
            assert!(windows.pieces(&text).unwrap() == expected, "{name} {kernel:?}");
            if kernel == Kernel::Portable {
                let has_common = windows.explain().iter().any(|line| line.contains("no rare"));
                assert_eq!(has_common, is_sorted, "{name}");
            }
        }
    }
}

/// Characters of every length and script, and bytes that are none.
fn any_script() -> impl Strategy<Value = Vec<u8>> {
    let of_char = |character: char| character.to_string().into_bytes();
    let part = prop_oneof![
        6 => prop::char::range(' ', '~').prop_map(of_char),
        3 => prop::char::range('\u{80}', '\u{7FF}').prop_map(of_char),
        3 => prop::char::range('\u{3000}', '\u{9FFF}').prop_map(of_char),
        3 => prop::char::range('\u{2000}', '\u{FFFF}').prop_map(of_char),
        1 => any::<char>().prop_map(of_char),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => Just(b"\n ".to_vec()),
    ];
    prop::collection::vec(part, 200..1000).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_script_is_split_the_same_by_every_kernel(
        name in prop::sample::select(names().collect::<Vec<_>>()),
        text in any_script(),
    ) {
        let stages = named(name).unwrap();
        let unicode = UnicodeTables::latest();
        let lanes = Splitter::with_kernel(stages.clone(), &unicode, None).unwrap();
        let expected = lanes.pieces(&text).unwrap();
        for kernel in Kernel::all() {
            let splitter = Splitter::with_kernel(stages.clone(), &unicode, Some(kernel)).unwrap();
            prop_assert_eq!(splitter.pieces(&text).unwrap(), expected.clone());
        }
    }

    #[test]
    fn long_texts_split_the_same_in_lanes_and_by_windows(
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
            let lanes = Splitter::with_kernel(splitter.stages().to_vec(), &unicode, None).unwrap();
            let windows = by_windows(splitter.stages()).unwrap();
            let fast = Splitter::with_kernel(splitter.stages().to_vec(), &unicode, Kernel::fast()).unwrap();
            for splitter in [splitter, lanes, windows, fast] {
                let found = pieces_by_block(&splitter, &text, block_len);
                // A long text may need more steps than are allowed, which the naive engine is not held to.
                prop_assume!(expected.is_some() && found.is_some());
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
