//! Pieces of any length: a tree of minima over the ranks of the pairs.
//!
//! ```text
//! node 1                  the lowest key of all
//! node i, i < n           the lower key of nodes 2i and 2i + 1
//! node n + place          the key of the pair that begins at a place: rank << 32 | place
//!
//! while the key at node 1 is that of a merge:
//!     replace the two tokens of its pair by the result, which stands at the place of the left one
//!     look up the pairs of the result with its two neighbours
//!     set the keys of the three places concerned, and the minima above each
//! ```
//!
//! *Invariant:* between two merges, each place that still holds a token has the key of its pair with the next one,
//! every other place has [`NO_KEY`], and each node above is the minimum of the two below it. So node 1 is the leftmost
//! pair of lowest rank, since a key compares the rank first and then the place. That is the definition
//! (`super::naive`), whatever the order of the merges is and whether or not they share ranks.
//!
//! Tokens are linked to their neighbours by places, so nothing is moved. A merge takes two look-ups and three paths of
//! log n nodes: in total O(n log n) time and O(n) space for n symbols. [`super::scan`] is faster for words, and
//! [`super::stretches`] keeps the tree of a long piece within the caches of a processor.

use crate::error::{ErrorKind, Result};
use crate::vocabulary::merge_table::{Lookup, Merges, NO_MERGE, RankedMerge};
use crate::vocabulary::{Merge, TokenId};

/// Bytes of memory for each symbol.
pub(in crate::encode) const BYTES_PER_SYMBOL: usize = size_of::<Node>() + 2 * size_of::<u64>();

/// Memory for more symbols than this is freed after use.
pub(in crate::encode) const MAX_KEPT_LEN: usize = 1 << 16;

/// No place. No symbol has this place.
const NO_PLACE: u32 = u32::MAX;

/// The key of a place without a merge: the highest key.
const NO_KEY: u64 = u64::MAX;

/// The tokens of a piece during merging, and memory that is reused from piece to piece.
#[derive(Default)]
pub(in crate::encode) struct Tree {
    /// By place.
    tokens: Vec<Node>,
    /// By node: the lowest key below it. The nodes from the number of symbols on are the places.
    keys: Vec<u64>,
}

/// A symbol, or a token that symbols were merged to. A token is at the place of its first symbol.
#[derive(Clone, Copy)]
struct Node {
    id: TokenId,
    /// The result of the merge with the next token, if there is one.
    result: TokenId,
    /// The places of the neighbours; [`NO_PLACE`] if there is none.
    before: u32,
    after: u32,
}

/// Merges the symbols `ids` and appends the tokens to `out`.
///
/// # Errors
/// If the places of the symbols do not fit 32 bits.
pub(super) fn merge(
    merges: &Merges,
    ids: &[TokenId],
    tree: &mut Tree,
    out: &mut Vec<TokenId>,
) -> Result<()> {
    tree.merge(merges, ids, |_, _| ())?;
    out.extend(tree.tokens().map(|(_, id)| id));
    tree.shrink();
    Ok(())
}

/// The key of the pair that begins at a place.
fn key(merge: RankedMerge, place: u32) -> u64 {
    u64::from(merge.rank) << 32 | u64::from(place)
}

/// Whether a key is that of a merge.
pub(super) fn is_merge(key: u64) -> bool {
    key < u64::from(NO_MERGE.rank) << 32
}

/// The place of a key.
#[expect(clippy::cast_possible_truncation, reason = "the place is the lower half of a key")]
pub(super) fn place(key: u64) -> u32 {
    key as u32
}

impl Tree {
    /// Lays out the symbols `ids` and merges them. Calls `see` before each merge with the place of the left part and
    /// the merge.
    ///
    /// # Errors
    /// If the places of the symbols do not fit 32 bits.
    pub(in crate::encode) fn merge(
        &mut self,
        merges: &impl Lookup,
        ids: &[TokenId],
        mut see: impl FnMut(u32, Merge),
    ) -> Result<()> {
        self.lay_out(merges, ids)?;
        while let Some(&lowest) = self.keys.get(1).filter(|&&key| is_merge(key)) {
            let Node { id: left, result, after, .. } = self.tokens[place(lowest) as usize];
            see(place(lowest), Merge { left, right: self.tokens[after as usize].id, result });
            self.merge_at(merges, place(lowest));
        }
        Ok(())
    }

