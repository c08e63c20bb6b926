//! A piece to its token ids, by the merges of a vocabulary.
//!
//! The meaning: starting from the symbols of the piece, merge the neighbouring pair of lowest rank,
//! the leftmost of several, until no pair has a merge. This holds for any list of merges, also where
//! the order of merges is not the order of ids. `naive` says it in these words; `scan` does it for
//! short pieces, `buckets` or `heap` for long ones, in O(n log n); `cache` remembers pieces.
//!
//! A unit that is not in the vocabulary becomes its bytes where the vocabulary has byte fallback for
//! all of them, else the unknown token, else it is an error.

mod buckets;
mod cache;
mod heap;
#[cfg(test)]
mod naive;
mod scan;
mod symbols;

pub(crate) use cache::PieceCache;

use std::sync::Arc;

use crate::error::{ErrorKind, Result};
use crate::pair_map::{PairMap, pair_key};
use crate::units::Units;
use crate::vocabulary::{Form, Token, TokenId, TokenKind, Vocabulary};
use buckets::Ranks;
use symbols::Symbols;

/// Longest piece that is merged by scanning, in symbols.
const MAX_SCAN_LEN: usize = 48;

/// Turns pieces into ids. Immutable; what changes lies in [`Scratch`].
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    merges: Merges,
    /// Present where the merges build on earlier ones.
    ranks: Option<Ranks>,
    symbols: Symbols,
    vocabulary: Arc<Vocabulary>,
    /// How the token of a whole piece is written, where such tokens are taken without merging.
    whole_piece: Option<Form>,
}

/// The merges by pair.
#[derive(Clone, Debug)]
struct Merges {
    by_pair: PairMap<RankedMerge>,
    /// By `left * N_SMALL + right`: the merges of pairs of small ids. In nearly all vocabularies these
    /// are the bytes, with which every piece begins.
    of_small: Vec<RankedMerge>,
}

/// Ids below this are small.
const N_SMALL: TokenId = 256;

/// A merge as the encoder looks it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankedMerge {
    rank: u32,
    result: TokenId,
}

/// What an absent merge looks like: no rank is higher.
const NO_MERGE: RankedMerge = RankedMerge { rank: u32::MAX, result: 0 };

impl Default for RankedMerge {
    fn default() -> Self {
        NO_MERGE
    }
}

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(crate) struct Scratch {
    ids: Vec<TokenId>,
    merges: Vec<RankedMerge>,
    buckets: buckets::BucketScratch,
    heap: heap::HeapScratch,
}

impl Encoder {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, units: &Units, ignore_merges: bool) -> Self {
        Self {
            merges: Merges::new(&vocabulary),
            ranks: Ranks::new(&vocabulary, units),
            symbols: Symbols::new(units, &vocabulary),
            whole_piece: ignore_merges
                .then(|| Form { continues: false, ends: units.end_mark.is_some() }),
            vocabulary,
        }
    }

    /// Appends the ids of a piece.
    ///
    /// # Errors
    /// Where a unit is not in the vocabulary and nothing stands for it, or a piece of characters is not
    /// UTF-8. Nothing is appended then.
    pub(crate) fn encode(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.encode_or(piece, scratch, out, |symbol| {
            let unit = String::from_utf8_lossy(&self.symbols.units().written(symbol)).into_owned();
            Err(ErrorKind::UnknownUnit { unit }.into())
        })
    }

    /// The same, with an id from `stranger` for each unit that nothing in the vocabulary stands for.
    pub(crate) fn encode_or<'p>(
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
        scratch.ids.clear();
        self.symbols.push_ids(piece, &mut scratch.ids, stranger)?;
        if scratch.ids.len() <= MAX_SCAN_LEN {
            scan::merge(&self.merges, scratch);
            out.extend_from_slice(&scratch.ids);
            return Ok(());
        }
        match &self.ranks {
            Some(ranks) => {
                buckets::merge(ranks, &self.merges, &scratch.ids, &mut scratch.buckets, out)
            }
            None => heap::merge(&self.merges, &scratch.ids, &mut scratch.heap, out),
        }
    }

    /// The token that a piece is as a whole, where merges are ignored for such pieces.
    fn whole_token(&self, piece: &[u8]) -> Option<TokenId> {
        let kind = TokenKind::Text(self.whole_piece?);
        self.vocabulary.id(Token { kind, bytes: piece })
    }
}

impl Merges {
    fn new(vocabulary: &Vocabulary) -> Self {
        let mut by_pair = PairMap::with_capacity(vocabulary.merges().len());
        for (rank, merge) in (0..).zip(vocabulary.merges()) {
            by_pair.insert(
                pair_key(merge.left, merge.right),
                RankedMerge { rank, result: merge.result },
            );
        }
        let small = (0..N_SMALL).flat_map(|left| (0..N_SMALL).map(move |right| (left, right)));
        let merge = |(left, right)| by_pair.get(pair_key(left, right)).unwrap_or(NO_MERGE);
        Self { of_small: small.map(merge).collect(), by_pair }
    }

