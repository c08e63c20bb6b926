//! Fewer products that say the same.
//!
//! Each product is widened at one distance after the other, as far as it meets no window where the answer is no.
//! What nothing is asked about may be in or out. Wide products hold where several of the narrow ones did: the one
//! that covers most of them is kept, then the one that covers most of the rest, and so on.
//!
//! Left out: the smallest list, which is hard to find. Cost: products x refused windows.

use super::contexts::{Context, N_BEFORE, N_SHOWN};
use super::cover::{Product, merged};
use super::knowledge::MarkSet;
use super::letters::LetterSet;

/// In which order products are widened: what is widened first is likely to be asked about no more.
const ORDERS: [[usize; N_SHOWN]; 3] = [[0, 1, 2, 3, 5, 4], [5, 0, 1, 2, 3, 4], [4, 5, 0, 1, 2, 3]];

/// Products that hold wherever one of `narrow` does, and in none of the refused windows.
pub(super) fn fewest(narrow: &[Product], refused: &[Product], n_letters: usize) -> Vec<Product> {
    let joined = merged(narrow.to_vec());
    let wide = |product: &Product| ORDERS.map(|order| widened(*product, refused, n_letters, order));
    let mut candidates: Vec<Product> = joined.iter().flat_map(wide).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut left = narrow.to_vec();
    let mut kept = Vec::new();
    while !left.is_empty() {
        let n_covered =
            |wide: &&Product| left.iter().filter(|product| is_within(product, wide)).count();
        let Some(&best) = candidates.iter().max_by_key(n_covered) else { break };
        left.retain(|product| !is_within(product, &best));
        kept.push(best);
    }
    kept
}

/// The windows where the answer is no, as products.
pub(super) fn refused(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(MarkSet) -> Option<bool>,
) -> Vec<Product> {
    let mut refused = Vec::new();
    for context in contexts {
        // Letters at the place, by the letters behind with which the answer is no.
        let mut pairs: Vec<(LetterSet, LetterSet)> = Vec::new();
        for at in 0..n_letters {
            let is_refused = |&behind: &usize| asks(context.marks[at].with(behind)) == Some(false);
            let behind = (0..n_letters).filter(is_refused).fold(0, |set, letter| set | 1 << letter);
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

/// The product with every letter that can be added without meeting what is refused.
fn widened(
    mut product: Product,
    refused: &[Product],
    n_letters: usize,
    order: [usize; N_SHOWN],
) -> Product {
    let all = LetterSet::MAX >> (LetterSet::BITS as usize - n_letters);
    for index in order {
        let meets =
            |other: &&Product| (0..N_SHOWN).all(|at| at == index || product[at] & other[at] != 0);
        let forbidden = refused.iter().filter(meets).fold(0, |set, other| set | other[index]);
        product[index] |= all & !forbidden;
    }
    product
}

fn is_within(one: &Product, other: &Product) -> bool {
    one.iter().zip(other).all(|(one, other)| one & !other == 0)
}
