//! What patterns of each flavour mean, and which are refused.

use proptest::prelude::*;

use super::{folds_among, folds_to_several};
use crate::shared_tests::{byte_texts, is_automaton, oniguruma, splitter, texts, try_splitter};
use crate::{ErrorKind, Flavour};

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
fn an_empty_match_is_no_match() {
    assert_eq!(texts(&splitter("a*"), "bbaab"), ["bb", "aa", "b"]);
    assert_eq!(texts(&splitter("(?:)|a"), "aab"), ["aab"]);
    assert_eq!(texts(&splitter("a*?|b"), "aab"), ["aab"]);
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
fn no_character_elsewhere_folds_to_several() {
    assert_eq!(folds_among('\u{80}'..=char::MAX), folds_to_several());
}

proptest! {
    #[test]
    fn any_pattern_compiles_or_is_refused(source in r"[\[\](){}|?*+^$.&\\a-c:<>=!\-,0-3pPbwsSiéß~]{0,16}", text in byte_texts()) {
        for flavour in [Flavour::Rust, Flavour::Oniguruma] {
            if let Ok(splitter) = try_splitter(&source, flavour) {
                let _ = splitter.pieces(&text);
            }
        }
    }
}
