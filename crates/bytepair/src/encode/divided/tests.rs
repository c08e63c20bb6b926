//! Divisions against all divisions of a short piece.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::super::tests::{any_token, any_units, small_encoder};
use super::*;
use crate::units::{END_MARK, EndMark, Units};
use crate::vocabulary::Vocabulary;

/// The divisions of the symbols from `start` on, each as the ids of its tokens with the number of symbols of each.
fn all(row: &Row<'_>, start: usize) -> Vec<Vec<(usize, TokenId)>> {
    let mut divisions = Vec::new();
    let symbols = &row.symbols[start..];
    for n_symbols in 1..=symbols.len() {
        let forms: Option<Vec<_>> = symbols[..n_symbols].iter().map(|symbol| symbol.form).collect();
        let joined = forms.and_then(|forms| {
            let form = Form::new(forms[0].continues(), forms[n_symbols - 1].ends());
            let text = &row.text[symbols[0].place.start..symbols[n_symbols - 1].place.end];
            row.divider.id(form, text).filter(|_| !text.is_empty())
        });
        let Some(first) = (if n_symbols == 1 { Some(symbols[0].id) } else { joined }) else {
            continue;
        };
        let rests = all(row, start + n_symbols).into_iter();
        divisions.extend(rests.map(|rest| [&[(n_symbols, first)], &rest[..]].concat()));
    }
    if symbols.is_empty() { vec![Vec::new()] } else { divisions }
}

fn divided(divider: &Divider<'_>, piece: &[u8], division: Division, mut seed: u64) -> Vec<TokenId> {
    let mut ids = Vec::new();
    divider.divide(piece, division, &mut seed, &mut ids).unwrap();
    ids
}

/// The pairs of tokens that the merge of which is a token.
fn all_pairs(divider: &Divider<'_>, id: TokenId) -> BTreeSet<(TokenId, TokenId)> {
    let (vocabulary, units) = (&divider.encoder.vocabulary, divider.encoder.symbols.units());
    let is_part = |&(id, token): &(TokenId, Token<'_>)| {
        !divider.left_out.contains(&id) && vocabulary.id(token) == Some(id)
    };
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
        let divider = encoder.divider(left_out.into_iter());
        let piece = piece.as_bytes();
        let Ok(row) = divider.row(piece) else { return Ok(()) };
        let all = all(&row, 0);
        let ids = |division: &Vec<(usize, TokenId)>| division.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let lens = |division: &Vec<(usize, TokenId)>| division.iter().map(|(len, _)| *len).collect::<Vec<_>>();
        let fewest = all.iter().map(Vec::len).min().unwrap();
        let fewest = all.iter().filter(|division| division.len() == fewest).max_by_key(|division| lens(division));
        let longest = all.iter().max_by_key(|division| lens(division));
        prop_assert_eq!(divided(&divider, piece, Division::Fewest, 0), ids(fewest.unwrap()));
        prop_assert_eq!(divided(&divider, piece, Division::Longest, 0), ids(longest.unwrap()));
        let drawn = divided(&divider, piece, Division::Uniform, seed);
        prop_assert!(all.iter().any(|division| ids(division) == drawn));
        let choices = row.choices(Division::Uniform, &mut 0);
        let share: f64 = choices[..row.symbols.len()].iter().map(|choice| choice.ratio).product();
        let n_all = f64::from(u32::try_from(all.len()).unwrap());
        prop_assert!((1.0 / share - n_all).abs() < 1e-9);
        for id in (0..).take(encoder.vocabulary.len()) {
            let expected = if divider.left_out.contains(&id) { BTreeSet::new() } else { all_pairs(&divider, id) };
            prop_assert_eq!(divider.pairs(id).into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}

/// Runs of up to four letters.
fn runs_of_letters() -> Encoder {
    let text = |bytes: &[u8]| (TokenKind::PLAIN, bytes.to_vec());
    let tokens = [text(b"a"), text(b"aa"), text(b"aaa"), text(b"aaaa")];
    small_encoder(&tokens, &[], &Units::characters())
}

#[test]
fn a_piece_that_spells_a_mark_or_a_name_stays_the_token_that_it_is_as_a_whole() {
    let end_mark = Some(EndMark { text: "$".to_owned(), kind: EndMarkKind::Suffix });
    let units = Units { end_mark, byte_fallback: true, ..Units::characters() };
    let mut vocabulary = Vocabulary::new();
    let letters = "ab$<0x41>".chars().map(String::from).collect::<Vec<_>>();
    for letter in &letters {
        vocabulary.push(Token::plain(letter.as_bytes())).unwrap();
        vocabulary.push(Token { kind: TokenKind::ENDING, bytes: letter.as_bytes() }).unwrap();
    }
    let marked = vocabulary.push(Token { kind: TokenKind::ENDING, bytes: b"ab" }).unwrap();
    let byte = vocabulary.push(Token { kind: TokenKind::Byte, bytes: b"A" }).unwrap();
    let encoder = Encoder::new(Arc::new(vocabulary), &units, true);
    let divider = encoder.divider(std::iter::empty());
    for (piece, id) in [("ab$", marked), ("<0x41>", byte), ("ab", marked)] {
        let ids = divided(&divider, piece.as_bytes(), Division::Fewest, 0);
        assert_eq!(ids, [id], "{piece}");
    }
}

#[test]
fn each_division_is_drawn_as_often_as_any_other() {
    let encoder = runs_of_letters();
    let divider = encoder.divider(std::iter::empty());
    let mut counts = BTreeMap::new();
    for seed in 0..29_000 {
        let ids = divided(&divider, b"aaaaaa", Division::Uniform, seed);
        *counts.entry(ids).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 29);
    let chi_square: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    // With 28 degrees of freedom, one sample in 1000 is above 56.9, and one in 1000 below 9.7.
    assert!((9.7..56.9).contains(&chi_square), "{chi_square}");
}

#[test]
fn counts_of_long_pieces_grow_as_they_should() {
    let encoder = runs_of_letters();
    let divider = encoder.divider(std::iter::empty());
    let row = divider.row("a".repeat(20_000).as_bytes()).unwrap();
    let choices = row.choices(Division::Uniform, &mut 0);
    // Each letter multiplies the number by the root of x⁴ = x³ + x² + x + 1.
    for choice in &choices[..20_000 - 60] {
        assert!((choice.ratio - 1.0 / 1.927_561_975_482_925).abs() < 1e-14, "{}", choice.ratio);
    }
    let longest = divided(&divider, "a".repeat(4001).as_bytes(), Division::Longest, 0);
    assert_eq!(longest.len(), 1001);
    let drawn = divided(&divider, "a".repeat(4000).as_bytes(), Division::Uniform, 1);
    assert_eq!(drawn.iter().map(|id| id + 1).sum::<u32>(), 4000);
}

#[test]
fn splits_are_drawn_among_all_places_and_pairs() {
    let encoder = runs_of_letters();
    let divider = encoder.divider(std::iter::empty());
    let mut counts = BTreeMap::new();
    for seed in 0..12_000 {
        *counts.entry(divider.split_at_random(vec![3, 2], 1, seed)).or_insert(0_i32) += 1;
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
    assert_eq!(divider.split_at_random(vec![3; 9], 10_000, 1), [0; 36]);
    assert_eq!(divider.split_at_random(vec![], 5, 1), [0; 0]);
}
