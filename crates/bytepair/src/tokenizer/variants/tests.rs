//! A call for which added tokens are text against a tokenizer that has none, in every way to encode.

use std::sync::Arc;

use proptest::prelude::*;

use super::AddedTokens;
use crate::documents::{Layout, Marks};
use crate::encode::Dropout;
use crate::error::Result;
use crate::template::{Padding, Side, Template, TemplatePiece, Truncation, TruncationStrategy};
use crate::tokenizer::tests::{message, text, tokenizers};
use crate::tokenizer::{EncodeOptions, Parts, Tokenizer};
use crate::vocabulary::TokenId;

fn as_text() -> EncodeOptions<'static> {
    EncodeOptions { added_tokens: AddedTokens::Text, ..EncodeOptions::default() }
}

fn without_added(tokenizer: &Tokenizer) -> Arc<Tokenizer> {
    let parts = Parts { added: Vec::new(), ..tokenizer.parts().clone() };
    Arc::new(Tokenizer::new(parts).unwrap())
}

/// The same tokenizer with a template, truncation and padding.
fn fitted(tokenizer: &Tokenizer) -> Tokenizer {
    let special = TemplatePiece::Special { ids: vec![7, 9], type_id: 0, names: Vec::new() };
    let first = TemplatePiece::First { type_id: 0 };
    let second = TemplatePiece::Second { type_id: 0 };
    let template = Template {
        single: vec![special.clone(), first.clone()],
        pair: vec![first, special, second],
    };
    let truncation = Truncation {
        max_length: 12,
        stride: 1,
        strategy: TruncationStrategy::LongestFirst,
        side: Side::Right,
    };
    let padding = Padding {
        length: None,
        multiple_of: Some(5),
        side: Side::Left,
        id: 3,
        type_id: 0,
        token: "x".to_owned(),
    };
    tokenizer.with_lengths(template, Some(truncation), Some(padding)).unwrap()
}

fn shown<T: std::fmt::Debug>(result: Result<T>) -> String {
    format!("{:?}", message(result))
}

/// The ids of texts in ways that give ids, as text; errors as their messages. Streams, counters and counts are in the
/// tests of tokenizers.
fn in_every_way(
    tokenizer: &Arc<Tokenizer>,
    texts: &[&[u8]],
    options: EncodeOptions<'_>,
) -> Vec<(&'static str, String)> {
    let fitting = EncodeOptions { add_special_tokens: true, ..options };
    let dropping = Dropout { probability: 0.4, seed: 5 };
    let dropping = EncodeOptions { dropout: Some(dropping), ..options };
    let fitted = fitted(tokenizer);
    let joined = texts.concat();
    let rows = || {
        let mut layout = Layout::<u32>::new(Marks::default(), Vec::new())?;
        tokenizer.encode_to(&mut layout, texts, options, 2)?;
        Ok(layout.finish())
    };
    let pairs: Vec<_> = texts.iter().map(|&text| (text, Some(texts[0]))).collect();
    let words = [(texts, Some(texts))];
    let mut ways = vec![
        ("batch", shown(tokenizer.encode_batch(texts, options, 2))),
        ("fitted", shown(fitted.encode_batch(texts, fitting, 2))),
        ("fitted counts", shown(fitted.count_batch(texts, fitting, 2))),
        ("fitted pairs", shown(fitted.encode_full_batch(&pairs, fitting, 2))),
        ("words", shown(tokenizer.encode_words_batch(&words, true, options, 1))),
        ("dropout", shown(tokenizer.encode(&joined, dropping))),
        ("dropout with spans", shown(tokenizer.encode_full(&joined, None, dropping))),
        ("rows", shown(rows())),
    ];
    texts.iter().for_each(|text| ways.extend(one_by_one(tokenizer, &fitted, text, options)));
    ways
}

/// The same for one of them.
fn one_by_one(
    tokenizer: &Tokenizer,
    fitted: &Tokenizer,
    text: &[u8],
    options: EncodeOptions<'_>,
) -> [(&'static str, String); 7] {
    let fitting = EncodeOptions { add_special_tokens: true, ..options };
    let with_ids = || tokenizer.with_ids(text, options, <[TokenId]>::to_vec);
    [
        ("one", shown(tokenizer.encode(text, options))),
        ("short", shown(with_ids())),
        ("short again", shown(with_ids())),
        ("fitted one", shown(fitted.encode(text, fitting))),
        ("spans", shown(tokenizer.encode_full(text, None, options))),
        ("tokens", shown(tokenizer.tokenize(text, options))),
        ("truncated", shown(tokenizer.truncate(text, 4, options))),
    ]
}

/// A text of pieces of text, and of what the added tokens of a tokenizer contain.
fn text_of_tokens(tokenizer: &Tokenizer, text: &[u8], picks: &[(u8, u8)]) -> Vec<u8> {
    let added = &tokenizer.parts().added;
    let mut made = text.to_vec();
    for &(which, place) in picks.iter().filter(|_| !added.is_empty()) {
        let content = added[usize::from(which) % added.len()].content.bytes();
        let place = usize::from(place) % (made.len() + 1);
        made.splice(place..place, content);
    }
    made
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn added_tokens_as_text_give_the_ids_of_a_tokenizer_without_them(
        which: prop::sample::Index,
        texts in prop::collection::vec((text(), any::<Vec<(u8, u8)>>()), 1..4),
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let without = without_added(tokenizer);
        let texts: Vec<_> =
            texts.iter().map(|(text, picks)| text_of_tokens(tokenizer, text, picks)).collect();
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        // By turns, so that nothing that one remembers may be seen by the other.
        let fresh = Arc::new(Tokenizer::new(tokenizer.parts().clone()).unwrap());
        let found = in_every_way(&fresh, &texts, EncodeOptions::default());
        let expected = in_every_way(&without, &texts, EncodeOptions::default());
        for tokenizer in [tokenizer, &fresh] {
            prop_assert_eq!(&in_every_way(tokenizer, &texts, as_text()), &expected);
            prop_assert_eq!(&in_every_way(tokenizer, &texts, EncodeOptions::default()), &found);
        }
    }
}

#[test]
fn the_merges_are_shared() {
    let is_shared = |tokenizer: &Tokenizer| {
        tokenizer.encoder().shares_merges_with(tokenizer.as_text().encoder())
    };
    assert!(tokenizers().iter().all(|tokenizer| is_shared(tokenizer)));
}
