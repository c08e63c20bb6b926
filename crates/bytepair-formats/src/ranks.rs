//! Ranks to a tokenizer: what tiktoken's rule does, in the words of a merge list.
//!
//! tiktoken joins the neighbouring parts whose joined bytes have the lowest rank, the leftmost of
//! several. Run on the bytes of one token alone, with that rule, the last step joins two parts into the
//! token, or the token is never made. Inside any longer text, as long as nothing crosses the token's
//! borders, the same steps happen in the same order; so these two parts are the only ones that are ever
//! joined into it. The list of these pairs, in the order of the ranks, therefore gives tiktoken's ids for
//! every table of ranks, whether or not it was trained. Tokens that are never made are only found as whole
//! pieces.
//!
//! Ids are ranks, or ranks and a constant: only their order counts. Costs O(n log n) for a token of n bytes, and what
//! looking up its parts takes: for each two that come to stand side by side anywhere their bytes once. Short tokens are
//! searched again for each step. In long ones the pairs wait in a heap, and the token that two parts make is remembered:
//! parts are tokens of the file, so the look-ups are bounded by the length of the file.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::{check_id_range, quoted};
use bytepair::Parts;
use bytepair::added::AddedToken;
use bytepair::units::{ByteIds, Units, byte_order};
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Splitter, Stage};

/// Tokens of more bytes are not derived.
pub(super) const MAX_TOKEN_LEN: usize = 1 << 16;

/// Ids, in the order of the ranks, by the bytes of the token.
pub(super) type Ranks<'v> = HashMap<&'v [u8], TokenId>;

/// The tokenizer of tokens with their ids, and special tokens with theirs.
///
/// Errors name the token or the id that appears twice.
pub(super) fn parts(
    format: &'static str,
    entries: &[(Vec<u8>, TokenId)],
    split: Vec<Stage>,
    special_tokens: &[(String, TokenId)],
) -> Result<Parts> {
    let ids = entries.iter().map(|(_, id)| *id).chain(special_tokens.iter().map(|(_, id)| *id));
    check_id_range(format, ids, entries.len() + special_tokens.len())?;
    let mut vocabulary = Vocabulary::new();
    for (bytes, id) in entries {
        insert(format, &mut vocabulary, *id, Token::plain(bytes))?;
    }
    let is_complete = push_merges(&mut vocabulary, entries);
    let mut added = Vec::with_capacity(special_tokens.len());
    for (content, id) in special_tokens {
        if content.is_empty() {
            return Err(Error::format(format, format!("special token {id}"), "has no content"));
        }
        let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
        insert(format, &mut vocabulary, *id, token)?;
        let (id, content) = (*id, content.clone());
        added.push(AddedToken { id, content, special: true, ..AddedToken::default() });
    }
    Ok(Parts {
        pre_tokenizer: Splitter::new(split, &UnicodeTables::latest())?.into(),
        added,
        ignore_merges: !is_complete,
        ..Parts::new(Units::bytes(byte_ids(&vocabulary)), Arc::new(vocabulary))
    })
}

fn insert(
    format: &'static str,
    vocabulary: &mut Vocabulary,
    id: TokenId,
    token: Token<'_>,
) -> Result<()> {
    if vocabulary.id(token).is_some() {
        let special = if token.kind == TokenKind::Added { "special " } else { "" };
        let part = format!("the {special}token {}", quoted(token.bytes));
        return Err(Error::format(format, part, "appears twice"));
    }
    let is_taken = |_| Error::format(format, format!("the id {id}"), "belongs to two tokens");
    vocabulary.insert(id, token).map_err(is_taken)
}

/// Appends the merges that the ranks stand for; whether they make every token.
fn push_merges(vocabulary: &mut Vocabulary, entries: &[(Vec<u8>, TokenId)]) -> bool {
    let by_bytes: Ranks<'_> = entries.iter().map(|(bytes, id)| (bytes.as_slice(), *id)).collect();
    let mut longer: Vec<_> = entries.iter().filter(|(bytes, _)| bytes.len() > 1).collect();
    longer.sort_unstable_by_key(|(_, id)| *id);
    let (mut is_complete, mut steps) = (true, Steps::new(&by_bytes));
    for (bytes, result) in longer {
        match steps.last_pair(bytes) {
            Some((left, right)) => vocabulary.push_merge_to(Merge { left, right, result: *result }),
            None => is_complete = false,
        }
    }
    is_complete
}

/// Which of the two orders the bytes have, if they have one.
fn byte_ids(vocabulary: &Vocabulary) -> ByteIds {
    let by_value = byte_order(ByteIds::Value);
    let is_by_value =
        (0..).zip(by_value).all(|(id, byte)| vocabulary.id(Token::plain(&[byte])) == Some(id));
    if is_by_value { ByteIds::Value } else { ByteIds::Printable }
}

/// Shorter tokens need no heap.
const MIN_LONG: usize = 64;

/// The steps by some ranks.
pub(super) struct Steps<'r, 'v> {
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
    pub(super) fn new(ranks: &'r Ranks<'v>) -> Self {
        Self { ranks, joined: HashMap::new() }
    }

    /// The two tokens that are joined into this one; `None` if that never happens.
    pub(super) fn last_pair(&mut self, token: &[u8]) -> Option<(TokenId, TokenId)> {
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
