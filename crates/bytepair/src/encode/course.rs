//! A piece to its ids, with every merge on the way.
//!
//! The ids are those of `encode`, which keeps nothing of how it came to them. Here [`tree`] merges all symbols and reports
//! each merge before it is done, in the order of the definition. [`Encoder::course`] lists them;
//! [`Encoder::encode_telling`] reports each token that is made, so that a caller can count how often a token is made and
//! how often it stays. For showing and counting, not for speed: takes O(n log n) time for n symbols, and a look at all
//! merges of the vocabulary.

use std::collections::HashMap;
use std::ops::Range;

use super::merge::tree;
use super::{Encoder, Scratch};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// What a byte of a piece takes, in bytes: its symbol, what that is merged in, and a merge.
const COURSE_LEN: usize = 128;

/// One merge of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub struct PieceCourse {
    /// The symbols before any merge, each with the bytes of the piece that it stands for.
    pub symbols: Vec<(TokenId, Range<usize>)>,
    /// The merges, in order. None where the piece is a token as a whole.
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
        super::spans::push_spans(&spans, scratch, &mut course.tokens);
        Ok(course)
    }

    /// Appends the ids of a piece, and calls `tell` with each token that is made: each symbol, and what each merge gives.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_telling(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        mut tell: impl FnMut(TokenId),
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            tell(id);
            out.push(id);
            return Ok(());
        }
        ask(piece.len().saturating_mul(tree::BYTES_PER_SYMBOL))?;
        scratch.ids.clear();
        self.symbols.push_ids(piece, &mut scratch.ids, |symbol| self.unknown_unit(symbol))?;
        scratch.ids.iter().copied().for_each(&mut tell);
        let see = |_, merge: Merge| tell(merge.result);
        scratch.buffers.tree.merge(&self.merges, &scratch.ids, see)?;
        out.extend(scratch.buffers.tree.tokens().map(|(_, id)| id));
        scratch.buffers.tree.shrink();
        Ok(())
    }

    /// The symbols of a piece; `None` for a unit that nothing in the vocabulary stands for.
    ///
    /// # Errors
    /// Where a piece of characters is not UTF-8.
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
