//! What settings make of small pairs.

use serde_json::{Value, json};

use super::classes::{CLASSES, Class};
use super::{ADDED_TOKENS, CONFIG, MODEL, Pair, SPECIAL_TOKENS, read, read_split, tokenizer_json};
use crate::native;
use bytepair::Result;
use bytepair::{EncodeOptions, Tokenizer};

const MERGES: &[u8] = b"#version: 0.2\na b\n";

fn with_pair<T>(vocab: &Value, settings: &[(&str, Value)], read_it: impl Fn(&Pair<'_>) -> T) -> T {
    let vocab = vocab.to_string();
    let written: Vec<_> =
        settings.iter().map(|(name, file)| (*name, file.to_string().into_bytes())).collect();
    let settings: Vec<_> = written.iter().map(|(name, file)| (*name, file.as_slice())).collect();
    read_it(&Pair { vocab_json: vocab.as_bytes(), merges_txt: MERGES, settings: &settings })
}

/// The tokenizer of a pair, split by GPT-2's pattern.
fn read_as_gpt2(pair: &Pair<'_>) -> Result<Tokenizer> {
    read_split(pair, bytepair_split::named("gpt2"))
}

fn tokenizer(settings: &[(&str, Value)]) -> Result<Tokenizer> {
    with_pair(&json!({"a": 0, "b": 1, "ab": 2, "<m>": 3}), settings, read_as_gpt2)
}

/// An added token as settings make it.
fn added_token(settings: &[(&str, Value)], content: &str) -> Value {
    let file = with_pair(&json!({"a": 0, "b": 1, "ab": 2}), settings, |pair| {
        tokenizer_json(pair, &*pair.class(true)?)
    });
    let file = file.unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let tokens = file["added_tokens"].as_array().unwrap();
    tokens.iter().find(|token| token["content"] == content).unwrap().clone()
}

fn message(settings: &[(&str, Value)]) -> String {
    tokenizer(settings).unwrap_err().to_string()
}

#[test]
fn every_class_reads_a_pair() {
    assert_eq!(CLASSES.len(), 12);
    for class in &*CLASSES {
        let named = json!({"tokenizer_class": format!("{}TokenizerFast", class.name)});
        let vocab = match class.pipeline(false).suffix().is_empty() {
            true => json!({"a": 0, "b": 1, "ab": 2}),
            false => json!({"a": 0, "b": 1, "ab": 2, "a</w>": 3, "<unk>": 4}),
        };
        let read = with_pair(&vocab, &[(CONFIG, named)], read);
        assert!(read.is_ok(), "{}: {read:?}", class.name);
    }
}

#[test]
fn a_pair_that_names_no_pattern_needs_one() {
    let vocab = br#"{"a": 0, "b": 1, "ab": 2}"#;
    let with = |merges_txt: &[u8], settings: &[(&str, &[u8])], pattern: Option<&str>| {
        let stages = pattern.map(|name| bytepair_split::named(name).unwrap());
        let tokenizer = read_split(&Pair { vocab_json: vocab, merges_txt, settings }, stages);
        let splitter = |tokenizer: Tokenizer| tokenizer.parts().pre_tokenizer.only_splitter();
        tokenizer.map(|tokenizer| splitter(tokenizer).unwrap().stages().to_vec())
    };
    let splits = |name: &str| with(b"a b\n", &[], Some(name)).unwrap();
    let asks = with(b"#version: 0.2\na b\n", &[], None).unwrap_err().to_string();
    assert!(asks.contains("give pattern="), "{asks}");
    let named = b"#version: 0.2 - pattern: gpt2\na b\n";
    assert_eq!(with(named, &[], None).unwrap(), splits("gpt2"));
    assert_eq!(with(named, &[], Some("qwen2")).unwrap(), splits("qwen2"));
    let qwen = [(CONFIG, br#"{"tokenizer_class": "Qwen2Tokenizer"}"#.as_slice())];
    let problem = with(named, &qwen, None).unwrap_err().to_string();
    assert!(problem.contains("Qwen2Tokenizer, which splits otherwise"), "{problem}");
    let ruleless = [(CONFIG, br#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#.as_slice())];
    assert!(with(b"a b\n", &ruleless, None).is_err());
    assert_eq!(with(b"a b\n", &ruleless, Some("qwen2")).unwrap(), splits("qwen2"));
}

#[test]
fn every_model_has_a_class() {
    for (model_type, name) in [("gpt2", "GPT2"), ("qwen3", "Qwen2"), ("openai-gpt", "OpenAIGPT")] {
        let model = json!({"model_type": model_type});
        let class = Class::of_model(model.as_object().unwrap()).unwrap();
        assert_eq!(class.name, name);
    }
}

#[test]
fn a_role_is_that_of_the_config_then_of_the_map_then_of_the_class() {
    let class = |more: &Value| {
        let mut config = json!({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (CONFIG, config)
    };
    let begins_with = |settings: &[(&str, Value)]| {
        let tokenizer = tokenizer(settings).unwrap();
        let options = EncodeOptions { add_special_tokens: true, ..EncodeOptions::default() };
        let full = tokenizer.encode_full(b"ab", None, options).unwrap();
        tokenizer.parts().vocabulary.token(full.ids[0]).unwrap().bytes.to_vec()
    };
    let map = (SPECIAL_TOKENS, json!({"bos_token": "<map>"}));
    let own = json!({"bos_token": {"content": "<own>", "__type": "AddedToken"}});
    assert_eq!(begins_with(&[class(&json!({}))]), b"<|endoftext|>");
    assert_eq!(begins_with(&[class(&json!({})), map.clone()]), b"<map>");
    assert_eq!(begins_with(&[class(&own), map.clone()]), b"<own>");
    let none = class(&json!({"bos_token": null}));
    assert_eq!(begins_with(&[none, map]), b"ab");
}

#[test]
fn added_tokens_take_the_next_ids_in_the_order_of_theirs() {
    let listed = json!({"added_tokens_decoder": {
        "4": {"content": "<ten>", "lstrip": true}, "3": {"content": "<nine>", "special": true}
    }});
    let config = [(CONFIG, listed)];
    assert_eq!(
        added_token(&config, "<nine>"),
        json!({
            "id": 3, "content": "<nine>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true
        })
    );
    assert_eq!(
        added_token(&config, "<ten>"),
        json!({
            "id": 4, "content": "<ten>", "single_word": false, "lstrip": true, "rstrip": false,
            "normalized": true, "special": false
        })
    );
    let named = [(ADDED_TOKENS, json!({"<ten>": 4, "<nine>": 3}))];
    assert_eq!(added_token(&named, "<nine>")["id"], 3);
    assert_eq!(added_token(&named, "<ten>")["special"], false);
    let more = [(CONFIG, json!({"additional_special_tokens": ["<more>"]}))];
    assert_eq!(added_token(&more, "<more>")["special"], true);
    let named = [(CONFIG, json!({"extra_special_tokens": {"image_token": "<image>"}}))];
    assert_eq!(added_token(&named, "<image>")["special"], true);
}

#[test]
fn the_model_names_the_class_where_no_config_does() {
    let known = [(MODEL, json!({"model_type": "roberta"}))];
    let unknown = [(MODEL, json!({"model_type": "odd", "model_max_length": 1e30}))];
    assert_eq!(added_token(&known, "<mask>")["special"], true);
    assert_eq!(
        native::write(&tokenizer(&unknown).unwrap()),
        native::write(&tokenizer(&[]).unwrap())
    );
}

#[test]
fn settings_that_are_not_understood_are_refused() {
    for (name, settings, part) in [
        (CONFIG, json!({"tokenizer_class": "OddTokenizer"}), "OddTokenizer"),
        (CONFIG, json!({"tokenizer_class": 1}), "tokenizer_class 1"),
        (CONFIG, json!({"add_prefix_space": 1}), "add_prefix_space is 1"),
        (CONFIG, json!({"add_bos_token": "yes"}), "add_bos_token is \"yes\""),
        (CONFIG, json!({"bos_token": 1}), "not an added token"),
        (CONFIG, json!({"bos_token": {"special": true}}), "not an added token"),
        (CONFIG, json!({"additional_special_tokens": "<a>"}), "additional_special_tokens"),
        (CONFIG, json!({"added_tokens_decoder": {"x": "<a>"}}), "\"x\" is not an id"),
        (CONFIG, json!({"added_tokens_decoder": 1}), "added_tokens_decoder"),
        (CONFIG, json!([]), "expected a JSON object"),
        (ADDED_TOKENS, json!({"<a>": -1}), "-1 is not an id"),
        (
            ADDED_TOKENS,
            json!({"<a>": 9}),
            "\"<a>\" is listed with the id 9, but 4 is the next free one",
        ),
        (
            ADDED_TOKENS,
            json!({"a": 9}),
            "\"a\" is listed with the id 9, but 0 is its id in vocab.json",
        ),
        (
            CONFIG,
            json!({"added_tokens_decoder": {"9": {"content": "<a>"}}}),
            "tokenizer_config.json",
        ),
        (SPECIAL_TOKENS, json!("x"), "expected a JSON object"),
    ] {
        let message = message(&[(name, settings)]);
        assert!(message.contains(part), "{message}");
    }
    let settings = [(CONFIG, br#"{"a": {"b": 1, "b": 2}}"#.as_slice())];
    let vocab_json = br#"{"a": 0}"#;
    let twice = read(&Pair { vocab_json, merges_txt: b"", settings: &settings });
    assert!(twice.unwrap_err().to_string().contains("\"b\" appears twice"));
}

#[test]
fn a_token_without_a_merge_is_refused_unless_settings_list_it() {
    let vocab = json!({"a": 0, "b": 1, "ab": 2, "ba": 3});
    let read_it = |settings: &[(&str, Value)]| with_pair(&vocab, settings, read_as_gpt2);
    let model = [(MODEL, json!({"model_type": "gpt2"}))];
    assert!(read_it(&model).unwrap_err().to_string().contains("cut off"));
    let listed = [(ADDED_TOKENS, json!({"ba": 3}))];
    assert!(read_it(&listed).is_ok());
}
