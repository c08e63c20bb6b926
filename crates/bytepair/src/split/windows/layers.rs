//! Every window before a place, from far to near, as layers of what is known after it.
//!
//! A node of layer *d* stands for the windows of *d* letters that leave the same views. Windows that no text
//! shows (a byte that continues no symbol of its kind) lead nowhere, and whatever is said of them is true.
//! Left out: what is made of the last layer ([`super::cover`]).
//! Cost: nodes x letters steps; more than [`MAX_NODES`] in a layer are refused.

use std::collections::BTreeMap;

use super::knowledge::{Graph, Marks, Views};
use super::letters::{LetterSet, Letters};

/// How many letters before a place are looked at. A comma of three bytes and the last byte of what is
/// before it fit in.
pub(super) const N_BEFORE: usize = 4;

const MAX_NODES: usize = 1000;

/// Where windows lead that no text shows.
pub(super) const NOWHERE: usize = usize::MAX;

pub(super) struct Layers {
    /// By layer, node and letter: the node of the next layer.
    pub(super) next: Vec<Vec<usize>>,
    pub(super) n_letters: usize,
    /// By node of the last layer and letter at the place.
    pub(super) marks: Vec<Marks>,
}

/// What a node knows: the views, and the first letter of the last symbol if more bytes of it may follow.
type Node = (Views, Option<usize>);

impl Layers {
    /// `None` if there are too many nodes.
    pub(super) fn new(graph: &Graph, letters: &Letters) -> Option<Self> {
        let mut nodes: Vec<Node> = vec![(graph.universe(), None)];
        let mut next = Vec::new();
        for depth in 1..=N_BEFORE {
            let mut numbers: BTreeMap<Node, usize> = BTreeMap::new();
            let mut following = Vec::new();
            let mut row = Vec::with_capacity(nodes.len() * letters.len());
            for node in &nodes {
                for letter in 0..letters.len() {
                    let Some(mut after) = step(graph, letters, node, letter, depth == 1) else {
                        row.push(NOWHERE);
                        continue;
                    };
                    if depth == N_BEFORE {
                        after.1 = None;
                    }
                    let number = following.len();
                    let number = *numbers.entry(after.clone()).or_insert(number);
                    if number == following.len() {
                        following.push(after);
                    }
                    row.push(number);
                }
            }
            if following.len() > MAX_NODES {
                return None;
            }
            next.push(row);
            nodes = following;
        }
        let marks = nodes.iter().flat_map(|node| {
            (0..letters.len()).map(|letter| marks_at(graph, letters, &node.0, letter))
        });
        let marks = marks.collect();
        Some(Self { next, n_letters: letters.len(), marks })
    }

    /// How many nodes a layer has.
    pub(super) fn n_nodes(&self, depth: usize) -> usize {
        match depth {
            N_BEFORE => self.marks.len() / self.n_letters,
            _ => self.next[depth].len() / self.n_letters,
        }
    }

    pub(super) fn marks_at(&self, node: usize, letter: usize) -> Marks {
        self.marks[node * self.n_letters + letter]
    }
}

fn step(
    graph: &Graph,
    letters: &Letters,
    (views, last): &Node,
    letter: usize,
    is_first: bool,
) -> Option<Node> {
    let first = letters.letters[letter].first.unwrap_or(letter);
    let may_go_on = letters.is_long(first).then_some(first);
    if first != letter && !is_first {
        return (*last == Some(first)).then(|| (views.clone(), may_go_on));
    }
    let after = graph.after(views, first);
    after.iter().any(|&word| word != 0).then_some((after, may_go_on))
}

/// What may stand at a symbol of which this is the first letter, by the letter behind. Inside of a symbol no
/// piece starts; nothing is asked about an edge.
fn marks_at(graph: &Graph, letters: &Letters, views: &Views, letter: usize) -> Marks {
    let shown = letters.letters[letter];
    if shown.first.is_some() {
        return Marks { inside: LetterSet::MAX, ..Marks::default() };
    }
    if shown.kind.is_none() {
        return Marks::default();
    }
    let mut marks = graph.marks(views, letter);
    if letters.is_long(letter) {
        for set in [&mut marks.inside, &mut marks.matches, &mut marks.unmatched] {
            *set |= if *set == 0 { 0 } else { 1 << (letter + 1) };
        }
    }
    marks
}
