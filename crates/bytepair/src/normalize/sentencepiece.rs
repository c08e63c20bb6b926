//! Normalization as SentencePiece does it before segmentation.
//!
//! One pass. User-defined symbols are left unchanged; elsewhere the longest matching rule of the character map replaces
//! its text; a byte that is not UTF-8 becomes U+FFFD. Then spaces: those at both ends and all but one between words are
//! removed (`removes_extra_spaces`), one is added before or after the text (`adds_space`), and each becomes `▁`
//! (`escapes_spaces`). The text between two special tokens is a text of its own. Takes time linear in the text, and in
//! the longest key of the character map at each place.
//!
//! Spans follow SentencePiece: a byte of the result covers the text from the start of its source to the start of the
//! next byte's source. So a token covers the text between the source of its first byte and that of the next token.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::CharsMap;
use crate::dictionary::{Ahead, Search};
use crate::error::Result;
use crate::memory::ask_to_grow;
use crate::segment::Segment;
use crate::segment::last_character;

/// The character that represents a space.
pub const SPACE_SYMBOL: &str = "\u{2581}";

/// The rules of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in the model")]
pub struct SentencePieceRules {
    /// The character map.
    pub characters: Option<CharsMap>,
    /// Texts that are left unchanged, the longest at each place.
    pub verbatim: Vec<String>,
    /// Whether a space is added before or after the text.
    pub adds_space: bool,
    /// Whether spaces at the ends are removed, and all but one in between.
    pub removes_extra_spaces: bool,
    /// Whether each space becomes `▁`.
    pub escapes_spaces: bool,
    /// Whether the added space comes after the text.
    pub space_is_suffix: bool,
}

/// The rules, compiled.
#[derive(Clone, Debug)]
pub struct SentencePiece(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    rules: SentencePieceRules,
    verbatim: Search,
    /// By byte: whether a verbatim text begins with it.
    begins_verbatim: [bool; 256],
    /// By two bytes: whether they are adjacent in a text that is replaced or kept as a whole. Built on first use.
    joined: OnceLock<Vec<[bool; 256]>>,
}

/// A text that is traversed from its beginning.
struct Walk<'t> {
    text: &'t [u8],
    ahead: Ahead,
    /// The first verbatim text that was found at or after the place of the last call; an empty one at the end of the
    /// text if there is none.
    next: Range<usize>,
}

impl<'t> Walk<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { text, ahead: Ahead::default(), next: 0..0 }
    }

    /// The length of the longest verbatim text that begins at a place. Places must not decrease between calls.
    fn verbatim_length(&mut self, rules: &Compiled, place: usize) -> Option<usize> {
        if !rules.begins_verbatim[usize::from(*self.text.get(place)?)] {
            return None;
        }
        if self.next.start < place || self.next == (0..0) {
            let found = rules.verbatim.next(self.text, place, &mut self.ahead);
            let end = self.text.len();
            self.next = found.map_or(end..end, |found| found.place);
        }
        Some(self.next.len()).filter(|_| self.next.start == place)
    }
}

impl PartialEq for SentencePiece {
    fn eq(&self, other: &Self) -> bool {
        self.0.rules == other.0.rules
    }
}

impl Eq for SentencePiece {}

impl Hash for SentencePiece {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.rules.hash(state);
    }
}

/// A text, and for each of its bytes the range of bytes that it came from.
type TextWithSpans = (Vec<u8>, Vec<(usize, usize)>);

impl SentencePiece {
    /// # Errors
    /// If there are more verbatim texts than can be searched for.
    pub fn new(rules: SentencePieceRules) -> Result<Self> {
        let mut begins_verbatim = [false; 256];
        let first_bytes = rules.verbatim.iter().filter_map(|text| text.as_bytes().first());
        first_bytes.for_each(|&byte| begins_verbatim[usize::from(byte)] = true);
        let texts: Vec<_> = rules.verbatim.iter().filter(|text| !text.is_empty()).collect();
        let verbatim = Search::new(&texts)?;
        Ok(Self(Arc::new(Compiled { rules, verbatim, begins_verbatim, joined: OnceLock::new() })))
    }

    /// The rules.
    pub fn rules(&self) -> &SentencePieceRules {
        &self.0.rules
    }

