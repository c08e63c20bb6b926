//! Groups: plain, named, atomic, look-arounds, and flags for a group or for the rest of one.
//!
//! Captures are forgotten, since only the whole match makes a piece. A look-behind must be short, as the
//! backtracker tries it from every possible start. Left out: conditions, and flags that fancy-regex would
//! let outlive the group they are in.
//! Cost: linear in the group; look-behinds measure what is inside once more.

use super::tree::{Look, Node};
use super::{Flags, Parser};
use crate::error::Result;

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
            return self.group_rest(start, outer).map(Some);
        }
        for (opening, look) in LOOKS {
            if self.eat(opening) {
                let inside = self.guarded_group_rest(start, outer)?;
                return self.look(start, look, inside).map(Some);
            }
        }
        if self.eat(">") {
            let inside = self.guarded_group_rest(start, outer)?;
            return Ok(Some(Node::Atomic(Box::new(inside))));
        }
        if self.eat("P<") || self.eat("<") {
            self.group_name(start)?;
            return self.group_rest(start, outer).map(Some);
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

    /// The inside of a group up to its `)`, after which the flags are again those from before the group.
    fn group_rest(&mut self, start: usize, outer: Flags) -> Result<Node> {
        let is_outer_guarded = std::mem::replace(&mut self.is_in_guarded_group, false);
        let inside = self.group_end(start, outer);
        self.is_in_guarded_group = is_outer_guarded;
        inside
    }

    fn guarded_group_rest(&mut self, start: usize, outer: Flags) -> Result<Node> {
        let is_outer_guarded = std::mem::replace(&mut self.is_in_guarded_group, true);
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
                Some(':') => return self.group_rest(start, outer).map(Some),
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

    /// After `(?i)`: in Oniguruma the rest of the group, with its `|`, is a group of its own.
    /// In fancy-regex they would outlive an atomic group or a look-around.
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
