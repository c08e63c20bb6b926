//! Fewer products that say the same.
//!
//! Each product is widened at one distance after the other, as far as it meets no window where the answer is no.
//! What nothing is asked about may be in or out. Wide products hold where several of the narrow ones did: the one
//! that covers most of them is kept, then the one that covers most of the rest, and so on.
//!
//! Left out: the smallest list, which is hard to find. Cost: products x refused windows.

use super::contexts::{Context, N_BEFORE, N_SHOWN};
use super::cover::{Product, merged};
use super::knowledge::{Answers, Marks};
use super::letters::LetterSet;
use super::meetings::{Meetings, Met};

/// In which order products are widened: what is widened first is likely to be asked about no more.
const ORDERS: [[usize; N_SHOWN]; 3] = [[0, 1, 2, 3, 5, 4], [5, 0, 1, 2, 3, 4], [4, 5, 0, 1, 2, 3]];

/// Products that hold wherever one of `narrow` does, and in none of the refused windows.
pub(super) fn fewest(narrow: &[Product], refused: &[Product], n_letters: usize) -> Vec<Product> {
    let refused = Meetings::new(refused.iter().copied(), n_letters);
    let joined = merged(narrow.to_vec());
    let wide = |product: &Product| {
        let met = refused.met(product);
        ORDERS.map(|order| widened((*product, met.clone()), &refused, order))
    };
    let mut candidates: Vec<Product> = joined.iter().flat_map(wide).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let all = Meetings::new(narrow.iter().copied(), n_letters);
    let covered = |wide: &Product| -> Vec<u64> {
        let outside = all.met(&wide.map(|set| !set));
        outside.iter().map(|outside| !outside.iter().fold(0, |any, at| any | at)).collect()
    };
    let candidates: Vec<_> = candidates.into_iter().map(|wide| (wide, covered(&wide))).collect();
    let mut left = vec![u64::MAX; narrow.len().div_ceil(64)];
    left.iter_mut().skip(narrow.len() / 64).for_each(|last| *last >>= 64 - narrow.len() % 64);
    let mut kept = Vec::new();
    while left.iter().any(|&word| word != 0) {
        let n_covered = |(_, covered): &&(Product, Vec<u64>)| -> u32 {
            covered.iter().zip(&left).map(|(covered, left)| (covered & left).count_ones()).sum()
        };
        let Some((best, covered)) = candidates.iter().max_by_key(n_covered) else { break };
        left.iter_mut().zip(covered).for_each(|(left, covered)| *left &= !covered);
        kept.push(*best);
    }
    kept
}

/// The windows where the answer is no, as products.
pub(super) fn refused(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(&Marks) -> Answers,
) -> Vec<Product> {
    let mut refused = Vec::new();
    for context in contexts {
        // Letters at the place, by the letters behind with which the answer is no.
        let mut pairs: Vec<(LetterSet, LetterSet)> = Vec::new();
        for (at, marks) in context.marks.iter().enumerate().take(n_letters) {
            let behind = asks(marks).no;
            match pairs.iter_mut().find(|pair| pair.1 == behind) {
                Some(pair) => pair.0 |= 1 << at,
                None => pairs.push((1 << at, behind)),
            }
        }
        for (at, behind) in pairs.into_iter().filter(|pair| pair.1 != 0) {
            refused.extend(context.before.iter().map(|before| {
                let mut product = [at; N_SHOWN];
                product[..N_BEFORE].copy_from_slice(before);
                product[N_BEFORE + 1] = behind;
                product
            }));
        }
    }
    refused
}

/// The product, with what it meets, and every letter that can be added without meeting what is refused.
pub(super) fn widened(
    (mut product, mut met): (Product, Met),
    refused: &Meetings,
    order: [usize; N_SHOWN],
) -> Product {
    order.iter().for_each(|&distance| refused.widen((&mut product, &mut met), distance));
    product
}
