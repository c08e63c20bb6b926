//! Text to text with its words cut apart, as subword-nmt and fastBPE write it: `lo@@ w`.
//!
//! Each line keeps the spaces around it; words are what stands between spaces, and runs of spaces become one.
//! A word is merged by [`Codes`]; with a vocabulary, parts that it lacks are taken apart again. A
//! separator stands behind every part but the last. Left out: glossaries, which are words of the caller, and
//! ids, which a [`Tokenizer`](bytepair::Tokenizer) of the same codes gives.
//!
//! Codes in which every merge builds on earlier ones are executed by the encoder; others, and all with dropout, by
//! `rounds`. Both take O(n log n) for a word of n characters.

mod rounds;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use self::rounds::{Chance, Rounds};
use crate::codes::{Codes, END_OF_WORD, Undone, ends_line};
use bytepair::Dropout;
use bytepair::Result;
use bytepair::for_formats::{Encoder, Scratch};
use bytepair::units::Units;
use bytepair::vocabulary::{TokenId, Vocabulary};

/// Cuts words into parts.
///
/// ```
/// use bytepair_formats::{codes, segmentation::Segmenter};
///
/// let codes = codes::read_subword_nmt(b"#version: 0.2\nl o\nlo w</w>\n", None)?;
/// let segmenter = Segmenter::new(&codes, "@@", &[])?;
/// assert_eq!(segmenter.segment(" low  lower\n", Default::default())?, " low lo@@ w@@ e@@ r\n");
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
pub struct Segmenter {
    units: Units,
    vocabulary: Arc<Vocabulary>,
    /// For words without dropout, where every merge builds on earlier ones.
    encoder: Option<Box<Encoder>>,
    rounds: Rounds,
    separator: String,
    limit: Option<Limit>,
}

/// How a text is cut apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentOptions {
    /// Leaves merges out by chance. The seed and the number of a line decide which.
    pub dropout: Option<Dropout>,
    /// The number of the first line of the text.
    pub first_line: u64,
    /// Where lines end.
    pub line_ends: LineEnds,
}

/// Where lines end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// Behind each line feed.
    #[default]
    LineFeeds,
    /// Where `str.splitlines` of Python ends them, with which subword-nmt reads files.
    Python,
}

impl Segmenter {
    /// A segmenter by these codes. Without `allowed` tokens, separators included, all are allowed.
    ///
    /// # Errors
    /// Where there are more symbols than ids.
    pub fn new(codes: &Codes, separator: &str, allowed: &[String]) -> Result<Self> {
        let (units, vocabulary) = (codes.units(), Arc::new(codes.vocabulary()?));
        let encoder = codes
            .first_disordered()
            .is_none()
            .then(|| Box::new(Encoder::new(Arc::clone(&vocabulary), &units, false)));
        let allowed: HashSet<String> = allowed.iter().cloned().collect();
        let limit = (!allowed.is_empty()).then(|| Limit::new(codes, allowed, separator));
        let (rounds, separator) = (Rounds::new(codes), separator.to_owned());
        Ok(Self { units, vocabulary, encoder, rounds, separator, limit })
    }

    /// A text of any number of lines with its words cut apart.
    ///
    /// # Errors
    /// Where the probability of dropout is not from 0 to 1.
    pub fn segment(&self, text: &str, options: SegmentOptions) -> Result<String> {
        let dropout = checked(options.dropout)?;
        let mut words =
            Words { segmenter: self, dropout, known: HashMap::new(), scratch: Scratch::default() };
        let mut out = String::with_capacity(text.len() * 3 / 2);
        for (number, line) in
            (options.first_line..).zip(Lines { rest: text, ends: options.line_ends })
        {
            words.push_line(number, line, &mut out)?;
        }
        Ok(out)
    }

    /// The parts of one word, without separators; with dropout those of this word of this line.
    ///
    /// # Errors
    /// As for [`Segmenter::segment`].
    pub fn parts_of_word(
        &self,
        word: &str,
        dropout: Option<Dropout>,
        (line, number): (u64, u64),
    ) -> Result<Vec<String>> {
        let chance = checked(dropout)?.map(|dropout| Chance::new(dropout, line, number));
        self.parts(word, chance, &mut Scratch::default())
    }

