//! Both engines find the same, and the backtracker's steps are limited.

use proptest::prelude::*;

use crate::shared_tests::{
    by_name, by_windows, byte_texts, is_automaton, pieces_by_block, splitter, stages, texts,
};
use crate::unicode::UnicodeTables;
use crate::{ErrorKind, Splitter};

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
fn a_match_that_takes_too_many_steps_is_an_error() {
    let text = "a".repeat(64);
    let error = splitter("(?:a|aa)+(?!a)(?<=b)").pieces(text.as_bytes()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::StepLimit { offset: 0, .. }), "{error}");
    let long = "a".repeat(3_000_000);
    assert_eq!(texts(&splitter("a+(?<=a)"), &long), std::slice::from_ref(&long));
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
        let splitter = splitter(pattern);
        let error = splitter.pieces(text.as_bytes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::StepLimit { .. }), "{pattern}: {error}");
        let short = &text.as_bytes()[..300];
        assert!(splitter.pieces(short).is_ok(), "{pattern}");
    }
}

#[test]
fn backtracking_in_small_steps_has_no_limit() {
    let splitter = splitter(r"(?<=a)b+|\d{1,3}(?=(?:\d{3})*\b)|(?s:.)");
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

proptest! {
    #[test]
    fn both_engines_find_the_same_boundaries(stages in stages(), text in byte_texts(), block_len in 1_usize..40) {
        let unicode = UnicodeTables::latest();
        if let Ok(splitter) = Splitter::new(stages.clone(), &unicode) {
            let windows = by_windows(&stages).unwrap();
            let naive = Splitter::naive(stages, &unicode).unwrap();
            let expected = pieces_by_block(&naive, &text, usize::MAX);
            prop_assume!(expected.is_some());
            for splitter in [windows, splitter, naive] {
                prop_assert_eq!(pieces_by_block(&splitter, &text, usize::MAX), expected.clone());
                prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), expected.clone());
            }
        }
    }
}
