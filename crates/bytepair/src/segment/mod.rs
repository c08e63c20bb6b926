//! Text to text with its words cut apart, as subword-nmt and fastBPE write it: `lo@@ w`.
//!
//! Each line keeps the spaces around it; words are what stands between spaces, and runs of spaces become one.
//! A word is merged by [`Codes`]; with a vocabulary, parts that it lacks are taken apart again (`limit`). A
//! separator stands behind every part but the last. Left out: glossaries, which are words of the caller, and
//! ids, which a [`Tokenizer`](crate::Tokenizer) of the same codes gives.
//!
//! Codes in which every merge builds on earlier ones are executed by the encoder, in O(n log n) for a word of
//! n characters; others by `rounds`, in O(n) for each merge of the word.

mod limit;
mod rounds;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::encode::{Encoder, Scratch};
use crate::error::Result;
use crate::format::codes::{Codes, END_OF_WORD};
use crate::units::Units;
use crate::vocabulary::{TokenId, Vocabulary};
use limit::Limit;
use rounds::Rounds;

/// Cuts words into parts.
///
/// ```
/// use bytepair::{format::subword_nmt, segment::Segmenter};
///
/// let codes = subword_nmt::read(b"#version: 0.2\nl o\nlo w</w>\n", None)?;
/// let segmenter = Segmenter::new(&codes, "@@", &[])?;
/// assert_eq!(segmenter.segment(" low  lower\n")?, " low lo@@ w@@ e@@ r\n");
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
pub struct Segmenter {
    units: Units,
    vocabulary: Arc<Vocabulary>,
    merger: Merger,
    separator: String,
    limit: Option<Limit>,
}

/// How the symbols of a word are joined.
#[derive(Debug)]
enum Merger {
    Encoder(Box<Encoder>),
    Rounds(Rounds),
}

impl Segmenter {
    /// A segmenter by these codes. Without `allowed` tokens, separators included, all are allowed.
    ///
    /// # Errors
    /// Where there are more symbols than ids.
    pub fn new(codes: &Codes, separator: &str, allowed: &[String]) -> Result<Self> {
        let (units, vocabulary) = (codes.units(), Arc::new(codes.vocabulary()?));
        let merger = match codes.first_disordered() {
            None => Merger::Encoder(Box::new(Encoder::new(Arc::clone(&vocabulary), &units, false))),
            Some(_) => Merger::Rounds(Rounds::new(&codes.merges)),
        };
        let allowed: HashSet<String> = allowed.iter().cloned().collect();
        let limit = (!allowed.is_empty()).then(|| Limit::new(codes, allowed, separator));
        Ok(Self { units, vocabulary, merger, separator: separator.to_owned(), limit })
    }

    /// A text of any number of lines with its words cut apart.
    pub fn segment(&self, text: &str) -> Result<String> {
        let mut words =
            Words { segmenter: self, known: HashMap::new(), scratch: Scratch::default() };
        let mut out = String::with_capacity(text.len() * 3 / 2);
        for line in text.split_inclusive('\n') {
            words.push_line(line, &mut out)?;
        }
        Ok(out)
    }

    /// The parts of one word, without separators.
    pub fn parts_of_word(&self, word: &str) -> Result<Vec<String>> {
        self.parts(word, &mut Scratch::default())
    }

    fn parts(&self, word: &str, scratch: &mut Scratch) -> Result<Vec<String>> {
        if word.chars().nth(1).is_none() {
            return Ok(vec![word.to_owned()]);
        }
        let mut parts = match &self.merger {
            Merger::Encoder(encoder) => self.encoded(encoder, word, scratch)?,
            Merger::Rounds(rounds) => rounds.merge(self.symbols(word)?),
        };
        if let Some(last) = parts.pop() {
            let last = last.strip_suffix(END_OF_WORD).unwrap_or(&last);
            parts.extend((!last.is_empty()).then(|| last.to_owned()));
        }
        Ok(self.limit.as_ref().map_or_else(|| parts.clone(), |limit| limit.apply(&parts)))
    }