    fn parts(
        &self,
        word: &str,
        chance: Option<Chance>,
        scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        if word.chars().nth(1).is_none() {
            return Ok(vec![word.to_owned()]);
        }
        let parts = match &self.encoder {
            Some(encoder) if chance.is_none() => self.encoded(encoder, word, scratch)?,
            _ => self.rounds.parts(word, chance).into_iter().map(str::to_owned).collect(),
        };
        Ok(self.limit.as_ref().map_or_else(|| parts.clone(), |limit| limit.apply(&parts)))
    }

    fn encoded(&self, encoder: &Encoder, word: &str, scratch: &mut Scratch) -> Result<Vec<String>> {
        let (mut ids, mut strangers) = (Vec::new(), Vec::new());
        let n_ids = self.vocabulary.len();
        encoder.encode_or(word.as_bytes(), scratch, &mut ids, |symbol| {
            strangers.push(symbol);
            Ok(TokenId::try_from(n_ids + strangers.len() - 1).unwrap_or(TokenId::MAX))
        })?;
        let written = |id: TokenId| {
            let token = self.vocabulary.token(id).unwrap_or_else(|| strangers[id as usize - n_ids]);
            String::from_utf8_lossy(&self.units.written(token)).into_owned()
        };
        let mut parts: Vec<String> = ids.into_iter().map(written).collect();
        if let Some(last) = parts.pop() {
            let last = last.strip_suffix(END_OF_WORD).unwrap_or(&last);
            parts.extend((!last.is_empty()).then(|| last.to_owned()));
        }
        Ok(parts)
    }
}

/// Dropout that leaves anything out.
fn checked(dropout: Option<Dropout>) -> Result<Option<Dropout>> {
    dropout.as_ref().map_or(Ok(()), Dropout::check)?;
    Ok(dropout.filter(|dropout| dropout.probability > 0.0))
}

/// The lines of a text, ends included.
struct Lines<'t> {
    rest: &'t str,
    ends: LineEnds,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = match self.ends {
            LineEnds::LineFeeds => self.rest.find('\n').map(|end| end + 1),
            LineEnds::Python => {
                self.rest.find(ends_line).map(|end| end + end_len(&self.rest[end..]))
            }
        };
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(line)
    }
}

/// The length of the end of a line that a text begins with.
fn end_len(text: &str) -> usize {
    match text.starts_with("\r\n") {
        true => 2,
        false => text.chars().next().map_or(0, char::len_utf8),
    }
}

/// The words of one text.
struct Words<'w> {
    segmenter: &'w Segmenter,
    dropout: Option<Dropout>,
    /// Words that were cut already, with their separators.
    known: HashMap<&'w str, String>,
    scratch: Scratch,
}

impl<'w> Words<'w> {
    fn push_line(&mut self, number: u64, line: &'w str, out: &mut String) -> Result<()> {
        let blank = ['\r', '\n', ' '];
        let content = line.trim_matches(blank);
        if content.is_empty() {
            out.push_str(line);
            return Ok(());
        }
        out.push_str(&line[..line.len() - line.trim_start_matches(blank).len()]);
        for (place, word) in (0..).zip(content.split(' ').filter(|word| !word.is_empty())) {
            out.push_str(if place == 0 { "" } else { " " });
            match self.dropout {
                None => self.push_word(word, out)?,
                Some(dropout) => {
                    self.push_by_chance(word, Chance::new(dropout, number, place), out)?;
                }
            }
        }
        out.push_str(&line[line.trim_end_matches(blank).len()..]);
        Ok(())
    }

    fn push_word(&mut self, word: &'w str, out: &mut String) -> Result<()> {
        if let Some(cut) = self.known.get(word) {
            out.push_str(cut);
            return Ok(());
        }
        let parts = self.segmenter.parts(word, None, &mut self.scratch)?;
        let cut = self.joined(&parts);
        out.push_str(&cut);
        self.known.insert(word, cut);
        Ok(())
    }

    fn push_by_chance(&mut self, word: &str, chance: Chance, out: &mut String) -> Result<()> {
        let parts = self.segmenter.parts(word, Some(chance), &mut self.scratch)?;
        out.push_str(&self.joined(&parts));
        Ok(())
    }

    fn joined(&self, parts: &[String]) -> String {
        parts.join(&format!("{} ", self.segmenter.separator))
    }
}

