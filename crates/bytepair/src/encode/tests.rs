//! Spans and dropout against plain encoding, and the rules for what the vocabulary lacks.

use super::merge::tests::shuffled_vocabulary;
use super::*;
use crate::test_support::texts_vocabulary;
use crate::units::{ByteIds, EndMark, EndMarkKind, Missing};
use crate::vocabulary::{Form, TokenKind};
use proptest::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

impl Encoder {
    /// Whether two encoders have one table of merges.
    pub(crate) fn shares_merges_with(&self, other: &Self) -> bool {
        match (&self.merges, &other.merges) {
            (Merges::Packed(here), Merges::Packed(there)) => Arc::ptr_eq(here, there),
            (Merges::Wide(here), Merges::Wide(there)) => Arc::ptr_eq(here, there),
            _ => false,
        }
    }
}

/// An encoder of a few tokens that are characters or made of them, with random parts.
pub(super) fn small_encoder(
    tokens: &[(TokenKind, Vec<u8>)],
    merges: &[(u16, u16, u16)],
    units: &Units,
) -> Encoder {
    let mut vocabulary = Vocabulary::new();
    for (kind, bytes) in tokens {
        vocabulary.push(Token { kind: *kind, bytes }).unwrap();
    }
    let n_tokens = u32::try_from(vocabulary.len()).unwrap();
    for &(left, right, result) in merges.iter().filter(|_| n_tokens > 0) {
        let [left, right, result] = [left, right, result].map(|id| u32::from(id) % n_tokens);
        vocabulary.push_merge_to(crate::vocabulary::Merge { left, right, result });
    }
    Encoder::new(Arc::new(vocabulary), units, false)
}

pub(super) fn any_units() -> impl Strategy<Value = Units> {
    let mark = prop::option::of(prop_oneof![Just(EndMarkKind::Unit), Just(EndMarkKind::Suffix)]);
    let unit = prop_oneof![Just(Units::bytes(ByteIds::Value)), Just(Units::characters())];
    (unit, mark, any::<[bool; 5]>()).prop_map(
        |(units, kind, [prefix, unknown, fuse, bytes, drop])| Units {
            end_mark: kind.map(|kind| EndMark { text: "$".to_owned(), kind }),
            continuing_prefix: prefix.then(|| "##".to_owned()),
            unknown: unknown.then(|| "?".to_owned()),
            fuse_unknown: fuse,
            byte_fallback: bytes,
            missing: if drop { Missing::Drop } else { Missing::Error },
            ..units
        },
    )
}

pub(super) fn any_token() -> impl Strategy<Value = (TokenKind, Vec<u8>)> {
    let text = prop_oneof![Just("a"), Just("b"), Just("é"), Just("ab"), Just("")];
    let form = |(continues, ends)| TokenKind::Text(Form::new(continues, ends));
    prop_oneof![
        4 => (any::<(bool, bool)>().prop_map(form), text.prop_map(|text| text.as_bytes().to_vec())),
        2 => (Just(TokenKind::Byte), prop_oneof![Just(b"b".to_vec()), Just(b"$".to_vec()),
            Just(b"#".to_vec()), Just(vec![0xC3]), Just(vec![0xA9])]),
        1 => (Just(TokenKind::Unknown), Just(b"?".to_vec())),
    ]
}

