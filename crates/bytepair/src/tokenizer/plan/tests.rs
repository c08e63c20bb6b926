//! Texts with runs of a character beside the same texts cut at added tokens first.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::added::Specials;
use crate::normalize::{NormalizeStep, UnicodeForm};
use crate::pretokenize::PreTokenizer;
use crate::test_support::{added_token, bytes_vocabulary, normalizer, pattern, replace};
use crate::tokenizer::tests::in_stretches;
use crate::tokenizer::{EncodeOptions, Tokenizer};
use crate::units::{ByteIds, Units};
use crate::vocabulary::{Token, TokenKind};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Stage, Unmatched};

/// All bytes, tokens made of some and of one another, and these added tokens.
fn tokenizer(
    picks: &[(u8, u8)],
    (patterns, steps): (&[&str], Vec<NormalizeStep>),
    (added, ignore_merges): (Vec<AddedToken>, bool),
) -> Tokenizer {
    let mut vocabulary = bytes_vocabulary();
    for &(left, right) in picks {
        let made: Vec<_> = (256..vocabulary.len()).collect();
        let choice: Vec<_> = [9, 10, 32, 97, 98].into_iter().chain(made).collect();
        let id = |pick: u8| TokenId::try_from(choice[usize::from(pick) % choice.len()]).unwrap();
        drop(vocabulary.push_merge(id(left), id(right)));
    }
    let with_id = |mut token: AddedToken| {
        let added = Token { kind: TokenKind::Added, bytes: token.content.as_bytes() };
        token.id = vocabulary.push(added).unwrap();
        token
    };
    let added = added.into_iter().map(with_id).collect();
    let stage =
        |source: &&str| Stage::matches(pattern(source, Flavour::Oniguruma), Unmatched::Keep);
    let splitter =
        Splitter::new(patterns.iter().map(stage).collect(), &UnicodeTables::latest()).unwrap();
    Tokenizer::new(Parts {
        normalizer: normalizer(steps),
        pre_tokenizer: PreTokenizer::from(splitter),
        added,
        ignore_merges,
        ..Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary))
    })
    .unwrap()
}

fn token(content: &str) -> AddedToken {
    AddedToken { normalized: true, ..added_token(content) }
}

/// Tokens of a character, from a least number of times on.
fn tokens(character: &str, least: usize, n_tokens: usize) -> Vec<AddedToken> {
    (least..least + n_tokens).map(|n_times| token(&character.repeat(n_times))).collect()
}

/// What the ids are, cut at added tokens before anything is split.
fn slow_ids(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions<'_>) -> Vec<TokenId> {
    tokenizer.encode_full(text, None, options).unwrap().ids
}

const SPLITS: [&[&str]; 5] = [
    &[r" ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"],
    &[r"\s?[ab]+|\s"],
    &[r"[^\n]+|\n+"],
    &[],
    &["[^ ]+", r"\S+|\s+"],
];

proptest! {
    #[test]
    fn texts_with_tokens_as_pieces_have_the_ids_of_texts_cut_at_them(
        picks in prop::collection::vec(any::<(u8, u8)>(), 0..12),
        split in prop::sample::select(&SPLITS[..]),
        runs in prop::collection::vec((prop::sample::select(&[" ", "\t", "\n", "a"][..]), 1..4_usize, 1..5_usize), 1..3),
        lacks in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        other in prop::sample::select(&[None, Some("<t>"), Some("a b"), Some("  a")][..]),
        [is_special, reaches, is_raw, is_word, ignore_merges, allows]: [bool; 6],
        steps in prop::sample::select(vec![
            vec![],
            vec![NormalizeStep::Form(UnicodeForm::Nfc)],
            vec![replace("\t", "  ")],
        ]),
        texts in prop::collection::vec("([ab]{1,6}|[ \t]{1,9}| {20,80}|\n{1,3}|[é中]{1,20}|<t>|a b|[ ab\t\n]{10,60}){0,30}", 1..4),
    ) {
        let mut added: Vec<_> =
            runs.iter().flat_map(|&(character, least, n)| tokens(character, least, n)).collect();
        if let Some(place) = lacks {
            added.remove(place.index(added.len()));
        }
        let other = other.map(|content| AddedToken {
            special: is_special, rstrip: reaches, normalized: !is_raw, single_word: is_word, ..token(content)
        });
        added.extend(other);
        let mut contents = std::collections::BTreeSet::new();
        added.retain(|token| contents.insert(token.content.clone()));
        let tokenizer = tokenizer(&picks, (split, steps), (added, ignore_merges));
        let allowed_special = if allows { Specials::All } else { Specials::None };
        let options = EncodeOptions { allowed_special, ..EncodeOptions::default() };
        for text in texts {
            let expected = slow_ids(&tokenizer, text.as_bytes(), options);
            for _ in 0..2 {
                let ids = tokenizer.encode(text.as_bytes(), options).unwrap();
                prop_assert_eq!(&ids, &expected);
            }
            let cut = in_stretches(&tokenizer, text.as_bytes(), options, (5, 2)).unwrap();
            prop_assert_eq!(&cut, &expected);
        }
    }
}

#[test]
fn tokens_come_as_pieces_only_where_all_do() {
    let is_done = |added: Vec<AddedToken>, split| {
        tokenizer(&[], (split, vec![]), (added, false)).plan().repeats.is_some()
    };
    let with = |other: AddedToken| [tokens(" ", 2, 3), vec![other]].concat();
    assert!(is_done(tokens(" ", 2, 3), SPLITS[0]));
    assert!(is_done([tokens(" ", 2, 3), tokens("\t", 1, 2)].concat(), SPLITS[0]));
    assert!(is_done(with(AddedToken { normalized: false, ..token("<t>") }), SPLITS[0]));
    // Other tokens, gaps between lengths, and white space that belongs to one.
    assert!(!is_done(with(token("<t>")), SPLITS[0]));
    assert!(!is_done(with(token("      ")), SPLITS[0]));
    assert!(!is_done(with(AddedToken { rstrip: true, ..token("     ") }), SPLITS[0]));
    assert!(!is_done(
        with(AddedToken { single_word: true, special: true, ..token("  b") }),
        SPLITS[0]
    ));
    assert!(is_done(with(AddedToken { special: true, ..token("  b") }), SPLITS[0]));
    // The pattern would split two spaces.
    assert!(!is_done(tokens(" ", 2, 3), SPLITS[1]));
    assert!(!is_done(vec![], SPLITS[0]));
}
