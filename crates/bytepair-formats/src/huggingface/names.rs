//! How tokens are named in a `tokenizer.json` that is written, and which of them stand in the vocabulary of its model.
//!
//! Names must be unique, added tokens must get the ids that they have here, and what is no text here must be no unit
//! there. Costs a look at each token.

use std::collections::{HashMap, HashSet};

use super::FORMAT;
use super::placed_value::refuse;
use crate::{inexpressible, quoted};
use bytepair::added::AddedToken;
use bytepair::for_formats::{encoder, text_of_name};
use bytepair::units::{Units, bytes_of_printable, published_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind};
use bytepair::{Parts, Result, Tokenizer};

/// How tokens are named in the file.
pub(super) struct Names {
    /// `None` where an id has no token.
    by_id: Vec<Option<String>>,
    /// Ids of added tokens that get their id by their place behind the vocabulary.
    n_behind: usize,
    /// Whether a piece that is a token as a whole is that token there.
    pub(super) ignore_merges: bool,
}

impl Names {
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
        let vocabulary = &parts.vocabulary;
        let mut names = vec![None; vocabulary.len()];
        let mut ids: HashMap<String, TokenId> = HashMap::with_capacity(vocabulary.len());
        for (id, token) in vocabulary.iter() {
            let name = name(&parts.units, token)?;
            if let Some(other) = ids.insert(name.clone(), id) {
                return refuse(format!(
                    "two tokens with the name {name:?}, the ids {other} and {id}"
                ));
            }
            names[id as usize] = Some(name);
        }
        let (n_behind, ignore_merges) = n_behind(tokenizer)?;
        let names = Self { by_id: names, n_behind, ignore_merges };
        parts.added.iter().try_for_each(|token| names.check_added(token))?;
        names.check_units(parts)?;
        Ok(names)
    }

    pub(super) fn get(&self, id: TokenId) -> Result<&str> {
        let name = self.by_id.get(id as usize).and_then(Option::as_deref);
        name.ok_or_else(|| inexpressible(FORMAT, format!("the id {id}, which has no token")))
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
/// token anyway and need not be ignored. Also says whether it is.
fn n_behind(tokenizer: &Tokenizer) -> Result<(usize, bool)> {
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
    if is_dense && are_last {
        return Ok((n_behind, parts.ignore_merges));
    }
    let is_outside = |token: &&AddedToken| {
        vocabulary.token(token.id).is_some_and(|found| is_behind(token.id, found))
    };
    let is_ambiguous = |token: &&AddedToken| is_outside(token) && may_be_piece(tokenizer, token);
    match listed().find(is_ambiguous).filter(|_| parts.ignore_merges) {
        Some(_) if is_made_by_merges(tokenizer) => Ok((0, false)),
        Some(token) => refuse(format!(
            "the added token {} with the id {}, which is not one of the last ids: a piece could be it there, as \
             merges are ignored for pieces that are tokens",
            quoted(token.content.as_bytes()),
            token.id
        )),
        None => Ok((0, parts.ignore_merges)),
    }
}

/// Whether a piece may be the name of an added token: nothing proves that the normalizer changes or the pattern cuts it.
pub(super) fn may_be_piece(tokenizer: &Tokenizer, token: &AddedToken) -> bool {
    let Some(text) = text_of_name(&tokenizer.parts().units, &token.content) else { return false };
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
