//! The four Unicode normalization forms, of any version of Unicode.
//!
//! A form never changes for characters that are already assigned. So the form of an older version equals that of a
//! newer one in which the characters that were assigned later are left unchanged and join nothing. Bytes that are not
//! UTF-8 are left unchanged, too. Without alignment the crate `unicode-normalization` does the work; with alignment,
//! characters are composed here, so that their origin is known. One pass; if a text is mostly in the form already, only
//! the surroundings of other characters are examined (`Plain`). The set of plain characters takes a millisecond for
//! each form, once.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization};
use unicode_normalization::{is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick};

use super::aligned::{Aligned, Change, Symbol, symbols};
use super::map_valid;
use crate::segment::last_character;
use bytepair_split::unicode::{TextClass, UnicodeTables};

/// By form.
static PLAIN: [OnceLock<Plain>; 4] = [const { OnceLock::new() }; 4];

/// The four Unicode normalization forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl UnicodeForm {
    /// The text in this form; `None` if it is in the form already.
    ///
    /// A text can be cut before every plain character, and plain characters are not changed. So only each run of other
    /// characters is examined, with the character before it, to which they may be joined.
    pub(super) fn apply(self, text: &[u8], unicode: UnicodeTables) -> Option<Vec<u8>> {
        if text.is_ascii() {
            return None;
        }
        let Some(plain) = self.plain() else { return self.apply_to_stretch(text, unicode) };
        let mut changed = Vec::new();
        let (mut n_taken, mut from) = (0, 0);
        loop {
            let odd = from + plain.run_len(&text[from..]);
            if odd == text.len() {
                break;
            }
            let before = text[from..odd].iter().rposition(|&byte| byte & 0xC0 != 0x80);
            let start = before.map_or(odd, |before| from + before);
            let end = odd + plain.odd_len(&text[odd..]);
            if let Some(stretch) = self.apply_to_stretch(&text[start..end], unicode) {
                changed.extend_from_slice(&text[n_taken..start]);
                changed.extend_from_slice(&stretch);
                n_taken = end;
            }
            from = end;
        }
        if n_taken == 0 {
            return None;
        }
        changed.extend_from_slice(&text[n_taken..]);
        Some(changed)
    }

    /// Applies the form to a stretch without skipping plain characters.
    fn apply_to_stretch(self, text: &[u8], unicode: UnicodeTables) -> Option<Vec<u8>> {
        if text.utf8_chunks().all(|chunk| self.holds(chunk.valid())) {
            return None;
        }
        let is_later = |character| is_later(character, unicode);
        Some(map_valid(text, |valid, out| {
            for stretch in valid.split_inclusive(is_later) {
                let later = stretch.chars().next_back().filter(|&last| is_later(last));
                let known = &stretch[..stretch.len() - later.map_or(0, char::len_utf8)];
                self.extend(known, out);
                out.extend(later);
            }
        }))
    }

    fn extend(self, text: &str, out: &mut String) {
        match self {
            Self::Nfc => out.extend(text.nfc()),
            Self::Nfd => out.extend(text.nfd()),
            Self::Nfkc => out.extend(text.nfkc()),
            Self::Nfkd => out.extend(text.nfkd()),
        }
    }

    /// Whether a quick check proves that the text is in this form already.
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

    /// The plain characters, built on first use. Threads that come at the same time each build them and none waits for
    /// another, because a process may be forked meanwhile.
    fn plain(self) -> Option<&'static Plain> {
        let plain = &PLAIN[self as usize];
        if plain.get().is_none() {
            drop(plain.set(Plain::of(|character| self.joins_nothing_before(character))));
        }
        plain.get()
    }

    /// Whether marks may be joined to the characters before them.
    pub(super) fn composes(self) -> bool {
        matches!(self, Self::Nfc | Self::Nfkc)
    }

    /// Whether a character is never changed and never changes what is before it, so that a text can be cut before it
    /// (UAX #15, "Stability of normalized forms").
    pub(super) fn joins_nothing_before(self, character: char) -> bool {
        let mut buffer = [0; 4];
        character.is_ascii()
            || canonical_combining_class(character) == 0
                && self.holds(character.encode_utf8(&mut buffer))
    }

    /// Whether a text in this form stays as it is before another one, and the other one becomes what it becomes alone:
    /// it begins with marks of the class of the last mark.
    ///
    /// Such marks come after all marks that are there. They are not joined to an earlier character, since a mark of
    /// their own class comes between.
    pub(super) fn continues(self, done: &[u8], rest: &[u8], unicode: UnicodeTables) -> bool {
        let is_known = |mark| !is_later(mark, unicode);
        let Some(last) = last_character(done).filter(|&last| is_known(last)) else { return false };
        let class = canonical_combining_class(last);
        let stays = |mark: char| {
            let mut parts = Vec::new();
            self.decompose(mark, &mut parts);
            matches!(parts.as_slice(), [part] if part.symbol.character() == Some(mark))
        };
        let Ok(rest) = std::str::from_utf8(rest) else { return false };
        let mut marks = rest.chars().take_while(|&mark| !self.joins_nothing_before(mark));
        class > 0
            && marks.all(|mark| {
                canonical_combining_class(mark) == class && is_known(mark) && stays(mark)
            })
    }

    pub(super) fn align(self, aligned: &mut Aligned, unicode: UnicodeTables) {
        let decomposed = self.decomposed(&aligned.text, unicode);
        let changes = match self {
            Self::Nfd | Self::Nfkd => {
                decomposed.into_iter().map(|part| (part.symbol, part.change)).collect()
            }
            Self::Nfc | Self::Nfkc => composed(&decomposed),
        };
        aligned.change(&changes, 0);
    }

    fn decomposed(self, text: &[u8], unicode: UnicodeTables) -> Vec<Part> {
        let mut parts = Vec::with_capacity(text.len());
        for symbol in symbols(text) {
            match symbol.character() {
                Some(character) if !is_later(character, unicode) => {
                    self.decompose(character, &mut parts);
                }
                _ => parts.push(Part { symbol, change: 0, class: 0, joins: false }),
            }
        }
        for marks in parts.chunk_by_mut(|left, right| left.class > 0 && right.class > 0) {
            marks.sort_by_key(|part| part.class);
        }
        parts
    }

    fn decompose(self, character: char, parts: &mut Vec<Part>) {
        let mut change = 0;
        let push = |character| {
            let class = canonical_combining_class(character);
            parts.push(Part { symbol: Symbol::Character(character), change, class, joins: true });
            change = 1;
        };
        match self {
            Self::Nfc | Self::Nfd => decompose_canonical(character, push),
            Self::Nfkc | Self::Nfkd => decompose_compatible(character, push),
        }
    }
}

