//! Tokens by id and ids by token, and the merges: the type that all parts share.
//!
//! A token has bytes and a kind, and both together are its identity: the end mark `_` and the character `_`, or the
//! byte token `<0x41>` and the letter `A`, are different tokens that look the same in a file. How a token is written in
//! a file is decided by [`Units`](crate::units::Units) (for marks) and by the crate `bytepair-formats`.
//!
//! The position and the kind of a token take 8 bytes, because loading a tokenizer touches all of them. Left out:
//! vocabularies of more than 4 GiB, and tokens of more than 512 MiB.
//!
//! Look-up by id is an array access, look-up by content is one hash look-up. Ids may have holes. If all tokens are
//! known at once, as in a compiled file, the table for look-up by content is built on first use.

pub(crate) mod merge_table;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

use self::merge_table::MergeList;
use self::merge_table::PackedMerges;
use crate::error::{ErrorKind, Result};
use crate::hash::HashKey;
use crate::memory::ask_to_grow;
use crate::memory::prefetch::prefetch;

/// The id of a token.
pub type TokenId = u32;

/// Where a text token may be in its piece, if the dialect marks that.
///
/// One byte, in which [`TokenKind`] has its other cases too. With two flags instead, a kind without a form had a byte
/// that was never written, and an optimizer compared it: byte tokens were taken for text, depending on the contents of
/// the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Without marks.
    #[default]
    Unmarked,
    /// With the end mark: it is the last token of its piece.
    Ends,
    /// With the continuing-subword prefix: it is not the first token of its piece.
    Continues,
    /// With the prefix and the end mark.
    ContinuesAndEnds,
}

impl Form {
    /// The form with these marks.
    pub const fn new(continues: bool, ends: bool) -> Self {
        match (continues, ends) {
            (false, false) => Self::Unmarked,
            (false, true) => Self::Ends,
            (true, false) => Self::Continues,
            (true, true) => Self::ContinuesAndEnds,
        }
    }

    /// Whether the token has the continuing-subword prefix.
    pub const fn continues(self) -> bool {
        matches!(self, Self::Continues | Self::ContinuesAndEnds)
    }

    /// Whether the token has the end mark.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Ends | Self::ContinuesAndEnds)
    }
}

const _: () = assert!(size_of::<TokenKind>() == 1, "no kind has bytes that are not written");

/// The kind of a token. Part of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// Text, made from the units of a piece.
    Text(Form),
    /// One byte of a character that the alphabet lacks, written `<0x41>`.
    Byte,
    /// Replaces a unit that the alphabet lacks. Its bytes are its name.
    Unknown,
    /// An added token, special or not: found in the text by its content, never merged.
    Added,
    /// An id without a token.
    Hole,
}

impl TokenKind {
    /// Text without marks.
    pub const PLAIN: Self = Self::Text(Form::Unmarked);
    /// Text with the end mark.
    pub const ENDING: Self = Self::Text(Form::Ends);
}

/// A token in the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token<'v> {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes, without marks; for an unknown or added token, its name.
    pub bytes: &'v [u8],
}

impl<'v> Token<'v> {
    /// A text token without marks.
    pub fn plain(bytes: &'v [u8]) -> Self {
        Self { kind: TokenKind::PLAIN, bytes }
    }

    fn hash(self) -> u64 {
        HashKey::of_process().hash_bytes(self.bytes, u64::from(self.kind.code()) << 56)
    }
}

/// One learned merge. Its rank is its index in [`Vocabulary::merges`], unless it has a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Merge {
    /// The left part.
    pub left: TokenId,
    /// The right part.
    pub right: TokenId,
    /// The token that replaces both.
    pub result: TokenId,
}

