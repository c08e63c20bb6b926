//! The classes of transformers that read a pair, and what each of them adds to it.
//!
//! A class is recognised by its name, or by the kind of its model, or by tokens that only its vocabulary has. An unknown
//! class is refused: what it would do is not guessed. Takes a look at each token if there is nothing else to go by.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::added::Ids;
use super::{CONFIG, FORMAT, switch};
use crate::assembly::Pipeline;
use bytepair::{Error, Result};

/// What a class makes of a pair (`classes.json`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    /// Its name, without `Tokenizer` and `Fast`.
    pub(super) name: String,
    /// The kinds of models that have it.
    pub(super) models: Vec<String>,
    kind: Kind,
    pub(super) template: Around,
    /// Special tokens by what they are for, where settings name none.
    pub(super) roles: HashMap<String, String>,
    #[serde(default)]
    puts_space: bool,
    /// Whether the white space before the mask belongs to it.
    #[serde(default)]
    pub(super) mask_takes_space: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Bytes,
    Qwen2,
    Clip,
    Gpt1,
}

/// What stands around a text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Around {
    /// What `add_bos_token` and `add_eos_token` ask for.
    AsAsked,
    Roberta,
    Clip,
    Deberta,
    Whisper,
}

pub(super) static CLASSES: LazyLock<Vec<Class>> =
    LazyLock::new(|| serde_json::from_str(include_str!("classes.json")).unwrap_or_default());

impl Class {
    /// The class that `tokenizer_config.json` names, else that of the model, else that of the vocabulary.
    pub(super) fn of(
        config: &Map<String, Value>,
        model: impl FnOnce() -> Result<Map<String, Value>>,
        ids: &Ids<'_>,
    ) -> Result<&'static Self> {
        if let Some(named) = config.get("tokenizer_class").filter(|named| !named.is_null()) {
            return Self::named(named);
        }
        if let Some(class) = Self::of_model(&model()?) {
            return Ok(class);
        }
        let shown = match ids.keys().any(|name| name.ends_with("</w>")) {
            false => "GPT2",
            true if ids.contains_key("<|startoftext|>") && ids.contains_key("Ġ</w>") => "CLIP",
            true if ids.contains_key("<unk>") && ids.contains_key("\n</w>") => "OpenAIGPT",
            true => {
                let problem = "marks ends of words with </w>, as CLIP and GPT-1 do, but is neither's; \
                               put a tokenizer_config.json with its tokenizer_class beside it";
                return Err(Error::format(FORMAT, "vocab.json", problem));
            }
        };
        Self::find(shown).ok_or_else(|| unknown(shown))
    }

    /// The class of the model that `config.json` describes, if it is known.
    pub(super) fn of_model(model: &Map<String, Value>) -> Option<&'static Self> {
        let model_type = model.get("model_type")?.as_str()?;
        CLASSES.iter().find(|class| class.models.iter().any(|known| known == model_type))
    }

    fn named(named: &Value) -> Result<&'static Self> {
        let text = named.as_str().unwrap_or_default();
        let name = text.strip_suffix("Fast").unwrap_or(text);
        let name = name.strip_suffix("Tokenizer").unwrap_or(name);
        Self::find(name).ok_or_else(|| unknown(named))
    }

    fn find(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|class| class.name == name)
    }

    /// Whether a space is put before a text: as the settings say, else as the class does.
    pub(super) fn prefix_space(&self, config: &Map<String, Value>) -> Result<bool> {
        Ok(switch(config, "add_prefix_space")?.unwrap_or(self.puts_space))
    }

    pub(super) fn pipeline(&self, prefix_space: bool) -> Pipeline {
        match self.kind {
            Kind::Bytes => Pipeline::Bytes { prefix_space },
            Kind::Qwen2 => Pipeline::Qwen2 { prefix_space },
            Kind::Clip => Pipeline::Clip,
            Kind::Gpt1 => Pipeline::Gpt1,
        }
    }
}

fn unknown(named: impl std::fmt::Display) -> Error {
    let known: Vec<_> = CLASSES.iter().map(|class| format!("{}Tokenizer", class.name)).collect();
    let problem = format!(
        "tokenizer_class {named} is not known for vocab.json with merges.txt; known are {}. Save it \
         with transformers as a tokenizer.json and read that",
        known.join(", ")
    );
    Error::format(FORMAT, CONFIG, problem)
}
