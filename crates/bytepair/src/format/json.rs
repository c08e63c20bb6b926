//! JSON of a known shape, with errors that say which part of a file is meant.
//!
//! Field names that a shape lacks are errors wherever the shape says `deny_unknown_fields`. Maps keep
//! the order of the file, and a key that stands twice is an error. Parsing is linear in the text; nesting
//! deeper than 128 is refused.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// Reads one value that takes up the whole text.
pub(super) fn parse<T: DeserializeOwned>(
    format: &'static str,
    part: &str,
    json: &[u8],
) -> Result<T> {
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

/// A merge as its two parts: `["a", "b"]`, or `"a b"`.
pub(super) struct MergeNames(pub(super) String, pub(super) String);

impl<'de> Deserialize<'de> for MergeNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(MergeVisitor)
    }
}

struct MergeVisitor;

impl<'de> Visitor<'de> for MergeVisitor {
    type Value = MergeNames;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a merge: two tokens in a list, or in one string with a space between")
    }

    fn visit_str<E: de::Error>(self, line: &str) -> std::result::Result<MergeNames, E> {
        let parts =
            two_parts(line).ok_or_else(|| E::invalid_value(de::Unexpected::Str(line), &self))?;
        Ok(MergeNames(parts.0.to_owned(), parts.1.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut parts: A,
    ) -> std::result::Result<MergeNames, A::Error> {
        let missing = |length| de::Error::invalid_length(length, &self);
        let left = parts.next_element()?.ok_or_else(|| missing(0))?;
        let right = parts.next_element()?.ok_or_else(|| missing(1))?;
        match parts.next_element::<de::IgnoredAny>()? {
            Some(_) => Err(missing(3)),
            None => Ok(MergeNames(left, right)),
        }
    }
}

/// The two tokens of a line, which have exactly one space between them.
pub(super) fn two_parts(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(' ')?;
    let is_pair = !left.is_empty() && !right.is_empty() && !right.contains(' ');
    is_pair.then_some((left, right))
}
