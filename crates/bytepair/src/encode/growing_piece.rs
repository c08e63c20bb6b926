//! The ids of a piece that grows at its end.
//!
//! Only what is appended is merged, with the last tokens before it: where one of these comes out as it was, all before it
//! stay too ([`stretches`]). So each call takes what merging some ten symbols takes, and more where tokens are long, or
//! change far back. Where units carry marks, the last character may have another mark when more comes. So it is kept
//! apart, and merged with what is before it to tell the number of ids.
//!
//! Left out: bytes with marks; unknown units, since neighbouring ones may become one; tokens that a piece is as a whole;
//! and vocabularies whose tokens have no [lengths](super::merge::Lengths).

use super::merge::stretches::{self, Grown};
use super::{Encoder, Scratch};
use crate::units::EndMarkKind;
use crate::vocabulary::TokenId;

/// A piece that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growing {
    /// Those of all characters, but for the last one where units carry marks.
    symbols: Vec<TokenId>,
    tokens: Vec<TokenId>,
    /// Where units carry marks: the first and the last character.
    ends: Option<[char; 2]>,
    n_ids: usize,
}

impl Growing {
    /// The number of ids of the piece by now.
    pub(crate) fn n_ids(&self) -> usize {
        self.n_ids
    }
}

impl Encoder {
    /// An empty piece that may grow, if pieces of this vocabulary may.
    pub(crate) fn growing(&self) -> Option<Growing> {
        let units = self.symbols.units();
        let has_marked_bytes = units.is_bytes() && units.has_marks();
        (!has_marked_bytes && self.lengths().is_some()).then(Growing::default)
    }

    /// Appends a text to a piece; `None` if that cannot be done, and the piece counts no more.
    pub(crate) fn grow(
        &self,
        growing: &mut Growing,
        text: &[u8],
        scratch: &mut Scratch,
    ) -> Option<()> {
        let n_before = growing.symbols.len();
        let end = if self.symbols.units().has_marks() {
            self.push_marked(growing, std::str::from_utf8(text).ok()?)?
        } else {
            self.push_known(text, &mut growing.symbols)?;
            Vec::new()
        };
        let lengths = self.lengths()?;
        let mut merge = |symbols: &[TokenId], tokens: &mut Vec<TokenId>| {
            scratch.ids.clear();
            scratch.ids.extend_from_slice(symbols);
            self.merge_symbols(scratch, tokens)
        };
        let Growing { symbols, tokens, n_ids, .. } = growing;
        let Grown { n_kept, new } =
            stretches::grow(tokens, n_before, symbols, lengths, &mut merge).ok()?;
        tokens.truncate(n_kept);
        tokens.extend(new);
        let n_symbols = symbols.len();
        symbols.extend(end);
        let Grown { n_kept, new } =
            stretches::grow(tokens, n_symbols, symbols, lengths, &mut merge).ok()?;
        symbols.truncate(n_symbols);
        *n_ids = n_kept + new.len();
        Some(())
    }

    /// Appends the symbols of a text, if all are known.
    fn push_known(&self, text: &[u8], symbols: &mut Vec<TokenId>) -> Option<()> {
        let n_before = symbols.len();
        self.symbols.push_ids(text, symbols, |symbol| self.unknown_unit(symbol)).ok()?;
        let unknown = self.symbols.unknown();
        (!symbols[n_before..].iter().any(|&symbol| Some(symbol) == unknown)).then_some(())
    }

    /// Appends the symbols of all characters but the last; gives those of the last, and of what marks the end.
    ///
    /// They are those that they have between the first character and the last one, where something is before them.
    fn push_marked(&self, growing: &mut Growing, text: &str) -> Option<Vec<TokenId>> {
        let is_begun = !growing.symbols.is_empty();
        let before = growing.ends.map(|[first, last]| match is_begun {
            true => String::from_iter([first, last]),
            false => last.to_string(),
        });
        let piece = before.unwrap_or_default() + text;
        let Some(last) = piece.chars().next_back() else { return Some(Vec::new()) };
        let first = growing.ends.map_or_else(|| piece.chars().next(), |[first, _]| Some(first))?;
        let mut symbols = Vec::new();
        self.push_known(piece.as_bytes(), &mut symbols)?;
        let n_characters = piece.chars().count();
        let has_unit_mark = self.symbols.units().end_mark_kind() == Some(EndMarkKind::Unit);
        if symbols.len() != n_characters + usize::from(has_unit_mark) {
            return None;
        }
        growing.ends = Some([first, last]);
        let end = symbols.split_off(n_characters - 1);
        growing.symbols.extend_from_slice(&symbols[usize::from(is_begun)..]);
        Some(end)
    }
}