    /// The segment after all rules. Always UTF-8.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn normalize(&self, segment: Segment<'_>) -> Result<Vec<u8>> {
        self.run(segment, &mut Unseen)
    }

    /// The segment after all rules, with the range of bytes of the segment from which each byte of the result came.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn normalize_aligned(&self, segment: Segment<'_>) -> Result<TextWithSpans> {
        let mut starts = Vec::new();
        let text = self.run(segment, &mut starts)?;
        let spans = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        Ok((text, spans))
    }

    /// Whether a text can be changed in two parts, cut before the character at a place inside it.
    ///
    /// This is so if no key and no verbatim text crosses the place or the start of the character before it. If extra
    /// spaces are removed, that character must also be unchanged and neither a space nor `▁`, which is removed at the
    /// end of a text as a space is. Then the rules start again at the place, in the middle of a text.
    pub(super) fn can_cut(&self, text: &[u8], place: usize) -> bool {
        let Some(before) = last_character(&text[..place]).map(|last| place - last.len_utf8())
        else {
            return false;
        };
        // How the text continues does not matter: nothing crosses the place.
        let last = &text[before..place];
        let stays = || self.next(&mut Walk::new(last), 0) == (last.len(), last);
        let removes_none = || {
            let is_space = text[before] == b' ' || last == SPACE_SYMBOL.as_bytes();
            !self.0.rules.removes_extra_spaces || !is_space && stays()
        };
        character_length(&text[place..]).is_some()
            && self.is_changed_alone(text, place)
            && (before == 0 || self.is_changed_alone(text, before))
            && removes_none()
    }

    /// Whether nothing that is replaced or kept as a whole crosses a place inside a text.
    pub(super) fn is_changed_alone(&self, text: &[u8], place: usize) -> bool {
        let [before, after] = [text[place - 1], text[place]].map(usize::from);
        !self.joined()[before][after]
    }

    /// The pairs of joined bytes, built on first use. Threads that come at the same time each build them and none waits
    /// for another.
    fn joined(&self) -> &[[bool; 256]] {
        if self.0.joined.get().is_none() {
            let mut joined = vec![[false; 256]; 256];
            let mut join =
                |before: u8, after: u8| joined[usize::from(before)][usize::from(after)] = true;
            let verbatim = self.0.rules.verbatim.iter();
            let pairs = verbatim.flat_map(|text| text.as_bytes().windows(2));
            pairs.for_each(|pair| join(pair[0], pair[1]));
            if let Some(map) = &self.0.rules.characters {
                map.for_each_joined(join);
            }
            drop(self.0.joined.set(joined));
        }
        self.0.joined.get().map_or(&[], Vec::as_slice)
    }

    fn run(&self, segment: Segment<'_>, starts: &mut impl Starts) -> Result<Vec<u8>> {
        let rules = &self.0.rules;
        let space = if rules.escapes_spaces { SPACE_SYMBOL } else { " " };
        let begins = !segment.is_rest;
        let walk = &mut Walk::new(segment.text);
        let mut place = match rules.removes_extra_spaces && begins {
            true => self.end_of_leading_spaces(walk),
            false => 0,
        };
        if place == segment.text.len() {
            return Ok(Vec::new());
        }
        let mut out = Vec::with_capacity(segment.text.len() + segment.text.len() / 2 + 8);
        if rules.adds_space && !rules.space_is_suffix && begins {
            push(&mut out, starts, space.as_bytes(), place);
        }
        let mut after_space = rules.removes_extra_spaces && begins;
        while place < segment.text.len() {
            let (length, text) = self.next(walk, place);
            // A space may become three bytes, whose places are also stored.
            ask_to_grow(&out, 3 * text.len())?;
            // Other white space is kept.
            let n_spaces = text.iter().take_while(|&&byte| after_space && byte == b' ').count();
            let kept = &text[n_spaces..];
            push_spaced(&mut out, starts, kept, space, place);
            if let Some(&last) = kept.last() {
                after_space = rules.removes_extra_spaces && last == b' ';
            }
            place += length;
        }
        let mut end = segment.text.len();
        while rules.removes_extra_spaces && segment.is_last && out.ends_with(space.as_bytes()) {
            out.truncate(out.len() - space.len());
            end = starts.truncate(out.len(), end);
        }
        if rules.adds_space && rules.space_is_suffix && segment.is_last {
            push(&mut out, starts, space.as_bytes(), end);
        }
        starts.push(end, 1);
        Ok(out)
    }

    fn end_of_leading_spaces<'t>(&'t self, walk: &mut Walk<'t>) -> usize {
        let mut place = 0;
        while place < walk.text.len() {
            let (length, changed) = self.next(walk, place);
            if changed != b" " {
                break;
            }
            place += length;
        }
        place
    }

    /// How many bytes of a text are changed together at a place before its end, and what they become.
    #[inline]
    fn next<'t>(&'t self, walk: &mut Walk<'t>, place: usize) -> (usize, &'t [u8]) {
        let text = &walk.text[place..];
        if let Some(length) = walk.verbatim_length(&self.0, place) {
            return (length, &text[..length]);
        }
        let found = self.0.rules.characters.as_ref().and_then(|map| map.longest(text));
        if let Some((length, replacement)) = found {
            return (length, replacement.as_bytes());
        }
        match character_length(text) {
            Some(length) => (length, &text[..length]),
            None => (1, "\u{FFFD}".as_bytes()),
        }
    }
}

/// The length of the first character of a text; `None` if the text does not begin with a character.
pub(crate) fn character_length(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let length = match first {
        0..0x80 => return Some(1),
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => return None,
    };
    std::str::from_utf8(text.get(..length)?).ok().map(|_| length)
}

fn push(out: &mut Vec<u8>, starts: &mut impl Starts, bytes: &[u8], place: usize) {
    out.extend_from_slice(bytes);
    starts.push(place, bytes.len());
}