/// Tokens by id and by content, and the merges in the order of their rank.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The bytes of all tokens, one after the other, in the order of insertion.
    bytes: Vec<u8>,
    /// By id: the range of the token's bytes in `bytes`, and its kind.
    entries: Vec<Entry>,
    /// Ids by content. Of two ids with the same content, the smaller one is found if they were added together, and the
    /// earlier one if not. Built from the entries if it is missing.
    index: OnceLock<HashTable<TokenId>>,
    merges: MergeList,
    /// By index: the priority of the merge. Empty if that is the index.
    priorities: Vec<u32>,
    /// By rank: how often the pair occurred when it was chosen. Empty if unknown.
    merge_counts: Vec<i64>,
}

impl Vocabulary {
    /// An empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty vocabulary with room for this many tokens, for all their bytes, and for this many merges.
    pub(crate) fn with_capacity(n_tokens: usize, n_bytes: usize, n_merges: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(n_bytes),
            entries: Vec::with_capacity(n_tokens),
            index: OnceLock::from(HashTable::with_capacity(n_tokens)),
            merges: MergeList::with_capacity(n_merges),
            ..Self::default()
        }
    }

    /// A vocabulary of tokens with all their bytes; `None` if the number of bytes is not that of the tokens.
    pub(crate) fn of_entries(entries: Entries, bytes: Vec<u8>) -> Option<Self> {
        let fits = entries.n_bytes == bytes.len();
        fits.then(|| Self { bytes, entries: entries.entries, ..Self::default() })
    }

    /// The number of ids, including holes: one more than the largest id.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The token of an id; `None` if the id is outside the vocabulary or a hole.
    #[inline]
    pub fn token(&self, id: TokenId) -> Option<Token<'_>> {
        let entry = self.entries.get(id as usize)?;
        (!entry.is_hole()).then(|| token(*entry, &self.bytes))
    }

    /// Prefetches the entry of a token.
    #[inline]
    pub(crate) fn prefetch(&self, id: TokenId) {
        prefetch(&self.entries, id as usize);
    }

    /// Prefetches the bytes of a token.
    #[inline]
    pub(crate) fn prefetch_bytes(&self, id: TokenId) {
        let entry = self.entries.get(id as usize);
        entry.into_iter().for_each(|entry| prefetch(&self.bytes, entry.place().start));
    }

    /// The token of an id, or an error that names the id.
    pub fn expect_token(&self, id: TokenId) -> Result<Token<'_>> {
        self.token(id)
            .ok_or_else(|| ErrorKind::UnknownId { id: id.into(), n_ids: self.len() }.into())
    }

    /// The id of a token.
    pub fn id(&self, token: Token<'_>) -> Option<TokenId> {
        self.index().find(token.hash(), |&id| self.token(id) == Some(token)).copied()
    }

    /// An id that a token may have according to its hash: the only one, or one of a few. It can be prefetched before
    /// the token is looked up.
    #[inline]
    pub(crate) fn likely_id(&self, token: Token<'_>) -> Option<TokenId> {
        self.index().find(token.hash(), |_| true).copied()
    }

    /// The table for look-up by content, built on first use. Threads that come at the same time each build it and none
    /// waits for another, because a process may be forked meanwhile.
    fn index(&self) -> &HashTable<TokenId> {
        if self.index.get().is_none() {
            drop(self.index.set(index(&self.entries, &self.bytes)));
        }
        self.index.get_or_init(HashTable::new)
    }

    /// For each kind, by byte: the id of the token of this kind that is this one byte, or `TokenId::MAX`.
    pub(crate) fn ids_of_bytes(&self, kinds: &[TokenKind]) -> Vec<[TokenId; 256]> {
        const MAX: TokenId = TokenId::MAX;
        if self.index.get().is_some() {
            let id = |kind, byte| self.id(Token { kind, bytes: &[byte] });
            let ids = |&kind| {
                let mut bytes = 0..=u8::MAX;
                std::array::from_fn(|_| bytes.next().and_then(|byte| id(kind, byte)).unwrap_or(MAX))
            };
            return kinds.iter().map(ids).collect();
        }
        // A pass over all tokens is faster than building the table for look-up by content.
        let mut ids = [[MAX; 256]; N_KINDS];
        for (id, entry) in (0..).zip(&self.entries) {
            if let [byte] = self.bytes[entry.place()] {
                let first = &mut ids[usize::from(entry.code())][usize::from(byte)];
                *first = id.min(*first);
            }
        }
        kinds.iter().map(|kind| ids[usize::from(kind.code())]).collect()
    }

    /// All tokens with their ids, in the order of their ids, without holes.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, Token<'_>)> {
        (0..).take(self.len()).filter_map(|id| Some((id, self.token(id)?)))
    }

    /// Adds a token with the next id, or returns the id of an equal token.
    pub fn push(&mut self, token: Token<'_>) -> Result<TokenId> {
        if let Some(id) = self.id(token) {
            return Ok(id);
        }
        let id = u32::try_from(self.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        self.insert(id, token)?;
        Ok(id)
    }

    /// Puts a token at a free id. The ids in between become holes.
    pub fn insert(&mut self, id: TokenId, token: Token<'_>) -> Result<()> {
        if self.token(id).is_some() {
            return Err(ErrorKind::IdTaken { id }.into());
        }
        if self.entries.len() <= id as usize {
            ask_to_grow(&self.entries, id as usize + 1 - self.entries.len())?;
            self.entries.resize(id as usize + 1, Entry::HOLE);
        }
        let is_known = self.id(token).is_some();
        self.entries[id as usize] = Entry::new(self.bytes.len(), token.bytes.len(), token.kind)?;
        self.bytes.extend_from_slice(token.bytes);
        if !is_known {
            self.index_new(token.hash(), id);
        }
        Ok(())
    }

    /// The merges. The index of a merge is its rank, unless there are priorities.
    ///
    /// For a vocabulary that was read from a compiled file, the list is built on first use.
    pub fn merges(&self) -> &[Merge] {
        self.merges.as_slice()
    }

    /// The number of merges.
    pub fn n_merges(&self) -> usize {
        self.merges.len()
    }

    /// The merges by pair, if they were read as a table.
    pub(crate) fn merge_table(&self) -> Option<&Arc<PackedMerges>> {
        self.merges.table()
    }

    /// Replaces all merges.
    pub(crate) fn set_merges(&mut self, merges: Vec<Merge>) {
        self.merges.change(|list| *list = merges);
    }

    /// Replaces all merges by those of a table.
    pub(crate) fn set_merge_table(&mut self, table: PackedMerges) {
        self.merges = MergeList::of_table(table);
    }

    /// By index: the priorities of the merges. The lowest is merged first; of equal ones, the leftmost.
    ///
    /// Empty if the priority of each merge is its index.
    pub fn priorities(&self) -> &[u32] {
        &self.priorities
    }

    /// By rank: how often the pair occurred when it was chosen; empty if that is unknown.
    pub fn merge_counts(&self) -> &[i64] {
        &self.merge_counts
    }

    /// Appends a merge of two tokens. Adds the resulting token if it is missing.
    ///
    /// If a pair has two merges, the encoder uses the later one.
    pub fn push_merge(&mut self, left: TokenId, right: TokenId) -> Result<TokenId> {
        let (kind, bytes) = self.merged(left, right)?;
        let result = self.push(Token { kind, bytes: &bytes })?;
        self.push_merge_to(Merge { left, right, result });
        Ok(result)
    }

    /// Appends merges that make new tokens with the next ids. The tokens are not found by their content until
    /// [`Self::index_from`] is called. If merges have priorities, the new ones come after all others.
    ///
    /// # Errors
    /// If a part is no token. The merges before it have been appended then.
    pub(crate) fn push_new_merges(&mut self, new: impl Iterator<Item = Merge>) -> Result<()> {
        self.index();
        let last = self.priorities.iter().max().copied();
        (1..).zip(new).try_for_each(|(number, merge)| {
            let entry = self.append_parts(merge.left, merge.right)?;
            debug_assert_eq!(merge.result as usize, self.entries.len(), "ids follow each other");
            self.entries.push(entry);
            match last {
                Some(last) => self.push_merge_with_priority(merge, last.saturating_add(number)),
                None => self.push_merge_to(merge),
            }
            Ok(())
        })
    }

    /// Makes the tokens from `first` on findable by their content; returns whether none of them existed before.
    pub(crate) fn index_from(&mut self, first: TokenId) -> bool {
        let Self { bytes, entries, index, .. } = self;
        let Some(index) = index.get_mut() else { return true };
        let token = |id: TokenId| token(entries[id as usize], bytes);
        let hash = |id: &TokenId| token(*id).hash();
        let n_new = entries.len().saturating_sub(first as usize);
        index.reserve(n_new, hash);
        (first..).take(n_new).all(|id| {
            let is_same = |other: &TokenId| token(*other) == token(id);
            let entry = index.entry(hash(&id), is_same, hash);
            let is_new = matches!(entry, Slot::Vacant(_));
            entry.or_insert(id);
            is_new
        })
    }

    /// Appends the bytes of two tokens; returns the entry of the token that they make together.
    fn append_parts(&mut self, left: TokenId, right: TokenId) -> Result<Entry> {
        let kind = merged_kind(self.expect_token(left)?.kind, self.expect_token(right)?.kind);
        let start = self.bytes.len();
        for part in [left, right] {
            self.bytes.extend_from_within(self.entries[part as usize].place());
        }
        Entry::new(start, self.bytes.len() - start, kind)
    }

    /// Adds a token to the table for look-up by content, which must exist.
    fn index_new(&mut self, hash: u64, id: TokenId) {
        let Self { bytes, entries, index, .. } = self;
        if let Some(index) = index.get_mut() {
            index.insert_unique(hash, id, |&id| token(entries[id as usize], bytes).hash());
        }
    }

    /// Appends a merge whose result is known. Its priority is its index.
    pub fn push_merge_to(&mut self, merge: Merge) {
        self.merges.change(|merges| merges.push(merge));
        if !self.priorities.is_empty() {
            self.priorities.push(place(self.merges.len() - 1));
        }
    }

    /// Appends a merge whose result is known, with a priority that other merges may have too.
    ///
    /// If several adjacent pairs have merges, the one of the lowest priority comes first, the leftmost of several.
    pub fn push_merge_with_priority(&mut self, merge: Merge, priority: u32) {
        let is_its_place = self.priorities.is_empty() && priority as usize == self.merges.len();
        if !is_its_place {
            if self.priorities.is_empty() {
                self.priorities.extend((0..self.merges.len()).map(place));
            }
            self.priorities.push(priority);
        }
        self.merges.change(|merges| merges.push(merge));
    }

    /// Sets the priority of each merge; if `priorities` is empty, that of each merge is its index.
    ///
    /// Returns whether there was one priority for each merge.
    pub fn set_priorities(&mut self, priorities: Vec<u32>) -> bool {
        let fits = priorities.is_empty() || priorities.len() == self.merges.len();
        if fits {
            self.priorities = priorities;
        }
        fits
    }

    /// Reserves memory for more merges, and for as many tokens.
    pub(crate) fn reserve_merges_with_tokens(&mut self, n_merges: usize) {
        self.merges.change(|merges| merges.reserve(n_merges));
        self.index();
        self.entries.reserve(n_merges);
    }

    /// Sets the counts of the merges, one for each.
    pub fn set_merge_counts(&mut self, counts: Vec<i64>) {
        debug_assert!(counts.is_empty() || counts.len() == self.merges.len());
        self.merge_counts = counts;
    }

    /// The kind and the bytes of the token that two text tokens make.
    pub fn merged(&self, left: TokenId, right: TokenId) -> Result<(TokenKind, Vec<u8>)> {
        let (left, right) = (self.expect_token(left)?, self.expect_token(right)?);
        Ok((merged_kind(left.kind, right.kind), [left.bytes, right.bytes].concat()))
    }
}

