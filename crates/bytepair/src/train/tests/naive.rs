//! Training by its definition: count all pairs anew at every step. The twin of the engine.
//!
//! Takes O(S) time for each merge, S symbols in the distinct pieces.

use std::collections::BTreeMap;

use crate::train::{Target, Ties, TrainOptions};
use crate::vocabulary::TokenId;

/// A learned merge: the pair, its count, and the token it makes.
pub(super) type Step = ((TokenId, TokenId), i64, TokenId);

/// Learns merges from pieces given as tokens with their counts. A token is only made if `allows` says so of its text.
pub(super) fn train(
    mut pieces: Vec<(Vec<TokenId>, i64)>,
    mut texts: Vec<Vec<u8>>,
    options: &TrainOptions,
    allows: impl Fn(&[u8]) -> bool,
) -> Vec<Step> {
    let Target::Merges(max_merges) = options.target else {
        unreachable!("the tests ask for merges")
    };
    let mut steps = Vec::new();
    while steps.len() < max_merges {
        let best = best(&pieces, &texts, options.ties, &allows);
        let Some((pair, count)) = best.filter(|best| best.1 >= options.min_count) else { break };
        let text = [texts[pair.0 as usize].clone(), texts[pair.1 as usize].clone()].concat();
        assert!(!texts.contains(&text), "two pairs make the same token");
        let result = TokenId::try_from(texts.len()).unwrap();
        texts.push(text);
        pieces.iter_mut().for_each(|(piece, _)| *piece = merged(piece, pair, result));
        steps.push((pair, count, result));
    }
    steps
}

/// The pair to merge next, with its count.
fn best(
    pieces: &[(Vec<TokenId>, i64)],
    texts: &[Vec<u8>],
    ties: Ties,
    allows: &impl Fn(&[u8]) -> bool,
) -> Option<((TokenId, TokenId), i64)> {
    let mut seen: BTreeMap<(TokenId, TokenId), (i64, usize)> = BTreeMap::new();
    let mut n_seen = 0;
    for (piece, count) in pieces {
        for pair in piece.windows(2) {
            let entry = seen.entry((pair[0], pair[1])).or_insert((0, n_seen));
            entry.0 += count;
            n_seen += 1;
        }
    }
    let text = |id: TokenId| texts[id as usize].clone();
    let rank = |&(pair, (count, first)): &((TokenId, TokenId), (i64, usize))| match ties {
        Ties::SmallestIds => (count, None, std::cmp::Reverse((pair, 0))),
        Ties::FirstSeen => (count, None, std::cmp::Reverse(((0, 0), first))),
        Ties::LargestText => {
            (count, Some((text(pair.0), text(pair.1))), std::cmp::Reverse((pair, 0)))
        }
    };
    let is_allowed =
        |(pair, _): &((TokenId, TokenId), _)| allows(&[text(pair.0), text(pair.1)].concat());
    let (best, (count, _)) = seen.into_iter().filter(is_allowed).max_by_key(rank)?;
    Some((best, count))
}

/// A piece with every occurrence of a pair replaced, left to right, without overlap.
fn merged(piece: &[TokenId], pair: (TokenId, TokenId), result: TokenId) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < piece.len() {
        let matches = piece.get(place + 1).is_some_and(|&right| (piece[place], right) == pair);
        tokens.push(if matches { result } else { piece[place] });
        place += if matches { 2 } else { 1 };
    }
    tokens
}
