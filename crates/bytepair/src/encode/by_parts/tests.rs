//! Pieces of a text by their parts, together, against each piece by the definition.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::encode::cache::characters::tests::{ids_of_bytes, made};
use crate::encode::naive;
use crate::test_support::{bytes_vocabulary, texts_vocabulary};
use crate::units::{ByteIds, Missing, Units};
use crate::vocabulary::Token;

/// The ids of pieces, and where those of each begin.
fn found(
    encoder: &Encoder,
    (by_parts, scratch): (&mut ByParts, &mut Scratch),
    (text, places): (&[u8], &[Range<usize>]),
) -> Result<(Vec<TokenId>, Vec<usize>)> {
    let (mut ids, mut begins) = (vec![7], vec![]);
    let mut context = PartsContext { encoder, scratch };
    by_parts.append(&mut context, Pieces { text, places }, &mut begins, &mut ids)?;
    Ok((ids, begins))
}

/// Every second piece between these lengths, in turn, of a text.
fn places(text: &[u8], lens: &[usize]) -> Vec<Range<usize>> {
    let mut start = 0;
    let pieces = lens.iter().cycle().map_while(|len| {
        let end = (start + len).min(text.len());
        let place = std::mem::replace(&mut start, end)..end;
        (!place.is_empty()).then_some(place)
    });
    pieces.enumerate().filter(|(number, _)| number % 4 != 2).map(|(_, place)| place).collect()
}

proptest! {
    #[test]
    fn pieces_together_have_the_ids_of_each(
        merges in prop::collection::vec(any::<usize>(), 0..60),
        order in prop::option::of(prop::collection::vec(any::<usize>(), 0..60)),
        text in "[aé中文▁я ж丮😀]{1,60}|[中文丮]{60,200}|[aé中文▁я ж丮😀]{60,400}",
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        lens in prop::collection::vec(1..90_usize, 1..12),
    ) {
        let mut text = text.into_bytes();
        for (place, byte) in noise {
            let place = place.index(text.len());
            text[place] = byte;
        }
        let vocabulary = made(&merges, order);
        let encoder = Encoder::new(Arc::clone(&vocabulary), &Units::bytes(ByteIds::Value), false);
        let places = places(&text, &lens);
        let (mut expected, mut begins) = (vec![7], vec![]);
        for place in &places {
            begins.push(expected.len());
            expected.extend(naive::merge(&vocabulary, ids_of_bytes(&text[place.clone()])));
        }
        let (mut by_parts, mut scratch) = (ByParts::default(), Scratch::default());
        for _ in 0..3 {
            let memory = (&mut by_parts, &mut scratch);
            let found = found(&encoder, memory, (&text, &places)).unwrap();
            prop_assert_eq!(found, (expected.clone(), begins.clone()));
        }
    }
}

/// Characters, of which `é` is not known.
fn of_characters(missing: Missing) -> Encoder {
    let mut vocabulary = texts_vocabulary(&["a", "中", "文"]);
    vocabulary.push_merge(1, 2).unwrap();
    Encoder::new(Arc::new(vocabulary), &Units { missing, ..Units::characters() }, false)
}

#[test]
fn a_character_without_ids_is_an_error_wherever_it_stands() {
    let encoder = of_characters(Missing::Error);
    for text in ["中文中文é中", "é中文", "aé", "中é文a"] {
        let all = 0..text.len();
        let (mut by_parts, mut scratch) = Default::default();
        for _ in 0..2 {
            let memory = (&mut by_parts, &mut scratch);
            let error = found(&encoder, memory, (text.as_bytes(), std::slice::from_ref(&all)));
            assert!(error.unwrap_err().to_string().contains('é'));
        }
    }
}

/// A text that is one piece has these ids, when it is new and when it comes again.
fn assert_is_found(encoder: &Encoder, text: &str, expected: &[TokenId]) {
    let (mut by_parts, mut scratch) = Default::default();
    for _ in 0..2 {
        let memory = (&mut by_parts, &mut scratch);
        let all = 0..text.len();
        let found = found(encoder, memory, (text.as_bytes(), std::slice::from_ref(&all)));
        assert_eq!(found.unwrap().0[1..], *expected, "{text}");
    }
}

#[test]
fn of_pairs_that_share_a_rank_the_left_one_of_three_characters_is_merged() {
    let mut vocabulary = bytes_vocabulary();
    let mut merged = |left, right, priority| {
        let (_, bytes) = vocabulary.merged(left, right).unwrap();
        let result = vocabulary.push(Token::plain(&bytes)).unwrap();
        vocabulary
            .push_merge_with_priority(crate::vocabulary::Merge { left, right, result }, priority);
        result
    };
    let [a, b, c] = ["中", "文", "字"].map(|text| {
        let bytes = text.bytes().map(TokenId::from);
        bytes.reduce(|left, right| merged(left, right, 0)).unwrap()
    });
    let (ab, bc) = (merged(a, b, 7), merged(b, c, 7));
    let cbc = merged(c, bc, 3);
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::bytes(ByteIds::Value), false);
    for (text, expected) in
        [("中文字", vec![ab, c]), ("文字中", vec![bc, a]), ("字文字", vec![cbc])]
    {
        assert_is_found(&encoder, text, &expected);
    }
}

#[test]
fn tokens_whose_ids_do_not_fit_a_row_are_found_all_the_same() {
    const LARGE: TokenId = 1 << 20;
    let mut vocabulary = bytes_vocabulary();
    let mut merged = |parts: &[TokenId]| {
        parts.iter().copied().reduce(|left, right| vocabulary.push_merge(left, right).unwrap())
    };
    let [a, b, c] = ["中", "文", "字"].map(|text| {
        let bytes: Vec<_> = text.bytes().map(TokenId::from).collect();
        merged(&bytes).unwrap()
    });
    let ab = merged(&[a, b]).unwrap();
    for (id, left, right) in [(LARGE, ab, c), (LARGE + 1, b, c), (LARGE + 2, LARGE + 1, a)] {
        let (_, bytes) = vocabulary.merged(left, right).unwrap();
        vocabulary.insert(id, Token::plain(&bytes)).unwrap();
        vocabulary.push_merge_to(crate::vocabulary::Merge { left, right, result: id });
    }
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::bytes(ByteIds::Value), false);
    let texts = [("中文", vec![ab]), ("文字", vec![LARGE + 1]), ("中文字", vec![LARGE])];
    let more =
        [("文字中", vec![LARGE + 2]), ("字文字", vec![c, LARGE + 1]), ("字中中", vec![c, a, a])];
    for (text, expected) in texts.into_iter().chain(more) {
        assert_is_found(&encoder, text, &expected);
    }
}

#[test]
fn pieces_of_a_vocabulary_without_parts_are_merged_as_they_are() {
    let encoder = of_characters(Missing::Drop);
    assert!(encoder.cuts().is_none());
    let (mut by_parts, mut scratch) = Default::default();
    let text = "中é文a中文";
    let memory = (&mut by_parts, &mut scratch);
    let found = found(&encoder, memory, (text.as_bytes(), &[0..9, 9..text.len()]));
    assert_eq!(found.unwrap(), (vec![7, 3, 0, 3], vec![1, 3]));
}
