//! JSON values with their places in the file, so that an error says which one is meant, and what components of a
//! `tokenizer.json` have in common.
//!
//! A place is a path such as `pre_tokenizer.pretokenizers[0].pattern`. Fields that no reader requests are ignored: the library
//! does the same, so they cannot change anything. Costs a copy of every text; the vocabulary and the added tokens, which
//! are long, are read without a copy.
//!
//! A list of components is read flat, since a sequence inside a sequence means the same as one. Older files have
//! components without a type; these are recognised by their fields, in the library's order.

use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::FORMAT;
use crate::json::Tree;
use crate::{inexpressible, quoted};
use bytepair::{Error, Result};
use bytepair_split::{Flavour, Pattern};

/// What the library makes of a field that appears twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    LastCounts,
    Refused,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct PlacedValue<'t> {
    pub(super) tree: &'t Tree,
    pub(super) path: String,
    pub(super) repeated: Repeated,
}

/// An error about the value at a path.
pub(super) fn problem(path: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, path, problem)
}

impl<'t> PlacedValue<'t> {
    pub(super) fn new(path: impl Into<String>, tree: &'t Tree, repeated: Repeated) -> Self {
        Self { tree, path: path.into(), repeated }
    }

    fn at(&self, path: String, tree: &'t Tree) -> Self {
        Self { tree, path, repeated: self.repeated }
    }

    /// An error about this value.
    pub(super) fn problem(&self, what: impl Into<String>) -> Error {
        problem(&self.path, what)
    }

    /// An error about this value, which is not what the format has there.
    fn expected(&self, what: &str) -> Error {
        self.problem(format!("expected {what}, found {}", self.tree))
    }

    fn fields(&self) -> Result<&'t [(String, Tree)]> {
        match self.tree {
            Tree::Object(fields) => Ok(fields),
            _ => Err(self.expected("an object")),
        }
    }

    /// How often a field stands there.
    pub(super) fn count(&self, name: &str) -> usize {
        let fields = self.fields().unwrap_or_default();
        fields.iter().filter(|(known, _)| known == name).count()
    }

    /// The field of a name, if it is there.
    pub(super) fn get(&self, name: &str) -> Result<Option<Self>> {
        let mut found = self.fields()?.iter().rev().filter(|(known, _)| known == name);
        let Some((_, tree)) = found.next() else { return Ok(None) };
        let field = self.at(format!("{}{}", self.path, step(name)), tree);
        match self.repeated == Repeated::Refused && found.next().is_some() {
            true => Err(field.problem("appears twice")),
            false => Ok(Some(field)),
        }
    }

    /// The field of a name, which must be there.
    pub(super) fn required(&self, name: &str) -> Result<Self> {
        let missing = || problem(&format!("{}{}", self.path, step(name)), "missing");
        self.get(name)?.ok_or_else(missing)
    }

    /// The field of a name, unless it is missing or null.
    pub(super) fn optional(&self, name: &str) -> Result<Option<Self>> {
        Ok(self.get(name)?.filter(|field| *field.tree != Tree::Null))
    }

    pub(super) fn text(&self) -> Result<&'t str> {
        match self.tree {
            Tree::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    pub(super) fn flag(&self) -> Result<bool> {
        match self.tree {
            Tree::Flag(flag) => Ok(*flag),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A whole number that is not negative.
    pub(super) fn whole<N: TryFrom<u64>>(&self) -> Result<N> {
        let Tree::Number(number) = self.tree else { return Err(self.expected("a whole number")) };
        let whole = number.as_u64().and_then(|number| N::try_from(number).ok());
        let bits = size_of::<N>() * 8;
        whole.ok_or_else(|| self.expected(&format!("a whole number of at most {bits} bits")))
    }

    pub(super) fn float(&self) -> Result<f64> {
        match self.tree {
            Tree::Number(number) => number.as_f64().ok_or_else(|| self.expected("a number")),
            _ => Err(self.expected("a number")),
        }
    }

    pub(super) fn character(&self) -> Result<char> {
        let mut characters = self.text()?.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.expected("one character")),
        }
    }

    pub(super) fn items(&self) -> Result<Vec<Self>> {
        let Tree::List(items) = self.tree else { return Err(self.expected("a list")) };
        let item = |(place, tree)| self.at(format!("{}[{place}]", self.path), tree);
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Names and values of an object, in its order.
    pub(super) fn entries(&self) -> Result<Vec<(&'t str, Self)>> {
        let entry = |(name, tree): &'t (String, Tree)| {
            (name.as_str(), self.at(format!("{}{}", self.path, step(name)), tree))
        };
        Ok(self.fields()?.iter().map(entry).collect())
    }

    /// One of several shapes: its name alone, or an object whose only field has that name.
    pub(super) fn variant(&self) -> Result<(&'t str, Option<Self>)> {
        if let Tree::Text(name) = self.tree {
            return Ok((name, None));
        }
        let expected = || self.expected("a string, or an object with one field");
        let mut entries = self.entries().map_err(|_| expected())?;
        let n_entries = entries.len();
        let (name, content) = entries.pop().ok_or_else(expected)?;
        let is_repeated =
            |(other, _): &(&str, Self)| *other == name && self.repeated == Repeated::LastCounts;
        match n_entries == 1 || entries.iter().all(is_repeated) {
            true => Ok((name, Some(content))),
            false => Err(expected()),
        }
    }

    /// One of several names.
    pub(super) fn one_of<T: Copy>(&self, known: &[(&str, T)]) -> Result<T> {
        let (name, content) = self.variant()?;
        let is_name = content.is_none_or(|content| *content.tree == Tree::Null);
        let found = known.iter().find(|(known, _)| *known == name && is_name);
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        let expected = || self.expected(&format!("one of {}", names.join(", ")));
        found.map(|(_, value)| *value).ok_or_else(expected)
    }

    /// The type of a component, where it has one. The names of those that are known have commas between them.
    ///
    /// # Errors
    /// If it is none of those that are known.
    pub(super) fn kind(&self, known: &'static str) -> Result<Option<&'static str>> {
        let of_last = Self { repeated: Repeated::LastCounts, ..self.clone() };
        let Some(field) = of_last.optional("type")? else { return Ok(None) };
        let name = field.text()?;
        let found = known.split(", ").find(|known| *known == name);
        found.map(Some).ok_or_else(|| field.expected(&format!("one of {known}")))
    }
}

/// A field in a path.
pub(super) fn step(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!(".{name}"),
        false => format!("[{}]", quoted(name.as_bytes())),
    }
}

