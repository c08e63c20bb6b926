//! The proof of a file that was written: it is read again and compared, part by part.
//!
//! Compared are the tokens, merges, added tokens, special tokens around a text and lengths, and what each token is
//! decoded to. Left out: normalizer and split patterns, which are translated with a proof of their own, and
//! what becomes of units without a token, which the format cannot say (`docs/explanation/formats.md`). Costs about
//! what writing the file does; decoding every token only where the steps are not the same.

use super::component::refuse;
use super::{FORMAT, read};
use crate::{inexpressible, quoted};
use bytepair::added::AddedToken;
use bytepair::decode::DecodeErrors;
use bytepair::for_formats::unprepared;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};

/// Refuses a file that does not hold these parts, in which merges are ignored or need not be.
pub(super) fn prove(parts: &Parts, ignores_merges: bool, file: &[u8]) -> Result<()> {
    let unreadable = |error: Error| inexpressible(FORMAT, format!("this tokenizer: {error}"));
    let again = read::parts(file).map_err(unreadable)?;
    check_tokens(&parts.vocabulary, &again.vocabulary)?;
    let is_same = [
        (parts.vocabulary.merges() == again.vocabulary.merges(), "the order of these merges"),
        (found(&parts.added).eq(found(&again.added)), "these rules of added tokens"),
        (ignores_merges == again.ignore_merges, "when merges are ignored"),
        (parts.template.single == again.template.single, "these special tokens around a text"),
        (parts.template.pair == again.template.pair, "these special tokens around two texts"),
        (parts.truncation == again.truncation, "this truncation"),
        (parts.padding == again.padding, "this padding"),
    ];
    match is_same.into_iter().find(|(is_same, _)| !is_same) {
        Some((_, part)) => refuse(part),
        None => check_decoding(parts, again),
    }
}

/// The added tokens, but for whether they stand in the vocabulary too, which says nothing about ids.
fn found(added: &[AddedToken]) -> impl Iterator<Item = AddedToken> {
    let mut added: Vec<_> = added.to_vec();
    added.sort_by_key(|token| token.id);
    added.into_iter().map(|token| AddedToken { in_model: false, ..token })
}

/// An empty token without marks is the same whatever its kind: no text gives it, and it is decoded to nothing. The
/// format reads it as an added token, rank files (Whisper's has one) as a text token.
fn is_same(token: Option<Token<'_>>, again: Option<Token<'_>>) -> bool {
    let is_blank = |token: Token<'_>| {
        token.bytes.is_empty() && matches!(token.kind, TokenKind::PLAIN | TokenKind::Added)
    };
    token == again || token.is_some_and(is_blank) && again.is_some_and(is_blank)
}

fn check_tokens(vocabulary: &Vocabulary, again: &Vocabulary) -> Result<()> {
    let n_ids = TokenId::try_from(vocabulary.len().max(again.len())).unwrap_or(TokenId::MAX);
    match (0..n_ids).find(|&id| !is_same(vocabulary.token(id), again.token(id))) {
        Some(id) => {
            let token = vocabulary.token(id).or_else(|| again.token(id));
            let name = token.map_or_else(String::new, |token| quoted(token.bytes));
            refuse(format!("the token {name} with the id {id}: it would be read as another"))
        }
        None => Ok(()),
    }
}

/// How many tokens are decoded together.
const N_TOGETHER: usize = 64;

/// Refuses a file with which a token would become other text.
///
/// Where tokens and decoder are the same, so is the text. Tokens that are no text are looked at alone and three in a
/// row, as a decoder may treat the first or the last otherwise; ordinary ones together.
fn check_decoding(parts: &Parts, again: Parts) -> Result<()> {
    if parts.decode == again.decode {
        return Ok(());
    }
    let tokenizers = (unprepared(parts.clone())?, unprepared(again)?);
    let (plain, others): (Vec<_>, Vec<_>) =
        parts.vocabulary.iter().partition(|(_, token)| token.kind == TokenKind::PLAIN);
    for (id, _) in others {
        check_text(&tokenizers, &[id])?;
        check_text(&tokenizers, &[id; 3])?;
    }
    let ids: Vec<TokenId> = plain.into_iter().map(|(id, _)| id).collect();
    for row in ids.chunks(N_TOGETHER) {
        if check_text(&tokenizers, row).is_err() {
            row.iter().try_for_each(|id| check_text(&tokenizers, &[*id]))?;
            check_text(&tokenizers, row)?;
        }
    }
    Ok(())
}

fn check_text(tokenizers: &(Tokenizer, Tokenizer), ids: &[TokenId]) -> Result<()> {
    let text = |tokenizer: &Tokenizer| tokenizer.decode(ids, DecodeErrors::Replace, false);
    let (here, there) = (text(&tokenizers.0)?, text(&tokenizers.1)?);
    let (Some(&id), true) = (ids.first(), here != there) else { return Ok(()) };
    let token = tokenizers.0.parts().vocabulary.token(id);
    let name = quoted(token.map_or(&[], |token| token.bytes));
    refuse(format!(
        "the token {name} with the id {id}: it would be decoded to {}, not to {}",
        quoted(there.as_bytes()),
        quoted(here.as_bytes())
    ))
}
