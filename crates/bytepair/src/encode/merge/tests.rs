//! The algorithms against their definition.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::test_support::{bytes_vocabulary, texts_vocabulary};
use crate::units::{ByteIds, Units};
use crate::vocabulary::Vocabulary;
use crate::vocabulary::merge_table::Merges;

/// A vocabulary with merges in an order that no training would give.
///
/// `priorities`, taken in a circle, are those of the merges; without any, their places are.
pub(in crate::encode) fn shuffled_vocabulary(
    picks: &[(u16, u16)],
    swaps: &[(u16, u16)],
    priorities: &[u32],
) -> Vocabulary {
    let mut grown = texts_vocabulary(&["a", "b", "c"]);
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
    for (place, merge) in merges.into_iter().enumerate() {
        match priorities {
            [] => vocabulary.push_merge_to(merge),
            some => vocabulary.push_merge_with_priority(merge, some[place % some.len()]),
        }
    }
    vocabulary
}

proptest! {
    #[test]
    fn all_algorithms_agree_with_the_definition(
        picks: Vec<(u16, u16)>,
        swaps in prop::collection::vec((any::<u16>(), any::<u16>()), 0..4),
        priorities in prop::collection::vec(prop_oneof![0..4_u32, any::<u32>()], 0..5),
        piece in "[abc]{1,60}|[abc]{60,256}|a{1,256}|a{900,1100}b?|(ab){1,128}|c?a{9,60}b?(c|b{9,60}|c{1,9})",
    ) {
        let vocabulary = Arc::new(shuffled_vocabulary(&picks, &swaps, &priorities));
        let merges = Merges::new(&vocabulary);
        let ids: Vec<_> = piece.bytes().map(|byte| u32::from(byte - b'a')).collect();
        let expected = naive::merge(&vocabulary, ids.clone());

        if ids.len() <= MAX_SCAN_LEN {
            let mut merged = ids.clone();
            scan::merge(&merges, &mut scan::Row::default(), &mut merged);
            prop_assert_eq!(&merged, &expected);
        }

        let (mut tree, mut merged) = (tree::Tree::default(), Vec::new());
        tree::merge(&merges, &ids, &mut tree, &mut merged).unwrap();
        prop_assert_eq!(&merged, &expected);

        let mut row = Vec::new();
        rounds::merge(&merges, &ids, &mut row);
        let left: Vec<_> = row.iter().map(|token| token.id).collect();
        merged.clear();
        tree::merge(&merges, &left, &mut tree, &mut merged).unwrap();
        prop_assert_eq!(&merged, &expected);

        let units = Units::bytes(ByteIds::Value);
        let encoder = Encoder::new(Arc::clone(&vocabulary), &units, false);
        let mut scratch = Scratch { ids: ids.clone(), ..Scratch::default() };
        merged.clear();
        encoder.merge_symbols(&mut scratch, &mut merged).unwrap();
        prop_assert_eq!(&merged, &expected);

        let symbols = Symbols::new(&units, &vocabulary);
        let lengths = Lengths::new(&vocabulary, &symbols).unwrap();
        for (stretch, overlap) in [(1, 1), (2, 1), (7, 3), (20, 4), (40, 20)] {
            merged = vec![7; 3];
            let merge = |ids: &[TokenId], out: &mut Vec<TokenId>| {
                tree::merge(&merges, ids, &mut tree, out)
            };
            let sizes = stretches::Sizes { stretch, overlap };
            stretches::merge(&ids, sizes, &lengths, merge, &mut merged).unwrap();
            prop_assert_eq!(&merged[3..], &expected, "{} {}", stretch, overlap);
        }
    }
}

#[test]
fn a_piece_of_several_stretches_is_merged_as_one() {
    let mut vocabulary = bytes_vocabulary();
    let mut state = 1_u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let mut known = HashSet::new();
    for _ in 0..400 {
        let n_made = u32::try_from(vocabulary.len()).unwrap() - 256;
        let [left, right] = [0, 1].map(|_| match draw(3 + n_made) {
            letter @ 0..3 => u32::from(b'a') + letter,
            made => 253 + made,
        });
        // A token that is made twice may be used by a merge of lower rank.
        if known.insert(vocabulary.merged(left, right).unwrap().1) {
            vocabulary.push_merge(left, right).unwrap();
        }
    }
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::bytes(ByteIds::Value), false);
    let mut scratch = Scratch::default();
    for n_letters in [3, 2] {
        let piece: Vec<_> = (0..50_000).map(|_| b"abc"[draw(n_letters) as usize]).collect();
        let ids: Vec<_> = piece.iter().map(|&byte| u32::from(byte)).collect();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        tree::merge(&encoder.merges, &ids, &mut scratch.buffers.tree, &mut expected).unwrap();
        encoder.encode_part(&piece, &mut scratch, &mut found).unwrap();
        assert!(encoder.lengths().is_some() && ids.len() > 2 * stretches::SIZES.stretch);
        assert!(found == expected, "{} {}", found.len(), expected.len());
    }
}

#[test]
fn tokens_that_merges_make_of_other_text_than_their_own_have_no_lengths() {
    let encoder = |merge: crate::vocabulary::Merge, unknown: Option<&str>| {
        let mut vocabulary = texts_vocabulary(&["a", "b", "ab", "aab"]);
        vocabulary.push_merge_to(merge);
        let units = Units { unknown: unknown.map(str::to_owned), ..Units::characters() };
        Encoder::new(Arc::new(vocabulary), &units, false)
    };
    let all = |lengths: &Lengths| (0..4).map(|id| lengths.of(id)).collect::<Vec<_>>();
    let (own, other) = (
        crate::vocabulary::Merge { left: 0, right: 1, result: 2 },
        crate::vocabulary::Merge { left: 0, right: 1, result: 3 },
    );
    assert_eq!(encoder(own, None).lengths().map(all), Some(vec![1, 1, 2, 3]));
    assert_eq!(encoder(other, None).lengths(), None);
    // The unknown token is one symbol, however it is written.
    assert_eq!(encoder(own, Some("aab")).lengths().map(all), Some(vec![1, 1, 2, 1]));
    assert_eq!(encoder(own, Some("ab")).lengths(), None);
}
