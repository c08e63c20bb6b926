//! The automaton finds what its naive twin finds, in linear time.

use proptest::prelude::*;

use crate::shared_tests::{by_name, byte_texts, is_automaton, patterns, splitter, stage, texts};
use crate::unicode::UnicodeTables;
use crate::{Flavour, Splitter, Unmatched, named, names};

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
fn reading_past_the_match_costs_linear_time() {
    let text = "a".repeat(200_000);
    let long = texts(&splitter("a*b|a"), &text);
    assert_eq!(long.len(), 200_000);
    assert_eq!(texts(&splitter("a+b"), &text), std::slice::from_ref(&text));
    assert_eq!(texts(&splitter("(?:aa)*b|a|é+x"), &"é".repeat(100_000)), ["é".repeat(100_000)]);
    assert_eq!(texts(&by_name("gpt2"), &(" ".repeat(200_000) + "x")).len(), 2);
}

#[test]
fn invalid_bytes_are_symbols_of_no_class() {
    let text = b"abc\xff\xfe def\xe2\x80";
    let pieces = by_name("gpt2").pieces(text).unwrap();
    assert_eq!(pieces, [&b"abc"[..], b"\xff\xfe", b" def", b"\xe2\x80"]);
    for name in names() {
        let splitter = by_name(name);
        let naive = Splitter::naive(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
        for part in (0..=text.len()).flat_map(|cut| [&text[..cut], &text[cut..]]) {
            let found = splitter.pieces(part).unwrap();
            assert_eq!(found, naive.pieces(part).unwrap(), "{name} {part:?}");
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
fn without_windows_the_automaton_finds_what_its_naive_twin_finds() {
    let stages = vec![stage(r"(?:\s{2}|[^b\n]+?|\S)(?=a|$)", Flavour::Rust, Unmatched::Keep)];
    let unicode = UnicodeTables::latest();
    let automaton = Splitter::with_kernel(stages.clone(), &unicode, None).unwrap();
    let naive = Splitter::naive(stages, &unicode).unwrap();
    for seed in 0..40 {
        let words = ["word", "word", "word", "word", "a", "b", " ", "\r\n  ", "...", "12345"];
        let text = jumble(&words, 900, seed);
        let found = automaton.pieces(text.as_bytes()).unwrap();
        assert_eq!(found, naive.pieces(text.as_bytes()).unwrap(), "{seed}");
    }
}

proptest! {
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
}
