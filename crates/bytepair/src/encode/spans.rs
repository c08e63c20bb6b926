//! A piece to its ids, each with the bytes of the piece that it stands for.
//!
//! The ids are those of plain encoding. Where their bytes, one after the other, are the piece, these are the spans. Else the
//! symbols are merged once more, by [`tree`](super::merge::tree), which knows the first symbol of each token: a token
//! spans all that its symbols do. Takes O(n log n) time at worst, as encoding does.

use std::ops::Range;

use super::merge::dropout::{self, Dropping};
use super::{Encoder, Scratch};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::{TokenId, TokenKind};

/// What a byte of a very long piece takes, in bytes: its symbol with its span, and what that is merged in.
const SPANS_LEN: usize = 96;

impl Encoder {
    /// Appends the ids of a piece with the range of its bytes that each stands for.
    ///
    /// The byte tokens of a character outside the alphabet stand for one byte each, or for none where they are
    /// those of a mark; an unknown token for what it replaces; what is left out of the piece for no token.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_spans(
        &self,
        piece: &[u8],
        dropping: Option<&mut Dropping>,
        scratch: &mut Scratch,
        out: &mut Vec<(TokenId, Range<usize>)>,
    ) -> Result<()> {
        ask(piece.len().saturating_mul(SPANS_LEN))?;
        if let Some(dropping) = dropping {
            let spans = self.lay_out(piece, scratch)?;
            dropout::merge(&self.merges, &scratch.ids, dropping, &mut scratch.buffers.tree)?;
            push_spans(&spans, scratch, out);
            return Ok(());
        }
        let mut ids = Vec::new();
        self.encode(piece, scratch, &mut ids)?;
        if self.push_lengths(piece, &ids, out) {
            return Ok(());
        }
        if self.whole_token(piece).is_some() {
            out.extend(ids.into_iter().map(|id| (id, 0..piece.len())));
            return Ok(());
        }
        let spans = self.lay_out(piece, scratch)?;
        scratch.buffers.tree.merge(&self.merges, &scratch.ids, |_, _| ())?;
        push_spans(&spans, scratch, out);
        Ok(())
    }

    /// Appends the ids with their spans, if their bytes are those of the piece.
    fn push_lengths(
        &self,
        piece: &[u8],
        ids: &[TokenId],
        out: &mut Vec<(TokenId, Range<usize>)>,
    ) -> bool {
        let (n_before, mut start) = (out.len(), 0);
        for &id in ids {
            let token = self.vocabulary.token(id);
            let text = token.filter(|token| matches!(token.kind, TokenKind::Text(_)));
            let is_here = |bytes: &&[u8]| piece[start..].starts_with(bytes);
            let Some(bytes) = text.map(|token| token.bytes).filter(is_here) else {
                out.truncate(n_before);
                return false;
            };
            out.push((id, start..start + bytes.len()));
            start += bytes.len();
        }
        if start < piece.len() {
            out.truncate(n_before);
        }
        start == piece.len()
    }

    /// Puts the symbols of a piece into `scratch.ids`; gives their spans.
    pub(super) fn lay_out(&self, piece: &[u8], scratch: &mut Scratch) -> Result<Vec<Range<usize>>> {
        let mut spans = Vec::new();
        scratch.ids.clear();
        self.symbols.for_each(
            piece,
            |symbol| self.unknown_unit(symbol),
            |id, span| {
                scratch.ids.push(id);
                spans.push(span);
            },
        )?;
        Ok(spans)
    }
}

/// Appends the tokens of `scratch.buffers.tree`, whose symbols have these spans.
pub(super) fn push_spans(
    spans: &[Range<usize>],
    scratch: &mut Scratch,
    out: &mut Vec<(TokenId, Range<usize>)>,
) {
    let mut tokens = scratch.buffers.tree.tokens().peekable();
    while let Some((place, id)) = tokens.next() {
        let end = tokens.peek().map_or(spans.len(), |&(next, _)| next);
        out.push((id, hull(&spans[place..end])));
    }
    drop(tokens);
    scratch.buffers.tree.shrink();
}

/// The least range that holds all of these. Byte tokens may stand before an unknown token of earlier bytes.
fn hull(spans: &[Range<usize>]) -> Range<usize> {
    let start = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
    start..end
}
