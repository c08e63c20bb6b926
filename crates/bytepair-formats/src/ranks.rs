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
//! looking up its parts takes: for each two that come to stand side by side anywhere their bytes once.

mod steps;

use std::collections::HashMap;
use std::sync::Arc;

pub(super) use self::steps::Steps;

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
