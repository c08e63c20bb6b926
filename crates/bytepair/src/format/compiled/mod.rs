//! A compiled tokenizer: the same as a `.bytepair` file, for programs that start often.
//!
//! It holds the head of a `.bytepair` file, which says all but tokens and merges, and these as tables that are
//! read without being parsed. What can be built quickly from them (hash tables, the automaton of the split
//! pattern) is not stored. What takes the time is memory that is touched for the first time, so it is read block by
//! block into what it becomes. Left out: any promise that another version of this library can read it; keep a
//! `.bytepair` or a `tokenizer.json` as the original.
//!
//! The file, all numbers little-endian: 8 bytes [`MAGIC`]; `u32` version; `u32` zero; `u64` checksum of the table of
//! sections; that table, for each section a `u64` length and a `u64` checksum; the sections. A file of which a bit
//! was changed is an error, never other ids.

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
const VERSION: u32 = 2;

/// Where the table of sections begins.
const TABLE_AT: usize = 24;

/// The head; lengths and kinds of tokens; their bytes; the merges; their priorities, if any are not their places;
/// how often each occurred.
const N_SECTIONS: usize = 6;

/// Where the sections begin.
const SECTIONS_AT: usize = TABLE_AT + 16 * N_SECTIONS;

/// Bits of the kind in the length of a token.
const KIND_BITS: u32 = 3;

/// Whether a file begins as one of these.
pub fn is_compiled(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests;
