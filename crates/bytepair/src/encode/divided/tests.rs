//! Divisions against all divisions of a short piece.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::tests::{any_token, any_units, small_encoder};
use super::*;

/// The divisions of symbols, each as the ids of its tokens with the number of symbols of each.
fn all(joinable: &Joinable, symbols: &[Symbol<'_>]) -> Vec<Vec<(usize, TokenId)>> {
    let mut divisions = Vec::new();
    for end in 1..=symbols.len() {
        let tokens: Option<Vec<_>> = symbols[..end].iter().map(|symbol| symbol.token).collect();
        let joined = tokens.and_then(|tokens| {
            let kind = merged_kind(tokens[0].kind, tokens[end - 1].kind);
            let bytes = tokens.iter().map(|token| token.bytes).collect::<Vec<_>>().concat();
            joinable.id(Token { kind, bytes: &bytes }).filter(|_| !bytes.is_empty())
        });
        let first = if end == 1 { Some(symbols[0].id) } else { joined };
        let rests = || match symbols.len() - end {
            0 => vec![Vec::new()],
            _ => all(joinable, &symbols[end..]),
        };
        if let Some(first) = first {
            divisions.extend(rests().iter().map(|rest| [&[(end, first)], &rest[..]].concat()));
        }
    }
    divisions
}

fn symbols_of<'e>(encoder: &'e Encoder, piece: &[u8]) -> Option<Vec<Symbol<'e>>> {
    let mut scratch = Scratch::default();
    let spans = encoder.lay_out(piece, &mut scratch).ok()?;
    let symbols = scratch.ids.iter().zip(spans).map(|(&id, span)| {
        let token = encoder.vocabulary.token(id);
        let is_text = |token: &Token<'_>| matches!(token.kind, TokenKind::Text(_));
        Symbol { id, token: token.filter(|token| is_text(token) && token.bytes == &piece[span]) }
    });
    Some(symbols.collect())
}

fn divided(
    encoder: &Encoder,
    joinable: &Joinable,
    piece: &[u8],
    by: Division,
    seed: u64,
) -> Vec<TokenId> {
    let (mut ids, mut seed) = (Vec::new(), seed);
    let scratch = &mut Scratch::default();
    let drawn = Drawn { joinable, division: by, seed: &mut seed };
    encoder.divide(piece, drawn, scratch, &mut ids).unwrap();
    ids
}

