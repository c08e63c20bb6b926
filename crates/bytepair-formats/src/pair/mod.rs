//! `vocab.json` and `merges.txt` with the settings that lie beside them.
//!
//! The pair says nothing of how a text becomes words. `tokenizer_config.json` names a class of transformers; what that
//! class makes of a pair is put together as a `tokenizer.json` and read as that. `special_tokens_map.json` and
//! `added_tokens.json` count where the config lists no `added_tokens_decoder`; without a class, the `model_type` of
//! `config.json` names it, or the merges do, where they are published ones. Otherwise the first line of `merges.txt` names
//! the pattern, as `gpt2` writes it, or the caller gives it: vocabularies of one shape are split in many ways.
//!
//! `classes` are the classes that are known, `added` are the tokens that settings name, `template` what a class puts
//! around a text. Left out: settings of calls (lengths, sides, chat templates), and the language of Whisper's prefix.
//! Linear in the size of the files.

mod added;
mod classes;
mod template;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Map, Value};

use self::added::{AddedTokens, Ids};
use self::classes::Class;
use self::template::Tokens;
use super::assembly::Document;
use super::json::{self, Entries};
use super::merges::{check_made, named_pattern, numbered_merges, pairs};
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
    /// The files of [`SETTINGS`] that are there, each with its name.
    pub settings: &'f [(&'f str, &'f [u8])],
}

/// The tokenizer of the files.
///
/// # Errors
/// Where a file is damaged, names a class that is not known, or nothing says how texts are split; the error says which.
pub fn read(pair: &Pair<'_>) -> Result<Tokenizer> {
    read_split(pair, None)
}

/// The tokenizer of the files, split by these stages, if any are given, instead of those that the files name.
///
/// # Errors
/// As [`read`], and where stages are given for words that end in a mark.
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

/// The `tokenizer.json` of the tokenizer that a class makes of the files.
fn tokenizer_json(pair: &Pair<'_>, class: &Class) -> Result<Vec<u8>> {
    let Entries(entries) = json::parse(FORMAT, "vocab.json", pair.vocab_json)?;
    let mut ids = ids(&entries)?;
    let merges = numbered_merges(FORMAT, pair.merges_txt)?;
    let config = pair.object(CONFIG)?;
    let added = AddedTokens::of(pair, &config, class, &ids)?;
    let prefix_space = class.prefix_space(&config)?;
    let pipeline = class.pipeline(prefix_space);
    let names = entries.iter().map(|(name, _)| name.as_ref());
    check_made(FORMAT, names, &merges, pipeline.suffix(), |name| added.contains(name))?;
    added.number(&mut ids)?;
    let tokens = Tokens { added: &added, ids: &ids };
    let document = Document {
        pipeline,
        added_tokens: added.written(&ids),
        post_processor: template::post_processor(class, &config, &tokens, prefix_space)?,
        unknown: added.of_role("unk").filter(|_| !pipeline.suffix().is_empty()).map(str::to_owned),
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

/// What `tokenizer_config.json` says of a switch, if it says anything.
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
    /// The class that the files name, or that of a pair of bytes whose pattern is known or given.
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
                 otherwise; remove that file, or give pattern=",
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
            Some(name) => format!("names the pattern {name:?}, which is not known here; give pattern="),
            None => "nothing says how texts are split, and these are not the merges of GPT-2, RoBERTa, Whisper, CLIP \
                     or GPT-1; give pattern=, a regular expression or a name such as \"gpt2\", or put a \
                     tokenizer_config.json with its tokenizer_class beside the files"
                .to_owned(),
        };
        Err(Error::format(FORMAT, "merges.txt", problem))
    }

    /// The object in a file of settings; an empty one where there is no such file.
    fn object(&self, name: &str) -> Result<Map<String, Value>> {
        let Some((_, file)) = self.settings.iter().find(|(other, _)| *other == name) else {
            return Ok(Map::new());
        };
        match json::parse_unique(FORMAT, name, file)? {
            Value::Object(object) => Ok(object),
            _ => Err(Error::format(FORMAT, name, "expected a JSON object")),
        }
    }

    /// Whether something lies beside the two files that says how they are meant.
    fn has_settings(&self) -> Result<bool> {
        let is_own = |name: &str| [CONFIG, SPECIAL_TOKENS, ADDED_TOKENS].contains(&name);
        if self.settings.iter().any(|(name, _)| is_own(name)) {
            return Ok(true);
        }
        Ok(Class::of_model(&self.object(MODEL)?).is_some())
    }
}
