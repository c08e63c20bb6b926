//! The classes of transformers that read a pair, and what each of them adds to it.
//!
//! A class is recognised by its name, or by the kind of its model, or by tokens that only its vocabulary has. An unknown
//! class is refused: what it would do is not guessed. Takes a look at each token if there is nothing else to go by.

use serde_json::{Map, Value};

use super::added::Ids;
use super::{CONFIG, FORMAT, switch};
use crate::assembly::Pipeline;
use bytepair::{Error, Result};

/// A token and what it is for, as in `("bos", "<s>")`.
type Role = (&'static str, &'static str);

/// What a class makes of a pair.
#[derive(Debug)]
pub(super) struct Class {
    /// Its name, without `Tokenizer` and `Fast`.
    pub(super) name: &'static str,
    /// Special tokens where settings name none.
    pub(super) roles: &'static [Role],
    kind: Kind,
    pub(super) template: Around,
    puts_space: bool,
    /// Whether the white space before the mask belongs to it.
    pub(super) mask_takes_space: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Bytes,
    Qwen2,
    Clip,
    Gpt1,
}

/// What stands around a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Around {
    /// What `add_bos_token` and `add_eos_token` ask for.
    AsAsked,
    Roberta,
    Clip,
    Deberta,
    Whisper,
}

const END: &str = "<|endoftext|>";

const GPT2_ROLES: &[Role] = &[("bos", END), ("eos", END), ("unk", END)];

const ROBERTA_ROLES: &[Role] = &[
    ("bos", "<s>"),
    ("eos", "</s>"),
    ("unk", "<unk>"),
    ("sep", "</s>"),
    ("pad", "<pad>"),
    ("cls", "<s>"),
    ("mask", "<mask>"),
];

const DEBERTA_ROLES: &[Role] = &[
    ("bos", "[CLS]"),
    ("eos", "[SEP]"),
    ("unk", "[UNK]"),
    ("sep", "[SEP]"),
    ("pad", "[PAD]"),
    ("cls", "[CLS]"),
    ("mask", "[MASK]"),
];

const CLIP_ROLES: &[Role] = &[("bos", "<|startoftext|>"), ("eos", END), ("unk", END), ("pad", END)];

const GPT2: Class = Class {
    name: "GPT2",
    roles: GPT2_ROLES,
    kind: Kind::Bytes,
    template: Around::AsAsked,
    puts_space: false,
    mask_takes_space: false,
};
const ROBERTA: Class =
    Class { name: "Roberta", roles: ROBERTA_ROLES, template: Around::Roberta, ..GPT2 };

pub(super) static CLASSES: [Class; 12] = [
    GPT2,
    Class { name: "CodeGen", ..GPT2 },
    Class { name: "Whisper", template: Around::Whisper, ..GPT2 },
    Class {
        name: "Qwen2",
        roles: &[("eos", END), ("unk", END), ("pad", END)],
        kind: Kind::Qwen2,
        ..GPT2
    },
    ROBERTA,
    Class { name: "Bart", ..ROBERTA },
    Class { name: "Longformer", ..ROBERTA },
    Class { name: "LED", ..ROBERTA },
    Class {
        name: "Blenderbot",
        template: Around::AsAsked,
        puts_space: true,
        mask_takes_space: true,
        ..ROBERTA
    },
    Class { name: "Deberta", roles: DEBERTA_ROLES, template: Around::Deberta, ..GPT2 },
    Class { name: "CLIP", roles: CLIP_ROLES, kind: Kind::Clip, template: Around::Clip, ..GPT2 },
    Class { name: "OpenAIGPT", roles: &[("unk", "<unk>")], kind: Kind::Gpt1, ..GPT2 },
];

/// The class of each kind of model.
pub(super) const MODELS: [(&str, &str); 13] = [
    ("gpt2", "GPT2"),
    ("codegen", "CodeGen"),
    ("whisper", "Whisper"),
    ("qwen2", "Qwen2"),
    ("qwen3", "Qwen2"),
    ("roberta", "Roberta"),
    ("bart", "Bart"),
    ("longformer", "Longformer"),
    ("led", "LED"),
    ("blenderbot", "Blenderbot"),
    ("deberta", "Deberta"),
    ("clip", "CLIP"),
    ("openai-gpt", "OpenAIGPT"),
];

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
        let (_, name) = MODELS.iter().find(|(known, _)| *known == model_type)?;
        Self::find(name)
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
