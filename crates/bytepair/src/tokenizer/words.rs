//! Texts that are given as words.
//!
//! Each word is encoded as a text of its own: normalized, prefixed and split by itself. The ids of all words then form one
//! text, which is truncated, templated and padded like any other; each id has the number of its word, and spans are counted
//! from the beginning of the word. Costs what the words cost.

use super::call::Call;
use super::{EncodeOptions, Tokenizer};
use crate::batch;
use crate::encoding::{Encoding, Row};
use crate::error::Result;
use crate::template::OffsetRules;

/// The words of a text, and those of a second one.
pub type WordsOrPair<'t> = (&'t [&'t [u8]], Option<&'t [&'t [u8]]>);

impl Tokenizer {
    /// Many texts in words, or pairs of them, with all that is known of each id.
    ///
    /// Spans are counted in characters if `in_characters`, else in bytes.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_full`]; the error says which text.
    pub fn encode_words_batch(
        &self,
        texts: &[WordsOrPair<'_>],
        in_characters: bool,
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<Encoding>> {
        let call = self.call(options)?;
        let n_bytes = |words: &[&[u8]]| words.iter().map(|word| word.len()).sum::<usize>();
        let lens: Vec<_> =
            texts.iter().map(|(words, pair)| n_bytes(words) + pair.map_or(0, n_bytes)).collect();
        let encodings = batch::map(&lens, &mut vec![(); n_threads], false, |index, _| {
            let (words, pair) = texts[index];
            let first = call.trace_words(words, in_characters)?;
            let second = pair.map(|pair| call.trace_words(pair, in_characters)).transpose()?;
            let second = second.map(|row| (row, &[][..]));
            call.assembled((first, &[]), second, OffsetRules::default())
        })?;
        Ok(call.filled_up(encodings))
    }
}

impl Call<'_> {
    fn trace_words(&self, words: &[&[u8]], in_characters: bool) -> Result<Row> {
        let rules = self.tokenizer.parts.offsets;
        let mut row = Row::default();
        for (index, word) in words.iter().enumerate() {
            let found =
                self.trace(word, index as u64)?.into_encoding((word, 0), rules, usize::MAX, None);
            row.push_word(found, word, in_characters);
        }
        Ok(row)
    }
}