/// The token of an entry, which must not be a hole.
#[inline]
fn token(entry: Entry, bytes: &[u8]) -> Token<'_> {
    Token { kind: entry.kind(), bytes: &bytes[entry.place()] }
}

/// Builds the table for look-up by content.
fn index(entries: &[Entry], bytes: &[u8]) -> HashTable<TokenId> {
    let mut index = HashTable::with_capacity(entries.len());
    for (id, entry) in (0..).zip(entries).filter(|(_, entry)| !entry.is_hole()) {
        let new = token(*entry, bytes);
        let of_other = |&other: &TokenId| token(entries[other as usize], bytes);
        let is_same = |other: &TokenId| of_other(other) == new;
        index.entry(new.hash(), is_same, |other| of_other(other).hash()).or_insert(id);
    }
    index
}

/// The kind of the token that two text tokens make.
pub(crate) fn merged_kind(left: TokenKind, right: TokenKind) -> TokenKind {
    match (left, right) {
        (TokenKind::Text(first), TokenKind::Text(last)) => {
            TokenKind::Text(Form::new(first.continues(), last.ends()))
        }
        _ => left,
    }
}

/// The index of a merge as its priority.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 merges in memory")]
fn place(index: usize) -> u32 {
    index as u32
}

/// An entry of the vocabulary.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len_and_kind: u32,
}

