//! Long pieces: a heap of (rank, place) over a linked list of symbols.
//!
//! Takes O(n log n) time and O(n) space for n symbols, whatever they are. An entry of the heap is
//! stale when the merge at its place has changed; it is skipped when it comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Merges, NO_MERGE, RankedMerge};
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(super) struct HeapScratch {
    nodes: Vec<Node>,
    /// `rank << 32 | place`, the smallest first.
    heap: BinaryHeap<Reverse<u64>>,
}

#[derive(Clone, Copy)]
struct Node {
    id: TokenId,
    /// The place of the symbol before; [`END`] for the first.
    previous: u32,
    /// The place of the symbol after; [`END`] for the last.
    next: u32,
    /// The merge of this symbol with the next; [`NO_MERGE`] also where the symbol is gone.
    merge: RankedMerge,
}

const END: u32 = u32::MAX;

/// Appends the symbols `ids` to `out`, merged.
pub(super) fn merge(
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut HeapScratch,
    out: &mut Vec<TokenId>,
) -> Result<()> {
    let n_symbols = u32::try_from(ids.len())
        .ok()
        .filter(|&n| n < END)
        .ok_or(ErrorKind::PieceTooLong { n_symbols: ids.len() })?;
    let HeapScratch { nodes, heap } = scratch;
    link(merges, ids, n_symbols, nodes);
    let entries = (0..).zip(nodes.iter()).filter(|(_, node)| node.merge != NO_MERGE);
    let mut storage = std::mem::take(heap).into_vec();
    storage.clear();
    storage.extend(entries.map(|(place, node)| entry(node.merge, place)));
    *heap = BinaryHeap::from(storage);
    while let Some(Reverse(lowest)) = heap.pop() {
        merge_at(merges, lowest, nodes, heap);
    }
    let mut place = 0;
    while let Some(node) = nodes.get(place as usize) {
        out.push(node.id);
        place = node.next;
    }
    if nodes.capacity() > MAX_KEPT_NODES {
        *scratch = HeapScratch::default();
    }
    Ok(())
}

/// Memory for more symbols than this is given back after use.
const MAX_KEPT_NODES: usize = 1 << 16;

fn entry(merge: RankedMerge, place: u32) -> Reverse<u64> {
    Reverse(u64::from(merge.rank) << 32 | u64::from(place))
}

fn link(merges: &Merges, ids: &[TokenId], n_symbols: u32, nodes: &mut Vec<Node>) {
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
fn merge_at(merges: &Merges, lowest: u64, nodes: &mut [Node], heap: &mut BinaryHeap<Reverse<u64>>) {
    let (rank, place) = ((lowest >> 32) as u32, lowest as u32);
    let node = nodes[place as usize];
    if node.merge.rank != rank {
        return;
    }
    let gone = nodes[node.next as usize];
    nodes[node.next as usize].merge = NO_MERGE;
    nodes[place as usize].id = node.merge.result;
    nodes[place as usize].next = gone.next;
    if let Some(after) = nodes.get_mut(gone.next as usize) {
        after.previous = place;
    }
    for left in [node.previous, place].into_iter().filter(|&left| left != END) {
        let next = nodes[left as usize].next;
        let merge = match nodes.get(next as usize) {
            Some(right) => merges.get(nodes[left as usize].id, right.id),
            None => NO_MERGE,
        };
        nodes[left as usize].merge = merge;
        if merge != NO_MERGE {
            heap.push(entry(merge, left));
        }
    }
}
