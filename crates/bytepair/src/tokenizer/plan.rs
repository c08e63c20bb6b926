//! How encoding runs: the parts of a tokenizer, rewritten once so that texts take the fastest way.
//!
//! | a tokenizer whose | becomes one |
//! |---|---|
//! | texts are one piece, except for spaces | whose splitter cuts words before spaces are replaced ([`super::spaces`]) |
//! | added tokens repeat one character | whose splitter cuts these out together with the pieces ([`repeated`]) |
//! | texts are cut once and not changed after | whose pieces are found in blocks of text |
//! | other | as it is: each piece is looked up alone |
//!
//! Each rewriting gives the same ids. A plan belongs to parts that never change, and is shared by tokenizers that
//! differ only in what is put around ids. It is compiled with a large tokenizer, or when the first text comes. Costs a
//! pass over the merges.
//!
//! Some published vocabularies have tokens for two to some dozen spaces, which are looked for in normalized text. They
//! cut code and documents into segments of a few words, and the work for each segment takes longer than its words. If
//! there is a token for each number of repetitions in a range, the longest at a place is the match of ` {2,24}` there.
//! So a stage with this pattern, before those of the pre-tokenizer, cuts where the tokens are, and its matches are
//! pieces like all others: found with SIMD and cached. Texts are instead cut at added tokens first if other tokens are
//! looked for in normalized text (special ones only if a call allows them), if a token includes white space around it
//! or must be a word, or if the pre-tokenizer changes pieces or would split such a token.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use bytepair_split::{Repeat, Splitter};

use super::cutting::Cutter;
use super::definition::{self, Definition};
use super::parts::Parts;
use super::spaces::{Spaces, spelling};
use crate::added::{AddedToken, Matcher};
use crate::encode::{Encoder, Repeated};
use crate::error::Result;
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// The compiled way from text to ids.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) encoder: Encoder,
    /// How texts are cut into words before they are normalized.
    pub(super) words: Option<Spaces>,
    /// The splitter that finds added tokens and pieces at once.
    pub(super) repeats: Option<Splitter>,
    /// Made when the first long text comes; otherwise it says why texts cannot be cut.
    cutter: OnceLock<std::result::Result<Cutter, &'static str>>,
    /// Texts that no cut may divide, since a call may refuse them.
    kept_together: Vec<String>,
    /// Made when a text is encoded by the definition.
    definition: OnceLock<Definition>,
}

/// How the pieces of a text are found. If several routes apply they give the same pieces, and the first is the
/// fastest.
pub(super) enum Route<'p> {
    /// Words are cut before their spaces are replaced.
    Words(&'p Spaces),
    /// A splitter cuts out added tokens and pieces at once.
    TokensAndPieces(&'p Splitter),
    /// A splitter cuts the text between added tokens.
    Segments(&'p Splitter),
    /// All rounds of changing and cutting run, and each piece is encoded by itself.
    Rounds,
}

impl Plan {
    pub(super) fn compile(parts: &Parts) -> Self {
        let Parts { vocabulary, units, ignore_merges, .. } = parts;
        let repeated = repeated(parts).unwrap_or_default();
        let encoder = Encoder::new(Arc::clone(vocabulary), units, *ignore_merges)
            .of_raw_texts(spelling(parts))
            .of_repeated(repeated);
        Self::of(parts, encoder, Vec::new())
    }

    /// The plan for the same parts without some added tokens, whose contents are then text that a call may refuse.
    pub(super) fn without_added(&self, with: &Parts, without: &Parts) -> Self {
        let encoder = self.encoder.clone().of_raw_texts(spelling(without));
        let encoder = encoder.of_repeated(repeated(without).unwrap_or_default());
        let contents = with.added.iter().map(|token| token.content.clone());
        let never_whole = never_whole(with, &without.added);
        Self::of(without, encoder.without_whole(never_whole), contents.collect())
    }

    fn of(parts: &Parts, encoder: Encoder, kept_together: Vec<String>) -> Self {
        Self {
            words: Spaces::new(parts, &encoder),
            repeats: repeats_splitter(parts),
            cutter: OnceLock::new(),
            encoder,
            kept_together,
            definition: OnceLock::new(),
        }
    }

    /// How the pieces of a text are found, if a call looks for these added tokens.
    pub(super) fn route<'p>(
        &'p self,
        parts: &'p Parts,
        matcher: &Matcher,
        text: &[u8],
    ) -> Route<'p> {
        if matcher.has_whole_pieces() {
            return Route::Rounds;
        }
        if let Some(words) = self.words.as_ref().filter(|words| words.takes(text)) {
            return Route::Words(words);
        }
        if let Some(splitter) = self.repeats.as_ref().filter(|_| !matcher.has_late_specials) {
            return Route::TokensAndPieces(splitter);
        }
        parts.pre_tokenizer.one_splitter().map_or(Route::Rounds, Route::Segments)
    }

    pub(super) fn definition(&self, parts: &Parts) -> Result<&Definition> {
        if let Some(definition) = self.definition.get() {
            return Ok(definition);
        }
        let made = Definition::new(parts)?;
        Ok(self.definition.get_or_init(|| made))
    }

    /// Where texts can be cut. Threads that arrive at the same time each compute it, and none waits.
    ///
    /// # Errors
    /// If texts cannot be cut: the reason.
    pub(super) fn cutter(&self, parts: &Parts) -> std::result::Result<&Cutter, &'static str> {
        if definition::is_on() {
            return Err("text is encoded by the definition");
        }
        let made =
            self.cutter.get_or_init(|| Cutter::new(parts, &self.encoder, &self.kept_together));
        made.as_ref().map_err(|reason| *reason)
    }
}

