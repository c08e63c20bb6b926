//! The tokens with which pieces begin if merges only join whole words: words that are one token each, and other text.
//!
//! A word is a piece of the tokenizer with a letter. The text of such a token may also stand within longer words; there,
//! training does not count it. A piece takes as long as encoding it.

use std::sync::Arc;

use bytepair_split::{Flavour, Pattern};

use super::Tokenizer;
use crate::encode::{Encoder, Scratch};
use crate::error::{Error, Result};
use crate::forbidden::Forbidden;
use crate::parallel::Pool;
use crate::train::{Begin, Function};
use crate::vocabulary::TokenId;

impl Tokenizer {
    /// A function that divides pieces of another pattern into words of this tokenizer, to learn tokens of several words.
    ///
    /// # Errors
    /// If the tokenizer normalizes text between stages of splitting.
    pub fn whole_words(&self) -> Result<Function<Begin>> {
        let parts = &self.parts;
        let splitter = parts.pre_tokenizer.only_splitter().ok_or_else(|| {
            Error::option("whole_words", "the tokenizer changes text between stages of splitting")
        })?;
        let encoder =
            Encoder::new(Arc::clone(&parts.vocabulary), &parts.units, parts.ignore_merges);
        let letter = Pattern { source: r"\p{L}".to_owned(), flavour: Flavour::Rust };
        let letters = Forbidden::new(&[letter], false)?;
        let mut is_word = vec![false; parts.vocabulary.len()];
        for (id, token) in parts.vocabulary.iter() {
            is_word[id as usize] = letters.has(token.bytes)?;
        }
        let pool = Pool::new(Scratch::default);
        let begin = move |piece: &[u8]| {
            let (mut tokens, mut ids) = (Vec::new(), Vec::new());
            splitter.for_each_piece(piece, |range| -> Result<()> {
                ids.clear();
                pool.with(|scratch| encoder.encode(&piece[range], scratch, &mut ids))?;
                let is_whole = ids.len() == 1;
                let word = |&id: &TokenId| (is_whole && is_word[id as usize]).then_some(id);
                tokens.extend(ids.iter().map(word));
                Ok(())
            })?;
            Ok(tokens)
        };
        Ok(Function(Arc::new(begin)))
    }
}
