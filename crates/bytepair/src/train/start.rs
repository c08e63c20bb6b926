//! What training begins with: a vocabulary, and each piece as tokens of it.
//!
//! Ordinarily these are the alphabet that the pieces need, and the symbols of a piece. Training that goes on
//! from an earlier vocabulary begins with that vocabulary as it is, holes and names included, and with each piece
//! as the earlier tokenizer encodes it. Every id stays; new tokens get the ids behind the largest. Encoding
//! gives the segmentation that training by the same merges ends with, so going on learns the merges that training
//! without a break learns. A unit that the earlier alphabet lacks stays apart from its neighbours and gets no id.
//!
//! A vocabulary without ids of its own, as codes have one, is numbered anew, as training at once would.

use std::collections::HashSet;
use std::sync::Arc;

use super::characters::{CharacterLimits, LeftOut};
use super::row::BARRIER;
use crate::count::PieceCounts;
use crate::encode::{Encoder, Scratch};
use crate::error::{ErrorKind, Result};
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// A vocabulary of the alphabet that the pieces need, within limits; and what is left out of it, where there are any.
pub(super) fn alphabet(
    counts: &PieceCounts,
    units: &Units,
    limits: CharacterLimits,
) -> Result<(Vocabulary, Option<LeftOut>)> {
    let (kept, left_out) = limits.kept(counts)?.unzip();
    let is_kept = |kind: TokenKind, bytes: &[u8]| {
        let Some(kept) = &kept else { return true };
        let character = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
        match (kind, character) {
            (TokenKind::Text(_), Some(character)) => kept.binary_search(&character).is_ok(),
            _ => true, // a byte for fallback, or an end mark
        }
    };
    let mut vocabulary = Vocabulary::new();
    for (kind, bytes) in units.alphabet(counts.iter().map(|(piece, ..)| piece))? {
        if is_kept(kind, &bytes) {
            vocabulary.push(Token { kind, bytes: &bytes })?;
        }
    }
    Ok((vocabulary, left_out))
}

/// A vocabulary to go on from.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Its tokens, names and merges.
    pub vocabulary: Arc<Vocabulary>,
    /// Whether a piece that is a token as a whole is that token, whatever the merges give.
    pub ignore_merges: bool,
    /// Whether its ids stay. Otherwise the alphabet of the corpus joins its own and all ids are given anew, as in
    /// training at once; then it may hold nothing but the alphabet and merges.
    pub keeps_ids: bool,
}

impl Earlier {
    /// The vocabulary that these counts are merged into, and what is left out of its alphabet.
    pub(super) fn begin(
        &self,
        counts: &PieceCounts,
        units: &Units,
        limits: CharacterLimits,
    ) -> Result<(Vocabulary, Option<LeftOut>)> {
        if self.keeps_ids {
            return Ok(((*self.vocabulary).clone(), None));
        }
        let (alphabet, left_out) = alphabet(counts, units, limits)?;
        Ok((renumbered(&self.vocabulary, &alphabet, units)?, left_out))
    }
}

/// An alphabet together with that of a vocabulary, then its merges.
fn renumbered(earlier: &Vocabulary, alphabet: &Vocabulary, units: &Units) -> Result<Vocabulary> {
    let symbols = alphabet.iter().map(|(_, token)| (token.kind, token.bytes.to_vec()));
    let mut alphabet: Vec<_> = symbols.collect();
    let is_made: HashSet<_> = earlier.merges().iter().map(|merge| merge.result).collect();
    let known: HashSet<_> = alphabet.iter().cloned().collect();
    let own = earlier.iter().filter(|(id, _)| !is_made.contains(id));
    let own = own.map(|(_, token)| (token.kind, token.bytes.to_vec()));
    let missing: Vec<_> = own.filter(|symbol| !known.contains(symbol)).collect();
    if !missing.is_empty() {
        // As the alphabet of a training that sees both.
        alphabet.extend(missing);
        alphabet.sort_by_cached_key(|(kind, bytes)| {
            (bytes.is_empty(), units.written(Token { kind: *kind, bytes }).into_owned())
        });
    }
    let mut vocabulary = Vocabulary::new();
    for (kind, bytes) in &alphabet {
        vocabulary.push(Token { kind: *kind, bytes })?;
    }
    for merge in earlier.merges() {
        let left = vocabulary.push(earlier.expect_token(merge.left)?)?;
        let right = vocabulary.push(earlier.expect_token(merge.right)?)?;
        vocabulary.push_merge(left, right)?;
    }
    vocabulary.set_merge_counts(earlier.merge_counts().to_vec());
    Ok(vocabulary)
}

/// Turns pieces into the tokens that training begins with.
pub(super) enum Segmenter<'u> {
    /// Bytes, each with its id.
    Bytes(Box<[TokenId; 256]>),
    /// Symbols of other units.
    Symbols { units: &'u Units, vocabulary: &'u Vocabulary },
    /// Tokens of an earlier vocabulary. By id: whether it is one of text.
    Merged { encoder: Arc<Encoder>, scratch: Box<Scratch>, is_text: Vec<bool> },
}

impl<'u> Segmenter<'u> {
    /// With the encoder of the vocabulary where training goes on from an earlier one.
    pub(super) fn new(
        units: &'u Units,
        vocabulary: &'u Vocabulary,
        earlier: Option<&Arc<Encoder>>,
    ) -> Self {
        if let Some(encoder) = earlier {
            let mut is_text = vec![false; vocabulary.len()];
            for (id, token) in vocabulary.iter() {
                is_text[id as usize] = matches!(token.kind, TokenKind::Text(_));
            }
            return Self::Merged { encoder: Arc::clone(encoder), scratch: Box::default(), is_text };
        }
        if units.is_bytes() && units.end_mark.is_none() && units.continuing_prefix.is_none() {
            return Self::Bytes(Box::new(byte_ids(vocabulary)));
        }
        Self::Symbols { units, vocabulary }
    }

    /// Appends the tokens of a piece; a barrier for a unit that has no id.
    pub(super) fn push_tokens(&mut self, piece: &[u8], tokens: &mut Vec<TokenId>) -> Result<()> {
        match self {
            Self::Bytes(ids) => tokens.extend(piece.iter().map(|&byte| ids[usize::from(byte)])),
            Self::Symbols { units, vocabulary } => units.for_each_symbol(piece, |symbol| {
                tokens.push(vocabulary.id(symbol).unwrap_or(BARRIER));
            })?,
            Self::Merged { encoder, scratch, is_text } => {
                let (start, stranger) = (tokens.len(), TokenId::try_from(is_text.len()));
                let stranger = stranger.map_err(|_| ErrorKind::TooManyTokens)?;
                encoder.encode_or(piece, scratch, tokens, |_| Ok(stranger))?;
                let is_text = |id: TokenId| is_text.get(id as usize) == Some(&true);
                let others = tokens[start..].iter_mut().filter(|id| !is_text(**id));
                others.for_each(|id| *id = BARRIER);
            }
        }
        Ok(())
    }
}

/// By byte value: its id; a barrier where the alphabet is no byte alphabet.
fn byte_ids(vocabulary: &Vocabulary) -> [TokenId; 256] {
    let mut ids = [BARRIER; 256];
    for (byte, id) in (0..=u8::MAX).zip(&mut ids) {
        *id = vocabulary.id(Token::plain(&[byte])).unwrap_or(BARRIER);
    }
    ids
}
