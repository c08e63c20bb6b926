//! A compiled tokenizer: the same as a `.bytepair` file, for programs that start often.
//!
//! It holds the head of a `.bytepair` file, which says all but tokens and merges, and these as tables that are
//! read without being parsed. What can be built quickly from them (hash tables, the automaton of the split
//! pattern) is not stored. A gpt-oss-size vocabulary of 200,000 tokens and 446,189 merges loads in 15
//! to 30 ms. Left out: any promise that another version of this library can read it; keep a `.bytepair` or a
//! `tokenizer.json` as the original.
//!
//! The file, all numbers little-endian: 8 bytes [`MAGIC`]; `u32` version; `u32` zero; `u64` checksum of all
//! that follows; a `u64` length for each section; the sections. A file of which a bit was changed is an
//! error, never other ids.

mod checksum;
mod read;
mod write;

pub use read::read;
pub use write::write;

/// The name of the format in messages.
const FORMAT: &str = "a compiled tokenizer";

/// What every file begins with: no text, and nothing that survives a change of line ends.
const MAGIC: [u8; 8] = *b"\x8Fbpc\r\n\x1A\n";

/// The version that is written and read.
const VERSION: u32 = 1;

/// Where the checksum stands, and where what it covers begins.
const CHECKSUM_AT: usize = 16;
const COVERED_FROM: usize = 24;

/// Where the sections begin.
const SECTIONS_AT: usize = COVERED_FROM + 8 * N_SECTIONS;

/// The head; kinds of tokens; their lengths; their bytes; the merges; their priorities, if any
/// are not their places; how often each occurred.
const N_SECTIONS: usize = 7;

/// Whether a file begins as one of these.
pub fn is_compiled(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests;
