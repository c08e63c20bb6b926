//! What several formats have to do with one tokenizer.
//!
//! Formats with tests of their own have them beside their reader. That every dialect and every part is written and read back, and
//! that damage is an error, is tested from Python.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;

use bytepair::Result;
use bytepair::added::{AddedToken, Specials};
use bytepair::count::CorpusCounter;
use bytepair::dialect::Dialect;
use bytepair::train::{Target, train};
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{EncodeOptions, Parts, Tokenizer};
use bytepair_formats::{compiled, gpt2, huggingface, native, tiktoken};

const CORPUS: &str = "low lower lowest newer newest wide wider widest\nthe cat's hat, the hat's cat: 12 345 6789  été 中文字 中文\n";

const TEXTS: [&str; 5] = ["", "low", " lower  lowest\n", "the cat's hat", "12345 newest<s>wide"];

fn trained(dialect: &Dialect) -> Result<Tokenizer> {
    let special_tokens = vec!["<|endoftext|>".to_owned(), "<s>".to_owned()];
    let mut counter = CorpusCounter::new(dialect.preparation(&special_tokens)?, 1)?;
    counter.count_texts(&[CORPUS.as_bytes()])?;
    let (counts, _) = counter.finish()?;
    let options = dialect.train_options(Target::Merges(40), special_tokens);
    let trained = train(&counts, &dialect.units, &options, |_| Ok(ControlFlow::Continue(())))?;
    dialect.tokenizer(trained, &options)
}

fn named(name: &str) -> Tokenizer {
    trained(&Dialect::named(name).unwrap()).unwrap()
}

fn changed(tokenizer: &Tokenizer, change: impl FnOnce(&mut Parts)) -> Tokenizer {
    let mut parts = tokenizer.parts().clone();
    change(&mut parts);
    Tokenizer::new(parts).unwrap()
}

/// The ids of the texts; of one that cannot be encoded, nothing.
fn all_ids(tokenizer: &Tokenizer) -> Vec<Option<Vec<TokenId>>> {
    let options = EncodeOptions {
        allowed_special: Specials::All,
        add_special_tokens: true,
        ..EncodeOptions::default()
    };
    TEXTS.iter().map(|text| tokenizer.encode(text.as_bytes(), options).ok()).collect()
}

#[test]
fn a_fingerprint_names_the_content_and_not_the_counts() {
    let tokenizer = named("gpt2");
    let uncounted = changed(&tokenizer, |parts| {
        Arc::make_mut(&mut parts.vocabulary).set_merge_counts(Vec::new());
    });
    assert_eq!(native::fingerprint(&uncounted), native::fingerprint(&tokenizer));
    assert_ne!(native::write(&uncounted), native::write(&tokenizer));
    let other = changed(&tokenizer, |parts| parts.ignore_merges = true);
    assert_ne!(native::fingerprint(&other), native::fingerprint(&tokenizer));
    assert_eq!(native::fingerprint(&tokenizer).len(), 64);
}

/// What a writer says to a tokenizer that its format cannot express.
fn refusals(tokenizer: &Tokenizer) -> [String; 3] {
    let message =
        |error: Option<bytepair::Error>| error.map(|error| error.to_string()).unwrap_or_default();
    [
        message(huggingface::write(tokenizer).err()),
        message(tiktoken::write(tokenizer).err()),
        message(gpt2::write(tokenizer).err()),
    ]
}

