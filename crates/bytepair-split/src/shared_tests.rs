//! Helpers for the tests of several folders: splitters of one pattern, and random patterns and texts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;

pub(crate) fn stage(source: &str, flavour: Flavour, unmatched: Unmatched) -> Stage {
    Stage::matches(Pattern { source: source.to_owned(), flavour }, unmatched)
}

pub(crate) fn try_splitter(source: &str, flavour: Flavour) -> Result<Splitter> {
    Splitter::new(vec![stage(source, flavour, Unmatched::Keep)], &UnicodeTables::latest())
}

pub(crate) fn splitter(source: &str) -> Splitter {
    try_splitter(source, Flavour::Rust).unwrap()
}

pub(crate) fn oniguruma(source: &str) -> Splitter {
    try_splitter(source, Flavour::Oniguruma).unwrap()
}

pub(crate) fn by_name(name: &str) -> Splitter {
    Splitter::new(named(name).unwrap(), &UnicodeTables::latest()).unwrap()
}

/// A named pattern with the windows of a kernel, or with the automaton alone. Each is compiled once.
pub(crate) fn named_with_kernel(name: &'static str, kernel: Option<Kernel>) -> Arc<Splitter> {
    type Compiled = BTreeMap<(&'static str, String), Arc<Splitter>>;
    static COMPILED: Mutex<Compiled> = Mutex::new(BTreeMap::new());
    let compile = || {
        let stages = named(name).unwrap();
        Arc::new(Splitter::with_kernel(stages, &UnicodeTables::latest(), kernel).unwrap())
    };
    let mut compiled = COMPILED.lock().unwrap();
    Arc::clone(compiled.entry((name, format!("{kernel:?}"))).or_insert_with(compile))
}

/// A splitter with windows for texts of any length.
pub(crate) fn by_windows(stages: &[Stage]) -> Result<Splitter> {
    Splitter::with_kernel(stages.to_vec(), &UnicodeTables::latest(), Kernel::fast())
}

pub(crate) fn texts(splitter: &Splitter, text: &str) -> Vec<String> {
    let pieces = splitter.pieces(text.as_bytes()).unwrap();
    pieces.into_iter().map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
}

pub(crate) fn is_automaton(splitter: &Splitter) -> bool {
    splitter.explain().iter().all(|line| line.starts_with("automaton"))
}

/// The pieces with one `Boundaries` per block length, to reach every way in which a block can end. `None` if a match
/// needs too many steps, which happens only with the naive engine.
pub(crate) fn pieces_by_block(
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

/// Patterns over a small alphabet, with everything an automaton can run and some things it cannot.
pub(crate) fn patterns() -> impl Strategy<Value = String> {
    let one_of = |all: &'static str| prop::sample::select(all.split(' ').collect::<Vec<_>>());
    let class = one_of(r"a b \s \S \p{L} \p{N} [^\s\p{L}] . é [a1] [^b\n] (?i:B) 中")
        .prop_map(str::to_owned);
    // The first is no quantifier.
    let quantifier = one_of(" * + ? *? +? ?? *+ ++ ?+ {2} {1,2} {0,2}+ {1,3}+ {2,} {2,}+");
    let short = r"$ (?!\S) (?=\p{L}) (?!a) (?=a|$) (?!\s+) (?m:$) (?=[^a]) (?=(?!b)[^1])";
    let others = r"(?=ab) (?=[^b]*1) (?!(?:aa)+1) (?=(?:\p{N}{2})*\b) (?<=a) \b ^";
    let look = prop_oneof![9 => one_of(short), 7 => one_of(others)].prop_map(str::to_owned);
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

pub(crate) fn byte_texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just(&b"a"[..]), 2 => Just(&b"b"[..]), 2 => Just(&b" "[..]), 1 => Just(&b"\n"[..]), 1 => Just(&b"1"[..]),
        1 => Just("é".as_bytes()), 1 => Just("中".as_bytes()), 1 => Just("😀".as_bytes()), 1 => Just(&b"\xff"[..]),
        1 => Just(&b"\xe4\xb8"[..]), 1 => Just(&b"!"[..]),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

pub(crate) fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let unmatched = prop_oneof![3 => Just(Unmatched::Keep), 1 => Just(Unmatched::Drop)];
    let one = (patterns(), unmatched)
        .prop_map(|(source, unmatched)| stage(&source, Flavour::Rust, unmatched));
    prop::collection::vec(one, 1..3)
}

/// Mostly ASCII, with text that makes real patterns look back.
pub(crate) fn long_texts() -> impl Strategy<Value = Vec<u8>> {
    let parts = "a|word| |  |\n\n  |'ll|'re|'r|12345|!|...\r\n|Ab|\t|b|é|中文|😀".split('|');
    let parts = parts.map(str::as_bytes).chain([&b"\xff"[..], b"\xe4\xb8"]);
    let weights = [8, 20, 30, 3, 2, 1, 1, 1, 2, 4, 2, 3, 1, 8, 1, 1, 1, 1, 1];
    let choice =
        weights.into_iter().zip(parts).map(|(weight, part)| (weight, Just(part).boxed())).collect();
    prop::collection::vec(prop::strategy::Union::new_weighted(choice), 1500..4000)
        .prop_map(|parts| parts.concat())
}

/// Every sequence of `length` of these parts.
pub(crate) fn rows(parts: &[&'static [u8]], length: u32) -> impl Iterator<Item = Vec<u8>> {
    let n_parts = parts.len();
    (0..n_parts.pow(length)).map(move |number| {
        let part = |place: u32| parts[number / n_parts.pow(place) % n_parts];
        (0..length).flat_map(part).copied().collect()
    })
}

/// Characters of every length and script, and bytes that belong to none.
pub(crate) fn any_script() -> impl Strategy<Value = Vec<u8>> {
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
