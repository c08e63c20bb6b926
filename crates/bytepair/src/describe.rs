//! A tokenizer in words: each part, and each step that loses something of the text.

use crate::normalize::NormalizeStep;
use crate::split::{Stage, Unmatched};
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::{EndMarkKind, Unit, Units};

impl Tokenizer {
    /// The parts of the pipeline in the order of the data, each with its name.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let parts = self.parts();
        let mut lines = vec![("normalize", normalizer(parts)), ("split", splitter(parts))];
        lines.push(("units", units(&parts.units)));
        lines.push(("vocabulary", vocabulary(parts)));
        if !parts.added.is_empty() {
            let names: Vec<_> = parts.added.iter().map(|token| token.content.as_str()).collect();
            lines.push(("added tokens", shortened(&names)));
        }
        let lossy = losses(parts);
        lines.push((
            "loses",
            if lossy.is_empty() { "nothing".to_owned() } else { lossy.join(", ") },
        ));
        lines
    }

    /// How each stage of the splitter is executed.
    pub fn explain(&self) -> Vec<String> {
        self.parts().splitter.explain()
    }
}

fn normalizer(parts: &Parts) -> String {
    let steps: Vec<_> = parts.normalizer.steps().iter().map(normalize_step).collect();
    if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") }
}

fn normalize_step(step: &NormalizeStep) -> String {
    match step {
        NormalizeStep::Lowercase => "lower case".to_owned(),
        NormalizeStep::Form(form) => format!("{form:?}").to_uppercase(),
        NormalizeStep::Replace { from, to } => format!("{from:?} becomes {to:?}"),
        NormalizeStep::Prepend { text, only_first, unless_there } => {
            let place = if *only_first { "the text" } else { "each segment" };
            let condition = if *unless_there { ", unless it is there" } else { "" };
            format!("{text:?} put before {place}{condition}")
        }
    }
}

fn splitter(parts: &Parts) -> String {
    let stages: Vec<_> = parts.splitter.stages().iter().map(stage).collect();
    if stages.is_empty() { "one text is one piece".to_owned() } else { stages.join(", then ") }
}

fn stage(stage: &Stage) -> String {
    let rest = match stage.unmatched {
        Unmatched::Keep => "",
        Unmatched::Drop => " (the rest is dropped)",
    };
    format!("{}{rest}", stage.pattern.source)
}

fn units(units: &Units) -> String {
    let mut words = vec![match units.unit {
        Unit::Byte(_) => "bytes".to_owned(),
        Unit::Character => "characters".to_owned(),
    }];
    if let Some(mark) = &units.end_mark {
        let kind = match mark.kind {
            EndMarkKind::Unit => "a unit of its own",
            EndMarkKind::Suffix => "a suffix",
        };
        words.push(format!("end mark {:?} as {kind}", mark.text));
    }
    words.extend(
        units.continuing_prefix.iter().map(|prefix| format!("continuing prefix {prefix:?}")),
    );
    words.extend(units.unknown.iter().map(|name| format!("unknown token {name:?}")));
    words.extend(units.byte_fallback.then(|| "byte fallback".to_owned()));
    words.join(", ")
}

fn vocabulary(parts: &Parts) -> String {
    let (n_ids, n_merges) = (parts.vocabulary.len(), parts.vocabulary.merges().len());
    let ignored = if parts.ignore_merges { ", ignored for pieces that are tokens" } else { "" };
    format!("{n_ids} tokens, {n_merges} merges{ignored}")
}

/// The steps after which a text cannot be had back.
fn losses(parts: &Parts) -> Vec<String> {
    let mut losses = Vec::new();
    if !parts.normalizer.steps().is_empty() {
        losses.push("what normalizing changes".to_owned());
    }
    let drops = |stage: &Stage| stage.unmatched == Unmatched::Drop;
    if parts.splitter.stages().iter().any(drops) && !parts.splitter.covers_everything() {
        losses.push("what the split pattern does not match".to_owned());
    }
    if !parts.units.is_bytes() && parts.units.unknown.is_some() && !parts.units.byte_fallback {
        losses.push("characters outside the alphabet".to_owned());
    }
    losses
}

fn shortened(names: &[&str]) -> String {
    const MOST: usize = 5;
    let rest = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - rest].join(" ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
