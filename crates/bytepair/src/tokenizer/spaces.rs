//! Texts that are one piece except for their spaces: cut into words before the spaces are replaced.
//!
//! In many vocabularies a space is written as `▁`, whole texts are one piece, and no token spans the beginning of a
//! word. If the last steps only replace one character by another, and perhaps put something before the text, the words
//! can be cut before these steps: between two characters that no token joins. Then the text is treated like one that a
//! pattern splits: nothing is copied, and its words are cached. The proof is in `docs/explanation/encoding.md`.
//!
//! Texts go through the normalizer as a whole if too many characters are joined to a following space, if added tokens
//! are looked for in normalized text, and in all cases that [`super::cutting`] does not support.

use std::collections::{BTreeSet, HashSet};

use super::blocks::append_text;
use super::parts::Parts;
use super::worker::{Worker, append_ids};
use crate::encode::{Encoder, Spelling};
use crate::encoding::Traced;
use crate::error::Result;
use crate::normalize::{
    NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePieceRules, character_length,
};
use crate::pretokenize::PreTokenizer;
use crate::segment::Segment;
use crate::segment::last_character;
use crate::vocabulary::TokenId;
use bytepair_split::{
    Flavour, Pattern, Splitter, Stage, Unmatched, each_begins, escaped, first_begins,
};

/// If more characters than this are joined to a following space, a pattern does not pay.
const MAX_JOINED: usize = 64;

/// How words are cut.
#[derive(Clone, Debug)]
pub(super) struct Spaces {
    /// The steps that a segment goes through first, if any.
    before: Option<Normalizer>,
    /// Finds the words.
    pub(super) splitter: Splitter,
    /// The character that is replaced, and its replacement.
    blanks: [char; 2],
    rule: Rule,
    classes: Classes,
    /// The steps for the beginning of a segment, if something is put in front.
    beginning: Option<(Normalizer, PreTokenizer)>,
    /// Whether text that is not UTF-8 is made valid.
    mends_utf8: bool,
}

/// Where words begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The text is one piece: words begin at spaces that follow other characters, unless a token joins the two.
    Proven,
    /// At spaces that follow other characters.
    Spaces,
    /// Each space begins a piece.
    EachSpace,
}

/// The steps that change every text.
struct Changes<'p> {
    /// Those before the character is replaced.
    before: &'p [NormalizeStep],
    /// Those that only replace it and put something in front.
    plain: &'p [NormalizeStep],
    spelling: Spelling,
}

impl<'p> Changes<'p> {
    fn of(parts: &'p Parts) -> Option<Self> {
        if parts.units.is_bytes() || parts.added.iter().any(|token| token.normalized) {
            return None;
        }
        let steps = parts.normalizer.steps();
        let late = match parts.pre_tokenizer.rounds() {
            [] => &[],
            [round] => round.change.steps(),
            _ => return None,
        };
        let changes = if late.is_empty() {
            let splits = (0..steps.len()).map(|at| steps.split_at(at));
            let mut plain = splits.filter_map(|(before, rest)| Self::new(before, rest));
            plain.next()?
        } else {
            Self::new(steps, late)?
        };
        changes.are_apart().then_some(changes)
    }

    fn new(before: &'p [NormalizeStep], plain: &'p [NormalizeStep]) -> Option<Self> {
        Some(Self { before, plain, spelling: plain_spelling(plain)? })
    }

    /// Whether the later steps need nothing but the text that the earlier ones give. Prepending to the first character
    /// depends on where that came from, and the step of SentencePiece takes texts that are not UTF-8.
    fn are_apart(&self) -> bool {
        let is_own = |step: &NormalizeStep| matches!(step, NormalizeStep::SentencePiece(_));
        let asks = |step: &NormalizeStep| {
            is_own(step) || matches!(step, NormalizeStep::Prepend { only_first: true, .. })
        };
        self.before.is_empty() || !self.before.iter().any(is_own) && !self.plain.iter().any(asks)
    }
}

/// The character that is replaced by another in every text, if any.
pub(super) fn spelling(parts: &Parts) -> Option<Spelling> {
    Changes::of(parts).map(|changes| changes.spelling)
}

