//! The pre-tokenizer of a `tokenizer.json`: rounds of changing and cutting.
//!
//! The order of the file is kept. `Metaspace` and the prefix space of `ByteLevel` change pieces, so they
//! begin a new round once something has been cut. A `ByteLevel` at the end of the row means units of
//! bytes. One before the end means that later cutters see the characters that stand for bytes: these are
//! put in place of the bytes, and units are characters.
//!
//! To be written, the rounds are one row of changes and stages, from which the library's own pre-tokenizers are taken
//! one by one. A stage that is none of them becomes a `Split` with a pattern for Oniguruma; a change that is
//! none is refused.

use serde_json::{Value, json};

use super::component::{
    self, ByteLevel, Metaspace, Placed, Prepends, byte_level, flag, metaspace, no_type, pattern,
    refuse, sequence, translated,
};
use super::node::{Node, problem};
use super::stages::{self, BEHAVIOURS};
use crate::gpt2::is_gpt2_split;
use bytepair::for_formats::normalize_step;
use bytepair::normalize::{NormalizeStep, Normalizer};
use bytepair::pretokenize::{self, Round};
use bytepair::{Error, Parts, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{
    Behaviour, Flavour, Pattern, Splitter, Stage, Unmatched, each_begins, escaped,
};

/// A step of the pre-tokenizer.
#[derive(Debug)]
pub(super) enum PreTokenizer {
    Split { pattern: component::Pattern, behaviour: Behaviour, invert: bool },
    ByteLevel(ByteLevel),
    Metaspace(Metaspace),
    Whitespace,
    WhitespaceSplit,
    Digits { individual: bool },
    Punctuation(Behaviour),
    Bert,
    Delimiter(char),
    FixedLength(usize),
    UnicodeScripts,
}

const PRE_TOKENIZERS: &[&str] = &[
    "Sequence",
    "Split",
    "ByteLevel",
    "Metaspace",
    "Whitespace",
    "WhitespaceSplit",
    "Digits",
    "Punctuation",
    "BertPreTokenizer",
    "CharDelimiterSplit",
    "FixedLength",
    "UnicodeScripts",
];

/// How many characters are a piece where a file does not say so.
const FIXED_LENGTH: usize = 5;

pub(super) fn push_pre_tokenizers(
    node: &Node<'_>,
    row: &mut Vec<Placed<PreTokenizer>>,
) -> Result<()> {
    let is = match node.kind(PRE_TOKENIZERS)?.ok_or_else(|| no_type(node))? {
        "Sequence" => {
            let items = node.required("pretokenizers")?.items()?;
            return items.iter().try_for_each(|item| push_pre_tokenizers(item, row));
        }
        "Split" => PreTokenizer::Split {
            pattern: pattern(&node.required("pattern")?)?,
            behaviour: node.required("behavior")?.one_of(BEHAVIOURS)?,
            invert: flag(node, "invert")?,
        },
        "ByteLevel" => PreTokenizer::ByteLevel(byte_level(node)?),
        "Metaspace" => PreTokenizer::Metaspace(metaspace(node)?),
        "Whitespace" => PreTokenizer::Whitespace,
        "WhitespaceSplit" => PreTokenizer::WhitespaceSplit,
        "Digits" => PreTokenizer::Digits { individual: flag(node, "individual_digits")? },
        "Punctuation" => PreTokenizer::Punctuation(
            node.get("behavior")?
                .map_or(Ok(Behaviour::Isolated), |field| field.one_of(BEHAVIOURS))?,
        ),
        "BertPreTokenizer" => PreTokenizer::Bert,
        "CharDelimiterSplit" => PreTokenizer::Delimiter(node.required("delimiter")?.character()?),
        "FixedLength" => PreTokenizer::FixedLength(
            node.get("length")?.map_or(Ok(FIXED_LENGTH), |field| field.whole())?,
        ),
        _ => PreTokenizer::UnicodeScripts,
    };
    row.push(Placed { path: node.path.clone(), is });
    Ok(())
}

/// What a pre-tokenizer does.
#[derive(Default)]
pub(super) struct Cutting {
    pub(super) rounds: Vec<Draft>,
    /// Whether the last of the row makes bytes of the text.
    pub(super) is_byte_level: bool,
}

/// A round that is not compiled.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) steps: Vec<NormalizeStep>,
    pub(super) stages: Vec<Stage>,
    /// For each stage, where the file has its pattern.
    paths: Vec<String>,
}

impl Draft {
    /// The error of the first stage that cannot be compiled alone, at its place in the file.
    fn problem(&self, whole: &Error, unicode: &UnicodeTables) -> Error {
        let mut stages = self.paths.iter().zip(&self.stages);
        let of_stage = stages.find_map(|(path, stage)| {
            let error = Splitter::new(vec![stage.clone()], unicode).err()?;
            Some(problem(path, error.to_string()))
        });
        of_stage.unwrap_or_else(|| problem("pre_tokenizer", whole.to_string()))
    }
}

