//! What training begins with: a vocabulary, and each piece as tokens of it.
//!
//! Ordinarily these are the alphabet that the pieces need, and the symbols of a piece. Training that goes on
//! from earlier merges begins with that vocabulary, and with pieces as its merges segment them: encoding gives
//! the segmentation that training by the same merges ends with, so going on gives what training without a break
//! gives. A unit that the earlier alphabet lacks stays apart from its neighbours, and has no id.

use std::sync::Arc;

use super::characters::{CharacterLimits, LeftOut};
use crate::count::PieceCounts;
use crate::encode::{Encoder, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::slots::BARRIER;
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

/// The alphabet and the merges of a vocabulary, without its unknown and special tokens, which come last.
///
/// # Errors
/// Where the ids are not in that order: then new tokens could not follow without moving old ones.
pub(super) fn continued(earlier: &Vocabulary) -> Result<Vocabulary> {
    let out_of_order = || {
        let problem = "has ids in another order than training gives them: first the alphabet, then a token \
                       for each merge, then unknown and special tokens";
        Error::option("resume", problem)
    };
    let is_text = |kind| !matches!(kind, TokenKind::Unknown | TokenKind::Added | TokenKind::Hole);
    let first_result = earlier.merges().first().map(|merge| merge.result);
    let n_texts = earlier.iter().filter(|(_, token)| is_text(token.kind)).count();
    let n_alphabet = first_result.map_or(n_texts, |id| id as usize);
    let mut vocabulary = Vocabulary::new();
    for id in (0..).take(n_alphabet) {
        let token =
            earlier.token(id).filter(|token| is_text(token.kind)).ok_or_else(out_of_order)?;
        if vocabulary.push(token)? != id {
            return Err(out_of_order());
        }
    }
    for merge in earlier.merges() {
        let result = vocabulary.push_merge(merge.left, merge.right)?;
        if result != merge.result || vocabulary.len() != result as usize + 1 {
            return Err(out_of_order());
        }
    }
    if vocabulary.len() != n_texts || !earlier.priorities().is_empty() {
        return Err(out_of_order());
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
    /// Tokens of earlier merges.
    Merged { encoder: Box<Encoder>, scratch: Box<Scratch>, is_text: Vec<bool> },
}

impl<'u> Segmenter<'u> {
    pub(super) fn new(units: &'u Units, vocabulary: &'u Vocabulary) -> Self {
        if !vocabulary.merges().is_empty() {
            let encoder = Box::new(Encoder::new(Arc::new(vocabulary.clone()), units, false));
            let is_text =
                vocabulary.iter().map(|(_, token)| matches!(token.kind, TokenKind::Text(_)));
            return Self::Merged { encoder, scratch: Box::default(), is_text: is_text.collect() };
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