#[test]
fn what_a_format_cannot_express_is_refused_by_name() {
    let [in_json, in_tiktoken, in_pair] = refusals(&named("sennrich"));
    assert!(in_json.contains("</w>") && in_json.contains(".bytepair"), "{in_json}");
    assert!(in_tiktoken.contains("characters") && in_pair.contains("plain bytes"));
    assert!(refusals(&named("letters-digits"))[1].contains("not proven to match everything"));
    assert!(refusals(&named("deepseek-v3"))[1].contains("3 split patterns"));
    assert!(refusals(&named("gpt4o"))[2].contains("split pattern"));
    let model = named("gpt2");
    assert!(refusals(&model)[2].contains("<s>"));
    let swapped = changed(&model, |parts| {
        let vocabulary = Arc::make_mut(&mut parts.vocabulary);
        let mut merges = vocabulary.merges().to_vec();
        merges.swap(3, 17);
        let mut other = Vocabulary::new();
        vocabulary.iter().for_each(|(_, token)| drop(other.push(token)));
        for merge in merges {
            other.push_merge_to(merge);
        }
        *vocabulary = other;
    });
    assert!(refusals(&swapped)[1].contains("order of the ids"));
    let like_text = model.with_special_tokens(&[("Ġthe".to_owned(), None)]).unwrap();
    let message = &refusals(&like_text)[0];
    let has_the = model.parts().vocabulary.id(Token::plain(b" the")).is_some();
    assert_eq!(message.contains("two tokens with the name \"Ġthe\""), has_the, "{message}");
}

#[test]
fn a_file_of_tokens_that_are_merged_through_is_refused_by_the_name_of_its_field() {
    let tokenizer = named("gpt2");
    let scaffold = "\"ignore_merges\": false,\n\"scaffold\": [256]";
    let file = String::from_utf8(native::write(&tokenizer)).unwrap();
    let changed = file.replacen("\"ignore_merges\": false", scaffold, 1);
    assert_ne!(changed, file);
    let message = native::read(changed.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("scaffold: tokens that are merged through"), "{message}");
}

/// tiktoken's rule, in its own words.
fn joined_by_rank(bytes: &[u8], ranks: &[Vec<u8>]) -> Vec<TokenId> {
    let rank = |part: &[u8]| ranks.iter().position(|token| token == part);
    if let Some(whole) = rank(bytes) {
        return vec![TokenId::try_from(whole).unwrap()];
    }
    let mut parts: Vec<Vec<u8>> = bytes.chunks(1).map(<[u8]>::to_vec).collect();
    let lowest = |parts: &[Vec<u8>]| {
        let joined = parts
            .windows(2)
            .enumerate()
            .filter_map(|(place, pair)| Some((rank(&pair.concat())?, place)));
        joined.min()
    };
    while let Some((_, place)) = lowest(&parts) {
        let right = parts.remove(place + 1);
        parts[place].extend(right);
    }
    parts.iter().map(|part| TokenId::try_from(rank(part).unwrap()).unwrap()).collect()
}

fn ranks_file(ranks: &[Vec<u8>]) -> String {
    use base64::Engine;
    let encode = |token: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(token);
    let lines = ranks.iter().enumerate().map(|(rank, token)| format!("{} {rank}", encode(token)));
    lines.collect::<Vec<_>>().join("\n")
}

proptest! {
    #[test]
    fn merges_from_any_ranks_do_what_tiktoken_does(
        tokens in prop::collection::vec("[abc]{2,7}", 0..40),
        order in any::<u64>(),
        texts in prop::collection::vec("[abc]{1,24}", 1..12),
    ) {
        let mut ranks: Vec<Vec<u8>> = ["a", "b", "c"].iter().map(|token| token.as_bytes().to_vec()).collect();
        ranks.extend(tokens.into_iter().map(String::into_bytes));
        let mut seen = std::collections::HashSet::new();
        ranks.retain(|token| seen.insert(token.clone()));
        let n_ranks = ranks.len();
        for step in 0..n_ranks {
            let other = usize::try_from(order.rotate_left(u32::try_from(step).unwrap()) % n_ranks as u64).unwrap();
            ranks.swap(step, other);
        }
        let tokenizer = tiktoken::read(ranks_file(&ranks).as_bytes(), Vec::new(), &[]).unwrap();
        for text in texts {
            let ids = tokenizer.encode_ordinary(text.as_bytes()).unwrap();
            prop_assert_eq!(ids, joined_by_rank(text.as_bytes(), &ranks), "{} {:?}", text, ranks);
        }
    }
}

