//! Ids to tokens and back, and the merges: the one type that all parts share.
//!
//! A token has bytes and a kind, and both together are its identity: the end mark `_` and the
//! character `_`, or the byte token `<0x41>` and the letter `A`, are different tokens with the same
//! bytes on paper. What a token looks like in a file is the business of [`Units`](crate::Units)
//! (marks written out) and of `format`.
//!
//! Look-up by id is an array access, look-up by content one hash look-up. Ids may have holes.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

use crate::error::{ErrorKind, Result};
use crate::hash::hash_bytes;

/// The number of a token.
pub type TokenId = u32;

/// Where a text token stands in its piece, as far as the dialect marks that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// Written with the continuing-subword prefix: it is not the first token of its piece.
    pub continues: bool,
    /// Carries the end mark: it is the last token of its piece.
    pub ends: bool,
}

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
    pub const PLAIN: Self = Self::Text(Form { continues: false, ends: false });
    /// Text that carries the end mark.
    pub const ENDING: Self = Self::Text(Form { continues: false, ends: true });
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
        let kind = match self.kind {
            TokenKind::Text(form) => u64::from(form.continues) | u64::from(form.ends) << 1,
            TokenKind::Byte => 4,
            TokenKind::Unknown => 5,
            TokenKind::Added => 6,
            TokenKind::Hole => 7,
        };
        hash_bytes(self.bytes, kind << 56)
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
    /// Ids by content. Of two ids with the same content the smaller is found.
    index: HashTable<TokenId>,
    merges: Vec<Merge>,
    /// By place: the priority of the merge. Empty where that is its place.
    priorities: Vec<u32>,
    /// By rank: how often the pair occurred when it was chosen. Empty where unknown.
    merge_counts: Vec<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    len: usize,
    kind: TokenKind,
}

const HOLE: Entry = Entry { start: 0, len: 0, kind: TokenKind::Hole };

