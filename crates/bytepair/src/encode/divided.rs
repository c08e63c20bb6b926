//! Other ways to make tokens of a piece than by merges: at random among all ways, or by a simple rule.
//!
//! A piece is first made into the symbols that encoding begins with, so marks, byte tokens and unknown tokens are those
//! of encoding. Neighbouring symbols may then be joined to any text token with their bytes. Added tokens and the unknown
//! token are never made of parts.
//!
//! From the last symbol to the first, each chooses one of the tokens that begin at it, whatever precedes it:
//!
//! ```text
//! uniform   the token to `end` with the probability counts[end] / counts[start], where counts[start], the number of
//!           divisions from a symbol, is the sum of counts[end] over all tokens that begin there
//! fewest    the token with the fewest tokens behind it; of several, the longest
//! longest   the longest token
//! ```
//!
//! The choice of the first symbol, that of the symbol behind it, and so on are the division of the piece.
//!
//! A long piece has more divisions than a floating-point number can hold. So a symbol has only the ratio
//! counts[start + 1] / counts[start], and a token is weighed by the product of the ratios of its symbols after the first.
//! If tokens have at most t symbols, the relative error of the counts grows by at most t · 2⁻⁵² with each symbol, and each
//! of the at most t draws at a symbol is off by at most 2⁻⁵¹. So the divisions of n symbols differ from the uniform
//! distribution by at most n · t · 2⁻⁵⁰ in total variation. A ratio is at least 1 / t. A weight becomes 0 only for a token
//! that would be drawn less than once in 2¹⁰⁰⁰ times.
//!
//! Takes n · t look-ups, each of which reads the bytes of a token, and 96 bytes of memory for each byte of a piece.
//!
//! Source for `uniform`: Cognetta, Zouhar and Okazaki, "Distributional Properties of Subword Regularization" (2024); for
//! [`Divider::split_at_random`]: Sims et al., `StochasTok` (2025).

use std::collections::HashSet;
use std::ops::Range;

use super::Encoder;
use crate::error::Result;
use crate::hash::{random_below, random_part};
use crate::memory::ask;
use crate::units::EndMarkKind;
use crate::vocabulary::{Form, Token, TokenId, TokenKind};

/// A rule that divides each piece into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Any division, each with the same probability (Cognetta et al. 2024).
    Uniform,
    /// One of the fewest tokens; the one whose first token is longest, then whose second is, and so on.
    Fewest,
    /// From the left, the longest token each time.
    Longest,
}

/// Bytes of memory for each byte of a piece: its symbol and its choice.
const DIVIDING_LEN: usize = 96;

/// Divides pieces into tokens, and tokens into two.
pub(crate) struct Divider<'e> {
    encoder: &'e Encoder,
    /// By first byte: the length of the longest token.
    longest: &'e [usize],
    /// Text tokens that are never made of parts, nor parts of others.
    left_out: HashSet<TokenId>,
}

impl Encoder {
    /// Divides pieces into the tokens of this encoder. Never makes an added token of parts.
    pub(crate) fn divider(&self, added: impl Iterator<Item = TokenId>) -> Divider<'_> {
        let kind = |id: TokenId| self.vocabulary.token(id).map(|token| token.kind);
        let is_text = |id: &TokenId| matches!(kind(*id), Some(TokenKind::Text(_)));
        let left_out = added.chain(self.unknown()).filter(is_text).collect();
        Divider { encoder: self, longest: self.longest(), left_out }
    }

    /// By first byte: the length of the longest token. Built as [`Self::cuts`] are.
    fn longest(&self) -> &[usize] {
        if let Some(longest) = self.longest.get() {
            return longest;
        }
        let mut longest = vec![0; 256];
        for (_, Token { bytes, .. }) in self.vocabulary.iter() {
            let Some(&first) = bytes.first() else { continue };
            let longest = &mut longest[usize::from(first)];
            *longest = bytes.len().max(*longest);
        }
        self.longest.get_or_init(|| longest)
    }
}

/// A piece as symbols, and the text that they spell.
struct Row<'d> {
    divider: &'d Divider<'d>,
    symbols: Vec<Symbol>,
    text: Vec<u8>,
}

struct Symbol {
    id: TokenId,
    /// Its form, if it may be joined to others: a text token with the bytes of the piece.
    form: Option<Form>,
    /// Its bytes in the text.
    place: Range<usize>,
}

/// The token that a symbol chooses, of those that begin at it.
#[derive(Clone, Copy, Default)]
struct Choice {
    id: TokenId,
    /// The symbol behind the token.
    end: usize,
    /// The number of tokens from here.
    n_tokens: usize,
    /// The number of divisions from the next symbol, divided by that from this one.
    ratio: f64,
}