/// The first code point that is unassigned in some version of the tables.
const FIRST_UNASSIGNED: char = '\u{378}';

/// Whether a version does not know a character, and so leaves it unchanged.
fn is_later(character: char, unicode: UnicodeTables) -> bool {
    character >= FIRST_UNASSIGNED && !unicode.is_in(TextClass::Assigned, character)
}

/// One symbol of a decomposed text.
struct Part {
    symbol: Symbol,
    change: isize,
    /// Its canonical combining class.
    class: u8,
    /// Whether the version knows the character.
    joins: bool,
}

/// Canonical composition. A composed character replaces as many symbols as its parts did.
fn composed(parts: &[Part]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::with_capacity(parts.len());
    let mut starter: Option<usize> = None;
    let mut last_class = 0;
    for part in parts {
        let is_blocked = last_class > 0 && last_class >= part.class;
        let partner = starter.filter(|_| part.joins && !is_blocked);
        if let Some((place, whole)) =
            partner.and_then(|place| Some((place, join(changes[place].0, part.symbol)?)))
        {
            changes[place] = (Symbol::Character(whole), changes[place].1 + part.change - 1);
            continue;
        }
        if part.class == 0 {
            starter = part.joins.then_some(changes.len());
        }
        last_class = part.class;
        changes.push((part.symbol, part.change));
    }
    changes
}

fn join(left: Symbol, right: Symbol) -> Option<char> {
    compose(left.character()?, right.character()?)
}

/// Code points of the basic plane.
const N_CODES: usize = 1 << 16;

/// The plain characters of a form: the form never changes them, and they join nothing before them.
///
/// Nearly all text consists of them, so a form only has to look for the others. Characters beyond the basic plane are
/// not plain. Invalid bytes are left unchanged by every form, and may be skipped with either kind. Takes 8 KiB for each
/// form, one step for each character, and one step for eight ASCII characters.
struct Plain {
    /// By code point. The 64 characters that differ only in their last byte are one word.
    bits: Vec<u64>,
}

impl Plain {
    fn of(is_plain: impl Fn(char) -> bool) -> Self {
        let is_plain = |code: usize| {
            let character = u32::try_from(code).ok().and_then(char::from_u32);
            character.is_some_and(&is_plain)
        };
        let word = |word: usize| {
            (0..64).fold(0, |bits, bit| bits | u64::from(is_plain(word * 64 + bit)) << bit)
        };
        Self { bits: (0..N_CODES / 64).map(word).collect() }
    }

    /// The length of the plain characters at the beginning of a text.
    fn run_len(&self, text: &[u8]) -> usize {
        let mut rest = behind_ascii(text);
        while let Some(len) = self.len(rest) {
            rest = behind_ascii(&rest[len..]);
        }
        text.len() - rest.len()
    }

    /// The length of the other characters and invalid bytes at the beginning of a text.
    fn odd_len(&self, text: &[u8]) -> usize {
        (0..text.len()).find(|&place| self.len(&text[place..]).is_some()).unwrap_or(text.len())
    }

