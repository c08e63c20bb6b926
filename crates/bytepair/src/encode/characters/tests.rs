//! Pieces that start from characters against pieces that start from bytes.

use std::sync::Arc;

use proptest::prelude::*;

use super::Characters;
use crate::Merge;
use crate::encode::symbols::Symbols;
use crate::encode::{Encoder, MAX_CHARACTERS_LEN, Scratch, characters, naive};
use crate::merge_table::Merges;
use crate::units::{ByteIds, Units};
use crate::vocabulary::{Token, TokenId, Vocabulary};

/// A text whose pairs are merged, so that borders of characters are crossed as often as not.
const SAMPLE: &str = "aé中 é文中中éa ▁▁aя中a文文é яя я";

fn of_bytes() -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    (0..=255).for_each(|byte| drop(vocabulary.push(Token::plain(&[byte]))));
    vocabulary
}

/// Merges of pairs that stand at these places of the sample when their turn comes.
fn grown(places: &[usize]) -> Vocabulary {
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

fn found(vocabulary: &Arc<Vocabulary>) -> (Option<Characters>, Symbols) {
    let symbols = Symbols::new(&Units::bytes(ByteIds::Value), vocabulary);
    (Characters::new(vocabulary, &symbols, &Merges::new(vocabulary)), symbols)
}

fn ids_of_bytes(piece: &[u8]) -> Vec<TokenId> {
    piece.iter().map(|&byte| byte.into()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn characters_give_the_ids_of_bytes(
        places in prop::collection::vec(any::<usize>(), 0..40),
        text in "[aé中文▁я ж丮😀]{1,40}",
        noise in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(SAMPLE.as_bytes().to_vec())), 0..3),
    ) {
        let mut piece = text.into_bytes();
        for (place, byte) in noise {
            let place = place.index(piece.len());
            piece[place] = byte;
        }
        let vocabulary = Arc::new(grown(&places));
        let (characters, symbols) = found(&vocabulary);
        let mut start = Vec::new();
        characters.unwrap().push_ids(&piece, &symbols, &mut start);
        let expected = naive::merge(&vocabulary, ids_of_bytes(&piece));
        prop_assert_eq!(naive::merge(&vocabulary, start), expected.clone());

        let encoder = Encoder::new(vocabulary, &Units::bytes(ByteIds::Value), false);
        let waited = Scratch { n_pieces: characters::n_pieces_before(0), ..Scratch::default() };
        for mut scratch in [Scratch::default(), waited] {
            let mut ids = Vec::new();
            encoder.encode(&piece, &mut scratch, &mut ids).unwrap();
            prop_assert_eq!(&ids, &expected);
        }

        let characters: Vec<_> = String::from_utf8_lossy(&piece).chars().collect();
        for two in characters.windows(2).filter(|two| two.iter().all(|&one| one < '\u{FFFF}')) {
            let (piece, mut ids) = (String::from_iter(two), Vec::new());
            if encoder.append_two([two[0].into(), two[1].into()], &mut ids) {
                let expected = naive::merge(&encoder.vocabulary, ids_of_bytes(piece.as_bytes()));
                prop_assert_eq!(ids, expected, "{}", piece);
            }
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
    let (characters, symbols) = found(&vocabulary);
    let mut ids = Vec::new();
    characters.unwrap().push_ids(piece, &symbols, &mut ids);
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

#[test]
fn merges_in_another_order_than_their_ids_start_from_bytes() {
    let mut vocabulary = of_bytes();
    let [second, first] =
        ["é", "è"].map(|text| vocabulary.push(Token::plain(text.as_bytes())).unwrap());
    vocabulary.push_merge_to(Merge { left: 0xC3, right: 0xA8, result: first });
    vocabulary.push_merge_to(Merge { left: 0xC3, right: 0xA9, result: second });
    assert!(found(&Arc::new(vocabulary)).0.is_none());
}

#[test]
fn tokens_that_are_not_their_parts_start_from_bytes() {
    let mut vocabulary = of_bytes();
    let other = vocabulary.push(Token::plain("è".as_bytes())).unwrap();
    vocabulary.push_merge_to(Merge { left: 0xC3, right: 0xA9, result: other });
    assert!(found(&Arc::new(vocabulary)).0.is_none());
}

#[test]
fn a_piece_of_many_characters_is_scanned() {
    let piece = "é".repeat(MAX_CHARACTERS_LEN / 2 + 20);
    let mut vocabulary = of_bytes();
    vocabulary.push_merge(0xC3, 0xA9).unwrap();
    let vocabulary = Arc::new(vocabulary);
    let encoder = Encoder::new(Arc::clone(&vocabulary), &Units::bytes(ByteIds::Value), false);
    for len in [2, 40, 90, 96, 98, 144, 160] {
        let waited = Scratch { n_pieces: characters::n_pieces_before(0), ..Scratch::default() };
        let (mut ids, mut scratch) = (Vec::new(), waited);
        encoder.encode_part(&piece.as_bytes()[..len], &mut scratch, &mut ids).unwrap();
        assert_eq!(ids, vec![256; len / 2], "{len}");
    }
}
