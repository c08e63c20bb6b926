//! Pieces that start from characters against pieces that start from bytes.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::Merge;
use crate::encode::{MAX_CHARACTERS_LEN, Scratch, naive};
use crate::units::{ByteIds, Units};
use crate::vocabulary::Token;

/// A text whose pairs are merged, so that borders of characters are crossed as often as not.
const SAMPLE: &str = "aé中 é文中中éa ▁▁aя中a文文é яя я";

fn of_bytes() -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    (0..=255).for_each(|byte| drop(vocabulary.push(Token::plain(&[byte]))));
    vocabulary
}

/// Merges of pairs that stand at these places of the sample when their turn comes.
pub(in crate::encode) fn grown(places: &[usize]) -> Vocabulary {
    let mut vocabulary = of_bytes();
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
    #![proptest_config(ProptestConfig::with_cases(2000))]
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
    let mut vocabulary = of_bytes();
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
fn bytes_that_are_no_character_stay_bytes() {
    let whole: (&[u8], &[u8]) = (b"\xC3", b"\xA9");
    let stray: (&[u8], &[u8]) = (b"\xA9", b"\xA9");
    assert_eq!(start(&[whole], b"\xA9\xC3\xA9\xC3"), [&b"\xA9"[..], "é".as_bytes(), b"\xC3"]);
    assert_eq!(start(&[stray, whole], b"\xC3\xA9\xA9"), [b"\xC3", b"\xA9", b"\xA9"]);
    assert_eq!(start(&[whole], b"\xE0\x83\xA9"), [b"\xE0", b"\x83", b"\xA9"]);
}

/// `second` is made of \xC3 and \xA9, and `first` joins it to an `a` on its left, whatever comes first in the list.
fn made_in_order(is_ascending: bool) -> Arc<Vocabulary> {
    let mut vocabulary = of_bytes();
    let [first, second] =
        ["aé", "é"].map(|text| vocabulary.push(Token::plain(text.as_bytes())).unwrap());
    let merges = [
        Merge { left: u32::from(b'a'), right: second, result: first },
        Merge { left: 0xC3, right: 0xA9, result: second },
    ];
    let order = if is_ascending { [1, 0] } else { [0, 1] };
    order.into_iter().for_each(|number| vocabulary.push_merge_to(merges[number]));
    Arc::new(vocabulary)
}

#[test]
fn a_character_that_is_used_at_a_lower_rank_than_it_is_made_stays_bytes() {
    let piece = "aéb".as_bytes();
    assert_eq!(started(&made_in_order(true), piece), [97, 257, 98]);
    assert_eq!(started(&made_in_order(false), piece), [97, 0xC3, 0xA9, 98]);
}

#[test]
fn tokens_that_are_not_their_parts_start_from_bytes() {
    let mut vocabulary = of_bytes();
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
    let encoder = Encoder::new(Arc::new(of_bytes()), &Units::bytes(ByteIds::Value), false);
    assert_eq!(characters.found(OTHER, b"\xFF", &encoder), UNFIT);
    assert_eq!([0, N_CODES - 1, OTHER].map(|code| characters.get(code)), [NEW, NEW, UNFIT]);
}

#[test]
fn a_piece_of_many_characters_is_scanned() {
    let piece = "é".repeat(MAX_CHARACTERS_LEN / 2 + 20);
    let mut vocabulary = of_bytes();
    vocabulary.push_merge(0xC3, 0xA9).unwrap();
    let vocabulary = Arc::new(vocabulary);
    let encoder = Encoder::new(Arc::clone(&vocabulary), &Units::bytes(ByteIds::Value), false);
    assert!(encoder.cuts().is_some());
    for len in [2, 40, 90, 96, 98, 144, 160] {
        let (mut ids, mut scratch) = (Vec::new(), Scratch::default());
        encoder.encode_part(&piece.as_bytes()[..len], &mut scratch, &mut ids).unwrap();
        assert_eq!(ids, vec![256; len / 2], "{len}");
    }
}

proptest! {
    #[test]
    fn kinds_are_those_of_each_character(
        all in prop::collection::vec((any::<bool>(), prop::collection::vec(0..1_u32 << 20, 0..4)), N_AT_ONCE),
        n_characters in 0..N_AT_ONCE,
    ) {
        let ids = all.iter().map(|(is_first, ids)| match packed(ids) {
            Some(packed) => packed | if *is_first { FIRST } else { 0 },
            None => if *is_first { NEW } else { UNFIT },
        });
        let ids: Vec<_> = ids.collect();
        let kinds = CharacterKinds::of(&ids[..n_characters]);
        for (number, (is_first, all)) in all.iter().enumerate().take(n_characters) {
            let has = |bits: u64| bits >> number & 1 > 0;
            prop_assert_eq!(has(kinds.known), !all.is_empty());
            prop_assert_eq!(has(kinds.first), *is_first && !all.is_empty());
            prop_assert_eq!(has(kinds.single), *is_first && all.len() == 1);
            prop_assert_eq!(has(kinds.new), *is_first && all.is_empty());
        }
        let CharacterKinds { known, first, single, new } = kinds;
        prop_assert_eq!((known | first | single | new) >> n_characters, 0);
    }
}
