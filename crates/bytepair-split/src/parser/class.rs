//! Bracketed classes: `[a-z\d&&[^x]]` to one set.
//!
//! Items side by side are a union. There are nested classes, `&&`, and in the Rust flavour `--` and `~~`. Case is folded
//! operand by operand, before the operators and the negation. Refused, with the place: constructs that engines read
//! differently (a class that starts with `--` or with a range from `]`, ranges to or from a class) and, in Oniguruma under
//! `(?i)`, letters that fold to several.
//! Left out: what a backslash means, and the names of sets ([`super::escape`]).
//! Cost: linear in the class, and in the size of its sets.

use super::escape::Escape;
use super::tree::CharSet;
use super::{MAX_DEPTH, Parser};
use crate::error::Result;

/// The union of many items, made in a few passes: time and memory do not grow with how often a large set is named.
#[derive(Default)]
struct Operand {
    /// The first is the union of earlier items.
    items: Vec<CharSet>,
    /// The number of ranges in the items after the first.
    n_new: usize,
}

impl Operand {
    fn push(&mut self, item: CharSet) {
        self.n_new += item.characters.ranges().len();
        self.items.push(item);
        if self.n_new > 1000 + self.items[0].characters.ranges().len() {
            let union = self.take();
            self.items.push(union);
        }
    }

    fn take(&mut self) -> CharSet {
        self.n_new = 0;
        CharSet::union_of(&std::mem::take(&mut self.items))
    }
}

impl Parser<'_> {
    /// Parses a bracketed class whose `[` is at `start`.
    pub(super) fn class(&mut self, start: usize) -> Result<CharSet> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.problem("classes nested too deeply"));
        }
        let is_negated = self.eat("^");
        let mut left: Option<(&str, CharSet)> = None;
        let mut operand = Operand::default();
        operand.push(self.class_start(start)?);
        while !self.eat("]") {
            match self.class_operator() {
                Some(operator) => {
                    left = Some((operator, self.combined(left, operand.take())));
                }
                None => operand.push(self.class_item(start)?),
            }
        }
        self.depth -= 1;
        let set = self.combined(left, operand.take());
        let set = if is_negated { set.negated() } else { set };
        self.check_class_folds(start, &set)?;
        Ok(set)
    }

    /// Parses the start of a class, in which a `]` or `-` stands for itself.
    fn class_start(&mut self, start: usize) -> Result<CharSet> {
        if self.rest().starts_with("--") {
            return Err(self.problem_at(start, "a class that starts with `--`; write `\\-`"));
        }
        let is_range = self.rest()[self.peek().map_or(0, char::len_utf8)..].starts_with('-');
        if self.rest().starts_with(']') && is_range {
            return Err(
                self.problem_at(start, "a class that starts with a range from `]`; write `\\]`")
            );
        }
        Ok(match self.peek() {
            Some(first @ (']' | '-')) => {
                self.bump();
                CharSet::single(first)
            }
            _ => CharSet::empty(),
        })
    }

    fn class_operator(&mut self) -> Option<&'static str> {
        let known: &[&'static str] = if self.is_oniguruma { &["&&"] } else { &["&&", "--", "~~"] };
        known.iter().find(|operator| self.eat(operator)).copied()
    }

    fn combined(&self, left: Option<(&str, CharSet)>, right: CharSet) -> CharSet {
        let right = self.fold(right);
        match left {
            None => right,
            Some(("&&", left)) => left.intersection(&right),
            Some(("--", left)) => left.difference(&right),
            Some((_, left)) => left.clone().difference(&right).union(&right.difference(&left)),
        }
    }

    fn class_item(&mut self, start: usize) -> Result<CharSet> {
        let item_start = self.offset;
        let is_doubtful = self.peek().is_some_and(|next| next == '#' || next.is_whitespace());
        if is_doubtful && self.flags.ignore_space && !self.is_oniguruma {
            return Err(self.problem_at(item_start, "white space in a class under (?x)"));
        }
        if let Some(set) = self.posix_class()? {
            return Ok(set);
        }
        if self.eat("[") {
            return self.class(item_start);
        }
        let first = self.class_member(start)?;
        let is_range = self.rest().starts_with('-')
            && !self.rest().starts_with("-]")
            && (self.is_oniguruma || !self.rest().starts_with("--"));
        match first {
            Escape::Literal(first) if is_range => self.class_range(item_start, first),
            Escape::Literal(character) => Ok(CharSet::single(character)),
            Escape::Set(set) if !is_range => {
                self.count_atom()?;
                Ok(set)
            }
            _ => Err(self.problem_at(item_start, "a range from a class; write `\\-`")),
        }
    }

    fn class_range(&mut self, start: usize, first: char) -> Result<CharSet> {
        self.bump();
        if self.peek() == Some('[') {
            return Err(self.problem_at(start, "a range to a class; write `\\[`"));
        }
        match self.class_member(start)? {
            Escape::Literal(last) if first <= last => Ok(CharSet::range(first, last)),
            _ => {
                Err(self.problem_at(start, "a range whose ends are out of order or not characters"))
            }
        }
    }

    /// Parses a character, or an escape that is no anchor.
    fn class_member(&mut self, class_start: usize) -> Result<Escape> {
        let start = self.offset;
        match self.bump() {
            None => Err(self.problem_at(class_start, "a class without its `]`")),
            Some('\\') => self.escape(start, true),
            Some(character) => Ok(Escape::Literal(character)),
        }
    }

    /// Parses `[:alpha:]` or `[:^alpha:]`, inside a class.
    fn posix_class(&mut self) -> Result<Option<CharSet>> {
        let Some(inside) = self.rest().strip_prefix("[:") else { return Ok(None) };
        let Some((name, _)) = inside.split_once(":]") else { return Ok(None) };
        let bare = name.strip_prefix('^').unwrap_or(name);
        if !bare.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Ok(None);
        }
        let unknown = || self.problem(&format!("the POSIX class {bare:?} is not supported"));
        let set = self.posix_set(bare).ok_or_else(unknown)?;
        let is_negated = bare.len() < name.len();
        self.offset += name.len() + 4;
        Ok(Some(if is_negated { set.negated() } else { set }))
    }
}
