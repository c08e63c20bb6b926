//! Finds where a text can be cut so that its ids are those of the parts, concatenated.
//!
//! Such a cut is between two characters. It is proven by these two and the characters next to them, whatever else the
//! text contains: no added token spans the place ([`Seams`]), the parts can be normalized separately, and the splitter
//! ends a piece there or at most divides one ([`Splitter::cut_at`](bytepair_split::Splitter)) that no merge joins across
//! the place (`encode::cuts`). Who counts pieces uses only the former. The second part is then the rest of a segment. The proof is in
//! `docs/explanation/encoding.md`.
//!
//! No cut is found for backtracking patterns, for normalizer steps that look further than at a character and the marks
//! after it, and next to bytes that are not UTF-8. Costs a few look-ups for each place that is tried, more if a
//! normalizer is involved.
//!
//! Every token lies on one side of a place if no token contains the two bytes next to it in succession. Then the
//! search finds the same in the parts as in the text: none of the leftmost non-overlapping matches spans the place.
//! White space that belongs to a token, and the characters that must not be next to a single-word token, stay on the
//! side of the token: places after white space, after the last byte of a token and before the first byte of a
//! single-word token are refused. So a part never begins directly after a token; it continues the text before it. All
//! tokens count, whether a call allows them or not. Costs a table look-up for each place.

use std::borrow::Cow;
use std::ops::Range;

use super::Tokenizer;
use super::parts::Parts;
use crate::added::AddedToken;
use crate::encode::Encoder;
use crate::error::Result;
use crate::normalize::{Normalizer, character_length};
use crate::segment::Segment;
use crate::segment::last_character;
use bytepair_split::Cut;

/// What the cuts of a tokenizer depend on, made when the first is looked for.
#[derive(Debug)]
pub(super) struct Cutter {
    /// Seams of the original text.
    raw: Seams,
    /// Seams of the normalized text, if some tokens are looked for there.
    normalized: Option<Seams>,
    /// Whether the ids of a piece may be those of its parts: no piece is a token as a whole, and none is changed or cut
    /// again.
    divides_pieces: bool,
}

impl Cutter {
    /// # Errors
    /// If no place can be proven: the reason, as a sentence without a full stop.
    pub(super) fn new(
        parts: &Parts,
        encoder: &Encoder,
        kept_together: &[String],
    ) -> std::result::Result<Self, &'static str> {
        let Parts { normalizer, pre_tokenizer, added, .. } = parts;
        if !normalizer.can_be_cut() {
            return Err("the normalizer looks further than at a character and its marks");
        }
        let is_one_piece = match pre_tokenizer.rounds() {
            [] => true,
            [first, later @ ..] => {
                if !first.change.is_by_character() {
                    return Err("the pre-tokenizer changes more than single characters");
                }
                let is_whole = first.splitter.stages().is_empty();
                if is_whole && !later.is_empty() {
                    return Err("the pre-tokenizer changes whole texts several times");
                }
                if !is_whole && !first.splitter.has_safe_cuts() {
                    return Err("the split pattern needs backtracking");
                }
                is_whole
            }
        };
        if is_one_piece && !encoder.has_cuts() {
            return Err("each text is one piece, and tokens may join any characters of it");
        }
        let normalized = added.iter().filter(|token| token.normalized);
        let texts = normalized.map(|token| {
            let is_rest = normalizer.is_sentencepiece();
            let content = Segment { is_rest, ..Segment::inner(token.content.as_bytes()) };
            Ok((normalizer.normalize(content)?, token))
        });
        let texts = texts.collect::<Result<Vec<_>>>();
        let texts = texts.map_err(|_| "an added token has no normalized form")?;
        let normalized = texts.iter().map(|(text, token)| (&**text, *token));
        let mut raw = Seams::new(added.iter().map(|token| (token.content.as_bytes(), token)));
        if normalizer.adds_behind() {
            raw.refuse_beginnings(added);
        }
        raw.keep_together(kept_together);
        let divides_pieces = pre_tokenizer.rounds().len() == 1
            && encoder.longest_whole() == 0
            && !added.iter().any(|token| token.whole_piece);
        let normalized = (!texts.is_empty()).then(|| Seams::new(normalized));
        Ok(Self { raw, normalized, divides_pieces })
    }
}

