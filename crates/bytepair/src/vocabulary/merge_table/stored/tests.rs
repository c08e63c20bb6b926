//! Tables taken apart and put together again, and forged ones.

use proptest::prelude::*;

use super::*;
use crate::vocabulary::merge_table::{Lookup, Merges, RankedMerge};
use crate::vocabulary::{Token, Vocabulary};

/// A vocabulary of `n_ids` tokens with merges of pairs that differ; `is_ascending` where those make tokens in order.
fn vocabulary(n_ids: u32, picks: &[(u32, u32, u32)], is_ascending: bool) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    (0..n_ids).for_each(|id| drop(vocabulary.push(Token::plain(&id.to_le_bytes()))));
    let mut seen = std::collections::HashSet::new();
    let merges = picks.iter().map(|pick| (pick.0 % n_ids, pick.1 % n_ids, pick.2 % n_ids));
    let mut merges: Vec<_> = merges.filter(|pick| seen.insert((pick.0, pick.1))).collect();
    if is_ascending {
        merges.sort_by_key(|merge| merge.2);
    }
    for (left, right, result) in merges {
        vocabulary.push_merge_to(Merge { left, right, result });
    }
    vocabulary
}

fn row(slots: &[u64]) -> HugePageRow<u64> {
    let mut row = HugePageRow::filled(0, slots.len());
    row.copy_from_slice(slots);
    row
}

/// The table of these slots, described as that of the vocabulary.
fn stored(slots: &[u64], packed: &PackedMerges, vocabulary: &Vocabulary) -> Option<PackedMerges> {
    let is_token = |id| vocabulary.token(id).is_some();
    PackedMerges::from_slots(row(slots), packed.description(), vocabulary.len(), is_token)
}

fn built(vocabulary: &Vocabulary) -> PackedMerges {
    PackedMerges::new(vocabulary).unwrap()
}

proptest! {
    #[test]
    fn a_stored_table_is_the_one_that_was_built_and_has_its_list(
        n_ids in 1..2000_u32,
        picks in prop::collection::vec(any::<(u32, u32, u32)>(), 0..400),
        is_ascending: bool,
    ) {
        let vocabulary = vocabulary(n_ids, &picks, is_ascending);
        let packed = built(&vocabulary);
        prop_assert_eq!(packed.list().unwrap(), vocabulary.merges());
        let same = stored(packed.slots(), &packed, &vocabulary).unwrap();
        prop_assert_eq!(same.list().unwrap(), vocabulary.merges());
        prop_assert_eq!(same.grows, packed.grows);
        let facts = |merge: RankedMerge| (merge.rank, merge.result, merge.exists());
        for merge in vocabulary.merges() {
            for (left, right) in [(merge.left, merge.right), (merge.right, merge.result)] {
                prop_assert_eq!(facts(same.get(left, right)), facts(packed.get(left, right)));
                prop_assert_eq!(
                    facts(same.get_large(left, right)), facts(packed.get_large(left, right))
                );
            }
        }
    }

    #[test]
    fn a_forged_table_is_refused_or_has_a_list_and_finds_all_of_it(
        picks in prop::collection::vec(any::<(u32, u32, u32)>(), 1..60),
        is_ascending: bool,
        forgeries in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u64>()), 1..4),
    ) {
        let vocabulary = vocabulary(20, &picks, is_ascending);
        let packed = built(&vocabulary);
        let mut slots = packed.slots().to_vec();
        for (one, other, bits) in forgeries {
            let (one, other) = (one % slots.len(), other % slots.len());
            match bits % 3 {
                0 => slots.swap(one, other),
                1 => slots[one] ^= 1 << (bits / 3 % 64),
                _ => slots[one] = slots[other],
            }
        }
        if let Some(forged) = stored(&slots, &packed, &vocabulary) {
            let list = forged.list().unwrap();
            prop_assert_eq!(list.len(), vocabulary.merges().len());
            for merge in list {
                prop_assert!(forged.get(merge.left, merge.right).exists());
                prop_assert!(forged.get_large(merge.left, merge.right).exists());
            }
        }
    }
}

