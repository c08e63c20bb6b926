//! Offsets in bytes to offsets in characters.
//!
//! A byte that continues no character begins one, so texts that are not UTF-8 have characters too. A span that
//! begins or ends inside a character takes in all of it. Takes one pass over the text, and a count of at most
//! [`STEP`] bytes for each offset.

use super::Encoding;

/// Characters are counted up to every so many bytes.
const STEP: usize = 64;

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

/// The number of characters before each place of a text.
struct Characters<'t> {
    text: &'t [u8],
    /// By multiple of [`STEP`]; empty where each byte is a character.
    counts: Vec<usize>,
}

impl<'t> Characters<'t> {
    fn new(text: &'t [u8]) -> Self {
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

    /// The characters of a span; one of nothing stays so.
    fn span(&self, (start, end): (usize, usize)) -> (usize, usize) {
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

    /// The place among the characters of the one that a byte is part of.
    fn begun_at(&self, offset: usize) -> usize {
        let is_inside = self.text.get(offset).is_some_and(|&byte| is_continuation(byte));
        self.begun_before(offset).saturating_sub(usize::from(is_inside))
    }
}

fn count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| !is_continuation(byte)).count()
}

/// Whether a byte continues a character of UTF-8.
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
