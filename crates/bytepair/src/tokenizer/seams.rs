//! Places of a text that no added token can span, so that it can be cut before tokens are looked for.
//!
//! A token is on one side of a place if no token contains the two bytes next to the place in succession. Then the search finds
//! the same in the parts as in the text: none of the matches, taken from the left without overlap, spans the place. White
//! space that belongs to a token, and the characters that must not be next to a token that is a single word, stay on the token's
//! side: places after white space, after the last byte of a token and before the first byte of such a word are refused. So a
//! part never begins directly after a token; it continues the text before it. All tokens count, whether a call allows them or
//! not. Costs the test of a bit for each question.

use crate::added::{AddedToken, last_character};

/// Which places no token reaches across.
#[derive(Debug)]
pub(super) struct Seams {
    /// By the first of two bytes and the second: whether they stand so in a token.
    joined: Vec<[bool; 256]>,
    /// By byte: whether a token ends with it.
    ends: [bool; 256],
    /// By byte: whether a token before which nothing is cut begins with it, such as one that must be a word of its own.
    begins: [bool; 256],
    /// Whether white space may belong to a token.
    takes_space: bool,
}

impl Seams {
    /// Of tokens and the texts that are looked for in their stead.
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

    /// Refuses places inside of more texts.
    pub(super) fn keep_together<'t>(&mut self, texts: impl IntoIterator<Item = &'t String>) {
        for pair in texts.into_iter().flat_map(|text| text.as_bytes().windows(2)) {
            self.joined[usize::from(pair[0])][usize::from(pair[1])] = true;
        }
    }

    /// Refuses places before tokens, where something is put behind the text that ends there.
    pub(super) fn refuse_beginnings(&mut self, tokens: &[AddedToken]) {
        let firsts = tokens.iter().filter_map(|token| token.content.bytes().next());
        firsts.for_each(|first| self.begins[usize::from(first)] = true);
    }

    /// Whether no token reaches across a place inside of a text.
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
    use crate::added::{Matcher, Part, Specials};
    use crate::normalize::Normalizer;
    use crate::units::Units;
    use proptest::prelude::*;

    /// What is found in a text, as ids with their places, which begin so many bytes later.
    fn found(matcher: &Matcher, text: &[u8], shift: usize) -> Vec<(u32, usize, usize)> {
        let mut found = Vec::new();
        let visit = |part| {
            if let Part::Token(id, place) = part {
                found.push((id, place.start + shift, place.end + shift));
            }
            Ok(())
        };
        matcher.cut_raw(text, visit).unwrap();
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
            let parts = (&Normalizer::default(), &Units::characters(), false);
            let matcher = Matcher::new(&tokens, parts, Specials::All).unwrap();
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