proptest! {
    #[test]
    fn spans_and_dropout_give_the_ids_of_encoding(
        tokens in prop::collection::vec(any_token(), 0..12),
        merges in prop::collection::vec(any::<(u16, u16, u16)>(), 0..8),
        units in any_units(),
        // Long ones are merged in stretches, if tokens have lengths.
        piece in prop_oneof![9 => "[abé]{1,60}", 1 => "[abé]{1000,1100}"],
        seed: u64,
    ) {
        let encoder = small_encoder(&tokens, &merges, &units);
        let (mut scratch, mut ids, mut others) = (Scratch::default(), Vec::new(), Vec::new());
        let mut spans = Vec::new();
        let result = encoder.encode(piece.as_bytes(), &mut scratch, &mut ids);
        let same = encoder.encode_spans(piece.as_bytes(), None, &mut scratch, &mut spans);
        prop_assert_eq!(result.is_ok(), same.is_ok());
        let mut dropping = Dropout { probability: 0.0, seed };
        let dropping = Some(&mut dropping);
        let same = encoder.encode_spans(piece.as_bytes(), dropping, &mut scratch, &mut others);
        prop_assert_eq!(result.is_ok(), same.is_ok());
        if result.is_ok() {
            prop_assert_eq!(spans.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids.clone());
            prop_assert_eq!(others.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), ids);
        }
        for (_, span) in &spans {
            prop_assert!(span.start <= span.end && span.end <= piece.len());
        }
    }

    #[test]
    fn spans_lie_one_after_the_other_where_the_alphabet_is_complete(
        picks: Vec<(u16, u16)>,
        piece in "[abc]{1,60}",
        probability in 0.0..1.0,
        seed: u64,
    ) {
        let vocabulary = Arc::new(shuffled_vocabulary(&picks, &[], &[]));
        let encoder = Encoder::new(Arc::clone(&vocabulary), &Units::characters(), false);
        let (mut scratch, mut spans) = (Scratch::default(), Vec::new());
        let mut dropping = Dropout { probability, seed };
        for dropping in [None, Some(&mut dropping)] {
            spans.clear();
            encoder.encode_spans(piece.as_bytes(), dropping, &mut scratch, &mut spans).unwrap();
            let mut start = 0;
            for (id, span) in &spans {
                prop_assert_eq!(span.start, start);
                prop_assert_eq!(&piece.as_bytes()[span.clone()], vocabulary.token(*id).unwrap().bytes);
                start = span.end;
            }
            prop_assert_eq!(start, piece.len());
        }
    }
}

/// The written tokens of a piece with their spans. `tokens` are written as in a file.
fn shown(units: &Units, tokens: &[&str], piece: &str) -> Vec<(String, Range<usize>)> {
    let mut vocabulary = Vocabulary::new();
    for token in tokens {
        let byte = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
        let byte = byte.map(|digits| u8::from_str_radix(digits, 16).unwrap());
        let token = match (byte, Some(*token) == units.unknown.as_deref()) {
            (Some(byte), _) => (TokenKind::Byte, vec![byte]),
            (None, true) => (TokenKind::Unknown, token.as_bytes().to_vec()),
            (None, false) => {
                let token = units.parse(token.as_bytes());
                (token.kind, token.bytes.to_vec())
            }
        };
        vocabulary.push(Token { kind: token.0, bytes: &token.1 }).unwrap();
    }
    let vocabulary = Arc::new(vocabulary);
    let encoder = Encoder::new(Arc::clone(&vocabulary), units, false);
    let mut spans = Vec::new();
    encoder.encode_spans(piece.as_bytes(), None, &mut Scratch::default(), &mut spans).unwrap();
    let written = |id| units.written(vocabulary.token(id).unwrap()).into_owned();
    spans.into_iter().map(|(id, span)| (String::from_utf8(written(id)).unwrap(), span)).collect()
}

fn expected(tokens: &[(&str, Range<usize>)]) -> Vec<(String, Range<usize>)> {
    tokens.iter().map(|(token, span)| ((*token).to_owned(), span.clone())).collect()
}

#[test]
fn an_unknown_token_waits_for_a_unit_of_the_alphabet() {
    let mut units =
        Units { unknown: Some("<unk>".to_owned()), byte_fallback: true, ..Units::characters() };
    let tokens = ["a", "<unk>", "<0x79>"];
    assert_eq!(
        shown(&units, &tokens, "axyza"),
        expected(&[("a", 0..1), ("<0x79>", 2..3), ("<unk>", 1..2), ("<unk>", 3..4), ("a", 4..5)])
    );
    units.fuse_unknown = true;
    assert_eq!(
        shown(&units, &tokens, "axyza"),
        expected(&[("a", 0..1), ("<0x79>", 2..3), ("<unk>", 1..4), ("a", 4..5)])
    );
}

