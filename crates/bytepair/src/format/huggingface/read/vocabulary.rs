//! Vocabulary, merges and added tokens of a `tokenizer.json`.
//!
//! A name in the file does not say what kind of token it is. It is text if a merge knows it or it is one
//! character long; else it may be the unknown token or an added one.

use std::collections::{HashMap, HashSet};

use super::problem;
use crate::added::AddedToken;
use crate::error::Result;
use crate::format::huggingface::FORMAT;
use crate::format::huggingface::schema::{Added, Model};
use crate::format::names::bytes_of_printable;
use crate::format::{check_id_range, json, quoted};
use crate::units::{EndMarkKind, Units};
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// Tokens, merges and added tokens.
pub(super) fn vocabulary(
    model: &Model,
    units: &Units,
    listed: &[Added],
) -> Result<(Vocabulary, Vec<AddedToken>)> {
    let entries = &model.vocab.0;
    let n_tokens = entries.len() + listed.len();
    check_id_range(FORMAT, entries.iter().map(|(_, id)| *id), n_tokens)?;
    let ids: HashMap<&str, TokenId> =
        entries.iter().map(|(name, id)| (name.as_str(), *id)).collect();
    if ids.len() < entries.len() {
        return Err(problem("model.vocab", "a token stands there twice"));
    }
    let merges = merges(model, units, &ids)?;
    let mut kinds = Kinds { units, is_added: HashSet::new(), is_merged: HashSet::new() };
    kinds.is_added.extend(listed.iter().map(|token| token.content.as_str()));
    kinds.is_merged.extend(merges.iter().flat_map(|merge| [merge.left, merge.right, merge.result]));
    let mut vocabulary = Vocabulary::new();
    for (name, id) in entries {
        let (kind, bytes) = kinds.token(name, *id)?;
        insert(&mut vocabulary, *id, Token { kind, bytes: &bytes })?;
    }
    for merge in merges {
        vocabulary.push_merge_to(merge);
    }
    check_unknown(model, &ids, &vocabulary, units)?;
    let added = added(&mut vocabulary, &ids, listed)?;
    Ok((vocabulary, added))
}

fn insert(vocabulary: &mut Vocabulary, id: TokenId, token: Token<'_>) -> Result<()> {
    let is_taken = |_| problem("model.vocab", format!("the id {id} belongs to two tokens"));
    vocabulary.insert(id, token).map_err(is_taken)
}

fn merges(model: &Model, units: &Units, ids: &HashMap<&str, TokenId>) -> Result<Vec<Merge>> {
    let prefix = units.continuing_prefix.as_deref().unwrap_or("");
    let named = |merge: &json::MergeNames| {
        format!("{} {}", quoted(merge.0.as_bytes()), quoted(merge.1.as_bytes()))
    };
    let merged = |(rank, merge): (usize, &json::MergeNames)| {
        let rest = merge.1.strip_prefix(prefix).ok_or_else(|| {
            problem(
                &format!("merge {rank}, {}", named(merge)),
                "its right part lacks the continuing prefix",
            )
        })?;
        let id = |name: &str| {
            let missing = || {
                let missing =
                    format!("the token {} is not in the vocabulary", quoted(name.as_bytes()));
                problem(&format!("merge {rank}, {}", named(merge)), missing)
            };
            ids.get(name).copied().ok_or_else(missing)
        };
        let result = id(&format!("{}{rest}", merge.0))?;
        Ok(Merge { left: id(&merge.0)?, right: id(&merge.1)?, result })
    };
    model.merges.iter().enumerate().map(merged).collect()
}

/// What decides the kind of a token.
struct Kinds<'m> {
    units: &'m Units,
    is_added: HashSet<&'m str>,
    is_merged: HashSet<TokenId>,
}

