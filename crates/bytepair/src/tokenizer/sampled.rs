//! Encodings by other rules than merges: at random, for training, or by a simple rule, for analysis.
//!
//! A text is cut into added tokens and pieces as for `encode`; only the tokens of a piece differ. Together they have the
//! bytes and the marks of the tokens of `encode`, so decoders that look at nothing else give the same text. The rules
//! for one piece are in `encode/divided.rs` and `encode/merge/dropout.rs`, which also say what they cost. No rule uses
//! the cache of pieces.

use std::sync::Arc;

use super::walk::Depth;
use super::{EncodeOptions, Tokenizer};
use crate::encode::{Division, Drawn, Dropout, Joinable};
use crate::error::{Error, Result};
use crate::memory::ask;
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// A rule by which a text becomes ids, other than all its merges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By merges, each of which is left out with this probability (Provilkov et al. 2020).
    Dropout(f64),
    /// By merges; then tokens are split at random, as many times as this part of their number (Sims et al. 2025).
    StochasTok(f64),
    /// Any division of a piece into tokens, each with the same probability (Cognetta et al. 2024).
    Uniform,
    /// A division of each piece into the fewest tokens; the one whose first tokens are the longest.
    Fewest,
    /// The longest token that each piece begins with, then the longest that its rest begins with, and so on.
    Longest,
}

/// Bytes of memory for each id whose token may be split: two ids and their links.
const SPLITTING_LEN: usize = 40;

impl Tokenizer {
    /// The ids of a text by another rule than all its merges. The same seed gives the same ids.
    ///
    /// Options about the template, lengths and dropout are ignored.
    ///
    /// # Errors
    /// As for [`Self::encode`]; and if a rate is not from 0 to 1.
    pub fn encode_by(
        &self,
        method: Method,
        seed: u64,
        text: &[u8],
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let EncodeOptions { allowed_special, disallowed_special, added_tokens, .. } = options;
        let options = EncodeOptions {
            allowed_special,
            disallowed_special,
            added_tokens,
            ..EncodeOptions::default()
        };
        let division = match method {
            Method::Dropout(probability) => {
                check(probability)?;
                let dropout = Some(Dropout { probability, seed });
                return self.encode(text, EncodeOptions { dropout, ..options });
            }
            Method::StochasTok(rate) => {
                check(rate)?;
                let ids = self.encode(text, options)?;
                ask(ids.len().saturating_mul(SPLITTING_LEN))?;
                let n_draws = part_of(ids.len(), rate);
                return Ok(self.of(added_tokens).joinable().split_at_random(&ids, n_draws, seed));
            }
            Method::Uniform => Division::Uniform,
            Method::Fewest => Division::Fewest,
            Method::Longest => Division::Longest,
        };
        self.encode_divided(division, seed, text, options)
    }

    fn encode_divided(
        &self,
        division: Division,
        mut seed: u64,
        text: &[u8],
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let call = self.call(options)?;
        let (encoder, joinable) = (call.tokenizer.encoder(), call.tokenizer.joinable());
        let mut ids = Vec::new();
        call.tokenizer.workers.with(|worker| {
            call.walk_to_ids(Segment::whole(text), Depth::Piece, &mut ids, |text, place, ids| {
                let piece = &text.text[place];
                let drawn = Drawn { joinable, division, seed: &mut seed };
                match call.matcher.whole_piece(piece) {
                    Some(id) => ids.push(id),
                    None => encoder.divide(piece, drawn, &mut worker.scratch, ids)?,
                }
                Ok(())
            })
        })?;
        Ok(ids)
    }

    /// The tokens that can be made of parts. Threads that come at the same time each find them.
    fn joinable(&self) -> &Joinable {
        if let Some(made) = self.joinable.get() {
            return made;
        }
        let added = self.parts.added.iter().map(|token| token.id);
        let left_out = added.chain(self.encoder().unknown()).collect();
        let made = Joinable::new(&self.parts.vocabulary, &self.parts.units, left_out);
        self.joinable.get_or_init(|| Arc::new(made))
    }
}

fn check(rate: f64) -> Result<()> {
    match (0.0..=1.0).contains(&rate) {
        true => Ok(()),
        false => Err(Error::option("rate", format!("{rate} is not from 0 to 1"))),
    }
}

/// A part of a number, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "at most n, which is far below 2^53"
)]
fn part_of(n: usize, rate: f64) -> usize {
    (n as f64 * rate) as usize
}

#[cfg(test)]
mod tests;
