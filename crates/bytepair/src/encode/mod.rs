//! Encodes pieces to ids by the merges of a vocabulary.
//!
//! ```text
//! piece ──in the cache?─────────────────────────▶ ids    PieceCache::append_known, PieceCache::append
//!       ──a token as a whole?───────────────────▶ id     Encoder::whole_token
//!       ──cut where no token can span──▶ parts           Encoder::parts, ByParts::append
//!       ──units of the vocabulary──────▶ symbols         Symbols::push_ids, Encoder::push_characters
//!       ──merge the pair of lowest rank, ───────▶ ids    Encoder::merge_symbols
//!         again and again
//! ```
//!
//! `merge` has the definition and the algorithms that agree with it: start there. Most pieces of a text are words that
//! the `cache` knows. `cuts` splits long pieces where the vocabulary proves that the ids do not change. `by_parts`
//! encodes the parts of several pieces together. `cache/characters.rs` skips the first merges of a character if they
//! happen whatever its neighbours are. A [`Spelling`] replaces a character of a piece as it stands in the text (a space
//! by `▁`), so that the piece matches the vocabulary.
//!
//! Other operations on a piece have a file each: `merge_steps` gives the spans of ids and the log of merges,
//! `divided` makes other tokens of it than merges do, `growing_piece` continues a piece that becomes longer,
//! `reachability` finds tokens that no piece is ever encoded with, and `edited` encodes by merges that are being changed.

mod by_parts;
mod cache;
mod cuts;
mod divided;
mod edited;
mod growing_piece;
mod merge;
mod merge_steps;
mod reachability;
mod whole_tokens;

pub(crate) use by_parts::{ByParts, PartsContext, Pieces};
pub(crate) use cache::{CacheKey, Filled, Known, Miss, Pending, PieceCache, Query, splice};
pub(crate) use divided::Divider;
pub use divided::Division;
pub(crate) use edited::EditedMerges;
pub(crate) use growing_piece::Growing;
pub use merge::Dropout;
pub(crate) use merge::{NaiveMerges, Symbols};
pub(crate) use merge_steps::give_indices;
pub use merge_steps::{MergeStep, PieceCourse};
pub(crate) use whole_tokens::{N_PREFETCHED, Repeated};

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::{ErrorKind, Result};
use crate::memory::ask;
use crate::units::Units;
use crate::vocabulary::merge_table::Merges;
use crate::vocabulary::{Token, TokenId, Vocabulary};
use cache::characters::Characters;
use cuts::Cuts;
use merge::stretches::SIZES;
use merge::{Buffers, Lengths, MAX_SCAN_LEN};
use whole_tokens::WholePieces;

#[cfg(test)]
use merge::naive;

/// Longest piece that may start from characters, in bytes.
const MAX_CHARACTERS_LEN: usize = 3 * MAX_SCAN_LEN;

const _: () = assert!(MAX_CHARACTERS_LEN <= SIZES.stretch, "a symbol of a long piece is one unit");

/// A piece of more bytes than this is long. Each of its bytes counts `LONG_WEIGHT` times for whether cuts pay.
const LONG_LEN: usize = 256;
const LONG_WEIGHT: usize = 8;

/// Turns pieces into ids. Immutable: all mutable state is in [`Scratch`].
#[derive(Clone, Debug)]
pub struct Encoder {
    merges: Merges,
    symbols: Symbols,
    vocabulary: Arc<Vocabulary>,
    /// By the code of a character: the lowest rank of a merge that joins its token to another. Built on first use.
    first_uses: OnceLock<Vec<u32>>,
    /// Built [with a large tokenizer](Self::prepare), or when [enough text](Self::has_parts_for) has come that may
    /// profit. The inner value is `None` if the vocabulary proves no cuts.
    cuts: OnceLock<Option<Arc<Cuts>>>,
    /// `None` if every piece is merged; `Some` if a piece that is a token as a whole becomes this token.
    whole_pieces: Option<WholePieces>,
    /// `None` if pieces come in the spelling of the vocabulary; `Some` if they come as they stand in the text.
    spelling: Option<Spelling>,
    /// Built when the first long piece comes, or the first piece that may grow. The inner value is `None` if some token
    /// has no fixed length.
    lengths: OnceLock<Option<Lengths>>,
    /// By first byte: the length of the longest token. Built when the first piece is divided.
    longest: OnceLock<Vec<usize>>,
    /// Added tokens that come as pieces.
    repeated: Vec<Repeated>,
    /// Tokens that a whole piece never becomes: the piece is merged instead.
    never_whole: HashSet<TokenId>,
}

/// Bytes of memory that merging takes for each byte of a very long piece: its symbols and its ids.
const MERGING_LEN: usize = 8;