/// The non-special tokens that are looked for in normalized text, if all of them repeat one character and are cut as
/// pieces. Then no other piece is such a token, however a text is cut: a run of that length is never left in a
/// segment.
fn repeated(parts: &Parts) -> Option<Vec<Repeated>> {
    let splitter = parts.pre_tokenizer.one_splitter()?;
    let mut by_byte = BTreeMap::<u8, BTreeMap<usize, TokenId>>::new();
    let late = || parts.added.iter().filter(|token| token.normalized);
    // A match that is skipped because it is not a word may contain a run.
    if late().any(|token| token.single_word) {
        return None;
    }
    for token in late().filter(|token| !token.special) {
        let byte = repeated_byte(token)?;
        let content = token.content.as_bytes();
        let is_kept = parts.normalizer.normalize(Segment::inner(content)).ok()? == content;
        let is_piece = splitter.pieces(content).ok()? == [content];
        let before = by_byte.entry(byte).or_default().insert(content.len(), token.id);
        if !is_kept || !is_piece || before.is_some() {
            return None;
        }
    }
    let all = by_byte.into_iter().map(|(byte, ids)| {
        let (&least, &most) = (ids.first_key_value()?.0, ids.last_key_value()?.0);
        let has_each = ids.len() == most - least + 1;
        has_each.then(|| Repeated { byte, least, ids: ids.into_values().collect() })
    });
    all.collect()
}

/// The splitter that cuts these tokens out.
fn repeats_splitter(parts: &Parts) -> Option<Splitter> {
    let repeated = repeated(parts).filter(|repeated| !repeated.is_empty())?;
    let repeats = repeated.iter().map(|repeated| Repeat {
        byte: repeated.byte,
        least: repeated.least,
        most: repeated.most(),
    });
    Some(parts.pre_tokenizer.one_splitter()?.behind(&repeats.collect::<Vec<_>>()))
}

/// The added tokens that a piece could be as a whole, and no merges make, except for those that stay.
fn never_whole(parts: &Parts, staying: &[AddedToken]) -> HashSet<TokenId> {
    if !parts.ignore_merges {
        return HashSet::new();
    }
    let merges = parts.vocabulary.merges().iter();
    let staying = staying.iter().map(|token| token.id);
    let made: HashSet<_> = merges.map(|merge| merge.result).chain(staying).collect();
    let ids = parts.added.iter().map(|token| token.id);
    ids.filter(|id| !made.contains(id)).collect()
}

/// The character of a token that is a single ASCII character and is found everywhere.
fn repeated_byte(token: &AddedToken) -> Option<u8> {
    let AddedToken { lstrip, rstrip, whole_piece, .. } = *token;
    let (&first, rest) = token.content.as_bytes().split_first()?;
    let is_plain = !(lstrip || rstrip || whole_piece);
    (is_plain && first.is_ascii() && rest.iter().all(|&byte| byte == first)).then_some(first)
}

#[cfg(test)]
mod tests;
