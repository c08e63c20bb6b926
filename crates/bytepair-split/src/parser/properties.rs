//! Sets of characters that have names: properties (`\p{L}`), POSIX classes (`[:alpha:]`) and `\w`.
//!
//! What a name means depends on the flavour: POSIX classes are ASCII in the Rust flavour and Unicode in
//! Oniguruma, and `\w` differs by a few characters. Properties come from the tables of one version of
//! Unicode. Left out, and refused: names whose set in Oniguruma is not one of those tables.
//! Cost: in the size of the set.

use super::Parser;
use super::tree::CharSet;
use crate::error::Result;

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

    /// Oniguruma tests a single `\w` with an older table for U+0080..U+00FF, in which `²³¹¼½¾` are word
    /// characters, and `[\w]` with the Unicode sets; both were compared with its release 6.9.
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

    /// What leaves ink, and what is drawn in a way of its own.
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
            if name.contains('=') {
                return None;
            }
            match name.to_ascii_lowercase().as_str() {
                "alnum" | "digit" | "space" | "blank" | "cntrl" | "graph" | "print" | "xdigit" => {
                    return self.posix_set(&name.to_ascii_lowercase());
                }
                "word" | "upper" | "lower" => return None,
                _ => {}
            }
        }
        self.unicode.property(name).map(|ranges| CharSet::from_ranges(&ranges))
    }
}

/// The union of ranges, each given by its two ends.
pub(super) fn ascii_set(ends: &str) -> CharSet {
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