/// How many bytes of text would profit from cutting a piece. A very long piece takes many times as long as its parts.
fn n_worth_cutting(piece: &[u8]) -> usize {
    if piece.is_ascii() {
        return 0;
    }
    if piece.len() > LONG_LEN {
        return LONG_WEIGHT * piece.len();
    }
    let n_others = piece.iter().filter(|byte| !byte.is_ascii()).count();
    if n_others * 2 > piece.len() { n_others } else { 0 }
}

/// Memory that is reused from piece to piece.
#[derive(Default)]
pub struct Scratch {
    /// The symbols of a piece, and for some algorithms also its tokens.
    ids: Vec<TokenId>,
    buffers: Buffers,
    /// Bytes that might have profited from cuts and came before there were any.
    n_bytes: usize,
    /// The ids of characters by code point. Belongs to one tokenizer.
    characters: Characters,
}

/// A character that a normalizer replaces in every text, such as a space, and its replacement, such as `▁`.
///
/// If nothing else happens to a text, the text need not be rewritten: the cache knows pieces as they stand in the text,
/// and the character is replaced only in a new piece, so that it matches the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) from: u8,
    pub(crate) to: char,
}

impl Spelling {
    /// The piece with the character replaced, if it contains it.
    #[inline]
    pub(crate) fn of(&self, piece: &[u8]) -> Option<Vec<u8>> {
        if !piece.contains(&self.from) {
            return None;
        }
        let mut bytes = [0; 4];
        let to = self.to.encode_utf8(&mut bytes).as_bytes();
        Some(piece.split(|&byte| byte == self.from).collect::<Vec<_>>().join(to))
    }
}

impl Encoder {
    /// An encoder by the merges of a vocabulary. With `ignore_merges`, a piece that is a token becomes this token
    /// without merging.
    pub fn new(vocabulary: Arc<Vocabulary>, units: &Units, ignore_merges: bool) -> Self {
        let symbols = Symbols::new(units, &vocabulary);
        Self {
            merges: Merges::new(&vocabulary),
            symbols,
            first_uses: OnceLock::new(),
            whole_pieces: ignore_merges.then(|| WholePieces::new(units, &vocabulary)),
            vocabulary,
            cuts: OnceLock::new(),
            lengths: OnceLock::new(),
            longest: OnceLock::new(),
            spelling: None,
            repeated: Vec::new(),
            never_whole: HashSet::new(),
        }
    }

    /// An encoder for pieces as they stand in the text, before a character is replaced.
    pub(crate) fn of_raw_texts(self, spelling: Option<Spelling>) -> Self {
        Self { spelling, ..self }
    }

    /// An encoder for pieces that may be these added tokens.
    pub(crate) fn of_repeated(self, repeated: Vec<Repeated>) -> Self {
        Self { repeated, ..self }
    }

    /// An encoder that merges a piece that is written as one of these tokens instead of taking the token.
    pub(crate) fn without_whole(mut self, never_whole: HashSet<TokenId>) -> Self {
        self.never_whole.extend(never_whole);
        self
    }

    /// Whether a piece contains no character to replace.
    #[inline]
    pub(crate) fn is_spelled(&self, piece: &[u8]) -> bool {
        self.spelling.as_ref().is_none_or(|spelling| !piece.contains(&spelling.from))
    }

    /// A piece with the character replaced, if there is one to replace.
    #[inline]
    pub(crate) fn spelled(&self, piece: &[u8]) -> Option<Vec<u8>> {
        self.spelling.as_ref()?.of(piece)
    }

