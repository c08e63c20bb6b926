//! What holds across the files of this folder.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::engine::Engine;
use crate::engine::compile::{CompileOptions, compile_one};
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;

fn stage(source: &str, flavour: Flavour, unmatched: Unmatched) -> Stage {
    Stage::matches(Pattern { source: source.to_owned(), flavour }, unmatched)
}

fn try_splitter(source: &str, flavour: Flavour) -> Result<Splitter> {
    Splitter::new(vec![stage(source, flavour, Unmatched::Keep)], &UnicodeTables::latest())
}

fn splitter(source: &str) -> Splitter {
    try_splitter(source, Flavour::Rust).unwrap()
}

fn oniguruma(source: &str) -> Splitter {
    try_splitter(source, Flavour::Oniguruma).unwrap()
}

fn by_name(name: &str) -> Splitter {
    Splitter::new(named(name).unwrap(), &UnicodeTables::latest()).unwrap()
}

/// Windows by the definition of their kernel, for texts of any length.
fn by_windows(stages: &[Stage]) -> Result<Splitter> {
    Splitter::with_kernel(stages.to_vec(), &UnicodeTables::latest(), Some(Kernel::Portable))
}

fn texts(splitter: &Splitter, text: &str) -> Vec<String> {
    let pieces = splitter.pieces(text.as_bytes()).unwrap();
    pieces.into_iter().map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
}

fn is_automaton(splitter: &Splitter) -> bool {
    splitter.explain().iter().all(|line| line.starts_with("automaton"))
}

/// The pieces with one boundary state per block length, to reach every way a block can end.
/// `None` if a match needs too many steps, which only the naive engine meets.
fn pieces_by_block(
    splitter: &Splitter,
    text: &[u8],
    block_len: usize,
) -> Option<Vec<Range<usize>>> {
    let mut boundaries = Boundaries::new(block_len);
    let (mut from, mut pieces) = (0, Vec::new());
    while from < text.len() {
        let end = splitter.split_block(text, from, &mut boundaries).ok()?;
        assert!(end >= text.len().min(from + block_len) || end > from, "a block makes progress");
        pieces.extend(boundaries.pieces());
        let starts = boundaries.starts().iter().enumerate();
        let last = starts.rev().find(|(_, word)| **word != 0);
        let last = last.map(|(index, word)| from + index * 64 + word.ilog2() as usize);
        assert!(last.is_none_or(|last| last < end), "no piece starts behind a block");
        from = end;
    }
    Some(pieces)
}

#[test]
fn letters_digits_splits_like_its_definition() {
    let pieces = texts(&by_name("letters-digits"), "Let's see how this w0rks!");
    assert_eq!(pieces, ["Let", "'", "s", " see", " how", " this", " w", "0", "rks", "!"]);
}

#[test]
fn letters_digits_keeps_a_run_of_newlines_as_one_piece() {
    assert_eq!(texts(&by_name("letters-digits"), "a\n\n\nb\n"), ["a", "\n\n\n", "b", "\n"]);
}

#[test]
fn named_patterns_split_hand_made_text() {
    let text = "I've  2024 cafés,\n\n  don't!\r\n";
    let cases: [(&str, &[&str]); 9] = [
        ("gpt2", &["I", "'ve", " ", " 2024", " cafés", ",", "\n\n ", " don", "'t", "!", "\r\n"]),
        (
            "cl100k",
            &["I", "'ve", " ", " ", "202", "4", " cafés", ",\n\n", " ", " don", "'t", "!\r\n"],
        ),
        ("o200k", &["I've", " ", " ", "202", "4", " cafés", ",\n\n", " ", " don't", "!\r\n"]),
        (
            "llama3",
            &["I", "'ve", " ", " ", "202", "4", " cafés", ",\n\n", " ", " don", "'t", "!\r\n"],
        ),
        (
            "qwen2",
            &[
                "I", "'ve", " ", " ", "2", "0", "2", "4", " cafés", ",\n\n", " ", " don", "'t",
                "!\r\n",
            ],
        ),
        ("words", &["I've", "2024", "cafés,", "don't!"]),
        ("space", &["I've", "2024", "cafés,\n\n", "don't!\r\n"]),
        ("subword-nmt", &["I've", "2024", "cafés,", "don't!"]),
        ("word-punctuation", &["I", "'", "ve", "2024", "cafés", ",", "don", "'", "t", "!"]),
    ];
    for (name, expected) in cases {
        assert_eq!(texts(&by_name(name), text), expected, "{name}");
    }
    assert_eq!(
        texts(&by_name("deepseek-v3"), "x1234中文，a (b"),
        ["x", "123", "4", "中文", "，", "a", " (", "b"]
    );
    assert_eq!(
        texts(&by_name("tekken"), "HTTPServer don't 12"),
        ["HTTPServer", " don", "'t", " ", "1", "2"]
    );
}

