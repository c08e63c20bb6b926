//! Ids to tokens and back, and the merges: the one type that all parts share.
//!
//! A token has bytes and a kind, and both together are its identity: the end mark `_` and the
//! character `_`, or the byte token `<0x41>` and the letter `A`, are different tokens with the same
//! bytes on paper. What a token looks like in a file is the business of [`Units`](crate::units::Units)
//! (marks written out) and of `format`.
//!
//! Where the bytes of a token lie and what kind it is takes 8 bytes: a tokenizer that is loaded touches all of them. Left out:
//! vocabularies of more than 4 GiB, tokens of more than 512 MiB.
//!
//! Look-up by id is an array access, look-up by content one hash look-up. Ids may have holes. If all tokens are
//! known at once, as in a compiled file, the table of look-up by content is made when it is first asked.

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

/// The number of a token.
pub type TokenId = u32;

/// Where a text token stands in its piece, as far as the dialect marks that.
///
/// One byte, in which [`TokenKind`] has its other cases too. With two flags in place of it, a kind without a form had a byte
/// that was never written, and an optimiser compared it: byte tokens passed for text, depending on what the stack held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Without marks.
    #[default]
    Unmarked,
    /// Carries the end mark: it is the last token of its piece.
    Ends,
    /// Written with the continuing-subword prefix: it is not the first token of its piece.
    Continues,
    /// Has the prefix and the end mark.
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

    /// Whether it is written with the continuing-subword prefix.
    pub const fn continues(self) -> bool {
        matches!(self, Self::Continues | Self::ContinuesAndEnds)
    }

    /// Whether it carries the end mark.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Ends | Self::ContinuesAndEnds)
    }
}

const _: () = assert!(size_of::<TokenKind>() == 1, "no kind has bytes that are not written");

/// What kind of token it is. Part of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// Text, made from the units of a piece.
    Text(Form),
    /// One byte of a character that the alphabet lacks, written `<0x41>`.
    Byte,
    /// Stands for a unit that the alphabet lacks. Its bytes are its name.
    Unknown,
    /// An added token, special or not: found in the text by its content, never merged.
    Added,
    /// An id without a token.
    Hole,
}

impl TokenKind {
    /// Text without marks.
    pub const PLAIN: Self = Self::Text(Form::Unmarked);
    /// Text that carries the end mark.
    pub const ENDING: Self = Self::Text(Form::Ends);
}

/// A token as the vocabulary holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token<'v> {
    /// What kind of token it is.
    pub kind: TokenKind,
    /// Its bytes, without marks. Of an unknown or added token: its name.
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

