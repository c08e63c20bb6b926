//! JSON of a known shape, with errors that say which part of a file is meant.
//!
//! Field names that a shape lacks are errors wherever the shape says `deny_unknown_fields`. Maps keep
//! the order of the file, and a key that stands twice is an error. Parsing is linear in the text; nesting
//! deeper than 128 is refused.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// What some editors put before UTF-8. The libraries that own these formats refuse it too.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one value that takes up the whole text.
pub(super) fn parse<'j, T: Deserialize<'j>>(
    format: &'static str,
    part: &str,
    json: &'j [u8],
) -> Result<T> {
    if json.starts_with(BYTE_ORDER_MARK) {
        let problem = "begins with a byte order mark (EF BB BF), which is no JSON; save it as UTF-8 without one";
        return Err(Error::format(format, part, problem));
    }
    serde_json::from_slice(json).map_err(|error| problem(format, part, &error))
}

/// What a parser complained about, as an error of the format.
pub(super) fn problem(format: &'static str, part: &str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let (what, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
    if error.is_eof() {
        return Error::format(format, part, "the file ends too early; it may be cut off");
    }
    let place = format!("{what} (line {}, column {})", error.line(), error.column());
    Error::format(format, part, place)
}

/// The most steps of a normalizer, a pre-tokenizer or a decoder. Published ones have a few dozen; each takes a
/// pass over every text and may hold tables of a pattern, and steps are nested calls.
const MAX_STEPS: usize = 1000;

/// Refuses rows of steps that no published file has.
pub(super) fn check_steps(format: &'static str, part: &str, n_steps: usize) -> Result<()> {
    match n_steps > MAX_STEPS {
        true => {
            Err(Error::format(format, part, format!("has {n_steps} steps, more than {MAX_STEPS}")))
        }
        false => Ok(()),
    }
}

/// A map from names to ids, in the order of the file.
pub(super) struct Entries(pub(super) Vec<(String, TokenId)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map from tokens to ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let id = map
                .next_value()
                .map_err(|error| de::Error::custom(format!("the id of {key:?}: {error}")))?;
            entries.push((key, id));
        }
        Ok(Entries(entries))
    }
}

/// Any value. A key that stands twice in an object is an error.
pub(super) struct Unique(pub(super) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unique(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format!("{key:?} stands there twice")));
            }
            let Unique(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

/// The two tokens of a line, which have exactly one space between them.
pub(super) fn two_parts(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(' ')?;
    let is_pair = !left.is_empty() && !right.is_empty() && !right.contains(' ');
    is_pair.then_some((left, right))
}
