//! From contexts to few products of letter sets.
//!
//! A *product* holds at a place if each letter around it is in the product's set for that distance. What must
//! hold at a place (a piece starts for certain; nothing is certain) becomes a list of products of which one
//! holds. Letters at the place and behind it of which the same is asked are put together; for each such pair
//! of sets, the contexts where the answer is yes are widened as far as they meet none where it is no, and
//! those inside of others are left out. What comes out is then widened at all distances in turn, and only as many
//! products are kept as are needed ([`super::fewer`]).
//!
//! Left out: the smallest list, which is hard to find.

use super::contexts::{Before, Context, N_BEFORE, N_SHOWN, Window};
use super::fewer::{fewest, refused};
use super::knowledge::MarkSet;
use super::letters::LetterSet;

const AT: usize = N_BEFORE;
const BEHIND: usize = N_BEFORE + 1;

/// More products are not worth it.
const MAX_PRODUCTS: usize = 200;

/// A set of letters for each distance.
pub(super) type Product = [LetterSet; N_SHOWN];

/// What is asked in each context; nothing where it is `None`.
type Column = Vec<Option<bool>>;

/// Products of which one holds where `asks` says yes, and none where it says no, of the marks that may stand
/// at a place. `None` if there are too many.
pub(super) fn cover(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(MarkSet) -> Option<bool>,
) -> Option<Vec<Product>> {
    let mut products = Vec::new();
    for (at, behind, column) in columns(contexts, n_letters, &asks) {
        for before in before(contexts, &column, n_letters) {
            let mut product = [LetterSet::MAX; N_SHOWN];
            product[AT] = at;
            product[..N_BEFORE].copy_from_slice(&before);
            product[BEHIND] = behind;
            products.push(product);
        }
    }
    let products = fewest(&products, &refused(contexts, n_letters, asks), n_letters);
    (products.len() <= MAX_PRODUCTS).then_some(products)
}

/// Sets of letters at the place and behind it, and what is asked there in each context.
fn columns(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(MarkSet) -> Option<bool>,
) -> Vec<(LetterSet, LetterSet, Column)> {
    let mut columns: Vec<(LetterSet, LetterSet, Column)> = Vec::new();
    for at in 0..n_letters {
        let column = |behind: usize| {
            contexts.iter().map(|context| asks(context.marks[at].with(behind))).collect::<Column>()
        };
        for (behind, column) in grouped((0..n_letters).map(column)) {
            let known =
                columns.iter_mut().find(|known| known.1 == behind && agree(&known.2, &column));
            match known {
                Some(known) => {
                    known.0 |= 1 << at;
                    join(&mut known.2, &column);
                }
                None => columns.push((1 << at, behind, column)),
            }
        }
    }
    columns
}

/// Sets of letters whose columns agree; those of which nothing is asked are in each.
fn grouped(columns: impl Iterator<Item = Column>) -> Vec<(LetterSet, Column)> {
    let mut groups: Vec<(LetterSet, Column)> = Vec::new();
    let mut open = 0;
    for (letter, column) in columns.enumerate() {
        if column.iter().all(Option::is_none) {
            open |= 1 << letter;
            continue;
        }
        match groups.iter_mut().find(|group| agree(&group.1, &column)) {
            Some(group) => {
                group.0 |= 1 << letter;
                join(&mut group.1, &column);
            }
            None => groups.push((1 << letter, column)),
        }
    }
    groups.iter_mut().for_each(|group| group.0 |= open);
    groups.retain(|group| group.1.contains(&Some(true)));
    groups
}

fn agree(one: &Column, other: &Column) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_none() || other.is_none() || one == other)
}

fn join(one: &mut Column, other: &Column) {
    one.iter_mut().zip(other).for_each(|(one, other)| *one = one.or(*other));
}

/// Products over the letters before the place that hold where the column says yes.
fn before(contexts: &[Context], column: &Column, n_letters: usize) -> Vec<Before> {
    let with = |answer: bool| {
        let pairs = contexts.iter().zip(column);
        pairs
            .filter(move |pair| *pair.1 == Some(answer))
            .flat_map(|pair| pair.0.before.iter().copied())
    };
    let no: Vec<_> = with(false).collect();
    let mut products: Vec<Before> = Vec::new();
    for context in with(true) {
        if !products.iter().any(|product| is_within(&context, product)) {
            products.push(widened(context, &no, n_letters));
        }
    }
    let mut kept: Vec<Before> = Vec::new();
    for (index, product) in products.iter().enumerate() {
        let later = &products[index + 1..];
        if !kept.iter().chain(later).any(|other| is_within(product, other)) {
            kept.push(*product);
        }
    }
    kept
}

/// The product with every letter that can be added without meeting one of `no`, the farthest bytes first.
fn widened(mut product: Before, no: &[Before], n_letters: usize) -> Before {
    let all = LetterSet::MAX >> (LetterSet::BITS as usize - n_letters);
    for index in 0..N_BEFORE {
        let meets =
            |other: &&Before| (0..N_BEFORE).all(|at| at == index || product[at] & other[at] != 0);
        let forbidden = no.iter().filter(meets).fold(0, |set, other| set | other[index]);
        product[index] |= all & !forbidden;
    }
    product
}

fn is_within(one: &Before, other: &Before) -> bool {
    one.iter().zip(other).all(|(one, other)| one & !other == 0)
}

/// Fewer products that hold wherever one of these does, and elsewhere as well, but in none of these windows.
pub(super) fn loosened(products: &[Product], known: &[Window]) -> Vec<Product> {
    let mut loose: Vec<Product> = Vec::new();
    for product in products {
        let joined = |other: &Product| std::array::from_fn(|index| product[index] | other[index]);
        let meets_known = |joined: &Product| {
            let is_in = |window: &Window| {
                window.iter().zip(joined).all(|(&letter, set)| set >> letter & 1 == 1)
            };
            known.iter().any(is_in)
        };
        match loose.iter_mut().find(|other| !meets_known(&joined(other))) {
            Some(other) => *other = joined(other),
            None => loose.push(*product),
        }
    }
    loose
}

/// Puts products together that differ at one distance at most, until there are none.
pub(super) fn merged<const N: usize>(mut products: Vec<[LetterSet; N]>) -> Vec<[LetterSet; N]> {
    let mut n_before = usize::MAX;
    while products.len() < n_before {
        n_before = products.len();
        let mut kept: Vec<[LetterSet; N]> = Vec::new();
        for product in products {
            match kept.iter_mut().find(|other| n_differences(other, &product) <= 1) {
                Some(twin) => twin.iter_mut().zip(product).for_each(|(one, other)| *one |= other),
                None => kept.push(product),
            }
        }
        products = kept;
    }
    products
}

fn n_differences<const N: usize>(one: &[LetterSet; N], other: &[LetterSet; N]) -> usize {
    (0..N).filter(|&index| one[index] != other[index]).count()
}
