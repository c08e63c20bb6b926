//! The vocabulary, merges and added tokens of a `tokenizer.json`, and how they are interpreted.
//!
//! A name in the file does not say what kind of token it is. It is text if a merge uses it or if it is one character
//! long. Otherwise it may be the unknown token or an added one. A name that no text can spell (it is empty, or has
//! characters that stand for no byte) is a token that is only ever decoded. If a name appears twice, its last id counts,
//! as in the library. Takes time linear in the file; names are looked up, not copied.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::FORMAT;
use super::model::Model;
use super::placed_value::{PlacedValue, Repeated, problem, tree};
use crate::{byte_of_name, check_id_range, quoted};
use bytepair::added::AddedToken;
use bytepair::for_formats::vocabulary_with_room;
use bytepair::units::{EndMarkKind, Units, bytes_of_printable};
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Parts, Result};

/// An entry of the added tokens.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the format")]
pub(crate) struct Added {
    pub(crate) id: TokenId,
    pub(crate) content: String,
    pub(crate) single_word: bool,
    pub(crate) lstrip: bool,
    pub(crate) rstrip: bool,
    pub(crate) normalized: bool,
    pub(crate) special: bool,
}

impl Added {
    /// Reads the added token at a place.
    fn of(placed: &PlacedValue<'_>) -> Result<Self> {
        let flag = |field: &str| placed.required(field)?.flag();
        Ok(Self {
            id: placed.required("id")?.whole()?,
            content: placed.required("content")?.text()?.to_owned(),
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
            normalized: flag("normalized")?,
            special: flag("special")?,
        })
    }
}

/// Reads the entries of the added tokens, which may be many.
pub(super) fn listed<'f>(values: impl Iterator<Item = &'f RawValue>) -> Result<Vec<Added>> {
    let mut listed = Vec::new();
    for value in values {
        if let Ok(tokens) = serde_json::from_str(value.get()) {
            listed = tokens;
            continue;
        }
        let tree = tree("added_tokens", value)?;
        let tokens = PlacedValue::new("added_tokens", &tree, Repeated::Refused).items()?;
        listed = tokens.iter().map(Added::of).collect::<Result<_>>()?;
    }
    Ok(listed)
}

/// The list of the added tokens of a tokenizer.
pub(super) fn added_tokens(parts: &Parts) -> Vec<Added> {
    let mut added: Vec<_> = parts.added.iter().collect();
    added.sort_by_key(|token| token.id);
    let listed = |token: &AddedToken| Added {
        id: token.id,
        content: token.content.clone(),
        single_word: token.single_word,
        lstrip: token.lstrip,
        rstrip: token.rstrip,
        normalized: token.normalized,
        special: token.special,
    };
    added.into_iter().map(listed).collect()
}

/// Ids by name. If a name appears twice, the last id counts. Looking up the names of merges is a fifth of loading by the
/// hash of the standard library; this one is seeded at random, too.
type Ids<'m> = HashMap<&'m str, TokenId, RandomState>;

/// Tokens, merges and added tokens.
pub(super) fn vocabulary(
    model: &Model<'_>,
    units: &Units,
    listed: &[Added],
) -> Result<(Vocabulary, Vec<AddedToken>)> {
    let vocab = &model.vocab.0;
    let n_tokens = vocab.len() + listed.len();
    check_id_range(FORMAT, vocab.iter().map(|(_, id)| *id), n_tokens)?;
    let ids: Ids<'_> = vocab.iter().map(|(name, id)| (name.as_ref(), *id)).collect();
    check_marks(units, &ids)?;
    let merges = merges(model, units, &ids)?;
    // If a whole piece may be a token, it may also be an added token, but never a special one: the characters of special
    // tokens are plain text unless a call allows them.
    let ignores_merges = model.ignore_merges == Some(true);
    let is_no_text = |token: &&Added| token.special || !ignores_merges;
    let is_added = listed.iter().filter(is_no_text).map(|token| token.content.as_str()).collect();
    let mut kinds = Kinds { units, is_added, is_merged: Vec::new() };
    merges.iter().for_each(|merge| kinds.mark_merged(merge));
    let n_bytes = vocab.iter().map(|(name, _)| name.len()).sum();
    let mut vocabulary = vocabulary_with_room(n_tokens, n_bytes, merges.len());
    for (name, id) in vocab {
        if ids.len() < vocab.len() && ids.get(name.as_ref()) != Some(id) {
            continue;
        }
        let (kind, bytes) = kinds.token(name, *id);
        insert(&mut vocabulary, *id, name, Token { kind, bytes: &bytes })?;
    }
    for merge in merges {
        vocabulary.push_merge_to(merge);
    }
    check_unknown(units, &ids, &vocabulary)?;
    let is_unit_mark = units.end_mark_kind() == Some(EndMarkKind::Unit);
    let finds_whole = model.ignore_merges == Some(true) && !is_unit_mark;
    let added = added(&mut vocabulary, &ids, listed, finds_whole)?;
    Ok((vocabulary, added))
}

