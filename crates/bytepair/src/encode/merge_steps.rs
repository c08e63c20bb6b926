//! The bytes that each id of a piece stands for, and every merge on the way.
//!
//! The ids are those of `encode`, which keeps no record of its merges. If the bytes of the ids, one after the other,
//! are the piece, they give the spans. If not, [`tree`](super::merge::tree) merges the symbols again: it knows the
//! first symbol of each token, and a token spans all that its symbols do. The tree also reports each merge before it is
//! done, in the order of the definition: [`Encoder::course`] lists them.
//!
//! For display and counting, not for speed: O(n log n) time for n symbols, and a pass over all merges of the vocabulary
//! if the indices of merges are needed.

use std::collections::HashMap;
use std::ops::Range;

use super::merge::dropout::{self, Dropout};
use super::{Encoder, Scratch};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::{Merge, TokenId, TokenKind, Vocabulary};

/// Bytes of memory for each byte of a piece: its symbol, the tree and a merge.
const COURSE_LEN: usize = 128;

/// One merge of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeStep {
    /// The first symbol of the left part, counted from 0 among the symbols before any merge.
    pub place: usize,
    /// The index of the merge in [`Vocabulary::merges`].
    pub index: usize,
    /// What decides which merge comes first: the index, or a priority of its own in the vocabulary.
    pub priority: u32,
    /// The two parts and their result.
    pub merge: Merge,
}

/// How a piece becomes ids, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PieceCourse {
    /// The symbols before any merge, each with the bytes of the piece that it stands for.
    pub symbols: Vec<(TokenId, Range<usize>)>,
    /// The merges, in order. Empty if the piece is a token as a whole.
    pub steps: Vec<MergeStep>,
    /// The tokens at the end, each with the bytes of the piece that it stands for.
    pub tokens: Vec<(TokenId, Range<usize>)>,
    /// Whether the piece is a token as a whole, whatever merges would give. It has no symbols then.
    pub is_whole: bool,
}

impl PieceCourse {
    pub(crate) fn whole(id: TokenId, n_bytes: usize) -> Self {
        Self { tokens: vec![(id, 0..n_bytes)], is_whole: true, ..Self::default() }
    }
}

impl Encoder {
    /// How a piece becomes ids. The indices of merges are left out; [`give_indices`] sets them.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn course(&self, piece: &[u8], scratch: &mut Scratch) -> Result<PieceCourse> {
        if let Some(id) = self.whole_token(piece) {
            return Ok(PieceCourse::whole(id, piece.len()));
        }
        ask(piece.len().saturating_mul(COURSE_LEN))?;
        let spans = self.lay_out(piece, scratch)?;
        let symbols = scratch.ids.iter().copied().zip(spans.iter().cloned()).collect();
        let ids = std::mem::take(&mut scratch.ids);
        let steps = self.merge_steps(&ids, scratch);
        scratch.ids = ids;
        let mut course = PieceCourse { symbols, steps: steps?, ..PieceCourse::default() };
        push_spans(&spans, scratch, &mut course.tokens);
        Ok(course)
    }

    /// The symbols of a piece; `None` for a unit that no token stands for.
    ///
    /// # Errors
    /// If a piece of characters is not UTF-8.
    pub(crate) fn symbols_of(&self, piece: &[u8]) -> Result<Vec<(Option<TokenId>, Range<usize>)>> {
        let mut symbols = Vec::new();
        let stranger = |_| Ok(TokenId::MAX);
        self.symbols.for_each(piece, stranger, |id, span| {
            symbols.push(((id != TokenId::MAX).then_some(id), span));
        })?;
        Ok(symbols)
    }

    /// The merges of symbols, in order. Leaves the final tokens in `scratch.buffers.tree`.
    pub(crate) fn merge_steps(
        &self,
        ids: &[TokenId],
        scratch: &mut Scratch,
    ) -> Result<Vec<MergeStep>> {
        let mut steps = Vec::new();
        scratch.buffers.tree.merge(&self.merges, ids, |place, merge| {
            steps.push(MergeStep { place: place as usize, index: 0, priority: 0, merge });
        })?;
        Ok(steps)
    }
}

/// Sets the index and priority of each merge. If a pair has several merges in the vocabulary, the last one counts.
pub(crate) fn give_indices<'s>(
    vocabulary: &Vocabulary,
    steps: impl Iterator<Item = &'s mut MergeStep>,
) {
    let mut steps: Vec<_> = steps.collect();
    let pair = |merge: &Merge| (merge.left, merge.right);
    let mut indices: HashMap<_, _> =
        steps.iter().map(|step| (pair(&step.merge), usize::MAX)).collect();
    if indices.is_empty() {
        return;
    }
    for (place, merge) in vocabulary.merges().iter().enumerate() {
        if let Some(index) = indices.get_mut(&pair(merge)) {
            *index = place;
        }
    }
    let priorities = vocabulary.priorities();
    for step in &mut steps {
        step.index = indices.get(&pair(&step.merge)).copied().unwrap_or(usize::MAX);
        let place = u32::try_from(step.index).unwrap_or(u32::MAX);
        step.priority = priorities.get(step.index).copied().unwrap_or(place);
    }
}

/// Bytes of memory for each byte of a very long piece: its symbol with its span, and the tree.
const SPANS_LEN: usize = 96;

impl Encoder {
    /// Appends the ids of a piece, each with the range of bytes that it stands for.
    ///
    /// Each byte token of a character outside the alphabet stands for one byte, or for none if it belongs to a mark. An
    /// unknown token stands for what it replaces. No token stands for what is left out of the piece.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_spans(
        &self,
        piece: &[u8],
        dropping: Option<&mut Dropout>,
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

    /// Appends the ids with their spans, if the bytes of the ids are those of the piece.
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

    /// Puts the symbols of a piece into `scratch.ids`; returns their spans.
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

/// Appends the tokens in `scratch.buffers.tree`. `spans` are those of the symbols.
fn push_spans(
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

/// The smallest range that contains all of these. Byte tokens may come before an unknown token of earlier bytes.
fn hull(spans: &[Range<usize>]) -> Range<usize> {
    let start = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
    start..end
}