/// Takes apart again what a vocabulary does not allow.
///
/// A part that the vocabulary lacks is undone to the two parts of its merge, and so on until each part is allowed or is not
/// the result of a merge. All parts except the last of a word are looked up with the separator after them. Costs one look-up
/// for each part that is tried; a part leads to at most as many as it has characters.
#[derive(Debug)]
struct Limit {
    /// Separators included.
    allowed: HashSet<String>,
    separator: String,
    /// By the symbol that a merge makes, end mark included: its parts.
    parts: HashMap<String, (String, String)>,
}

impl Limit {
    fn new(codes: &Codes, allowed: HashSet<String>, separator: &str) -> Self {
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
    fn apply(&self, word: &[String]) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::read_subword_nmt;
    use proptest::prelude::*;

    const PLAIN: SegmentOptions =
        SegmentOptions { dropout: None, first_line: 0, line_ends: LineEnds::LineFeeds };

    fn segmenter(codes: &str, allowed: &[&str]) -> Segmenter {
        let codes = read_subword_nmt(codes.as_bytes(), None).unwrap();
        let allowed: Vec<String> = allowed.iter().map(|&token| token.to_owned()).collect();
        Segmenter::new(&codes, "@@", &allowed).unwrap()
    }

    #[test]
    fn spaces_around_a_line_stay_and_those_inside_become_one() {
        let segmenter = segmenter("#version: 0.2\na b\n", &[]);
        let cut = segmenter.segment("  ab  c \r\n\n \nx", PLAIN).unwrap();
        assert_eq!(cut, "  a@@ b c \r\n\n \nx");
    }

    #[test]
    fn parts_that_are_not_allowed_are_taken_apart() {
        let codes = "#version: 0.2\nl o\ne r</w>\nlo w\nlow er</w>\n";
        assert_eq!(segmenter(codes, &["lower"]).segment("lower", PLAIN).unwrap(), "lower");
        assert_eq!(segmenter(codes, &["low@@", "er"]).segment("lower", PLAIN).unwrap(), "low@@ er");
        assert_eq!(segmenter(codes, &["lo@@"]).segment("lower", PLAIN).unwrap(), "lo@@ w@@ e@@ r");
    }

    proptest! {
        #[test]
        fn the_encoder_joins_what_rounds_join(picks: Vec<(u8, u8)>, text in "[abc ]{0,40}") {
            let mut symbols: Vec<String> = ["a", "b", "c", "a</w>", "b</w>", "c</w>"].map(str::to_owned).to_vec();
            let mut codes = "#version: 0.2\n".to_owned();
            for (left, right) in picks {
                let (left, right) =
                    (usize::from(left) % symbols.len(), usize::from(right) % symbols.len());
                let joined = format!("{}{}", symbols[left], symbols[right]);
                if !symbols[left].ends_with('>') && joined.len() < 16 && !symbols.contains(&joined) {
                    codes.extend([&symbols[left], " ", &symbols[right], "\n"]);
                    symbols.push(joined);
                }
            }
            let fast = segmenter(&codes, &[]);
            prop_assert!(fast.encoder.is_some());
            let slow = Segmenter { encoder: None, ..segmenter(&codes, &[]) };
            prop_assert_eq!(fast.segment(&text, PLAIN).unwrap(), slow.segment(&text, PLAIN).unwrap());
        }
    }

    #[test]
    fn chance_depends_on_the_seed_and_the_number_of_the_line_alone() {
        let segmenter = segmenter("#version: 0.2\na b\nab a\naba b</w>\n", &[]);
        let options = |seed, first_line| SegmentOptions {
            dropout: Some(Dropout { probability: 0.5, seed }),
            first_line,
            ..PLAIN
        };
        let line = "abab abab abab abab abab abab abab abab\n";
        let cut = |text: &str, seed, first| segmenter.segment(text, options(seed, first)).unwrap();
        let both = cut(&line.repeat(2), 1, 0);
        assert_eq!(both, format!("{}{}", cut(line, 1, 0), cut(line, 1, 1)));
        assert_ne!(cut(line, 1, 0), cut(line, 1, 1));
        assert_ne!(cut(line, 1, 0), cut(line, 2, 0));
        let dropout = Some(Dropout { probability: 0.5, seed: 1 });
        let first = segmenter.parts_of_word("abab", dropout, (1, 0)).unwrap().join("@@ ");
        assert!(cut(line, 1, 1).starts_with(&first));
    }
}
