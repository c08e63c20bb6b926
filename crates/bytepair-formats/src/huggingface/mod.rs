//! `tokenizer.json` of Hugging Face tokenizers, version 0.23: read and written with the same ids.
//!
//! Each part of the file has a module with what stands there, how it is read and how it is written: `normalizer`,
//! `pre_tokenizer`, `model`, `decoder` and `post_processor`. This file and `write` put the parts together. Reading takes the
//! tokens of the model and the added ones to a `vocabulary`; writing names them, spells out what only
//! `sentencepiece` has, and reads the file again. Both refuse what the other side has no equal part for, by name.
//!
//! The special tokens of a file always count there; here a call must allow them (`allowed_special=all`), and template,
//! truncation and padding are only applied on request (`add_special_tokens`).
//!
//! Each part is read on its own, and an error names the value that it is about by its path. What the library
//! looks at is either taken over exactly or refused; what it passes over is passed over: a field that it never looks at
//! may hold anything, and one that appears twice is refused or counts as it last stands there. An added token has the
//! id that the library gives it: that of the vocabulary, or the next one, whatever its own entry says.
//!
//! The long parts (vocabulary, merges, added tokens) are read straight into their types. Where that fails, and for all
//! other parts, a tree of values (`placed_value`) is read, which knows its place in the file. Linear in the file.
//!
//! Left out: replacements of what a pattern with backtracking matches, files in which two tokens have one id.

mod decoder;
mod model;
mod normalizer;
mod placed_value;
mod post_processor;
mod pre_tokenizer;
mod sentencepiece;
mod vocabulary;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use self::decoder::{Context, decoding};
use self::model::Model;
use self::normalizer::{normalizing, spells_bytes};
use self::placed_value::{PlacedValue, Repeated, problem, step, tree};
use self::post_processor::{finishing, padding, truncation};
use self::pre_tokenizer::{Cutting, cutting};
use self::vocabulary::{listed, vocabulary};
use crate::json::{self, Name, Tree};
use bytepair::Result;
use bytepair::normalize::Normalizer;
use bytepair::units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units, byte_order};
use bytepair::vocabulary::{Token, Vocabulary};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;

pub(crate) use self::post_processor::template_value;
pub(crate) use self::vocabulary::Added;
pub use self::write::{write, write_with_changes};

/// The name of the format in messages.
const FORMAT: &str = "tokenizer.json";

/// The pattern of a `ByteLevel` pre-tokenizer with `use_regex`, for Oniguruma.
pub(super) const BYTE_LEVEL_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The decoder pattern that finds a prefix at the beginning of a token.
fn prefix_pattern(prefix: &str) -> String {
    format!(r"\A{}", escaped(prefix))
}

/// The decoder pattern that finds a token of this name, and nothing else.
fn name_pattern(name: &str) -> String {
    format!(r"\A{}\z", escaped(name))
}

fn escaped(text: &str) -> String {
    let characters = text.chars().flat_map(|character| {
        let is_plain = character.is_alphanumeric() || !character.is_ascii();
        (!is_plain).then_some('\\').into_iter().chain([character])
    });
    characters.collect()
}

/// The tokenizer of a file.
///
/// # Errors
/// If the file is damaged, or has a part that is not understood or has no equal here.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    Tokenizer::new(parts(file)?).map_err(|error| problem("the tokenizer", error.to_string()))
}

/// The parts of the tokenizer of a file.
fn parts(file: &[u8]) -> Result<Parts> {
    let file = match File::read(file, true) {
        Ok(file) if file.model.is_some() => file,
        _ => File::read(file, false)?,
    };
    file.check_fields()?;
    check_version(&file)?;
    if let Some(model) = &file.model {
        return parts_of(model, &file);
    }
    let models: Vec<Tree> =
        file.all("model").map(|model| tree("model", model)).collect::<Result<_>>()?;
    let models =
        models.iter().map(|tree| Model::of(&PlacedValue::new("model", tree, Repeated::LastCounts)));
    let models: Vec<_> = models.collect::<Result<_>>()?;
    match models.last() {
        Some(model) => parts_of(model, &file),
        None => Err(problem("model", "missing")),
    }
}

