//! Normalizes text before it is split.
//!
//! A normalizer is a list of steps, applied in order to each segment between added tokens. Bytes that are not UTF-8
//! pass unchanged. Each step exists twice: `normalize` gives only the text, quickly; `normalize_aligned` also gives the
//! origin of each byte, by the rules of Hugging Face `tokenizers`. Steps that depend on a version of Unicode use the
//! tables that the normalizer was given. Costs one pass over the text for each step. `normalize` does not copy a text
//! that no step changes.

mod aligned;
mod charsmap;
mod forms;
mod operation;
mod sentencepiece;
#[cfg(test)]
mod tests;

pub use aligned::Aligned;
pub use charsmap::CharsMap;
pub use forms::UnicodeForm;
pub use sentencepiece::SPACE_SYMBOL;
pub(crate) use sentencepiece::character_length;
pub use sentencepiece::{SentencePiece, SentencePieceRules};

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::memory::ask;
use crate::segment::{Segment, last_character};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Pattern, Splitter, Stage, Unmatched};

use operation::Operation;

/// One change of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NormalizeStep {
    /// Each code point becomes its lower case, without a special final sigma.
    Lowercase,
    /// A Unicode normalization form.
    Form(UnicodeForm),
    /// Every occurrence of a text is replaced by another, from left to right.
    Replace {
        /// What is replaced. Not empty.
        from: String,
        /// The replacement.
        to: String,
    },
    /// A text is put in front.
    Prepend {
        /// What is put in front.
        text: String,
        /// Whether only the first segment of a text gets it, or every segment.
        only_first: bool,
        /// Whether a segment that already begins with it stays as it is.
        unless_there: bool,
    },
    /// Every match of a pattern is replaced by a text, from left to right.
    ReplaceMatches {
        /// What is replaced.
        pattern: TextPattern,
        /// The replacement.
        to: String,
    },
    /// White space at the ends is removed.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Marks are removed. A separate step must decompose the text before.
    StripAccents,
    /// The rules of BERT's basic tokenizer.
    Bert(BertRules),
    /// Hugging Face's `Nmt`: some controls are removed, some spaces and invisible characters become spaces.
    Nmt,
    /// Each byte becomes the character that stands for it in byte-level vocabularies.
    ByteChars,
    /// Each character that stands for a byte becomes that byte; others stay as they are. Reverses [`Self::ByteChars`].
    CharBytes,
    /// Hugging Face's `Precompiled`: a character map that is looked up by grapheme clusters.
    Precompiled(CharsMap),
    /// All that SentencePiece does to a text, in one step. It must be the only step.
    SentencePiece(SentencePiece),
}

/// The rules of BERT's basic tokenizer, in the order in which they apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BertRules {
    /// Controls, NUL and U+FFFD are removed; white space becomes spaces.
    pub clean_text: bool,
    /// Ideographs get a space on both sides.
    pub handle_chinese_chars: bool,
    /// Canonical decomposition, then nonspacing marks are removed; `None` means the value of `lowercase`.
    pub strip_accents: Option<bool>,
    /// Lower case.
    pub lowercase: bool,
}

/// The steps that are applied to a segment before it is split.
#[derive(Clone, Debug)]
pub struct Normalizer {
    steps: Vec<NormalizeStep>,
    operations: Vec<Operation>,
    unicode: UnicodeTables,
}

impl Default for Normalizer {
    /// A normalizer that changes nothing.
    fn default() -> Self {
        Self::new(Vec::new(), UnicodeTables::latest())
    }
}

impl Normalizer {
    /// A normalizer of these steps.
    pub fn new(steps: Vec<NormalizeStep>, unicode: UnicodeTables) -> Self {
        let operations = steps.iter().flat_map(operation::of_step).collect();
        Self { steps, operations, unicode }
    }

    /// The steps, in the order in which they are applied.
    pub fn steps(&self) -> &[NormalizeStep] {
        &self.steps
    }

