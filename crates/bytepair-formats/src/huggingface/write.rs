//! Our parts to a `tokenizer.json`, and the proof that it says what they do.
//!
//! Every part is checked before it is written: names must be unique, merges must give the token of the joined names,
//! added tokens must get the ids that they have here. Patterns are translated to Oniguruma with proof (`placed_value`). A
//! one-character end mark that is a unit becomes a normalizer that puts it at the end of every word; everywhere else in
//! the text that character is made unknown before.
//!
//! Then the file is read again and compared, part by part: tokens, merges, added tokens, special tokens around a text and
//! lengths, and what each token is decoded to. Left out: normalizer and split patterns, which are translated with a
//! proof of their own, and what becomes of units without a token, which the format cannot say
//! (`docs/explanation/formats.md`). The proof costs about what writing the file does; every token is decoded only where
//! the steps are not the same.

use std::borrow::Cow;

use serde_json::json;

use super::decoder::decoder;
use super::model::model;
use super::names::{Names, may_be_piece};
use super::normalizer::{moved, normalizer};
use super::placed_value::refuse;
use super::post_processor::{padding_value, post_processor, truncation_value};
use super::pre_tokenizer::pre_tokenizer;
use super::read::parts as parts_of_file;
use super::sentencepiece::spelled_out;
use super::vocabulary::added_tokens;
use super::{FORMAT, RESERVED, WORD};
use crate::{Written, inexpressible, quoted, require};
use bytepair::added::AddedToken;
use bytepair::decode::DecodeErrors;
use bytepair::for_formats::unprepared;
use bytepair::units::EndMarkKind;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Parts, Result, Tokenizer};
use bytepair_split::{Splitter, Unmatched};

/// The file of a tokenizer, from which every text gets the same ids.
///
/// # Errors
/// Where the library could not give the same ids; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    write_with_changes(tokenizer)?.exact(FORMAT)
}

/// The file of a tokenizer, also where the library normalizes some texts otherwise.
///
/// # Errors
/// Where the library could not give the same ids for another reason; the error names the part.
pub fn write_with_changes(tokenizer: &Tokenizer) -> Result<Written> {
    let own;
    let (parts, changes) = spelled_out(tokenizer.parts())?;
    let tokenizer = match parts {
        Cow::Borrowed(_) => tokenizer,
        Cow::Owned(parts) => {
            own = unprepared(parts)?;
            &own
        }
    };
    let parts = tokenizer.parts();
    check_units(parts)?;
    let names = Names::new(tokenizer)?;
    let moved = moved(parts)?;
    let file = json!({
        "version": "1.0",
        "truncation": parts.truncation.as_ref().map(truncation_value),
        "padding": parts.padding.as_ref().map(padding_value),
        "added_tokens": added_tokens(parts),
        "normalizer": normalizer(parts, moved.len())?,
        "pre_tokenizer": pre_tokenizer(parts, moved)?,
        "post_processor": post_processor(parts, &names)?,
        "decoder": decoder(parts)?,
        "model": model(parts, &names)?,
    });
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    prove(tokenizer, &names, &bytes)?;
    Ok(Written { file: bytes, changes })
}

fn check_units(parts: &Parts) -> Result<()> {
    match &parts.units.end_mark {
        Some(mark) if mark.kind == EndMarkKind::Unit => check_unit_mark(parts, &mark.text),
        _ => Ok(()),
    }
}

fn check_unit_mark(parts: &Parts, mark: &str) -> Result<()> {
    let part = format!("the end mark {mark:?} as a unit of its own");
    let splitter = parts.pre_tokenizer.only_splitter();
    let stages = splitter.as_ref().map(Splitter::stages);
    let is_words = matches!(stages, Some([stage]) if stage.pattern.source == WORD && stage.unmatched() == Some(Unmatched::Drop));
    let holds = |text: &str| {
        parts.vocabulary.iter().any(|(_, token)| {
            matches!(token.kind, TokenKind::Text(_)) && contains(token.bytes, text)
        })
    };
    if mark.chars().count() != 1 {
        return refuse(format!("{part}: only a mark of one character can be written"));
    }
    if !is_words || mark.chars().all(char::is_whitespace) {
        return refuse(format!("{part}: only the words of {WORD} can get one"));
    }
    if holds(mark) || holds(RESERVED) {
        return refuse(format!("{part}: the same character is in the alphabet"));
    }
    if parts.units.continuing_prefix.is_some() || parts.added.iter().any(|token| token.normalized) {
        return refuse(format!(
            "{part}, together with a continuing prefix or added tokens in normalized text"
        ));
    }
    Ok(())
}

fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

