//! Taking apart again what a vocabulary does not allow.
//!
//! A part that the vocabulary lacks is undone to the two parts of its merge, and so on until each part is allowed or is not
//! the result of a merge. All parts except the last of a word are looked up with the separator after them. Costs one look-up
//! for each part that is tried; a part leads to at most as many as it has characters.

use std::collections::{HashMap, HashSet};

use crate::codes::{Codes, END_OF_WORD, Undone};

/// The tokens that are allowed, and how merges are undone.
#[derive(Debug)]
pub(super) struct Limit {
    /// Separators included.
    allowed: HashSet<String>,
    separator: String,
    /// By the symbol that a merge makes, end mark included: its parts.
    parts: HashMap<String, (String, String)>,
}

impl Limit {
    pub(super) fn new(codes: &Codes, allowed: HashSet<String>, separator: &str) -> Self {
        let made = |(left, right): &(String, String)| {
            (format!("{left}{right}"), (left.clone(), right.clone()))
        };
        let parts = match codes.undone {
            Undone::First => codes.merges.iter().rev().map(made).collect(),
            Undone::Last => codes.merges.iter().map(made).collect(),
        };
        Self { allowed, separator: separator.to_owned(), parts }
    }

    /// The parts of a word, each allowed or a single character.
    pub(super) fn apply(&self, word: &[String]) -> Vec<String> {
        let mut out = Vec::with_capacity(word.len());
        for (place, part) in (1..).zip(word) {
            self.push(part.clone(), place == word.len(), &mut out);
        }
        out
    }

    fn push(&self, part: String, is_last: bool, out: &mut Vec<String>) {
        let mut waiting = vec![(part, is_last)];
        while let Some((part, is_last)) = waiting.pop() {
            match self.parts_of(&part, is_last).filter(|_| !self.is_allowed(&part, is_last)) {
                None => out.push(part),
                Some((left, right)) => {
                    waiting.push((right.to_owned(), is_last));
                    waiting.push((left.to_owned(), false));
                }
            }
        }
    }

    fn is_allowed(&self, part: &str, is_last: bool) -> bool {
        match is_last {
            true => self.allowed.contains(part),
            false => self.allowed.contains(&format!("{part}{}", self.separator)),
        }
    }

    fn parts_of(&self, part: &str, is_last: bool) -> Option<(&str, &str)> {
        let mark = if is_last { END_OF_WORD } else { "" };
        let (left, right) = self.parts.get(&format!("{part}{mark}"))?;
        Some((left, right.strip_suffix(mark).unwrap_or(right)))
    }
}