    /// Puts symbols in their places, with the keys of their pairs.
    ///
    /// # Errors
    /// If the places of the symbols do not fit 32 bits.
    pub(super) fn lay_out(&mut self, merges: &impl Lookup, ids: &[TokenId]) -> Result<()> {
        let n_symbols = ids.len();
        let last = u32::try_from(n_symbols).ok().filter(|&n| n < NO_PLACE);
        let end = last.ok_or_else(|| ErrorKind::TooLarge {
            problem: format!(
                "one piece has {n_symbols} symbols, more than the {} that can be indexed",
                NO_PLACE - 1
            ),
        })?;
        self.tokens.clear();
        self.tokens.extend((0..end).zip(ids).map(|(place, &id)| Node {
            id,
            result: 0,
            before: place.wrapping_sub(1),
            after: if place + 1 < end { place + 1 } else { NO_PLACE },
        }));
        self.keys.clear();
        self.keys.resize(2 * n_symbols, NO_KEY);
        let leaves = self.keys.iter_mut().skip(n_symbols);
        for (((place, node), leaf), pair) in
            (0..).zip(&mut self.tokens).zip(leaves).zip(ids.windows(2))
        {
            let merge = merges.get(pair[0], pair[1]);
            node.result = merge.result;
            *leaf = key(merge, place);
        }
        for node in (1..n_symbols).rev() {
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
        Ok(())
    }

    /// Does the merge at a place, which must have one; returns the new keys of the place before it and of the place
    /// itself.
    #[inline]
    pub(super) fn merge_at(&mut self, merges: &impl Lookup, place: u32) -> [u64; 2] {
        let Node { result: id, before, after: gone, .. } = self.tokens[place as usize];
        let after = self.tokens[gone as usize].after;
        self.tokens[place as usize].id = id;
        self.tokens[place as usize].after = after;
        let left = self.tokens.get(before as usize).map(|node| node.id);
        let right = self.tokens.get(after as usize).map(|node| node.id);
        // Both are prefetched before the first is used. If there is no neighbour, any other token serves.
        merges.prefetch(id, right.unwrap_or(id));
        merges.prefetch(left.unwrap_or(id), id);
        self.set_key(gone, NO_KEY);
        let mut with_right = NO_KEY;
        if let Some(right) = right {
            self.tokens[after as usize].before = place;
            let merge = merges.get_large(id, right);
            self.tokens[place as usize].result = merge.result;
            with_right = key(merge, place);
        }
        self.set_key(place, with_right);
        let Some(left) = left else { return [NO_KEY, with_right] };
        let merge = merges.get_large(left, id);
        self.tokens[before as usize].result = merge.result;
        let with_left = key(merge, before);
        self.set_key(before, with_left);
        [with_left, with_right]
    }

    /// Sets the key of a place, and updates the minima above it.
    #[inline]
    fn set_key(&mut self, place: u32, key: u64) {
        let mut node = self.tokens.len() + place as usize;
        self.keys[node] = key;
        let mut lowest = key;
        while node > 1 {
            lowest = lowest.min(self.keys[node ^ 1]);
            node /= 2;
            self.keys[node] = lowest;
        }
    }

    /// The keys of all places.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys[self.tokens.len()..]
    }

    /// The tokens in order, each with the place of its first symbol.
    pub(in crate::encode) fn tokens(&self) -> impl Iterator<Item = (usize, TokenId)> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let node = self.tokens.get(place)?;
            let token = (place, node.id);
            place = node.after as usize;
            Some(token)
        })
    }

    /// Frees memory after a long piece.
    pub(in crate::encode) fn shrink(&mut self) {
        if self.tokens.capacity() > MAX_KEPT_LEN {
            *self = Self::default();
        }
    }
}