/// The entries of tokens whose bytes follow each other.
#[derive(Debug)]
pub struct Entries {
    entries: Vec<Entry>,
    n_bytes: usize,
}

/// Bits of the code of a kind.
const KIND_BITS: u32 = 3;

/// The number of codes of kinds.
const N_KINDS: usize = 1 << KIND_BITS;

/// The code of an id without a token: the largest code.
const HOLE: u8 = 7;

impl Entry {
    /// An id without a token.
    const HOLE: Self = Self { start: 0, len_and_kind: HOLE as u32 };

    /// The entry of a token whose bytes are at `start`.
    ///
    /// # Errors
    /// If the token is too long, or begins too late.
    fn new(start: usize, len: usize, kind: TokenKind) -> Result<Self> {
        let entry = || {
            let len = u32::try_from(len).ok().filter(|len| len >> (u32::BITS - KIND_BITS) == 0)?;
            let len_and_kind = len << KIND_BITS | u32::from(kind.code());
            Some(Self { start: u32::try_from(start).ok()?, len_and_kind })
        };
        let problem =
            "a token is longer than 512 MiB, or all tokens together are longer than 4 GiB";
        entry().ok_or_else(|| ErrorKind::TooLarge { problem: problem.to_owned() }.into())
    }

    /// The range of its bytes.
    #[inline]
    fn place(self) -> Range<usize> {
        let (start, len) = (self.start as usize, self.len_and_kind >> KIND_BITS);
        start..start + len as usize
    }

