//! More of a piece than its ids: the bytes that each id stands for, and every merge on the way.
//!
//! The ids are those of `encode`, which keeps nothing of how it came to them. Where their bytes, one after the other, are the
//! piece, these are the spans. Else [`tree`](super::merge::tree) merges the symbols once more: it knows the first symbol of each token, and a
//! token spans all that its symbols do. The tree also reports each merge before it is done, in the order of the definition:
//! [`Encoder::course`] lists them.
//!
//! For showing and counting, not for speed: O(n log n) time for n symbols, and a look at all merges of the vocabulary where
//! the places of merges among these are wanted.

use std::collections::HashMap;
use std::ops::Range;

use super::merge::dropout::{self, Dropout};
use super::{Encoder, Scratch};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::{Merge, TokenId, TokenKind, Vocabulary};

/// What a byte of a piece takes, in bytes: its symbol, what that is merged in, and a merge.
const COURSE_LEN: usize = 128;

/// One merge of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeStep {
    /// The symbol that the left part begins with, counted from 0 among those before any merge.
    pub place: usize,
    /// The place of the merge in [`Vocabulary::merges`].
    pub index: usize,
    /// What decides which merge comes first: the place, or what the vocabulary has instead.
    pub priority: u32,
    /// The parts and what replaces them.
    pub merge: Merge,
}

/// How a piece becomes ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PieceCourse {
    /// The symbols before any merge, each with the bytes of the piece that it stands for.
    pub symbols: Vec<(TokenId, Range<usize>)>,
    /// The merges, in order. None if the piece is a token as a whole.
    pub steps: Vec<MergeStep>,
    /// The tokens at the end, each with the bytes of the piece that it stands for.
    pub tokens: Vec<(TokenId, Range<usize>)>,
    /// Whether the piece is a token as a whole, whatever merges would give. Then it has no symbols.
    pub is_whole: bool,
}

impl PieceCourse {
    pub(crate) fn whole(id: TokenId, n_bytes: usize) -> Self {
        Self { tokens: vec![(id, 0..n_bytes)], is_whole: true, ..Self::default() }
    }
}

impl Encoder {
    /// How a piece becomes ids; places of merges among all are left out, for [`give_indices`].
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

    /// The symbols of a piece; `None` for a unit that nothing in the vocabulary stands for.
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

    /// The merges of symbols, in order. The tokens that they become are in `scratch.buffers.tree` then.
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

/// Says of each merge which one of the vocabulary's it is: the last of those of its pair.
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
    fn lay_out(&self, piece: &[u8], scratch: &mut Scratch) -> Result<Vec<Range<usize>>> {
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

/// The least range that holds all of these. Byte tokens may stand before an unknown token of earlier bytes.
fn hull(spans: &[Range<usize>]) -> Range<usize> {
    let start = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
    start..end
}
