//! The vocabularies in llama.cpp's `.gguf` files, read only.
//!
//! Two kinds: `gpt2`, bytes with merges, whose split pattern has a name (`tokenizer.ggml.pre`), and
//! `llama`, SentencePiece's merging by score. `pre_tokenizers` has the names; for one that it lacks the caller
//! can give the pattern. The other kinds (WordPiece, Unigram, RWKV, PLaMo) are refused by name. Nothing after
//! the key-value pairs is read.
//!
//! Where llama.cpp differs from the publisher's library, this follows the publisher:
//!
//! - Patterns are the publishers'; llama.cpp runs approximations of some (its own character classes, no
//!   possessive repetition).
//! - Of several special tokens that overlap in a text the leftmost is found; llama.cpp looks for the longest
//!   one in the whole text first.
//! - A pair has the rank of its merge; llama.cpp takes neighbours whose texts joined are equal, so that bytes
//!   without a token vanish.
//!
//! It follows llama.cpp where only that defines the meaning: a `llama` vocabulary has no normalizer but
//! `▁` for spaces, with one put before each stretch of text between special tokens (`add_space_prefix`).
//! Special tokens are found where a call allows them (`parse_special`); user-defined ones always.

mod metadata;
mod pre_tokenizers;
mod read;
#[cfg(test)]
mod tests;

pub use read::{read, read_split};

/// The name of the format in messages.
const FORMAT: &str = "GGUF";
