//! The long parts of a file, read straight into lists: vocabulary and merges.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::two_parts;
use bytepair::vocabulary::TokenId;

/// A string that is part of the file, or had to be put together.
pub(super) struct Name<'f>(pub(super) Cow<'f, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Names and ids in the order of the file.
pub(super) type Entries<'f> = Vec<(Cow<'f, str>, TokenId)>;

pub(super) fn entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Entries<'de>, D::Error> {
    struct EntriesVisitor;
    impl<'de> Visitor<'de> for EntriesVisitor {
        type Value = Entries<'de>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map from tokens to ids")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
            let mut entries = Vec::new();
            while let Some(Name(name)) = map.next_key()? {
                let id = map
                    .next_value()
                    .map_err(|error| de::Error::custom(format!("the id of {name:?}: {error}")))?;
                entries.push((name, id));
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(EntriesVisitor)
}

/// The two parts of each merge.
pub(super) type Merges<'f> = Vec<(Cow<'f, str>, Cow<'f, str>)>;

pub(super) fn merges<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Merges<'de>, D::Error> {
    struct MergesVisitor;
    impl<'de> Visitor<'de> for MergesVisitor {
        type Value = Merges<'de>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of merges")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merges<'de>, A::Error> {
            let mut merges = Vec::new();
            let (mut has_one, mut has_two) = (false, false);
            while let Some(Line { merge, in_one }) = list.next_element()? {
                has_one |= in_one;
                has_two |= !in_one;
                merges.extend(merge);
            }
            match has_one && has_two {
                true => Err(de::Error::custom("merges of two shapes")),
                false => Ok(merges),
            }
        }
    }
    deserializer.deserialize_seq(MergesVisitor)
}

/// A merge as `["a", "b"]` or `"a b"`.
struct Line<'f> {
    /// `None` where the line names a version.
    merge: Option<(Cow<'f, str>, Cow<'f, str>)>,
    /// Whether both tokens stand in one string.
    in_one: bool,
}

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a merge: two tokens in a list, or in one string with a space between")
    }

    fn visit_borrowed_str<E: de::Error>(self, line: &'de str) -> Result<Line<'de>, E> {
        if line.starts_with("#version") {
            return Ok(Line { merge: None, in_one: true });
        }
        let parts =
            two_parts(line).ok_or_else(|| E::invalid_value(de::Unexpected::Str(line), &self))?;
        let merge = Some((Cow::Borrowed(parts.0), Cow::Borrowed(parts.1)));
        Ok(Line { merge, in_one: true })
    }

    fn visit_str<E: de::Error>(self, line: &str) -> Result<Line<'de>, E> {
        if line.starts_with("#version") {
            return Ok(Line { merge: None, in_one: true });
        }
        let parts =
            two_parts(line).ok_or_else(|| E::invalid_value(de::Unexpected::Str(line), &self))?;
        let merge = Some((Cow::Owned(parts.0.to_owned()), Cow::Owned(parts.1.to_owned())));
        Ok(Line { merge, in_one: true })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Line<'de>, A::Error> {
        let missing = |length| de::Error::invalid_length(length, &self);
        let Name(left) = parts.next_element()?.ok_or_else(|| missing(0))?;
        let Name(right) = parts.next_element()?.ok_or_else(|| missing(1))?;
        match parts.next_element::<de::IgnoredAny>()? {
            Some(_) => Err(missing(3)),
            None => Ok(Line { merge: Some((left, right)), in_one: false }),
        }
    }
}
