//! Texts are cut as the libraries of the publishers cut them: `tests/vectors/publishers.json`.
//!
//! The file lies outside the crate: where it is absent, in a published crate, there is nothing to run.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::Path;

use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Boundaries, Flavour, Pattern, Splitter, Stage, named, names};
use serde_json::Value;

fn vectors() -> Option<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/publishers.json");
    Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap())
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn stage(value: &Value) -> Stage {
    let flavour = match value["flavour"].as_str().unwrap() {
        "rust" => Flavour::Rust,
        _ => Flavour::Oniguruma,
    };
    let behaviour = match value["behaviour"].as_str().unwrap() {
        "isolated" => Behaviour::Isolated,
        "removed" => Behaviour::Removed,
        "merged_with_previous" => Behaviour::MergedWithPrevious,
        "merged_with_next" => Behaviour::MergedWithNext,
        _ => Behaviour::Contiguous,
    };
    let source = value["pattern"].as_str().unwrap().to_owned();
    let invert = value["invert"].as_bool().unwrap();
    Stage { pattern: Pattern { source, flavour }, behaviour, invert }
}

fn pieces<'t>(splitter: &Splitter, text: &'t str, block_len: usize) -> Vec<&'t str> {
    let mut boundaries = Boundaries::new(block_len);
    let (mut from, mut pieces) = (0, Vec::new());
    while from < text.len() {
        from = splitter.split_block(text.as_bytes(), from, &mut boundaries).unwrap();
        pieces.extend(boundaries.pieces().map(|range| &text[range]));
    }
    pieces
}

#[test]
fn texts_are_cut_as_the_publishers_libraries_cut_them() {
    let Some(vectors) = vectors() else { return };
    for case in vectors["cases"].as_array().unwrap() {
        let stages: Vec<_> = case["stages"].as_array().unwrap().iter().map(stage).collect();
        let splitter = Splitter::new(stages.clone(), &UnicodeTables::latest()).unwrap();
        let texts = case.get("texts").unwrap_or(&vectors["texts"]);
        for (text, expected) in strings(texts).into_iter().zip(case["pieces"].as_array().unwrap()) {
            for block_len in [1, 7, usize::MAX] {
                let found = pieces(&splitter, text, block_len);
                assert_eq!(found, strings(expected), "{stages:?} {text:?} {block_len}");
            }
        }
    }
}

#[test]
fn every_named_pattern_stands_in_the_vectors() {
    let Some(vectors) = vectors() else { return };
    for name in names().filter(|name| *name != "letters-digits") {
        let mut cases = vectors["cases"].as_array().unwrap().iter();
        let case = cases.find(|case| case["name"].as_str() == Some(name)).expect(name);
        let stages: Vec<_> = case["stages"].as_array().unwrap().iter().map(stage).collect();
        assert_eq!(named(name).unwrap(), stages, "{name}");
    }
}
