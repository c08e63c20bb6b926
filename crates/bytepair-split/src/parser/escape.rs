//! What a backslash means, inside a bracketed class and outside: a character, a set or an anchor. Also the names of sets:
//! properties (`\p{L}`), POSIX classes (`[:alpha:]`) and `\w`.
//!
//! The meaning of a name depends on the flavour: POSIX classes are ASCII in the Rust flavour and Unicode in Oniguruma,
//! and `\w` differs by a few characters. Properties come from the tables of one version of Unicode. Names whose set in
//! Oniguruma is not in these tables are refused.
//!
//! Left out, and refused with the place: back-references, octal numbers, subroutines, `\K`, `\G`, `\X`,
//! and single bytes of a character.
//! Cost: linear in the escape, and in the size of the set it names.

use super::Parser;
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
        let node = if self.eat("R") {
            line_break()
        } else {
            match self.escape(start, false)? {
                Escape::Literal(character) => return self.literal(start, character),
                Escape::Set(set) => Node::Set(set),
                Escape::Anchor(anchor) => Node::Anchor(anchor),
            }
        };
        self.folded.clear();
        Ok(node)
    }

    /// Parses what follows a backslash at `start`.
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

/// `\R`: a line break; atomic, so none of it is given back.
fn line_break() -> Node {
    let both = ['\r', '\n'].map(|character| Node::Set(CharSet::single(character)));
    let one = CharSet::from_ranges(&['\n'..='\r', '\u{85}'..='\u{85}', '\u{2028}'..='\u{2029}']);
    Node::Atomic(Box::new(Node::Alternate(vec![Node::Concat(both.to_vec()), Node::Set(one)])))
}

impl<'p> Parser<'p> {
    pub(super) fn property_escape(&mut self, start: usize, is_negated: bool) -> Result<CharSet> {
        let (name, inside_negated) = self.property_name(start)?;
        let unknown = || self.problem_at(start, &format!("the property {name:?} is not known"));
        let set = self.named_property(name).ok_or_else(unknown)?;
        let folded = self.fold(set.clone());
        if self.is_oniguruma && folded != set {
            return Err(self.problem_at(start, "a property of letters under (?i)"));
        }
        Ok(if is_negated == inside_negated { folded } else { folded.negated() })
    }

    pub(super) fn property_set(&self, name: &str) -> CharSet {
        CharSet::from_ranges(&self.unicode.property(name).unwrap_or_default())
    }

    pub(super) fn posix_set(&self, name: &str) -> Option<CharSet> {
        if !self.is_oniguruma {
            return ascii_posix(name).map(ascii_set);
        }
        Some(match name {
            "alpha" => self.property_set("Alphabetic"),
            "alnum" => self.property_set("Alphabetic").union(&self.property_set("Nd")),
            "digit" => self.property_set("Nd"),
            "space" => self.property_set("White_Space"),
            "word" => self.word(true),
            "xdigit" => ascii_set("09afAF"),
            "ascii" => ascii_set("\0\x7f"),
            "blank" => self.property_set("Zs").union(&CharSet::single('\t')),
            "cntrl" => self.property_set("Cc"),
            "punct" => self.property_set("P").union(&self.property_set("S")),
            "graph" => self.visible(),
            "print" => self.visible().union(&self.property_set("Zs")),
            _ => return None,
        })
    }

    /// Oniguruma tests a single `\w` with an older table for U+0080..U+00FF, in which `²³¹¼½¾` are word characters, and
    /// `[\w]` with the Unicode sets. Both were compared with its release 6.9.
    pub(super) fn word(&self, in_class: bool) -> CharSet {
        let known = &self.words[usize::from(in_class)];
        known.get_or_init(|| self.made_word(in_class)).clone()
    }

    fn made_word(&self, in_class: bool) -> CharSet {
        let names = ["Alphabetic", "M", "Nd", "Pc"];
        let word =
            names.iter().fold(CharSet::empty(), |word, name| word.union(&self.property_set(name)));
        match (self.is_oniguruma, in_class) {
            (false, _) => word.union(&self.property_set("Join_Control")),
            (true, false) => word.union(&CharSet::from_ranges(&['²'..='³', '¹'..='¹', '¼'..='¾'])),
            (true, true) => word,
        }
    }

    /// Characters that are not white space, controls or unassigned.
    fn visible(&self) -> CharSet {
        let blank = ["White_Space", "Cc", "Cn"];
        let blank =
            blank.iter().fold(CharSet::empty(), |set, name| set.union(&self.property_set(name)));
        CharSet { invalid: false, ..blank.negated() }
    }

    fn property_name(&mut self, start: usize) -> Result<(&'p str, bool)> {
        if !self.eat("{") {
            let letter =
                self.bump().filter(|letter| letter.is_ascii_alphabetic() && !self.is_oniguruma);
            let Some(_) = letter else {
                return Err(self.problem_at(start, "a property without its name"));
            };
            return Ok((&self.source[self.offset - 1..self.offset], false));
        }
        let is_negated = self.eat("^");
        let source = self.source;
        let Some((name, _)) = source[self.offset..].split_once('}') else {
            return Err(self.problem_at(start, "a property without its `}`"));
        };
        self.offset += name.len() + 1;
        Ok((name, is_negated))
    }

    fn named_property(&self, name: &str) -> Option<CharSet> {
        if self.is_oniguruma {
            let lower = name.to_ascii_lowercase();
            match lower.as_str() {
                "alnum" | "digit" | "space" | "blank" | "cntrl" | "graph" | "print" | "xdigit" => {
                    return self.posix_set(&lower);
                }
                "word" | "upper" | "lower" => return None,
                _ if name.contains('=') => return None,
                _ => {}
            }
        }
        self.unicode.property(name).map(|ranges| CharSet::from_ranges(&ranges))
    }
}

/// The union of ranges, each given by its two ends.
fn ascii_set(ends: &str) -> CharSet {
    let ends: Vec<char> = ends.chars().collect();
    ends.chunks(2).fold(CharSet::empty(), |set, pair| {
        set.union(&CharSet::range(pair[0], pair[pair.len() - 1]))
    })
}

fn ascii_posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => "09AZaz",
        "alpha" => "AZaz",
        "ascii" => "\0\x7f",
        "blank" => "\t\t  ",
        "cntrl" => "\0\x1f\x7f\x7f",
        "digit" => "09",
        "graph" => "!~",
        "lower" => "az",
        "print" => " ~",
        "punct" => "!/:@[`{~",
        "space" => "\t\r  ",
        "upper" => "AZ",
        "word" => "09AZ__az",
        "xdigit" => "09AFaf",
        _ => return None,
    })
}