/// The pairs of tokens that the merge of which is a token.
fn all_pairs(joinable: &Joinable, id: TokenId) -> BTreeSet<(TokenId, TokenId)> {
    let (vocabulary, units) = (&joinable.vocabulary, &joinable.units);
    let is_part = |&(id, token): &(TokenId, Token<'_>)| joinable.id(token) == Some(id);
    let parts: Vec<_> = vocabulary.iter().filter(is_part).collect();
    let whole = vocabulary.token(id).unwrap();
    let mut pairs = BTreeSet::new();
    for (left, first) in &parts {
        for (right, last) in &parts {
            let (TokenKind::Text(before), TokenKind::Text(after)) = (first.kind, last.kind) else {
                continue;
            };
            let is_mark = *last == END_MARK && units.end_mark_kind() == Some(EndMarkKind::Unit);
            let is_right =
                after.continues() == units.continuing_prefix.is_some() && !last.bytes.is_empty();
            let merged = vocabulary.merged(*left, *right).unwrap();
            if (is_mark || is_right)
                && !before.ends()
                && !first.bytes.is_empty()
                && (merged.0, merged.1.as_slice()) == (whole.kind, whole.bytes)
            {
                pairs.insert((*left, *right));
            }
        }
    }
    pairs
}

proptest! {
    #[test]
    fn each_division_is_the_one_among_all_that_its_rule_says(
        tokens in prop::collection::vec(any_token(), 0..16),
        units in any_units(),
        piece in "[abé]{1,7}",
        left_out in prop::option::of(0..8_u32),
        seed: u64,
    ) {
        let encoder = small_encoder(&tokens, &[], &units);
        let left_out = left_out.into_iter().chain(encoder.unknown()).collect();
        let joinable = Joinable::new(&encoder.vocabulary, &units, left_out);
        let piece = piece.as_bytes();
        let Some(symbols) = symbols_of(&encoder, piece) else { return Ok(()) };
        let all = if symbols.is_empty() { vec![Vec::new()] } else { all(&joinable, &symbols) };
        let ids = |division: &Vec<(usize, TokenId)>| division.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let lens = |division: &Vec<(usize, TokenId)>| division.iter().map(|(len, _)| *len).collect::<Vec<_>>();
        let fewest = all.iter().map(Vec::len).min().unwrap();
        let fewest = all.iter().filter(|division| division.len() == fewest).max_by_key(|division| lens(division));
        let longest = all.iter().max_by_key(|division| lens(division));
        prop_assert_eq!(divided(&encoder, &joinable, piece, Division::Fewest, 0), ids(fewest.unwrap()));
        prop_assert_eq!(divided(&encoder, &joinable, piece, Division::Longest, 0), ids(longest.unwrap()));
        let drawn = divided(&encoder, &joinable, piece, Division::Uniform, seed);
        prop_assert!(all.iter().any(|division| ids(division) == drawn));
        let counts = joinable.counts(&symbols);
        let n_all = f64::from(u32::try_from(all.len()).unwrap());
        prop_assert!((counts[0].in_units_of(0) - n_all).abs() < 0.5);
        for id in (0..).take(encoder.vocabulary.len()) {
            let expected = if joinable.left_out.contains(&id) { BTreeSet::new() } else { all_pairs(&joinable, id) };
            prop_assert_eq!(joinable.pairs(id).into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}

/// Bytes, and runs of up to four letters.
fn runs_of_letters() -> (Encoder, Joinable) {
    let text = |bytes: &[u8]| (TokenKind::PLAIN, bytes.to_vec());
    let tokens = [text(b"a"), text(b"aa"), text(b"aaa"), text(b"aaaa")];
    let encoder = small_encoder(&tokens, &[], &Units::characters());
    let joinable = Joinable::new(&encoder.vocabulary, &Units::characters(), HashSet::new());
    (encoder, joinable)
}

#[test]
fn each_division_is_drawn_as_often_as_any_other() {
    let (encoder, joinable) = runs_of_letters();
    let mut counts = BTreeMap::new();
    for seed in 0..29_000 {
        let ids = divided(&encoder, &joinable, b"aaaaaa", Division::Uniform, seed);
        *counts.entry(ids).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 29);
    let chi_square: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    // With 28 degrees of freedom, one sample in 1000 is above 56.9, and one in 1000 below 9.7.
    assert!((9.7..56.9).contains(&chi_square), "{chi_square}");
}

#[test]
fn counts_of_long_pieces_grow_as_they_should() {
    let (encoder, joinable) = runs_of_letters();
    let symbols = symbols_of(&encoder, "a".repeat(20_000).as_bytes()).unwrap();
    let counts = joinable.counts(&symbols);
    // Each letter multiplies the number by the root of x⁴ = x³ + x² + x + 1.
    for (count, next) in counts.iter().zip(&counts[1..counts.len() - 60]) {
        let ratio = count.in_units_of(count.exponent) / next.in_units_of(count.exponent);
        assert!((ratio - 1.927_561_975_482_925).abs() < 1e-13, "{ratio}");
    }
    let longest = divided(&encoder, &joinable, "a".repeat(4001).as_bytes(), Division::Longest, 0);
    assert_eq!(longest.len(), 1001);
    let drawn = divided(&encoder, &joinable, "a".repeat(4000).as_bytes(), Division::Uniform, 1);
    assert_eq!(drawn.iter().map(|id| id + 1).sum::<u32>(), 4000);
}

#[test]
fn splits_are_drawn_among_all_places_and_pairs() {
    let (_, joinable) = runs_of_letters();
    let mut counts = BTreeMap::new();
    for seed in 0..12_000 {
        *counts.entry(joinable.split_at_random(&[3, 2], 1, seed)).or_insert(0_i32) += 1;
    }
    let expected = [
        (vec![0, 2, 2], 2000),
        (vec![1, 1, 2], 2000),
        (vec![2, 0, 2], 2000),
        (vec![3, 0, 1], 3000),
        (vec![3, 1, 0], 3000),
    ];
    assert_eq!(counts.len(), expected.len());
    for (ids, n) in expected {
        assert!((counts[&ids] - n).abs() < 150, "{ids:?} {counts:?}");
    }
    assert_eq!(joinable.split_at_random(&[3; 9], 10_000, 1), [0; 36]);
    assert_eq!(joinable.split_at_random(&[], 5, 1), [0; 0]);
}
