//! From contexts to a few products of letter sets.
//!
//! A *product* holds at a place if each letter around it is in the product's set for that distance. A question about a
//! place (does a piece certainly start? is nothing certain?) becomes a list of products, one of which holds if the
//! answer is yes.
//!
//! Letters at the place, and letters after it, are grouped if they have the same answers. Each pair of such groups, with
//! each context in which the answer is yes, is a narrow product. Narrow products are joined, and widened at all
//! distances in turn as long as they meet no window with the answer no. Then only the wide products that are needed are
//! kept: the one that covers the most narrow products, then the one that covers the most of the rest, and so on.
//!
//! Most of the time goes to finding the products that intersect others. So [`ProductIndex`] has a row of bits for each
//! distance and letter. The rows of a product's letters are combined with *or* at each distance, and the results with
//! *and*.
//!
//! Left out: the smallest list, which is hard to find. Cost: one bit for each product and each window with the answer no.

use std::collections::BTreeMap;

use super::contexts::Context;
use super::letters::{LetterSet, N_BEFORE, N_SHOWN, Product, Window, all_letters, members, merged};
use super::views::{Answers, PossibleMarks};

/// With more products, windows do not pay.
const MAX_PRODUCTS: usize = 200;

/// Products for a question, asked about the marks that are possible at a place: one of them holds wherever the answer is
/// yes, and none where it is no. `None` if there are too many.
pub(super) fn cover(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(&PossibleMarks) -> Answers,
) -> Option<Vec<Product>> {
    let yes = narrow(contexts, |marks| asks(marks).yes);
    let no = narrow(contexts, |marks| asks(marks).no);
    let products = minimized(&yes, &no, n_letters);
    (products.len() <= MAX_PRODUCTS).then_some(products)
}

/// The windows with an answer, as products: by context, and by the letters after the place with which the answer is given.
fn narrow(contexts: &[Context], answer: impl Fn(&PossibleMarks) -> LetterSet) -> Vec<Product> {
    let mut products = Vec::new();
    for context in contexts {
        let mut letters_at: BTreeMap<LetterSet, LetterSet> = BTreeMap::new();
        for (at, marks) in context.marks.iter().enumerate() {
            *letters_at.entry(answer(marks)).or_default() |= 1 << at;
        }
        for (behind, at) in letters_at.into_iter().filter(|&(behind, _)| behind != 0) {
            products.extend(context.before.iter().map(|before| {
                let mut product = [at; N_SHOWN];
                product[..N_BEFORE].copy_from_slice(before);
                product[N_BEFORE + 1] = behind;
                product
            }));
        }
    }
    products
}

/// Fewer products that hold wherever one of these does. They may hold elsewhere too, but not in the `known` windows.
pub(super) fn loosened(products: &[Product], known: &[Window], n_letters: usize) -> Vec<Product> {
    if products.len() < 2 {
        return products.to_vec();
    }
    let known = known.iter().map(|window| window.map(|letter| 1 << letter));
    let known = ProductIndex::new(known, n_letters);
    let mut loose: Vec<(Product, Intersections)> = Vec::new();
    for product in products {
        let met = known.met(product);
        match loose.iter_mut().find(|other| join_is_disjoint(&met, &other.1)) {
            Some((other, all_met)) => {
                other.iter_mut().zip(product).for_each(|(set, other)| *set |= other);
                let all = all_met.iter_mut().flatten().zip(met.iter().flatten());
                all.for_each(|(word, other)| *word |= other);
            }
            None => loose.push((*product, met)),
        }
    }
    loose.into_iter().map(|(product, _)| product).collect()
}

/// The orders in which distances are widened. Distances that are widened first are likely to drop out of the product.
const ORDERS: [[usize; N_SHOWN]; 3] = [[0, 1, 2, 3, 5, 4], [5, 0, 1, 2, 3, 4], [4, 5, 0, 1, 2, 3]];

