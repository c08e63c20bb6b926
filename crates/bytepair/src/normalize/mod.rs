//! Text to text, before it is split.
//!
//! A normalizer is a list of steps, applied in order to each segment between added tokens. Bytes that
//! are not UTF-8 pass unchanged. Offsets into the original text are not kept here. Costs one pass over
//! the text for each step; a text that no step changes is not copied.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization};
use unicode_normalization::{is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick};

use crate::split::Segment;
use crate::unicode::UnicodeTables;

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
}

/// The four Unicode normalization forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnicodeForm {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

/// Steps that a segment goes through before it is split.
#[derive(Clone, Debug)]
pub struct Normalizer {
    steps: Vec<NormalizeStep>,
    unicode: UnicodeTables,
}

impl Normalizer {
    /// A normalizer of these steps.
    pub fn new(steps: Vec<NormalizeStep>, unicode: UnicodeTables) -> Self {
        Self { steps, unicode }
    }

    /// The steps, in the order in which they are applied.
    pub fn steps(&self) -> &[NormalizeStep] {
        &self.steps
    }

    /// The version of Unicode that the steps go by.
    pub fn unicode(&self) -> UnicodeTables {
        self.unicode
    }

    /// The segment after all steps.
    pub fn normalize<'t>(&self, segment: Segment<'t>) -> Cow<'t, [u8]> {
        self.apply(segment, false)
    }

    /// The same for a part of a segment that is not its beginning.
    pub(crate) fn normalize_rest<'t>(&self, segment: Segment<'t>) -> Cow<'t, [u8]> {
        self.apply(segment, true)
    }

    /// Whether a text can be normalized in two parts, cut before a character that begins with `byte`.
    ///
    /// An ASCII character begins no composition with what stands before it, and lower case looks at
    /// one code point alone. A replaced text could begin before the cut.
    pub(crate) fn can_cut_before(&self, byte: u8) -> bool {
        let is_short = |step: &NormalizeStep| match step {
            NormalizeStep::Replace { from, .. } => from.chars().count() == 1,
            _ => true,
        };
        match self.steps.is_empty() {
            true => byte & 0xC0 != 0x80,
            false => byte.is_ascii() && self.steps.iter().all(is_short),
        }
    }

    fn apply<'t>(&self, segment: Segment<'t>, is_rest: bool) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(segment.text);
        for step in &self.steps {
            let changed = match step {
                NormalizeStep::Lowercase => self.lowercase(&text),
                NormalizeStep::Form(form) => form.apply(&text),
                NormalizeStep::Replace { from, to } => replace(&text, from, to),
                NormalizeStep::Prepend { text: prefix, only_first, unless_there } => {
                    let is_there = *unless_there && text.starts_with(prefix.as_bytes());
                    let is_meant = !is_rest && (segment.is_first || !only_first);
                    let applies = is_meant && !text.is_empty() && !is_there;
                    applies.then(|| [prefix.as_bytes(), &text].concat())
                }
            };
            text = changed.map_or(text, Cow::Owned);
        }
        text
    }

    fn lowercase(&self, text: &[u8]) -> Option<Vec<u8>> {
        if text.is_ascii() {
            return text.iter().any(u8::is_ascii_uppercase).then(|| text.to_ascii_lowercase());
        }
        Some(map_valid(text, |valid, out| {
            out.extend(valid.chars().flat_map(|character| self.unicode.lowercase(character)));
        }))
    }
}

impl UnicodeForm {
    fn apply(self, text: &[u8]) -> Option<Vec<u8>> {
        if text.is_ascii() || text.utf8_chunks().all(|chunk| self.holds(chunk.valid())) {
            return None;
        }
        Some(map_valid(text, |valid, out| match self {
            Self::Nfc => out.extend(valid.nfc()),
            Self::Nfd => out.extend(valid.nfd()),
            Self::Nfkc => out.extend(valid.nfkc()),
            Self::Nfkd => out.extend(valid.nfkd()),
        }))
    }

    /// Whether a quick look proves that the text is in this form already.
    fn holds(self, text: &str) -> bool {
        let characters = text.chars();
        let verdict = match self {
            Self::Nfc => is_nfc_quick(characters),
            Self::Nfd => is_nfd_quick(characters),
            Self::Nfkc => is_nfkc_quick(characters),
            Self::Nfkd => is_nfkd_quick(characters),
        };
        verdict == IsNormalized::Yes
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

fn replace(text: &[u8], from: &str, to: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(place) = memchr::memmem::find(rest, from.as_bytes()) {
        bytes.extend_from_slice(&rest[..place]);
        bytes.extend_from_slice(to.as_bytes());
        rest = &rest[place + from.len()..];
    }
    if rest.len() == text.len() {
        return None;
    }
    bytes.extend_from_slice(rest);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(steps: Vec<NormalizeStep>, text: &[u8]) -> String {
        let normalizer = Normalizer::new(steps, UnicodeTables::latest());
        let segment = Segment { text, is_first: true, is_last: true };
        String::from_utf8_lossy(&normalizer.normalize(segment)).into_owned()
    }

    #[test]
    fn lower_case_is_per_code_point() {
        assert_eq!(normalized(vec![NormalizeStep::Lowercase], "ΣΑΣ İ".as_bytes()), "σασ i\u{307}");
    }

    #[test]
    fn forms_leave_invalid_bytes_alone() {
        let steps = vec![NormalizeStep::Form(UnicodeForm::Nfkc)];
        assert_eq!(normalized(steps, b"\xEF\xBD\x81\xFF"), "a\u{FFFD}");
    }

    #[test]
    fn sentencepiece_style_steps_apply_in_order() {
        let prepend =
            NormalizeStep::Prepend {
                text: "▁".to_owned(), only_first: true, unless_there: false
            };
        let replace = NormalizeStep::Replace { from: " ".to_owned(), to: "▁".to_owned() };
        assert_eq!(normalized(vec![prepend, replace], b"a b"), "▁a▁b");
    }

    #[test]
    fn cutting_before_ascii_changes_nothing() {
        let steps = vec![NormalizeStep::Form(UnicodeForm::Nfc), NormalizeStep::Lowercase];
        let normalizer = Normalizer::new(steps, UnicodeTables::latest());
        let text = "E\u{301}A\u{30A} İb".as_bytes();
        let whole =
            normalizer.normalize(Segment { text, is_first: true, is_last: true }).into_owned();
        for cut in (0..text.len()).filter(|&cut| normalizer.can_cut_before(text[cut])) {
            let left = Segment { text: &text[..cut], is_first: true, is_last: false };
            let right = Segment { text: &text[cut..], is_first: false, is_last: true };
            let parts = [normalizer.normalize(left), normalizer.normalize_rest(right)].concat();
            assert_eq!(parts, whole);
        }
    }
}
