//! Added tokens that repeat one character, cut out by the splitter instead of before it.
//!
//! Some published vocabularies have tokens for two to some dozen spaces, which are looked for in normalized text. They cut
//! code and documents into segments of a few words, and the work for each segment takes longer than its words. If there is a
//! token for each number of repetitions from a least to a greatest, the longest at a place is the match of ` {2,24}` there.
//! So a stage with this pattern, before those of the pre-tokenizer, cuts where the tokens are, and its matches are pieces like
//! all others: found by vectors and known to the cache.
//!
//! Left out, so that texts are cut at added tokens first: other tokens that are looked for in normalized text, special ones
//! only if a call allows them; tokens that include white space around them or must be words; and pre-tokenizers that change
//! pieces or would split such a token.

use std::collections::{BTreeMap, HashSet};

use super::parts::Parts;
use crate::added::AddedToken;
use crate::encode::Repeated;
use crate::segment::Segment;
use crate::vocabulary::TokenId;
use bytepair_split::{Repeat, Splitter};

/// The tokens that are looked for in normalized text but for special ones, if all of them repeat one character and come as
/// pieces. Then no other piece is such a token, however a text is cut: a run of that length is never left in a segment.
pub(super) fn repeated(parts: &Parts) -> Option<Vec<Repeated>> {
    let splitter = parts.pre_tokenizer.one_splitter()?;
    let mut by_byte = BTreeMap::<u8, BTreeMap<usize, TokenId>>::new();
    let late = || parts.added.iter().filter(|token| token.normalized);
    // What is passed over since it is no word may hold a run.
    if late().any(|token| token.single_word) {
        return None;
    }
    for token in late().filter(|token| !token.special) {
        let byte = repeated_byte(token)?;
        let content = token.content.as_bytes();
        let is_kept = parts.normalizer.normalize(Segment::inner(content)).ok()? == content;
        let is_piece = splitter.pieces(content).ok()? == [content];
        let before = by_byte.entry(byte).or_default().insert(content.len(), token.id);
        if !is_kept || !is_piece || before.is_some() {
            return None;
        }
    }
    let all = by_byte.into_iter().map(|(byte, ids)| {
        let (&least, &most) = (ids.first_key_value()?.0, ids.last_key_value()?.0);
        let has_each = ids.len() == most - least + 1;
        has_each.then(|| Repeated { byte, least, ids: ids.into_values().collect() })
    });
    all.collect()
}

/// The splitter that cuts them out.
pub(super) fn splitter(parts: &Parts) -> Option<Splitter> {
    let repeated = repeated(parts).filter(|repeated| !repeated.is_empty())?;
    let repeats = repeated.iter().map(|repeated| Repeat {
        byte: repeated.byte,
        least: repeated.least,
        most: repeated.most(),
    });
    Some(parts.pre_tokenizer.one_splitter()?.behind(&repeats.collect::<Vec<_>>()))
}

/// The added tokens that a piece could be as a whole, and no merges make.
pub(super) fn never_whole(parts: &Parts) -> HashSet<TokenId> {
    if !parts.ignore_merges {
        return HashSet::new();
    }
    let merges = parts.vocabulary.merges().iter();
    let made: HashSet<_> = merges.map(|merge| merge.result).collect();
    let ids = parts.added.iter().map(|token| token.id);
    ids.filter(|id| !made.contains(id)).collect()
}

/// The character of a token that is nothing but one ASCII character, and counts wherever it stands.
fn repeated_byte(token: &AddedToken) -> Option<u8> {
    let AddedToken { lstrip, rstrip, whole_piece, .. } = *token;
    let (&first, rest) = token.content.as_bytes().split_first()?;
    let is_plain = !(lstrip || rstrip || whole_piece);
    (is_plain && first.is_ascii() && rest.iter().all(|&byte| byte == first)).then_some(first)
}

#[cfg(test)]
mod tests;
