//! Pattern text to [`Node`], in the flavour of the engine the pattern was written for.
//!
//! `Flavour::Rust` follows fancy-regex over regex-syntax, `Flavour::Oniguruma` follows Oniguruma's
//! own syntax as Hugging Face tokenizers uses it. Where the two differ:
//!
//! | | Rust | Oniguruma |
//! |---|---|---|
//! | `{n,m}+` | possessive | a repeat of the repeat |
//! | `{n}?` | lazy | zero or one time `{n}` |
//! | `^`, `$` | of the text; of a line with `(?m)` | of a line |
//! | dot takes `\n` | `(?s)` | `(?m)` |
//! | `a(?i)b\|c` | `a(?i:b)\|(?i:c)` | `a(?i:b\|c)` |
//! | `\w` | Alphabetic, M, Nd, Pc, `Join_Control` | Alphabetic, M, Nd, Pc; outside a class also `²³¹¼½¾` |
//! | `\h` | refused | hexadecimal digit |
//! | POSIX classes | ASCII | Unicode |
//!
//! Refused, with the place: back-references, subroutines, `\K`, `\G`, `\R`, `\X`, `(?x)`, conditions,
//! unknown properties, unbounded look-behind, in the Rust flavour repeats of what may be empty, and what
//! Oniguruma folds to several characters (`(?i)ss` also takes `ß` there).
//!
//! Here: the entry, alternation, concatenation and single atoms. The other files hold a part of the
//! grammar each, as methods of the one [`Parser`]. Left out: what runs the tree ([`super::program`]).
//! Cost: linear in the pattern.

mod class;
mod escape;
mod fold;
mod group;
mod named_sets;
mod repeat;

use super::Flavour;
use super::tree::{Anchor, CharSet, Node};
use crate::error::{Error, ErrorKind, Result};
use crate::unicode::UnicodeTables;

/// Groups inside groups; parsing and compiling recurse this deep.
const MAX_DEPTH: u32 = 100;

/// A parsed pattern, and what counts as a word character in it.
pub(super) struct Parsed {
    pub(super) root: Node,
    pub(super) word: CharSet,
}

pub(super) fn parse(source: &str, flavour: Flavour, unicode: &UnicodeTables) -> Result<Parsed> {
    let mut parser = Parser {
        source,
        offset: 0,
        is_oniguruma: flavour == Flavour::Oniguruma,
        flags: Flags::default(),
        depth: 0,
        is_in_guarded_group: false,
        unicode,
        folded: String::new(),
    };
    let root = parser.alternation()?;
    if parser.peek().is_some() {
        return Err(parser.problem("a `)` without its `(`"));
    }
    let word = parser.word(false);
    Ok(Parsed { root, word })
}

struct Parser<'p> {
    source: &'p str,
    offset: usize,
    is_oniguruma: bool,
    flags: Flags,
    depth: u32,
    unicode: &'p UnicodeTables,
    /// Whether the innermost group is atomic or a look-around.
    is_in_guarded_group: bool,
    /// The run of case-insensitive literals before `offset`, folded; Oniguruma only.
    folded: String,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    dot_takes_line_feed: bool,
    line_anchors: bool,
}

impl<'p> Parser<'p> {
    fn alternation(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.problem("groups nested too deeply"));
        }
        let mut branches = vec![self.concatenation()?];
        while self.eat("|") {
            branches.push(self.concatenation()?);
        }
        self.depth -= 1;
        Ok(Node::alternate(branches))
    }

    fn concatenation(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        self.folded.clear();
        while let Some(next) = self.peek()
            && next != '|'
            && next != ')'
        {
            if let Some(node) = self.piece()? {
                nodes.push(node);
            }
        }
        Ok(Node::concat(nodes))
    }

    fn atom(&mut self) -> Result<Option<Node>> {
        let start = self.offset;
        let Some(next) = self.bump() else { return Ok(None) };
        if next == '(' {
            return self.group(start);
        }
        if !matches!(next, '[' | '.' | '^' | '$' | '\\' | '*' | '+' | '?') {
            return self.literal(start, next).map(Some);
        }
        if next == '\\' {
            return self.escape_outside(start).map(Some);
        }
        self.folded.clear();
        match next {
            '[' => self.class(start).map(|set| Some(Node::Set(set))),
            '.' => Ok(Some(Node::Set(self.dot()))),
            '^' => Ok(Some(Node::Anchor(self.line_start()))),
            '$' => Ok(Some(Node::Anchor(self.line_end()))),
            _ => Err(self.problem_at(start, "a repeat of nothing")),
        }
    }

    fn dot(&self) -> CharSet {
        if self.flags.dot_takes_line_feed {
            return CharSet::everything();
        }
        CharSet::single('\n').negated()
    }

    fn line_start(&self) -> Anchor {
        match (self.is_oniguruma, self.flags.line_anchors) {
            (true, _) => Anchor::LineStartBeforeEnd,
            (false, true) => Anchor::LineStart,
            (false, false) => Anchor::TextStart,
        }
    }

    fn line_end(&self) -> Anchor {
        if self.is_oniguruma || self.flags.line_anchors { Anchor::LineEnd } else { Anchor::TextEnd }
    }

    fn rest(&self) -> &'p str {
        &self.source[self.offset..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.offset += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let is_here = self.rest().starts_with(expected);
        if is_here {
            self.offset += expected.len();
        }
        is_here
    }

    fn problem(&self, problem: &str) -> Error {
        self.problem_at(self.offset, problem)
    }

    fn problem_at(&self, offset: usize, problem: &str) -> Error {
        ErrorKind::Pattern { pattern: self.source.to_owned(), offset, problem: problem.to_owned() }
            .into()
    }
}