/// The characters around a place, and the offset of the place in them.
type Window<'t> = (Cow<'t, [u8]>, usize);

impl Tokenizer {
    /// Whether the ids of a text are those of its parts before and after a place, whatever stands around the
    /// characters there and whatever follows.
    #[cfg(test)]
    pub(super) fn is_cut(&self, text: &[u8], place: usize) -> bool {
        self.cutter().is_some_and(|cutter| self.is_cut_by(cutter, text, place, true))
    }

    /// The last such place in a range of a text at which a cut also changes no piece, unless a text is one piece.
    pub(super) fn last_cut(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        self.last_cut_by(text, range, false)
    }

    /// The last such place in a range of a text. It may be inside a piece.
    pub(super) fn last_cut_of_ids(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        self.last_cut_by(text, range, true)
    }

    fn last_cut_by(&self, text: &[u8], range: Range<usize>, divides: bool) -> Option<usize> {
        let cutter = self.cutter()?;
        let range = range.start.max(1)..range.end.min(text.len());
        range.rev().find(|&place| self.is_cut_by(cutter, text, place, divides))
    }

    fn cutter(&self) -> Option<&Cutter> {
        self.plan().cutter(&self.parts).ok()
    }

    /// Why no text can be cut, if that is so.
    pub(super) fn why_uncut(&self) -> Option<&'static str> {
        self.plan().cutter(&self.parts).err()
    }

    /// Whether a place is a cut; inside a piece only if the cut may divide it.
    fn is_cut_by(&self, cutter: &Cutter, text: &[u8], place: usize, divides: bool) -> bool {
        let is_allowed = (1..text.len()).contains(&place)
            && text[place] & 0xC0 != 0x80
            && cutter.raw.allow(text, place);
        if !is_allowed {
            return false;
        }
        let Some((window, middle)) = window(text, place, &self.parts.normalizer) else {
            return false;
        };
        if cutter.normalized.as_ref().is_some_and(|seams| !seams.allow(&window, middle)) {
            return false;
        }
        let Some(round) = self.parts.pre_tokenizer.rounds().first() else {
            return self.encoder().is_cut(&window, middle);
        };
        let Some((window, middle)) = changed((window, middle), &round.change) else { return false };
        match round.splitter.cut_at(&window, middle) {
            _ if round.splitter.stages().is_empty() => self.encoder().is_cut(&window, middle),
            Some(Cut::Border) => true,
            Some(Cut::Division) => {
                divides && cutter.divides_pieces && self.encoder().is_cut(&window, middle)
            }
            None => false,
        }
    }
}

/// The offset of the characters around a place between two.
pub(super) fn characters_beside(text: &[u8], place: usize) -> Option<Range<usize>> {
    let before = place - last_character(&text[..place])?.len_utf8();
    Some(before..place + character_length(&text[place..])?)
}

/// The characters around a place, as they are in the normalized text.
///
/// They are normalized alone, which is correct since the text can be cut on both sides of each.
fn window<'t>(text: &'t [u8], place: usize, normalizer: &Normalizer) -> Option<Window<'t>> {
    let Range { start: before, end: after } = characters_beside(text, place)?;
    let window = (Cow::Borrowed(&text[before..after]), place - before);
    if normalizer.steps().is_empty() {
        return Some(window);
    }
    match normalizer.can_cut_between(text, [before, place, after]) {
        true => changed(window, normalizer),
        false => None,
    }
}

/// Both sides of a window after the steps of a normalizer, if neither is empty.
fn changed<'t>((window, middle): Window<'t>, normalizer: &Normalizer) -> Option<Window<'t>> {
    if normalizer.steps().is_empty() {
        return Some((window, middle));
    }
    let side = |text| normalizer.normalize(Segment { is_rest: true, ..Segment::inner(text) }).ok();
    let mut both = side(&window[..middle])?.into_owned();
    let new_middle = both.len();
    both.extend_from_slice(&side(&window[middle..])?);
    (0 < new_middle && new_middle < both.len()).then_some((Cow::Owned(both), new_middle))
}

