//! Describes a tokenizer in words: each part, and each step that loses information about the text.

use crate::decode::{Decode, DecodeChain, DecodeRules};
use crate::normalize::{NormalizeStep, SentencePieceRules};
use crate::pretokenize::Round;
use crate::segment::quoted;
use crate::template::{Padding, Side, Template, TemplatePiece, Truncation};
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::{EndMarkKind, Missing, Unit, Units, published_name};
use crate::vocabulary::{TokenId, TokenKind};
use bytepair_split::{Behaviour, Stage, Unmatched};

impl Tokenizer {
    /// The parts of the pipeline in the order of data flow, each with its name.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let parts = self.parts();
        let mut lines = vec![
            ("normalize", normalizer(parts)),
            ("split", splitter(parts)),
            ("units", units(&parts.units)),
            ("vocabulary", vocabulary(parts)),
        ];
        if !parts.added.is_empty() {
            let names: Vec<_> = parts.added.iter().map(|token| token.content.as_str()).collect();
            lines.push(("added tokens", shortened(&names)));
        }
        lines.extend(decoding(parts).map(|words| ("decode", words)));
        lines.extend(parts.dropout.map(|rate| ("dropout", dropout(rate))));
        lines.extend(template(parts).map(|words| ("template", words)));
        lines.extend(parts.truncation.as_ref().map(|cut| ("truncation", truncation(cut))));
        lines.extend(parts.padding.as_ref().map(|fill| ("padding", padding(fill))));
        let lost = [losses(parts), self.lost_in_decoding()].concat().join(", ");
        lines.push(("loses", if lost.is_empty() { "nothing".to_owned() } else { lost }));
        lines
    }

    /// How decoding changes tokens, if they do not come back as the text in which they were found.
    fn lost_in_decoding(&self) -> Vec<String> {
        let parts = self.parts();
        let changed = |what: &str, (id, text): (TokenId, &[u8])| {
            let found = self.decode_bytes(&[id]).is_ok_and(|bytes| bytes != text);
            found.then(|| {
                format!("{what} such as {}, which are decoded to other text", quoted(text))
            })
        };
        let mut added = parts.added.iter().map(|token| (token.id, token.content.as_bytes()));
        let mut lost = Vec::from_iter(added.find_map(|token| changed("added tokens", token)));
        match &parts.decode {
            Decode::Chain(chain) if !chain.separator.is_empty() => {
                lost.push("spaces, since decoding puts one between tokens".to_owned());
            }
            Decode::Chain(_) if parts.units.is_bytes() && parts.units.end_mark.is_none() => {
                let plain =
                    parts.vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::PLAIN);
                let mut plain = plain.map(|(id, token)| (id, token.bytes));
                lost.extend(plain.find_map(|token| changed("tokens", token)));
            }
            Decode::SentencePiece(rules) if !rules.controls.is_empty() => {
                lost.push("control tokens, which decoding leaves out".to_owned());
            }
            _ => {}
        }
        lost
    }

    /// How each stage of the splitter is executed, or several stages that run at once. For a text that is one piece:
    /// how its words are found if no token spans two of them, or how added tokens are found together with pieces.
    pub fn explain(&self) -> Vec<String> {
        if let Some(splitter) = self.word_splitter() {
            return splitter.explain();
        }
        let rounds = self.parts().pre_tokenizer.rounds();
        rounds.iter().flat_map(|round| round.splitter.explain()).collect()
    }
}

/// What a file says about dropout, which only a call turns on.
fn dropout(rate: f64) -> String {
    format!("{rate} in its file; not applied unless a call asks for it, dropout={rate}")
}

fn normalizer(parts: &Parts) -> String {
    let steps: Vec<_> = parts.normalizer.steps().iter().map(normalize_step).collect();
    if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") }
}

