//! The alphabet: the tokens that a vocabulary begins with, in the order of their ids.
//!
//! All bytes in a published order or by value, or the characters that occur, sorted; with the marks and the bytes
//! for fallback that the rules require. Costs one pass over the pieces where units are characters.

use std::collections::BTreeSet;

use super::{ByteIds, END_MARK, EndMarkKind, Unit, Units, printable};
use crate::error::Result;
use crate::vocabulary::{Form, TokenKind};

impl Units {
    /// The alphabet that the pieces need, in the order of its ids.
    pub fn alphabet<'p>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Result<Vec<(TokenKind, Vec<u8>)>> {
        let mut symbols = BTreeSet::new();
        if let Unit::Byte(order) = self.unit {
            return Ok(self.byte_alphabet(order));
        }
        for piece in pieces {
            self.for_each_symbol(piece, |symbol| {
                symbols.insert(symbol);
            })?;
        }
        let has_mark = symbols.remove(&END_MARK);
        let mut symbols: Vec<_> = symbols.into_iter().collect();
        symbols.sort_by_cached_key(|&symbol| self.written(symbol).into_owned());
        let fallback = self.fallback_alphabet();
        let characters = symbols.into_iter().chain(has_mark.then_some(END_MARK));
        Ok(fallback.chain(characters.map(|symbol| (symbol.kind, symbol.bytes.to_vec()))).collect())
    }

    /// All bytes in every form that they can have, then the end mark where it is a unit.
    ///
    /// No text is outside this alphabet, so there is none for fallback.
    fn byte_alphabet(&self, order: ByteIds) -> Vec<(TokenKind, Vec<u8>)> {
        let suffix = self.end_mark_kind() == Some(EndMarkKind::Suffix);
        let all = [(false, false), (true, false), (false, true), (true, true)];
        let forms = all.into_iter().filter(|&(continues, ends)| {
            (!continues || self.continuing_prefix.is_some()) && (!ends || suffix)
        });
        let units = forms.flat_map(|(continues, ends)| {
            let kind = TokenKind::Text(Form::new(continues, ends));
            byte_order(order).map(|byte| (kind, vec![byte]))
        });
        let has_mark = self.end_mark_kind() == Some(EndMarkKind::Unit);
        units.chain(has_mark.then(|| (END_MARK.kind, Vec::new()))).collect()
    }

    fn fallback_alphabet(&self) -> impl Iterator<Item = (TokenKind, Vec<u8>)> {
        (0..=255).filter(|_| self.byte_fallback).map(|byte| (TokenKind::Byte, vec![byte]))
    }
}

/// The byte values in the order of their ids.
pub fn byte_order(order: ByteIds) -> [u8; 256] {
    let mut bytes: [u8; 256] = std::array::from_fn(byte_at);
    if order == ByteIds::Printable {
        bytes.sort_by_key(|&byte| printable(byte));
    }
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "the index of a 256-element array")]
fn byte_at(index: usize) -> u8 {
    index as u8
}
