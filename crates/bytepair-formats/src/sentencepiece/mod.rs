//! SentencePiece's `.model` files of the type BPE.
//!
//! A tokenizer that is read gives the ids, pieces, spans and text that `sentencepiece` gives with its
//! defaults. Text may be any bytes: those that are no UTF-8 become U+FFFD. SentencePiece never finds control
//! symbols (`<s>`) and the unknown token in a text, so they are special tokens, which a call has to allow; it puts none
//! around a text unless asked, so the template is empty. User-defined symbols are always found, in the normalized
//! text, and merge with nothing. Pieces merge by score (`merges`); where no piece has a space after something else, the text is
//! cut before spaces first, which changes nothing and is quicker.
//!
//! Refused by name: models of other types, a denormalizer, pieces that are switched off (`UNUSED`) and of
//! more than one character, pieces made of characters that are no pieces. The self-test in a file is not run.

mod as_map;
pub(crate) mod merges;
mod model;
mod read;
#[cfg(test)]
mod tests;
mod trained;
mod wire;
mod write;

pub use read::{read, roles};
pub use write::{write, write_with_changes};

/// The name of the format in messages.
const FORMAT: &str = "SentencePiece model";
