//! Encodings by other rules than merges: at random, for training, or by a simple rule, for analysis.
//!
//! A text is cut into added tokens and pieces as for `encode`; only the tokens of a piece differ. Together they have the
//! bytes and the marks of the tokens of `encode`, so decoders that look at nothing else give the same text. The rules
//! for one piece are in `encode/divided.rs` and `encode/merge/dropout.rs`, which also say what they cost. Neither uses the
//! cache of pieces.

use super::walk::Depth;
use super::{EncodeOptions, Tokenizer};
use crate::encode::{Divider, Division, Dropout};
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
    /// By a rule that divides each piece into tokens.
    Divided(Division),
}

/// Bytes of memory for each id whose token may be split: two ids and their links.
const SPLITTING_LEN: usize = 40;

impl Tokenizer {
    /// The ids of a text by another rule than all its merges. The same seed gives the same ids.
    ///
    /// Of the options, only those about special and added tokens are used.
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
        let options =
            EncodeOptions { add_special_tokens: false, fit_length: None, dropout: None, ..options };
        match method {
            Method::Dropout(rate) | Method::StochasTok(rate) if !(0.0..=1.0).contains(&rate) => {
                Err(Error::option("rate", format!("{rate} is not from 0 to 1")))
            }
            Method::Dropout(probability) => {
                let dropout = Some(Dropout { probability, seed });
                self.encode(text, EncodeOptions { dropout, ..options })
            }
            Method::StochasTok(rate) => {
                let ids = self.encode(text, options)?;
                ask(ids.len().saturating_mul(SPLITTING_LEN))?;
                let divider = self.of(options.added_tokens).divider();
                #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 ids")]
                let is_within = |n: &usize| *n as f64 <= rate * ids.len() as f64;
                let n_draws = (1..=ids.len()).take_while(is_within).count();
                Ok(divider.split_at_random(ids, n_draws, seed))
            }
            Method::Divided(division) => self.encode_divided(division, seed, text, options),
        }
    }

    fn encode_divided(
        &self,
        division: Division,
        mut seed: u64,
        text: &[u8],
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let call = self.call(options)?;
        let divider = call.tokenizer.divider();
        let mut ids = Vec::new();
        call.walk_to_ids(Segment::whole(text), Depth::Piece, &mut ids, |text, place, ids| {
            let piece = &text.text[place];
            match call.matcher.whole_piece(piece) {
                Some(id) => ids.push(id),
                None => divider.divide(piece, division, &mut seed, ids)?,
            }
            Ok(())
        })?;
        Ok(ids)
    }

    fn divider(&self) -> Divider<'_> {
        self.encoder().divider(self.parts.added.iter().map(|token| token.id))
    }
}

#[cfg(test)]
mod tests;