    fn symbols(&self, word: &str) -> Result<Vec<String>> {
        let mut symbols = Vec::new();
        self.units.for_each_symbol(word.as_bytes(), |symbol| {
            symbols.push(String::from_utf8_lossy(&self.units.written(symbol)).into_owned());
        })?;
        Ok(symbols)
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
        Ok(ids.into_iter().map(written).collect())
    }
}

/// The words of one text.
struct Words<'w> {
    segmenter: &'w Segmenter,
    /// Words that were cut already, with their separators.
    known: HashMap<&'w str, String>,
    scratch: Scratch,
}

impl<'w> Words<'w> {
    fn push_line(&mut self, line: &'w str, out: &mut String) -> Result<()> {
        let blank = ['\r', '\n', ' '];
        let content = line.trim_matches(blank);
        if content.is_empty() {
            out.push_str(line);
            return Ok(());
        }
        out.push_str(&line[..line.len() - line.trim_start_matches(blank).len()]);
        let mut space = "";
        for word in content.split(' ').filter(|word| !word.is_empty()) {
            out.push_str(space);
            self.push_word(word, out)?;
            space = " ";
        }
        out.push_str(&line[line.trim_end_matches(blank).len()..]);
        Ok(())
    }

    fn push_word(&mut self, word: &'w str, out: &mut String) -> Result<()> {
        if let Some(cut) = self.known.get(word) {
            out.push_str(cut);
            return Ok(());
        }
        let parts = self.segmenter.parts(word, &mut self.scratch)?;
        let cut = parts.join(&format!("{} ", self.segmenter.separator));
        out.push_str(&cut);
        self.known.insert(word, cut);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::subword_nmt;
    use proptest::prelude::*;

    fn segmenter(codes: &str, allowed: &[&str]) -> Segmenter {
        let codes = subword_nmt::read(codes.as_bytes(), None).unwrap();
        let allowed: Vec<String> = allowed.iter().map(|&token| token.to_owned()).collect();
        Segmenter::new(&codes, "@@", &allowed).unwrap()
    }

    #[test]
    fn spaces_around_a_line_stay_and_those_inside_become_one() {
        let segmenter = segmenter("#version: 0.2\na b\n", &[]);
        let cut = segmenter.segment("  ab  c \r\n\n \nx").unwrap();
        assert_eq!(cut, "  a@@ b c \r\n\n \nx");
    }

    #[test]
    fn the_first_version_marks_the_end_with_a_symbol() {
        let old = segmenter("a b\nab </w>\n", &[]);
        assert_eq!(old.segment("ab abc").unwrap(), "ab ab@@ c");
        let new = segmenter("#version: 0.2\na b\na b</w>\n", &[]);
        assert_eq!(new.segment("ab abc").unwrap(), "ab ab@@ c");
    }

    #[test]
    fn parts_that_are_not_allowed_are_taken_apart() {
        let codes = "#version: 0.2\nl o\ne r</w>\nlo w\nlow er</w>\n";
        assert_eq!(segmenter(codes, &["lower"]).segment("lower").unwrap(), "lower");
        assert_eq!(segmenter(codes, &["low@@", "er"]).segment("lower").unwrap(), "low@@ er");
        assert_eq!(segmenter(codes, &["lo@@"]).segment("lower").unwrap(), "lo@@ w@@ e@@ r");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
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
            prop_assert!(matches!(fast.merger, Merger::Encoder(_)));
            let codes = subword_nmt::read(codes.as_bytes(), None).unwrap();
            let merger = Merger::Rounds(Rounds::new(&codes.merges));
            let slow = Segmenter { merger, ..segmenter("#version: 0.2\n", &[]) };
            prop_assert_eq!(fast.segment(&text).unwrap(), slow.segment(&text).unwrap());
        }
    }
}
