//! An atom with its quantifiers: how often it may run, and how greedily.
//!
//! What the flavours read differently (`{n,m}+`, `{n}?`, a brace that does not start a repeat) is decided here,
//! and repeats that engines disagree on are refused. Left out: writing repeats out, which
//! [`program`](crate::program) does.
//! Cost: linear in the quantifiers, and in the Rust flavour in the tree of what runs without a bound.

use super::Parser;
use super::tree::{Greed, Node};
use crate::error::{Error, Result};

/// The most times a counted repeat may run.
const MAX_REPEAT: u32 = 1000;

impl Parser<'_> {
    /// One atom with its quantifiers; `None` for a flag group, which takes no place in the tree.
    pub(super) fn piece(&mut self) -> Result<Option<Node>> {
        let start = self.offset;
        let Some(atom) = self.atom()? else { return Ok(None) };
        let mut node = atom;
        let mut n_quantifiers = 0;
        self.skip_ignored()?;
        while let Some((min, max, is_interval)) = self.quantifier()? {
            if matches!(node, Node::Look(..) | Node::Anchor(_) | Node::Empty) {
                return Err(self.problem_at(start, "a repeat of something that takes no character"));
            }
            n_quantifiers += 1;
            if n_quantifiers > 1 && (!self.is_oniguruma || n_quantifiers > 4) {
                return Err(
                    self.problem_at(start, "a repeat of a repeat; put the inner one into a group")
                );
            }
            node = self.repeat(node, min, max, is_interval);
            node = self.without_empty_runs(node).ok_or_else(|| self.empty_run(start))?;
            self.folded.clear();
            self.skip_ignored()?;
        }
        Ok(Some(node))
    }

    /// The bounds of the quantifier that is next, and whether it was written with braces.
    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>, bool)>> {
        let bounds = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.interval(),
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some((bounds.0, bounds.1, false)))
    }

    fn interval(&mut self) -> Result<Option<(u32, Option<u32>, bool)>> {
        let start = self.offset;
        let Some((inside, _)) = self.rest()[1..].split_once('}') else {
            return self.not_an_interval();
        };
        let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(low) || !is_number(high) || (low.is_empty() && high.is_empty()) {
            return self.not_an_interval();
        }
        let too_large =
            || self.problem_at(start, &format!("a repeat of more than {MAX_REPEAT} times"));
        let number =
            |text: &str| text.parse().ok().filter(|&n| n <= MAX_REPEAT).ok_or_else(too_large);
        let min = if low.is_empty() { 0 } else { number(low)? };
        let max = if high.is_empty() { None } else { Some(number(high)?) };
        if max.is_some_and(|max| max < min) {
            return Err(self.problem_at(start, "a repeat whose bounds are out of order"));
        }
        self.offset += inside.len() + 2;
        Ok(Some((min, max, true)))
    }

    /// Oniguruma takes such a brace as itself, the Rust engines refuse it.
    fn not_an_interval<T>(&self) -> Result<Option<T>> {
        if self.is_oniguruma {
            Ok(None)
        } else {
            Err(self.problem("a `{` that does not start a repeat; write `\\{`"))
        }
    }

    fn repeat(&mut self, inside: Node, min: u32, max: Option<u32>, is_interval: bool) -> Node {
        let inside = Box::new(inside);
        if self.is_oniguruma && is_interval && max == Some(min) && self.eat("?") {
            let exactly = Box::new(Node::Repeat { inside, min, max, greed: Greed::Greedy });
            return Node::Repeat { inside: exactly, min: 0, max: Some(1), greed: Greed::Greedy };
        }
        let has_possessive = !(self.is_oniguruma && is_interval);
        let greed = if self.eat("?") {
            Greed::Lazy
        } else if has_possessive && self.eat("+") {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        Node::Repeat { inside, min, max, greed }
    }

    /// The Rust engines stop a repeat after an empty run in ways of their own, so such repeats are refused,
    /// except `(?:C*)*` and its like for one set: however they are read, they are `C*`.
    fn without_empty_runs(&self, node: Node) -> Option<Node> {
        match node {
            Node::Repeat { inside, max: None, greed, .. }
                if !self.is_oniguruma && inside.is_nullable() =>
            {
                plain_star(*inside, greed)
            }
            _ => Some(node),
        }
    }

    fn empty_run(&self, start: usize) -> Error {
        self.problem_at(start, "a repeat of something that may be empty; engines disagree on it")
    }
}

/// The repeat of `C*` or `C?` as `C*`.
fn plain_star(inside: Node, greed: Greed) -> Option<Node> {
    match inside {
        Node::Repeat { inside, min: 0, max: None | Some(1), greed: Greed::Greedy }
            if matches!(*inside, Node::Set(_)) && greed != Greed::Lazy =>
        {
            Some(Node::Repeat { inside, min: 0, max: None, greed })
        }
        _ => None,
    }
}
