//! Parses pattern text to a [`Node`], in the flavour of the engine that the pattern was written for.
//!
//! `Flavour::Rust` follows fancy-regex over regex-syntax. `Flavour::Oniguruma` follows Oniguruma's own syntax as Hugging
//! Face tokenizers uses it. They differ as follows:
//!
//! | | Rust | Oniguruma |
//! |---|---|---|
//! | `{n,m}+` | possessive | a repeat of the repeat |
//! | `{n}?` | lazy | zero or one time `{n}` |
//! | `^`, `$` | of the text; of a line with `(?m)` | of a line |
//! | dot takes `\n` | `(?s)` | `(?m)` |
//! | `a(?i)b\|c` | `a(?i:b)\|(?i:c)` | `a(?i:b\|c)` |
//! | `\w` | Alphabetic, M, Nd, Pc, `Join_Control` | Alphabetic, M, Nd, Pc; outside a class also `²³¹¼½¾` |
//! | POSIX classes | ASCII | Unicode |
//! | an empty match | no match | a cut |
//!
//! Refused, with the place: back-references, subroutines, `\K`, `\G`, `\X`, conditions, unknown properties, unbounded
//! look-behind, in the Rust flavour repeats whose inside may be empty, and in Oniguruma letters that fold to several
//! characters (`(?i)ss` also takes `ß` there).
//!
//! Under `(?i)`, sets are closed under the simple case folding of Unicode, one character to one. Oniguruma also folds
//! one character to several and back (`ß` and `ss`). A tree of sets cannot express that, so its flavour refuses such
//! letters, also if several literals in a row make such a folding.
//!
//! This file has the entry point, alternation, concatenation and single atoms. Each other file has a part of the
//! grammar, as methods of the one [`Parser`]. Left out: running the tree ([`crate::program`]).
//! Cost: linear in the pattern and in its sets; for each literal under `(?i)` in Oniguruma, about a hundred foldings.

mod class;
pub(crate) mod cutters;
mod escape;
mod group;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::cell::OnceCell;
use std::ops::RangeInclusive;

use self::tree::{Anchor, CharSet, Node};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::Flavour;
use crate::unicode::UnicodeTables;

/// How deep groups may nest; parsing and compiling recurse this deep.
const MAX_DEPTH: u32 = 100;

/// The most atoms of a pattern, as many as a program may have instructions. A short name may stand for a large set, so this
/// bounds memory.
const MAX_ATOMS: usize = 20_000;

/// A parsed pattern, and the word characters if it has word boundaries.
#[derive(PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) root: Node,
    pub(crate) word: Option<CharSet>,
}

pub(crate) fn parse(source: &str, flavour: Flavour, unicode: &UnicodeTables) -> Result<Parsed> {
    let mut parser = Parser {
        source,
        offset: 0,
        is_oniguruma: flavour == Flavour::Oniguruma,
        flags: Flags::default(),
        depth: 0,
        n_atoms: 0,
        words: [const { OnceCell::new() }; 2],
        is_in_guarded_group: false,
        unicode,
        folded: String::new(),
    };
    let root = parser.alternation()?;
    if parser.peek().is_some() {
        return Err(parser.problem("a `)` without its `(`"));
    }
    let word = root.has_word_boundary().then(|| parser.word(false));
    Ok(Parsed { root, word })
}

struct Parser<'p> {
    source: &'p str,
    offset: usize,
    is_oniguruma: bool,
    flags: Flags,
    depth: u32,
    n_atoms: usize,
    /// The word characters outside a class and inside one, made when they are first needed.
    words: [OnceCell<CharSet>; 2],
    unicode: &'p UnicodeTables,
    /// Whether the innermost group is atomic or a look-around.
    is_in_guarded_group: bool,
    /// The run of case-insensitive literals before `offset`, folded; Oniguruma only.
    folded: String,
}