    /// Appends the ids of a part of a piece, whatever the whole piece is.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_part(
        &self,
        part: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.merge(part, scratch, out, |symbol| self.unknown_unit(symbol))
    }

    /// Whether it pays to cut a piece into parts, with cuts that are built once for all pieces. It pays if most
    /// characters are not ASCII, or if some are not and pieces are very long, as in vocabularies that write each space
    /// as `▁`.
    #[inline]
    pub(crate) fn has_parts_for(&self, piece: &[u8], scratch: &Scratch) -> bool {
        if !self.may_be_cut(piece) {
            return false;
        }
        if let Some(cuts) = self.cuts.get() {
            return cuts.is_some();
        }
        // Building them takes some ten nanoseconds for each merge. Each byte saves about as much.
        let n_bytes = scratch.n_bytes + n_worth_cutting(piece);
        2 * n_bytes > self.vocabulary.n_merges() && self.cuts().is_some()
    }

    /// Whether each byte of a piece is a symbol, if symbols are bytes. A byte that is left out would make its
    /// neighbours adjacent.
    #[inline]
    fn may_be_cut(&self, piece: &[u8]) -> bool {
        !self.symbols.are_bytes() || self.symbols.are_bytes_of(piece)
    }

    /// The parts of a long piece that can be encoded on their own, by [`Self::encode_part`].
    pub(crate) fn parts<'p>(&'p self, piece: &'p [u8]) -> impl Iterator<Item = Range<usize>> + 'p {
        let cuts = self.cuts().filter(|_| self.may_be_cut(piece));
        let mut start = 0;
        std::iter::from_fn(move || {
            let end = match cuts {
                _ if start >= piece.len() => return None,
                Some(cuts) => cuts.end(piece, start, &self.symbols),
                None => piece.len(),
            };
            Some(std::mem::replace(&mut start, end)..end)
        })
    }

    /// Whether the ids of a piece are those of its parts before and after a place, whatever surrounds the two
    /// characters there.
    pub(crate) fn is_cut(&self, piece: &[u8], place: usize) -> bool {
        !self.takes_whole_pieces()
            && self.may_be_cut(piece)
            && self.cuts().is_some_and(|cuts| cuts.is_cut(piece, place, &self.symbols))
    }

    /// All pairs of characters that are not proven to be always cut apart; `None` if nothing is proven.
    pub(crate) fn joined_pairs(&self) -> Option<HashSet<(char, char)>> {
        let is_proven = !self.symbols.units().is_bytes()
            && !self.takes_whole_pieces()
            && self.cuts().is_some_and(|cuts| !cuts.must_be_known);
        if is_proven { cuts::joined_pairs(&self.vocabulary) } else { None }
    }

    /// Whether a piece may have units that no token stands for.
    pub(crate) fn may_miss(&self) -> bool {
        self.symbols.may_miss()
    }

    /// Whether the vocabulary proves any cuts.
    pub(crate) fn has_cuts(&self) -> bool {
        !self.takes_whole_pieces() && self.cuts().is_some()
    }

    /// The cuts, built on first use. Threads that come at the same time each build them and none waits for another,
    /// because a process may be forked meanwhile.
    fn cuts(&self) -> Option<&Cuts> {
        if self.cuts.get().is_none() {
            drop(self.cuts.set(Cuts::new(&self.vocabulary, &self.symbols).map(Arc::new)));
        }
        self.cuts.get()?.as_deref()
    }

    /// The number of symbols of each token, if every token has a fixed number. Built as [`Self::cuts`] are.
    fn lengths(&self) -> Option<&Lengths> {
        if self.lengths.get().is_none() {
            drop(self.lengths.set(Lengths::new(&self.vocabulary, &self.symbols)));
        }
        self.lengths.get()?.as_ref()
    }

    /// The cuts by which a piece may start from characters instead of bytes, if that may help.
    #[inline]
    fn cuts_for(&self, piece: &[u8], scratch: &Scratch) -> Option<&Cuts> {
        let is_for_it = piece.len() <= MAX_CHARACTERS_LEN && self.symbols.are_bytes();
        if !is_for_it || piece.is_ascii() || !self.has_parts_for(piece, scratch) {
            return None;
        }
        self.cuts()
    }

    /// Appends the ids of a piece.
    ///
    /// # Errors
    /// If a unit is not in the vocabulary and no token stands for it, or a piece of characters is not UTF-8. The ids of
    /// earlier parts may have been appended by then.
    pub(crate) fn encode(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            out.push(id);
            return Ok(());
        }
        if piece.len() <= MAX_SCAN_LEN || !self.has_parts_for(piece, scratch) {
            return self.encode_part(piece, scratch, out);
        }
        self.parts(piece).try_for_each(|part| self.encode_part(&piece[part], scratch, out))
    }

    /// The token that stands for units outside the alphabet.
    pub(crate) fn unknown(&self) -> Option<TokenId> {
        self.symbols.unknown()
    }

    fn unknown_unit(&self, symbol: Token<'_>) -> Result<TokenId> {
        let unit = String::from_utf8_lossy(&self.symbols.units().written(symbol)).into_owned();
        Err(ErrorKind::UnknownUnit { unit }.into())
    }

    /// Appends the ids of a piece. `stranger` gives the id of each unit that no token stands for.
    ///
    /// # Errors
    /// If `stranger` fails, or a piece of characters is not UTF-8.
    pub fn encode_or<'p>(
        &self,
        piece: &'p [u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            out.push(id);
            return Ok(());
        }
        self.merge(piece, scratch, out, stranger)
    }

    /// Merges the symbols of a piece, or of a part of one, and appends the ids.
    fn merge<'p>(
        &self,
        piece: &'p [u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        ask(piece.len().saturating_mul(MERGING_LEN))?;
        scratch.ids.clear();
        let cuts = self.cuts_for(piece, scratch);
        if self.cuts.get().is_none() {
            scratch.n_bytes += n_worth_cutting(piece);
        }
        match cuts {
            Some(cuts) => {
                let Scratch { characters, ids, .. } = scratch;
                self.push_characters(cuts, piece, (characters, ids));
            }
            None => self.symbols.push_ids(piece, &mut scratch.ids, stranger)?,
        }
        self.merge_symbols(scratch, out)?;
        // A worker would keep the memory for its longest piece.
        scratch.ids.shrink_to(merge::tree::MAX_KEPT_LEN);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
