//! Other ways to make tokens of a piece than by merges: at random among all ways, or by a simple rule.
//!
//! A piece is first made into the symbols that encoding begins with, so marks, byte tokens and unknown tokens are those
//! of encoding. Neighbouring symbols may then be joined to any text token with their bytes. Added tokens and the unknown
//! token are never made of parts.
//!
//! ```text
//! uniform   counts[i] = sum of counts[end] over all tokens that begin at symbol i; then, from the left,
//!           the token to `end` is drawn with the probability counts[end] / counts[i]
//! fewest    n_least[i] = 1 + the least n_least[end]; from the left, the longest token of a division into so few
//! longest   from the left, the longest token
//! ```
//!
//! Counts are floating-point numbers with an exponent of their own, because a long piece has more divisions than fit.
//! Each count is off by a factor of at most 1 ± 2⁻⁵³ for every addition in it, so a draw differs from the uniform
//! distribution by at most n · t · 2⁻⁵² in total variation, for n symbols and at most t tokens that begin at one.
//!
//! Tokens are found in an array that is sorted by bytes: each symbol narrows a range of it. Takes O(n · t · log v) time
//! for a vocabulary of v tokens, and 16 bytes of memory a symbol. Sorting takes as long as encoding a few megabytes, once.
//!
//! Source for `uniform`: Cognetta, Zouhar and Okazaki, "Distributional Properties of Subword Regularization" (2024); for
//! [`Joinable::split_at_random`]: Sims et al., `StochasTok` (2025).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::{Encoder, Scratch};
use crate::error::Result;
use crate::hash::random_below;
use crate::memory::ask;
use crate::units::{END_MARK, EndMarkKind, Units};
use crate::vocabulary::{Form, Token, TokenId, TokenKind, Vocabulary, merged_kind};

/// Which division of a piece into tokens is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// Any, each with the same probability.
    Uniform,
    /// One of the fewest tokens; the one whose first token is longest, then whose second is, and so on.
    Fewest,
    /// From the left, the longest token each time.
    Longest,
}

/// Bytes of memory for each byte of a piece: its symbol with its span, its count, and its token.
const DIVIDING_LEN: usize = 96;

/// The text tokens that can be made by joining others.
#[derive(Debug)]
pub(crate) struct Joinable {
    vocabulary: Arc<Vocabulary>,
    units: Units,
    /// The ids, sorted by the bytes of their tokens; of several ids with the same content, the one that is looked up.
    ids: Vec<TokenId>,
    /// By first byte: where its tokens begin in `ids`. One more entry marks the end.
    starts: Vec<usize>,
    /// The ids that are never made of parts, nor parts of others.
    left_out: HashSet<TokenId>,
}

/// A symbol of a piece.
struct Symbol<'v> {
    id: TokenId,
    /// Its token, if it may be joined to others: a text token with the bytes of the piece.
    token: Option<Token<'v>>,
}

/// A token that begins at a symbol.
#[derive(Clone, Copy)]
struct Run {
    /// The symbol behind it.
    end: usize,
    id: TokenId,
}

/// How many divisions there are: `mantissa` · 2^(`SHIFT` · `exponent`).
#[derive(Clone, Copy)]
struct Count {
    mantissa: f64,
    exponent: i32,
}

const SHIFT: i32 = 512;

impl Count {
    /// The count in units of another exponent, which is no smaller.
    fn in_units_of(self, exponent: i32) -> f64 {
        self.mantissa * 2_f64.powi(SHIFT.saturating_mul(self.exponent - exponent))
    }
}

/// How a piece is divided.
pub(crate) struct Drawn<'d> {
    pub(crate) joinable: &'d Joinable,
    pub(crate) division: Division,
    /// Changed by each draw.
    pub(crate) seed: &'d mut u64,
}

impl Encoder {
    /// Appends the ids of a piece, divided by another rule than merges.
    ///
    /// A piece stays whole if it is an added token, or if encoding takes it as a whole and its symbols cannot spell it.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn divide(
        &self,
        piece: &[u8],
        drawn: Drawn<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        let Drawn { joinable, division, seed } = drawn;
        ask(piece.len().saturating_mul(DIVIDING_LEN))?;
        let whole = self.whole_token(piece);
        let spans = match (self.lay_out(piece, scratch), whole) {
            (Ok(spans), _) => spans,
            (Err(_), Some(_)) => Vec::new(),
            (Err(error), None) => return Err(error),
        };
        let symbols: Vec<_> = scratch.ids.iter().zip(&spans).collect();
        let spells = |&(id, span): &(&TokenId, &Range<usize>)| {
            self.vocabulary.token(*id).is_some_and(|token| token.bytes == &piece[span.clone()])
        };
        let n_spelled: usize =
            symbols.iter().filter(|symbol| spells(symbol)).map(|(_, span)| span.len()).sum();
        let stays = |id: &TokenId| n_spelled < piece.len() || joinable.left_out.contains(id);
        if let Some(id) = whole.filter(stays) {
            out.push(id);
            return Ok(());
        }
        let symbols = symbols.into_iter().map(|(&id, span)| {
            let token = self.vocabulary.token(id).filter(|token| {
                matches!(token.kind, TokenKind::Text(_)) && token.bytes == &piece[span.clone()]
            });
            Symbol { id, token }
        });
        joinable.divide(&symbols.collect::<Vec<_>>(), division, seed, out);
        scratch.ids.shrink_to(super::merge::tree::MAX_KEPT_LEN);
        Ok(())
    }
}

