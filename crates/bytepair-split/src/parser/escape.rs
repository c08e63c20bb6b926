//! What a backslash means, inside a bracketed class and outside.
//!
//! A character, a set or an anchor; which sets have names is the business of [`super::properties`].
//! Left out, and refused with the place: back-references, octal numbers, subroutines, `\K`, `\G`, `\X`,
//! and single bytes of a character.
//! Cost: linear in the escape, and in the size of the set it names.

use super::Parser;
use super::properties::ascii_set;
use super::tree::{Anchor, CharSet, Node};
use crate::error::Result;

/// What a backslash means.
pub(super) enum Escape {
    Literal(char),
    Set(CharSet),
    Anchor(Anchor),
}

impl Parser<'_> {
    pub(super) fn escape_outside(&mut self, start: usize) -> Result<Node> {
        if self.eat("R") {
            self.folded.clear();
            return Ok(line_break());
        }
        match self.escape(start, false)? {
            Escape::Literal(character) => self.literal(start, character),
            Escape::Set(set) => {
                self.folded.clear();
                Ok(Node::Set(set))
            }
            Escape::Anchor(anchor) => {
                self.folded.clear();
                Ok(Node::Anchor(anchor))
            }
        }
    }

    /// What follows a backslash that stood at `start`.
    pub(super) fn escape(&mut self, start: usize, in_class: bool) -> Result<Escape> {
        let Some(letter) = self.bump() else {
            return Err(self.problem_at(start, "a `\\` at the end"));
        };
        if matches!(letter, '<' | '>') && !self.is_oniguruma && !in_class {
            return Err(self.problem_at(start, "the start or end of a word is not supported"));
        }
        if !letter.is_ascii_alphanumeric() {
            return Ok(Escape::Literal(letter));
        }
        if let Some(set) = self.set_escape(start, letter, in_class)? {
            return Ok(Escape::Set(set));
        }
        if let Some(anchor) = self.anchor_escape(letter).filter(|_| !in_class) {
            return Ok(Escape::Anchor(anchor));
        }
        self.literal_escape(start, letter, in_class).map(Escape::Literal)
    }

    fn set_escape(
        &mut self,
        start: usize,
        letter: char,
        in_class: bool,
    ) -> Result<Option<CharSet>> {
        let set = match letter.to_ascii_lowercase() {
            'd' => self.property_set("Nd"),
            's' => self.property_set("White_Space"),
            'w' => self.word(in_class),
            'h' => ascii_set("09afAF"),
            'n' if letter == 'N' && !in_class => CharSet::single('\n'),
            'o' if letter == 'O' && !in_class => CharSet::empty(),
            'p' => return self.property_escape(start, letter == 'P').map(Some),
            _ => return Ok(None),
        };
        Ok(Some(if letter.is_ascii_uppercase() { set.negated() } else { set }))
    }

    fn anchor_escape(&self, letter: char) -> Option<Anchor> {
        Some(match letter {
            'A' => Anchor::TextStart,
            'z' => Anchor::TextEnd,
            'Z' if self.is_oniguruma => Anchor::TextEndOrFinalLineFeed,
            'Z' => Anchor::TextEndOrFinalLineFeeds,
            'b' if !self.rest().starts_with('{') => Anchor::WordBoundary,
            'B' => Anchor::NotWordBoundary,
            _ => return None,
        })
    }

    fn literal_escape(&mut self, start: usize, letter: char, in_class: bool) -> Result<char> {
        match letter {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'f' => Ok('\x0c'),
            'v' => Ok('\x0b'),
            'a' => Ok('\x07'),
            'e' => Ok('\x1b'),
            'b' if in_class && self.is_oniguruma => Ok('\x08'),
            'x' => self.code_point(start, 2),
            'u' => self.code_point(start, 4),
            '0'..='9' => {
                Err(self.problem_at(start, "back-references and octal escapes are not supported"))
            }
            _ => Err(self.problem_at(start, &format!("`\\{letter}` is not understood"))),
        }
    }

    /// `{HEX}` or exactly `n_digits` hexadecimal digits.
    fn code_point(&mut self, start: usize, n_digits: usize) -> Result<char> {
        let not_a_character = self.problem_at(start, "no character has this number");
        let rest = self.rest();
        let (digits, length) = match rest.strip_prefix('{').map(|inside| inside.split_once('}')) {
            Some(Some((inside, _))) => (inside, inside.len() + 2),
            _ => (rest.get(..n_digits).unwrap_or_default(), n_digits),
        };
        let is_hexadecimal =
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal);
        let Some(character) = code.and_then(char::from_u32) else { return Err(not_a_character) };
        if self.is_oniguruma && length == 2 && !character.is_ascii() {
            return Err(
                self.problem_at(start, "a byte of several that make a character; write \\x{…}")
            );
        }
        self.offset += length;
        Ok(character)
    }
}

/// `\R`: a line break, atomic: nothing of it is given back.
fn line_break() -> Node {
    let both = ['\r', '\n'].map(|character| Node::Set(CharSet::single(character)));
    let one = CharSet::from_ranges(&['\n'..='\r', '\u{85}'..='\u{85}', '\u{2028}'..='\u{2029}']);
    Node::Atomic(Box::new(Node::Alternate(vec![Node::Concat(both.to_vec()), Node::Set(one)])))
}