/// Products that hold wherever one of `narrow` does, and that intersect none of `refused`.
fn minimized(narrow: &[Product], refused: &[Product], n_letters: usize) -> Vec<Product> {
    let refused = ProductIndex::new(refused.iter().copied(), n_letters);
    let joined = merged(narrow.to_vec());
    let wide = |product: &Product| {
        let met = refused.met(product);
        ORDERS.map(|order| {
            let (mut product, mut met) = (*product, met.clone());
            order.iter().for_each(|&distance| refused.widen(&mut product, &mut met, distance));
            product
        })
    };
    let mut candidates: Vec<Product> = joined.iter().flat_map(wide).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let all = ProductIndex::new(narrow.iter().copied(), n_letters);
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

/// Indexes products by the letters that they contain at each distance.
struct ProductIndex {
    n_letters: usize,
    n_words: usize,
    /// By distance, letter and word.
    rows: Vec<u64>,
}

/// By word: for each distance, which of the indexed products have a letter in common with one product there.
type Intersections = Vec<[u64; N_SHOWN]>;

impl ProductIndex {
    fn new(many: impl ExactSizeIterator<Item = Product>, n_letters: usize) -> Self {
        let n_words = many.len().div_ceil(64);
        let mut meetings = Self { n_letters, n_words, rows: Vec::new() };
        let mut rows = vec![0; N_SHOWN * n_letters * n_words];
        let all = all_letters(n_letters);
        for (index, product) in many.enumerate() {
            for (distance, set) in product.into_iter().enumerate() {
                let starts = members(set & all).map(|letter| meetings.start(distance, letter));
                starts.for_each(|start| rows[start + index / 64] |= 1 << (index % 64));
            }
        }
        meetings.rows = rows;
        meetings
    }

    /// Which of the indexed products a product intersects, distance by distance.
    fn met(&self, product: &Product) -> Intersections {
        let mut met = vec![[0; N_SHOWN]; self.n_words];
        let all = all_letters(self.n_letters);
        for (distance, &set) in product.iter().enumerate() {
            if set & all == all {
                met.iter_mut().for_each(|met| met[distance] = u64::MAX);
            } else {
                members(set & all).for_each(|letter| self.add(&mut met, distance, letter));
            }
        }
        met
    }

    /// Adds every letter at a distance with which the product intersects no further indexed product.
    fn widen(&self, product: &mut Product, met: &mut Intersections, distance: usize) {
        let elsewhere = |met: &[u64; N_SHOWN]| {
            (0..N_SHOWN).filter(|&at| at != distance).fold(u64::MAX, |all, at| all & met[at])
        };
        let elsewhere: Vec<u64> = met.iter().map(elsewhere).collect();
        for letter in members(all_letters(self.n_letters) & !product[distance]) {
            let row = &self.rows[self.start(distance, letter)..][..self.n_words];
            if row.iter().zip(&elsewhere).all(|(row, elsewhere)| row & elsewhere == 0) {
                product[distance] |= 1 << letter;
                self.add(met, distance, letter);
            }
        }
    }

    fn start(&self, distance: usize, letter: usize) -> usize {
        (distance * self.n_letters + letter) * self.n_words
    }

    fn add(&self, met: &mut Intersections, distance: usize, letter: usize) {
        let row = &self.rows[self.start(distance, letter)..][..self.n_words];
        met.iter_mut().zip(row).for_each(|(met, row)| met[distance] |= row);
    }
}

/// Whether the join of two products, distance by distance, intersects none of the indexed products.
fn join_is_disjoint(one: &Intersections, other: &Intersections) -> bool {
    let joined = |(one, other): (&[u64; N_SHOWN], &[u64; N_SHOWN])| {
        (0..N_SHOWN).fold(u64::MAX, |all, at| all & (one[at] | other[at]))
    };
    one.iter().zip(other).all(|pair| joined(pair) == 0)
}