    /// The growth of the text by each step.
    pub(crate) fn growths(&self) -> impl Iterator<Item = Growth> {
        self.steps.iter().map(|step| match step {
            NormalizeStep::Replace { from, to } => Growth::text(from, to),
            NormalizeStep::ReplaceMatches { to, .. } => Growth::any(to.len(), to),
            NormalizeStep::Prepend { text, .. } => Growth::prefix(text),
            NormalizeStep::Precompiled(map) => map.growth(),
            NormalizeStep::SentencePiece(step) => {
                step.rules().characters.as_ref().map_or(Growth::OTHER, CharsMap::growth)
            }
            _ => Growth::OTHER,
        })
    }

    /// The version of Unicode that the steps use.
    pub fn unicode(&self) -> UnicodeTables {
        self.unicode
    }

    /// The segment after all steps.
    ///
    /// # Errors
    /// [`ErrorKind::Split`](crate::ErrorKind::Split) if a pattern that needs backtracking gives up;
    /// [`ErrorKind::Option`](crate::ErrorKind::Option) if the text becomes more than a thousand times longer;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn normalize<'t>(&self, segment: Segment<'t>) -> Result<Cow<'t, [u8]>> {
        let mut text = Cow::Borrowed(segment.text);
        for operation in &self.operations {
            ask(text.len().saturating_mul(CHANGED_LEN))?;
            if let Some(changed) = operation.apply(&text, segment, self.unicode)? {
                check_len(changed.len(), segment.text.len())?;
                text = Cow::Owned(changed);
            }
        }
        Ok(text)
    }

    /// The segment after all steps, and where each byte came from. The text and the errors are those of
    /// [`Self::normalize`].
    ///
    /// ```
    /// use bytepair::normalize::{NormalizeStep, Normalizer};
    /// use bytepair::{segment::Segment, unicode::UnicodeTables};
    ///
    /// let step = NormalizeStep::Replace { from: " ".to_owned(), to: "▁".to_owned() };
    /// let normalizer = Normalizer::new(vec![step], UnicodeTables::latest());
    /// let segment = Segment::whole(b"a b");
    /// let aligned = normalizer.normalize_aligned(segment)?;
    /// assert_eq!(aligned.text, "a▁b".as_bytes());
    /// assert_eq!(aligned.spans, [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]);
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    pub fn normalize_aligned(&self, segment: Segment<'_>) -> Result<Aligned> {
        ask(ALIGNED_LEN.saturating_mul(segment.text.len()))?;
        let mut aligned = Aligned::unchanged(segment.text);
        for operation in &self.operations {
            ask(ALIGNED_LEN.saturating_mul(aligned.text.len()))?;
            operation.align(&mut aligned, segment, self.unicode)?;
            check_len(aligned.text.len(), segment.text.len())?;
        }
        Ok(aligned)
    }

    /// Whether the step of SentencePiece is used, whose result is always UTF-8.
    pub fn is_sentencepiece(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, NormalizeStep::SentencePiece(_)))
    }

    /// Whether something may be added after a segment.
    pub(crate) fn adds_behind(&self) -> bool {
        self.steps.iter().any(|step| {
            let NormalizeStep::SentencePiece(step) = step else { return false };
            step.rules().adds_space && step.rules().space_is_suffix
        })
    }

    /// Whether a text can be normalized in two parts, cut before the character at `place`, whatever surrounds the
    /// characters there. The second part is the rest of a segment.
    ///
    /// Many steps change one code point at a time. A Unicode form can be cut before a character that joins nothing
    /// before it. A replaced text of several characters could begin before the cut.
    pub(crate) fn can_cut(&self, text: &[u8], place: usize) -> bool {
        let prepends = self.steps.iter().any(|step| matches!(step, NormalizeStep::Prepend { .. }));
        self.is_cut(text, place) && (!prepends || self.something_is_left_before(text, place))
    }

    /// Whether a text becomes what the text before a place became, which is `done`, and what the rest becomes, as the
    /// rest of a segment. What follows the text is not known.
    pub(crate) fn can_continue(&self, text: &[u8], place: usize, done: &[u8]) -> bool {
        self.operations.is_empty()
            || self.can_cut(text, place)
            || match self.operations.as_slice() {
                [Operation::Form(form)] => form.continues(done, &text[place..], self.unicode),
                [Operation::CharBytes] => true,
                _ => false,
            }
    }

    /// Whether a text can be cut between two adjacent characters, given as three places, and each is normalized
    /// independently. What follows the text is not known.
    pub(crate) fn can_cut_between(&self, text: &[u8], places: [usize; 3]) -> bool {
        let [_, place, after] = places;
        if after >= text.len() && !self.is_by_character() {
            return false;
        }
        match self.operations.as_slice() {
            [Operation::SentencePiece(step)] => {
                step.can_cut(text, place) && step.is_changed_alone(text, after)
            }
            _ => places.iter().all(|&place| self.can_cut(text, place)),
        }
    }

    /// Whether something is left of the character before a place, so that a prepended text comes before it.
    fn something_is_left_before(&self, text: &[u8], place: usize) -> bool {
        let before = text[..place].iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
        let segment = Segment { is_rest: true, ..Segment::inner(&text[before..place]) };
        self.is_cut(text, before) && self.normalize(segment).is_ok_and(|left| !left.is_empty())
    }

    /// Whether a text can be cut at some places.
    pub(crate) fn can_be_cut(&self) -> bool {
        self.operations.iter().all(Operation::can_be_cut)
            || matches!(self.operations.as_slice(), [Operation::SentencePiece(_)])
    }

    /// Whether a text can be cut between any two characters that are not removed completely.
    pub(crate) fn is_by_character(&self) -> bool {
        self.operations.iter().all(Operation::is_by_character)
    }

    fn is_cut(&self, text: &[u8], place: usize) -> bool {
        if place == 0 || place >= text.len() {
            return place <= text.len();
        }
        if text[place] & 0xC0 == 0x80 {
            return false;
        }
        if let [Operation::SentencePiece(step)] = self.operations.as_slice() {
            return step.can_cut(text, place);
        }
        // What the text before ends with, and the two characters that the rest begins with, as long as they are known.
        let character =
            |at| character_length(text.get(at..)?).map(|len| text[at..at + len].to_vec());
        let last = last_character(&text[..place]).map(|last| last.to_string().into_bytes());
        let first = character(place);
        let next = first.as_ref().and_then(|first| character(place + first.len()));
        let mut beside = [last, first, next];
        self.operations.iter().all(|operation| operation.can_cut_between(&mut beside, self.unicode))
    }
}

