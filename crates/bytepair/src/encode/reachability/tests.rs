//! Tokens without an occurrence, against all pieces.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::encode::merge::naive;
use crate::encode::merge::tests::shuffled_vocabulary;
use crate::units::{ByteIds, EndMark, Units};
use crate::vocabulary::Vocabulary;

#[test]
fn a_token_has_no_place_exactly_if_no_piece_has_it() {
    let mut vocabulary = Vocabulary::new();
    let a = vocabulary.push(Token::plain(b"a")).unwrap();
    let last = vocabulary.push(Token { kind: TokenKind::ENDING, bytes: b"a" }).unwrap();
    let two = vocabulary.push_merge(a, a).unwrap();
    vocabulary.push_merge(two, two).unwrap();
    vocabulary.push_merge(two, a).unwrap();
    vocabulary.push_merge(two, last).unwrap();
    let end_mark = EndMark { text: "_".to_owned(), kind: EndMarkKind::Suffix };
    let units = Units { end_mark: Some(end_mark), ..Units::characters() };
    let occurring: HashSet<_> = (0..20)
        .flat_map(|n_before| {
            let row = [vec![a; n_before], vec![last]].concat();
            naive::merge(&vocabulary, row)
        })
        .collect();
    let vocabulary = Arc::new(vocabulary);
    let encoder = Encoder::new(Arc::clone(&vocabulary), &units, false);
    let unplaced = encoder.unplaced(&encoder.unmade());
    let missing = vocabulary.iter().map(|(id, _)| id).filter(|id| !occurring.contains(id));
    assert_eq!(unplaced, missing.collect::<Vec<_>>());
    assert_eq!(unplaced, [two]);

    let unknown = Units { unknown: Some("?".to_owned()), ..units.clone() };
    let mut with_unknown = (*vocabulary).clone();
    with_unknown.push(Token { kind: TokenKind::Unknown, bytes: b"?" }).unwrap();
    let encoder = Encoder::new(Arc::new(with_unknown), &unknown, false);
    assert!(encoder.unplaced(&encoder.unmade()).is_empty());
}

/// All pieces of these letters, up to a length.
fn all_pieces(letters: &str, max_len: u32) -> Vec<Vec<u8>> {
    let letters = letters.as_bytes();
    let mut all = Vec::new();
    for len in 1..=max_len {
        all.extend((0..letters.len().pow(len)).map(|mut number| {
            let mut next = || {
                let letter = letters[number % letters.len()];
                number /= letters.len();
                letter
            };
            (0..len).map(|_| next()).collect()
        }));
    }
    all
}

proptest! {
    #[test]
    fn a_token_is_unmade_exactly_if_no_piece_has_it(
        picks in prop::collection::vec(any::<(u16, u16)>(), 0..12),
        swaps in prop::collection::vec(any::<(u16, u16)>(), 0..6),
        priorities in prop::collection::vec(prop_oneof![0..4_u32, any::<u32>()], 0..5),
    ) {
        let vocabulary = Arc::new(shuffled_vocabulary(&picks, &swaps, &priorities));
        let units = Units::bytes(ByteIds::Printable);
        let encoder = Encoder::new(Arc::clone(&vocabulary), &units, false);
        let occurring: HashSet<TokenId> = all_pieces("abc", 6)
            .into_iter()
            .flat_map(|piece| {
                let ids = piece.into_iter().map(|byte| u32::from(byte - b'a')).collect();
                naive::merge(&vocabulary, ids)
            })
            .collect();
        let unmade: HashSet<_> = encoder.unmade().into_iter().collect();
        for (id, token) in vocabulary.iter() {
            prop_assert!(!(unmade.contains(&id) && occurring.contains(&id)));
            let is_found = occurring.contains(&id) || token.bytes.len() > 6;
            prop_assert!(unmade.contains(&id) || is_found);
        }
    }
}