    /// The length of the first character, if it is plain.
    #[inline]
    fn len(&self, text: &[u8]) -> Option<usize> {
        let is_set = |word: u8, next: u8, last: u8| {
            let word = self.bits[usize::from(word) << 6 | usize::from(next & 0x3F)];
            word >> (last & 0x3F) & 1 == 1
        };
        match *text {
            [..=0x7F, ..] => Some(1),
            [lead @ 0xC2..=0xDF, last @ 0x80..=0xBF, ..] if is_set(0, lead & 0x1F, last) => Some(2),
            [lead @ 0xE0..=0xEF, next @ 0x80..=0xBF, last @ 0x80..=0xBF, ..]
                if is_set(lead & 0x0F, next, last) =>
            {
                Some(3)
            }
            _ => None,
        }
    }
}

/// The rest of a text after the ASCII characters at its beginning, which are examined eight at a time.
#[inline]
fn behind_ascii(mut text: &[u8]) -> &[u8] {
    while let Some((eight, rest)) = text.split_first_chunk() {
        let bits = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        if bits != 0 {
            return &text[bits.trailing_zeros() as usize / 8..];
        }
        text = rest;
    }
    let n_ascii = text.iter().take_while(|byte| byte.is_ascii()).count();
    &text[n_ascii..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMS: [UnicodeForm; 4] =
        [UnicodeForm::Nfc, UnicodeForm::Nfd, UnicodeForm::Nfkc, UnicodeForm::Nfkd];

    /// Texts in which characters are joined and reordered: letters, marks of some classes, Hangul in parts, vowel
    /// signs, ligatures, characters beyond the basic plane, and invalid bytes.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-e ]{1,9}".prop_map(String::into_bytes),
            "[\u{300}-\u{345}\u{5B0}-\u{5B9}\u{323}\u{31B}]{1,4}".prop_map(String::into_bytes),
            "[éǖệÅΩﬁ½가각\u{1100}\u{1161}\u{11A8}]{1,3}".prop_map(String::into_bytes),
            "[কো\u{9BE}\u{9C7}\u{BC6}\u{BBE}\u{F73}\u{FB2C}]{1,4}".prop_map(String::into_bytes),
            "[😀𝒳\u{11131}\u{11127}\u{1D15E}\u{1D165}中。]{1,3}".prop_map(String::into_bytes),
            Just(vec![0xC3]),
            Just(vec![0xE0, 0xA6]),
            any::<char>().prop_map(|character| character.to_string().into_bytes()),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn stretches_around_odd_characters_are_all_that_changes(text in texts()) {
            for unicode in [UnicodeTables::latest(), UnicodeTables::hugging_face()] {
                for form in FORMS {
                    let whole = form.apply_to_stretch(&text, unicode).unwrap_or_else(|| text.clone());
                    let found = form.apply(&text, unicode).unwrap_or_else(|| text.clone());
                    prop_assert_eq!(found, whole, "{:?}", form);
                }
            }
        }
    }

    #[test]
    fn the_quick_look_takes_a_character_for_plain_that_joins_nothing_and_stays() {
        check_quick_look(&('\0'..'\u{2000}').chain(('\u{2000}'..=char::MAX).step_by(97)));
    }

    #[test]
    #[ignore = "slow: every character"]
    fn the_quick_look_takes_each_character_for_plain_that_joins_nothing_and_stays() {
        check_quick_look(&('\0'..=char::MAX));
    }

    fn check_quick_look(characters: &(impl Iterator<Item = char> + Clone)) {
        for (form, character) in
            FORMS.into_iter().flat_map(|form| characters.clone().map(move |c| (form, c)))
        {
            let text = format!("{}{character}abcdefg", "a".repeat(character as usize % 9));
            let is_plain = |text: &[u8]| form.plain().unwrap().run_len(text) == text.len();
            let is_plain = is_plain(text.as_bytes());
            let is_in_plane = character <= '\u{FFFF}';
            assert_eq!(
                is_plain,
                is_in_plane && form.joins_nothing_before(character),
                "{character:?}"
            );
            let mut normalized = String::new();
            form.extend(&text, &mut normalized);
            assert!(!is_plain || normalized == text, "{character:?}");
            // At any place of a stretch that is examined as a whole.
            let n_before = character as usize % 66;
            let long = format!("{}{character}{}", "a".repeat(n_before), "b".repeat(80));
            let len = if is_plain { long.len() } else { n_before };
            assert_eq!(form.plain().unwrap().run_len(long.as_bytes()), len, "{character:?}");
        }
        for bytes in [&b"\xFF"[..], b"a\xC3", b"\xE0\x80\x80", b"\xED\xA0\x80", b"\xF0\x9F\x98\x80"]
        {
            let mut valid = bytes.utf8_chunks().map(|chunk| chunk.valid());
            let is_plain = UnicodeForm::Nfc.plain().unwrap().run_len(bytes) == bytes.len();
            assert!(!is_plain || valid.all(|valid| UnicodeForm::Nfc.holds(valid)), "{bytes:?}");
        }
    }
}
