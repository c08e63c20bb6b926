//! Our parts to a `tokenizer.json`, and the proof that it says what they do.
//!
//! Every part is checked before it is written: names must be unique, merges must give the token of the joined names,
//! added tokens must get the ids that they have here. Patterns are those that Oniguruma reads alike, or published ones in its words. An
//! end mark that is a unit of its own is refused: the format only knows marks that belong to the last unit.
//!
//! Then the file is read again and compared, part by part: tokens, merges, added tokens, special tokens around a text and
//! lengths, and what each token is decoded to. Left out: normalizer and split patterns, and what becomes of units without a token, which the format cannot say
//! (`docs/explanation/formats.md`). The proof costs about what writing the file does; every token is decoded only where
//! the steps are not the same.
//!
//! Tokens must have unique names. A row that no text gives, such as the padding of a matrix, stands in the vocabulary of the
//! model, where no merge makes it; if its name is taken, it gets one of its own, such as `[PAD300]`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::decoder::decoder;
use super::model::model;
use super::normalizer::{moved, normalizer};
use super::placed_value::refuse;
use super::post_processor::{padding_value, post_processor, truncation_value};
use super::pre_tokenizer::pre_tokenizer;
use super::sentencepiece::spelled_out;
use super::vocabulary::added_tokens;
use super::{FORMAT, parts as parts_of_file};
use crate::{Written, inexpressible, quoted, require};
use bytepair::added::AddedToken;
use bytepair::decode::DecodeErrors;
use bytepair::for_formats::{encoder, text_of_name, unprepared};
use bytepair::units::{EndMarkKind, Units, bytes_of_printable, published_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Parts, Result, Tokenizer};

/// The file of a tokenizer, from which every text gets the same ids.
///
/// # Errors
/// If the library could not give the same ids; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    write_with_changes(tokenizer)?.exact(FORMAT)
}

/// The file of a tokenizer, also where the library normalizes some texts otherwise.
///
/// # Errors
/// If the library could not give the same ids for another reason; the error names the part.
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
    check_units(&parts.units)?;
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

/// Refuses an end mark that is a unit: the format joins marks to the last unit of a piece.
fn check_units(units: &Units) -> Result<()> {
    match &units.end_mark {
        Some(mark) if mark.kind == EndMarkKind::Unit => {
            refuse(format!("the end mark {:?} as a unit of its own", mark.text))
        }
        _ => Ok(()),
    }
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

/// How tokens are named in the file.
pub(super) struct Names {
    /// `None` if an id has no token.
    by_id: Vec<Option<String>>,
    /// Ids of added tokens that get their id by their place after the vocabulary.
    n_behind: usize,
    /// The rows that no text gives, in order.
    unused: Vec<TokenId>,
    /// Whether a piece that is a token as a whole is that token there.
    pub(super) ignore_merges: bool,
}

impl Names {
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
        let vocabulary = &parts.vocabulary;
        let mut names = vec![None; vocabulary.len()];
        let mut ids: HashMap<String, TokenId> = HashMap::with_capacity(vocabulary.len());
        let unused = unused(parts);
        let is_unused = |id: TokenId| unused.binary_search(&id).is_ok();
        let (last, first): (Vec<_>, Vec<_>) = vocabulary.iter().partition(|(id, _)| is_unused(*id));
        for (id, token) in first.into_iter().chain(last) {
            let mut name = name(&parts.units, token)?;
            if is_unused(id) && ids.contains_key(&name) {
                name = format!("[PAD{id}]");
            }
            if let Some(other) = ids.insert(name.clone(), id) {
                return refuse(format!(
                    "two tokens with the name {name:?}, the ids {other} and {id}"
                ));
            }
            names[id as usize] = Some(name);
        }
        let (n_behind, ignore_merges) = n_behind(tokenizer, &names, &unused)?;
        let names = Self { by_id: names, n_behind, unused, ignore_merges };
        parts.added.iter().try_for_each(|token| names.check_added(token))?;
        names.check_units(parts)?;
        Ok(names)
    }

    pub(super) fn get(&self, id: TokenId) -> Result<&str> {
        let name = self.by_id.get(id as usize).and_then(Option::as_deref);
        name.ok_or_else(|| inexpressible(FORMAT, format!("the id {id}, which has no token")))
    }

    /// Whether no text gives an id.
    pub(super) fn is_unused(&self, id: TokenId) -> bool {
        self.unused.binary_search(&id).is_ok()
    }

    /// The tokens that stand in the vocabulary of the model, with their ids.
    pub(super) fn in_model(&self) -> impl Iterator<Item = (&str, TokenId)> {
        let names = &self.by_id[..self.by_id.len() - self.n_behind];
        (0..).zip(names).filter_map(|(id, name)| Some((name.as_deref()?, id)))
    }

    fn check_added(&self, token: &AddedToken) -> Result<()> {
        let part = format!("the added token {}", quoted(token.content.as_bytes()));
        if self.get(token.id)? != token.content {
            return refuse(format!(
                "{part}, whose id is that of the token {:?}",
                self.get(token.id)?
            ));
        }
        Ok(())
    }

    /// Refuses tokens that are no text here but would be units there.
    fn check_units(&self, parts: &Parts) -> Result<()> {
        let is_bytes = parts.units.is_bytes();
        let is_unit = |name: &str| {
            name.chars().nth(1).is_none() && (!is_bytes || bytes_of_printable(name).is_some())
        };
        let mut units = self.in_model().filter(|(name, _)| !name.is_empty() && is_unit(name));
        let is_text = |id| {
            parts.vocabulary.token(id).is_some_and(|token| matches!(token.kind, TokenKind::Text(_)))
        };
        match units.find(|(_, id)| !is_text(*id)) {
            Some((name, _)) => {
                refuse(format!("the token {name:?}, which is no text: it would be a unit there"))
            }
            None => Ok(()),
        }
    }
}

