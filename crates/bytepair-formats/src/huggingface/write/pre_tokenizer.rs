//! Rounds of changing and cutting to the pre-tokenizer of a `tokenizer.json`.
//!
//! The rounds are one row of changes and stages, from which the library's own pre-tokenizers are taken one
//! by one. A stage that is none of them becomes a `Split` with a pattern for Oniguruma; a change that is
//! none is refused.

use serde_json::{Value, json};

use super::{refuse, sequence, translated};
use crate::gpt2::is_gpt2_split;
use crate::huggingface::stages;
use bytepair::Parts;
use bytepair::Result;
use bytepair::for_formats::normalize_step;
use bytepair::normalize::NormalizeStep;
use bytepair_split::{Stage, Unmatched, each_begins};

/// A change of pieces, or a cut.
#[derive(Clone, Copy)]
enum Act<'p> {
    Change(&'p NormalizeStep),
    Cut(&'p Stage),
}

/// The pre-tokenizer, after changes that stand at the end of the normalizer here.
pub(super) fn pre_tokenizer(parts: &Parts, moved: &[NormalizeStep]) -> Result<Value> {
    let mut row: Vec<Act<'_>> = moved.iter().map(Act::Change).collect();
    for round in parts.pre_tokenizer.rounds() {
        row.extend(round.change.steps().iter().map(Act::Change));
        row.extend(round.splitter.stages().iter().map(Act::Cut));
    }
    let is_bytes = parts.units.is_bytes();
    let mut writer = Writer { rest: &row, values: Vec::new(), needs_bytes: is_bytes, parts };
    while !writer.rest.is_empty() {
        writer.step()?;
    }
    if writer.needs_bytes {
        let value = writer.byte_level_value(false, false);
        writer.values.push(value);
    }
    Ok(sequence(writer.values, "pretokenizers"))
}

struct Writer<'w> {
    rest: &'w [Act<'w>],
    values: Vec<Value>,
    /// Whether a last `ByteLevel` must still be written.
    needs_bytes: bool,
    parts: &'w Parts,
}

impl Writer<'_> {
    fn step(&mut self) -> Result<()> {
        if let Some((value, n_taken)) = self.metaspace() {
            self.values.push(value);
            self.rest = &self.rest[n_taken..];
            return Ok(());
        }
        if self.byte_level() {
            return Ok(());
        }
        match self.rest[0] {
            Act::Change(step) => {
                refuse(format!("this change of pieces of text: {}", normalize_step(step)))
            }
            Act::Cut(stage) => {
                let cuts = self.rest.iter().map_while(|act| match act {
                    Act::Cut(stage) => Some(*stage),
                    Act::Change(_) => None,
                });
                let (value, n_taken) = match stages::published(&cuts.collect::<Vec<_>>()) {
                    Some(published) => published,
                    None => (split(stage)?, 1),
                };
                self.values.push(value);
                self.rest = &self.rest[n_taken..];
                Ok(())
            }
        }
    }

    /// A `Metaspace` at the beginning of the rest.
    fn metaspace(&self) -> Option<(Value, usize)> {
        let [Act::Change(NormalizeStep::Replace { from, to }), ..] = self.rest else { return None };
        let mut characters = to.chars();
        let (mark, None, " ") = (characters.next()?, characters.next(), from.as_str()) else {
            return None;
        };
        let mut n_taken = 1;
        let mut scheme = "never";
        if let Some(Act::Change(NormalizeStep::Prepend { text, only_first, unless_there: true })) =
            self.rest.get(1)
            && text == to
        {
            n_taken = 2;
            scheme = if *only_first { "first" } else { "always" };
        }
        let splits =
            matches!(self.rest.get(n_taken), Some(Act::Cut(cut)) if **cut == each_begins(mark));
        let value = json!({
            "type": "Metaspace", "replacement": to, "prepend_scheme": scheme, "split": splits,
        });
        Some((value, n_taken + usize::from(splits)))
    }

    /// Takes a `ByteLevel` from the beginning of the rest, if there is one.
    fn byte_level(&mut self) -> bool {
        let is_space = |act: &Act<'_>| {
            matches!(act, Act::Change(NormalizeStep::Prepend { text, only_first: false, unless_there: true })
                if text == " ")
        };
        let mut rest = self.rest;
        let prefix_space = rest.first().is_some_and(is_space);
        rest = &rest[usize::from(prefix_space)..];
        let use_regex = matches!(rest.first(), Some(Act::Cut(stage))
            if is_gpt2_split(std::slice::from_ref(stage)) && stage.unmatched() == Some(Unmatched::Keep));
        rest = &rest[usize::from(use_regex)..];
        match rest.first() {
            Some(Act::Change(NormalizeStep::ByteChars)) => rest = &rest[1..],
            None if self.needs_bytes => self.needs_bytes = false,
            _ => return false,
        }
        let value = self.byte_level_value(prefix_space, use_regex);
        self.values.push(value);
        self.rest = rest;
        true
    }

    fn byte_level_value(&self, add_prefix_space: bool, use_regex: bool) -> Value {
        json!({
            "type": "ByteLevel",
            "add_prefix_space": add_prefix_space,
            "trim_offsets": self.parts.offsets.trim,
            "use_regex": use_regex,
        })
    }
}

fn split(stage: &Stage) -> Result<Value> {
    Ok(json!({
        "type": "Split",
        "pattern": {"Regex": translated(&stage.pattern)?},
        "behavior": stages::name_of(stage.behaviour),
        "invert": stage.invert,
    }))
}