#[test]
fn an_added_token_that_is_no_token_of_its_own_keeps_its_id() {
    let low = named("gpt2").parts().vocabulary.id(Token::plain(b"we")).unwrap();
    let with = |content: &str| {
        let content = content.to_owned();
        changed(&named("gpt2"), |parts| {
            parts.added.push(AddedToken { id: low, content, ..AddedToken::default() });
        })
    };
    let tokenizer = with("we");
    let copy = huggingface::read(&huggingface::write(&tokenizer).unwrap()).unwrap();
    assert_eq!(all_ids(&copy), all_ids(&tokenizer));
    assert_eq!(copy.parts().vocabulary.token(low).map(|token| token.kind), Some(TokenKind::PLAIN));
    assert!(huggingface::write(&with("high")).unwrap_err().to_string().contains("high"));
}

/// A published file in which merges are ignored for pieces that are tokens.
fn ignoring_merges(added: &str, normalizer: &str) -> Vec<u8> {
    let vocab = r#"{"a": 0, "b": 1, "c": 2, "ab": 3}"#;
    format!(
        r#"{{"version": "1.0", "added_tokens": [{added}], "normalizer": {normalizer}, "pre_tokenizer": null,
            "post_processor": null, "decoder": null, "truncation": null, "padding": null,
            "model": {{"type": "BPE", "ignore_merges": true, "vocab": {vocab}, "merges": []}}}}"#
    )
    .into_bytes()
}

fn listed(id: u32, content: &str, single_word: bool, special: bool) -> String {
    format!(
        r#"{{"id": {id}, "content": "{content}", "single_word": {single_word}, "lstrip": false, "rstrip": false,
            "normalized": false, "special": {special}}}"#
    )
}

#[test]
fn an_added_token_of_the_model_is_found_as_a_whole_piece_and_no_other_is() {
    let lower = r#"{"type": "Lowercase"}"#;
    let added = [listed(3, "ab", false, false), listed(4, "ba", false, false)].join(",");
    let tokenizer = huggingface::read(&ignoring_merges(&added, lower)).unwrap();
    let copies = [
        huggingface::read(&huggingface::write(&tokenizer).unwrap()).unwrap(),
        native::read(&native::write(&tokenizer)).unwrap(),
        compiled::read(&compiled::write(&tokenizer).unwrap()).unwrap(),
    ];
    for tokenizer in copies.iter().chain([&tokenizer]) {
        assert_eq!(tokenizer.encode_ordinary(b"AB").unwrap(), [3]);
        assert_eq!(tokenizer.encode_ordinary(b"BA").unwrap(), [1, 0]);
        assert_eq!(tokenizer.encode_ordinary(b"ba").unwrap(), [4]);
        assert_eq!(native::fingerprint(tokenizer), native::fingerprint(&copies[0]));
        let full = tokenizer.encode_full(b"AB", None, EncodeOptions::default()).unwrap();
        assert_eq!((full.ids, full.offsets), (vec![3], vec![(0, 2)]));
        assert_eq!(tokenizer.tokenize(b"AB", EncodeOptions::default()).unwrap(), [b"ab"]);
    }
    let added = [listed(3, "ab", true, false), listed(2, "c", false, false)].join(",");
    let tokenizer = huggingface::read(&ignoring_merges(&added, "null")).unwrap();
    assert_eq!(tokenizer.encode_ordinary(b"abc").unwrap(), [3, 2]);
}

#[test]
fn a_special_token_is_found_as_a_whole_piece_where_it_is_allowed() {
    let lower = r#"{"type": "Lowercase"}"#;
    let file = ignoring_merges(&listed(3, "ab", false, true), lower);
    let tokenizer = huggingface::read(&file).unwrap();
    assert_eq!(tokenizer.encode_ordinary(b"AB").unwrap(), [0, 1]);
    let allowed = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
    assert_eq!(tokenizer.encode(b"AB", allowed).unwrap(), [3]);
    assert_eq!(tokenizer.encode_ordinary(b"AB").unwrap(), [0, 1]);
}

#[test]
fn an_added_token_that_would_become_a_whole_piece_is_not_written() {
    let file = ignoring_merges(&listed(4, "ba", false, false), "null");
    let tokenizer = huggingface::read(&file).unwrap();
    let more = tokenizer.with_special_tokens(&[("<x>".to_owned(), Some(9))]).unwrap();
    let problem = huggingface::write(&more).unwrap_err().to_string();
    assert!(problem.contains("merges are ignored"), "{problem}");
}
