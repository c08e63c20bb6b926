//! `tokenizer.json` of Hugging Face tokenizers, version 0.23: read and written with the same ids.
//!
//! Each part of the file has a module with what stands there, how it is read and how it is written: `normalizer`,
//! `pre_tokenizer`, `model`, `decoder` and `post_processor`. `read` and `write` put the parts together. Reading takes the
//! tokens of the model and the added ones to a `vocabulary`; writing names them, spells out what only
//! `sentencepiece` has, and reads the file again. Both refuse what the other side has no equal part for, by name.
//!
//! The special tokens of a file always count there; here a call must allow them (`allowed_special=all`), and template,
//! truncation and padding are only applied on request (`add_special_tokens`).
//!
//! Left out: replacements of what a pattern with backtracking matches, files in which two tokens have one id.

mod decoder;
mod model;
mod normalizer;
mod placed_value;
mod post_processor;
mod pre_tokenizer;
mod read;
mod sentencepiece;
mod vocabulary;
mod write;

pub use self::decoder::text_of_written;
pub(crate) use self::post_processor::template_value;
pub use self::read::read;
pub(crate) use self::vocabulary::Added;
pub use self::write::{write, write_with_changes};

/// The name of the format in messages.
const FORMAT: &str = "tokenizer.json";

/// The pattern of a `ByteLevel` pre-tokenizer with `use_regex`, for Oniguruma.
pub(super) const BYTE_LEVEL_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Stands in front of every character that is no white space: the end of a word of `\S+`.
const END_OF_WORD: &str = r"(?<=\S)(?!\S)";

/// The pattern whose pieces end there.
const WORD: &str = r"\S+";

/// What the mark of a word becomes where it stands in a text; no character.
const RESERVED: &str = "\u{FFFF}";

/// The decoder pattern that finds a prefix at the beginning of a token.
fn prefix_pattern(prefix: &str) -> String {
    format!(r"\A{}", escaped(prefix))
}

/// The decoder pattern that finds a token of this name, and nothing else.
fn name_pattern(name: &str) -> String {
    format!(r"\A{}\z", escaped(name))
}

fn escaped(text: &str) -> String {
    let characters = text.chars().flat_map(|character| {
        let is_plain = character.is_alphanumeric() || !character.is_ascii();
        (!is_plain).then_some('\\').into_iter().chain([character])
    });
    characters.collect()
}
