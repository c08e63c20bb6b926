//! The ids of a piece that grows at its end.
//!
//! Only appended text is merged, with the last tokens before it. If one of these is unchanged, all before it are
//! unchanged, too ([`stretches`]). So each call takes as long as merging some ten symbols, or longer if tokens are long
//! or change far back. If units carry marks, the mark of the last character may change when more text comes. So the
//! last character is kept apart, and merged with what precedes it only to count the ids.
//!
//! Left out: bytes with marks; units with marks that become one unknown token or several bytes; pieces that are a token
//! as a whole; and vocabularies whose tokens have no [lengths](super::merge::Lengths).

use super::merge::stretches;
use super::{Encoder, Scratch};
use crate::patch::Patch;
use crate::units::EndMarkKind;
use crate::vocabulary::TokenId;

/// A piece that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growing {
    /// The symbols of all characters; without those of the last one if units carry marks.
    symbols: Vec<TokenId>,
    tokens: Vec<TokenId>,
    /// The first and the last character, if units carry marks.
    ends: Option<[char; 2]>,
    /// How many of the tokens are ids of the piece, and the ids that come after them.
    n_kept: usize,
    last: Vec<TokenId>,
}

impl Growing {
    /// The number of ids of the piece so far.
    pub(crate) fn n_ids(&self) -> usize {
        self.n_kept + self.last.len()
    }
}

impl Encoder {
    /// An empty piece that may grow; `None` if this vocabulary does not allow it.
    pub(crate) fn growing(&self) -> Option<Growing> {
        let units = self.symbols.units();
        let has_marked_bytes = units.is_bytes() && units.has_marks();
        (!has_marked_bytes && self.lengths().is_some()).then(Growing::default)
    }

    /// Appends a text to a piece, and returns how its ids change; `None` if that is not possible. Then `growing` is no
    /// longer valid.
    pub(crate) fn grow(
        &self,
        growing: &mut Growing,
        text: &[u8],
        scratch: &mut Scratch,
    ) -> Option<Patch> {
        let n_before = growing.symbols.len();
        let end = if self.symbols.units().has_marks() {
            self.push_marked(growing, std::str::from_utf8(text).ok()?)?
        } else {
            self.push_symbols(text, &mut growing.symbols)?;
            Vec::new()
        };
        let lengths = self.lengths()?;
        let mut merge = |symbols: &[TokenId], tokens: &mut Vec<TokenId>| {
            scratch.ids.clear();
            scratch.ids.extend_from_slice(symbols);
            self.merge_symbols(scratch, tokens)
        };
        let Growing { symbols, tokens, n_kept, last, .. } = growing;
        let inner = stretches::grow(tokens, n_before, symbols, lengths, &mut merge).ok()?;
        tokens.truncate(inner.keep);
        tokens.extend(inner.ids);
        let n_symbols = symbols.len();
        symbols.extend(end);
        let whole = stretches::grow(tokens, n_symbols, symbols, lengths, &mut merge).ok()?;
        symbols.truncate(n_symbols);
        let keep = inner.keep.min(whole.keep).min(*n_kept);
        (*n_kept, *last) = (whole.keep, whole.ids);
        Some(Patch { keep, ids: [&tokens[keep..*n_kept], last].concat(), keep_after: 0 })
    }

    /// Appends the symbols of a text. An unknown token that is there may stand for its first units, too.
    fn push_symbols(&self, text: &[u8], symbols: &mut Vec<TokenId>) -> Option<()> {
        let n_before = symbols.len();
        self.symbols.push_ids(text, symbols, |symbol| self.unknown_unit(symbol)).ok()?;
        let is_unknown = |place: usize| {
            symbols.get(place).is_some_and(|&symbol| self.symbols.unknown() == Some(symbol))
        };
        let are_fused = self.symbols.units().fuse_unknown
            && n_before > 0
            && is_unknown(n_before - 1)
            && is_unknown(n_before);
        if are_fused {
            symbols.remove(n_before);
        }
        Some(())
    }

    /// Appends the symbols of all characters but the last; returns those of the last one and of the mark at the end.
    ///
    /// The symbols have the form of characters between the first and the last one, if text precedes them.
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
        self.push_symbols(piece.as_bytes(), &mut symbols)?;
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