/// The longest pieces of a fixed length: as often as a pattern may repeat.
const MAX_FIXED: usize = 1000;

pub(super) fn cutting(row: Option<Vec<Placed<PreTokenizer>>>) -> Result<Cutting> {
    let mut cutting = Cutting::default();
    row.unwrap_or_default().iter().try_for_each(|pre_tokenizer| cutting.push(pre_tokenizer))?;
    Ok(cutting)
}

impl Cutting {
    /// The stages, where there is one round that changes nothing.
    pub(super) fn only_stages(&self) -> Option<&[Stage]> {
        match self.rounds.as_slice() {
            [] => Some(&[]),
            [round] if round.steps.is_empty() => Some(&round.stages),
            _ => None,
        }
    }

    pub(super) fn compiled(self, unicode: UnicodeTables) -> Result<pretokenize::PreTokenizer> {
        let compiled = |draft: Draft| {
            let splitter = Splitter::new(draft.stages.clone(), &unicode)
                .map_err(|error| draft.problem(&error.into(), &unicode))?;
            Ok(Round { change: Normalizer::new(draft.steps, unicode), splitter })
        };
        if self.only_stages().is_some_and(<[_]>::is_empty) {
            return Ok(Splitter::whole().into());
        }
        Ok(pretokenize::PreTokenizer::new(
            self.rounds.into_iter().map(compiled).collect::<Result<_>>()?,
        ))
    }

    fn push(&mut self, pre_tokenizer: &Placed<PreTokenizer>) -> Result<()> {
        if std::mem::take(&mut self.is_byte_level) {
            self.change(NormalizeStep::ByteChars);
        }
        let path = pre_tokenizer.path.as_str();
        match &pre_tokenizer.is {
            PreTokenizer::Split { pattern, behaviour, invert } => {
                let pattern = Pattern { source: source(pattern), flavour: Flavour::Oniguruma };
                let path = format!("{}.pattern", pre_tokenizer.path);
                self.cut(Stage { pattern, behaviour: *behaviour, invert: *invert }, &path);
            }
            PreTokenizer::ByteLevel(byte_level) => self.push_byte_level(*byte_level, path),
            PreTokenizer::Metaspace(metaspace) => self.push_metaspace(*metaspace, path),
            PreTokenizer::Whitespace => self.cut(stages::whitespace(), path),
            PreTokenizer::WhitespaceSplit => self.cut(stages::whitespace_split(), path),
            PreTokenizer::Digits { individual } => self.cut(stages::digits(*individual), path),
            PreTokenizer::Punctuation(behaviour) => self.cut(stages::punctuation(*behaviour), path),
            PreTokenizer::Bert => {
                self.cut(stages::whitespace_split(), path);
                self.cut(stages::punctuation(Behaviour::Isolated), path);
            }
            PreTokenizer::Delimiter(delimiter) => self.cut(stages::delimiter(*delimiter), path),
            PreTokenizer::FixedLength(length) if !(1..=MAX_FIXED).contains(length) => {
                let problem_is = format!("is {length}, not 1 to {MAX_FIXED}");
                return Err(pre_tokenizer.problem("length", problem_is));
            }
            PreTokenizer::FixedLength(length) => self.cut(stages::fixed_length(*length), path),
            PreTokenizer::UnicodeScripts => self.cut(stages::unicode_scripts(), path),
        }
        Ok(())
    }

    /// The round in which pieces are still being cut.
    fn last(&mut self) -> &mut Draft {
        if self.rounds.is_empty() {
            self.rounds.push(Draft::default());
        }
        let last = self.rounds.len() - 1;
        &mut self.rounds[last]
    }

    fn cut(&mut self, stage: Stage, path: &str) {
        let last = self.last();
        last.stages.push(stage);
        last.paths.push(path.to_owned());
    }

    /// Changes all pieces that there are.
    fn change(&mut self, step: NormalizeStep) {
        if !self.last().stages.is_empty() {
            self.rounds.push(Draft::default());
        }
        self.last().steps.push(step);
    }

    fn push_byte_level(&mut self, byte_level: ByteLevel, path: &str) {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false);
        }
        if byte_level.use_regex {
            self.cut(stages::byte_level(), path);
        }
    }

    fn push_metaspace(&mut self, metaspace: Metaspace, path: &str) {
        let replacement = metaspace.replacement.to_string();
        self.change(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        if metaspace.prepends != Prepends::Never {
            self.prepend(replacement, metaspace.prepends == Prepends::First);
        }
        if metaspace.split {
            self.cut(each_begins(metaspace.replacement), path);
        }
    }

    fn prepend(&mut self, text: String, only_first: bool) {
        self.change(NormalizeStep::Prepend { text, only_first, unless_there: true });
    }
}

fn source(pattern: &component::Pattern) -> String {
    match pattern {
        component::Pattern::Regex(source) => source.clone(),
        component::Pattern::String(text) => text.chars().map(escaped).collect(),
    }
}

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
