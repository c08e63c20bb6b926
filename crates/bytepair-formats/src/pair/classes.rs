//! The classes of transformers that read a pair, and what each of them adds to it.
//!
//! A class is recognised by its name, or by the kind of its model, or by the merges of the published vocabulary that it was
//! made for. An unknown class is refused: what it would do is not guessed. So is a pair with marks at the ends of words that
//! names no class. Reads the merges if there is nothing else to go by.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::added::Ids;
use super::{CONFIG, FORMAT, switch};
use crate::assembly::Pipeline;
use crate::hexadecimal;
use crate::merges::NumberedMerge;
use bytepair::{Error, Result};

/// What a class makes of a pair (`classes.json`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    /// Its name, without `Tokenizer` and `Fast`.
    pub(super) name: String,
    /// The kinds of models that have it.
    pub(super) models: Vec<String>,
    /// SHA-256 of published merges, each as two tokens, a space between and a line feed behind.
    #[serde(default)]
    merges: Vec<String>,
    /// Tokens that a vocabulary with these merges has too.
    #[serde(default)]
    tokens: Vec<String>,
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
    /// The class that `tokenizer_config.json` names, else that of the model, else that of published merges.
    ///
    /// # Errors
    /// Where a class that is not known is named. One without rules of its own says nothing.
    pub(super) fn of(
        config: &Map<String, Value>,
        model: &Map<String, Value>,
        ids: &Ids<'_>,
        merges: &[NumberedMerge<'_>],
    ) -> Result<Option<&'static Self>> {
        match config.get("tokenizer_class").filter(|named| !named.is_null()) {
            Some(named) if RULELESS.contains(&class_name(named)) => {}
            Some(named) => return Self::named(named).map(Some),
            None => {}
        }
        Ok(Self::of_model(model).or_else(|| Self::of_published(ids, merges)))
    }

    /// The class of a published vocabulary, by its merges.
    fn of_published(ids: &Ids<'_>, merges: &[NumberedMerge<'_>]) -> Option<&'static Self> {
        let mut digest = Sha256::new();
        for merge in merges {
            for part in [merge.left, " ", merge.right, "\n"] {
                digest.update(part.as_bytes());
            }
        }
        let digest = hexadecimal(&digest.finalize());
        let has = |class: &&Self| {
            class.merges.contains(&digest)
                && class.tokens.iter().all(|token| ids.contains_key(token.as_str()))
        };
        CLASSES.iter().filter(has).max_by_key(|class| class.tokens.len())
    }

    /// What is made of a pair of bytes of which only the pattern is known.
    pub(super) fn of_bytes() -> Self {
        Self {
            name: "GPT2".to_owned(),
            models: Vec::new(),
            merges: Vec::new(),
            tokens: Vec::new(),
            kind: Kind::Bytes,
            template: Around::AsAsked,
            roles: HashMap::new(),
            puts_space: false,
            mask_takes_space: false,
        }
    }

    /// The class of the model that `config.json` describes, if it is known.
    pub(super) fn of_model(model: &Map<String, Value>) -> Option<&'static Self> {
        let model_type = model.get("model_type")?.as_str()?;
        CLASSES.iter().find(|class| class.models.iter().any(|known| known == model_type))
    }

    fn named(named: &Value) -> Result<&'static Self> {
        let name = class_name(named);
        CLASSES.iter().find(|class| class.name == name).ok_or_else(|| unknown(named))
    }

    /// The pattern of its texts, where these are bytes cut by one.
    pub(super) fn pattern(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Bytes => Some("gpt2"),
            Kind::Qwen2 => Some("qwen2"),
            Kind::Clip | Kind::Gpt1 => None,
        }
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

/// Classes without rules of their own, by what is left of their names.
const RULELESS: [&str; 3] = ["PreTrained", "TokenizersBackend", "PythonBackend"];

/// The name of a class, without `Tokenizer` and `Fast`.
fn class_name(named: &Value) -> &str {
    let text = named.as_str().unwrap_or_default();
    let name = text.strip_suffix("Fast").unwrap_or(text);
    name.strip_suffix("Tokenizer").unwrap_or(name)
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