impl Vocabulary {
    /// An empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty vocabulary with room for so many tokens, for all their bytes, and for so many merges.
    pub fn with_capacity(n_tokens: usize, n_bytes: usize, n_merges: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(n_bytes),
            entries: Vec::with_capacity(n_tokens),
            index: HashTable::with_capacity(n_tokens),
            merges: Vec::with_capacity(n_merges),
            ..Self::default()
        }
    }

    /// A vocabulary of tokens whose bytes stand one after the other, as many of each as its length says.
    ///
    /// `None` where the lengths are not those of `bytes`, or there are more tokens than ids.
    pub(crate) fn from_bytes(
        bytes: Vec<u8>,
        tokens: impl ExactSizeIterator<Item = (TokenKind, usize)>,
    ) -> Option<Self> {
        let n_tokens = u32::try_from(tokens.len()).ok()?;
        let mut entries = Vec::with_capacity(tokens.len());
        let mut start = 0_usize;
        for (kind, len) in tokens {
            entries.push(Entry { start, len, kind });
            start = start.checked_add(len)?;
        }
        let mut vocabulary = Self { bytes, entries, ..Self::default() };
        (start == vocabulary.bytes.len()).then_some(())?;
        let mut index = HashTable::with_capacity(vocabulary.entries.len());
        for id in 0..n_tokens {
            let Some(token) = vocabulary.token(id) else { continue };
            let is_same = |other: &TokenId| vocabulary.token(*other) == Some(token);
            let hash = |other: &TokenId| vocabulary.token(*other).map_or(0, Token::hash);
            index.entry(token.hash(), is_same, hash).or_insert(id);
        }
        vocabulary.index = index;
        Some(vocabulary)
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
        (entry.kind != TokenKind::Hole).then(|| Token {
            kind: entry.kind,
            bytes: &self.bytes[entry.start..entry.start + entry.len],
        })
    }

    /// The token of an id, or an error that names the id.
    pub fn expect_token(&self, id: TokenId) -> Result<Token<'_>> {
        self.token(id)
            .ok_or_else(|| ErrorKind::UnknownId { id: id.into(), n_ids: self.len() }.into())
    }

    /// The id of a token.
    pub fn id(&self, token: Token<'_>) -> Option<TokenId> {
        self.index.find(token.hash(), |&id| self.token(id) == Some(token)).copied()
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
            self.entries.resize(id as usize + 1, HOLE);
        }
        self.entries[id as usize] =
            Entry { start: self.bytes.len(), len: token.bytes.len(), kind: token.kind };
        self.bytes.extend_from_slice(token.bytes);
        if self.id(token).is_none() {
            let (entries, bytes) = (&self.entries, &self.bytes);
            self.index.insert_unique(token.hash(), id, |&id| {
                let entry = entries[id as usize];
                Token { kind: entry.kind, bytes: &bytes[entry.start..entry.start + entry.len] }
                    .hash()
            });
        }
        Ok(())
    }

    /// The merges; the place of a merge is its rank, unless there are priorities.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// By place: the priorities of the merges, the lowest first to be merged; of equal ones the leftmost.
    ///
    /// Empty where the priority of each merge is its place.
    pub fn priorities(&self) -> &[u32] {
        &self.priorities
    }

    /// By rank: how often the pair occurred when it was chosen; empty where that is unknown.
    pub fn merge_counts(&self) -> &[i64] {
        &self.merge_counts
    }

    /// Appends a merge of two tokens; its result is added where it is missing.
    ///
    /// Of two merges of the same pair the encoder follows the later one.
    pub fn push_merge(&mut self, left: TokenId, right: TokenId) -> Result<TokenId> {
        let entry = self.append_parts(left, right)?;
        let token = Token { kind: entry.kind, bytes: &self.bytes[entry.start..] };
        let hash = token.hash();
        let found = self.index.find(hash, |&id| self.token(id) == Some(token)).copied();
        let result = match found {
            Some(id) => {
                self.bytes.truncate(entry.start);
                id
            }
            None => self.push_new(hash, entry)?,
        };
        self.push_merge_to(Merge { left, right, result });
        Ok(result)
    }

    /// Appends a merge that makes a new token, which is not found by its content until [`Self::index_new`].
    ///
    /// # Errors
    /// Where a part is no token, or no id is left.
    pub(crate) fn push_new_merge(&mut self, left: TokenId, right: TokenId) -> Result<TokenId> {
        let result = u32::try_from(self.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        let entry = self.append_parts(left, right)?;
        self.entries.push(entry);
        self.push_merge_to(Merge { left, right, result });
        Ok(result)
    }

    /// Lets the tokens from `first` on be found by their content; whether none of them was there already.
    pub(crate) fn index_new(&mut self, first: TokenId) -> bool {
        let Self { bytes, entries, index, .. } = self;
        let token = |id: TokenId| {
            let Entry { start, len, kind } = entries[id as usize];
            Token { kind, bytes: &bytes[start..start + len] }
        };
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
            let Entry { start, len, .. } = self.entries[part as usize];
            self.bytes.extend_from_within(start..start + len);
        }
        Ok(Entry { start, len: self.bytes.len() - start, kind })
    }

    /// Gives the next id to a token that is not there yet and whose bytes are.
    fn push_new(&mut self, hash: u64, entry: Entry) -> Result<TokenId> {
        let id = u32::try_from(self.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        self.entries.push(entry);
        let Self { bytes, entries, index, .. } = self;
        let token = |id: u32| {
            let Entry { start, len, kind } = entries[id as usize];
            Token { kind, bytes: &bytes[start..start + len] }
        };
        index.insert_unique(hash, id, |&id| token(id).hash());
        Ok(id)
    }

    /// Appends a merge whose result is known to be `result`. Its priority is its place.
    pub fn push_merge_to(&mut self, merge: Merge) {
        self.merges.push(merge);
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
        self.merges.push(merge);
    }

    /// Gives each merge a priority, or all of them that of their place where there are none.
    ///
    /// Whether there was one for each merge.
    pub(crate) fn set_priorities(&mut self, priorities: Vec<u32>) -> bool {
        let fits = priorities.is_empty() || priorities.len() == self.merges.len();
        if fits {
            self.priorities = priorities;
        }
        fits
    }

    /// Makes room for more merges, and for as many tokens.
    pub(crate) fn reserve_merges_with_tokens(&mut self, n_merges: usize) {
        self.merges.reserve(n_merges);
        self.entries.reserve(n_merges);
    }

    /// Makes room for more merges.
    pub(crate) fn reserve_merges(&mut self, n_merges: usize) {
        self.merges.reserve(n_merges);
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

/// The kind of what two text tokens make together.
fn merged_kind(left: TokenKind, right: TokenKind) -> TokenKind {
    match (left, right) {
        (TokenKind::Text(first), TokenKind::Text(last)) => {
            TokenKind::Text(Form { continues: first.continues, ends: last.ends })
        }
        _ => left,
    }
}

/// The place of a merge as its priority.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 merges in memory")]
fn place(index: usize) -> u32 {
    index as u32
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
    fn a_merge_keeps_the_left_start_and_the_right_end() {
        let mut vocabulary = Vocabulary::new();
        let left = vocabulary.push(Token::plain(b"lo")).unwrap();
        let right = vocabulary.push(Token { kind: TokenKind::ENDING, bytes: b"w" }).unwrap();
        let low = vocabulary.push_merge(left, right).unwrap();
        assert_eq!(vocabulary.token(low), Some(Token { kind: TokenKind::ENDING, bytes: b"low" }));
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
}
