//! Pieces that start from characters against pieces that start from bytes.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::encode::{Scratch, naive};
use crate::test_support::bytes_vocabulary;
use crate::units::{ByteIds, Units};
use crate::vocabulary::Merge;
use crate::vocabulary::Token;

/// A text whose pairs are merged, so that borders of characters are crossed as often as not.
const SAMPLE: &str = "aé中 é文中中éa ▁▁aя中a文文é яя я";

/// Merges of pairs that stand at these places of the sample when their turn comes.
pub(in crate::encode) fn grown(places: &[usize]) -> Vocabulary {
    let mut vocabulary = bytes_vocabulary();
    let mut row: Vec<_> = SAMPLE.bytes().map(TokenId::from).collect();
    for place in places {
        if row.len() < 2 {
            break;
        }
        let place = place % (row.len() - 1);
        vocabulary.push_merge(row[place], row[place + 1]).unwrap();
        row = naive::merge(&vocabulary, row);
    }
    vocabulary
}

/// The same tokens, their merges in another order.
fn shuffled(vocabulary: &Vocabulary, picks: &[usize]) -> Vocabulary {
    let mut other = Vocabulary::new();
    vocabulary.iter().for_each(|(_, token)| drop(other.push(token)));
    let mut merges = vocabulary.merges().to_vec();
    let n_merges = merges.len();
    for (place, pick) in picks.iter().enumerate().take(n_merges) {
        merges.swap(place, pick % n_merges);
    }
    merges.into_iter().for_each(|merge| other.push_merge_to(merge));
    other
}

/// The one or the other.
pub(in crate::encode) fn made(places: &[usize], order: Option<Vec<usize>>) -> Arc<Vocabulary> {
    let vocabulary = grown(places);
    Arc::new(match order {
        Some(picks) => shuffled(&vocabulary, &picks),
        None => vocabulary,
    })
}

/// What a piece starts from.
fn started(vocabulary: &Arc<Vocabulary>, piece: &[u8]) -> Vec<TokenId> {
    let encoder = Encoder::new(Arc::clone(vocabulary), &Units::bytes(ByteIds::Value), false);
    let (mut characters, mut ids) = (Characters::default(), Vec::new());
    match encoder.cuts() {
        Some(cuts) => encoder.push_characters(cuts, piece, (&mut characters, &mut ids)),
        None => ids.extend(ids_of_bytes(piece)),
    }
    ids
}

pub(in crate::encode) fn ids_of_bytes(piece: &[u8]) -> Vec<TokenId> {
    piece.iter().map(|&byte| byte.into()).collect()
}

proptest! {
    #[test]
    fn characters_give_the_ids_of_bytes(
        places in prop::collection::vec(any::<usize>(), 0..40),
        order in prop::option::of(prop::collection::vec(any::<usize>(), 0..40)),
        text in "[aé中文▁я ж丮😀]{1,40}",
        noise in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(SAMPLE.as_bytes().to_vec())), 0..3),
    ) {
        let mut piece = text.into_bytes();
        for (place, byte) in noise {
            let place = place.index(piece.len());
            piece[place] = byte;
        }
        let vocabulary = made(&places, order);
        let expected = naive::merge(&vocabulary, ids_of_bytes(&piece));
        prop_assert_eq!(naive::merge(&vocabulary, started(&vocabulary, &piece)), expected.clone());

        let encoder = Encoder::new(vocabulary, &Units::bytes(ByteIds::Value), false);
        let mut scratch = Scratch::default();
        for _ in 0..2 {
            let mut ids = Vec::new();
            encoder.encode(&piece, &mut scratch, &mut ids).unwrap();
            prop_assert_eq!(&ids, &expected);
            encoder.cuts();
        }
    }
}

/// The ids that a piece starts from where merges make these tokens in this order, from two known parts each.
fn start(tokens: &[(&[u8], &[u8])], piece: &[u8]) -> Vec<Vec<u8>> {
    let mut vocabulary = bytes_vocabulary();
    for (left, right) in tokens {
        let [left, right] = [left, right].map(|part| vocabulary.id(Token::plain(part)).unwrap());
        vocabulary.push_merge(left, right).unwrap();
    }
    let vocabulary = Arc::new(vocabulary);
    let ids = started(&vocabulary, piece);
    ids.iter().map(|&id| vocabulary.token(id).unwrap().bytes.to_vec()).collect()
}

#[test]
fn a_character_waits_where_a_part_of_it_is_joined_before_it_is_whole() {
    let whole: (&[u8], &[u8]) = (b"\xC3", b"\xA9");
    let joined: (&[u8], &[u8]) = (b" ", b"\xC3");
    assert_eq!(start(&[whole, joined], " é".as_bytes()), ["\u{20}".as_bytes(), "é".as_bytes()]);
    assert_eq!(start(&[joined, whole], " é".as_bytes()), [&b" "[..], b"\xC3", b"\xA9"]);
    assert_eq!(start(&[joined, whole], "aé".as_bytes()), ["a".as_bytes(), "é".as_bytes()]);
    let behind: (&[u8], &[u8]) = (b"\xA9", b"a");
    assert_eq!(start(&[behind, whole], "éa".as_bytes()), [&b"\xC3"[..], b"\xA9", b"a"]);
    assert_eq!(start(&[behind, whole], "éb".as_bytes()), ["é".as_bytes(), "b".as_bytes()]);
}

#[test]
fn tokens_that_are_not_their_parts_start_from_bytes() {
    let mut vocabulary = bytes_vocabulary();
    let other = vocabulary.push(Token::plain("è".as_bytes())).unwrap();
    vocabulary.push_merge_to(Merge { left: 0xC3, right: 0xA9, result: other });
    assert_eq!(started(&Arc::new(vocabulary), "é".as_bytes()), [0xC3, 0xA9]);
}

#[test]
fn each_character_has_its_own_ids_and_nothing_else_has_any() {
    let ids_of = |code: u32| [code, 7, (1 << ID_BITS) - 1][..=code as usize % 3].to_vec();
    for code in (0..N_CODES).step_by(7) {
        let mut ids = vec![5];
        let packed = packed(&ids_of(code)).unwrap();
        append(packed, &mut ids);
        assert_eq!(ids[1..], ids_of(code));
        assert_eq!((n_ids(packed), is_first(packed)), (ids.len() - 1, false));
        assert!(is_first(packed | FIRST) && n_ids(packed | FIRST) == ids.len() - 1);
    }
    assert!([&[1 << ID_BITS][..], &[1, 2, 3, 4], &[]].map(packed) == [None; 3]);
    assert_eq!([NEW, UNFIT].map(n_ids), [0; 2]);
    let mut characters = Characters::default();
    let encoder = Encoder::new(Arc::new(bytes_vocabulary()), &Units::bytes(ByteIds::Value), false);
    assert_eq!(characters.found(OTHER, b"\xFF", &encoder), UNFIT);
    assert_eq!([0, N_CODES - 1, OTHER].map(|code| characters.get(code)), [NEW, NEW, UNFIT]);
}
