//! The last of the steps by which ranks make a token from its bytes.
//!
//! Short tokens are searched again for each step. In long ones the pairs wait in a heap, and the token that two parts make is
//! remembered: parts are tokens of the file, so the look-ups are bounded by the length of the file.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Ranks;
use bytepair::vocabulary::TokenId;

/// Shorter tokens need no heap.
const MIN_LONG: usize = 64;

/// The steps by some ranks.
pub(crate) struct Steps<'r, 'v> {
    ranks: &'r Ranks<'v>,
    /// The tokens that two parts of long tokens make.
    joined: HashMap<[Part; 2], Option<TokenId>>,
}

/// A part of a long token: a token, or a byte that is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Token(TokenId),
    Byte(u8),
}

/// The parts of a long token, by the place where each begins.
struct Row<'t> {
    token: &'t [u8],
    parts: Vec<Part>,
    /// Where the next part begins, or the token ends, and the part before.
    ends: Vec<usize>,
    befores: Vec<usize>,
    /// What a part makes with the next one.
    results: Vec<Option<TokenId>>,
    /// Results with their places; some are no longer so.
    waiting: BinaryHeap<Reverse<(TokenId, usize)>>,
}

impl<'r, 'v> Steps<'r, 'v> {
    pub(crate) fn new(ranks: &'r Ranks<'v>) -> Self {
        Self { ranks, joined: HashMap::new() }
    }

    /// The two tokens that are joined into this one; `None` where that never happens.
    pub(crate) fn last_pair(&mut self, token: &[u8]) -> Option<(TokenId, TokenId)> {
        if token.len() < MIN_LONG {
            return last_pair_of_short(token, self.ranks);
        }
        let part = |&byte: &u8| {
            self.ranks.get(&[byte][..]).map_or(Part::Byte(byte), |id| Part::Token(*id))
        };
        let mut row = Row {
            token,
            parts: token.iter().map(part).collect(),
            ends: (1..=token.len()).collect(),
            befores: (0..token.len()).map(|place| place.saturating_sub(1)).collect(),
            results: vec![None; token.len()],
            waiting: BinaryHeap::new(),
        };
        (0..token.len()).for_each(|place| self.look(&mut row, place));
        for _ in 2..token.len() {
            let place = row.join_lowest()?;
            self.look(&mut row, place);
            if place > 0 {
                let before = row.befores[place];
                self.look(&mut row, before);
            }
        }
        match [row.parts[0], row.parts[row.ends[0]]] {
            [Part::Token(left), Part::Token(right)] => Some((left, right)),
            _ => None,
        }
    }

    /// Finds what a part makes with the next one.
    fn look(&mut self, row: &mut Row<'_>, place: usize) {
        let next = row.ends[place];
        let result = match row.parts.get(next) {
            None => None,
            Some(&part) => {
                let (ranks, bytes) = (self.ranks, &row.token[place..row.ends[next]]);
                let joined = self.joined.entry([row.parts[place], part]);
                *joined.or_insert_with(|| ranks.get(bytes).copied())
            }
        };
        row.results[place] = result;
        row.waiting.extend(result.map(|result| Reverse((result, place))));
    }
}

impl Row<'_> {
    /// Joins the pair of the lowest rank, the leftmost of several, and says where it is.
    fn join_lowest(&mut self) -> Option<usize> {
        let (result, place) = loop {
            let Reverse((result, place)) = self.waiting.pop()?;
            if self.results[place] == Some(result) {
                break (result, place);
            }
        };
        let next = self.ends[place];
        self.parts[place] = Part::Token(result);
        self.results[next] = None;
        self.ends[place] = self.ends[next];
        if let Some(before) = self.befores.get_mut(self.ends[next]) {
            *before = place;
        }
        Some(place)
    }
}

/// The last pair that a short token is merged from, found by the definition: merge after merge over its bytes.
fn last_pair_of_short(token: &[u8], ranks: &Ranks<'_>) -> Option<(TokenId, TokenId)> {
    let mut starts: Vec<usize> = (0..=token.len()).collect();
    let rank = |starts: &[usize], part: usize| -> Option<TokenId> {
        let end = *starts.get(part + 2)?;
        ranks.get(&token[starts[part]..end]).copied()
    };
    let mut by_part: Vec<Option<TokenId>> =
        (0..token.len()).map(|part| rank(&starts, part)).collect();
    while starts.len() > 3 {
        let lowest =
            by_part.iter().enumerate().filter_map(|(part, rank)| Some(((*rank)?, part))).min();
        let (_, part) = lowest?;
        starts.remove(part + 1);
        by_part.remove(part + 1);
        by_part[part] = rank(&starts, part);
        if let Some(before) = part.checked_sub(1) {
            by_part[before] = rank(&starts, before);
        }
    }
    let &[_, middle, _] = starts.as_slice() else { return None };
    Some((*ranks.get(&token[..middle])?, *ranks.get(&token[middle..])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranks(tokens: &[&'static str]) -> Ranks<'static> {
        (0..)
            .zip(tokens)
            .map(|(rank, token)| (rank, token.as_bytes()))
            .map(|(rank, token)| (token, rank))
            .collect()
    }

    #[test]
    fn the_last_two_parts_follow_the_ranks() {
        let ranks = ranks(&["a", "b", "c", "bc", "ab", "abc"]);
        assert_eq!(Steps::new(&ranks).last_pair(b"abc"), Some((0, 3)));
        assert_eq!(Steps::new(&ranks).last_pair(b"bc"), Some((1, 2)));
    }

    #[test]
    fn a_token_that_no_step_makes_has_no_parts() {
        let ranks = ranks(&["a", "b", "c", "abc"]);
        assert_eq!(Steps::new(&ranks).last_pair(b"abc"), None);
    }

    proptest! {
        #[test]
        fn long_tokens_are_made_as_by_the_definition(
            shorter in prop::collection::vec("[ab]{2,6}|a{2,40}", 0..30),
            unit in "[ab]{1,7}",
            n_units in 10..40_usize,
            has_bytes in prop::bool::weighted(0.9),
        ) {
            let mut tokens = if has_bytes { vec!["a".to_owned(), "b".to_owned()] } else { Vec::new() };
            for token in shorter.into_iter().chain((1..=n_units).map(|n| unit.repeat(n))) {
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            let ranks: Ranks<'_> = (0..).zip(&tokens).map(|(rank, token)| (token.as_bytes(), rank)).collect();
            let mut steps = Steps::new(&ranks);
            for n in [n_units, n_units * 9, n_units * 9 + 1] {
                let token = unit.repeat(n) + "a";
                prop_assert_eq!(
                    steps.last_pair(token.as_bytes()),
                    last_pair_of_short(token.as_bytes(), &ranks),
                );
            }
        }
    }
}
