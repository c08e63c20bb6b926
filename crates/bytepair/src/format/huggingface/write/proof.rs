//! The proof of a file that was written: it is read again and compared, part by part.
//!
//! Compared are the tokens, merges, added tokens, special tokens around a text and lengths, and what each token is
//! decoded to. Left out: normalizer and split patterns, which are translated with a proof of their own, and
//! what becomes of units without a token, which the format cannot say (`docs/explanation/formats.md`). Costs about
//! what writing the file does; decoding every token only where the steps are not the same.

use super::{FORMAT, refuse};
use crate::decode::{Decode, DecodeErrors};
use crate::error::{Error, Result};
use crate::format::huggingface::read;
use crate::format::{inexpressible, quoted};
use crate::tokenizer::{Parts, Tokenizer};
use crate::vocabulary::{TokenId, Vocabulary};

/// Refuses a file that does not hold these parts.
pub(super) fn prove(parts: &Parts, file: &[u8]) -> Result<()> {
    let unreadable = |error: Error| inexpressible(FORMAT, format!("this tokenizer: {error}"));
    let again = read::parts(file).map_err(unreadable)?;
    check_tokens(&parts.vocabulary, &again.vocabulary)?;
    let is_same = [
        (
            parts.vocabulary.merges() == again.vocabulary.merges(),
            "the order of these merges",
        ),
        (parts.added == again.added, "these rules of added tokens"),
        (parts.ignore_merges == again.ignore_merges, "when merges are ignored"),
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

fn check_tokens(vocabulary: &Vocabulary, again: &Vocabulary) -> Result<()> {
    let n_ids = TokenId::try_from(vocabulary.len().max(again.len())).unwrap_or(TokenId::MAX);
    match (0..n_ids).find(|&id| vocabulary.token(id) != again.token(id)) {
        Some(id) => {
            let token = vocabulary.token(id).or_else(|| again.token(id));
            let name = token.map_or_else(String::new, |token| quoted(token.bytes));
            refuse(format!("the token {name} with the id {id}: it would be read as another"))
        }
        None => Ok(()),
    }
}

/// Refuses a file with which a token would become other text.
fn check_decoding(parts: &Parts, again: Parts) -> Result<()> {
    if parts.decode == again.decode && !matches!(parts.decode, Decode::Chain(_)) {
        return Ok(());
    }
    let (first, second) = (Tokenizer::unprepared(parts.clone())?, Tokenizer::unprepared(again)?);
    let text = |tokenizer: &Tokenizer, id: TokenId| {
        // A token may be decoded otherwise where others stand beside it.
        let ids = [id; 3];
        let several = tokenizer.decode(&ids, DecodeErrors::Replace, false)?;
        Ok::<_, Error>((tokenizer.decode(&ids[..1], DecodeErrors::Replace, false)?, several))
    };
    for (id, token) in parts.vocabulary.iter() {
        let (here, there) = (text(&first, id)?, text(&second, id)?);
        if here != there {
            let name = quoted(token.bytes);
            let (here, there) = if here.0 == there.0 { (here.1, there.1) } else { (here.0, there.0) };
            return refuse(format!(
                "the token {name} with the id {id}: it would be decoded to {}, not to {}",
                quoted(there.as_bytes()),
                quoted(here.as_bytes())
            ));
        }
    }
    Ok(())
}
