//! What the components of a `tokenizer.json` have in common: a place in the file, a type, patterns and fields.
//!
//! A row of components is read flat, since a sequence in a sequence says no more than one. Older files have
//! components without a type; these are told by their fields, in the library's order.

use serde_json::{Value, json};

use super::FORMAT;
use super::node::{Node, problem};
use crate::{inexpressible, quoted};
use bytepair::{Error, Result};
use bytepair_split::{self as split, Flavour};

/// A component and its place.
#[derive(Debug)]
pub(super) struct Placed<T> {
    pub(super) path: String,
    pub(super) is: T,
}

impl<T> Placed<T> {
    /// An error about a field of the component.
    pub(super) fn problem(&self, field: &str, what: impl Into<String>) -> Error {
        problem(&format!("{}.{field}", self.path), what)
    }
}

/// The form of what is looked for.
#[derive(Debug)]
pub(super) enum Pattern {
    String(String),
    Regex(String),
}

pub(super) fn pattern(node: &Node<'_>) -> Result<Pattern> {
    let problem = || node.problem(r#"expected {"String": …} or {"Regex": …}"#);
    let (kind, content) = node.variant().map_err(|_| problem())?;
    let text = content.ok_or_else(problem)?.text()?.to_owned();
    match kind {
        "String" => Ok(Pattern::String(text)),
        "Regex" => Ok(Pattern::Regex(text)),
        _ => Err(problem()),
    }
}

pub(super) fn owned(node: &Node<'_>, field: &str) -> Result<String> {
    Ok(node.required(field)?.text()?.to_owned())
}

pub(super) fn flag(node: &Node<'_>, field: &str) -> Result<bool> {
    node.required(field)?.flag()
}

/// A flag that may be missing, but not null.
pub(super) fn flag_or(node: &Node<'_>, field: &str, default: bool) -> Result<bool> {
    node.get(field)?.map_or(Ok(default), |field| field.flag())
}

pub(super) fn no_type(node: &Node<'_>) -> Error {
    node.problem("has no type, and no component without a type has these fields")
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
    pub(super) prepends: Prepends,
    pub(super) split: bool,
}

/// Which pieces get a space before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prepends {
    Always,
    First,
    Never,
}

pub(super) fn byte_level(node: &Node<'_>) -> Result<ByteLevel> {
    Ok(ByteLevel {
        add_prefix_space: flag(node, "add_prefix_space")?,
        trim_offsets: flag(node, "trim_offsets")?,
        use_regex: flag_or(node, "use_regex", true)?,
    })
}

pub(super) fn metaspace(node: &Node<'_>) -> Result<Metaspace> {
    let schemes =
        [("always", Prepends::Always), ("first", Prepends::First), ("never", Prepends::Never)];
    let scheme = node.get("prepend_scheme")?;
    let prepends = scheme.map_or(Ok(Prepends::Always), |field| field.one_of(&schemes))?;
    let adds = node.optional("add_prefix_space")?;
    if let Some(adds) = adds
        && !adds.flag()?
        && prepends != Prepends::Never
    {
        let problem_is = "is false, though prepend_scheme, which is \"always\" where it is not given, puts a \
                          space there; the library refuses this too: set prepend_scheme to \"never\"";
        return Err(adds.problem(problem_is));
    }
    node.optional("str_rep")?.map(|field| field.text()).transpose()?;
    Ok(Metaspace {
        replacement: node.required("replacement")?.character()?,
        prepends,
        split: node.optional("split")?.map_or(Ok(true), |field| field.flag())?,
    })
}

/// Refuses what the format has no words for.
pub(super) fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

/// A pattern in the words of Oniguruma.
pub(super) fn translated(written: &split::Pattern) -> Result<String> {
    match split::translated(written, Flavour::Oniguruma) {
        Ok(pattern) => Ok(pattern.source),
        Err(problem) => {
            let source = quoted(written.source.as_bytes());
            refuse(format!("the pattern {source}: {problem}"))
        }
    }
}

/// Nothing, the one value, or a sequence of them.
pub(super) fn sequence(mut values: Vec<Value>, field: &str) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.swap_remove(0),
        _ => json!({"type": "Sequence", field: values}),
    }
}
