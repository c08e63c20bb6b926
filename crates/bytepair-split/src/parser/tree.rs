//! A parsed pattern: a tree over sets of characters.
//!
//! The text of a split is a sequence of characters and of bytes that belong to no character (invalid UTF-8). A
//! [`CharSet`] is a set of both: code points, and whether it contains the invalid byte. It is closed under union,
//! intersection and negation, so `[^\S]` excludes the invalid byte and `[^a]` includes it, without any special case.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::unicode::class_of;

/// A set of code points, and whether it contains a byte that belongs to no character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CharSet {
    pub(crate) characters: ClassUnicode,
    pub(crate) invalid: bool,
}

impl CharSet {
    pub(crate) fn empty() -> Self {
        Self { characters: ClassUnicode::empty(), invalid: false }
    }

    /// Every character and the invalid byte.
    pub(crate) fn everything() -> Self {
        Self::empty().negated()
    }

    pub(crate) fn single(character: char) -> Self {
        Self::range(character, character)
    }

    pub(crate) fn range(first: char, last: char) -> Self {
        Self {
            characters: ClassUnicode::new([ClassUnicodeRange::new(first, last)]),
            invalid: false,
        }
    }

    pub(crate) fn from_ranges(ranges: &[std::ops::RangeInclusive<char>]) -> Self {
        Self { characters: class_of(ranges), invalid: false }
    }

    pub(crate) fn negated(mut self) -> Self {
        self.characters.negate();
        self.invalid = !self.invalid;
        self
    }

    pub(crate) fn union(mut self, other: &Self) -> Self {
        self.characters.union(&other.characters);
        self.invalid |= other.invalid;
        self
    }

    /// The union of many sets, in one pass.
    pub(crate) fn union_of<'s>(sets: impl IntoIterator<Item = &'s Self>) -> Self {
        let mut invalid = false;
        let ranges = sets.into_iter().flat_map(|set| {
            invalid |= set.invalid;
            set.characters.iter().copied()
        });
        let characters = ClassUnicode::new(ranges);
        Self { characters, invalid }
    }

    pub(crate) fn intersection(mut self, other: &Self) -> Self {
        self.characters.intersect(&other.characters);
        self.invalid &= other.invalid;
        self
    }

    pub(crate) fn difference(self, other: &Self) -> Self {
        self.intersection(&other.clone().negated())
    }

    pub(crate) fn contains(&self, character: char) -> bool {
        let ranges = self.characters.ranges();
        let next = ranges.partition_point(|range| range.end() < character);
        ranges.get(next).is_some_and(|range| range.start() <= character)
    }
}

/// Which numbers of runs a repeat prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greed {
    Greedy,
    Lazy,
    /// Greedy, and never gives back what it took.
    Possessive,
}

/// A condition on a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    TextStart,
    /// At the start or after a line feed.
    LineStart,
    /// At the start or after a line feed, but not at the end of a text that ends with a line feed.
    LineStartBeforeEnd,
    TextEnd,
    /// At the end or before a line feed.
    LineEnd,
    /// At the end or before one line feed that ends the text.
    TextEndOrFinalLineFeed,
    /// At the end or before any number of line feeds that end the text.
    TextEndOrFinalLineFeeds,
    WordBoundary,
    NotWordBoundary,
}

/// A look-around: its direction, and whether it holds if its inside does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) ahead: bool,
    pub(crate) negative: bool,
}

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Empty,
    Set(CharSet),
    Concat(Vec<Node>),
    /// In order of preference.
    Alternate(Vec<Node>),
    Repeat {
        inside: Box<Node>,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    Atomic(Box<Node>),
    Look(Look, Box<Node>),
    Anchor(Anchor),
}

impl Node {
    /// A concatenation of any number of nodes.
    pub(crate) fn concat(mut nodes: Vec<Node>) -> Self {
        match nodes.len() {
            0 => Self::Empty,
            1 => nodes.swap_remove(0),
            _ => Self::Concat(nodes),
        }
    }

    /// An alternation. If all branches are sets, their union, since each takes exactly one character.
    pub(crate) fn alternate(mut nodes: Vec<Node>) -> Self {
        if nodes.len() == 1 {
            return nodes.swap_remove(0);
        }
        let sets = nodes.iter().map(|node| match node {
            Self::Set(set) => Some(set),
            _ => None,
        });
        let sets: Option<Vec<&CharSet>> = sets.collect();
        let union = sets.map(CharSet::union_of);
        union.map_or(Self::Alternate(nodes), Self::Set)
    }

    /// The smallest and the largest number of characters in a match; `None` if there is no largest.
    pub(crate) fn length(&self) -> (u64, Option<u64>) {
        match self {
            Self::Empty | Self::Look(..) | Self::Anchor(_) => (0, Some(0)),
            Self::Set(_) => (1, Some(1)),
            Self::Atomic(inside) => inside.length(),
            Self::Concat(nodes) => {
                nodes.iter().map(Self::length).fold((0, Some(0)), |total, length| {
                    (total.0.saturating_add(length.0), both(total.1, length.1, u64::saturating_add))
                })
            }
            Self::Alternate(nodes) => nodes
                .iter()
                .map(Self::length)
                .reduce(|least, length| (least.0.min(length.0), both(least.1, length.1, u64::max)))
                .unwrap_or((0, Some(0))),
            Self::Repeat { inside, min, max, .. } => {
                let (shortest, longest) = inside.length();
                let longest = if longest == Some(0) {
                    longest
                } else {
                    both(longest, max.map(u64::from), u64::saturating_mul)
                };
                (shortest.saturating_mul(u64::from(*min)), longest)
            }
        }
    }

    /// Whether a predicate is true of this node or of one inside. Visits nodes from left to right, up to the first that
    /// is true.
    pub(crate) fn any(&self, is_it: &mut impl FnMut(&Self) -> bool) -> bool {
        is_it(self)
            || match self {
                Self::Empty | Self::Set(_) | Self::Anchor(_) => false,
                Self::Concat(nodes) | Self::Alternate(nodes) => {
                    nodes.iter().any(|node| node.any(is_it))
                }
                Self::Repeat { inside, .. } | Self::Atomic(inside) | Self::Look(_, inside) => {
                    inside.any(is_it)
                }
            }
    }

    /// Whether the tree has a word boundary, so that the set of word characters matters.
    pub(crate) fn has_word_boundary(&self) -> bool {
        let boundaries = [Anchor::WordBoundary, Anchor::NotWordBoundary];
        self.any(&mut |node| matches!(node, Self::Anchor(anchor) if boundaries.contains(anchor)))
    }

    /// Whether a match may be empty.
    pub(crate) fn is_nullable(&self) -> bool {
        self.length().0 == 0
    }
}

fn both(one: Option<u64>, other: Option<u64>, combine: fn(u64, u64) -> u64) -> Option<u64> {
    Some(combine(one?, other?))
}