/// A step of a normalizer in words.
pub fn normalize_step(step: &NormalizeStep) -> String {
    match step {
        NormalizeStep::Lowercase => "lower case".to_owned(),
        NormalizeStep::Form(form) => format!("{form:?}").to_uppercase(),
        NormalizeStep::Replace { from, to } => format!("{from:?} becomes {to:?}"),
        NormalizeStep::Prepend { text, only_first, unless_there } => {
            let place = if *only_first { "the text" } else { "each segment" };
            let condition = if *unless_there { ", unless it is there" } else { "" };
            format!("{text:?} put before {place}{condition}")
        }
        NormalizeStep::ReplaceMatches { pattern, to } => {
            format!("what {:?} matches becomes {to:?}", pattern.pattern().source)
        }
        NormalizeStep::Strip { left, right } => {
            let ends = if *left && *right { "both ends" } else { "one end" };
            format!("white space at {ends} removed")
        }
        NormalizeStep::StripAccents => "marks removed".to_owned(),
        NormalizeStep::Bert(_) => "BERT's cleaning".to_owned(),
        NormalizeStep::Nmt => "controls removed, rare spaces made plain".to_owned(),
        NormalizeStep::ByteChars => "each byte as the character that stands for it".to_owned(),
        NormalizeStep::CharBytes => "each such character as its byte".to_owned(),
        NormalizeStep::Precompiled(_) => {
            "a character map, looked up for clusters of characters".to_owned()
        }
        NormalizeStep::SentencePiece(step) => sentencepiece(step.rules()),
    }
}

fn sentencepiece(rules: &SentencePieceRules) -> String {
    let words = chosen([
        (rules.characters.is_some(), "a character map, the longest match first"),
        (rules.removes_extra_spaces, "extra spaces removed"),
        (rules.adds_space && !rules.space_is_suffix, "a space put before the text"),
        (rules.adds_space && rules.space_is_suffix, "a space put behind the text"),
        (rules.escapes_spaces, "\" \" becomes \"▁\""),
    ]);
    format!("SentencePiece ({})", words.join(", "))
}

fn splitter(parts: &Parts) -> String {
    let rounds = parts.pre_tokenizer.rounds().iter().flat_map(|round| {
        let changes = round.change.steps().iter().map(normalize_step);
        changes.chain(round.splitter.stages().iter().map(stage))
    });
    let stages: Vec<_> = rounds.collect();
    if stages.is_empty() { "one text is one piece".to_owned() } else { stages.join(", then ") }
}

fn stage(stage: &Stage) -> String {
    let rest = match (stage.unmatched(), stage.invert) {
        (Some(Unmatched::Keep), _) => String::new(),
        (Some(Unmatched::Drop), _) => " (the rest is dropped)".to_owned(),
        (None, false) => format!(" ({:?})", stage.behaviour),
        (None, true) => format!(" ({:?}, inverted)", stage.behaviour),
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
    let prefix = units.continuing_prefix.iter();
    words.extend(prefix.map(|prefix| format!("continuing prefix {prefix:?}")));
    words.extend(units.unknown.iter().map(|name| format!("unknown token {name:?}")));
    words.extend(chosen([
        (units.fuse_unknown, "neighbouring unknown units fused"),
        (units.byte_fallback, "byte fallback"),
    ]));
    words.extend(outside(units).map(str::to_owned));
    words.join(", ")
}

/// How a unit that nothing stands for is treated, if there can be one.
fn outside(units: &Units) -> Option<&'static str> {
    let stands_for_all = units.unknown.is_some() || units.byte_fallback;
    match units.missing {
        Missing::Drop if units.unknown.is_none() => Some("others left out"),
        Missing::Error if !units.is_bytes() && !stands_for_all => Some("others are errors"),
        Missing::Drop | Missing::Error => None,
    }
}

fn vocabulary(parts: &Parts) -> String {
    let (n_ids, n_merges) = (parts.vocabulary.len(), parts.vocabulary.n_merges());
    let ignored = if parts.ignore_merges { ", ignored for pieces that are tokens" } else { "" };
    let [tokens, merges] = [n_ids, n_merges].map(|n| if n == 1 { "" } else { "s" });
    format!("{n_ids} token{tokens}, {n_merges} merge{merges}{ignored}")
}

