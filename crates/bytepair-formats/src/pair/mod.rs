//! `vocab.json` and `merges.txt`, with the settings in the files beside them.
//!
//! The pair does not say how a text becomes words. `tokenizer_config.json` names a class of transformers. What that class
//! makes of a pair is put together as a `tokenizer.json`, and read as one. `special_tokens_map.json` and
//! `added_tokens.json` count if the config lists no `added_tokens_decoder`. If no class is named, the `model_type` of
//! `config.json` decides, or the merges do if they are published ones. If these do not decide either, the first line of
//! `merges.txt` names the pattern, as `gpt2` writes it, or the caller gives it, since vocabularies of the same shape are
//! split in many ways.
//!
//! `classes` holds the known classes and what each puts around a text; `added` holds the tokens that settings name. Left
//! out: settings of calls (lengths, sides, chat templates), and the language in Whisper's prefix. Takes time linear in
//! the size of the files.

mod added;
mod classes;

use std::borrow::Cow;

use serde_json::{Map, Value};

use self::added::{AddedTokens, Ids};
use self::classes::{Class, Tokens, post_processor};
use super::assembly::{Document, Pipeline, check_made, named_pattern, numbered_merges, pairs};
use super::json::{self, Entries};
use super::{gpt2, huggingface};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Splitter, Stage};

/// The name of the format in messages.
const FORMAT: &str = "vocab.json and merges.txt";

const CONFIG: &str = "tokenizer_config.json";
const SPECIAL_TOKENS: &str = "special_tokens_map.json";
const ADDED_TOKENS: &str = "added_tokens.json";
const MODEL: &str = "config.json";

/// The files of settings that are read.
pub const SETTINGS: [&str; 4] = [CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, MODEL];

/// The contents of the files.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'f> {
    /// The ids.
    pub vocab_json: &'f [u8],
    /// The merges.
    pub merges_txt: &'f [u8],
    /// The existing files of [`SETTINGS`], each with its name.
    pub settings: &'f [(&'f str, &'f [u8])],
}

/// Reads the tokenizer of the files.
///
/// # Errors
/// If a file is damaged or names an unknown class, or if nothing says how texts are split. The error says which.
pub fn read(pair: &Pair<'_>) -> Result<Tokenizer> {
    read_split(pair, None)
}

/// Reads the tokenizer of GPT-1's own pair, `encoder_bpe_40000.json` and `vocab_40000.bpe`, as `transformers` reads it.
///
/// The program that GPT-1 was trained with repaired the text (ftfy) and cut it with spaCy. Its ids differ if Bert's words
/// do.
///
/// # Errors
/// As [`read`].
pub fn read_gpt1(encoder_json: &[u8], vocab_bpe: &[u8]) -> Result<Tokenizer> {
    let config = br#"{"tokenizer_class": "OpenAIGPTTokenizer"}"#;
    read(&Pair { vocab_json: encoder_json, merges_txt: vocab_bpe, settings: &[(CONFIG, config)] })
}

/// Reads the tokenizer of the files. If stages are given, they split the text instead of those that the files name.
///
/// # Errors
/// As [`read`], and if stages are given although words end in a mark.
pub fn read_split(pair: &Pair<'_>, stages: Option<Vec<Stage>>) -> Result<Tokenizer> {
    let class = pair.class(stages.is_some())?;
    if !pair.has_settings()? && class.name == "GPT2" {
        let stages = stages.or_else(|| bytepair_split::named("gpt2"));
        return gpt2::read_split(pair.vocab_json, pair.merges_txt, stages.unwrap_or_default());
    }
    let tokenizer = huggingface::read(&tokenizer_json(pair, &class)?)?;
    let Some(stages) = stages else { return Ok(tokenizer) };
    let parts = tokenizer.parts();
    if class.pattern().is_none() || parts.pre_tokenizer.only_splitter().is_none() {
        let problem = format!(
            "pattern= cannot replace the words of {}Tokenizer; leave it out, or add_prefix_space out of {CONFIG}",
            class.name
        );
        return Err(Error::format(FORMAT, CONFIG, problem));
    }
    let splitter = Splitter::new(stages, &UnicodeTables::latest())?;
    Tokenizer::new(Parts { pre_tokenizer: splitter.into(), ..parts.clone() })
}

/// The `tokenizer.json` that a class makes of the files.
fn tokenizer_json(pair: &Pair<'_>, class: &Class) -> Result<Vec<u8>> {
    let Entries(entries) = json::parse(FORMAT, "vocab.json", pair.vocab_json)?;
    let mut ids = ids(&entries)?;
    let merges = numbered_merges(FORMAT, pair.merges_txt)?;
    let config = pair.object(CONFIG)?;
    let added = AddedTokens::of(pair, &config, class, &ids)?;
    let prefix_space = class.prefix_space(&config)?;
    let pipeline = Pipeline::named(&class.pipeline, prefix_space);
    let names = entries.iter().map(|(name, _)| name.as_ref());
    check_made(FORMAT, names, &merges, &pipeline.suffix, |name| added.contains(name))?;
    added.number(&mut ids)?;
    let tokens = Tokens { added: &added, ids: &ids };
    let marks_ends = !pipeline.suffix.is_empty();
    let document = Document {
        pipeline,
        added_tokens: added.written(&ids),
        post_processor: post_processor(class, &config, &tokens, prefix_space)?,
        unknown: added.of_role("unk").filter(|_| marks_ends).map(str::to_owned),
        merges: pairs(&merges),
        vocab: entries.iter().map(|(name, id)| (name.clone().into_owned(), (*id).into())).collect(),
    };
    Ok(document.into_bytes())
}

