//! Merges from ranks: what tiktoken's rule does, in the words of a merge list.
//!
//! tiktoken joins the neighbouring parts whose joined bytes have the lowest rank, the leftmost of
//! several. Run on the bytes of one token alone, with that rule, the last step joins two parts into the
//! token, or the token is never made. Inside any longer text, as long as nothing crosses the token's
//! borders, the same steps happen in the same order; so these two parts are the only ones that are ever
//! joined into it. The list of these pairs, in the order of the ranks, therefore gives tiktoken's ids for
//! every table of ranks, whether or not it was trained. Tokens that are never made are only found as whole
//! pieces.
//!
//! Costs O(n²) for a token of n bytes; n is at most 65,536.

use std::collections::HashMap;

use crate::vocabulary::TokenId;

/// Tokens of more bytes are not derived.
pub(super) const MAX_TOKEN_LEN: usize = 1 << 16;

/// Ids, which are ranks, by the bytes of the token.
pub(super) type Ranks<'v> = HashMap<&'v [u8], TokenId>;

/// The two tokens that are joined into this one; `None` where that never happens.
pub(super) fn last_pair(token: &[u8], ranks: &Ranks<'_>) -> Option<(TokenId, TokenId)> {
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
        assert_eq!(last_pair(b"abc", &ranks), Some((0, 3)));
        assert_eq!(last_pair(b"bc", &ranks), Some((1, 2)));
    }

    #[test]
    fn a_token_that_no_step_makes_has_no_parts() {
        let ranks = ranks(&["a", "b", "c", "abc"]);
        assert_eq!(last_pair(b"abc", &ranks), None);
    }
}