#[test]
fn the_bytes_of_a_unit_are_those_that_it_is_written_with() {
    let units = Units {
        byte_fallback: true,
        missing: Missing::Drop,
        continuing_prefix: Some("#".to_owned()),
        end_mark: Some(EndMark { text: "/w".to_owned(), kind: EndMarkKind::Suffix }),
        ..Units::characters()
    };
    let tokens = ["a", "<0x23>", "<0x2F>", "<0x77>", "<0xC3>", "<0xA9>"];
    assert_eq!(
        shown(&units, &tokens, "aéxé"),
        expected(&[
            ("a", 0..1),
            ("<0x23>", 1..1),
            ("<0xC3>", 1..2),
            ("<0xA9>", 2..3),
            ("<0x23>", 4..4),
            ("<0xC3>", 4..5),
            ("<0xA9>", 5..6),
            ("<0x2F>", 6..6),
            ("<0x77>", 6..6),
        ])
    );
    let units = Units { unit: Units::bytes(ByteIds::Value).unit, ..units };
    let tokens = ["<0x23>", "<0xC4>", "<0xA0>", "a", "#a", "a/w"];
    assert_eq!(
        shown(&units, &tokens, "aa a"),
        expected(&[
            ("a", 0..1),
            ("#a", 1..2),
            ("<0x23>", 2..2),
            ("<0xC4>", 2..2),
            ("<0xA0>", 2..3)
        ])
    );
}

#[test]
fn a_piece_may_spell_a_name_or_a_mark_where_merges_are_ignored() {
    let units = Units {
        unknown: Some("<unk>".to_owned()),
        byte_fallback: true,
        end_mark: Some(EndMark { text: "</w>".to_owned(), kind: EndMarkKind::Suffix }),
        ..Units::characters()
    };
    let mut vocabulary = Vocabulary::new();
    for (kind, bytes) in [
        (TokenKind::Byte, "A"),
        (TokenKind::Unknown, "<unk>"),
        (TokenKind::Added, "<s>"),
        (TokenKind::ENDING, "low"),
        (TokenKind::PLAIN, "low"),
    ] {
        vocabulary.push(Token { kind, bytes: bytes.as_bytes() }).unwrap();
    }
    let encoder = Encoder::new(Arc::new(vocabulary), &units, true);
    let ids = |piece: &str| {
        let mut ids = Vec::new();
        encoder.encode(piece.as_bytes(), &mut Scratch::default(), &mut ids).unwrap();
        ids
    };
    let found = ["<0x41>", "<unk>", "low</w>", "low"].map(ids);
    assert_eq!(found, [[0], [1], [3], [4]]);
    assert_eq!(ids("<s>"), [1, 1, 1]);
}

/// The frequencies are those of 200,000 draws of the library that reads `tokenizer.json`.
#[test]
fn merges_are_dropped_as_often_as_published_libraries_drop_them() {
    let mut vocabulary = texts_vocabulary(&["a", "b", "c", "ab", "abc", "bc", "aa", "aab"]);
    for (left, right, result) in [(0, 1, 3), (1, 2, 5), (3, 2, 4), (0, 0, 6), (0, 3, 7)] {
        vocabulary.push_merge_to(crate::vocabulary::Merge { left, right, result });
    }
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::characters(), false);
    let low: &[(&[TokenId], f64)] = &[
        (&[0, 4, 3], 0.7128),
        (&[6, 5, 3], 0.0925),
        (&[7, 2, 3], 0.0915),
        (&[0, 3, 2, 3], 0.0358),
        (&[0, 0, 5, 3], 0.0262),
        (&[0, 0, 1, 2, 0, 1], 0.0077),
    ];
    let high: &[(&[TokenId], f64)] = &[
        (&[0, 0, 1, 2, 0, 1], 0.2401),
        (&[0, 4, 3], 0.0983),
        (&[0, 3, 2, 3], 0.0824),
        (&[6, 5, 3], 0.0612),
        (&[0, 4, 0, 1], 0.0338),
        (&[7, 2, 0, 1], 0.0182),
    ];
    let n_draws: u32 = 100_000;
    for (probability, frequencies) in [(0.3, low), (0.7, high)] {
        let mut counts = HashMap::new();
        for seed in 0..n_draws {
            let mut dropping = Dropout { probability, seed: seed.into() };
            let (mut scratch, mut tokens) = (Scratch::default(), Vec::new());
            let dropping = Some(&mut dropping);
            encoder.encode_spans(b"aabcab", dropping, &mut scratch, &mut tokens).unwrap();
            let ids: Vec<_> = tokens.into_iter().map(|(id, _)| id).collect();
            *counts.entry(ids).or_insert(0_u32) += 1;
        }
        for &(ids, expected) in frequencies {
            let found = f64::from(counts[ids]) / f64::from(n_draws);
            assert!((found - expected).abs() < 0.006, "{probability} {ids:?}: {found} {expected}");
        }
    }
}