/// Tells which places no token spans.
#[derive(Debug)]
pub(super) struct Seams {
    /// By two bytes: whether they are adjacent in some token.
    joined: Vec<[bool; 256]>,
    /// By byte: whether a token ends with it.
    ends: [bool; 256],
    /// By byte: whether it begins a token before which nothing is cut, such as a single-word token.
    begins: [bool; 256],
    /// Whether white space may belong to a token.
    takes_space: bool,
}

impl Seams {
    /// Seams of tokens, each with the text that is looked for.
    pub(super) fn new<'t>(tokens: impl IntoIterator<Item = (&'t [u8], &'t AddedToken)>) -> Self {
        let mut seams = Self {
            joined: vec![[false; 256]; 256],
            ends: [false; 256],
            begins: [false; 256],
            takes_space: false,
        };
        for (text, token) in tokens {
            for pair in text.windows(2) {
                seams.joined[usize::from(pair[0])][usize::from(pair[1])] = true;
            }
            let (Some(&first), Some(&last)) = (text.first(), text.last()) else { continue };
            seams.ends[usize::from(last)] = true;
            seams.begins[usize::from(first)] |= token.single_word;
            seams.takes_space |= token.lstrip || token.rstrip;
        }
        seams
    }

    /// Refuses places inside more texts.
    pub(super) fn keep_together<'t>(&mut self, texts: impl IntoIterator<Item = &'t String>) {
        for pair in texts.into_iter().flat_map(|text| text.as_bytes().windows(2)) {
            self.joined[usize::from(pair[0])][usize::from(pair[1])] = true;
        }
    }

    /// Refuses places before tokens, for when something is put after the text that ends there.
    pub(super) fn refuse_beginnings(&mut self, tokens: &[AddedToken]) {
        let firsts = tokens.iter().filter_map(|token| token.content.bytes().next());
        firsts.for_each(|first| self.begins[usize::from(first)] = true);
    }

    /// Whether no token spans a place inside a text.
    pub(super) fn allow(&self, text: &[u8], place: usize) -> bool {
        let [before, after] = [text[place - 1], text[place]].map(usize::from);
        if self.joined[before][after] || self.ends[before] || self.begins[after] {
            return false;
        }
        !self.takes_space || !last_character(&text[..place]).is_some_and(char::is_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::added::{MatchedText, Matcher, Part, Specials};
    use crate::normalize::Normalizer;
    use crate::units::Units;
    use proptest::prelude::*;

    /// The ids that are found in a text, each with its range, shifted by this many bytes.
    fn found(matcher: &Matcher, text: &[u8], shift: usize) -> Vec<(u32, usize, usize)> {
        let mut found = Vec::new();
        let visit = |part| {
            if let Part::Token(id, place) = part {
                found.push((id, place.start + shift, place.end + shift));
            }
            Ok(())
        };
        matcher.raw.cut(text, visit).unwrap();
        found
    }

    proptest! {
        #[test]
        fn a_cut_changes_no_token(
            contents in prop::collection::vec("[<a> é]{1,3}", 1..5),
            properties in prop::collection::vec(any::<[bool; 3]>(), 5),
            text in "[<a> éx\u{3000}]{2,30}",
        ) {
            let tokens = (0..).zip(contents).zip(properties).map(|((id, content), [lstrip, rstrip, single_word])| {
                AddedToken { id, content, lstrip, rstrip, single_word, ..AddedToken::default() }
            });
            let tokens: Vec<_> = tokens.collect();
            let (normalizer, units) = (&Normalizer::default(), &Units::characters());
            let matched = MatchedText { normalizer, units, pieces_are_text: false };
            let matcher = Matcher::new(&tokens, matched, Specials::All).unwrap();
            let seams = Seams::new(tokens.iter().map(|token| (token.content.as_bytes(), token)));
            let text = text.as_bytes();
            let whole = found(&matcher, text, 0);
            let is_character = |&place: &usize| text[place] & 0xC0 != 0x80;
            for place in (1..text.len()).filter(is_character).filter(|&place| seams.allow(text, place)) {
                let mut parts = found(&matcher, &text[..place], 0);
                parts.extend(found(&matcher, &text[place..], place));
                prop_assert_eq!(&parts, &whole, "at {}", place);
                prop_assert!(whole.iter().all(|token| token.2 != place));
            }
        }
    }
}