/// A pattern, compiled to find its matches in a text.
///
/// A pattern that could match the empty text is rejected, since engines disagree on such matches. Costs as much as
/// splitting by the pattern: if it needs backtracking, all matches of a text share a limit of steps.
#[derive(Clone, Debug)]
pub struct TextPattern {
    pattern: Pattern,
    matches: Splitter,
}

impl TextPattern {
    /// Compiles a pattern with the character classes of one version of Unicode.
    ///
    /// # Errors
    /// [`Split`](crate::ErrorKind::Split) if the pattern is not understood, or could match the empty text.
    pub fn new(pattern: Pattern, unicode: &UnicodeTables) -> Result<Self> {
        let stage = Stage::matches(pattern.clone(), Unmatched::Drop);
        let matches = Splitter::new(vec![stage], unicode)?;
        if !matches.may_match_nothing() {
            return Ok(Self { pattern, matches });
        }
        let problem = "a pattern that could match the empty text cannot be replaced".to_owned();
        let kind =
            bytepair_split::ErrorKind::Pattern { pattern: pattern.source, offset: 0, problem };
        Err(bytepair_split::Error::from(kind).into())
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether texts may be cut anywhere.
    fn has_cuts(&self) -> bool {
        self.matches.has_safe_cuts()
    }

    /// Whether no match crosses a place, whatever surrounds the two characters there.
    fn can_cut(&self, text: &[u8], place: usize) -> bool {
        self.matches.is_safe_cut(text, place)
    }

    /// The matches, from left to right.
    ///
    /// # Errors
    /// [`Split`](crate::ErrorKind::Split) if they need too many steps.
    fn matches(&self, text: &[u8]) -> Result<Vec<Range<usize>>> {
        let mut ranges = Vec::new();
        self.matches.for_each_piece(text, |range| -> Result<()> {
            ranges.push(range);
            Ok(())
        })?;
        Ok(ranges)
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for TextPattern {}

impl Hash for TextPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pattern.hash(state);
    }
}

/// Bytes of memory for each byte of a text during a change: the new text, a copy of a part of it, and some growth.
const CHANGED_LEN: usize = 4;

/// Bytes of memory for each byte of an aligned text during a change: the byte, its span, and the change.
const ALIGNED_LEN: usize = 1 + size_of::<(usize, usize)>() + size_of::<aligned::Change>();

/// Rejects a text that has become so much longer that it may not fit in memory.
fn check_len(len: usize, len_before: usize) -> Result<()> {
    let most = len_before.saturating_add(1).saturating_mul(usize::from(MAX_GROWTH));
    if len <= most {
        return Ok(());
    }
    let problem = format!(
        "a text of {len_before} bytes became {len} bytes, more than {MAX_GROWTH} times as long"
    );
    Err(Error::option("normalizer", problem))
}

/// Rebuilds a text: its stretches of valid UTF-8 changed, its other bytes unchanged.
fn map_valid(text: &[u8], mut change: impl FnMut(&str, &mut String)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut changed = String::new();
    for chunk in text.utf8_chunks() {
        changed.clear();
        change(chunk.valid(), &mut changed);
        bytes.extend_from_slice(changed.as_bytes());
        bytes.extend_from_slice(chunk.invalid());
    }
    bytes
}

/// # Texts that no normalized text contains
///
/// Some steps do not change their own results, nor any part of them: Unicode forms, lower case, replacing one character
/// by another. So a text that such a step changes is in none of its results. BERT's rules are such a step except for
/// the spaces that they put around ideographs, so they are taken without these spaces. Nothing is claimed for other
/// steps, nor for steps before such a step, unless it only replaces spaces by `▁`, which does not affect forms and
/// lower case.
impl Normalizer {
    /// The steps that never give a text that they would change, each as a normalizer of its own.
    pub(crate) fn closed_steps(&self) -> Vec<Self> {
        let mut steps = Vec::new();
        for step in self.steps.iter().rev() {
            let Some(closed) = closed(step) else { break };
            steps.push(Self::new(vec![closed], self.unicode));
            if !is_spaces(step) {
                break;
            }
        }
        steps
    }

