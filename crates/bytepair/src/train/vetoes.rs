//! Tokens that the caller forbids, by their texts or by a function.
//!
//! [`Forbidden`] looks at the text of a token, without marks. A function sees both tokens as they are written. It is
//! called once for each pair that occurs often enough to be merged, and its answer is remembered. After an error it is
//! not called again, and training ends with that error.
//!
//! Takes a search in the text of each candidate, and memory for all texts; nothing if nothing is forbidden.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::TrainOptions;
use crate::error::{Error, Result};
use crate::forbidden::Forbidden;
use crate::units::Units;
use crate::vocabulary::{Token, TokenId};

/// A function that a caller gives.
///
/// ```
/// use std::sync::Arc;
/// use bytepair::train::{Forbids, Function, Target, TrainOptions};
///
/// // No token may end with a space.
/// let forbids = |_left: &[u8], right: &[u8]| Ok(right.ends_with(b" "));
/// let mut options = TrainOptions::new(Target::Merges(10));
/// options.veto = Some(Function(Arc::new(forbids) as Arc<Forbids>));
/// ```
pub struct Function<F: ?Sized>(pub Arc<F>);

/// Whether two tokens, as they are written, must not be merged.
pub type Forbids = dyn Fn(&[u8], &[u8]) -> Result<bool> + Send + Sync;

/// Where a piece is cut: offsets in bytes, in ascending order.
pub type Cuts = dyn Fn(&[u8]) -> Result<Vec<usize>> + Send + Sync;

/// How a piece begins: the tokens of an earlier vocabulary, `None` for each that stands apart from its neighbours.
pub type Begin = dyn Fn(&[u8]) -> Result<Vec<Option<TokenId>>> + Send + Sync;

impl<F: ?Sized> Clone for Function<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> fmt::Debug for Function<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Function")
    }
}

/// Decides which pairs are forbidden.
pub(super) struct Vetoes {
    forbidden: Option<Arc<Forbidden>>,
    function: Option<Function<Forbids>>,
    /// By token id.
    tokens: Vec<Texts>,
    /// What the function answered.
    answers: RefCell<HashMap<[TokenId; 2], bool>>,
    failure: RefCell<Option<Error>>,
}

/// A token without its marks, and as it is written.
#[derive(Clone, Default)]
struct Texts {
    plain: Vec<u8>,
    written: Vec<u8>,
}

impl Vetoes {
    /// The vetoes of these options; `None` if there are none.
    pub(super) fn new(options: &TrainOptions) -> Option<Self> {
        if options.forbidden.is_none() && options.veto.is_none() {
            return None;
        }
        Some(Self {
            forbidden: options.forbidden.clone(),
            function: options.veto.clone(),
            tokens: Vec::new(),
            answers: RefCell::default(),
            failure: RefCell::default(),
        })
    }

    /// Adds a token. Ids must come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, token: Token<'_>, units: &Units) {
        let plain = token.bytes.to_vec();
        self.tokens.resize(id as usize, Texts::default());
        self.tokens.push(Texts { plain, written: units.written(token).into_owned() });
    }

    /// Whether a pair must not be merged. After an error, all are forbidden.
    pub(super) fn forbid(&self, left: TokenId, right: TokenId) -> bool {
        if self.failure.borrow().is_some() {
            return true;
        }
        let known = self.answers.borrow().get(&[left, right]).copied();
        let answer = known.map_or_else(|| self.answer(left, right), Ok);
        answer.unwrap_or_else(|error| {
            *self.failure.borrow_mut() = Some(error);
            true
        })
    }

    fn answer(&self, left: TokenId, right: TokenId) -> Result<bool> {
        let [one, other] = [left, right].map(|id| &self.tokens[id as usize]);
        let text = || [one.plain.as_slice(), other.plain.as_slice()].concat();
        if let Some(forbidden) = &self.forbidden
            && forbidden.has(&text())?
        {
            return Ok(true);
        }
        let Some(Function(function)) = &self.function else { return Ok(false) };
        let answer = function(&one.written, &other.written)?;
        self.answers.borrow_mut().insert([left, right], answer);
        Ok(answer)
    }

    /// Passes on the first error of a pattern or the function.
    pub(super) fn check(&self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
