//! The parts of a tokenizer, before it is compiled.
//!
//! These are plain values, assembled by a dialect or a file reader; what they do is in their own modules. References
//! between parts are checked here when a tokenizer is made. Costs a look at each added token.

use std::sync::Arc;

use crate::added::AddedToken;
use crate::decode::Decode;
use crate::error::{Error, ErrorKind, Result};
use crate::normalize::{MAX_GROWTH, Normalizer, growth};
use crate::pretokenize::PreTokenizer;
use crate::template::{OffsetRules, Padding, Template, Truncation};
use crate::units::Units;
use crate::vocabulary::{Merge, TokenId, Vocabulary};
use bytepair_split::Splitter;

/// All parts of a tokenizer.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Changes the text before it is split.
    pub normalizer: Normalizer,
    /// Cuts each segment of the normalized text into pieces.
    pub pre_tokenizer: PreTokenizer,
    /// Cuts pieces into symbols.
    pub units: Units,
    /// Ids, tokens and merges.
    pub vocabulary: Arc<Vocabulary>,
    /// Tokens that are found by their content. All are in the vocabulary.
    pub added: Vec<AddedToken>,
    /// Whether a piece that is a token as a whole is that token, whatever the merges would give.
    pub ignore_merges: bool,
    /// The probability that a merge is skipped, if a call requests dropout; a hint of the file, without effect otherwise.
    pub dropout: Option<f64>,
    /// Special tokens put around a text on request.
    pub template: Template,
    /// How the ids of a text are cut to a length on request.
    pub truncation: Option<Truncation>,
    /// How the ids of a text are filled up to a length on request.
    pub padding: Option<Padding>,
    /// How spans of tokens are reported.
    pub offsets: OffsetRules,
    /// How ids become text.
    pub decode: Decode,
}

impl Parts {
    /// The parts of a tokenizer with these units and this vocabulary and nothing else: the text is not changed and is
    /// one piece.
    pub fn new(units: Units, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            normalizer: Normalizer::default(),
            pre_tokenizer: PreTokenizer::from(Splitter::whole()),
            units,
            vocabulary,
            added: Vec::new(),
            ignore_merges: false,
            dropout: None,
            template: Template::default(),
            truncation: None,
            padding: None,
            offsets: OffsetRules::default(),
            decode: Decode::default(),
        }
    }

    /// Refuses parts that are inconsistent.
    pub(super) fn check(&self) -> Result<()> {
        self.units.check()?;
        if let Some(dropout) = self.dropout.filter(|dropout| !(0.0..=1.0).contains(dropout)) {
            return Err(Error::option("dropout", format!("{dropout} is not between 0 and 1")));
        }
        for token in &self.added {
            self.vocabulary.expect_token(token.id)?;
            if token.whole_piece && !self.ignore_merges {
                return Err(is_never_whole(token));
            }
        }
        self.check_lengths()?;
        self.check_growth()
    }

    /// Refuses merges of ids that are not in the vocabulary.
    pub(super) fn check_merges(&self) -> Result<()> {
        let ids = |merge: &Merge| [merge.left, merge.right, merge.result];
        let n_ids = self.vocabulary.len();
        let unknown = |id: &TokenId| *id as usize >= n_ids;
        match self.vocabulary.merges().iter().flat_map(ids).find(unknown) {
            Some(id) => Err(ErrorKind::UnknownId { id: id.into(), n_ids }.into()),
            None => Ok(()),
        }
    }

    /// Refuses a template, truncation or padding that is inconsistent.
    pub(super) fn check_lengths(&self) -> Result<()> {
        for id in self.template.special_ids() {
            self.vocabulary.expect_token(id)?;
        }
        self.template.check()?;
        self.padding.as_ref().map_or(Ok(()), Padding::check)
    }

    /// These parts with every id replaced, except in the vocabulary, which stays the same.
    ///
    /// # Errors
    /// Those of `new_id`.
    pub(crate) fn renumbered(&self, new_id: &dyn Fn(TokenId) -> Result<TokenId>) -> Result<Self> {
        let mut parts = self.clone();
        let added = parts.added.iter_mut().map(|token| &mut token.id);
        let padding = parts.padding.iter_mut().map(|padding| &mut padding.id);
        for id in added.chain(parts.template.ids_mut()).chain(padding) {
            *id = new_id(*id)?;
        }
        Ok(parts)
    }

    fn check_growth(&self) -> Result<()> {
        let rounds = self.pre_tokenizer.rounds().iter().flat_map(|round| round.change.growths());
        let encoding: Vec<_> = self.normalizer.growths().chain(rounds).collect();
        let decoding: Vec<_> = match &self.decode {
            Decode::Chain(chain) => chain.growths().collect(),
            Decode::Rules(_) | Decode::SentencePiece(_) => Vec::new(),
        };
        for (name, steps) in [("normalizer", encoding), ("decoder", decoding)] {
            if growth(&steps) > f64::from(MAX_GROWTH) {
                let problem = format!(
                    "what it puts in and in front could make a text more than {MAX_GROWTH} times longer; \
                     give it shorter texts"
                );
                return Err(Error::option(name, problem));
            }
        }
        Ok(())
    }
}

fn is_never_whole(token: &AddedToken) -> Error {
    let problem = format!("{:?} is a whole piece, but merges are not ignored", token.content);
    Error::option("whole_piece", problem)
}
