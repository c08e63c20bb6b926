//! Short pieces as keys, for the tables that count and remember them.
//!
//! `key` is a short piece as a number, `starts` are the starts of the pieces of a block, and `row` looks up eight pieces
//! at once where the processor has the instructions; `vectors` are how these read and write memory.

pub(crate) mod key;
#[cfg(target_arch = "x86_64")]
pub(crate) mod row;
pub(crate) mod starts;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors;
