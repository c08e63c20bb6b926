//! Functions that only `bytepair-formats` needs. They may change in any version, so that crate depends on exactly one
//! (`=`).
//!
//! A file may hold a vocabulary as tables, or identify a token by its kind. Rust programs that read and write files
//! should use `bytepair-formats` instead.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Result;
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::Units;
use crate::vocabulary::{Merge, TokenKind, Vocabulary};

pub use crate::decode::chain::{byte_of, matches_of};
pub use crate::describe::normalize_step;
pub use crate::encode::{Encoder, Scratch};
pub use crate::memory::huge_pages::HugePageRow;
pub use crate::memory::{ask, read_claimed};
pub use crate::segment::{hexadecimal, quoted};
pub use crate::vocabulary::Entries;
pub use crate::vocabulary::merge_table::{Description, PackedMerges};

/// A tokenizer for inspection and decoding: what encoding needs is made only when the first text comes.
///
/// # Errors
/// As for [`Tokenizer::new`].
pub fn unprepared(parts: Parts) -> Result<Tokenizer> {
    Tokenizer::unprepared(parts)
}

/// The piece with the name of a token in a published file, if there is one.
pub fn text_of_name<'n>(units: &Units, name: &'n str) -> Option<Cow<'n, [u8]>> {
    units.text_of_name(name)
}

/// The merger of the pieces of a tokenizer. It is made at first use.
pub fn encoder(tokenizer: &Tokenizer) -> &Encoder {
    tokenizer.encoder()
}

/// A vocabulary of tokens with all their bytes concatenated; `None` if the lengths of the tokens do not add up to
/// these.
pub fn vocabulary_of(entries: Entries, bytes: Vec<u8>) -> Option<Vocabulary> {
    Vocabulary::of_entries(entries, bytes)
}

/// An empty vocabulary with room for this many tokens, for all their bytes, and for this many merges.
pub fn vocabulary_with_room(n_tokens: usize, n_bytes: usize, n_merges: usize) -> Vocabulary {
    Vocabulary::with_capacity(n_tokens, n_bytes, n_merges)
}

/// Replaces the merges of a vocabulary by these.
pub fn set_merges(vocabulary: &mut Vocabulary, merges: Vec<Merge>) {
    vocabulary.set_merges(merges);
}

/// Replaces the merges of a vocabulary by those of a table.
pub fn set_merge_table(vocabulary: &mut Vocabulary, table: PackedMerges) {
    vocabulary.set_merge_table(table);
}

/// The table of the merges, if a vocabulary was read with one.
pub fn merge_table(vocabulary: &Vocabulary) -> Option<&Arc<PackedMerges>> {
    vocabulary.merge_table()
}

/// The number that stands for a kind in a file.
pub fn code_of_kind(kind: TokenKind) -> u8 {
    kind.code()
}

/// The kind of a number of at most three bits.
pub fn kind_of_code(code: u8) -> TokenKind {
    TokenKind::of_code(code)
}
