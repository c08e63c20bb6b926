//! Encodings by other rules against plain encoding, over all dialects.

use proptest::prelude::*;

use super::*;
use crate::added::Specials;
use crate::tokenizer::AddedTokens;
use crate::tokenizer::tests::tokenizers;

proptest! {
    #[test]
    fn every_rule_keeps_added_tokens_and_the_bytes_of_all_ids(
        text in "[a-e lowr\n<s>1▁é中]{0,12}|(low |lowest |<s>|<\\|end\\|>){0,6}",
        rate in 0.0..=1.0,
        seed: u64,
    ) {
        for tokenizer in tokenizers() {
            for added_tokens in [AddedTokens::Find, AddedTokens::Text] {
                let allowed_special = match added_tokens {
                    AddedTokens::Find => Specials::All,
                    AddedTokens::Text => Specials::None,
                };
                let options = EncodeOptions { allowed_special, added_tokens, ..EncodeOptions::default() };
                let text = text.as_bytes();
                let Ok(ids) = tokenizer.encode(text, options) else { continue };
                let added = |ids: &[TokenId]| {
                    let is_added = |id: &&TokenId| tokenizer.parts().added.iter().any(|token| token.id == **id);
                    ids.iter().filter(is_added).copied().collect::<Vec<_>>()
                };
                let bytes = tokenizer.decode_bytes(&ids).unwrap();
                let divided = [Division::Uniform, Division::Fewest, Division::Longest].map(Method::Divided);
                let methods = [&[Method::StochasTok(rate)], &divided[..]].concat();
                for method in methods {
                    let other = tokenizer.encode_by(method, seed, text, options).unwrap();
                    prop_assert_eq!(tokenizer.decode_bytes(&other).unwrap(), bytes.clone());
                    prop_assert_eq!(added(&other), added(&ids), "{:?} {:?}", method, other);
                    prop_assert!(method != Method::Divided(Division::Fewest) || other.len() <= ids.len());
                }
                let dropout = Some(Dropout { probability: rate, seed });
                let dropped = tokenizer.encode(text, EncodeOptions { dropout, ..options }).unwrap();
                let by_method = tokenizer.encode_by(Method::Dropout(rate), seed, text, options);
                prop_assert_eq!(by_method.unwrap(), dropped);
            }
        }
    }
}
