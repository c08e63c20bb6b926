//! A `tokenizer.json` as it stands on disk.
//!
//! Fields are taken and left as the library takes and leaves them: one that it never looks at may hold anything,
//! and one that appears twice is refused or counts as it last stands there. The long parts (vocabulary,
//! merges, added tokens) are read straight into their types (`model`, `added`). Where that fails, and for all other
//! parts, a tree of values (`node`) is read, which knows its place in the file.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::FORMAT;
use super::lists::Name;
use super::model::Model;
use super::node::{Tree, problem, step};
use crate::json;
use bytepair::Result;

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

/// The values of a part.
pub(super) fn tree(name: &str, value: &RawValue) -> Result<Tree> {
    serde_json::from_str(value.get()).map_err(|error| {
        // Its place is one in this part, not in the file.
        let message = error.to_string();
        problem(name, message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what))
    })
}
