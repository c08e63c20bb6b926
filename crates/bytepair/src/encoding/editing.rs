//! Changes to finished encodings: truncating, joining, setting the index of their text, or converting offsets to
//! characters.
//!
//! The rules are those of the library that reads `tokenizer.json`. Each change is linear in the length of the
//! encoding. A byte that does not continue a character begins one, so texts that are not UTF-8 have characters too. A
//! span that begins or ends inside a character is extended to the whole character. Offsets in characters take one pass
//! over the text, and a count of at most [`STEP`] bytes for each offset.

use std::ops::Range;

use super::{Encoding, check_windows, n_windows, windows};
use crate::error::{Error, Result};
use crate::template::{Padding, Truncation};

/// The number of characters is stored for every multiple of this many bytes.
const STEP: usize = 64;

impl Encoding {
    /// Cuts this to at most `max_length` ids. The rest becomes its overflowing parts; earlier ones are dropped.
    ///
    /// # Errors
    /// If neighbouring parts would have to share all their ids, or so many that they take too much memory.
    pub fn truncate(&mut self, truncation: &Truncation) -> Result<()> {
        let Truncation { max_length, stride, .. } = *truncation;
        if self.ids.len() <= max_length {
            return Ok(());
        }
        if max_length == 0 {
            let rest = std::mem::take(self);
            self.overflowing.push(rest);
            return Ok(());
        }
        if stride >= max_length {
            let problem =
                format!("stride is {stride}, which is not below max_length, {max_length}");
            return Err(Error::option("truncation", problem));
        }
        let n_ids = self.ids.len();
        check_windows(n_windows(n_ids, max_length, truncation), max_length, n_ids)?;
        let parts = windows(n_ids, max_length, truncation);
        let mut parts = parts.into_iter().map(|range| self.slice(range));
        let mut first = parts.next().unwrap_or_default();
        first.overflowing = parts.collect();
        *self = first;
        Ok(())
    }

    /// Pads this to `padding.length` and its multiple. The padding is shown as `padding.token`.
    pub fn fill_up(&mut self, padding: &Padding) {
        let len = padding.len(self.ids.len());
        self.pad(padding, Some(&padding.token), len);
    }

    /// Sets the index of the text that all ids belong to.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence_ids.fill(Some(sequence));
        self.overflowing.iter_mut().for_each(|part| part.set_sequence(sequence));
    }

    /// Joins encodings. With `growing_offsets`, the spans of each continue after those of the previous one.
    ///
    /// # Errors
    /// If combining each overflowing part with each of the others takes too much memory.
    pub fn merged(
        encodings: impl IntoIterator<Item = Self>,
        growing_offsets: bool,
    ) -> Result<Self> {
        let mut encodings = encodings.into_iter();
        let mut merged = encodings.next().unwrap_or_default();
        for mut next in encodings {
            if growing_offsets {
                next.move_offsets(merged.offsets.last().map_or(0, |span| span.1));
            }
            let n_parts = (merged.overflowing.len() + 1).saturating_mul(next.overflowing.len() + 1);
            check_windows(
                n_parts,
                merged.longest() + next.longest(),
                merged.n_ids() + next.n_ids(),
            )?;
            merged.join(&next);
        }
        Ok(merged)
    }

    /// The number of ids of this encoding and all its overflowing parts.
    fn n_ids(&self) -> usize {
        self.ids.len() + self.overflowing.iter().map(|part| part.ids.len()).sum::<usize>()
    }

    /// The length of the longest of these.
    fn longest(&self) -> usize {
        let lens = self.overflowing.iter().map(|part| part.ids.len());
        lens.fold(self.ids.len(), usize::max)
    }

    fn move_offsets(&mut self, by: usize) {
        for span in &mut self.offsets {
            *span = (span.0 + by, span.1 + by);
        }
        self.overflowing.iter_mut().for_each(|part| part.move_offsets(by));
    }

    fn slice(&self, range: Range<usize>) -> Self {
        let within = |(index, _): &&(usize, String)| range.contains(index);
        let moved = |(index, found): &(usize, String)| (index - range.start, found.clone());
        Self {
            ids: self.ids[range.clone()].to_vec(),
            type_ids: self.type_ids[range.clone()].to_vec(),
            offsets: self.offsets[range.clone()].to_vec(),
            special_tokens_mask: self.special_tokens_mask[range.clone()].to_vec(),
            attention_mask: self.attention_mask[range.clone()].to_vec(),
            word_ids: self.word_ids[range.clone()].to_vec(),
            sequence_ids: self.sequence_ids[range.clone()].to_vec(),
            found_as: self.found_as.iter().filter(within).map(moved).collect(),
            overflowing: Vec::new(),
        }
    }
}

impl Encoding {
    /// Counts offsets in characters of the text, or of the two, instead of bytes.
    pub fn to_characters(&mut self, text: &[u8], pair: Option<&[u8]>) {
        let tables = [Characters::new(text), Characters::new(pair.unwrap_or_default())];
        self.convert(&tables);
    }

    fn convert(&mut self, tables: &[Characters<'_>; 2]) {
        self.overflowing.iter_mut().for_each(|part| part.convert(tables));
        for (offsets, sequence) in self.offsets.iter_mut().zip(&self.sequence_ids) {
            let Some(table) = sequence.and_then(|which| tables.get(usize::from(which))) else {
                continue;
            };
            *offsets = table.span(*offsets);
        }
    }
}

/// The number of characters before each place in a text.
pub(crate) struct Characters<'t> {
    text: &'t [u8],
    /// By multiple of [`STEP`]; empty if each byte is a character.
    counts: Vec<usize>,
}

impl<'t> Characters<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        if text.is_ascii() {
            return Self { text, counts: Vec::new() };
        }
        let mut n_characters = 0;
        let counts = text.chunks(STEP).map(|chunk| {
            let before = n_characters;
            n_characters += count(chunk);
            before
        });
        Self { text, counts: counts.collect() }
    }

    /// The span in characters; an empty one stays empty.
    pub(crate) fn span(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let last = self.begun_before(end);
        (if start == end { last } else { self.begun_at(start) }, last)
    }

    /// The number of characters that begin before a place.
    fn begun_before(&self, offset: usize) -> usize {
        if self.counts.is_empty() {
            return offset;
        }
        let step = (offset / STEP).min(self.counts.len() - 1);
        self.counts[step] + count(&self.text[step * STEP..offset])
    }

    /// The index of the character that contains a byte.
    fn begun_at(&self, offset: usize) -> usize {
        let is_inside = self.text.get(offset).is_some_and(|&byte| is_continuation(byte));
        self.begun_before(offset).saturating_sub(usize::from(is_inside))
    }
}

fn count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| !is_continuation(byte)).count()
}

/// Whether a byte is a continuation byte of UTF-8.
pub(super) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_span_of_nothing_within_a_character_is_of_nothing() {
        let table = Characters::new("aé".as_bytes());
        assert_eq!((table.span((2, 2)), table.span((2, 3))), ((2, 2), (1, 2)));
    }

    proptest! {
        #[test]
        fn characters_are_those_of_the_text(text in "[aé日🇺]{0,200}") {
            let table = Characters::new(text.as_bytes());
            for (index, (start, character)) in text.char_indices().enumerate() {
                for offset in start..start + character.len_utf8() {
                    prop_assert_eq!(table.begun_at(offset), index);
                    prop_assert_eq!(table.begun_before(offset + 1), index + 1);
                }
            }
            prop_assert_eq!(table.begun_at(text.len()), text.chars().count());
        }
    }
}
