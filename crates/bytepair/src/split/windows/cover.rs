//! From what is known of windows to few products of letter sets.
//!
//! A *product* holds at a place if each letter around it is in the product's set for that distance. What must
//! hold at a place (a piece starts for certain; nothing is certain) becomes a list of products of which one
//! holds: columns of what is asked are put together where they agree or one of them leaves it open, first
//! for the letter at the place, then for the one behind, then backwards from the place. A letter further
//! away is looked at only where it still makes a difference.
//!
//! Left out: the smallest list, which is hard to find. Two products that differ at one distance become one.

use std::collections::BTreeMap;

use super::layers::{Layers, N_BEFORE, NOWHERE};
use super::letters::LetterSet;

/// The letters of a window: those before the place, the one at it, the one behind.
pub(super) const N_SHOWN: usize = N_BEFORE + 2;

const AT: usize = N_BEFORE;
const BEHIND: usize = N_BEFORE + 1;

/// More products are not worth it.
const MAX_PRODUCTS: usize = 512;

/// A set of letters for each distance.
pub(super) type Product = [LetterSet; N_SHOWN];

/// What is asked of some windows: `true`, `false`, or nothing where neither bit is set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Column {
    yes: Vec<u64>,
    no: Vec<u64>,
}

impl Column {
    fn new(len: usize) -> Self {
        Self { yes: vec![0; len.div_ceil(64)], no: vec![0; len.div_ceil(64)] }
    }

    fn get(&self, index: usize) -> Option<bool> {
        let bit = |words: &[u64]| words[index / 64] >> (index % 64) & 1 == 1;
        if bit(&self.yes) { Some(true) } else { bit(&self.no).then_some(false) }
    }

    fn set(&mut self, index: usize, value: Option<bool>) {
        if let Some(value) = value {
            let words = if value { &mut self.yes } else { &mut self.no };
            words[index / 64] |= 1 << (index % 64);
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        let meets = |one: &[u64], other: &[u64]| one.iter().zip(other).any(|(a, b)| a & b != 0);
        !meets(&self.yes, &other.no) && !meets(&self.no, &other.yes)
    }

    fn join(&mut self, other: &Self) {
        let join = |one: &mut [u64], other: &[u64]| {
            one.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
        };
        join(&mut self.yes, &other.yes);
        join(&mut self.no, &other.no);
    }

    fn is_ever(&self) -> bool {
        self.yes.iter().any(|&word| word != 0)
    }

    fn is_always(&self) -> bool {
        self.no.iter().all(|&word| word == 0)
    }
}

/// Products of which one holds where `asks` says yes and none where it says no, given a node of the last
/// layer, the letter at the place and the one behind. `None` if there are too many.
pub(super) fn cover(
    layers: &Layers,
    asks: impl Fn(usize, usize, usize) -> Option<bool>,
) -> Option<Vec<Product>> {
    let mut cover = Cover { layers, known: BTreeMap::new() };
    let mut products = Vec::new();
    for (at, behind, column) in columns(layers, asks) {
        for before in cover.before(&column, N_BEFORE) {
            let mut product = before;
            product[AT] = at;
            product[BEHIND] = behind;
            products.push(product);
        }
        if products.len() > MAX_PRODUCTS {
            return None;
        }
    }
    Some(merged(products))
}

/// Sets of letters at the place and behind it, and what is asked there of the nodes of the last layer.
fn columns(
    layers: &Layers,
    asks: impl Fn(usize, usize, usize) -> Option<bool>,
) -> Vec<(LetterSet, LetterSet, Column)> {
    let n_nodes = layers.n_nodes(N_BEFORE);
    let mut columns: Vec<(LetterSet, LetterSet, Column)> = Vec::new();
    for at in 0..layers.n_letters {
        let by_behind = (0..layers.n_letters).map(|behind| {
            let mut column = Column::new(n_nodes);
            (0..n_nodes).for_each(|node| column.set(node, asks(node, at, behind)));
            column
        });
        for (behind, column) in grouped(by_behind) {
            let known = columns
                .iter_mut()
                .find(|known| known.1 == behind && known.2.agrees(&column));
            match known {
                Some(known) => {
                    known.0 |= 1 << at;
                    known.2.join(&column);
                }
                None => columns.push((1 << at, behind, column)),
            }
        }
    }
    columns
}

/// Sets of letters whose columns agree; those where nothing is asked for are in each.
fn grouped(columns: impl Iterator<Item = Column>) -> Vec<(LetterSet, Column)> {
    let mut groups: Vec<(LetterSet, Column)> = Vec::new();
    let mut open = 0;
    for (letter, column) in columns.enumerate() {
        if !column.is_ever() && column.is_always() {
            open |= 1 << letter;
            continue;
        }
        match groups.iter_mut().find(|group| group.1.agrees(&column)) {
            Some(group) => {
                group.0 |= 1 << letter;
                group.1.join(&column);
            }
            None => groups.push((1 << letter, column)),
        }
    }
    groups.iter_mut().for_each(|group| group.0 |= open);
    groups.retain(|group| group.1.is_ever());
    groups
}

struct Cover<'a> {
    layers: &'a Layers,
    known: BTreeMap<(usize, Column), Vec<Product>>,
}

impl Cover<'_> {
    /// Products over the letters before the place, given what is asked of the nodes of a layer.
    fn before(&mut self, column: &Column, depth: usize) -> Vec<Product> {
        if !column.is_ever() {
            return Vec::new();
        }
        if column.is_always() || depth == 0 {
            return vec![[LetterSet::MAX; N_SHOWN]];
        }
        let key = (depth, column.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let row = &self.layers.next[depth - 1];
        let (n_letters, n_nodes) = (self.layers.n_letters, self.layers.n_nodes(depth - 1));
        let columns = (0..n_letters).map(|letter| {
            let mut earlier = Column::new(n_nodes);
            for node in 0..n_nodes {
                let next = row[node * n_letters + letter];
                earlier.set(node, if next == NOWHERE { None } else { column.get(next) });
            }
            earlier
        });
        let mut products = Vec::new();
        for (letters, earlier) in grouped(columns) {
            for mut product in self.before(&earlier, depth - 1) {
                product[depth - 1] = letters;
                products.push(product);
            }
        }
        let products = merged(products);
        self.known.insert(key, products.clone());
        products
    }
}

/// Puts products together that differ at one distance at most, until there are none.
fn merged(mut products: Vec<Product>) -> Vec<Product> {
    let mut index = 0;
    while index < products.len() {
        let twin = (index + 1..products.len())
            .find(|&other| n_differences(&products[index], &products[other]) <= 1);
        let Some(twin) = twin else {
            index += 1;
            continue;
        };
        let other = products.swap_remove(twin);
        for (one, other) in products[index].iter_mut().zip(other) {
            *one |= other;
        }
        index = 0;
    }
    products
}

fn n_differences(one: &Product, other: &Product) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}