#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the pattern's own")]
struct Flags {
    ignore_case: bool,
    dot_takes_line_feed: bool,
    line_anchors: bool,
    ignore_space: bool,
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
        self.skip_ignored()?;
        while let Some(next) = self.peek()
            && next != '|'
            && next != ')'
        {
            if let Some(node) = self.piece()? {
                nodes.push(node);
            }
            self.skip_ignored()?;
        }
        Ok(Node::concat(nodes))
    }

    fn atom(&mut self) -> Result<Option<Node>> {
        let start = self.offset;
        self.count_atom()?;
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

    /// Counts an atom, or a named set in a class, against the limit.
    fn count_atom(&mut self) -> Result<()> {
        self.n_atoms += 1;
        match self.n_atoms > MAX_ATOMS {
            true => Err(self.problem("the pattern is too large: more than 20,000 atoms")),
            false => Ok(()),
        }
    }

    /// Skips comments, and white space under `(?x)`.
    pub(crate) fn skip_ignored(&mut self) -> Result<()> {
        loop {
            if self.comment()? {
                continue;
            }
            match self.peek().filter(|_| self.flags.ignore_space) {
                Some(' ' | '\t' | '\n' | '\r') => _ = self.bump(),
                Some('#') => self.offset += self.rest().find('\n').unwrap_or(self.rest().len()),
                Some(next) if next.is_whitespace() => {
                    return Err(self.problem("white space that engines do not agree to skip"));
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips `(?#…)`, if it is next.
    fn comment(&mut self) -> Result<bool> {
        let start = self.offset;
        if !self.eat("(?#") {
            return Ok(false);
        }
        let Some((comment, _)) = self.rest().split_once(')') else {
            return Err(self.problem_at(start, "a comment without its `)`"));
        };
        self.offset += comment.len() + 1;
        Ok(true)
    }

    fn literal(&mut self, start: usize, character: char) -> Result<Node> {
        let set = self.fold(CharSet::single(character));
        if self.is_oniguruma && self.flags.ignore_case {
            self.folded.extend(self.unicode.lowercase(character));
            let folds = folds_to_several();
            if folds.iter().any(|(from, to)| set.contains(*from) || self.folded.ends_with(to)) {
                return Err(self.problem_at(
                    start,
                    "letters that fold to another number of letters under (?i)",
                ));
            }
        } else {
            self.folded.clear();
        }
        Ok(Node::Set(set))
    }

    fn fold(&self, mut set: CharSet) -> CharSet {
        if self.flags.ignore_case {
            // Folding fails only without its tables, which the dependency is built with.
            let _ = set.characters.try_case_fold_simple();
        }
        set
    }

    fn check_class_folds(&self, start: usize, set: &CharSet) -> Result<()> {
        if !self.is_oniguruma || !self.flags.ignore_case {
            return Ok(());
        }
        if folds_to_several().iter().any(|(from, _)| set.contains(*from)) {
            return Err(self
                .problem_at(start, "a class of letters that fold to several letters under (?i)"));
        }
        Ok(())
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

/// The characters that fold to several characters, with their folding. Oniguruma applies it both ways, the Rust engines
/// never. The mapping of the standard library only serves to refuse patterns.
fn folds_to_several() -> &'static [(char, String)] {
    static FOLDS: std::sync::OnceLock<Vec<(char, String)>> = std::sync::OnceLock::new();
    FOLDS.get_or_init(|| folds_among(WITH_FOLDS.into_iter().flatten()))
}

/// The ranges with such characters. A search of all characters would take most of the time of loading a small tokenizer.
const WITH_FOLDS: [RangeInclusive<char>; 3] =
    ['\u{80}'..='\u{600}', '\u{1E00}'..='\u{1FFF}', '\u{FB00}'..='\u{FB20}'];

fn folds_among(characters: impl Iterator<Item = char>) -> Vec<(char, String)> {
    let several = |character: char| -> Option<(char, String)> {
        let folded: String = character.to_uppercase().flat_map(char::to_lowercase).collect();
        (folded.chars().count() > 1).then_some((character, folded))
    };
    let special = [('İ', "i\u{307}".to_owned()), ('ẞ', "ss".to_owned())];
    let is_special = |character: &char| special.iter().any(|(special, _)| special == character);
    let others = characters.filter(|character| !is_special(character));
    others.filter_map(several).chain(special.clone()).collect()
}