#[test]
fn every_named_pattern_is_an_automaton() {
    // Digits in threes from the right look further ahead than one character.
    let with_look_ahead = ["afmoe", "tiny-aya", "superbpe"];
    for name in names() {
        assert_eq!(is_automaton(&by_name(name)), !with_look_ahead.contains(&name), "{name}");
    }
}

#[test]
fn what_covers_everything_is_known() {
    let covering: Vec<_> = names().filter(|name| by_name(name).covers_everything()).collect();
    let first = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "tekken", "kimi-k2", "nanochat"];
    let then = ["qwen3.5", "bailingmoe", "seed-coder", "exaone-moe", "jais2", "lines"];
    assert_eq!(covering, [&first[..], &then].concat());
    assert!(splitter(r"\s+|\S").covers_everything());
    assert!(!splitter("(?s)a|.b|.(?!b)..").covers_everything());
    assert!(Splitter::whole().covers_everything());
}

#[test]
fn no_stage_is_one_piece() {
    assert_eq!(texts(&Splitter::whole(), "one two"), ["one two"]);
    assert!(texts(&Splitter::whole(), "").is_empty());
}

#[test]
fn later_stages_see_one_piece_only() {
    let stages = vec![
        stage("[0-9]+", Flavour::Rust, Unmatched::Keep),
        stage("a+$|.", Flavour::Rust, Unmatched::Keep),
    ];
    let splitter = Splitter::new(stages, &UnicodeTables::latest()).unwrap();
    assert_eq!(texts(&splitter, "aa12aab"), ["aa", "1", "2", "a", "a", "b"]);
}

#[test]
fn dropped_pieces_are_not_split_again() {
    let stages = vec![
        stage("[a-z]+", Flavour::Rust, Unmatched::Drop),
        stage("a", Flavour::Rust, Unmatched::Drop),
    ];
    let splitter = Splitter::new(stages, &UnicodeTables::latest()).unwrap();
    assert_eq!(texts(&splitter, "1ba2a"), ["a", "a"]);
}

#[test]
fn an_empty_match_is_no_match() {
    assert_eq!(texts(&splitter("a*"), "bbaab"), ["bb", "aa", "b"]);
    assert_eq!(texts(&splitter("(?:)|a"), "aab"), ["aab"]);
    assert_eq!(texts(&splitter("a*?|b"), "aab"), ["aab"]);
}

#[test]
fn flavours_read_the_same_text_differently() {
    assert_eq!(texts(&splitter("a{1,2}+"), "aaaab"), ["aa", "aa", "b"]);
    assert_eq!(texts(&oniguruma("a{1,2}+"), "aaaab"), ["aaaa", "b"]);
    assert_eq!(texts(&oniguruma("a{2}?"), "aaaaab"), ["aa", "aa", "a", "b"]);
    assert_eq!(texts(&splitter("a$"), "a\na"), ["a\n", "a"]);
    assert_eq!(texts(&oniguruma("a$"), "a\na"), ["a", "\n", "a"]);
    assert_eq!(texts(&oniguruma("a(?i)b|c"), "ab\nABaC"), ["ab", "\nAB", "aC"]);
    assert_eq!(texts(&splitter("a(?i)b|c"), "abABaC"), ["ab", "ABa", "C"]);
    assert_eq!(texts(&oniguruma(r"\h+"), "abcxyz"), ["abc", "xyz"]);
    assert_eq!(texts(&oniguruma("(?m).+"), "a\nb"), ["a\nb"]);
    assert_eq!(texts(&splitter("(?m)^.+$"), "a\nb"), ["a", "\n", "b"]);
    assert_eq!(texts(&oniguruma(r"\w+"), "a½"), ["a½"]);
    assert_eq!(texts(&oniguruma(r"[\w]+"), "a½"), ["a", "½"]);
}