fn insert(vocabulary: &mut Vocabulary, id: TokenId, name: &str, token: Token<'_>) -> Result<()> {
    if vocabulary.token(id) == Some(token) {
        return Ok(());
    }
    let is_taken = |_| {
        let names = quoted(name.as_bytes());
        problem("model.vocab", format!("the id {id} belongs to two tokens, one of them {names}"))
    };
    vocabulary.insert(id, token).map_err(is_taken)
}

fn merges(model: &Model<'_>, units: &Units, ids: &Ids<'_>) -> Result<Vec<Merge>> {
    let n_cut = units.continuing_prefix.as_ref().map_or(0, String::len);
    let mut merges = Vec::with_capacity(model.merges.len());
    let mut joined = String::new();
    for (rank, (left, right)) in model.merges.iter().enumerate() {
        let problem = |problem_is: &str| {
            let names = [left, right].map(|name| quoted(name.as_bytes())).join(" ");
            problem(&format!("model.merges[{rank}], {names}"), problem_is)
        };
        let lacks_prefix = || problem("its right part lacks the continuing prefix");
        let rest = right.get(n_cut..).ok_or_else(lacks_prefix)?;
        joined.clear();
        joined.extend([left.as_ref(), rest]);
        let id = |name: &str| {
            let name_is = || quoted(name.as_bytes());
            let missing = || problem(&format!("the token {} is not in the vocabulary", name_is()));
            ids.get(name).copied().ok_or_else(missing)
        };
        merges.push(Merge { left: id(left)?, right: id(right)?, result: id(&joined)? });
    }
    Ok(merges)
}

/// The facts that determine the kind of a token.
struct Kinds<'m> {
    units: &'m Units,
    is_added: HashSet<&'m str>,
    /// By id.
    is_merged: Vec<bool>,
}

impl Kinds<'_> {
    fn mark_merged(&mut self, merge: &Merge) {
        for id in [merge.left, merge.right, merge.result] {
            if self.is_merged.len() <= id as usize {
                self.is_merged.resize(id as usize + 1, false);
            }
            self.is_merged[id as usize] = true;
        }
    }

    fn token<'n>(&self, name: &'n str, id: TokenId) -> (TokenKind, Cow<'n, [u8]>) {
        let own = Cow::Borrowed(name.as_bytes());
        let is_merged = self.is_merged.get(id as usize).is_some_and(|is_merged| *is_merged);
        let is_text = is_merged || self.is_unit(name);
        if !is_text && self.units.unknown.as_deref() == Some(name) {
            return (TokenKind::Unknown, own);
        }
        if let Some(byte) = byte_of_name(name).filter(|_| self.units.byte_fallback) {
            return (TokenKind::Byte, Cow::Owned(vec![byte]));
        }
        if !is_text && self.is_added.contains(name) || name.is_empty() {
            return (TokenKind::Added, own);
        }
        let token = self.units.parse(name.as_bytes());
        let is_unit_mark = self.units.end_mark_kind() == Some(EndMarkKind::Unit);
        if token.bytes.is_empty() && !is_unit_mark {
            return (TokenKind::PLAIN, own);
        }
        if !self.units.is_bytes() {
            return (token.kind, Cow::Borrowed(token.bytes));
        }
        match std::str::from_utf8(token.bytes).ok().and_then(bytes_of_printable) {
            Some(bytes) => (token.kind, Cow::Owned(bytes)),
            None => (TokenKind::Added, own),
        }
    }

    /// Whether a name is one character, with the marks that a unit can have.
    fn is_unit(&self, name: &str) -> bool {
        let is_one = |text: &str| text.chars().nth(1).is_none();
        if is_one(name) {
            return true;
        }
        let prefix = self.units.continuing_prefix.as_deref().unwrap_or("");
        let mark = self.units.end_mark.as_ref().map_or("", |mark| mark.text.as_str());
        let without_prefix = name.strip_prefix(prefix).unwrap_or(name);
        let without_mark = |text: &str| is_one(text.strip_suffix(mark).unwrap_or(text));
        is_one(without_prefix) || without_mark(name) || without_mark(without_prefix)
    }
}

