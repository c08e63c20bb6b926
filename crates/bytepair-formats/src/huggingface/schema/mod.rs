//! A `tokenizer.json` as it stands on disk.
//!
//! Fields are taken and left as the library takes and leaves them: one that it never looks at may hold anything,
//! and one that appears twice is refused or counts as it last stands there. The long parts (vocabulary,
//! merges, added tokens) are read straight into their types here. Where that fails, and for all other parts
//! (`components`), a tree of values (`node`) is read, which knows its place in the file.

mod components;
mod lists;
mod node;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(super) use self::components::{
    Around, ByteLevel, Decoder, Metaspace, Normalizer, Pattern, Piece, Placed, PostProcessor,
    PreTokenizer, Prepends, SpecialToken, push_decoders, push_normalizers, push_post_processors,
    push_pre_tokenizers,
};
use self::lists::{Entries, Merges, Name, entries, merges};
pub(super) use self::node::{Node, Repeated, Tree, problem, step};
use crate::huggingface::FORMAT;
use crate::json::{self, two_parts};
use bytepair::Result;
use bytepair::vocabulary::TokenId;

/// The fields of a file; the library looks at no others.
const FIELDS: [&str; 9] = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
];

/// The parts of a file.
pub(super) struct File<'f> {
    parts: Vec<(Cow<'f, str>, &'f RawValue)>,
    /// The model, where it was read with the file; else it is one of the parts.
    model: Option<Model<'f>>,
}

impl<'f> File<'f> {
    /// All parts, none of them read.
    pub(super) fn read(file: &'f [u8]) -> Result<Self> {
        json::parse_seed(FORMAT, "the file", file, FileVisitor { reads_model: false })
    }

    /// The model and the other parts, if the model has the shape that files are written in.
    pub(super) fn read_with_model(file: &'f [u8]) -> Option<(Model<'f>, Self)> {
        let mut file: Self =
            json::parse_seed(FORMAT, "the file", file, FileVisitor { reads_model: true }).ok()?;
        file.model.take().map(|model| (model, file))
    }

    fn set_model<E: de::Error>(&mut self, model: Model<'f>) -> std::result::Result<(), E> {
        match self.model.replace(model) {
            Some(_) => Err(E::duplicate_field("model")),
            None => Ok(()),
        }
    }

    /// What stands under a name, each time.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'f RawValue> {
        self.parts.iter().filter(move |(known, _)| known == name).map(|(_, value)| *value)
    }

    /// # Errors
    /// Where there is a field that the format does not have: the library fails on those.
    pub(super) fn check_fields(&self) -> Result<()> {
        match self.parts.iter().find(|(name, _)| !FIELDS.contains(&name.as_ref())) {
            None => Ok(()),
            Some((name, _)) => {
                let problem_is = format!("no such field; there are {}", FIELDS.join(", "));
                Err(problem(step(name).trim_start_matches('.'), problem_is))
            }
        }
    }
}

#[derive(Clone, Copy)]
struct FileVisitor {
    reads_model: bool,
}

impl<'de> DeserializeSeed<'de> for FileVisitor {
    type Value = File<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<File<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileVisitor {
    type Value = File<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<File<'de>, A::Error> {
        let mut file = File { parts: Vec::new(), model: None };
        while let Some(Name(name)) = map.next_key()? {
            match self.reads_model && name == "model" {
                true => file.set_model(map.next_value()?)?,
                false => file.parts.push((name, map.next_value()?)),
            }
        }
        Ok(file)
    }
}

/// What a model has to be.
#[derive(Default, Deserialize)]
enum ModelType {
    #[default]
    #[serde(rename = "BPE")]
    Bpe,
}

#[derive(Deserialize)]
pub(super) struct Model<'f> {
    #[serde(default, rename = "type")]
    _kind: ModelType,
    #[serde(default)]
    pub(super) dropout: Option<f64>,
    #[serde(default)]
    pub(super) unk_token: Option<String>,
    #[serde(default)]
    pub(super) continuing_subword_prefix: Option<String>,
    #[serde(default)]
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(default)]
    pub(super) fuse_unk: Option<bool>,
    #[serde(default)]
    pub(super) byte_fallback: Option<bool>,
    #[serde(default)]
    pub(super) ignore_merges: Option<bool>,
    #[serde(borrow, deserialize_with = "entries")]
    pub(super) vocab: Entries<'f>,
    #[serde(borrow, deserialize_with = "merges")]
    pub(super) merges: Merges<'f>,
}

