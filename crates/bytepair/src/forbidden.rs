//! Texts that no learned token may have: those in which a pattern matches, and those of several scripts.
//!
//! A pattern matches anywhere in a text, over at least one character. Scripts are those of the Unicode property; Han,
//! Hiragana and Katakana count as one, and characters that several scripts share as none.
//!
//! Takes a search for each pattern, and two look-ups in a table of ranges for each character.

use std::ops::RangeInclusive;

use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Pattern, Splitter, Stage, Unmatched};

use crate::error::Result;

/// Patterns, and whether several scripts are forbidden.
#[derive(Debug)]
pub struct Forbidden {
    /// Splitters whose pieces are the matches of one pattern.
    patterns: Vec<Splitter>,
    scripts: Option<Scripts>,
}

impl Forbidden {
    /// Texts in which one of these patterns matches and, if `one_script`, those of several scripts.
    ///
    /// ```
    /// use bytepair::Forbidden;
    /// use bytepair::split::{Flavour, Pattern};
    ///
    /// let pattern = Pattern { source: ": ".to_owned(), flavour: Flavour::Rust };
    /// let forbidden = Forbidden::new(&[pattern], true)?;
    /// assert!(forbidden.has(b"a: b")? && forbidden.has("aя".as_bytes())?);
    /// assert!(!forbidden.has(b"a:b 1")?);
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a pattern is not valid.
    pub fn new(patterns: &[Pattern], one_script: bool) -> Result<Self> {
        let unicode = UnicodeTables::latest();
        let stage = |pattern: &Pattern| Stage::matches(pattern.clone(), Unmatched::Drop);
        let patterns = patterns.iter().map(|pattern| {
            Splitter::new(vec![stage(pattern)], &unicode).map_err(crate::error::Error::from)
        });
        let scripts = one_script.then(|| Scripts::new(&unicode));
        Ok(Self { patterns: patterns.collect::<Result<_>>()?, scripts })
    }

    /// Whether a text is one of these.
    ///
    /// # Errors
    /// If a pattern takes too many steps.
    pub fn has(&self, text: &[u8]) -> Result<bool> {
        for pattern in &self.patterns {
            if !pattern.pieces(text)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(self.scripts.as_ref().is_some_and(|scripts| scripts.has_several(text)))
    }
}

/// The scripts of characters.
#[derive(Debug)]
struct Scripts(Vec<(RangeInclusive<char>, &'static str)>);

/// Scripts that are written together, the first of which stands for all.
const TOGETHER: [&str; 3] = ["Han", "Hiragana", "Katakana"];
/// Scripts of characters that belong to none in particular.
const SHARED: [&str; 2] = ["Common", "Inherited"];

impl Scripts {
    fn new(unicode: &UnicodeTables) -> Self {
        let scripts = unicode.scripts().into_iter();
        let scripts = scripts.filter(|(name, _)| !SHARED.contains(name));
        let mut ranges: Vec<_> = scripts
            .flat_map(|(name, ranges)| {
                let name = if TOGETHER.contains(&name) { TOGETHER[0] } else { name };
                ranges.into_iter().map(move |range| (range, name))
            })
            .collect();
        ranges.sort_unstable_by_key(|(range, _)| *range.start());
        Self(ranges)
    }

    fn of(&self, character: char) -> Option<&'static str> {
        let place = self.0.partition_point(|(range, _)| *range.end() < character);
        let found = self.0.get(place).filter(|(range, _)| range.contains(&character));
        found.map(|&(_, name)| name)
    }

    /// Whether characters of several scripts are in a text. Parts of characters have no script.
    fn has_several(&self, text: &[u8]) -> bool {
        let characters = text.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
        let mut scripts = characters.filter_map(|character| self.of(character));
        let first = scripts.next();
        scripts.any(|script| Some(script) != first)
    }
}