fn check_unknown(units: &Units, ids: &Ids<'_>, vocabulary: &Vocabulary) -> Result<()> {
    let Some(name) = units.unknown.as_deref() else { return Ok(()) };
    let kinds = [TokenKind::Unknown, TokenKind::Added, TokenKind::PLAIN];
    let found =
        kinds.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes: name.as_bytes() }));
    match found.as_ref() == ids.get(name) {
        true => Ok(()),
        false => {
            Err(problem("model.unk_token", "a token that carries marks, or is not plain text"))
        }
    }
}

/// Refuses a token that is both one character with the prefix and one with the suffix, such as `▁▁` if both are `▁`. The
/// library uses it as both; here a token is only one of them.
fn check_marks(units: &Units, ids: &Ids<'_>) -> Result<()> {
    let suffix = units.end_mark.as_ref().filter(|mark| mark.kind == EndMarkKind::Suffix);
    let (Some(prefix), Some(suffix)) = (units.continuing_prefix.as_deref(), suffix) else {
        return Ok(());
    };
    let (mut in_prefix, mut in_suffix) = (prefix.chars(), suffix.text.chars());
    let (Some(first), Some(last)) = (in_prefix.next(), in_suffix.next_back()) else {
        return Ok(());
    };
    let name = format!("{prefix}{last}");
    if in_prefix.as_str() != in_suffix.as_str() || !ids.contains_key(name.as_str()) {
        return Ok(());
    }
    let problem_is = format!(
        "{} is {last:?} with the continuing_subword_prefix, and {first:?} with the end_of_word_suffix; tell them apart",
        quoted(name.as_bytes())
    );
    Err(problem("model.vocab", problem_is))
}

/// The added tokens. Those that are missing in the vocabulary get the next ids, as in the library.
///
/// If a content appears twice, the last entry counts, and the token is special if any entry says so. Tokens are returned
/// in the order of their ids, in which they are also written.
fn added(
    vocabulary: &mut Vocabulary,
    ids: &Ids<'_>,
    listed: &[Added],
    finds_whole: bool,
) -> Result<Vec<AddedToken>> {
    let mut added: Vec<AddedToken> = Vec::with_capacity(listed.len());
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(listed.len());
    let mut next_id = TokenId::try_from(ids.len()).unwrap_or(TokenId::MAX);
    for token in listed.iter().filter(|token| !token.content.is_empty()) {
        let content = token.content.as_str();
        let place = places.get(content).copied();
        let known = place.map(|place| &added[place]);
        let in_model = ids.get(content).copied();
        let id = known.map(|known| known.id).or(in_model);
        let is_new = id.is_none();
        let id = id.unwrap_or(next_id);
        if is_new {
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            insert(vocabulary, id, content, token)?;
            next_id += 1;
        }
        let was_special = known.is_some_and(|known| known.special);
        let is_only_added =
            vocabulary.token(id).is_some_and(|token| token.kind == TokenKind::Added);
        let token = AddedToken {
            id,
            content: token.content.clone(),
            special: token.special || was_special,
            normalized: token.normalized,
            lstrip: token.lstrip,
            rstrip: token.rstrip,
            single_word: token.single_word,
            whole_piece: finds_whole && in_model.is_some() && is_only_added,
            in_model: in_model.is_some(),
        };
        if let Some(place) = place {
            added[place] = token;
            continue;
        }
        places.insert(content, added.len());
        added.push(token);
    }
    added.sort_by_key(|token| token.id);
    Ok(added)
}