/// One learned merge. Its rank is its place in [`Vocabulary::merges`], unless it has a priority.
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
    /// By id: where the token's bytes lie in `bytes`, and its kind.
    entries: Vec<Entry>,
    /// Ids by content. Of two ids with the same content the smaller is found, if they came at once, else the
    /// earlier one. Made of the entries where it is missing.
    index: OnceLock<HashTable<TokenId>>,
    merges: MergeList,
    /// By place: the priority of the merge. Empty if that is its place.
    priorities: Vec<u32>,
    /// By rank: how often the pair occurred when it was chosen. Empty where unknown.
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

    /// A vocabulary of tokens with all their bytes; `None` if these are more or fewer than the tokens have.
    pub(crate) fn of_entries(entries: Entries, bytes: Vec<u8>) -> Option<Self> {
        let fits = entries.n_bytes == bytes.len();
        fits.then(|| Self { bytes, entries: entries.entries, ..Self::default() })
    }

    /// The number of ids, holes included: one more than the largest id.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The token of an id; `None` outside the vocabulary and for a hole.
    #[inline]
    pub fn token(&self, id: TokenId) -> Option<Token<'_>> {
        let entry = self.entries.get(id as usize)?;
        (!entry.is_hole()).then(|| token(*entry, &self.bytes))
    }

    /// Prefetches what says where the bytes of a token are.
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

    /// The only id that a token may have by its hash, or one of a few: the one to prefetch before the token is looked up.
    #[inline]
    pub(crate) fn likely_id(&self, token: Token<'_>) -> Option<TokenId> {
        self.index().find(token.hash(), |_| true).copied()
    }

    /// Threads that come at the same time each make it, and nobody waits for that: a process may be forked off
    /// meanwhile.
    fn index(&self) -> &HashTable<TokenId> {
        if self.index.get().is_none() {
            drop(self.index.set(index(&self.entries, &self.bytes)));
        }
        self.index.get_or_init(HashTable::new)
    }

    /// By byte: the id of the token of that kind which is that byte, or `TokenId::MAX`.
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
        // A look at all tokens is quicker than making the table of look-up by content.
        let mut ids = [[MAX; 256]; N_KINDS];
        for (id, entry) in (0..).zip(&self.entries) {
            if let [byte] = self.bytes[entry.place()] {
                let first = &mut ids[usize::from(entry.code())][usize::from(byte)];
                *first = id.min(*first);
            }
        }
        kinds.iter().map(|kind| ids[usize::from(kind.code())]).collect()
    }

    /// All tokens with their ids, in the order of their ids, holes left out.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, Token<'_>)> {
        (0..).take(self.len()).filter_map(|id| Some((id, self.token(id)?)))
    }

    /// Adds a token with the next id, or gives the id of the equal token that is there.
    pub fn push(&mut self, token: Token<'_>) -> Result<TokenId> {
        if let Some(id) = self.id(token) {
            return Ok(id);
        }
        let id = u32::try_from(self.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        self.insert(id, token)?;
        Ok(id)
    }

    /// Puts a token at an id that is free. The ids in between become holes.
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

    /// The merges; the place of a merge is its rank, unless there are priorities.
    ///
    /// For a vocabulary that was read from a compiled file, the list is made at first use.
    pub fn merges(&self) -> &[Merge] {
        self.merges.as_slice()
    }

    /// How many merges there are.
    pub fn n_merges(&self) -> usize {
        self.merges.len()
    }

    /// The merges by pair, where they came so.
    pub(crate) fn merge_table(&self) -> Option<&Arc<PackedMerges>> {
        self.merges.table()
    }

    /// Takes these merges instead of any others.
    pub(crate) fn set_merges(&mut self, merges: Vec<Merge>) {
        self.merges.change(|list| *list = merges);
    }

    /// Takes the merges by pair instead of any others.
    pub(crate) fn set_merge_table(&mut self, table: PackedMerges) {
        self.merges = MergeList::of_table(table);
    }

    /// By place: the priorities of the merges, the lowest first to be merged; of equal ones the leftmost.
    ///
    /// Empty where the priority of each merge is its place.
    pub fn priorities(&self) -> &[u32] {
        &self.priorities
    }

    /// By rank: how often the pair occurred when it was chosen; empty if that is unknown.
    pub fn merge_counts(&self) -> &[i64] {
        &self.merge_counts
    }

    /// Appends a merge of two tokens; its result is added where it is missing.
    ///
    /// Of two merges of the same pair the encoder follows the later one.
    pub fn push_merge(&mut self, left: TokenId, right: TokenId) -> Result<TokenId> {
        let (kind, bytes) = self.merged(left, right)?;
        let result = self.push(Token { kind, bytes: &bytes })?;
        self.push_merge_to(Merge { left, right, result });
        Ok(result)
    }

    /// Appends merges that make new tokens, which have the next ids and are not found by their content until
    /// [`Self::index_from`], nor merged before any other where merges have priorities.
    ///
    /// # Errors
    /// If a part is no token. What came before it is appended.
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

    /// Lets the tokens from `first` on be found by their content; whether none of them was there already.
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

    /// Appends the bytes of two tokens; says what token they are together.
    fn append_parts(&mut self, left: TokenId, right: TokenId) -> Result<Entry> {
        let kind = merged_kind(self.expect_token(left)?.kind, self.expect_token(right)?.kind);
        let start = self.bytes.len();
        for part in [left, right] {
            self.bytes.extend_from_within(self.entries[part as usize].place());
        }
        Entry::new(start, self.bytes.len() - start, kind)
    }

    /// Lets a token be found by its content; the table of that is there.
    fn index_new(&mut self, hash: u64, id: TokenId) {
        let Self { bytes, entries, index, .. } = self;
        if let Some(index) = index.get_mut() {
            index.insert_unique(hash, id, |&id| token(entries[id as usize], bytes).hash());
        }
    }

    /// Appends a merge whose result is known to be `result`. Its priority is its place.
    pub fn push_merge_to(&mut self, merge: Merge) {
        self.merges.change(|merges| merges.push(merge));
        if !self.priorities.is_empty() {
            self.priorities.push(place(self.merges.len() - 1));
        }
    }

    /// Appends a merge whose result is known, with a priority that other merges may have too.
    ///
    /// Where several neighbouring pairs have merges, that of the lowest priority goes first, the leftmost of
    /// several.
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

    /// Gives each merge a priority, or all of them that of their place if there are none.
    ///
    /// Whether there was one for each merge.
    pub fn set_priorities(&mut self, priorities: Vec<u32>) -> bool {
        let fits = priorities.is_empty() || priorities.len() == self.merges.len();
        if fits {
            self.priorities = priorities;
        }
        fits
    }

    /// Makes room for more merges, and for as many tokens.
    pub(crate) fn reserve_merges_with_tokens(&mut self, n_merges: usize) {
        self.merges.change(|merges| merges.reserve(n_merges));
        self.index();
        self.entries.reserve(n_merges);
    }

    /// Records the counts of the merges, one for each.
    pub fn set_merge_counts(&mut self, counts: Vec<i64>) {
        debug_assert!(counts.is_empty() || counts.len() == self.merges.len());
        self.merge_counts = counts;
    }

    /// Kind and bytes of what two text tokens make together.
    pub fn merged(&self, left: TokenId, right: TokenId) -> Result<(TokenKind, Vec<u8>)> {
        let (left, right) = (self.expect_token(left)?, self.expect_token(right)?);
        Ok((merged_kind(left.kind, right.kind), [left.bytes, right.bytes].concat()))
    }
}