#[test]
fn look_around_goes_to_the_backtracker() {
    let cases: [(&str, &str, &[&str]); 5] = [
        (r"\d{1,3}(?=(?:\d{3})*\b)", "1234567 12", &["1", "234", "567", " ", "12"]),
        ("(?<=a)b+", "abbcb", &["a", "bb", "cb"]),
        ("(?<!a|cc)b", "abccbxb", &["abccbx", "b"]),
        ("(?>a|ab)c|ab", "acabc", &["ac", "ab", "c"]),
        (r"\bx|y\B", "xyyx", &["x", "y", "y", "x"]),
    ];
    for (source, text, expected) in cases {
        let splitter = splitter(source);
        assert!(!is_automaton(&splitter), "{source}");
        assert_eq!(texts(&splitter, text), expected, "{source}");
    }
}

#[test]
fn repeats_of_what_may_be_empty_end_after_an_empty_run() {
    assert_eq!(texts(&splitter("(?:a?)*b|c"), "aabc"), ["aab", "c"]);
    assert_eq!(texts(&oniguruma("(?:a?)*b|c"), "aabc"), ["aab", "c"]);
    assert_eq!(texts(&oniguruma("c(?:a??|b)*b?"), "cabb"), ["c", "abb"]);
}

#[test]
fn refused_patterns_name_the_place() {
    let cases = [
        (r"ab(c", 2),
        ("a)", 1),
        (r"(a)\1", 3),
        (r"a\p{Klingon}", 1),
        (r"x\X", 1),
        (r"x\<", 1),
        ("a(?#b", 1),
        ("[a-", 1),
        ("[z-a]", 1),
        ("a**", 0),
        ("*a", 0),
        ("a{3,2}", 1),
        ("a{9999}", 1),
        ("x(?<=a+)b", 1),
        ("(?x)[a b]", 6),
        ("(?=a)*", 0),
        (r"\K", 0),
        ("a{", 1),
        (r"\", 0),
        (r"[\A]", 1),
        ("b(?:a?|b)+", 1),
        ("(?>(?i)a)b", 3),
    ];
    for (source, expected) in cases {
        let error = try_splitter(source, Flavour::Rust).expect_err(source);
        match error.kind() {
            ErrorKind::Pattern { offset, .. } => assert_eq!(*offset, expected, "{source}: {error}"),
            other => panic!("{source}: {other:?}"),
        }
    }
    for source in
        ["(?i)ss", "(?i)ß", r"(?i)\p{Lu}", r"(?i)[a-ÿ]", r"\xE4", "(?s).", r"\pL", r"\p{sc=Han}"]
    {
        assert!(try_splitter(source, Flavour::Oniguruma).is_err(), "{source}");
    }
}

#[test]
fn large_patterns_are_refused_or_tried_step_by_step() {
    assert!(try_splitter("(?:(?:a{1000}){1000}){1000}", Flavour::Rust).is_err());
    assert!(try_splitter(&"(".repeat(100_000), Flavour::Rust).is_err());
    assert!(try_splitter(&"[".repeat(100_000), Flavour::Rust).is_err());
    let exponential = splitter("(?:a|b)*a(?:a|b){14}c|.");
    assert!(!is_automaton(&exponential));
    assert_eq!(texts(&exponential, "abab"), ["a", "b", "a", "b"]);
}

#[test]
fn reading_past_the_match_costs_linear_time() {
    let text = "a".repeat(200_000);
    let long = texts(&splitter("a*b|a"), &text);
    assert_eq!(long.len(), 200_000);
    assert_eq!(texts(&splitter("a+b"), &text), std::slice::from_ref(&text));
    assert_eq!(texts(&splitter("(?:aa)*b|a|é+x"), &"é".repeat(100_000)), ["é".repeat(100_000)]);
    assert_eq!(texts(&by_name("gpt2"), &(" ".repeat(200_000) + "x")).len(), 2);
}

#[test]
fn a_match_that_takes_too_many_steps_is_an_error() {
    let text = "a".repeat(64);
    let error = splitter("(?:a|aa)+(?!a)(?<=b)").pieces(text.as_bytes()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::StepLimit { offset: 0, .. }), "{error}");
    let long = "a".repeat(3_000_000);
    assert_eq!(texts(&splitter("a+(?<=a)"), &long), std::slice::from_ref(&long));
}

