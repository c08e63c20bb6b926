//! Text to text, before it is split.
//!
//! A normalizer is a list of steps, applied in order to each segment between added tokens. Bytes that
//! are not UTF-8 pass unchanged. Each step exists twice: `normalize` gives the text alone, quickly,
//! `normalize_aligned` also where each byte came from, by the rules of Hugging Face `tokenizers`. What
//! depends on a version of Unicode asks the tables that the normalizer was given. Costs one pass over the
//! text for each step; a text that no step changes is not copied by `normalize`.

mod aligned;
mod characters;
mod charsmap;
mod forms;
mod growth;
mod operation;
mod pattern;
mod precompiled;
mod sentencepiece;
#[cfg(test)]
mod tests;

pub use aligned::Aligned;
pub use charsmap::CharsMap;
pub use forms::UnicodeForm;
pub(crate) use growth::{Growth, growth};
pub use pattern::TextPattern;
pub(crate) use sentencepiece::SPACE_SYMBOL;
pub use sentencepiece::{SentencePiece, SentencePieceRules};

use std::borrow::Cow;

use crate::error::Result;
use crate::split::Segment;
use crate::unicode::UnicodeTables;

use operation::{Operation, Place};

/// One change of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NormalizeStep {
    /// Each code point becomes its lower case; no final sigma.
    Lowercase,
    /// A Unicode normalization form.
    Form(UnicodeForm),
    /// Every occurrence of a text becomes another, from left to right.
    Replace {
        /// What is replaced. Not empty.
        from: String,
        /// What stands there afterwards.
        to: String,
    },
    /// A text is put in front.
    Prepend {
        /// What is put in front.
        text: String,
        /// Whether only the first segment of a text gets it, or every one.
        only_first: bool,
        /// Whether a segment that begins with it is left as it is.
        unless_there: bool,
    },
    /// What a pattern matches becomes a text, from left to right.
    ReplaceMatches {
        /// What is replaced.
        pattern: TextPattern,
        /// What stands there afterwards.
        to: String,
    },
    /// White space at the ends goes.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Marks go; a text is decomposed before, by a step of its own.
    StripAccents,
    /// What BERT's basic tokenizer does.
    Bert(BertRules),
    /// Hugging Face's `Nmt`: some controls go, some spaces and invisible characters become spaces.
    Nmt,
    /// Each byte becomes the character that stands for it in byte-level vocabularies.
    ByteChars,
    /// Hugging Face's `Precompiled`: a character map, asked for grapheme clusters.
    Precompiled(CharsMap),
    /// What SentencePiece does to a text, all in one. It stands alone.
    SentencePiece(SentencePiece),
}

/// The rules of BERT's basic tokenizer, in the order in which they apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BertRules {
    /// Controls, NUL and U+FFFD go; white space becomes spaces.
    pub clean_text: bool,
    /// Ideographs get a space on both sides.
    pub handle_chinese_chars: bool,
    /// Canonical decomposition, without its nonspacing marks; `None` is as `lowercase` is.
    pub strip_accents: Option<bool>,
    /// Lower case.
    pub lowercase: bool,
}

/// Steps that a segment goes through before it is split.
#[derive(Clone, Debug)]
pub struct Normalizer {
    steps: Vec<NormalizeStep>,
    operations: Vec<Operation>,
    unicode: UnicodeTables,
}

impl Default for Normalizer {
    /// Changes nothing.
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

    /// The steps as far as the length of the text matters.
    pub(crate) fn growths(&self) -> impl Iterator<Item = Growth<'_>> {
        self.steps.iter().map(|step| match step {
            NormalizeStep::Replace { from, to } => Growth::Text(from, to),
            NormalizeStep::ReplaceMatches { to, .. } => Growth::Pattern(to),
            _ => Growth::Other,
        })
    }

    /// The version of Unicode that the steps go by.
    pub fn unicode(&self) -> UnicodeTables {
        self.unicode
    }

    /// The segment after all steps.
    ///
    /// # Errors
    /// [`ErrorKind::StepLimit`](crate::ErrorKind::StepLimit) where a pattern that needs backtracking gives up. No other
    /// step fails.
    pub fn normalize<'t>(&self, segment: Segment<'t>) -> Result<Cow<'t, [u8]>> {
        self.apply(segment.text, Place::of(segment, false))
    }

    /// The segment after all steps, and where each byte came from. The text is that of
    /// [`Self::normalize`], and so are the errors.
    ///
    /// ```
    /// use bytepair::{NormalizeStep, Normalizer};
    /// use bytepair::{split::Segment, unicode::UnicodeTables};
    ///
    /// let step = NormalizeStep::Replace { from: " ".to_owned(), to: "▁".to_owned() };
    /// let normalizer = Normalizer::new(vec![step], UnicodeTables::latest());
    /// let segment = Segment { text: b"a b", is_first: true, is_last: true };
    /// let aligned = normalizer.normalize_aligned(segment)?;
    /// assert_eq!(aligned.text, "a▁b".as_bytes());
    /// assert_eq!(aligned.spans, [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]);
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    pub fn normalize_aligned(&self, segment: Segment<'_>) -> Result<Aligned> {
        let mut aligned = Aligned::unchanged(segment.text);
        let place = Place::of(segment, false);
        for operation in &self.operations {
            operation.align(&mut aligned, place, self.unicode)?;
        }
        Ok(aligned)
    }

    /// Whether SentencePiece's own step does it, whose result is UTF-8 whatever the text is.
    pub(crate) fn is_sentencepiece(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, NormalizeStep::SentencePiece(_)))
    }

    /// The same as [`Self::normalize`] for a part of a segment that is not its beginning.
    pub(crate) fn normalize_rest<'t>(&self, segment: Segment<'t>) -> Result<Cow<'t, [u8]>> {
        self.apply(segment.text, Place::of(segment, true))
    }

    /// Whether a text can be normalized in two parts, cut before a character that begins with `byte`.
    ///
    /// An ASCII character begins no composition with what stands before it, and many steps look at one
    /// code point alone. A replaced text could begin before the cut.
    pub(crate) fn can_cut_before(&self, byte: u8) -> bool {
        match self.steps.is_empty() {
            true => byte & 0xC0 != 0x80,
            false => byte.is_ascii() && self.operations.iter().all(Operation::can_cut_before_ascii),
        }
    }

    fn apply<'t>(&self, text: &'t [u8], place: Place) -> Result<Cow<'t, [u8]>> {
        let mut text = Cow::Borrowed(text);
        for operation in &self.operations {
            let changed = operation.apply(&text, place, self.unicode)?;
            text = changed.map_or(text, Cow::Owned);
        }
        Ok(text)
    }
}

/// Rebuilds a text from its stretches of valid UTF-8, changed, and its other bytes, unchanged.
fn map_valid(text: &[u8], change: impl Fn(&str, &mut String)) -> Vec<u8> {
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
