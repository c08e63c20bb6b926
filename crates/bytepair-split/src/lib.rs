//! Splits text into pieces; no merge of a byte-pair tokenizer crosses the boundary of a piece.
//!
//! A [`Splitter`] is a row of [`Stage`]s. The first splits the text with its pattern; each later one splits every piece
//! of the stage before it. A pattern that looks at most one symbol ahead runs as an automaton over character classes.
//! Any other pattern runs by backtracking. A splitter never changes text, and knows nothing of tokens.
//!
//! Bytes that are not UTF-8 are allowed: each is one symbol of no class, which only negated classes and the dot match.
//!
//! Cost: a few CPU cycles per byte, and a few bits of memory per byte of a block, whatever the length of the text. A
//! block has about 32 KiB, or is the longest piece of the first stage.
//!
//! ```
//! use bytepair_split::{Splitter, named, unicode::UnicodeTables};
//!
//! let stages = named("gpt2").ok_or("not a name")?;
//! let splitter = Splitter::new(stages, &UnicodeTables::latest())?;
//! assert_eq!(splitter.pieces(b"two words")?, [&b"two"[..], b" words"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod automaton;
mod bits;
mod boundaries;
mod engine;
mod error;
mod parser;
mod program;
#[cfg(test)]
mod shared_tests;
mod splitter;
mod stage;
mod stages;
mod symbol;
mod translate;
pub mod unicode;
#[cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(unused, reason = "a processor without vectors has no windows")
)]
mod windows;

pub use self::boundaries::Boundaries;
pub use self::engine::one_character_runs::Repeat;
pub use self::error::{Error, ErrorKind, Result};
pub use self::parser::cutters::UNICODE_SCRIPTS;
pub use self::splitter::{Cut, OpenPiece, Splitter};
pub use self::stage::{Behaviour, Flavour, Pattern, Stage, Unmatched, escaped};
pub use self::stages::named::{each_begins, first_begins, named, names};
pub use self::translate::{cuts_alike, translated};
#[doc(hidden)]
pub use self::windows::{instructions, limit_instructions};

/// Whether thresholds are small, so that the short inputs of unit tests lie on both sides of them. Unit tests that are
/// compiled with `BYTEPAIR_THRESHOLDS` set use the thresholds of production.
const SMALL: bool = cfg!(test) && option_env!("BYTEPAIR_THRESHOLDS").is_none();

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
