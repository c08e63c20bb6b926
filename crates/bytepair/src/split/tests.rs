//! What holds across the files of this folder.

use proptest::prelude::*;

use super::*;

fn stage(source: &str, flavour: Flavour, unmatched: Unmatched) -> Stage {
    Stage { pattern: Pattern { source: source.to_owned(), flavour }, unmatched }
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
    let cases: [(&str, &[&str]); 8] = [
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
    for name in names() {
        assert!(is_automaton(&by_name(name)), "{name}");
    }
}

#[test]
fn what_covers_everything_is_known() {
    let covering: Vec<_> = names().filter(|name| by_name(name).covers_everything()).collect();
    assert_eq!(covering, ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "tekken"]);
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
    assert_eq!(texts(&oniguruma("a{2}?"), "aaaaab"), ["aa", "aa", "ab"]);
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
        (r"x\h", 1),
        ("[a-", 1),
        ("[z-a]", 1),
        ("a**", 0),
        ("*a", 0),
        ("a{3,2}", 1),
        ("a{9999}", 1),
        ("x(?<=a+)b", 1),
        ("(?x)a b", 0),
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
            let naive = Splitter::naive(stages, &unicode).unwrap();
            let expected = pieces_by_block(&naive, &text, usize::MAX);
            prop_assume!(expected.is_some());
            prop_assert_eq!(pieces_by_block(&splitter, &text, usize::MAX), expected.clone());
            prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), expected.clone());
            prop_assert_eq!(pieces_by_block(&naive, &text, block_len), expected);
        }
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
    fn long_texts_run_in_lanes_split_the_same(
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
            prop_assume!(expected.is_some());
            prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), expected);
        }
    }
}

#[test]
fn many_costly_matches_share_one_limit_of_steps() {
    let digits = "1".repeat(300_000);
    let letters = "a".repeat(300_000);
    let patterns = [
        (r"\d{1,3}(?=(?:\d{3})*\b)|\D+|\d", &digits),
        (r"(?=[a-z]*x)a|(?s:.)", &letters),
        (r"(?>(a+)+)b|(?s:.)", &letters),
        (r"(?>(?s:.)(?=(?s:.)*$))|(?s:.)", &letters),
    ];
    for (pattern, text) in patterns {
        let stage = Stage {
            pattern: Pattern { source: pattern.to_owned(), flavour: Flavour::Rust },
            unmatched: Unmatched::Keep,
        };
        let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
        let error = splitter.pieces(text.as_bytes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::StepLimit { .. }), "{pattern}: {error}");
        let short = &text.as_bytes()[..300];
        assert!(splitter.pieces(short).is_ok(), "{pattern}");
    }
}

#[test]
fn backtracking_in_small_steps_has_no_limit() {
    let stage = Stage {
        pattern: Pattern {
            source: r"(?<=a)b+|\d{1,3}(?=(?:\d{3})*\b)|(?s:.)".to_owned(),
            flavour: Flavour::Rust,
        },
        unmatched: Unmatched::Keep,
    };
    let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
    let text = format!("{}{}", "ab1234567 ,".repeat(100_000), "b".repeat(100_000));
    assert!(splitter.pieces(text.as_bytes()).is_ok());
}
