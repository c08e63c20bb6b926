//! Groups and repeats: plain, named and atomic groups, look-arounds, and flags for a group or for the rest of one; how
//! often an atom may repeat, and how greedily.
//!
//! Captures are ignored, since only the whole match makes a piece. A look-behind must be short, because the backtracker
//! tries it from every possible start. Left out: conditions, and flags that fancy-regex would let outlive their group.
//!
//! Syntax that the flavours read differently (`{n,m}+`, `{n}?`, a brace that does not start a repeat) is decided here, and
//! repeats that engines disagree on are refused. Left out: writing repeats out, which [`program`](crate::program) does.
//! Cost: linear in the pattern. Look-behinds, and in the Rust flavour repeats without a bound, are measured once more.

use super::tree::{Greed, Look, Node};
use super::{Flags, Parser};
use crate::error::{Error, Result};

/// The most times a counted repeat may run.
const MAX_REPEAT: u32 = 1000;

/// The most characters a look-behind may span.
const MAX_LOOK_BEHIND: u64 = 255;

const LOOKS: [(&str, Look); 4] = [
    ("=", Look { ahead: true, negative: false }),
    ("!", Look { ahead: true, negative: true }),
    ("<=", Look { ahead: false, negative: false }),
    ("<!", Look { ahead: false, negative: true }),
];

impl Parser<'_> {
    pub(super) fn group(&mut self, start: usize) -> Result<Option<Node>> {
        self.folded.clear();
        let outer = self.flags;
        if !self.eat("?") {
            return self.group_rest(start, outer, false).map(Some);
        }
        for (opening, look) in LOOKS {
            if self.eat(opening) {
                let inside = self.group_rest(start, outer, true)?;
                return self.look(start, look, inside).map(Some);
            }
        }
        if self.eat(">") {
            let inside = self.group_rest(start, outer, true)?;
            return Ok(Some(Node::Atomic(Box::new(inside))));
        }
        if self.eat("P<") || self.eat("<") {
            self.group_name(start)?;
            return self.group_rest(start, outer, false).map(Some);
        }
        self.flag_group(start, outer)
    }

    fn look(&self, start: usize, look: Look, inside: Node) -> Result<Node> {
        let is_short = inside.length().1.is_some_and(|longest| longest <= MAX_LOOK_BEHIND);
        if !look.ahead && !is_short {
            let problem =
                format!("a look-behind that may span more than {MAX_LOOK_BEHIND} characters");
            return Err(self.problem_at(start, &problem));
        }
        Ok(Node::Look(look, Box::new(inside)))
    }

    fn group_name(&mut self, start: usize) -> Result<()> {
        let name = self.rest().split('>').next().unwrap_or_default();
        let is_name = |text: &str| {
            text.chars().all(|c| c == '_' || c.is_alphanumeric())
                && !text.starts_with(|c: char| c.is_ascii_digit())
        };
        if name.is_empty() || !is_name(name) || name.len() == self.rest().len() {
            return Err(self.problem_at(start, "a group that is not understood"));
        }
        self.offset += name.len() + 1;
        Ok(())
    }

    /// Parses a group up to its `)`, after which the flags from before the group hold again. The inside of an atomic
    /// group or a look-around is guarded.
    fn group_rest(&mut self, start: usize, outer: Flags, is_guarded: bool) -> Result<Node> {
        let is_outer_guarded = std::mem::replace(&mut self.is_in_guarded_group, is_guarded);
        let inside = self.group_end(start, outer);
        self.is_in_guarded_group = is_outer_guarded;
        inside
    }

    fn group_end(&mut self, start: usize, outer: Flags) -> Result<Node> {
        let inside = self.alternation()?;
        if !self.eat(")") {
            return Err(self.problem_at(start, "a group without its `)`"));
        }
        self.flags = outer;
        self.folded.clear();
        Ok(inside)
    }

    /// `(?i:…)`, `(?i)`, `(?s-i:…)`, `(?:…)`.
    fn flag_group(&mut self, start: usize, outer: Flags) -> Result<Option<Node>> {
        let mut value = true;
        loop {
            match self.bump() {
                Some('-') if value => value = false,
                Some(':') => return self.group_rest(start, outer, false).map(Some),
                Some(')') => return self.flags_to_the_end(start),
                Some('i') => self.flags.ignore_case = value,
                Some('x') => self.flags.ignore_space = value,
                Some('s') if !self.is_oniguruma => self.flags.dot_takes_line_feed = value,
                Some('m') if !self.is_oniguruma => self.flags.line_anchors = value,
                Some('m') => self.flags.dot_takes_line_feed = value,
                _ => return Err(self.problem_at(start, "a group or flag that is not understood")),
            }
        }
    }

    /// Parses the part after `(?i)`. In Oniguruma the rest of the group, with its `|`, is a group of its own. In
    /// fancy-regex the flags would outlive an atomic group or a look-around.
    fn flags_to_the_end(&mut self, start: usize) -> Result<Option<Node>> {
        if self.is_oniguruma {
            return self.alternation().map(Some);
        }
        if self.is_in_guarded_group {
            let problem = "flags for the rest of an atomic group or look-around; write (?i:…)";
            return Err(self.problem_at(start, problem));
        }
        Ok(None)
    }
}

impl Parser<'_> {
    /// Parses one atom with its quantifiers; `None` for a flag group, which has no node in the tree.
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

    /// The bounds of the quantifier that comes next, if any, and whether it is written with braces.
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

    /// Oniguruma takes such a brace literally; the Rust engines refuse it.
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

    /// The Rust engines stop a repeat after an empty run in different ways, so such repeats are refused. An exception is
    /// `(?:C*)*` and its like for one set: every engine reads them as `C*`.
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