/// Refuses a file that does not hold these parts, with these names, by which merges are ignored or need not be.
fn prove(tokenizer: &Tokenizer, names: &Names, file: &[u8]) -> Result<()> {
    let parts = tokenizer.parts();
    let unreadable = |error: Error| inexpressible(FORMAT, format!("this tokenizer: {error}"));
    let again = parts_of_file(file).map_err(unreadable)?;
    check_tokens(&parts.vocabulary, names, &again.vocabulary)?;
    let is_same = [
        (parts.vocabulary.merges() == again.vocabulary.merges(), "the order of these merges"),
        (
            found(tokenizer, &parts.added).eq(found(tokenizer, &again.added)),
            "these rules of added tokens",
        ),
        (names.ignore_merges == again.ignore_merges, "when merges are ignored"),
        (parts.template.single == again.template.single, "these special tokens around a text"),
        (parts.template.pair == again.template.pair, "these special tokens around two texts"),
        (parts.truncation == again.truncation, "this truncation"),
        (parts.padding == again.padding, "this padding"),
    ];
    require(FORMAT, &is_same)?;
    check_decoding(parts, again)
}

/// The added tokens, but for what says nothing about ids: whether they stand in the vocabulary too, and whether a piece is one
/// that no piece can be.
fn found<'t>(
    tokenizer: &'t Tokenizer,
    added: &[AddedToken],
) -> impl Iterator<Item = AddedToken> + use<'t> {
    let mut added: Vec<_> = added.to_vec();
    added.sort_by_key(|token| token.id);
    added.into_iter().map(|token| {
        let whole_piece = token.whole_piece && may_be_piece(tokenizer, &token.content);
        AddedToken { in_model: false, whole_piece, ..token }
    })
}

/// An empty token without marks is the same whatever its kind: no text gives it, and it is decoded to nothing. The
/// format reads it as an added token, rank files (Whisper's has one) as a text token.
fn is_same(token: Option<Token<'_>>, again: Option<Token<'_>>) -> bool {
    let is_blank = |token: Token<'_>| {
        token.bytes.is_empty() && matches!(token.kind, TokenKind::PLAIN | TokenKind::Added)
    };
    token == again || token.is_some_and(is_blank) && again.is_some_and(is_blank)
}

/// Whether a row that no text gives is the one of this name there, whether that is a text or not: no merge makes it,
/// and where merges are ignored no row is unused.
fn is_unused(names: &Names, id: TokenId, again: Option<Token<'_>>) -> bool {
    let is_named = |token: Token<'_>| {
        matches!(token.kind, TokenKind::PLAIN | TokenKind::Added)
            && names.get(id).is_ok_and(|name| name.as_bytes() == token.bytes)
    };
    names.is_unused(id) && again.is_some_and(is_named)
}

fn check_tokens(vocabulary: &Vocabulary, names: &Names, again: &Vocabulary) -> Result<()> {
    let n_ids = TokenId::try_from(vocabulary.len().max(again.len())).unwrap_or(TokenId::MAX);
    let is_kept = |id| {
        let again = again.token(id);
        is_same(vocabulary.token(id), again) || is_unused(names, id, again)
    };
    match (0..n_ids).find(|&id| !is_kept(id)) {
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
    let both = Both { here: unprepared(parts.clone())?, there: unprepared(again)? };
    let (plain, others): (Vec<_>, Vec<_>) =
        parts.vocabulary.iter().partition(|(_, token)| token.kind == TokenKind::PLAIN);
    for (id, _) in others {
        both.check_text(&[id])?;
        both.check_text(&[id; 3])?;
    }
    let ids: Vec<TokenId> = plain.into_iter().map(|(id, _)| id).collect();
    for row in ids.chunks(N_TOGETHER) {
        if both.check_text(row).is_err() {
            row.iter().try_for_each(|id| both.check_text(&[*id]))?;
            both.check_text(row)?;
        }
    }
    Ok(())
}

/// A tokenizer, and what its file is read as.
struct Both {
    here: Tokenizer,
    there: Tokenizer,
}

impl Both {
    fn check_text(&self, ids: &[TokenId]) -> Result<()> {
        let text = |tokenizer: &Tokenizer| tokenizer.decode(ids, DecodeErrors::Replace, false);
        let (here, there) = (text(&self.here)?, text(&self.there)?);
        let (Some(&id), true) = (ids.first(), here != there) else { return Ok(()) };
        let token = self.here.parts().vocabulary.token(id);
        let name = quoted(token.map_or(&[], |token| token.bytes));
        refuse(format!(
            "the token {name} with the id {id}: it would be decoded to {}, not to {}",
            quoted(there.as_bytes()),
            quoted(here.as_bytes())
        ))
    }
}
