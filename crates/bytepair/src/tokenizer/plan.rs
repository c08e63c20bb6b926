//! What encoding runs: the parts of a tokenizer, rewritten once so that a text takes the shortest way.
//!
//! | a tokenizer whose | becomes one |
//! |---|---|
//! | texts are one piece, but for their spaces | whose splitter cuts words before the spaces are replaced ([`super::spaces`]) |
//! | added tokens repeat one character | whose splitter cuts these out together with the pieces ([`super::repeats`]) |
//! | texts are cut once and not changed after | whose pieces are found in blocks of text |
//! | other | as it is: each piece is looked up alone |
//!
//! Each rewriting gives the same ids; its file has the proof. A plan belongs to parts that never change. Tokenizers that
//! differ only in what is put around ids share one.
//!
//! Compiled with a large tokenizer, or when the first text comes. Costs a pass over the merges.

use std::sync::{Arc, OnceLock};

use super::cutting::Cutter;
use super::definition::{self, Definition};
use super::parts::Parts;
use super::repeats;
use super::spaces::{Spaces, spelling};
use crate::added::Matcher;
use crate::encode::Encoder;
use crate::error::Result;
use bytepair_split::Splitter;

/// A compiled way from text to ids.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) encoder: Encoder,
    /// How texts are cut into words before they are normalized.
    words: Option<Spaces>,
    /// What cuts texts at added tokens and into pieces at once.
    repeats: Option<Splitter>,
    /// Made when the first long text comes; `None` inside if texts cannot be cut.
    cutter: OnceLock<Option<Cutter>>,
    /// Texts that no cut may divide: a call may refuse them.
    kept_together: Vec<String>,
    /// Made when a text is encoded by the definition.
    definition: OnceLock<Definition>,
}

/// How the pieces of a text are found. If several apply they give the same pieces, and the first is the fastest.
pub(super) enum Route<'p> {
    /// Words are cut before their spaces are rewritten.
    Words(&'p Spaces),
    /// A splitter cuts out added tokens and pieces at once.
    TokensAndPieces(&'p Splitter),
    /// A splitter cuts what stands between added tokens.
    Segments(&'p Splitter),
    /// All rounds of changing and cutting run, and each piece is looked at alone.
    Rounds,
}

impl Plan {
    pub(super) fn compile(parts: &Parts) -> Self {
        let Parts { vocabulary, units, ignore_merges, .. } = parts;
        let repeated = repeats::repeated(parts).unwrap_or_default();
        let encoder = Encoder::new(Arc::clone(vocabulary), units, *ignore_merges)
            .of_raw_texts(spelling(parts))
            .of_repeated(repeated);
        Self::of(parts, encoder, Vec::new())
    }

    /// The plan for the same parts without added tokens, whose contents are text that a call may refuse.
    pub(super) fn without_added(&self, with: &Parts, without: &Parts) -> Self {
        let encoder = self.encoder.clone().of_raw_texts(spelling(without)).of_repeated(Vec::new());
        let contents = with.added.iter().map(|token| token.content.clone());
        Self::of(without, encoder.without_whole(repeats::never_whole(with)), contents.collect())
    }

    fn of(parts: &Parts, encoder: Encoder, kept_together: Vec<String>) -> Self {
        Self {
            words: Spaces::new(parts, &encoder),
            repeats: repeats::splitter(parts),
            cutter: OnceLock::new(),
            encoder,
            kept_together,
            definition: OnceLock::new(),
        }
    }

    /// Makes what other text than ASCII needs, instead of when such text comes.
    pub(super) fn prepare(&self) {
        self.encoder.prepare();
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
        if let Some(splitter) = self.repeats.as_ref().filter(|_| !matcher.has_late_specials()) {
            return Route::TokensAndPieces(splitter);
        }
        parts.pre_tokenizer.one_splitter().map_or(Route::Rounds, Route::Segments)
    }

    pub(super) fn words(&self) -> Option<&Spaces> {
        self.words.as_ref()
    }

    pub(super) fn repeats(&self) -> Option<&Splitter> {
        self.repeats.as_ref()
    }

    pub(super) fn definition(&self, parts: &Parts) -> Result<&Definition> {
        if let Some(definition) = self.definition.get() {
            return Ok(definition);
        }
        let made = Definition::new(parts)?;
        Ok(self.definition.get_or_init(|| made))
    }

    /// Where texts can be cut. Threads that come at the same time each make it, and nobody waits.
    pub(super) fn cutter(&self, parts: &Parts) -> Option<&Cutter> {
        if definition::is_on() {
            return None;
        }
        if self.cutter.get().is_none() {
            drop(self.cutter.set(Cutter::new(parts, &self.encoder, &self.kept_together)));
        }
        self.cutter.get()?.as_ref()
    }
}