    /// The merge of a pair, or [`NO_MERGE`].
    #[inline]
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        if left < N_SMALL && right < N_SMALL {
            return self.of_small[(left * N_SMALL + right) as usize];
        }
        self.by_pair.get(pair_key(left, right)).unwrap_or(NO_MERGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ByteIds;
    use proptest::prelude::*;

    /// A vocabulary with merges in an order that no training would give.
    fn shuffled_vocabulary(picks: &[(u16, u16)], swaps: &[(u16, u16)]) -> Vocabulary {
        let mut grown = Vocabulary::new();
        for letter in [b"a", b"b", b"c"] {
            grown.push(Token::plain(letter)).unwrap();
        }
        for &(left, right) in picks {
            let n_tokens = u32::try_from(grown.len()).unwrap();
            let (left, right) = (u32::from(left) % n_tokens, u32::from(right) % n_tokens);
            if grown.merged(left, right).unwrap().1.len() <= 12 {
                grown.push_merge(left, right).unwrap();
            }
        }
        let mut merges = grown.merges().to_vec();
        let n_merges = merges.len();
        for &(one, other) in swaps.iter().filter(|_| n_merges > 0) {
            merges.swap(usize::from(one) % n_merges, usize::from(other) % n_merges);
        }
        let mut vocabulary = Vocabulary::new();
        grown.iter().for_each(|(_, token)| drop(vocabulary.push(token)));
        merges.into_iter().for_each(|merge| vocabulary.push_merge_to(merge));
        vocabulary
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn all_algorithms_agree_with_the_definition(
            picks: Vec<(u16, u16)>,
            swaps in prop::collection::vec((any::<u16>(), any::<u16>()), 0..4),
            piece in "[abc]{1,60}|a{1,120}|(ab){1,50}",
        ) {
            let vocabulary = shuffled_vocabulary(&picks, &swaps);
            let merges = Merges::new(&vocabulary);
            let ids: Vec<_> = piece.bytes().map(|byte| u32::from(byte - b'a')).collect();
            let expected = naive::merge(vocabulary.merges(), ids.clone());

            let mut scratch = Scratch { ids: ids.clone(), ..Scratch::default() };
            scan::merge(&merges, &mut scratch);
            prop_assert_eq!(&scratch.ids, &expected);

            let mut merged = Vec::new();
            heap::merge(&merges, &ids, &mut scratch.heap, &mut merged).unwrap();
            prop_assert_eq!(&merged, &expected);

            if let Some(ranks) = Ranks::new(&vocabulary, &Units::bytes(ByteIds::Value)) {
                merged.clear();
                buckets::merge(&ranks, &merges, &ids, &mut scratch.buckets, &mut merged).unwrap();
                prop_assert_eq!(&merged, &expected);
            }
        }
    }

    #[test]
    fn small_and_large_ids_find_their_merges() {
        let mut vocabulary = Vocabulary::new();
        let pairs: Vec<_> =
            (250..262).flat_map(|left| [(left, 3), (3, left), (left, 255)]).collect();
        for (rank, &(left, right)) in (0..).zip(&pairs) {
            vocabulary.push_merge_to(crate::Merge { left, right, result: 1000 + rank });
        }
        let merges = Merges::new(&vocabulary);
        for left in 0..300 {
            for right in 0..300 {
                let rank = pairs.iter().rposition(|&pair| pair == (left, right));
                let expected = rank.map_or(u32::MAX, |rank| u32::try_from(rank).unwrap());
                assert_eq!(merges.get(left, right).rank, expected, "({left}, {right})");
            }
        }
    }

    #[test]
    fn merges_that_build_on_earlier_ones_are_recognised() {
        let mut vocabulary = shuffled_vocabulary(&[(0, 0), (3, 1), (3, 3), (5, 4)], &[]);
        let units = Units::bytes(ByteIds::Value);
        assert!(Ranks::new(&vocabulary, &units).is_some());
        vocabulary = Vocabulary::new();
        for text in ["a", "b", "aa", "aab"] {
            vocabulary.push(Token::plain(text.as_bytes())).unwrap();
        }
        vocabulary.push_merge_to(crate::Merge { left: 2, right: 1, result: 3 });
        vocabulary.push_merge_to(crate::Merge { left: 0, right: 0, result: 2 });
        assert!(Ranks::new(&vocabulary, &units).is_none());
    }

    #[test]
    fn a_piece_that_is_a_token_needs_no_merges_where_they_are_ignored() {
        let mut vocabulary = Vocabulary::new();
        for text in ["a", "b", "ab"] {
            vocabulary.push(Token::plain(text.as_bytes())).unwrap();
        }
        let (vocabulary, units) = (Arc::new(vocabulary), Units::bytes(ByteIds::Value));
        for (ignore_merges, expected) in [(true, vec![2]), (false, vec![0, 1])] {
            let encoder = Encoder::new(Arc::clone(&vocabulary), &units, ignore_merges);
            let mut ids = Vec::new();
            encoder.encode(b"ab", &mut Scratch::default(), &mut ids).unwrap();
            assert_eq!(ids, expected);
        }
    }
}