/// The tokens that are found in no text, not even as added ones, and that no merge makes or takes. None if units have
/// marks: with these, more than one character may be a unit.
fn unused(parts: &Parts) -> Vec<TokenId> {
    if parts.units.end_mark.is_some() || parts.units.continuing_prefix.is_some() {
        return Vec::new();
    }
    let mut is_used = vec![false; parts.vocabulary.len()];
    let mut mark = |id: TokenId| {
        if let Some(is_used) = is_used.get_mut(id as usize) {
            *is_used = true;
        }
    };
    parts.added.iter().for_each(|token| mark(token.id));
    for merge in parts.vocabulary.merges() {
        [merge.left, merge.right, merge.result].into_iter().for_each(&mut mark);
    }
    let tokens = parts.vocabulary.iter();
    tokens
        .filter(|(id, token)| {
            token.kind == TokenKind::Added && !token.bytes.is_empty() && !is_used[*id as usize]
        })
        .map(|(id, _)| id)
        .collect()
}

fn name(units: &Units, token: Token<'_>) -> Result<String> {
    let is_text = matches!(token.kind, TokenKind::Text(_));
    let is_bytes = units.is_bytes() && is_text || token.kind == TokenKind::Byte;
    if !is_bytes && std::str::from_utf8(token.bytes).is_err() {
        return refuse(format!("the token {}, which is not UTF-8", quoted(token.bytes)));
    }
    let name = published_name(units, token);
    match name.is_empty() && is_text && !units.is_bytes() {
        true => refuse("a token without text"),
        false => Ok(name),
    }
}

/// How many added tokens follow the vocabulary of the model without a gap, in the order of their ids.
///
/// Those that stand in the vocabulary of the model here do so there. Of the others, either all follow it or none:
/// then they stand in it too, which fixes their ids. There a whole piece could be one of them where merges are ignored;
/// so they cannot stand there unless they do here, no piece is one of them ([`may_be_piece`]), or merging gives every
/// token anyway and need not be ignored. The same holds for `unused` rows. Also says whether merges are ignored.
fn n_behind(
    tokenizer: &Tokenizer,
    names: &[Option<String>],
    unused: &[TokenId],
) -> Result<(usize, bool)> {
    let parts = tokenizer.parts();
    let vocabulary = &parts.vocabulary;
    let listed = || parts.added.iter().filter(|token| !token.whole_piece && !token.in_model);
    let is_listed: HashSet<TokenId> = listed().map(|token| token.id).collect();
    let is_behind =
        |id: TokenId, token: Token<'_>| token.kind == TokenKind::Added && is_listed.contains(&id);
    let n_behind = vocabulary.iter().filter(|&(id, token)| is_behind(id, token)).count();
    let is_dense = vocabulary.iter().count() == vocabulary.len();
    let are_last =
        vocabulary.iter().skip(vocabulary.len() - n_behind).all(|(id, token)| is_behind(id, token));
    let n_behind = if is_dense && are_last { n_behind } else { 0 };
    let is_outside = |id: TokenId| {
        n_behind == 0 && vocabulary.token(id).is_some_and(|found| is_behind(id, found))
    };
    let outside = listed().map(|token| token.id).filter(|id| is_outside(*id));
    let named = |id: TokenId| Some((id, names.get(id as usize)?.as_deref()?));
    let mut candidates = outside.chain(unused.iter().copied()).filter_map(named);
    let ambiguous = match parts.ignore_merges {
        true => candidates.find(|(_, name)| may_be_piece(tokenizer, name)),
        false => None,
    };
    match ambiguous {
        Some(_) if is_made_by_merges(tokenizer) => Ok((n_behind, false)),
        Some((id, name)) => refuse(format!(
            "the token {} with the id {id}, which is not text, nor an added token with one of the last ids: a piece \
             could be it there, as merges are ignored for pieces that are tokens",
            quoted(name.as_bytes()),
        )),
        None => Ok((n_behind, parts.ignore_merges)),
    }
}

/// Whether a piece may be the name of a token: nothing proves that the normalizer changes or the pattern cuts it.
fn may_be_piece(tokenizer: &Tokenizer, name: &str) -> bool {
    let Some(text) = text_of_name(&tokenizer.parts().units, name) else { return false };
    let is_never = |never: Vec<bool>| never.contains(&true);
    std::str::from_utf8(&text).is_err()
        || text.is_empty()
        || !is_never(tokenizer.never_held(&[&text]))
            && !tokenizer.never_normalized(&[&text]).is_ok_and(is_never)
}

/// Whether the ids of a piece that is a token are those of its merges too.
fn is_made_by_merges(tokenizer: &Tokenizer) -> bool {
    let Parts { units, vocabulary, added, .. } = tokenizer.parts();
    let is_text_or_added =
        |token: Token<'_>| token.kind == TokenKind::PLAIN || token.kind == TokenKind::Added;
    units.end_mark.is_none()
        && units.continuing_prefix.is_none()
        && !added.iter().any(|token| token.whole_piece)
        && vocabulary.iter().all(|(_, token)| is_text_or_added(token))
        && encoder(tokenizer).unmade().is_empty()
}
