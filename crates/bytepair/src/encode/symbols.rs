//! The symbols of a piece as ids, and what becomes of those that the vocabulary lacks.
//!
//! Takes one table look-up for a byte or an ASCII character, one hash look-up for another character.

use std::sync::Arc;

use crate::error::Result;
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// Resolves units against a vocabulary.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    units: Units,
    vocabulary: Arc<Vocabulary>,
    /// By byte: the id of the text token of that one byte, or `NO_ID`.
    plain: [TokenId; 256],
    /// By byte: the id of the byte token, or `NO_ID`.
    fallback: [TokenId; 256],
    unknown: Option<TokenId>,
}

/// Stands for a missing token. No token has this id.
const NO_ID: TokenId = TokenId::MAX;

impl Symbols {
    pub(super) fn new(units: &Units, vocabulary: &Arc<Vocabulary>) -> Self {
        let unknown = units.unknown.as_ref().and_then(|name| {
            let bytes = name.as_bytes();
            let kinds = [TokenKind::Unknown, TokenKind::Added, TokenKind::PLAIN];
            kinds.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes }))
        });
        let ids = |kind| std::array::from_fn(|byte| id_of_byte(vocabulary, kind, byte));
        Self {
            units: units.clone(),
            vocabulary: Arc::clone(vocabulary),
            plain: ids(TokenKind::PLAIN),
            fallback: if units.byte_fallback { ids(TokenKind::Byte) } else { [NO_ID; 256] },
            unknown,
        }
    }

    /// What a unit is.
    pub(super) fn units(&self) -> &Units {
        &self.units
    }

    /// Appends the ids of the symbols of a piece; `stranger` gives an id to those that nothing in the
    /// vocabulary stands for.
    pub(super) fn push_ids<'p>(
        &self,
        piece: &'p [u8],
        ids: &mut Vec<TokenId>,
        mut stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        let mut result = Ok(());
        let mut after_unknown = false;
        self.units.for_each_symbol(piece, |symbol| {
            let id = self.id(symbol);
            let is_unknown = id == NO_ID && !self.has_fallback(symbol);
            let is_fused = is_unknown && after_unknown && self.units.fuse_unknown;
            after_unknown = is_unknown;
            match self.unknown {
                _ if id != NO_ID => ids.push(id),
                _ if !is_unknown => self.push_bytes(symbol, ids),
                Some(unknown) => ids.extend((!is_fused).then_some(unknown)),
                None if result.is_ok() => result = stranger(symbol).map(|id| ids.push(id)),
                None => {}
            }
        })?;
        result
    }

    fn push_bytes(&self, symbol: Token<'_>, ids: &mut Vec<TokenId>) {
        ids.extend(symbol.bytes.iter().map(|&byte| self.fallback[usize::from(byte)]));
    }

    fn id(&self, symbol: Token<'_>) -> TokenId {
        match (symbol.kind, symbol.bytes) {
            (TokenKind::PLAIN, &[byte]) => self.plain[usize::from(byte)],
            _ => self.vocabulary.id(symbol).unwrap_or(NO_ID),
        }
    }

    fn has_fallback(&self, symbol: Token<'_>) -> bool {
        !symbol.bytes.is_empty()
            && symbol.bytes.iter().all(|&byte| self.fallback[usize::from(byte)] != NO_ID)
    }
}

fn id_of_byte(vocabulary: &Vocabulary, kind: TokenKind, byte: usize) -> TokenId {
    let bytes = u8::try_from(byte).map(|byte| [byte]).unwrap_or_default();
    vocabulary.id(Token { kind, bytes: &bytes }).unwrap_or(NO_ID)
}