/// As messages show it.
impl fmt::Display for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Flag(flag) => flag.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(&quoted(text.as_bytes())),
            Self::List(items) => write!(formatter, "a list of {}", items.len()),
            Self::Object(fields) => match fields.as_slice() {
                [] => formatter.write_str("an object without fields"),
                [(name, _), ..] => {
                    write!(formatter, "an object with the field {}", quoted(name.as_bytes()))
                }
            },
        }
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

/// The form of what is looked for.
#[derive(Debug)]
pub(super) enum Wanted {
    String(String),
    Regex(String),
}

pub(super) fn wanted(placed: &PlacedValue<'_>) -> Result<Wanted> {
    let problem = || placed.problem(r#"expected {"String": …} or {"Regex": …}"#);
    let (kind, content) = placed.variant().map_err(|_| problem())?;
    let text = content.ok_or_else(problem)?.text()?.to_owned();
    match kind {
        "String" => Ok(Wanted::String(text)),
        "Regex" => Ok(Wanted::Regex(text)),
        _ => Err(problem()),
    }
}

pub(super) fn owned(placed: &PlacedValue<'_>, field: &str) -> Result<String> {
    Ok(placed.required(field)?.text()?.to_owned())
}

pub(super) fn flag(placed: &PlacedValue<'_>, field: &str) -> Result<bool> {
    placed.required(field)?.flag()
}

/// A flag that may be missing, but not null.
pub(super) fn flag_or(placed: &PlacedValue<'_>, field: &str, default: bool) -> Result<bool> {
    placed.get(field)?.map_or(Ok(default), |field| field.flag())
}

pub(super) fn no_type(placed: &PlacedValue<'_>) -> Error {
    placed.problem("has no type, and no component without a type has these fields")
}

/// `ByteLevel`, which is a pre-tokenizer, a decoder and a post-processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteLevel {
    pub(super) add_prefix_space: bool,
    pub(super) trim_offsets: bool,
    pub(super) use_regex: bool,
}

/// `Metaspace`, which is a pre-tokenizer and a decoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metaspace {
    pub(super) replacement: char,
    /// Whether only the first piece gets a space before it; nothing where none does.
    pub(super) only_first: Option<bool>,
    pub(super) split: bool,
}

pub(super) fn byte_level(placed: &PlacedValue<'_>) -> Result<ByteLevel> {
    Ok(ByteLevel {
        add_prefix_space: flag(placed, "add_prefix_space")?,
        trim_offsets: flag(placed, "trim_offsets")?,
        use_regex: flag_or(placed, "use_regex", true)?,
    })
}

pub(super) fn metaspace(placed: &PlacedValue<'_>) -> Result<Metaspace> {
    let schemes = [("always", Some(false)), ("first", Some(true)), ("never", None)];
    let scheme = placed.get("prepend_scheme")?;
    let only_first = scheme.map_or(Ok(Some(false)), |field| field.one_of(&schemes))?;
    let adds = placed.optional("add_prefix_space")?;
    if let Some(adds) = adds
        && !adds.flag()?
        && only_first.is_some()
    {
        let problem_is = "is false, though prepend_scheme, which is \"always\" where it is not given, puts a \
                          space there; the library refuses this too: set prepend_scheme to \"never\"";
        return Err(adds.problem(problem_is));
    }
    placed.optional("str_rep")?.map(|field| field.text()).transpose()?;
    Ok(Metaspace {
        replacement: placed.required("replacement")?.character()?,
        only_first,
        split: placed.optional("split")?.map_or(Ok(true), |field| field.flag())?,
    })
}

/// Refuses what the format has no words for.
pub(super) fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

/// A pattern in the words of Oniguruma.
pub(super) fn translated(written: &Pattern) -> Result<String> {
    match bytepair_split::translated(written, Flavour::Oniguruma) {
        Ok(pattern) => Ok(pattern.source),
        Err(problem) => {
            let source = quoted(written.source.as_bytes());
            refuse(format!("the pattern {source}: {problem}"))
        }
    }
}

/// The name of a value in a table of names.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// Nothing, the one value, or a sequence of them.
pub(super) fn sequence(mut values: Vec<Value>, field: &str) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.swap_remove(0),
        _ => json!({"type": "Sequence", field: values}),
    }
}
