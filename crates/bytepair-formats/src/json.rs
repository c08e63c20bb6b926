//! JSON of a known shape, with errors that say which part of a file is meant.
//!
//! Unknown field names are errors if the shape has `deny_unknown_fields`. Maps keep the order of the file. If names must
//! not be repeated, the reader of the format checks that. Parsing is linear in the text, and nesting deeper than 128 is
//! refused.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use memchr::{memchr, memchr_iter, memrchr};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// A byte order mark, which some editors put before UTF-8. The libraries that own these formats refuse it too.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one value that takes up the whole text.
pub(super) fn parse<'j, T: Deserialize<'j>>(
    format: &'static str,
    part: &str,
    json: &'j [u8],
) -> Result<T> {
    parse_seed(format, part, json, PhantomData)
}

/// Reads one value that takes up the whole text, by means of `seed`.
pub(super) fn parse_seed<'j, S: DeserializeSeed<'j>>(
    format: &'static str,
    part: &str,
    json: &'j [u8],
    seed: S,
) -> Result<S::Value> {
    if json.starts_with(BYTE_ORDER_MARK) {
        let problem = "begins with a byte order mark (EF BB BF), which is not valid JSON; save it as UTF-8 without one";
        return Err(Error::format(format, part, problem));
    }
    check_surrogates(format, part, json)?;
    let json = std::str::from_utf8(json).map_err(|error| {
        let problem = format!("byte {} is not UTF-8", error.valid_up_to());
        Error::format(format, part, problem)
    })?;
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value =
        seed.deserialize(&mut deserializer).map_err(|error| problem(format, part, &error))?;
    deserializer.end().map_err(|error| problem(format, part, &error))?;
    Ok(value)
}

/// The problem that a parser reports, as an error of the format.
pub(super) fn problem(format: &'static str, part: &str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let (what, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
    if error.is_eof() {
        return Error::format(format, part, "the file ends too early; it may be cut off");
    }
    // A value that was parsed before has no place.
    if error.line() == 0 {
        return Error::format(format, part, what);
    }
    let place = format!("{what} (line {}, column {})", error.line(), error.column());
    Error::format(format, part, place)
}

/// Refuses `\ud83d` without the other half of its character, even in fields that are not read.
fn check_surrogates(format: &'static str, part: &str, json: &[u8]) -> Result<()> {
    let Some(place) = lone_surrogate(json) else { return Ok(()) };
    let before = &json[..place];
    let line = memchr_iter(b'\n', before).count() + 1;
    let column = place - memrchr(b'\n', before).map_or(0, |newline| newline + 1) + 1;
    let escape = String::from_utf8_lossy(&json[place..place + N_ESCAPE]);
    let problem = format!(
        "{escape} is a lone surrogate, half of a character, which UTF-8 cannot hold \
         (line {line}, column {column})"
    );
    Err(Error::format(format, part, problem))
}

/// The length of an escape such as `\u00e9`.
const N_ESCAPE: usize = 6;

/// The offset of the first escape that is half of a character.
fn lone_surrogate(json: &[u8]) -> Option<usize> {
    let mut place = 0;
    while let Some(found) = memchr(b'\\', json.get(place..)?) {
        place += found;
        place += match code_unit(json, place) {
            Some(0xD800..=0xDBFF) => match code_unit(json, place + N_ESCAPE) {
                Some(0xDC00..=0xDFFF) => 2 * N_ESCAPE,
                _ => return Some(place),
            },
            Some(0xDC00..=0xDFFF) => return Some(place),
            Some(_) => N_ESCAPE,
            None => 2,
        };
    }
    None
}

/// The UTF-16 code unit of the escape at a place.
fn code_unit(json: &[u8], place: usize) -> Option<u16> {
    let escape = json.get(place..place + N_ESCAPE)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// The most steps of a normalizer, a pre-tokenizer or a decoder. Published ones have a few dozen. Each step takes a pass
/// over every text and may hold the tables of a pattern, and steps are nested calls.
const MAX_STEPS: usize = 1000;

/// Refuses more steps than any published file has.
pub(super) fn check_steps(format: &'static str, part: &str, n_steps: usize) -> Result<()> {
    match n_steps > MAX_STEPS {
        true => {
            Err(Error::format(format, part, format!("has {n_steps} steps, more than {MAX_STEPS}")))
        }
        false => Ok(()),
    }
}

/// A string that is borrowed from the file, or owned if it had to be unescaped.
#[derive(Deserialize)]
pub(super) struct Name<'f>(#[serde(borrow)] pub(super) Cow<'f, str>);

/// Names and ids, in the order of the file.
pub(super) struct Entries<'f>(pub(super) Vec<(Cow<'f, str>, TokenId)>);

impl<'f, 'de: 'f> Deserialize<'de> for Entries<'f> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map from tokens to ids")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Entries<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            let id = map
                .next_value()
                .map_err(|error| de::Error::custom(format!("the id of {name:?}: {error}")))?;
            entries.push((name, id));
        }
        Ok(Entries(entries))
    }
}

/// Any value. Objects keep all of their fields, including repeated ones.
#[derive(Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// Parses any value. A repeated key in an object is an error.
pub(super) fn parse_unique(format: &'static str, part: &str, json: &[u8]) -> Result<Value> {
    parse_seed(format, part, json, TreeSeed { refuses_repeated: true }).map(Value::from)
}

impl From<Tree> for Value {
    fn from(tree: Tree) -> Self {
        match tree {
            Tree::Null => Self::Null,
            Tree::Flag(flag) => Self::Bool(flag),
            Tree::Number(number) => Self::Number(number),
            Tree::Text(text) => Self::String(text),
            Tree::List(items) => items.into_iter().map(Self::from).collect(),
            Tree::Object(fields) => fields.into_iter().collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        TreeSeed { refuses_repeated: false }.deserialize(deserializer)
    }
}

#[derive(Clone, Copy)]
struct TreeSeed {
    refuses_repeated: bool,
}

impl<'de> DeserializeSeed<'de> for TreeSeed {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TreeSeed {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> std::result::Result<Tree, E> {
        Ok(Tree::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Tree, E> {
        let number = Number::from_f64(number);
        number.map(Tree::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Tree, A::Error> {
        let (mut fields, mut seen) = (Vec::new(), HashSet::new());
        while let Some(key) = map.next_key::<String>()? {
            if self.refuses_repeated && !seen.insert(key.clone()) {
                return Err(de::Error::custom(format!("{key:?} appears twice")));
            }
            fields.push((key, map.next_value_seed(self)?));
        }
        Ok(Tree::Object(fields))
    }
}

/// The two tokens of a line that contains exactly one space, between them.
pub(super) fn two_parts(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(' ')?;
    let is_pair = !left.is_empty() && !right.is_empty() && !right.contains(' ');
    is_pair.then_some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_found_where_it_stands() {
        for (json, place) in [
            (r#""\ud83d""#, Some(1)),
            (r#""\\ud83d""#, None),
            (r#""\ud83d\ude42""#, None),
            (r#""a\ude42\ud83d""#, Some(2)),
            (r#""\ud83d\n""#, Some(1)),
            (r#""\ud83d\ud83d\ude42""#, Some(1)),
            (r#""\u00e9\ud83""#, None),
            (r#""\"#, None),
        ] {
            assert_eq!(lone_surrogate(json.as_bytes()), place, "{json}");
        }
        let json = "{\n \"a\": \"\\udc00\"}";
        let message = parse::<Value>("x", "the file", json.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("surrogate") && message.contains("line 2, column 8"), "{message}");
    }
}
