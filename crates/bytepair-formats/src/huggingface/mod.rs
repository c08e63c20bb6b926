//! `tokenizer.json` of Hugging Face tokenizers, version 0.23: read and written with the same ids.
//!
//! Each part of the file has a module that defines it, reads it and writes it: `normalizer`, `pre_tokenizer`, `model`,
//! `decoder` and `post_processor`. This file and `write` put the parts together. When reading, `vocabulary` combines the
//! tokens of the model with the added tokens. When writing, `write` names the tokens, `sentencepiece` rewrites the rules
//! that only SentencePiece has, and the file is read again. Reading and writing both refuse, by name, any part that has
//! no equal on the other side.
//!
//! In the library, special tokens of a file are always found. Here a call must allow them (`allowed_special=all`), and
//! template, truncation and padding are only applied on request (`add_special_tokens`).
//!
//! Each part is read on its own, and an error names the value that it is about by its path. Fields that the library reads
//! are kept exactly or refused. Fields that it ignores are ignored and may hold anything. A repeated field is refused, or
//! the last one wins, as in the library. An added token has the id that the library gives it: its id in the vocabulary,
//! or the next free one, whatever its own entry says.
//!
//! The long parts (vocabulary, merges, added tokens) are parsed directly into their types. If that fails, and for all
//! other parts, a tree of values (`placed_value`) is parsed, which knows its place in the file. Takes time linear in the
//! file.
//!
//! Left out: replacing matches of a pattern with backtracking, and files in which two tokens have the same id.

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
use self::normalizer::{Normalizing, normalizing};
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
use bytepair_split::{Stage, Unmatched};

pub(crate) use self::post_processor::template_value;
pub(crate) use self::vocabulary::Added;
pub use self::write::{write, write_with_changes};

/// The name of the format in messages.
const FORMAT: &str = "tokenizer.json";

/// The pattern of a `ByteLevel` pre-tokenizer with `use_regex`, for Oniguruma.
pub(super) const BYTE_LEVEL_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Matches at the end of each word of [`WORD`].
const END_OF_WORD: &str = r"(?<=\S)(?!\S)";

/// The pattern of words.
const WORD: &str = r"\S+";

/// Replaces the mark of a word in a text; it is no character.
const RESERVED: &str = "\u{FFFF}";

/// The decoder pattern that matches a prefix at the beginning of a token.
fn prefix_pattern(prefix: &str) -> String {
    format!(r"\A{}", escaped(prefix))
}

/// The decoder pattern that matches a token with this name and nothing else.
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

/// Reads the tokenizer of a file.
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
    let normalizing =
        part(file, "normalizer", Repeated::LastCounts, normalizing)?.unwrap_or_default();
    let mut cutting =
        part(file, "pre_tokenizer", Repeated::LastCounts, cutting)?.unwrap_or_default();
    cutting.put_bytes_back(normalizing.spells_bytes());
    let mut finishing =
        part(file, "post_processor", Repeated::LastCounts, finishing)?.unwrap_or_default();
    let units = units(model, &normalizing, &cutting)?;
    let (vocabulary, added) = vocabulary(model, &units, &listed)?;
    check_end_mark(&units, &listed)?;
    let unicode = UnicodeTables::hugging_face();
    let normalizer = Normalizer::new(normalizing.steps, unicode);
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

/// Reads a part that may be missing or null. If it appears twice, the last one counts, but all must be valid.
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

fn units(model: &Model<'_>, normalizing: &Normalizing, cutting: &Cutting) -> Result<Units> {
    let suffix = model.end_of_word_suffix.clone().filter(|suffix| !suffix.is_empty());
    let prefix = model.continuing_subword_prefix.clone().filter(|prefix| !prefix.is_empty());
    let is_words = cutting.only_stages().is_some_and(is_words);
    if normalizing.end_mark.is_some() && (suffix.is_some() || !is_words || cutting.is_byte_level) {
        return Err(problem(
            "normalizer.Replace.pattern",
            "an end of words that are not those of the pre-tokenizer",
        ));
    }
    let mark = |kind| move |text| EndMark { text, kind };
    let unit_mark = normalizing.end_mark.clone().map(mark(EndMarkKind::Unit));
    let is_in_model =
        |name: &&String| model.vocab.0.iter().any(|(known, _)| known == name.as_str());
    let unknown = model.unk_token.as_ref().filter(is_in_model).cloned();
    Ok(Units {
        unit: if cutting.is_byte_level { Unit::Byte(ByteIds::Printable) } else { Unit::Character },
        end_mark: unit_mark.or_else(|| suffix.map(mark(EndMarkKind::Suffix))),
        continuing_prefix: prefix,
        unknown,
        fuse_unknown: model.fuse_unk == Some(true),
        byte_fallback: model.byte_fallback == Some(true),
        missing: if model.unk_token.is_some() { Missing::Error } else { Missing::Drop },
    })
}

fn is_words(stages: &[Stage]) -> bool {
    matches!(stages, [stage] if stage.pattern.source == WORD && stage.unmatched() == Some(Unmatched::Drop))
}

/// Refuses added tokens that would be looked for in a text that has marks there and none here.
fn check_end_mark(units: &Units, added: &[Added]) -> Result<()> {
    match units.end_mark_kind() {
        Some(EndMarkKind::Unit) if added.iter().any(|token| token.normalized) => Err(problem(
            "added_tokens",
            "normalized=true is not supported together with an end mark",
        )),
        _ => Ok(()),
    }
}

/// The units, with the order of the ids of the bytes. If all bytes have tokens, none can be missing.
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

/// The fields of a file. The library reads no others.
const FIELDS: &str = "version, truncation, padding, added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model";

/// The parts of a file.
struct File<'f> {
    parts: Vec<(Cow<'f, str>, &'f RawValue)>,
    /// The model, if it was parsed with the file; otherwise it is one of the parts.
    model: Option<Model<'f>>,
}

impl<'f> File<'f> {
    /// Splits a file into its parts. With `reads_model`, the model is parsed at once, which fails unless it has the shape
    /// in which files are written. Otherwise it is one of the parts.
    fn read(file: &'f [u8], reads_model: bool) -> Result<Self> {
        json::parse_seed(FORMAT, "the file", file, FileVisitor { reads_model })
    }

    /// Every value with this name.
    fn all(&self, name: &str) -> impl Iterator<Item = &'f RawValue> {
        self.parts.iter().filter(move |(known, _)| known == name).map(|(_, value)| *value)
    }

    /// # Errors
    /// If there is a field that the format does not have. The library fails on such a field, too.
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
