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
use super::knowledge::{Answers, Marks};
use super::letters::{LetterSet, all_letters, members};
use super::meetings::{Meetings, Met, meets_none};

const AT: usize = N_BEFORE;
const BEHIND: usize = N_BEFORE + 1;

/// More products are not worth it.
const MAX_PRODUCTS: usize = 200;

/// A set of letters for each distance.
pub(super) type Product = [LetterSet; N_SHOWN];

/// What is asked in each context; nothing where it is `None`.
pub(super) type Column = Vec<Option<bool>>;

/// Products of which one holds where `asks` says yes, and none where it says no, of the marks that may stand
/// at a place. `None` if there are too many.
pub(super) fn cover(
    contexts: &[Context],
    n_letters: usize,
    asks: impl Fn(&Marks) -> Answers,
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
    asks: impl Fn(&Marks) -> Answers,
) -> Vec<(LetterSet, LetterSet, Column)> {
    let mut columns: Vec<(LetterSet, LetterSet, Column)> = Vec::new();
    for at in 0..n_letters {
        let answers: Vec<Answers> =
            contexts.iter().map(|context| asks(&context.marks[at])).collect();
        for (behind, column) in grouped(&answers, n_letters) {
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

/// Sets of letters behind with which the answers agree in each context; letters of which nothing is asked are in
/// each set.
pub(super) fn grouped(answers: &[Answers], n_letters: usize) -> Vec<(LetterSet, Column)> {
    let asked = answers.iter().fold(0, |set, answers| set | answers.yes | answers.no);
    // By letter: those with which an answer is the opposite.
    let mut opposite = vec![0; n_letters];
    for answers in answers.iter().filter(|answers| answers.yes != 0 && answers.no != 0) {
        members(answers.yes).for_each(|letter| opposite[letter] |= answers.no);
        members(answers.no).for_each(|letter| opposite[letter] |= answers.yes);
    }
    let mut sets: Vec<LetterSet> = Vec::new();
    for letter in members(asked) {
        match sets.iter_mut().find(|set| **set & opposite[letter] == 0) {
            Some(set) => *set |= 1 << letter,
            None => sets.push(1 << letter),
        }
    }
    let open = !asked & all_letters(n_letters);
    let column = |set: LetterSet| {
        let answer = |answers: &Answers| {
            let is_yes = answers.yes & set != 0;
            (is_yes || answers.no & set != 0).then_some(is_yes)
        };
        (set | open, answers.iter().map(answer).collect())
    };
    let mut groups: Vec<(LetterSet, Column)> = sets.into_iter().map(column).collect();
    groups.retain(|group| group.1.contains(&Some(true)));
    groups
}

pub(super) fn agree(one: &Column, other: &Column) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_none() || other.is_none() || one == other)
}

pub(super) fn join(one: &mut Column, other: &Column) {
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
    let all = all_letters(n_letters);
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
pub(super) fn loosened(products: &[Product], known: &[Window], n_letters: usize) -> Vec<Product> {
    if products.len() < 2 {
        return products.to_vec();
    }
    let known = known.iter().map(|window| window.map(|letter| 1 << letter));
    let known = Meetings::new(known, n_letters);
    let mut loose: Vec<(Product, Met)> = Vec::new();
    for product in products {
        let met = known.met(product);
        match loose.iter_mut().find(|other| meets_none(&met, &other.1)) {
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
