//! Long pieces: a heap of (rank, place) over a linked list of symbols.
//!
//! Takes O(n log n) time and O(n) space for n symbols, whatever they are. An entry of the heap is
//! stale when the merge at its place has changed; it is skipped when it comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Merges, NO_MERGE, RankedMerge};
use crate::error::{ErrorKind, Result};
use crate::vocabulary::{Merge, TokenId};

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(super) struct HeapScratch {
    pub(super) nodes: Vec<Node>,
    /// `rank << 32 | place`, the smallest first.
    heap: BinaryHeap<Reverse<u64>>,
}

/// A symbol, or a token that symbols were merged to; then it stands at the place of the first.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) id: TokenId,
    /// The place of the symbol before; [`END`] for the first.
    previous: u32,
    /// The place of the symbol after; [`END`] for the last.
    pub(super) next: u32,
    /// The merge of this symbol with the next; [`NO_MERGE`] also where the symbol is gone.
    pub(super) merge: RankedMerge,
}

pub(super) const END: u32 = u32::MAX;

/// Memory for more symbols than this is given back after use.
const MAX_KEPT_NODES: usize = 1 << 16;

/// Appends the symbols `ids` to `out`, merged.
pub(super) fn merge(
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut HeapScratch,
    out: &mut Vec<TokenId>,
) -> Result<()> {
    merge_nodes(merges, ids, scratch)?;
    out.extend(tokens(&scratch.nodes).map(|(_, id)| id));
    scratch.shrink();
    Ok(())
}

/// Links the symbols `ids` and merges them, in `scratch.nodes`.
pub(super) fn merge_nodes(
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut HeapScratch,
) -> Result<()> {
    merge_nodes_seen(merges, ids, scratch, |_, _| ())
}

/// The same; `see` is told of each merge before it is done: the place of the left part, and both parts with the result.
#[inline]
pub(super) fn merge_nodes_seen(
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut HeapScratch,
    mut see: impl FnMut(u32, Merge),
) -> Result<()> {
    let n_symbols = ids.len();
    let is_small = u32::try_from(n_symbols).is_ok_and(|n| n < END);
    if !is_small {
        return Err(ErrorKind::PieceTooLong { n_symbols }.into());
    }
    let HeapScratch { nodes, heap } = scratch;
    link(merges, ids, nodes);
    let entries = (0..).zip(nodes.iter()).filter(|(_, node)| node.merge.exists());
    let mut storage = std::mem::take(heap).into_vec();
    storage.clear();
    storage.extend(entries.map(|(place, node)| entry(node.merge, place)));
    *heap = BinaryHeap::from(storage);
    while let Some(Reverse(lowest)) = heap.pop() {
        merge_at(merges, lowest, (nodes, heap), &mut see);
    }
    Ok(())
}

/// The tokens in order, each with the place of its first symbol.
pub(super) fn tokens(nodes: &[Node]) -> impl Iterator<Item = (usize, TokenId)> {
    let mut place = 0;
    std::iter::from_fn(move || {
        let node = nodes.get(place)?;
        let token = (place, node.id);
        place = node.next as usize;
        Some(token)
    })
}

impl HeapScratch {
    /// Gives memory back after a long piece.
    pub(super) fn shrink(&mut self) {
        if self.nodes.capacity() > MAX_KEPT_NODES {
            *self = Self::default();
        }
    }
}

fn entry(merge: RankedMerge, place: u32) -> Reverse<u64> {
    Reverse(u64::from(merge.rank) << 32 | u64::from(place))
}

/// Lays the symbols out, with the merge of each with the next. There must be fewer than [`END`].
#[expect(clippy::cast_possible_truncation, reason = "there are fewer symbols than END")]
pub(super) fn link(merges: &Merges, ids: &[TokenId], nodes: &mut Vec<Node>) {
    let n_symbols = ids.len() as u32;
    nodes.clear();
    nodes.extend((0..n_symbols).zip(ids).map(|(place, &id)| Node {
        id,
        previous: place.wrapping_sub(1),
        next: if place + 1 < n_symbols { place + 1 } else { END },
        merge: NO_MERGE,
    }));
    for (node, pair) in nodes.iter_mut().zip(ids.windows(2)) {
        node.merge = merges.get(pair[0], pair[1]);
    }
}

/// Merges the pair of a heap entry, unless it is stale.
#[expect(clippy::cast_possible_truncation, reason = "rank and place are the halves of an entry")]
fn merge_at(
    merges: &Merges,
    lowest: u64,
    (nodes, heap): (&mut [Node], &mut BinaryHeap<Reverse<u64>>),
    see: &mut impl FnMut(u32, Merge),
) {
    let (rank, place) = ((lowest >> 32) as u32, lowest as u32);
    let node = nodes[place as usize];
    if node.merge.rank != rank {
        return;
    }
    let right = nodes[node.next as usize].id;
    see(place, Merge { left: node.id, right, result: node.merge.result });
    for (left, merge) in join(merges, place, nodes).into_iter().flatten() {
        heap.push(entry(merge, left));
    }
}

/// Does the merge at a place, which must have one; gives the places of the merges that this makes possible.
#[inline]
pub(super) fn join(
    merges: &Merges,
    place: u32,
    nodes: &mut [Node],
) -> [Option<(u32, RankedMerge)>; 2] {
    let node = nodes[place as usize];
    let gone = nodes[node.next as usize];
    nodes[node.next as usize].merge = NO_MERGE;
    nodes[place as usize].id = node.merge.result;
    nodes[place as usize].next = gone.next;
    if let Some(after) = nodes.get_mut(gone.next as usize) {
        after.previous = place;
    }
    [node.previous, place].map(|left| {
        let Node { id, next, .. } = *nodes.get(left as usize)?;
        let right = nodes.get(next as usize).map(|right| right.id);
        let merge = right.map_or(NO_MERGE, |right| merges.get(id, right));
        nodes[left as usize].merge = merge;
        merge.exists().then_some((left, merge))
    })
}
