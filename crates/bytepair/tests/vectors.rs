//! The golden vectors of `tests/vectors`, which the readable reference computed, hold for the core.
//!
//! The files lie outside the crate: where they are absent, in a published crate, there is nothing to run. The example
//! `wasm` has the same functions, and the files in itself, for machines without files.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by a panic"))]

use std::ops::ControlFlow;
use std::sync::Arc;

use bytepair::added::{AddedToken, Specials};
use bytepair::count::CorpusCounter;
use bytepair::decode::{Decode, DecodeErrors};
use bytepair::dialect::Dialect;
use bytepair::normalize::{NormalizeStep, Normalizer};
use bytepair::split::{Flavour, Pattern, Splitter, Stage, Unmatched};
use bytepair::train::{Target, Ties, train};
use bytepair::unicode::UnicodeTables;
use bytepair::units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units};
use bytepair::vocabulary::{Form, Merge, Token, TokenKind, Vocabulary};
use bytepair::{EncodeOptions, ErrorKind, Parts, Tokenizer};
use serde_json::Value;

/// How many threads count: WebAssembly has one.
const N_THREADS: usize = if cfg!(target_family = "wasm") { 1 } else { 2 };

#[cfg(not(target_family = "wasm"))]
fn file(name: &str) -> Option<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    std::fs::read(folder.join(name)).ok()
}

#[cfg(target_family = "wasm")]
fn file(name: &str) -> Option<Vec<u8>> {
    let file: &[u8] = match name {
        "split.json" => include_bytes!("../../../tests/vectors/split.json"),
        "train.json" => include_bytes!("../../../tests/vectors/train.json"),
        "encode.json" => include_bytes!("../../../tests/vectors/encode.json"),
        "units.json" => include_bytes!("../../../tests/vectors/units.json"),
        _ => return None,
    };
    Some(file.to_vec())
}

/// The cases of a file, with the whole file.
fn cases(name: &str) -> Option<(Value, Vec<Value>)> {
    let file: Value = serde_json::from_slice(&file(name)?).unwrap();
    let cases = file["cases"].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    Some((file, cases))
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap().as_bytes();
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn all_bytes(value: &Value) -> Vec<Vec<u8>> {
    value.as_array().unwrap().iter().map(bytes).collect()
}

fn number<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    value.as_i64().and_then(|number| T::try_from(number).ok())
}

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| number(id).unwrap()).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The dialect of a case: a preset with its parts as the case writes them out.
fn dialect(case: &Value) -> Dialect {
    let mut dialect = Dialect::named(case["dialect"].as_str().unwrap()).unwrap();
    let kind = match case["end_mark_kind"].as_str() {
        Some("suffix") => EndMarkKind::Suffix,
        _ => EndMarkKind::Unit,
    };
    dialect.units = Units {
        unit: match (case["kind"].as_str().unwrap(), case["byte_ids"].as_str().unwrap()) {
            ("character", _) => Unit::Character,
            (_, "printable") => Unit::Byte(ByteIds::Printable),
            _ => Unit::Byte(ByteIds::Value),
        },
        end_mark: text(&case["end_mark"]).map(|text| EndMark { text, kind }),
        continuing_prefix: text(&case["prefix"]),
        unknown: text(&case["unknown_token"]),
        fuse_unknown: case["fuse_unknown"].as_bool().unwrap(),
        byte_fallback: case["byte_fallback"].as_bool().unwrap(),
        missing: match case["missing"].as_str() {
            Some("drop") => Missing::Drop,
            _ => Missing::Error,
        },
    };
    dialect.ties = match case["ties"].as_str().unwrap() {
        "smallest_ids" => Ties::SmallestIds,
        "first_seen" => Ties::FirstSeen,
        _ => Ties::LargestText,
    };
    dialect.min_count = number(&case["min_count"]).unwrap();
    dialect.normalize.retain(|step| *step != NormalizeStep::Lowercase);
    let lowered = [vec![NormalizeStep::Lowercase], dialect.normalize.clone()].concat();
    match case["lowercase"].as_str().unwrap() {
        "always" => dialect.normalize = lowered,
        "training" => dialect.normalize_training = Some(lowered),
        _ => {}
    }
    dialect
}