#[test]
fn invalid_bytes_are_symbols_of_no_class() {
    let text = b"abc\xff\xfe def\xe2\x80";
    let pieces = by_name("gpt2").pieces(text).unwrap();
    assert_eq!(pieces, [&b"abc"[..], b"\xff\xfe", b" def", b"\xe2\x80"]);
    for name in names() {
        let splitter = by_name(name);
        for cut in 0..=text.len() {
            for part in [&text[..cut], &text[cut..]] {
                let naive =
                    Splitter::naive(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
                assert_eq!(
                    splitter.pieces(part).unwrap(),
                    naive.pieces(part).unwrap(),
                    "{name} {cut}"
                );
            }
        }
    }
}

#[test]
fn safe_cuts_exist_where_they_are_needed() {
    let gpt2 = by_name("gpt2");
    assert_eq!(gpt2.safe_cut(b"one two", 1), Some(3));
    assert_eq!(gpt2.safe_cut("十分，好".as_bytes(), 1), Some(6));
    assert_eq!(gpt2.safe_cut("a".repeat(200_000).as_bytes(), 1), None);
    assert_eq!(gpt2.safe_cut(b"abc", 1), Some(3));
    assert_eq!(Splitter::whole().safe_cut(b"one two", 1), None);
    assert_eq!(splitter(r"\bx|.").safe_cut(b"one two", 1), None);
    // No stage but the last knows letters and spaces.
    let deepseek = by_name("deepseek-v3");
    assert_eq!(deepseek.safe_cut(b"one two", 1), Some(3));
    assert_eq!(deepseek.safe_cut("十分，好".as_bytes(), 1), Some(6));
}

/// Patterns over a small alphabet, with everything an automaton can hold and some things it cannot.
fn patterns() -> impl Strategy<Value = String> {
    let class = prop::sample::select(vec![
        "a",
        "b",
        r"\s",
        r"\S",
        r"\p{L}",
        r"\p{N}",
        r"[^\s\p{L}]",
        ".",
        "é",
        r"[a1]",
        r"[^b\n]",
        "(?i:B)",
        "中",
    ])
    .prop_map(str::to_owned);
    let quantifier = prop::sample::select(vec![
        "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{0,2}+", "{1,3}+",
        "{2,}", "{2,}+",
    ]);
    let look = prop::sample::select(vec![
        "$",
        r"(?!\S)",
        r"(?=\p{L})",
        "(?!a)",
        "(?=a|$)",
        r"(?!\s+)",
        "(?m:$)",
        "(?=[^a])",
        "(?=(?!b)[^1])",
        "(?=ab)",
        "(?=[^b]*1)",
        "(?!(?:aa)+1)",
        r"(?=(?:\p{N}{2})*\b)",
        "(?<=a)",
        r"\b",
        "^",
    ])
    .prop_map(str::to_owned);
    let simple = (class, quantifier.clone()).prop_map(|(class, quantifier)| class + quantifier);
    let leaf = prop_oneof![5 => simple, 1 => look];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let quantifier = quantifier.clone();
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (inner.clone(), quantifier).prop_map(|(inside, quantifier)| format!("(?:{inside}){quantifier}")),
            1 => inner.prop_map(|inside| format!("(?>{inside})")),
        ]
    })
}

fn byte_texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just(&b"a"[..]), 2 => Just(&b"b"[..]), 2 => Just(&b" "[..]), 1 => Just(&b"\n"[..]), 1 => Just(&b"1"[..]),
        1 => Just("é".as_bytes()), 1 => Just("中".as_bytes()), 1 => Just("😀".as_bytes()), 1 => Just(&b"\xff"[..]),
        1 => Just(&b"\xe4\xb8"[..]), 1 => Just(&b"!"[..]),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

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
        ("clip", true),
        ("seed-coder", true),
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

fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let unmatched = prop_oneof![3 => Just(Unmatched::Keep), 1 => Just(Unmatched::Drop)];
    let one = (patterns(), unmatched)
        .prop_map(|(source, unmatched)| stage(&source, Flavour::Rust, unmatched));
    prop::collection::vec(one, 1..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn both_engines_find_the_same_boundaries(stages in stages(), text in byte_texts(), block_len in 1_usize..40) {
        let unicode = UnicodeTables::latest();
        if let Ok(splitter) = Splitter::new(stages.clone(), &unicode) {
            let windows = by_windows(&stages).unwrap();
            let naive = Splitter::naive(stages, &unicode).unwrap();
            let expected = pieces_by_block(&naive, &text, usize::MAX);
            prop_assume!(expected.is_some());
            prop_assert_eq!(pieces_by_block(&windows, &text, usize::MAX), expected.clone());
            prop_assert_eq!(pieces_by_block(&windows, &text, block_len), expected.clone());
            prop_assert_eq!(pieces_by_block(&splitter, &text, usize::MAX), expected.clone());
            prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), expected.clone());
            prop_assert_eq!(pieces_by_block(&naive, &text, block_len), expected);
        }
    }

    #[test]
    fn stages_that_are_done_at_once_find_what_each_finds_on_its_own(
        patterns in (
            prop::sample::select(vec!["[ab]{1,3}", "a+?b|b", "ab|a", "b?a", "[ab]+"]),
            prop::sample::select(vec!["[cé]+", "c{2}|é", "é?c", "(?:cé)+", r"[^\x00-\x7F]"]),
            prop::sample::select(vec![r"\d{1,3}", r"1|\s\s", r"\s?1", r"\s+(?!\S)|\s+", "[a-c]+ ?"]),
        ),
        text in prop_oneof![byte_texts(), "[abcé1 ]{0,40}".prop_map(String::into_bytes)],
        block_len in 1_usize..40,
    ) {
        let (first, second, third) = patterns;
        let stage = |source| stage(source, Flavour::Oniguruma, Unmatched::Keep);
        let stages: Vec<_> = [first, second, third].map(stage).into();
        let windows = by_windows(&stages).unwrap();
        let naive = Splitter::naive(stages, &UnicodeTables::latest()).unwrap();
        prop_assert!(windows.explain().len() < naive.explain().len());
        let expected = pieces_by_block(&naive, &text, usize::MAX);
        prop_assert_eq!(pieces_by_block(&windows, &text, usize::MAX), expected.clone());
        prop_assert_eq!(pieces_by_block(&windows, &text, block_len), expected);
    }

    #[test]
    fn a_safe_cut_changes_no_piece(stages in stages(), text in byte_texts(), near in 0_usize..60) {
        if let Ok(splitter) = Splitter::new(stages, &UnicodeTables::latest())
            && let Some(cut) = splitter.safe_cut(&text, near)
        {
            let mut pieces = splitter.pieces(&text[..cut]).unwrap();
            pieces.extend(splitter.pieces(&text[cut..]).unwrap());
            prop_assert_eq!(pieces, splitter.pieces(&text).unwrap());
        }
    }

    #[test]
    fn what_is_proven_to_cover_leaves_nothing(source in patterns(), text in byte_texts()) {
        let stages = vec![stage(&source, Flavour::Rust, Unmatched::Drop)];
        if let Ok(splitter) = Splitter::new(stages, &UnicodeTables::latest())
            && splitter.covers_everything()
        {
            prop_assert_eq!(splitter.pieces(&text).unwrap().concat(), text);
        }
    }

    #[test]
    fn long_overshoots_change_nothing(
        source in prop_oneof![Just("a*b|a"), Just("(?:ab|a)*c|a|b+"), Just("(?:a{3})*b|a|é*c"), Just("[ab]*1|(?:aa)+")],
        runs in prop::collection::vec((prop_oneof![Just("a"), Just("b"), Just("é"), Just("c"), Just("ab")], 1_usize..200), 1..5),
    ) {
        let text: String = runs.iter().map(|(part, n)| part.repeat(*n)).collect();
        let stages = vec![stage(source, Flavour::Rust, Unmatched::Keep)];
        let naive = Splitter::naive(stages, &UnicodeTables::latest()).unwrap();
        prop_assert_eq!(splitter(source).pieces(text.as_bytes()).unwrap(), naive.pieces(text.as_bytes()).unwrap());
    }

    #[test]
    fn any_pattern_compiles_or_is_refused(source in r"[\[\](){}|?*+^$.&\\a-c:<>=!\-,0-3pPbwsSiéß~]{0,16}", text in byte_texts()) {
        for flavour in [Flavour::Rust, Flavour::Oniguruma] {
            if let Ok(splitter) = try_splitter(&source, flavour) {
                let _ = splitter.pieces(&text);
            }
        }
    }
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