/// How ids become text, if more is done than to concatenate the tokens.
fn decoding(parts: &Parts) -> Option<String> {
    match &parts.decode {
        Decode::Rules(rules) if *rules == DecodeRules::default() => None,
        Decode::Rules(DecodeRules {
            replacements,
            n_leading_spaces,
            first_without,
            whole_byte_runs,
        }) => {
            let mut words: Vec<String> =
                replacements.iter().map(|(from, to)| format!("{from:?} becomes {to:?}")).collect();
            let first = first_without.iter();
            words.extend(first.map(|text| format!("{text:?} removed from the first token")));
            let s = if *n_leading_spaces == 1 { "" } else { "s" };
            let spaces = (*n_leading_spaces > 0)
                .then(|| format!("{n_leading_spaces} leading space{s} removed"));
            words.extend(spaces);
            words.extend(chosen([(*whole_byte_runs, "byte tokens decoded in runs")]));
            Some(words.join(", "))
        }
        Decode::SentencePiece(_) => Some("as SentencePiece joins tokens".to_owned()),
        Decode::Chain(DecodeChain { steps, separator }) => {
            let mut words: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            words.extend((!separator.is_empty()).then(|| format!("{separator:?} between tokens")));
            Some(words.join(", then "))
        }
    }
}

/// The special tokens around a text.
fn template(parts: &Parts) -> Option<String> {
    let name = |id: &TokenId| {
        let token = parts.vocabulary.token(*id);
        token.map_or_else(|| id.to_string(), |token| published_name(&parts.units, token))
    };
    let pieces = |pieces: &[TemplatePiece]| {
        let words = pieces.iter().map(|piece| match piece {
            TemplatePiece::First { .. } => "text".to_owned(),
            TemplatePiece::Second { .. } => "second text".to_owned(),
            TemplatePiece::Special { ids, .. } => {
                ids.iter().map(name).collect::<Vec<_>>().join(" ")
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let Template { single, pair } = &parts.template;
    (parts.template != Template::default())
        .then(|| format!("{}; for pairs {}", pieces(single), pieces(pair)))
}

fn truncation(truncation: &Truncation) -> String {
    let Truncation { max_length, stride, strategy, side } = truncation;
    format!("to {max_length} ids at the {}, {strategy:?}, stride {stride}", end_of(*side))
}

fn padding(padding: &Padding) -> String {
    let Padding { length, multiple_of, side, id, type_id: _, token } = padding;
    let length = length.map_or_else(|| "the longest".to_owned(), |length| length.to_string());
    let multiple = multiple_of.map_or_else(String::new, |n| format!(", a multiple of {n}"));
    format!("to {length}{multiple} with {token:?} ({id}) at the {}", end_of(*side))
}

fn end_of(side: Side) -> &'static str {
    match side {
        Side::Left => "beginning",
        Side::Right => "end",
    }
}

/// The steps after which the text cannot be recovered.
fn losses(parts: &Parts) -> Vec<String> {
    let Parts { normalizer, pre_tokenizer, units, added, .. } = parts;
    let spells =
        |step: &NormalizeStep| matches!(step, NormalizeStep::ByteChars | NormalizeStep::CharBytes);
    let changes = |round: &Round| !round.change.steps().iter().all(spells);
    let drops = |stage: &Stage| stage.behaviour == Behaviour::Removed;
    let is_lossy = |round: &Round| {
        round.splitter.stages().iter().any(drops) && !round.splitter.covers_everything()
    };
    let has_unknown = units.unknown.is_some();
    chosen([
        (!normalizer.steps().is_empty(), "what normalizing changes"),
        (
            added.iter().any(|token| token.lstrip || token.rstrip),
            "white space beside some added tokens",
        ),
        (pre_tokenizer.rounds().iter().any(changes), "what changing pieces changes"),
        (pre_tokenizer.rounds().iter().any(is_lossy), "what the split pattern does not match"),
        (
            !units.is_bytes() && has_unknown && !units.byte_fallback,
            "characters outside the alphabet",
        ),
        (units.missing == Missing::Drop && !has_unknown, "units outside the alphabet"),
    ])
}

/// The words whose condition is true.
fn chosen<const N: usize>(words: [(bool, &str); N]) -> Vec<String> {
    words.into_iter().filter(|word| word.0).map(|word| word.1.to_owned()).collect()
}

fn shortened(names: &[&str]) -> String {
    const MOST: usize = 5;
    let rest = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - rest].join(" ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