    #[inline]
    fn kind(self) -> TokenKind {
        TokenKind::of_code(self.code())
    }

    #[inline]
    fn code(self) -> u8 {
        (self.len_and_kind & ((1 << KIND_BITS) - 1)) as u8
    }

    #[inline]
    fn is_hole(self) -> bool {
        self.code() == HOLE
    }
}

impl Entries {
    /// No entries, with room for this many.
    pub fn with_capacity(n_tokens: usize) -> Self {
        Self { entries: Vec::with_capacity(n_tokens), n_bytes: 0 }
    }

    /// The number of bytes of all tokens.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Appends a token, or a hole.
    ///
    /// # Errors
    /// If there are too many bytes or tokens.
    pub fn push(&mut self, kind: TokenKind, len: usize) -> Result<()> {
        u32::try_from(self.entries.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        self.entries.push(Entry::new(self.n_bytes, len, kind)?);
        self.n_bytes += len;
        Ok(())
    }
}

impl TokenKind {
    /// The code of a kind, less than 8.
    #[inline]
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Text(form) => u8::from(form.continues()) | u8::from(form.ends()) << 1,
            Self::Byte => 4,
            Self::Unknown => 5,
            Self::Added => 6,
            Self::Hole => HOLE,
        }
    }

    /// The kind of a code; `Hole` for all codes that are not used.
    #[inline]
    pub(crate) fn of_code(code: u8) -> Self {
        match code {
            0..4 => Self::Text(Form::new(code & 1 > 0, code & 2 > 0)),
            4 => Self::Byte,
            5 => Self::Unknown,
            6 => Self::Added,
            _ => Self::Hole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_part_of_identity() {
        let mut vocabulary = Vocabulary::new();
        let letter = vocabulary.push(Token::plain(b"A")).unwrap();
        let byte = vocabulary.push(Token { kind: TokenKind::Byte, bytes: b"A" }).unwrap();
        assert_ne!(letter, byte);
        assert_eq!(vocabulary.push(Token::plain(b"A")).unwrap(), letter);
    }

    #[test]
    fn a_table_of_content_that_is_made_late_finds_the_same() {
        let mut early = Vocabulary::new();
        let mut entries = Entries::with_capacity(0);
        let kinds = (0..8).map(TokenKind::of_code).filter(|&kind| kind != TokenKind::Hole);
        let kinds: Vec<_> = kinds.collect();
        let mut bytes = Vec::new();
        for place in 0..1500_u32 {
            let kind = kinds[place as usize * 5 % kinds.len()];
            let bytes = (place / 7).to_le_bytes();
            let text = if place % 2 > 0 { &bytes[..1] } else { &bytes[..2] };
            early.push(Token { kind, bytes: text }).unwrap();
        }
        for (_, token) in early.iter() {
            entries.push(token.kind, token.bytes.len()).unwrap();
            bytes.extend_from_slice(token.bytes);
        }
        let late = Vocabulary::of_entries(entries, bytes).unwrap();
        let ids = late.ids_of_bytes(&kinds);
        assert_eq!(ids, early.ids_of_bytes(&kinds));
        assert!(ids.iter().all(|ids| ids.contains(&u32::MAX) && ids.iter().any(|&id| id < 9999)));
        for (id, token) in early.iter() {
            assert_eq!((late.id(token), late.token(id)), (Some(id), Some(token)));
        }
        assert_eq!(late.id(Token::plain(b"none")), None);
    }

    #[test]
    fn ids_between_become_holes() {
        let mut vocabulary = Vocabulary::new();
        vocabulary.insert(3, Token::plain(b"x")).unwrap();
        assert_eq!(vocabulary.len(), 4);
        assert_eq!(vocabulary.token(1), None);
        assert!(vocabulary.insert(3, Token::plain(b"y")).is_err());
        assert_eq!(vocabulary.iter().count(), 1);
    }

    #[test]
    fn an_entry_gives_back_what_it_was_made_of_or_is_refused() {
        for kind in (0..=HOLE).map(TokenKind::of_code) {
            let longest = (1 << 29) - 1;
            for (start, len) in [(0, 0), (7, 1), (u32::MAX as usize - longest, longest)] {
                let entry = Entry::new(start, len, kind).unwrap();
                assert_eq!((entry.place(), entry.kind()), (start..start + len, kind));
                assert_eq!(entry.is_hole(), kind == TokenKind::Hole);
            }
            assert!(Entry::new(0, 1 << 29, kind).is_err());
            if let Ok(behind) = usize::try_from(1_u64 << 32) {
                assert!(Entry::new(behind, 0, kind).is_err());
            }
        }
    }
}