/// The ids of a vocabulary by name.
fn ids<'e>(entries: &'e [(Cow<'_, str>, TokenId)]) -> Result<Ids<'e>> {
    let ids: Ids<'_> = entries.iter().map(|(name, id)| (name.as_ref(), *id)).collect();
    match ids.len() < entries.len() {
        true => Err(Error::format(FORMAT, "vocab.json", "a token appears twice")),
        false => Ok(ids),
    }
}

/// The value of a switch in `tokenizer_config.json`, if it is there.
fn switch(config: &Map<String, Value>, name: &str) -> Result<Option<bool>> {
    match config.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(is_on)) => Ok(Some(*is_on)),
        Some(other) => {
            let problem = format!("{name} is {other}; it must be true or false");
            Err(Error::format(FORMAT, CONFIG, problem))
        }
    }
}

impl Pair<'_> {
    /// The class that the files name, or that for a pair of bytes if the pattern is known or given.
    fn class(&self, is_split: bool) -> Result<Cow<'static, Class>> {
        let Entries(entries) = json::parse(FORMAT, "vocab.json", self.vocab_json)?;
        let ids = ids(&entries)?;
        let merges = numbered_merges(FORMAT, self.merges_txt)?;
        let class = Class::of(&self.object(CONFIG)?, &self.object(MODEL)?, &ids, &merges)?;
        let named = named_pattern(self.merges_txt);
        if let (Some(class), Some(named)) = (class, named)
            && !is_split
            && class.pattern() != Some(named)
        {
            let problem = format!(
                "says that texts are split by {named}, but {CONFIG} or {MODEL} names {}Tokenizer, which splits \
                 otherwise; remove that file, or give the split pattern",
                class.name
            );
            return Err(Error::format(FORMAT, "merges.txt", problem));
        }
        if let Some(class) = class {
            return Ok(Cow::Borrowed(class));
        }
        if ids.keys().any(|name| name.ends_with("</w>")) {
            let problem = "marks ends of words with </w>, as CLIP and GPT-1 do, but is neither's; put a \
                           tokenizer_config.json with its tokenizer_class beside it";
            return Err(Error::format(FORMAT, "vocab.json", problem));
        }
        if is_split || named == Some("gpt2") {
            return Ok(Cow::Owned(Class::of_bytes()));
        }
        let problem = match named {
            Some(name) => format!("names the pattern {name:?}, which is not known here; give the split pattern"),
            None => "nothing says how texts are split, and these are not the merges of GPT-2, RoBERTa, Whisper, CLIP \
                     or GPT-1; give the split pattern, a regular expression or a name such as \"gpt2\", or put a \
                     tokenizer_config.json with its tokenizer_class beside the files"
                .to_owned(),
        };
        Err(Error::format(FORMAT, "merges.txt", problem))
    }

    /// The object in a file of settings. Empty if there is no such file.
    fn object(&self, name: &str) -> Result<Map<String, Value>> {
        let Some((_, file)) = self.settings.iter().find(|(other, _)| *other == name) else {
            return Ok(Map::new());
        };
        match json::parse_unique(FORMAT, name, file)? {
            Value::Object(object) => Ok(object),
            _ => Err(Error::format(FORMAT, name, "expected a JSON object")),
        }
    }

    /// Whether a file beside the pair says how it is meant.
    fn has_settings(&self) -> Result<bool> {
        let is_own = |name: &str| [CONFIG, SPECIAL_TOKENS, ADDED_TOKENS].contains(&name);
        if self.settings.iter().any(|(name, _)| is_own(name)) {
            return Ok(true);
        }
        Ok(Class::of_model(&self.object(MODEL)?).is_some())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        ADDED_TOKENS, CONFIG, MODEL, Pair, SPECIAL_TOKENS, read, read_split, tokenizer_json,
    };
    use crate::native;
    use bytepair::Result;
    use bytepair::{EncodeOptions, Tokenizer};

    const MERGES: &[u8] = b"#version: 0.2\na b\n";

    fn with_pair<T>(
        vocab: &Value,
        settings: &[(&str, Value)],
        read_it: impl Fn(&Pair<'_>) -> T,
    ) -> T {
        let vocab = vocab.to_string();
        let written: Vec<_> =
            settings.iter().map(|(name, file)| (*name, file.to_string().into_bytes())).collect();
        let settings: Vec<_> =
            written.iter().map(|(name, file)| (*name, file.as_slice())).collect();
        read_it(&Pair { vocab_json: vocab.as_bytes(), merges_txt: MERGES, settings: &settings })
    }

    /// The tokenizer of a pair, split by GPT-2's pattern.
    fn read_as_gpt2(pair: &Pair<'_>) -> Result<Tokenizer> {
        read_split(pair, bytepair_split::named("gpt2"))
    }

    fn tokenizer(settings: &[(&str, Value)]) -> Result<Tokenizer> {
        with_pair(&json!({"a": 0, "b": 1, "ab": 2, "<m>": 3}), settings, read_as_gpt2)
    }

    /// An added token, as settings define it.
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
        assert!(asks.contains("give the split pattern"), "{asks}");
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
        // A token that settings list needs no merge.
        let vocab = json!({"a": 0, "b": 1, "ab": 2, "ba": 3});
        assert!(with_pair(&vocab, &[(ADDED_TOKENS, json!({"ba": 3}))], read_as_gpt2).is_ok());
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
}