#[test]
fn many_costly_matches_share_one_limit_of_steps() {
    let digits = "1".repeat(300_000);
    let letters = "a".repeat(300_000);
    let patterns = [
        (r"(?>(\d+)+)b|(?s:.)", &digits),
        (r"(?>(a+)+)b|(?s:.)", &letters),
        (r"(?>(?s:.)(?=(?>(?:a|aa)*)$))|(?s:.)", &letters),
    ];
    for (pattern, text) in patterns {
        let stage = stage(pattern, Flavour::Rust, Unmatched::Keep);
        let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
        let error = splitter.pieces(text.as_bytes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::StepLimit { .. }), "{pattern}: {error}");
        let short = &text.as_bytes()[..300];
        assert!(splitter.pieces(short).is_ok(), "{pattern}");
    }
}

#[test]
fn backtracking_in_small_steps_has_no_limit() {
    let source = r"(?<=a)b+|\d{1,3}(?=(?:\d{3})*\b)|(?s:.)";
    let stage = stage(source, Flavour::Rust, Unmatched::Keep);
    let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
    let text = format!("{}{}", "ab1234567 ,".repeat(100_000), "b".repeat(100_000));
    assert!(splitter.pieces(text.as_bytes()).is_ok());
}

#[test]
fn look_aheads_of_any_length_cost_linear_time() {
    let digits = "1".repeat(400_000);
    let letters = "a".repeat(400_000);
    let cases = [
        (r"\d{1,3}(?=(?:\d{3})*\b)|\D+|\d", &digits, 133_334),
        (r"(?=(\d{3})+(?!\d))\d|(?s:.)", &digits, 400_000),
        (r"(?=[a-z]*x)a|(?s:.)", &letters, 400_000),
        (r"(?!.*b)a|(?s:..)", &letters, 400_000),
    ];
    for (pattern, text, n_pieces) in cases {
        let splitter = splitter(pattern);
        assert!(!is_automaton(&splitter), "{pattern}");
        assert_eq!(splitter.pieces(text.as_bytes()).unwrap().len(), n_pieces, "{pattern}");
    }
    let superbpe = by_name("superbpe").pieces(digits.as_bytes()).unwrap();
    assert_eq!((superbpe.len(), superbpe[0].len(), superbpe[1].len()), (133_334, 1, 3));
}

#[test]
fn an_empty_match_of_oniguruma_is_a_cut() {
    assert_eq!(texts(&oniguruma(r"(?=(\d{3})+(?!\d))"), "a1234567"), ["a1", "234", "567"]);
    assert_eq!(texts(&oniguruma("(?=[A-Z])"), "fooBarBAZ"), ["foo", "Bar", "B", "A", "Z"]);
    assert_eq!(texts(&oniguruma("a*"), "bbaab"), ["b", "b", "aa", "b"]);
    assert_eq!(texts(&oniguruma("(?<=a)"), "baab"), ["ba", "a", "b"]);
    assert_eq!(texts(&splitter("(?=[A-Z])"), "fooBar"), ["fooBar"]);
}