    /// Whether normalizing changes a text.
    ///
    /// # Errors
    /// As for [`Self::normalize`].
    pub(crate) fn changes(&self, text: &[u8]) -> Result<bool> {
        Ok(*self.normalize(Segment::whole(text))? != *text)
    }
}

/// Whether steps only replace spaces by `▁`, and put either in front. At the end they may also replace bytes by
/// characters and back.
pub(crate) fn add_spaces_only(steps: &[&NormalizeStep]) -> bool {
    let steps = match steps {
        [before @ .., NormalizeStep::ByteChars, NormalizeStep::CharBytes] => before,
        _ => steps,
    };
    steps.iter().all(|step| match step {
        NormalizeStep::Prepend { text, .. } => text == " " || text == "▁",
        step => is_spaces(step),
    })
}

/// A step that changes neither the results of the given step nor any part of them: usually the step itself.
fn closed(step: &NormalizeStep) -> Option<NormalizeStep> {
    match step {
        NormalizeStep::Lowercase | NormalizeStep::Form(_) | NormalizeStep::StripAccents => {
            Some(step.clone())
        }
        NormalizeStep::Replace { from, to } => {
            (from.chars().count() == 1 && !to.contains(from)).then(|| step.clone())
        }
        NormalizeStep::Bert(rules) => {
            Some(NormalizeStep::Bert(BertRules { handle_chinese_chars: false, ..*rules }))
        }
        _ => None,
    }
}

/// Whether a step replaces spaces by `▁`.
fn is_spaces(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Replace { from, to } if from == " " && to == "▁")
}

