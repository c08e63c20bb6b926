//! The classes of transformers that read a pair, what each of them adds to it, and the special tokens that it puts around a
//! text, as a `tokenizer.json` writes them.
//!
//! A class is recognised by its name, or by the kind of its model, or by the merges of the published vocabulary that it was
//! made for. An unknown class is refused: what it would do is not guessed. So is a pair with marks at the ends of words that
//! names no class. Left out: the language and the task of Whisper's prefix, which a call chooses. Reads the merges if there
//! is nothing else to go by.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::added::{AddedTokens, Ids};
use super::{CONFIG, FORMAT, switch};
use crate::assembly::{NumberedMerge, roberta};
use crate::hexadecimal;
use crate::huggingface::template_value;
use bytepair::template::{Template, TemplatePiece};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// What a class makes of a pair (`classes.json`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    /// Its name, without `Tokenizer` and `Fast`.
    pub(super) name: String,
    /// The kinds of models that have it.
    pub(super) models: Vec<String>,
    /// SHA-256 of published merges, each as two tokens, a space between and a line feed after them.
    #[serde(default)]
    merges: Vec<String>,
    /// Tokens that a vocabulary with these merges has too.
    #[serde(default)]
    tokens: Vec<String>,
    /// The name of its pipeline.
    pub(super) pipeline: String,
    pub(super) template: Around,
    /// Special tokens by what they are for, where settings name none.
    pub(super) roles: HashMap<String, String>,
    #[serde(default)]
    puts_space: bool,
    /// Whether the white space before the mask belongs to it.
    #[serde(default)]
    pub(super) mask_takes_space: bool,
}

/// What stands around a text.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Around {
    /// What `add_bos_token` and `add_eos_token` request.
    #[default]
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
    /// If a class that is not known is named. One without rules of its own says nothing.
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
        Self { name: "GPT2".to_owned(), pipeline: "bytes".to_owned(), ..Self::default() }
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
        match self.pipeline.as_str() {
            "bytes" => Some("gpt2"),
            "qwen2" => Some("qwen2"),
            _ => None,
        }
    }

    /// Whether a space is put before a text: as the settings say, else as the class does.
    pub(super) fn prefix_space(&self, config: &Map<String, Value>) -> Result<bool> {
        Ok(switch(config, "add_prefix_space")?.unwrap_or(self.puts_space))
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

/// What Whisper's texts begin with.
const START: &str = "<|startoftranscript|>";

/// What follows if no time stamps are requested.
const NO_TIMESTAMPS: &str = "<|notimestamps|>";

/// The tokens that settings name, and the ids of all.
pub(super) struct Tokens<'t> {
    pub(super) added: &'t AddedTokens,
    pub(super) ids: &'t Ids<'t>,
}

impl<'t> Tokens<'t> {
    /// The token of a role, which must be there.
    fn role(&self, role: &str) -> Result<&'t str> {
        let missing = || Error::format(FORMAT, CONFIG, format!("{role}_token is missing"));
        self.added.of_role(role).ok_or_else(missing)
    }

    fn id(&self, name: &str) -> Result<TokenId> {
        let missing = || Error::format(FORMAT, CONFIG, format!("the token {name:?} has no id"));
        self.ids.get(name).copied().ok_or_else(missing)
    }

    /// The token of a role, with its id.
    fn role_with_id(&self, role: &str) -> Result<(&'t str, TokenId)> {
        let name = self.role(role)?;
        Ok((name, self.id(name)?))
    }

    fn special(&self, names: &[&str], type_id: u32) -> Result<Vec<TemplatePiece>> {
        let piece = |&name: &&str| {
            let (ids, names) = (vec![self.id(name)?], vec![name.to_owned()]);
            Ok(TemplatePiece::Special { ids, type_id, names })
        };
        names.iter().map(piece).collect()
    }

    /// A template, by the names of its special tokens.
    fn written(&self, around: &Names<'_>) -> Result<Value> {
        let Names { begin, end, between } = around;
        let first = vec![TemplatePiece::First { type_id: 0 }];
        let single = [self.special(begin, 0)?, first.clone(), self.special(end, 0)?];
        let (behind_first, before_second) = *between;
        let pair = [
            self.special(begin, 0)?,
            first,
            self.special(behind_first, 0)?,
            self.special(before_second, 1)?,
            vec![TemplatePiece::Second { type_id: 1 }],
            self.special(end, 1)?,
        ];
        let template = Template { single: single.concat(), pair: pair.concat() };
        template_value(&template, |_| Ok(""))
    }
}

/// The names of special tokens before and after one text or two, and between two: after the first and before the second.
struct Names<'n> {
    begin: &'n [&'n str],
    end: &'n [&'n str],
    between: (&'n [&'n str], &'n [&'n str]),
}

/// The `post_processor` of a class; nothing where it puts nothing around a text.
pub(super) fn post_processor(
    class: &Class,
    config: &Map<String, Value>,
    tokens: &Tokens<'_>,
    prefix_space: bool,
) -> Result<Value> {
    match class.template {
        Around::Roberta => {
            let (cls, sep) = (tokens.role_with_id("cls")?, tokens.role_with_id("sep")?);
            Ok(roberta(cls, sep, true, prefix_space))
        }
        Around::Clip => {
            let (bos, eos) = (tokens.role_with_id("bos")?, tokens.role_with_id("eos")?);
            Ok(roberta(bos, eos, false, false))
        }
        Around::Deberta => {
            let (cls, sep) = ([tokens.role("cls")?], [tokens.role("sep")?]);
            let between = [sep[0], sep[0]];
            tokens.written(&Names { begin: &cls, end: &sep, between: (&between, &[]) })
        }
        Around::Whisper => {
            let prefix: &[&str] = match switch(config, "predict_timestamps")? {
                Some(true) => &[START],
                _ => &[START, NO_TIMESTAMPS],
            };
            let known =
                |&name| if tokens.ids.contains_key(name) { Ok(name) } else { tokens.role("unk") };
            let begin = prefix.iter().map(known).collect::<Result<Vec<_>>>()?;
            let end = [tokens.role("eos")?];
            tokens.written(&Names { begin: &begin, end: &end, between: (&[], &[]) })
        }
        Around::AsAsked => {
            let asked = |role| -> Result<_> {
                let is_asked = switch(config, &format!("add_{role}_token"))? == Some(true);
                Ok(tokens.added.of_role(role).filter(|_| is_asked))
            };
            let (begin, end) = (asked("bos")?, asked("eos")?);
            if begin.is_none() && end.is_none() {
                return Ok(Value::Null);
            }
            let (begin, end) = (begin.as_slice(), end.as_slice());
            tokens.written(&Names { begin, end, between: (end, begin) })
        }
    }
}
