//! The pre-tokenizer of a `tokenizer.json`: rounds of changing and cutting.
//!
//! The order of the file is kept. `Metaspace` and the prefix space of `ByteLevel` change pieces, so they
//! begin a new round once something has been cut. A `ByteLevel` at the end of the row means units of
//! bytes. One before the end, or at the end of the normalizer, means that cutters see the characters that stand for bytes:
//! these are put in place of the bytes. If nothing else changes them, the last round puts the bytes back, and units are
//! bytes here too: both directions are one to one, so pieces and merges are the same. Else units are characters.
//!
//! Each of the library's own cutters (`Digits`, `Punctuation`, `Whitespace` and their kin) is one stage with a pattern of
//! the characters that the library's version of Unicode takes for digits and so on. Reading and writing share these
//! stages, so what was read is written back as it was.
//!
//! To be written, the rounds are one row of changes and stages, from which the library's own pre-tokenizers are taken
//! one by one. A stage that is none of them becomes a `Split` with a pattern for Oniguruma; a change that is
//! none is refused.

use serde_json::{Value, json};

use super::placed_value::{
    ByteLevel, Metaspace, PlacedValue, Repeated, Wanted, byte_level, flag, metaspace, name_of,
    no_type, problem, refuse, sequence, translated, wanted,
};
use super::{BYTE_LEVEL_PATTERN, FORMAT};
use crate::gpt2::is_gpt2_split;
use crate::json::check_steps;
use bytepair::for_formats::normalize_step;
use bytepair::normalize::{NormalizeStep, Normalizer};
use bytepair::pretokenize::{self, Round};
use bytepair::{Error, Parts, Result};
use bytepair_split::unicode::{TextClass, UnicodeTables, published_class};
use bytepair_split::{
    Behaviour, Flavour, Pattern, Splitter, Stage, UNICODE_SCRIPTS, Unmatched, each_begins, escaped,
};

/// The pieces of `WhitespaceSplit`.
const WORD: &str = r"\S+";

/// The pieces of `Whitespace`.
const WORDS_AND_SIGNS: &str = r"\w+|[^\w\s]+";

/// All five behaviours by name.
const BEHAVIOURS: &[(&str, Behaviour)] = &[
    ("Isolated", Behaviour::Isolated),
    ("Removed", Behaviour::Removed),
    ("MergedWithPrevious", Behaviour::MergedWithPrevious),
    ("MergedWithNext", Behaviour::MergedWithNext),
    ("Contiguous", Behaviour::Contiguous),
];

const PRE_TOKENIZERS: &str = "Sequence, Split, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, Digits, Punctuation, \
    BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts";

/// How many characters are a piece if a file does not say so.
const FIXED_LENGTH: usize = 5;

/// The longest pieces of a fixed length: as often as a pattern may repeat.
const MAX_FIXED: usize = 1000;

/// What a pre-tokenizer does.
#[derive(Default)]
pub(super) struct Cutting {
    pub(super) rounds: Vec<Draft>,
    /// Whether the last of the row makes bytes of the text, or they are put back.
    pub(super) is_byte_level: bool,
    n_read: usize,
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

/// Reads a pre-tokenizer.
pub(super) fn cutting(placed: &PlacedValue<'_>) -> Result<Cutting> {
    let mut cutting = Cutting::default();
    cutting.push(placed)?;
    check_steps(FORMAT, &placed.path, cutting.n_read).map(|()| cutting)
}

impl Cutting {
    /// The stages, if there is one round that changes nothing.
    pub(super) fn only_stages(&self) -> Option<&[Stage]> {
        match self.rounds.as_slice() {
            [] => Some(&[]),
            [round] if round.steps.is_empty() => Some(&round.stages),
            _ => None,
        }
    }