/// How many times longer a text may become.
///
/// Replacing `a` by `aa` forty times makes a terabyte of one letter. A file with such steps is rejected when it is read
/// ([`growth`]), because no memory would suffice later. Unicode forms are not counted there, although each makes a text
/// up to ten times as long: a normalizer also checks the length after each step.
pub(crate) const MAX_GROWTH: u16 = 1024;

/// How a change affects the length of a text.
#[derive(Clone, Copy)]
pub(crate) struct Growth {
    /// The bytes of what it looks for, and of what it writes.
    reads: ByteSet,
    writes: ByteSet,
    /// How many times longer it makes what it finds.
    factor: f64,
    /// The length of a text that it puts in front.
    prefix_len: f64,
}

/// The bytes of a text.
type ByteSet = [bool; 256];

#[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
impl Growth {
    /// Anything becomes something of about the same length.
    pub(crate) const OTHER: Self =
        Self { reads: [true; 256], writes: [true; 256], factor: 1.0, prefix_len: 0.0 };

    /// Anything of at least one byte becomes one of some texts, the longest of which has this many bytes.
    pub(crate) fn any(longest: usize, texts: &str) -> Self {
        Self { writes: bytes_of(texts), factor: longest.max(1) as f64, ..Self::OTHER }
    }

    /// A text is replaced by another.
    pub(crate) fn text(from: &str, to: &str) -> Self {
        let ratio = to.len() as f64 / from.len().max(1) as f64;
        Self { reads: bytes_of(from), factor: ratio.max(1.0), ..Self::any(0, to) }
    }

    /// A text is put in front.
    fn prefix(text: &str) -> Self {
        Self { reads: [false; 256], prefix_len: text.len() as f64, ..Self::any(0, text) }
    }
}

/// An upper bound of the length of the changed text relative to the original.
///
/// A replacement multiplies the output of an earlier one only if it finds something in it. This is judged by the bytes
/// that the two have in common, so the bound may be too high but is never too low. A byte of the result comes either
/// from the text or from a text that was put in front, so their growths are added, as if the text were one byte long.
/// Takes time quadratic in the number of steps.
pub(crate) fn growth(steps: &[Growth]) -> f64 {
    // From the last step to the first: what a step reads, and how many times longer the steps make it.
    let mut later: Vec<(&ByteSet, f64)> = Vec::with_capacity(steps.len());
    let mut put_in_front = 0.0;
    for step in steps.iter().rev() {
        let meets =
            |reads: &ByteSet| reads.iter().zip(&step.writes).any(|(one, other)| *one && *other);
        let met = later.iter().filter(|(reads, _)| meets(reads));
        let grows = met.map(|(_, growth)| *growth).fold(1.0, f64::max);
        put_in_front += step.prefix_len * grows;
        later.push((&step.reads, step.factor * grows));
    }
    put_in_front + later.iter().map(|(_, growth)| *growth).fold(1.0, f64::max)
}

fn bytes_of(text: &str) -> ByteSet {
    let mut set = [false; 256];
    text.bytes().for_each(|byte| set[usize::from(byte)] = true);
    set
}