impl Divider<'_> {
    /// Appends the ids of a piece. A draw changes the seed.
    ///
    /// A piece that encoding takes as a whole stays whole if its symbols cannot be joined to that token: an added token, or
    /// one whose mark or name the piece spells.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn divide(
        &self,
        piece: &[u8],
        division: Division,
        seed: &mut u64,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        ask(piece.len().saturating_mul(DIVIDING_LEN))?;
        let row = self.row(piece);
        if let Some(id) = self.encoder.whole_token(piece)
            && !row.as_ref().is_ok_and(|row| row.may_be(id))
        {
            out.push(id);
            return Ok(());
        }
        let row = row?;
        let choices = row.choices(division, seed);
        let mut start = 0;
        while start < row.symbols.len() {
            out.push(choices[start].id);
            start = choices[start].end;
        }
        Ok(())
    }

    fn row(&self, piece: &[u8]) -> Result<Row<'_>> {
        let Encoder { symbols, vocabulary, .. } = self.encoder;
        let mut row = Row { divider: self, symbols: Vec::new(), text: Vec::new() };
        let unknown = |symbol| self.encoder.unknown_unit(symbol);
        symbols.for_each(piece, unknown, |id, span| {
            let bytes = &piece[span];
            let form = match vocabulary.token(id).filter(|token| token.bytes == bytes) {
                Some(Token { kind: TokenKind::Text(form), .. }) => Some(form),
                _ => None,
            };
            let start = row.text.len();
            row.text.extend_from_slice(bytes);
            row.symbols.push(Symbol { id, form, place: start..row.text.len() });
        })?;
        Ok(row)
    }

    /// The id of a text token that may be made of parts, or be one.
    fn id(&self, form: Form, bytes: &[u8]) -> Option<TokenId> {
        let id = self.encoder.vocabulary.id(Token { kind: TokenKind::Text(form), bytes });
        id.filter(|id| !self.left_out.contains(id))
    }
}

impl Row<'_> {
    /// Whether all symbols together may be joined to this token.
    fn may_be(&self, id: TokenId) -> bool {
        self.joined(0).any(|joined| joined == (self.symbols.len(), id))
    }

    /// The choice of each symbol, and one for the end.
    fn choices(&self, division: Division, seed: &mut u64) -> Vec<Choice> {
        let mut choices = vec![Choice::default(); self.symbols.len() + 1];
        for start in (0..self.symbols.len()).rev() {
            choices[start] = self.choice(start, &choices, division, seed);
        }
        choices
    }

    /// The choice of a symbol, when those behind it have chosen.
    fn choice(&self, start: usize, later: &[Choice], division: Division, seed: &mut u64) -> Choice {
        let (mut end, mut id) = (start + 1, self.symbols[start].id);
        let (mut n_weighed, mut weight, mut total) = (end, 1.0, 1.0);
        for (longer, joined) in self.joined(start) {
            let ratios = later[n_weighed..longer].iter().map(|choice| choice.ratio);
            weight *= ratios.product::<f64>();
            total += weight;
            n_weighed = longer;
            let is_chosen = match division {
                Division::Uniform => random_part(seed) * total < weight,
                Division::Fewest => later[longer].n_tokens <= later[end].n_tokens,
                Division::Longest => true,
            };
            if is_chosen {
                (end, id) = (longer, joined);
            }
        }
        Choice { id, end, n_tokens: 1 + later[end].n_tokens, ratio: 1.0 / total }
    }

    /// The tokens that a symbol and those behind it may be joined to, from the shortest to the longest, each with the
    /// symbol behind it.
    fn joined(&self, start: usize) -> impl Iterator<Item = (usize, TokenId)> {
        let token = move |index: usize| {
            let (first, last) = (&self.symbols[start], &self.symbols[index]);
            let form = Form::new(first.form?.continues(), last.form?.ends());
            let bytes = &self.text[first.place.start..last.place.end];
            let longest = self.divider.longest[usize::from(*bytes.first()?)];
            (bytes.len() <= longest).then(|| Some((index + 1, self.divider.id(form, bytes)?)))
        };
        (start + 1..self.symbols.len()).map_while(token).flatten()
    }
}

impl Divider<'_> {
    /// Splits tokens at random, as `StochasTok` does: `n_draws` times, a place is drawn among all tokens, and the token
    /// there is replaced by two that together have its bytes, drawn among all such pairs. Nothing happens if there is no
    /// pair.
    pub(crate) fn split_at_random(
        &self,
        mut ids: Vec<TokenId>,
        n_draws: usize,
        mut seed: u64,
    ) -> Vec<TokenId> {
        if ids.is_empty() {
            return ids;
        }
        // The order of places does not matter for a draw, so the right part of a token is put at the end, and linked.
        let mut nexts: Vec<_> = (1..ids.len()).map(Some).chain([None]).collect();
        for _ in 0..n_draws {
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
        std::iter::successors(Some(0), |&place| nexts[place]).map(|place| ids[place]).collect()
    }

    /// All pairs of tokens that together have the bytes and marks of a token.
    fn pairs(&self, id: TokenId) -> Vec<(TokenId, TokenId)> {
        let token = self.encoder.vocabulary.token(id).filter(|_| !self.left_out.contains(&id));
        let Some(Token { kind: TokenKind::Text(form), bytes }) = token else { return Vec::new() };
        let units = self.encoder.symbols.units();
        let has_mark = form.ends() && units.end_mark_kind() == Some(EndMarkKind::Unit);
        let pair = |place| {
            let (left, right) = bytes.split_at(place);
            // The mark as a unit of its own does not continue.
            let continues = units.continuing_prefix.is_some() && !right.is_empty();
            let left = self.id(Form::new(form.continues(), false), left)?;
            Some((left, self.id(Form::new(continues, form.ends()), right)?))
        };
        (1..bytes.len() + usize::from(has_mark)).filter_map(pair).collect()
    }
}

#[cfg(test)]
mod tests;