fn special_tokens(case: &Value) -> Vec<String> {
    case["special_tokens"].as_array().unwrap().iter().filter_map(text).collect()
}

/// A case's vocabulary as `[written, id]`, from its first id on.
fn written_tokens(case: &Value) -> Vec<(u32, Vec<u8>)> {
    let first_id: u32 = number(&case["first_id"]).unwrap();
    (first_id..)
        .zip(case["tokens"].as_array().unwrap().iter().map(|token| bytes(&token[0])))
        .collect()
}

#[cfg_attr(test, test)]
pub(crate) fn split_vectors_hold() {
    let Some((file, cases)) = cases("split.json") else { return };
    let texts = all_bytes(&file["texts"]);
    for case in &cases {
        let stages = case["stages"].as_array().unwrap().iter().map(|stage| {
            let pattern = Pattern { source: text(&stage[0]).unwrap(), flavour: Flavour::Rust };
            let rest = if stage[1] == "keep" { Unmatched::Keep } else { Unmatched::Drop };
            Stage::matches(pattern, rest)
        });
        let splitter = Splitter::new(stages.collect(), &UnicodeTables::latest()).unwrap();
        for (text, pieces) in texts.iter().zip(case["pieces"].as_array().unwrap()) {
            let expected: Vec<_> = pieces.as_array().unwrap().iter().map(numbers).collect();
            let mut found = Vec::new();
            splitter
                .for_each_piece(text, |piece| -> bytepair::Result<()> {
                    found.push(vec![
                        u32::try_from(piece.start).unwrap(),
                        u32::try_from(piece.end).unwrap(),
                    ]);
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, expected, "{} on {:?}", case["name"], String::from_utf8_lossy(text));
        }
    }
}

#[cfg_attr(test, test)]
pub(crate) fn train_vectors_hold() {
    let Some((_, cases)) = cases("train.json") else { return };
    for case in &cases {
        let dialect = dialect(case);
        let target = match (number(&case["vocab_size"]), number(&case["n_merges"])) {
            (Some(size), _) => Target::VocabSize(size),
            (None, n_merges) => Target::Merges(n_merges.unwrap_or(usize::MAX)),
        };
        let options = dialect.train_options(target, special_tokens(case));
        let preparation = dialect.preparation(&options.special_tokens).unwrap();
        let mut counter = CorpusCounter::new(preparation, N_THREADS).unwrap();
        let texts = all_bytes(&case["texts"]);
        counter.count_texts(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
        let (counts, _) = counter.finish().unwrap();
        let trained = train(&counts, &dialect.units, &options, |_| Ok(ControlFlow::Continue(())));
        if counts.is_empty() {
            assert!(matches!(trained.unwrap_err().kind(), ErrorKind::EmptyCorpus));
            continue;
        }
        let trained = trained.unwrap();
        let vocabulary = &trained.vocabulary;
        let name = &case["name"];
        for (id, written) in written_tokens(case) {
            let token = vocabulary.token(id).unwrap();
            assert_eq!(dialect.units.written(token), written, "{name}: token {id}");
        }
        let merges: Vec<_> =
            vocabulary.merges().iter().map(|m| vec![m.left, m.right, m.result]).collect();
        let expected: Vec<_> = case["merges"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!(merges, expected, "{name}");
        let counts: Vec<i64> =
            case["counts"].as_array().unwrap().iter().map(|n| number(n).unwrap()).collect();
        assert_eq!(vocabulary.merge_counts(), counts, "{name}");
    }
}

/// The tokenizer of a case: its dialect with the vocabulary as it is written out.
fn tokenizer(case: &Value) -> Tokenizer {
    let dialect = dialect(case);
    let mut vocabulary = Vocabulary::new();
    let first_id: u32 = number(&case["first_id"]).unwrap();
    let alphabet = dialect.units.alphabet(std::iter::empty()).unwrap();
    for (kind, bytes) in alphabet.into_iter().take(first_id as usize) {
        vocabulary.push(Token { kind, bytes: &bytes }).unwrap();
    }
    let mut added = Vec::new();
    for (id, token) in (first_id..).zip(case["tokens"].as_array().unwrap()) {
        let (written, mut text, form) =
            (bytes(&token[0]), bytes(&token[1]), token[2].as_str().unwrap());
        let is_unknown =
            dialect.units.unknown.as_ref().is_some_and(|name| name.as_bytes() == written);
        let kind = match form {
            "s" if is_unknown => TokenKind::Unknown,
            "s" => TokenKind::Added,
            "x" => TokenKind::Byte,
            _ => TokenKind::Text(Form::new(form.starts_with('#'), form.ends_with('e'))),
        };
        if matches!(kind, TokenKind::Text(form) if form.ends()) {
            text.pop();
        }
        let bytes = if form == "s" { &written } else { &text };
        vocabulary.insert(id, Token { kind, bytes }).unwrap();
        if kind == TokenKind::Added {
            let content = String::from_utf8(written).unwrap();
            added.push(AddedToken { id, content, special: true, ..AddedToken::default() });
        }
    }
    let priorities = case["priorities"].as_array();
    for (place, merge) in case["merges"].as_array().unwrap().iter().map(numbers).enumerate() {
        let merge = Merge { left: merge[0], right: merge[1], result: merge[2] };
        match priorities {
            Some(all) => vocabulary.push_merge_with_priority(merge, number(&all[place]).unwrap()),
            None => vocabulary.push_merge_to(merge),
        }
    }
    let unicode = UnicodeTables::latest();
    Tokenizer::new(Parts {
        pre_tokenizer: Splitter::new(dialect.split, &unicode).unwrap().into(),
        normalizer: Normalizer::new(dialect.normalize, unicode),
        added,
        ignore_merges: case["ignore_merges"].as_bool().unwrap(),
        decode: Decode::Rules(dialect.decode),
        ..Parts::new(dialect.units, Arc::new(vocabulary))
    })
    .unwrap()
}

/// The text of decoded bytes, after the replacements that the tokenizer makes in text.
fn replaced(tokenizer: &Tokenizer, decoded: &[u8]) -> String {
    let text = String::from_utf8_lossy(decoded).into_owned();
    let Decode::Rules(rules) = &tokenizer.parts().decode else { return text };
    rules.replacements.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

#[cfg_attr(test, test)]
pub(crate) fn encode_vectors_hold() {
    for name in ["encode.json", "units.json"] {
        cases(name).into_iter().for_each(|(_, cases)| check_encoding(&cases));
    }
}

fn check_encoding(cases: &[Value]) {
    for case in cases {
        let (tokenizer, name) = (tokenizer(case), &case["name"]);
        let options = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
        for input in case["inputs"].as_array().unwrap() {
            let text = bytes(&input["text"]);
            let shown = String::from_utf8_lossy(&text).into_owned();
            let found = tokenizer.encode(&text, options);
            let Some(error) = input["error"].as_str() else {
                let ids = found.unwrap_or_else(|error| panic!("{name} on {shown:?}: {error}"));
                assert_eq!(ids, numbers(&input["ids"]), "{name} on {shown:?}");
                let decoded = tokenizer.decode(&ids, DecodeErrors::Replace, false).unwrap();
                let expected = replaced(&tokenizer, &bytes(&input["decoded"]));
                assert_eq!(decoded, expected, "{name} on {shown:?}");
                continue;
            };
            let found = found.unwrap_err();
            let shown_error = match found.kind() {
                ErrorKind::NotUtf8 { offset } => format!("not UTF-8 at {offset}"),
                ErrorKind::UnknownUnit { .. } => "unknown token".to_owned(),
                kind => kind.to_string(),
            };
            assert_eq!(error, shown_error, "{name} on {shown:?}");
        }
    }
}