impl<'f> Model<'f> {
    /// The model at a place, before anything of it is known.
    pub(super) fn of(node: &Node<'f>) -> Result<Self> {
        check_type(node)?;
        let text = |field: &str| -> Result<Option<String>> {
            node.optional(field)?.map(|field| field.text().map(str::to_owned)).transpose()
        };
        let flag = |field: &str| node.optional(field)?.map(|field| field.flag()).transpose();
        Ok(Self {
            _kind: ModelType::Bpe,
            dropout: node.optional("dropout")?.map(|field| field.float()).transpose()?,
            unk_token: text("unk_token")?,
            continuing_subword_prefix: text("continuing_subword_prefix")?,
            end_of_word_suffix: text("end_of_word_suffix")?,
            fuse_unk: flag("fuse_unk")?,
            byte_fallback: flag("byte_fallback")?,
            ignore_merges: flag("ignore_merges")?,
            vocab: entries_of(&node.required("vocab")?)?,
            merges: merges_of(&node.required("merges")?)?,
        })
    }
}

/// Refuses models other than BPE. Older files name no type; there the fields tell.
fn check_type(node: &Node<'_>) -> Result<()> {
    let kind = Node { repeated: Repeated::Refused, ..node.clone() }.get("type")?;
    if let Some(kind) = kind {
        return match kind.text()? {
            "BPE" => Ok(()),
            name => Err(kind.problem(format!("{name:?} is not a byte-pair encoding"))),
        };
    }
    let vocab = node.optional("vocab")?;
    let has_names = vocab.as_ref().is_some_and(|vocab| matches!(vocab.tree, Tree::Object(_)));
    let looks_like = if vocab.is_some_and(|vocab| matches!(vocab.tree, Tree::List(_))) {
        "Unigram (vocab is a list of tokens with scores)"
    } else if has_names && node.get("merges")?.is_some() {
        return Ok(());
    } else if node.get("max_input_chars_per_word")?.is_some() {
        "WordPiece (it has max_input_chars_per_word)"
    } else if has_names {
        "WordLevel (a vocab of names with ids, no merges)"
    } else {
        "nothing known: there is no vocab"
    };
    Err(node.problem(format!(
        "is not a byte-pair encoding: it has no type, and looks like {looks_like}"
    )))
}

fn entries_of<'t>(vocab: &Node<'t>) -> Result<Entries<'t>> {
    let Tree::Object(fields) = vocab.tree else {
        return Err(vocab.problem("expected an object of tokens and ids"));
    };
    let is_id = |tree: &Tree| match tree {
        Tree::Number(number) => number.as_u64().and_then(|id| TokenId::try_from(id).ok()),
        _ => None,
    };
    let entry = |(name, tree): &'t (String, Tree)| {
        let id = is_id(tree).ok_or_else(|| {
            let path = format!("{}{}", vocab.path, step(name));
            problem(&path, format!("expected an id of at most 32 bits, found {tree}"))
        })?;
        Ok((Cow::Borrowed(name.as_str()), id))
    };
    fields.iter().map(entry).collect()
}

fn merges_of<'t>(merges: &Node<'t>) -> Result<Merges<'t>> {
    let Tree::List(items) = merges.tree else { return Err(merges.problem("expected a list")) };
    let is_lines = matches!(items.first(), Some(Tree::Text(_)));
    let mut pairs = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let wrong = || {
            let shape = match is_lines {
                true => "two tokens and a space between, as the first merge is written",
                false => "two tokens in a list",
            };
            let path = format!("{}[{place}]", merges.path);
            problem(&path, format!("expected {shape}, found {item}"))
        };
        match item {
            Tree::Text(line) if is_lines && line.starts_with("#version") => {}
            Tree::Text(line) if is_lines => {
                let (left, right) = two_parts(line).ok_or_else(wrong)?;
                pairs.push((Cow::Borrowed(left), Cow::Borrowed(right)));
            }
            Tree::List(parts) if !is_lines => match parts.as_slice() {
                [Tree::Text(left), Tree::Text(right)] => {
                    pairs.push((Cow::Borrowed(left.as_str()), Cow::Borrowed(right.as_str())));
                }
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        }
    }
    Ok(pairs)
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the format")]
pub(super) struct Added {
    #[serde(rename = "id")]
    pub(super) _id: TokenId,
    pub(super) content: String,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) normalized: bool,
    pub(super) special: bool,
}

impl Added {
    /// The added token at a place.
    pub(super) fn of(node: &Node<'_>) -> Result<Self> {
        let flag = |field: &str| node.required(field)?.flag();
        Ok(Self {
            _id: node.required("id")?.whole()?,
            content: node.required("content")?.text()?.to_owned(),
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
            normalized: flag("normalized")?,
            special: flag("special")?,
        })
    }
}