#[test]
fn behaviours_join_and_drop_delimiters() {
    let pieces = |behaviour, invert| {
        let pattern = Pattern { source: "-".to_owned(), flavour: Flavour::Oniguruma };
        let stages = vec![Stage { pattern, behaviour, invert }];
        texts(&Splitter::new(stages, &UnicodeTables::latest()).unwrap(), "the-final--countdown")
    };
    assert_eq!(pieces(Behaviour::Isolated, false), ["the", "-", "final", "-", "-", "countdown"]);
    assert_eq!(pieces(Behaviour::Removed, false), ["the", "final", "countdown"]);
    assert_eq!(pieces(Behaviour::Removed, true), ["-", "-", "-"]);
    assert_eq!(pieces(Behaviour::MergedWithPrevious, false), ["the-", "final-", "-", "countdown"]);
    assert_eq!(pieces(Behaviour::MergedWithNext, false), ["the", "-final", "-", "-countdown"]);
    assert_eq!(pieces(Behaviour::Contiguous, false), ["the", "-", "final", "--", "countdown"]);
    assert_eq!(pieces(Behaviour::MergedWithPrevious, true), ["the", "-final", "-", "-countdown"]);
    assert_eq!(pieces(Behaviour::MergedWithNext, true), ["the-", "final-", "-", "countdown"]);
}

#[test]
fn stages_that_no_automaton_does_together_are_done_one_by_one() {
    let stages = ["(?>ab|a)", "[cd]+"].map(|one| stage(one, Flavour::Oniguruma, Unmatched::Keep));
    let splitter = Splitter::new(stages.to_vec(), &UnicodeTables::latest()).unwrap();
    assert_eq!(splitter.explain().len(), 2);
    assert_eq!(splitter.pieces(b"abcda").unwrap(), [&b"ab"[..], b"cd", b"a"]);
    // Two hundred characters that are told apart in each.
    let pairs = |first: u32| {
        let character = |code| char::from_u32(first + code).unwrap();
        let pair = |code| format!("{}{}", character(code), character(code + 1));
        (0..200).step_by(2).map(pair).collect::<Vec<_>>().join("|")
    };
    let stages = [0x4E00, 0x6E00]
        .map(|first| stage(&pairs(first), Flavour::Oniguruma, Unmatched::Keep))
        .to_vec();
    let splitter = Splitter::new(stages, &UnicodeTables::latest()).unwrap();
    assert_eq!(splitter.explain().len(), 2);
    let text = "\u{4E00}\u{4E01}a\u{6E00}\u{6E01}\u{6E01}";
    let pieces = splitter.pieces(text.as_bytes()).unwrap();
    assert_eq!(pieces.iter().map(|piece| piece.len()).collect::<Vec<_>>(), [6, 1, 6, 3]);
}

/// What stands in a text in order: ranges, and whether each is a delimiter. Matches are looked for from
/// the end of the last one on; an empty one there does not count, and the search goes on a symbol later.
fn delimiters(stage: &Stage, text: &[u8]) -> Option<Vec<(Range<usize>, bool)>> {
    let engine =
        compile_one(&stage.pattern, &UnicodeTables::latest(), CompileOptions::NAIVE).unwrap();
    let Engine::Backtracker(mut machine) = engine else { panic!("the naive engine was asked for") };
    machine.take_all_steps();
    let mut steps = crate::engine::backtrack::Steps::new(0);
    let (mut found, mut offset, mut last_end, mut before) = (Vec::new(), 0, None, 0);
    while offset <= text.len() {
        let end = machine.attempt(text, offset, &mut steps).ok()?;
        match end.filter(|&end| end > offset || last_end != Some(end)) {
            Some(end) => {
                if before < offset {
                    found.push((before..offset, stage.invert));
                }
                found.push((offset..end, !stage.invert));
                (before, offset, last_end) = (end, end, Some(end));
            }
            None if offset == text.len() => break,
            None => offset += machine.class_at(text, offset).1,
        }
    }
    if before < text.len() {
        found.push((before..text.len(), stage.invert));
    }
    Some(found)
}

