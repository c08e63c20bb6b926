//! A compiled tokenizer: the same as a `.bytepair` file, for programs that start often.
//!
//! It holds the head of a `.bytepair` file, which says all but tokens and merges, and these as tables that are
//! read without being parsed. If possible, merges are the table that encoders use, as it is in memory, and their list is
//! made from it at first use. Otherwise (merges with priorities, very large vocabularies) they are the list. What can be
//! built quickly (the automaton of the split pattern, the look-up of tokens by content) is not stored. Most of the time
//! goes into memory that is touched for the first time, so the file is read block by block into its final form. Left out:
//! any promise that another version of this library can read it; keep a `.bytepair` or a `tokenizer.json` as the original.
//!
//! The file, all numbers little-endian: 8 bytes [`MAGIC`]; `u32` version; `u32` zero; `u64` checksum of the table of
//! sections; that table, for each section a `u64` length and a `u64` checksum; the sections. A file with a
//! changed bit is an error, never other ids.

mod checksum;
mod read;
mod sections;
mod write;

pub use read::{read, read_from};
pub use write::write;

/// The name of the format in messages.
const FORMAT: &str = "a compiled tokenizer";

/// What every file begins with: no text, and nothing that survives a change of line ends.
const MAGIC: [u8; 8] = *b"\x8Fbpc\r\n\x1A\n";

/// The version that is written and read.
const VERSION: u32 = 3;

/// Where the table of sections begins.
const TABLE_AT: usize = 24;

/// The head; lengths and kinds of tokens; their bytes; the list of merges, and their priorities, if any are not their
/// places; or what the slots of their table mean, and these; how often each occurred.
const N_SECTIONS: usize = 8;

/// Where the sections begin.
const SECTIONS_AT: usize = TABLE_AT + 16 * N_SECTIONS;

/// Says that a slot holds the rank of a merge instead of the bits for merges that make the same token.
const BY_RANK: u32 = u32::MAX;

/// Bits of the kind in the length of a token.
const KIND_BITS: u32 = 3;

/// Whether a file begins as one of these.
pub fn is_compiled(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests;