/// Appends a text, with its spaces written as `space`.
fn push_spaced(
    out: &mut Vec<u8>,
    starts: &mut impl Starts,
    text: &[u8],
    space: &str,
    place: usize,
) {
    for (index, part) in text.split(|&byte| byte == b' ').enumerate() {
        if index > 0 {
            push(out, starts, space.as_bytes(), place);
        }
        push(out, starts, part, place);
    }
}

/// Stores where the source of each byte begins.
trait Starts {
    fn push(&mut self, place: usize, n_bytes: usize);
    /// Removes the bytes from `length` on; returns where the first of them began, or `otherwise` if there was none.
    fn truncate(&mut self, length: usize, otherwise: usize) -> usize;
}

/// Stores nothing.
struct Unseen;

impl Starts for Unseen {
    fn push(&mut self, _: usize, _: usize) {}

    fn truncate(&mut self, _: usize, otherwise: usize) -> usize {
        otherwise
    }
}

impl Starts for Vec<usize> {
    fn push(&mut self, place: usize, n_bytes: usize) {
        self.resize(self.len() + n_bytes, place);
    }

    fn truncate(&mut self, length: usize, otherwise: usize) -> usize {
        let start = self.get(length).copied().unwrap_or(otherwise);
        Self::truncate(self, length);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::charsmap::tests::build;
    use proptest::prelude::*;

    fn rules() -> SentencePieceRules {
        SentencePieceRules {
            characters: Some(
                CharsMap::parse(&build(&[("\t", " "), ("ﬁ", "fi"), ("\u{AD}", "")])).unwrap(),
            ),
            verbatim: vec!["<a b>".to_owned(), "<a".to_owned()],
            adds_space: true,
            removes_extra_spaces: true,
            escapes_spaces: true,
            space_is_suffix: false,
        }
    }

    fn whole(rules: SentencePieceRules, text: &[u8]) -> (String, Vec<(usize, usize)>) {
        let step = SentencePiece::new(rules).unwrap();
        let segment = Segment::whole(text);
        let (aligned, spans) = step.normalize_aligned(segment).unwrap();
        assert_eq!(step.normalize(segment).unwrap(), aligned);
        assert_eq!(spans.len(), aligned.len());
        (String::from_utf8(aligned).unwrap(), spans)
    }

    #[test]
    fn characters_have_the_spans_that_sentencepiece_gives_them() {
        let prefix = SentencePieceRules { characters: None, ..rules() };
        let suffix = SentencePieceRules { space_is_suffix: true, ..prefix.clone() };
        let inner = [(2, 3), (3, 5), (5, 7), (7, 8), (8, 9), (9, 12), (12, 13)];
        for (rules, before, after) in
            [(prefix, vec![(2, 2)], vec![]), (suffix, vec![], vec![(13, 13)])]
        {
            let (text, spans) = whole(rules, "  aé  b 中c  ".as_bytes());
            let of_character = |(place, character): (usize, char)| {
                (spans[place].0, spans[place + character.len_utf8() - 1].1)
            };
            let found: Vec<_> = text.char_indices().map(of_character).collect();
            assert_eq!(found, [before, inner.to_vec(), after].concat());
        }
    }

    #[test]
    fn words_can_be_cut_and_what_is_changed_as_one_cannot() {
        let step = SentencePiece::new(rules()).unwrap();
        let cuts = |text: &str| {
            let places = (1..text.len()).filter(|&place| text.is_char_boundary(place));
            places.filter(|&place| step.can_cut(text.as_bytes(), place)).collect::<Vec<_>>()
        };
        assert_eq!(cuts("ab  ﬁc"), [1, 2]);
        assert_eq!(cuts("x<a b>"), [1]);
        assert_eq!(cuts("\tx"), [0; 0]);
    }

    #[test]
    fn what_stands_between_special_tokens_is_a_text_and_the_rest_of_one_is_none() {
        let step = SentencePiece::new(rules()).unwrap();
        let normalized = |is_last, is_rest| {
            let segment = Segment { is_last, is_rest, ..Segment::inner(b"  a  ") };
            String::from_utf8(step.normalize(segment).unwrap()).unwrap()
        };
        assert_eq!(normalized(true, false), "▁a");
        assert_eq!(normalized(true, true), "▁a");
        assert_eq!(normalized(false, true), "▁a▁");
    }

    proptest! {
        #[test]
        fn the_result_is_utf8_and_spans_ascend(
            text: Vec<u8>, adds: bool, removes: bool, escapes: bool, suffix: bool,
        ) {
            let rules = SentencePieceRules {
                adds_space: adds,
                removes_extra_spaces: removes,
                escapes_spaces: escapes,
                space_is_suffix: suffix,
                ..rules()
            };
            let (_, spans) = whole(rules, &text);
            prop_assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0));
            prop_assert!(spans.iter().all(|span| span.0 <= span.1 && span.1 <= text.len()));
        }
    }
}