/// The token of an entry that is no hole.
#[inline]
fn token(entry: Entry, bytes: &[u8]) -> Token<'_> {
    Token { kind: entry.kind(), bytes: &bytes[entry.place()] }
}

/// The table of look-up by content.
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

/// The kind of what two text tokens make together.
pub(crate) fn merged_kind(left: TokenKind, right: TokenKind) -> TokenKind {
    match (left, right) {
        (TokenKind::Text(first), TokenKind::Text(last)) => {
            TokenKind::Text(Form::new(first.continues(), last.ends()))
        }
        _ => left,
    }
}

/// The place of a merge as its priority.
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

/// The entries of tokens whose bytes stand one after the other.
#[derive(Debug)]
pub struct Entries {
    entries: Vec<Entry>,
    n_bytes: usize,
}

/// Bits of the code of a kind.
const KIND_BITS: u32 = 3;

/// One more than the largest code of a kind.
const N_KINDS: usize = 1 << KIND_BITS;

/// The code of an id without a token, the largest of all.
const HOLE: u8 = 7;

impl Entry {
    /// An id without a token.
    const HOLE: Self = Self { start: 0, len_and_kind: HOLE as u32 };

    /// The entry of a token whose bytes lie there.
    ///
    /// # Errors
    /// If they are too many, or begin too far behind.
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

    /// Where its bytes lie.
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
    /// None, with room for so many.
    pub fn with_capacity(n_tokens: usize) -> Self {
        Self { entries: Vec::with_capacity(n_tokens), n_bytes: 0 }
    }

    /// How many bytes all tokens have.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Appends a token, or an id without one.
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
    /// The number of a kind, less than 8.
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

    /// The kind of a number; that of a hole for all that are none.
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
