//! `vocab.json` and `merges.txt` with the settings that lie beside them.
//!
//! The pair says nothing of how a text becomes words. `tokenizer_config.json` names a class of transformers; what that
//! class makes of a pair is put together as a `tokenizer.json` and read as that. `special_tokens_map.json` and
//! `added_tokens.json` count where the config lists no `added_tokens_decoder`; without a class, the `model_type` of
//! `config.json` names it. Without any of these the pair is GPT-2's, unless its tokens show another's.
//!
//! `classes` are the classes that are known, `added` are the tokens that settings name, `template` what a class puts
//! around a text. Left out: settings of calls (lengths, sides, chat templates), and the language of Whisper's prefix.
//! Linear in the size of the files.

mod added;
mod classes;
mod template;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::added::{AddedTokens, Ids};
use self::classes::Class;
use self::template::Tokens;
use super::assembly::Document;
use super::json::{self, Entries};
use super::merges::{check_made, numbered_merges, pairs};
use super::{gpt2, huggingface};
use bytepair::Tokenizer;
use bytepair::{Error, Result};

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
/// Where a file is damaged, or names a class that is not known; the error says which.
pub fn read(pair: &Pair<'_>) -> Result<Tokenizer> {
    let has_endings = pair.vocab_json.windows(4).any(|bytes| bytes == b"</w>");
    if !has_endings && !pair.has_settings()? {
        return gpt2::read(pair.vocab_json, pair.merges_txt);
    }
    huggingface::read(&tokenizer_json(pair)?)
}

/// The `tokenizer.json` of the tokenizer that the files hold.
///
/// # Errors
/// As for [`read`], as far as they do not come from what a `tokenizer.json` says.
pub fn tokenizer_json(pair: &Pair<'_>) -> Result<Vec<u8>> {
    let Entries(entries) = json::parse(FORMAT, "vocab.json", pair.vocab_json)?;
    let mut ids: Ids<'_> = entries.iter().map(|(name, id)| (name.as_ref(), *id)).collect();
    if ids.len() < entries.len() {
        return Err(Error::format(FORMAT, "vocab.json", "a token appears twice"));
    }
    let merges = numbered_merges(FORMAT, pair.merges_txt)?;
    let config = pair.object(CONFIG)?;
    let class = Class::of(&config, || pair.object(MODEL), &ids)?;
    let added = AddedTokens::of(pair, &config, class)?;
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
