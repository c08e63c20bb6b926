//! How tokens are named in a `tokenizer.json` that is written, and which of them stand in the vocabulary of its model.
//!
//! Names must be unique, added tokens must get the ids that they have here, and what is no text here must be no unit
//! there. A row that no text gives, such as the padding of a matrix, stands in the vocabulary of the model, where no merge
//! makes it; if its name is taken, it gets one of its own, such as `[PAD300]`. Costs a look at each token.

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

/// The tokens that are found in no text, not even as added ones, and that no merge makes or takes. None where units have
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
pub(super) fn may_be_piece(tokenizer: &Tokenizer, name: &str) -> bool {
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