/// The character that these steps replace, if they only do that and perhaps put something before the text.
fn plain_spelling(steps: &[NormalizeStep]) -> Option<Spelling> {
    let mut spelling = None;
    for step in steps {
        match step {
            NormalizeStep::Replace { from, to } if spelling.is_none() => {
                let (&[from], [to]) = (from.as_bytes(), &*to.chars().collect::<Vec<_>>()) else {
                    return None;
                };
                spelling = Some(Spelling { from, to: *to });
            }
            // A character that is put in front later is no longer replaced.
            NormalizeStep::Prepend { text, .. }
                if text.chars().count() == 1
                    && spelling
                        .as_ref()
                        .is_none_or(|known| known.of(text.as_bytes()).is_none()) => {}
            NormalizeStep::SentencePiece(step) if spelling.is_none() && is_plain(step.rules()) => {
                spelling = SPACE_SYMBOL.chars().next().map(|to| Spelling { from: b' ', to });
            }
            _ => return None,
        }
    }
    spelling.filter(|spelling| spelling.from.is_ascii() && !spelling.to.is_ascii())
}

/// Whether the rules only put a space in front and replace each space.
fn is_plain(rules: &SentencePieceRules) -> bool {
    let keeps_spaces = rules.verbatim.iter().any(|text| text.contains(' '));
    rules.escapes_spaces
        && rules.characters.is_none()
        && !rules.removes_extra_spaces
        && !(rules.adds_space && rules.space_is_suffix)
        && !keeps_spaces
}

impl Rule {
    /// The rule for how texts are cut after they are changed.
    fn new(parts: &Parts, Spelling { from, to }: &Spelling) -> Option<Self> {
        let rounds = parts.pre_tokenizer.rounds();
        let stages = rounds.first().map_or(&[][..], |round| round.splitter.stages());
        // A stage that looks for the replaced character finds nothing, since no text contains it any more.
        let void = escaped(char::from(*from));
        if stages.iter().all(|stage| stage.pattern.source == void && !stage.invert) {
            return Some(Self::Proven);
        }
        match stages {
            [stage] if *stage == first_begins(*to) => Some(Self::Spaces),
            [stage] if *stage == each_begins(*to) => Some(Self::EachSpace),
            _ => None,
        }
    }
}

impl Spaces {
    /// `None` if nothing is proven.
    pub(super) fn new(parts: &Parts, encoder: &Encoder) -> Option<Self> {
        let Changes { before, plain, spelling } = Changes::of(parts)?;
        let rule = Rule::new(parts, &spelling)?;
        let blanks = [char::from(spelling.from), spelling.to];
        let joined = encoder.joined_pairs();
        let classes = joined.map(|joined| Classes::new(&joined, blanks));
        let classes = match rule {
            Rule::Proven => classes?,
            Rule::Spaces | Rule::EachSpace => classes.unwrap_or_default(),
        };
        if rule == Rule::Proven && classes.before_spaces.len() > MAX_JOINED {
            return None;
        }
        let source = pattern(blanks, rule, &classes);
        let stage = Stage::matches(Pattern { source, flavour: Flavour::Rust }, Unmatched::Keep);
        let splitter = Splitter::new(vec![stage], &parts.normalizer.unicode()).ok()?;
        let prepends = plain.iter().any(|step| !matches!(step, NormalizeStep::Replace { .. }));
        let is_late = before.len() == parts.normalizer.steps().len();
        let normalizer =
            |steps: &[NormalizeStep]| Normalizer::new(steps.to_vec(), parts.normalizer.unicode());
        let plain = if is_late { Normalizer::default() } else { normalizer(plain) };
        let beginning = prepends.then(|| (plain, parts.pre_tokenizer.clone()));
        let before = (!before.is_empty()).then(|| normalizer(before));
        let mends_utf8 = parts.normalizer.is_sentencepiece();
        Some(Self { before, splitter, blanks, rule, classes, beginning, mends_utf8 })
    }

    /// Whether a text can be cut like this.
    #[inline]
    pub(super) fn takes(&self, text: &[u8]) -> bool {
        !self.mends_utf8 || simdutf8::basic::from_utf8(text).is_ok()
    }

    /// The replacement character, if texts are one piece, the character is replaced and nothing else changes, except
    /// that something may be put before the text.
    pub(super) fn is_one_piece(&self) -> Option<char> {
        let is_plain = self.rule == Rule::Proven && self.before.is_none();
        is_plain.then_some(self.blanks[1])
    }

    /// Appends the ids of a segment of the original text.
    pub(super) fn append(
        &self,
        encoder: &Encoder,
        segment: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let text = match &self.before {
            Some(before) => before.normalize(segment)?,
            None => segment.text.into(),
        };
        let segment = Segment { text: &text, ..segment };
        if segment.text.is_empty() {
            return Ok(());
        }
        let begins = self.beginning.as_ref().filter(|_| !segment.is_rest);
        let Some((normalizer, pre_tokenizer)) = begins else {
            return append_text(encoder, &self.splitter, segment.text, ids, worker);
        };
        let (first, rest) = segment.text.split_at(self.first_len(segment.text));
        let first = Traced::plain(Segment { text: first, ..segment });
        pre_tokenizer.for_each_piece(&first.changed(normalizer)?, &mut |text, piece| {
            append_ids(encoder, &text.text, piece, ids, worker)
        })?;
        append_text(encoder, &self.splitter, rest, ids, worker)
    }