impl Kinds<'_> {
    fn token(&self, name: &str, id: TokenId) -> Result<(TokenKind, Vec<u8>)> {
        let is_text = self.is_merged.contains(&id) || name.chars().nth(1).is_none();
        let own = || name.as_bytes().to_vec();
        if !is_text && self.units.unknown.as_deref() == Some(name) {
            return Ok((TokenKind::Unknown, own()));
        }
        if !is_text && self.is_added.contains(name) {
            return Ok((TokenKind::Added, own()));
        }
        if self.units.is_bytes() {
            let bytes = bytes_of_printable(name);
            let not_bytes =
                || problem(&format!("the token {name:?}"), "has characters that stand for no byte");
            return bytes.map(|bytes| (TokenKind::PLAIN, bytes)).ok_or_else(not_bytes);
        }
        if name.is_empty() {
            return Err(problem("model.vocab", "a token without text"));
        }
        if let Some(byte) = byte_of_name(name).filter(|_| self.units.byte_fallback) {
            return Ok((TokenKind::Byte, vec![byte]));
        }
        let token = self.units.parse(name.as_bytes());
        let is_unit_mark = self.units.end_mark_kind() == Some(EndMarkKind::Unit);
        if token.bytes.is_empty() && !is_unit_mark {
            return Ok((TokenKind::PLAIN, own()));
        }
        Ok((token.kind, token.bytes.to_vec()))
    }
}

/// The byte of a token such as `<0x41>`.
fn byte_of_name(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_written_so = digits.len() == 2
        && !digits.bytes().any(|digit| digit.is_ascii_lowercase() || digit == b'+');
    u8::from_str_radix(digits, 16).ok().filter(|_| is_written_so)
}

fn check_unknown(
    model: &Model,
    ids: &HashMap<&str, TokenId>,
    vocabulary: &Vocabulary,
    units: &Units,
) -> Result<()> {
    let Some(name) = model.unk_token.as_deref() else { return Ok(()) };
    let kinds = [TokenKind::Unknown, TokenKind::Added, TokenKind::PLAIN];
    let found =
        kinds.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes: name.as_bytes() }));
    if found != ids.get(name).copied() {
        return Err(problem("model.unk_token", "a token that carries marks, or is no plain text"));
    }
    let n_bytes = vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::Byte).count();
    if units.byte_fallback && !matches!(n_bytes, 0 | 256) {
        return Err(problem(
            "model.byte_fallback",
            format!("{n_bytes} of the 256 bytes are in the vocabulary"),
        ));
    }
    Ok(())
}

/// The added tokens; those that are not in the vocabulary get the next ids, as in the library.
fn added(
    vocabulary: &mut Vocabulary,
    ids: &HashMap<&str, TokenId>,
    listed: &[Added],
) -> Result<Vec<AddedToken>> {
    let mut added: Vec<AddedToken> = Vec::with_capacity(listed.len());
    let mut seen = HashSet::new();
    let mut next_id = TokenId::try_from(ids.len()).unwrap_or(TokenId::MAX);
    for token in listed {
        let name = format!("the added token {}", quoted(token.content.as_bytes()));
        check_added(&name, token)?;
        let id = ids.get(token.content.as_str()).copied().unwrap_or(next_id);
        if !seen.insert(token.content.as_str()) {
            return Err(problem(&name, "stands there twice"));
        }
        if !ids.contains_key(token.content.as_str()) {
            insert(
                vocabulary,
                id,
                Token { kind: TokenKind::Added, bytes: token.content.as_bytes() },
            )?;
            next_id += 1;
        }
        let Added { content, special, normalized, .. } = token;
        added.push(AddedToken {
            id,
            content: content.clone(),
            special: *special,
            normalized: *normalized,
        });
    }
    Ok(added)
}

fn check_added(name: &str, token: &Added) -> Result<()> {
    let flags =
        [("lstrip", token.lstrip), ("rstrip", token.rstrip), ("single_word", token.single_word)];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_set)| *is_set) {
        return Err(problem(name, format!("{flag} is not supported")));
    }
    if token.content.is_empty() {
        return Err(problem(name, "has no content"));
    }
    Ok(())
}
