//! Texts that are one piece but for their spaces: cut into words before these are written otherwise.
//!
//! In many vocabularies a space is written as `▁`, whole texts are one piece, and no token reaches across a word's
//! beginning. Where all that happens to a text is that one character is written as another, and perhaps something put
//! in front, the words can be cut in the text as it is given: between two characters that no token joins. Then it goes
//! the way of texts that a pattern splits, which are copied nowhere and whose words are known. The proof is in
//! `docs/explanation/encoding.md`.
//!
//! Left out, so that texts go through the normalizer as a whole: vocabularies in which too many characters are joined to
//! a space behind them, added tokens that are looked for in normalized text, and all that [`super::cutting`] leaves out.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Tokenizer;
use super::blocks::append_text;
use super::parts::Parts;
use super::worker::{Worker, append_ids};
use crate::added::last_character;
use crate::encode::{Encoder, Spelling};
use crate::error::Result;
use crate::normalize::{NormalizeStep, Normalizer, character_length};
use crate::split::{Flavour, Pattern, Segment, Splitter, Stage, Unmatched};
use crate::vocabulary::TokenId;

/// More characters that are joined to a space behind them are not worth a pattern.
const MAX_JOINED: usize = 64;

/// How words are cut.
#[derive(Clone, Debug)]
pub(super) struct Spaces {
    splitter: Splitter,
    /// The character and what stands for it, between which and what stands before there is a cut.
    spaces: [char; 2],
    /// What else may stand before them without a cut.
    joined: BTreeSet<char>,
    /// Whether line ends are joined to nothing else.
    has_lines: bool,
    /// What the beginning of a segment goes through, if something is put in front.
    beginning: Option<[Normalizer; 2]>,
}

/// What happens to every text, if that is no more than one character written as another, and something put in front.
pub(super) fn spelling(parts: &Parts) -> Option<Spelling> {
    let changes = changes(parts)?;
    if changes.iter().filter(|change| !change.steps().is_empty()).count() != 1 {
        return None;
    }
    let mut spelling = None;
    for step in changes.iter().flat_map(|change| change.steps()) {
        match step {
            NormalizeStep::Replace { from, to } if spelling.is_none() => {
                let (&[from], [to]) = (from.as_bytes(), &*to.chars().collect::<Vec<_>>()) else {
                    return None;
                };
                spelling = Some(Spelling { from, to: *to });
            }
            NormalizeStep::Prepend { text, .. } if text.chars().count() == 1 => {}
            _ => return None,
        }
    }
    spelling.filter(|spelling| spelling.from.is_ascii() && !spelling.to.is_ascii())
}

/// What changes a text, where it is one piece afterwards and nothing is looked for in it.
fn changes(parts: &Parts) -> Option<[&Normalizer; 2]> {
    static NOTHING: std::sync::LazyLock<Normalizer> = std::sync::LazyLock::new(Normalizer::default);
    let round = match parts.pre_tokenizer.rounds() {
        [] => None,
        [round] if round.splitter.stages().is_empty() => Some(&round.change),
        _ => return None,
    };
    let looks_later = parts.added.iter().any(|token| token.normalized);
    (!looks_later).then(|| [&parts.normalizer, round.unwrap_or(&NOTHING)])
}

impl Spaces {
    /// `None` where nothing is proven.
    pub(super) fn new(tokenizer: &Tokenizer) -> Option<Self> {
        let parts = &tokenizer.parts;
        let Spelling { from, to } = spelling(parts)?;
        let encoder = tokenizer.encoder();
        let spaces = [char::from(from), to];
        let [mut joined, _] = encoder.neighbours(to)?;
        joined.remove(&spaces[0]);
        if joined.len() > MAX_JOINED {
            return None;
        }
        let is_alone = |around: [BTreeSet<char>; 2]| around.iter().all(BTreeSet::is_empty);
        let has_lines = encoder.neighbours('\n').is_some_and(is_alone);
        let pattern = Pattern { source: pattern(spaces, &joined, has_lines), flavour: Flavour::Rust };
        let stage = Stage::matches(pattern, Unmatched::Keep);
        let splitter = Splitter::new(vec![stage], &parts.normalizer.unicode()).ok()?;
        let changes = changes(parts)?.map(Clone::clone);
        let mut steps = changes.iter().flat_map(|change| change.steps());
        let prepends = steps.any(|step| matches!(step, NormalizeStep::Prepend { .. }));
        Some(Self { splitter, spaces, joined, has_lines, beginning: prepends.then_some(changes) })
    }

    /// How the words are found.
    pub(super) fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// Appends the ids of a segment of a text as it was given.
    pub(super) fn append(
        &self,
        encoder: &Encoder,
        segment: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let begins = self.beginning.as_ref().filter(|_| !segment.is_rest);
        let Some([normalizer, change]) = begins else {
            return append_text(encoder, &self.splitter, segment.text, ids, worker);
        };
        let (first, rest) = segment.text.split_at(self.first_len(segment.text));
        let first = normalizer.normalize(Segment { text: first, ..segment })?;
        let first = change.normalize(Segment { text: &first, ..segment })?;
        append_ids(encoder, &first, 0..first.len(), ids, worker)?;
        append_text(encoder, &self.splitter, rest, ids, worker)
    }

    /// How long the first word is.
    fn first_len(&self, text: &[u8]) -> usize {
        let is_space = |character| self.spaces.contains(&character);
        let (mut place, mut before) = (0, self.spaces[0]);
        while let Some(len) = character_length(&text[place..]) {
            let character = last_character(&text[..place + len]).unwrap_or(before);
            let is_word = !is_space(before) && !self.joined.contains(&before);
            let is_line = self.has_lines && character == '\n' && before != '\n' && place > 0;
            if is_space(character) && is_word || is_line {
                return place;
            }
            (place, before) = (place + len, character);
        }
        text.len()
    }
}

/// A word: spaces, and what is not one, up to the next space, unless something joined to that stands before it.
fn pattern(spaces: [char; 2], joined: &BTreeSet<char>, has_lines: bool) -> String {
    let class = |characters: &mut dyn Iterator<Item = char>| {
        characters.fold(String::new(), |mut class, character| {
            let _ = write!(class, "\\x{{{:x}}}", u32::from(character));
            class
        })
    };
    let spaces = class(&mut spaces.into_iter());
    let lines = if has_lines { "\\n" } else { "" };
    let joined = class(&mut joined.iter().copied());
    let word = match joined.is_empty() {
        true => format!("[^{spaces}{lines}]+"),
        false => format!("(?:[^{spaces}{lines}{joined}]|[{joined}][{spaces}]*)+"),
    };
    let pattern = format!("[{spaces}]*{word}|[{spaces}]+");
    if has_lines { pattern + r"|\n+" } else { pattern }
}

#[cfg(test)]
mod tests;