    /// The length of the first word.
    fn first_len(&self, text: &[u8]) -> usize {
        let is_space = |character| self.blanks.contains(&character);
        let (mut place, mut before) = (0, self.blanks[0]);
        while let Some(len) = character_length(&text[place..]) {
            let character = last_character(&text[..place + len]).unwrap_or(before);
            let begins = match self.rule {
                Rule::Proven => !is_space(before) && !self.classes.before_spaces.contains(&before),
                Rule::Spaces => !is_space(before),
                Rule::EachSpace => place > 0,
            };
            let is_apart =
                place > 0 && character != before && self.classes.alone.contains(&character);
            if is_space(character) && begins || is_apart {
                return place;
            }
            (place, before) = (place + len, character);
        }
        text.len()
    }
}

/// The pattern of words.
fn pattern(blanks: [char; 2], rule: Rule, classes: &Classes) -> String {
    let class = |characters: &BTreeSet<char>| characters.iter().copied().map(escaped).collect();
    let spaces: String = blanks.into_iter().map(escaped).collect();
    let [signs, alone, joined]: [String; 3] =
        [&classes.signs, &classes.alone, &classes.before_spaces].map(class);
    let words = match rule {
        Rule::Proven if !joined.is_empty() => {
            let word = format!("(?:[^{spaces}{alone}{joined}]|[{joined}][{spaces}]*)+");
            format!("[{spaces}]*{word}|[{spaces}]+")
        }
        rule => {
            let before = if rule == Rule::EachSpace { "?" } else { "*" };
            let letters = format!("[{spaces}]{before}[^{spaces}{alone}{signs}]+");
            let signs = match signs.is_empty() {
                true => String::new(),
                false => format!("|[{spaces}]{before}[{signs}]+"),
            };
            format!("{letters}{signs}|[{spaces}]{}", before.replace('*', "+").replace('?', ""))
        }
    };
    if alone.is_empty() { words } else { format!("{words}|[{alone}]+") }
}

/// Characters that stand alone if no token joins them to another character.
const ALONE: &str = "0123456789\n\r\t";

/// Which characters a vocabulary keeps apart: signs from letters, and some from all others. A character in no class is
/// a letter.
///
/// Vocabularies that were learned script by script have no token with both letters and signs, and often none that
/// joins a digit or a line end to anything else. So a word ends before a sign, which makes words as frequent as those
/// of a split pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes {
    /// Characters that no token joins to a letter.
    pub(super) signs: BTreeSet<char>,
    /// Characters that no token joins to anything but themselves.
    pub(super) alone: BTreeSet<char>,
    /// Characters that a token joins to a following space.
    pub(super) before_spaces: BTreeSet<char>,
}

impl Classes {
    /// The classes for the pairs that tokens join. Costs a pass over the pairs for each round in which a sign turns
    /// out to be a letter.
    pub(super) fn new(joined: &HashSet<(char, char)>, spaces: [char; 2]) -> Self {
        let is_space = |character: char| spaces.contains(&character);
        let pairs = || joined.iter().copied().filter(|(left, right)| left != right);
        let mut alone: BTreeSet<char> = ALONE.chars().filter(|&one| !is_space(one)).collect();
        for (left, right) in pairs() {
            alone.remove(&left);
            alone.remove(&right);
        }
        let before_spaces = pairs().filter(|&(left, right)| is_space(right) && !is_space(left));
        let before_spaces = before_spaces.map(|(left, _)| left).collect();
        let words = || pairs().filter(|&(left, right)| !is_space(left) && !is_space(right));
        let is_sign = |character: &char| !character.is_alphabetic() && !alone.contains(character);
        let mut signs: BTreeSet<char> =
            words().flat_map(<[char; 2]>::from).filter(is_sign).collect();
        signs.extend(('!'..='~').filter(|sign| is_sign(sign) && !is_space(*sign)));
        loop {
            let mixed =
                words().filter(|(left, right)| signs.contains(left) != signs.contains(right));
            let letters: HashSet<char> = mixed.flat_map(<[char; 2]>::from).collect();
            if letters.is_empty() {
                return Self { signs, alone, before_spaces };
            }
            signs.retain(|sign| !letters.contains(sign));
        }
    }
}

#[cfg(test)]
mod tests;