    /// Puts back the bytes that characters stand for, also if the normalizer has put these characters there.
    pub(super) fn put_bytes_back(&mut self, normalizer_spells: bool) {
        let last = self.rounds.iter().flat_map(|round| &round.steps).last();
        let is_spelled = last.map_or(normalizer_spells, |step| *step == NormalizeStep::ByteChars);
        if is_spelled && !self.is_byte_level {
            self.rounds.push(Draft { steps: vec![NormalizeStep::CharBytes], ..Draft::default() });
            self.is_byte_level = true;
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

    fn push(&mut self, placed: &PlacedValue<'_>) -> Result<()> {
        let kind = placed.kind(PRE_TOKENIZERS)?.ok_or_else(|| no_type(placed))?;
        if kind == "Sequence" {
            let items = placed.required("pretokenizers")?.items()?;
            return items.iter().try_for_each(|item| self.push(item));
        }
        self.n_read += 1;
        if std::mem::take(&mut self.is_byte_level) {
            self.change(NormalizeStep::ByteChars);
        }
        let stage = match kind {
            "Split" => {
                let (pattern, path) = pattern(&placed.required("pattern")?)?;
                let behaviour = placed.required("behavior")?.one_of(BEHAVIOURS)?;
                let invert = flag(placed, "invert")?;
                self.cut(Stage { pattern, behaviour, invert }, &path);
                return Ok(());
            }
            "ByteLevel" => {
                return byte_level(placed).map(|found| self.push_byte_level(found, placed));
            }
            "Metaspace" => {
                return metaspace(placed).map(|found| self.push_metaspace(found, placed));
            }
            "Whitespace" => matches(WORDS_AND_SIGNS, Unmatched::Drop),
            "WhitespaceSplit" => matches(WORD, Unmatched::Drop),
            "Digits" => {
                let is_alone = flag(placed, "individual_digits")?;
                let digit = published_class(TextClass::Numeric);
                matches(&format!("{digit}{}", if is_alone { "" } else { "+" }), Unmatched::Keep)
            }
            "Punctuation" => {
                let behaviour = placed.get("behavior")?;
                let behaviour = behaviour.map(|field| field.one_of(BEHAVIOURS)).transpose()?;
                punctuation(behaviour.unwrap_or(Behaviour::Isolated))
            }
            "BertPreTokenizer" => {
                self.cut(matches(WORD, Unmatched::Drop), &placed.path);
                punctuation(Behaviour::Isolated)
            }
            "CharDelimiterSplit" => {
                let delimiter = escaped(placed.required("delimiter")?.character()?);
                matches(&format!("[^{delimiter}]+"), Unmatched::Drop)
            }
            // The last piece may have fewer characters.
            "FixedLength" => matches(&format!("(?s:.{{1,{}}})", length(placed)?), Unmatched::Keep),
            _ => {
                let source = UNICODE_SCRIPTS.to_owned();
                Stage::matches(Pattern { source, flavour: Flavour::Cutter }, Unmatched::Drop)
            }
        };
        self.cut(stage, &placed.path);
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

    fn push_byte_level(&mut self, byte_level: ByteLevel, placed: &PlacedValue<'_>) {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false);
        }
        if byte_level.use_regex {
            self.cut(gpt2_pieces(), &placed.path);
        }
    }

    fn push_metaspace(&mut self, metaspace: Metaspace, placed: &PlacedValue<'_>) {
        let replacement = metaspace.replacement.to_string();
        self.change(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        if let Some(only_first) = metaspace.only_first {
            self.prepend(replacement, only_first);
        }
        if metaspace.split {
            self.cut(each_begins(metaspace.replacement), &placed.path);
        }
    }

    fn prepend(&mut self, text: String, only_first: bool) {
        self.change(NormalizeStep::Prepend { text, only_first, unless_there: true });
    }
}

/// What a `Split` looks for, and where that stands in the file.
fn pattern(placed: &PlacedValue<'_>) -> Result<(Pattern, String)> {
    let source = match wanted(placed)? {
        Wanted::Regex(source) => source,
        Wanted::String(text) => text.chars().map(escaped).collect(),
    };
    Ok((Pattern { source, flavour: Flavour::Oniguruma }, placed.path.clone()))
}

/// The number of characters of a piece of a `FixedLength`.
fn length(placed: &PlacedValue<'_>) -> Result<usize> {
    let Some(length) = placed.get("length")? else { return Ok(FIXED_LENGTH) };
    match length.whole()? {
        whole if (1..=MAX_FIXED).contains(&whole) => Ok(whole),
        whole => Err(length.problem(format!("is {whole}, not 1 to {MAX_FIXED}"))),
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
            // What put the characters there says so.
            Act::Change(NormalizeStep::CharBytes) if self.needs_bytes && self.rest.len() == 1 => {
                (self.needs_bytes, self.rest) = (false, &[]);
                Ok(())
            }
            Act::Change(step) => {
                refuse(format!("this change of pieces of text: {}", normalize_step(step)))
            }
            Act::Cut(stage) => {
                let cuts = self.rest.iter().map_while(|act| match act {
                    Act::Cut(stage) => Some(*stage),
                    Act::Change(_) => None,
                });
                let (value, n_taken) = match published(&cuts.collect::<Vec<_>>()) {
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
        "behavior": name_of(BEHAVIOURS, &stage.behaviour),
        "invert": stage.invert,
    }))
}

fn rust(source: &str) -> Pattern {
    Pattern { source: source.to_owned(), flavour: Flavour::Rust }
}

/// The matches of a pattern in Rust's flavour.
fn matches(source: &str, unmatched: Unmatched) -> Stage {
    Stage::matches(rust(source), unmatched)
}

/// The pieces of `ByteLevel` with `use_regex`.
fn gpt2_pieces() -> Stage {
    let pattern = Pattern { source: BYTE_LEVEL_PATTERN.to_owned(), flavour: Flavour::Oniguruma };
    Stage::matches(pattern, Unmatched::Keep)
}

fn punctuation(behaviour: Behaviour) -> Stage {
    Stage { pattern: rust(&published_class(TextClass::Punctuation)), behaviour, invert: false }
}

/// The cutter that a row of stages begins with, if it is one of the library's own, and how many it takes: the first whose
/// stages, when it is read, are these.
fn published(stages: &[&Stage]) -> Option<(Value, usize)> {
    let fixed = [
        json!({"type": "BertPreTokenizer"}),
        json!({"type": "Whitespace"}),
        json!({"type": "WhitespaceSplit"}),
        json!({"type": "UnicodeScripts"}),
        json!({"type": "Digits", "individual_digits": true}),
        json!({"type": "Digits", "individual_digits": false}),
    ];
    let behaviours = BEHAVIOURS.iter();
    let punctuation = behaviours.map(|(name, _)| json!({"type": "Punctuation", "behavior": name}));
    let mut candidates =
        fixed.into_iter().chain(punctuation).chain(numbered(&stages.first()?.pattern.source));
    candidates.find_map(|value| {
        let tree = serde_json::from_value(value.clone()).ok()?;
        let placed = PlacedValue::new("pre_tokenizer", &tree, Repeated::LastCounts);
        let own = cutting(&placed).ok()?;
        let own = own.only_stages()?;
        let begins =
            own.len() <= stages.len() && own.iter().eq(stages.iter().copied().take(own.len()));
        begins.then_some((value, own.len()))
    })
}

/// A cutter with a number or a character of its own, if this may be its pattern.
fn numbered(source: &str) -> Option<Value> {
    let between = |start, end| source.strip_prefix(start)?.strip_suffix(end);
    if let Some(length) = between("(?s:.{1,", "})") {
        return Some(json!({"type": "FixedLength", "length": length.parse::<usize>().ok()?}));
    }
    let code = between(r"[^\x{", "}]+")?;
    let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    Some(json!({"type": "CharDelimiterSplit", "delimiter": character.to_string()}))
}
