//! Stages do what their definition says, one after another and together.

use std::ops::Range;

use proptest::prelude::*;

use crate::engine::Engine;
use crate::engine::{CompileOptions, compile, parse};
use crate::shared_tests::{
    by_name, by_windows, byte_texts, patterns, pieces_by_block, stage, texts,
};
use crate::unicode::UnicodeTables;
use crate::{Behaviour, Cut, Flavour, Pattern, Splitter, Stage, Unmatched};

#[test]
fn letters_digits_splits_like_its_definition() {
    let pieces = texts(&by_name("letters-digits"), "Let's see how this w0rks!");
    assert_eq!(pieces, ["Let", "'", "s", " see", " how", " this", " w", "0", "rks", "!"]);
    assert_eq!(texts(&by_name("letters-digits"), "a\n\n\nb\n"), ["a", "\n\n\n", "b", "\n"]);
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
    let parsed = parse(&stage.pattern, &UnicodeTables::latest()).unwrap();
    let options = CompileOptions { is_naive: true, ..Default::default() };
    let engine = compile(&parsed, &stage.pattern, options).unwrap();
    let Engine::Backtracker(machine) = engine else { panic!("the naive engine was asked for") };
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
            None => offset += machine.alphabet.class_at(text, offset).1,
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

/// The pieces of a text that begins at a place of another one.
fn ranges(splitter: &Splitter, text: &[u8], place: usize) -> Option<Vec<Range<usize>>> {
    let mut ranges = Vec::new();
    let push = |range: Range<usize>| -> crate::Result<()> {
        ranges.push(range.start + place..range.end + place);
        Ok(())
    };
    splitter.for_each_piece(text, push).ok()?;
    Some(ranges)
}

proptest! {
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
    fn every_behaviour_is_its_definition(
        stages in prop::collection::vec(any_stage(), 0..4),
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
            for splitter in [splitter, by_windows(&stages).unwrap()] {
                prop_assert_eq!(pieces_by_block(&splitter, &text, usize::MAX), Some(expected.clone()));
                prop_assert_eq!(pieces_by_block(&splitter, &text, block_len), Some(expected.clone()));
            }
        }
    }

    #[test]
    fn a_cut_changes_no_piece_of_any_behaviour_or_divides_one(stages in prop::collection::vec(any_stage(), 1..3), text in byte_texts()) {
        let Ok(splitter) = Splitter::new(stages, &UnicodeTables::latest()) else { return Ok(()) };
        let Some(whole) = ranges(&splitter, &text, 0) else { return Ok(()) };
        for place in 0..=text.len() {
            let Some(cut) = splitter.cut_at(&text, place) else { continue };
            let left = ranges(&splitter, &text[..place], 0).unwrap();
            let both = [left.clone(), ranges(&splitter, &text[place..], place).unwrap()].concat();
            let mut joined = both.clone();
            if let Some([last, first]) = joined.get(left.len().wrapping_sub(1)..=left.len())
                && last.end == first.start
            {
                joined[left.len() - 1].end = joined.remove(left.len()).end;
            }
            prop_assert!(whole == both || cut == Cut::Division && whole == joined, "{place} {cut:?}");
        }
    }
}