#[test]
fn each_forgery_is_refused() {
    let picks: Vec<_> = (0..40).map(|pick| (pick, pick * 7 % 41, pick)).collect();
    let vocabulary = vocabulary(41, &picks, true);
    let packed = built(&vocabulary);
    let slots = packed.slots().to_vec();
    let taken = slots.iter().position(|&slot| slot != 0).unwrap();
    let (merge, value) = packed.layout.unpacked(!slots[taken]);
    let word = |merge: Merge, value: u32| packed.wanted(merge.left, merge.right) ^ u64::from(value);
    assert_eq!(word(merge, value), slots[taken]);
    let with = |slot: u64| {
        let mut slots = slots.clone();
        slots[taken] = slot;
        stored(&slots, &packed, &vocabulary)
    };
    assert!(with(slots[taken]).is_some());
    assert!(with(0).is_none(), "a merge is missing");
    assert!(with(1).is_none(), "bits above the ids");
    assert!(with(word(Merge { left: 50, ..merge }, value)).is_none(), "an unknown part");
    assert!(with(word(merge, packed.layout.value(0, 0, 50))).is_none(), "an unknown result");
    let another = packed.layout.value(0, 0, (merge.result + 1) % 40);
    assert!(with(word(merge, another)).is_none(), "a place that another merge has");
    let mut moved = slots.clone();
    moved.rotate_right(slots.len() / 2);
    assert!(stored(&moved, &packed, &vocabulary).is_none(), "slots where nothing is looked for");
    let full = vec![slots[taken]; slots.len()];
    assert!(stored(&full, &packed, &vocabulary).is_none(), "a search that never ends");
    assert!(stored(&slots[..slots.len() / 2], &packed, &vocabulary).is_none(), "half a table");
    for result_shift in [None, Some(20), Some(u32::MAX - 1)] {
        let description = Description { result_shift, ..packed.description() };
        let table = PackedMerges::from_slots(row(&slots), description, 41, |_| true);
        assert!(table.is_none(), "{result_shift:?}");
    }
}

#[test]
fn a_table_with_two_merges_of_a_pair_has_no_list() {
    let mut vocabulary = vocabulary(5, &[(0, 1, 2)], true);
    vocabulary.push_merge_to(Merge { left: 0, right: 1, result: 3 });
    assert!(!built(&vocabulary).is_storable(vocabulary.len()));
}

#[test]
fn a_vocabulary_with_a_table_gives_it_out_and_loses_it_by_a_change() {
    let mut vocabulary = vocabulary(9, &[(0, 1, 2), (2, 3, 4)], true);
    let list = vocabulary.merges().to_vec();
    let packed = built(&vocabulary);
    vocabulary.set_merge_table(stored(packed.slots(), &packed, &vocabulary).unwrap());
    assert_eq!((vocabulary.n_merges(), vocabulary.merge_table().is_some()), (2, true));
    assert_eq!(vocabulary.merges(), list);
    vocabulary.push_merge_to(Merge { left: 4, right: 5, result: 6 });
    assert!(vocabulary.merge_table().is_none());
    assert_eq!((vocabulary.n_merges(), vocabulary.merges().len()), (3, 3));
    assert_eq!(vocabulary.merges()[..2], list);
    assert_eq!(Merges::new(&vocabulary).get(4, 5).result, 6);
}

#[test]
fn a_table_of_more_merges_than_memory_has_no_number_of_slots() {
    let description = |n_merges| Description { n_merges, result_shift: None };
    assert_eq!(description(usize::MAX).n_slots(), usize::MAX);
    assert_eq!(description(usize::MAX / 32 + 1).n_slots(), usize::MAX);
    assert!(description(usize::MAX / 32).n_slots().checked_mul(8).is_some());
}