impl Joinable {
    /// The tokens of a vocabulary, except for added tokens and the unknown token.
    pub(crate) fn new(
        vocabulary: &Arc<Vocabulary>,
        units: &Units,
        left_out: HashSet<TokenId>,
    ) -> Self {
        let is_text = |id, token: Token<'_>| {
            matches!(token.kind, TokenKind::Text(_))
                && !left_out.contains(&id)
                && vocabulary.id(token) == Some(id)
        };
        let mut tokens: Vec<_> =
            vocabulary.iter().filter(|&(id, token)| is_text(id, token)).collect();
        tokens.sort_unstable_by_key(|&(id, token)| (token.bytes, id));
        let start = |byte| tokens.partition_point(|(_, token)| before(token.bytes, byte));
        let starts = (0..=256).map(start).collect();
        let ids = tokens.into_iter().map(|(id, _)| id).collect();
        let (vocabulary, units) = (Arc::clone(vocabulary), units.clone());
        Self { vocabulary, units, ids, starts, left_out }
    }

    fn divide(
        &self,
        symbols: &[Symbol<'_>],
        division: Division,
        seed: &mut u64,
        out: &mut Vec<TokenId>,
    ) {
        match division {
            Division::Longest => self.follow(symbols, out, |_, runs| runs.last().copied()),
            Division::Fewest => {
                let n_least = self.n_least(symbols);
                let is_least = |start: usize, run: &&Run| n_least[run.end] + 1 == n_least[start];
                self.follow(symbols, out, |start, runs| {
                    runs.iter().rev().find(|run| is_least(start, run)).copied()
                });
            }
            Division::Uniform => {
                let counts = self.counts(symbols);
                self.follow(symbols, out, |start, runs| drawn(runs, &counts, counts[start], seed));
            }
        }
    }

    /// Appends the tokens that `choose` takes, from the left, out of those that begin at a symbol.
    fn follow(
        &self,
        symbols: &[Symbol<'_>],
        out: &mut Vec<TokenId>,
        mut choose: impl FnMut(usize, &[Run]) -> Option<Run>,
    ) {
        let (mut start, mut runs) = (0, Vec::new());
        while start < symbols.len() {
            self.find_runs(symbols, start, &mut runs);
            let run = choose(start, &runs).unwrap_or(runs[0]);
            out.push(run.id);
            start = run.end;
        }
    }

    /// By symbol, and for the end: the least number of tokens from there.
    fn n_least(&self, symbols: &[Symbol<'_>]) -> Vec<usize> {
        let mut n_least = vec![0; symbols.len() + 1];
        let mut runs = Vec::new();
        for start in (0..symbols.len()).rev() {
            self.find_runs(symbols, start, &mut runs);
            let least = runs.iter().map(|run| n_least[run.end]).min();
            n_least[start] = 1 + least.unwrap_or_default();
        }
        n_least
    }

    /// By symbol, and for the end: the number of divisions from there.
    fn counts(&self, symbols: &[Symbol<'_>]) -> Vec<Count> {
        let mut counts = vec![Count { mantissa: 1.0, exponent: 0 }; symbols.len() + 1];
        let mut runs = Vec::new();
        for start in (0..symbols.len()).rev() {
            self.find_runs(symbols, start, &mut runs);
            // There are no more divisions of a shorter rest, so no exponent is larger.
            let exponent = counts[start + 1].exponent;
            let mantissa = runs.iter().map(|run| counts[run.end].in_units_of(exponent)).sum();
            let count = Count { mantissa, exponent };
            counts[start] = match mantissa < 2_f64.powi(SHIFT) {
                true => count,
                false => {
                    Count { mantissa: count.in_units_of(exponent + 1), exponent: exponent + 1 }
                }
            };
        }
        counts
    }

    /// Finds the tokens that begin at a symbol, from the shortest to the longest. The first is the symbol itself.
    fn find_runs(&self, symbols: &[Symbol<'_>], start: usize, runs: &mut Vec<Run>) {
        runs.clear();
        runs.push(Run { end: start + 1, id: symbols[start].id });
        let Some(first) = symbols[start].token else { return };
        let Some(&byte) = first.bytes.first() else { return };
        let byte = usize::from(byte);
        let mut found = &self.ids[self.starts[byte]..self.starts[byte + 1]];
        let mut n_bytes = 0;
        for (place, symbol) in symbols.iter().enumerate().skip(start) {
            let Some(last) = symbol.token else { return };
            found = self.narrowed(found, n_bytes, last.bytes);
            n_bytes += last.bytes.len();
            let kind = merged_kind(first.kind, last.kind);
            let shortest = found.iter().map(|&id| (id, self.token(id)));
            let mut exact = shortest.take_while(|(_, token)| token.bytes.len() == n_bytes);
            let exact = exact.find(|(_, token)| token.kind == kind).filter(|_| place > start);
            runs.extend(exact.map(|(id, _)| Run { end: place + 1, id }));
            if found.is_empty() {
                return;
            }
        }
    }

    /// Of tokens that agree in their first bytes, those that continue with `bytes`.
    fn narrowed<'i>(&self, ids: &'i [TokenId], n_agreed: usize, bytes: &[u8]) -> &'i [TokenId] {
        let rest = |id: TokenId| &self.token(id).bytes[n_agreed..];
        let ids = &ids[ids.partition_point(|&id| rest(id) < bytes)..];
        &ids[..ids.partition_point(|&id| rest(id).starts_with(bytes))]
    }

    fn token(&self, id: TokenId) -> Token<'_> {
        self.vocabulary.token(id).unwrap_or(END_MARK)
    }

    /// Splits tokens at random, as `StochasTok` does: `n_draws` times, a place is drawn among all tokens, and the token
    /// there is replaced by two that together have its bytes, drawn among all such pairs. Nothing happens if there is no
    /// pair.
    pub(crate) fn split_at_random(
        &self,
        ids: &[TokenId],
        n_draws: usize,
        mut seed: u64,
    ) -> Vec<TokenId> {
        // The order of places does not matter for a draw, so the right part of a token is put at the end, and linked.
        let mut ids = ids.to_vec();
        let mut nexts: Vec<_> = (1..ids.len()).map(Some).chain([None]).collect();
        for _ in 0..if ids.is_empty() { 0 } else { n_draws } {
            let place = random_below(ids.len(), &mut seed);
            let pairs = self.pairs(ids[place]);
            if pairs.is_empty() {
                continue;
            }
            let (left, right) = pairs[random_below(pairs.len(), &mut seed)];
            let next = nexts[place].replace(ids.len());
            nexts.push(next);
            ids[place] = left;
            ids.push(right);
        }
        let first = (!ids.is_empty()).then_some(0);
        std::iter::successors(first, |&place| nexts[place]).map(|place| ids[place]).collect()
    }

    /// All pairs of tokens that together have the bytes and marks of a token.
    fn pairs(&self, id: TokenId) -> Vec<(TokenId, TokenId)> {
        let Some(Token { kind: TokenKind::Text(form), bytes }) = self.vocabulary.token(id) else {
            return Vec::new();
        };
        if self.left_out.contains(&id) {
            return Vec::new();
        }
        let continues = self.units.continuing_prefix.is_some();
        let pair = |(left, right): (Token<'_>, Token<'_>)| Some((self.id(left)?, self.id(right)?));
        let left = |place| Token {
            kind: TokenKind::Text(Form::new(form.continues(), false)),
            bytes: &bytes[..place],
        };
        let right = |place| Token {
            kind: TokenKind::Text(Form::new(continues, form.ends())),
            bytes: &bytes[place..],
        };
        let has_mark = form.ends() && self.units.end_mark_kind() == Some(EndMarkKind::Unit);
        let mark = (has_mark && !bytes.is_empty()).then(|| (left(bytes.len()), END_MARK));
        let halves = (1..bytes.len()).map(|place| (left(place), right(place)));
        halves.chain(mark).filter_map(pair).collect()
    }

    fn id(&self, token: Token<'_>) -> Option<TokenId> {
        self.vocabulary.id(token).filter(|id| !self.left_out.contains(id))
    }
}

/// Whether a token comes before all that begin with a byte, given as a number up to 256.
fn before(token: &[u8], byte: u16) -> bool {
    token.first().is_none_or(|&first| u16::from(first) < byte)
}

/// One of the tokens that begin at a symbol, drawn by the number of divisions behind each. `count` is their sum.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
fn drawn(runs: &[Run], counts: &[Count], count: Count, seed: &mut u64) -> Option<Run> {
    let part = (crate::hash::random(seed) >> 11) as f64 / (1_u64 << 53) as f64;
    let mut left = part * count.mantissa;
    runs.iter().copied().find(|run| {
        left -= counts[run.end].in_units_of(count.exponent);
        left < 0.0
    })
}

#[cfg(test)]
mod tests;