/// The definition of the behaviours: each item in order joins the last piece or is one.
fn by_definition(stage: &Stage, text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut items = delimiters(stage, text)?;
    let is_next = stage.behaviour == Behaviour::MergedWithNext;
    if is_next {
        items.reverse();
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut before = false;
    for (range, is_delimiter) in items {
        let joins = match stage.behaviour {
            Behaviour::Removed if is_delimiter => continue,
            Behaviour::Isolated | Behaviour::Removed => false,
            Behaviour::Contiguous => is_delimiter == before,
            Behaviour::MergedWithPrevious | Behaviour::MergedWithNext => is_delimiter && !before,
        };
        before = is_delimiter;
        match pieces.last_mut().filter(|_| joins) {
            Some(last) if is_next => last.start = range.start,
            Some(last) => last.end = range.end,
            None => pieces.push(range),
        }
    }
    if is_next {
        pieces.reverse();
    }
    pieces.retain(|piece| !piece.is_empty());
    Some(pieces)
}

fn any_stage() -> impl Strategy<Value = Stage> {
    let behaviour = prop::sample::select(vec![
        Behaviour::Isolated,
        Behaviour::Removed,
        Behaviour::MergedWithPrevious,
        Behaviour::MergedWithNext,
        Behaviour::Contiguous,
    ]);
    let flavour = prop_oneof![3 => Just(Flavour::Oniguruma), 1 => Just(Flavour::Rust)];
    (patterns(), flavour, behaviour, any::<bool>()).prop_map(
        |(source, flavour, behaviour, invert)| {
            let pattern = Pattern { source, flavour };
            Stage { pattern, behaviour, invert }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn every_behaviour_is_its_definition(
        stages in prop::collection::vec(any_stage(), 1..4),
        text in byte_texts(),
        block_len in 1_usize..40,
    ) {
        if let Ok(splitter) = Splitter::new(stages.clone(), &UnicodeTables::latest()) {
            let mut expected = vec![];
            if !text.is_empty() {
                expected.push(0..text.len());
            }
            for stage in &stages {
                let mut pieces = Vec::new();
                for piece in expected {
                    // Hardly any pattern and text take the definition more steps than there is time for.
                    let split = by_definition(stage, &text[piece.clone()]);
                    prop_assume!(split.is_some());
                    let split = split.unwrap();
                    let moved = split.iter().map(|range| range.start + piece.start..range.end + piece.start);
                    pieces.extend(moved);
                }
                expected = pieces;
            }
            let found = pieces_by_block(&splitter, &text, usize::MAX);
            prop_assume!(found.is_some());
            prop_assert_eq!(found, Some(expected.clone()));
            prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), Some(expected.clone()));
            let windows = by_windows(&stages).unwrap();
            prop_assert_eq!(pieces_by_block(&windows, &text, usize::MAX), Some(expected.clone()));
            prop_assert_eq!(pieces_by_block(&windows, &text, block_len), Some(expected));
        }
    }

    #[test]
    fn a_safe_cut_changes_no_piece_of_any_behaviour(stages in prop::collection::vec(any_stage(), 1..3), text in byte_texts(), near in 0_usize..60) {
        if let Ok(splitter) = Splitter::new(stages, &UnicodeTables::latest())
            && let Some(cut) = splitter.safe_cut(&text, near)
        {
            let mut pieces = splitter.pieces(&text[..cut]).unwrap();
            pieces.extend(splitter.pieces(&text[cut..]).unwrap());
            prop_assert_eq!(pieces, splitter.pieces(&text).unwrap());
        }
    }
}

/// Words in an order that looks random, the same each time.
fn jumble(words: &[&str], n_words: usize, seed: u64) -> String {
    let pick = |number: u64| {
        let product =
            u128::from(number ^ 0x9E37_79B9_7F4A_7C15) * u128::from(seed ^ 0xD6E8_FEB8_6659_FD93);
        let folded = (product ^ (product >> 64)) >> 32 & u128::from(u32::MAX);
        usize::try_from(folded).unwrap() % words.len()
    };
    (0..n_words as u64).map(|number| words[pick(number)]).collect()
}

#[test]
fn a_lane_that_reads_on_leaves_the_text_of_the_next_alone() {
    let stages = vec![stage(r"(?:\s{2}|[^b\n]+?|\S)(?=a|$)", Flavour::Rust, Unmatched::Keep)];
    let unicode = UnicodeTables::latest();
    let lanes = Splitter::with_kernel(stages.clone(), &unicode, None).unwrap();
    let naive = Splitter::naive(stages, &unicode).unwrap();
    for seed in 0..40 {
        let words = ["word", "word", "word", "word", "a", "b", " ", "\r\n  ", "...", "12345"];
        let text = jumble(&words, 900, seed);
        let found = lanes.pieces(text.as_bytes()).unwrap();
        assert_eq!(found, naive.pieces(text.as_bytes()).unwrap(), "{seed}");
    }
}