fn parts_of(model: &Model<'_>, file: &File<'_>) -> Result<Parts> {
    if model.dropout.is_some_and(|dropout| !(0.0..=1.0).contains(&dropout)) {
        return Err(problem("model.dropout", "is not between 0 and 1"));
    }
    let listed = listed(file.all("added_tokens"))?;
    let steps = part(file, "normalizer", Repeated::LastCounts, normalizing)?.unwrap_or_default();
    let mut cutting =
        part(file, "pre_tokenizer", Repeated::LastCounts, cutting)?.unwrap_or_default();
    cutting.put_bytes_back(spells_bytes(&steps));
    let mut finishing =
        part(file, "post_processor", Repeated::LastCounts, finishing)?.unwrap_or_default();
    let units = units(model, &cutting);
    let (vocabulary, added) = vocabulary(model, &units, &listed)?;
    let unicode = UnicodeTables::hugging_face();
    let normalizer = Normalizer::new(steps, unicode);
    let context =
        Context { units: &units, vocabulary: &vocabulary, added: &added, normalizer: &normalizer };
    let decode = context.decode(part(file, "decoder", Repeated::LastCounts, decoding)?);
    let units = with_alphabet(units, &vocabulary);
    Ok(Parts {
        pre_tokenizer: cutting.compiled(unicode)?,
        ignore_merges: model.ignore_merges == Some(true),
        template: finishing.template(&units, &vocabulary)?,
        offsets: finishing.offsets.unwrap_or_default(),
        truncation: part(file, "truncation", Repeated::Refused, truncation)?,
        padding: part(file, "padding", Repeated::Refused, padding)?,
        dropout: model.dropout.filter(|dropout| *dropout != 0.0),
        normalizer,
        added,
        decode,
        ..Parts::new(units, Arc::new(vocabulary))
    })
}

/// A part that may be missing or null. Of one that appears twice the last counts, and all must be sound.
fn part<T>(
    file: &File<'_>,
    name: &str,
    repeated: Repeated,
    read: impl Fn(&PlacedValue<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut last = None;
    for value in file.all(name) {
        let tree = tree(name, value)?;
        last = match tree {
            Tree::Null => None,
            _ => Some(read(&PlacedValue::new(name, &tree, repeated))?),
        };
    }
    Ok(last)
}

fn check_version(file: &File<'_>) -> Result<()> {
    for value in file.all("version") {
        let tree = tree("version", value)?;
        let version = PlacedValue::new("version", &tree, Repeated::LastCounts);
        if version.text()? != "1.0" {
            return Err(version.problem(format!("version {tree} is not supported, only \"1.0\"")));
        }
    }
    Ok(())
}

fn units(model: &Model<'_>, cutting: &Cutting) -> Units {
    let suffix = model.end_of_word_suffix.clone().filter(|suffix| !suffix.is_empty());
    let prefix = model.continuing_subword_prefix.clone().filter(|prefix| !prefix.is_empty());
    let is_in_model =
        |name: &&String| model.vocab.0.iter().any(|(known, _)| known == name.as_str());
    let unknown = model.unk_token.as_ref().filter(is_in_model).cloned();
    Units {
        unit: if cutting.is_byte_level { Unit::Byte(ByteIds::Printable) } else { Unit::Character },
        end_mark: suffix.map(|text| EndMark { text, kind: EndMarkKind::Suffix }),
        continuing_prefix: prefix,
        unknown,
        fuse_unknown: model.fuse_unk == Some(true),
        byte_fallback: model.byte_fallback == Some(true),
        missing: if model.unk_token.is_some() { Missing::Error } else { Missing::Drop },
    }
}

/// The units, with the order in which the bytes stand; where all are there, none can be missing.
fn with_alphabet(units: Units, vocabulary: &Vocabulary) -> Units {
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    if !units.is_bytes() || has_marks {
        return units;
    }
    let id = |byte| vocabulary.id(Token::plain(&[byte]));
    let mut by_value = (0..).zip(byte_order(ByteIds::Value));
    let is_by_value = by_value.all(|(place, byte)| id(byte) == Some(place));
    let is_complete = (0..=255).all(|byte| id(byte).is_some());
    Units {
        unit: Unit::Byte(if is_by_value { ByteIds::Value } else { ByteIds::Printable }),
        missing: if is_complete { Missing::Error } else { units.missing },
        ..units
    }
}

/// The fields of a file; the library looks at no others.
const FIELDS: &str = "version, truncation, padding, added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model";

/// The parts of a file.
struct File<'f> {
    parts: Vec<(Cow<'f, str>, &'f RawValue)>,
    /// The model, where it was read with the file; else it is one of the parts.
    model: Option<Model<'f>>,
}

impl<'f> File<'f> {
    /// The parts, the model among them unless it is read, which fails if it has not the shape that files are written in.
    fn read(file: &'f [u8], reads_model: bool) -> Result<Self> {
        json::parse_seed(FORMAT, "the file", file, FileVisitor { reads_model })
    }

    /// What stands under a name, each time.
    fn all(&self, name: &str) -> impl Iterator<Item = &'f RawValue> {
        self.parts.iter().filter(move |(known, _)| known == name).map(|(_, value)| *value)
    }

    /// # Errors
    /// If there is a field that the format does not have: the library fails on those.
    fn check_fields(&self) -> Result<()> {
        match self.parts.iter().find(|(name, _)| !FIELDS.split(", ").any(|known| known == name)) {
            None => Ok(()),
            Some((name, _)) => {
                let problem_is = format!("no such field; there are {FIELDS}");
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
            if !self.reads_model || name != "model" {
                file.parts.push((name, map.next_value()?));
            } else if file.model.replace(map.next_value()?).is_some() {
                return Err(de::Error::duplicate_field("model"));
            }
        }
        Ok(file)
    }
}
