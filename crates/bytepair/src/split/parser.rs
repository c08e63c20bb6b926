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
//! unknown properties, unbounded look-behind, in the Rust flavour repeats of what may be empty, and what Oniguruma folds to several characters
//! (`(?i)ss` also takes `ß` there). Cost: linear in the pattern.

use super::Flavour;
use super::tree::{Anchor, CharSet, Greed, Look, Node};
use crate::error::{Error, ErrorKind, Result};
use crate::unicode::UnicodeTables;

/// Groups inside groups; parsing and compiling recurse this deep.
const MAX_DEPTH: u32 = 100;

/// The most times a counted repeat may run.
const MAX_REPEAT: u32 = 1000;

/// The most characters a look-behind may span.
const MAX_LOOK_BEHIND: u64 = 255;

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

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    dot_takes_line_feed: bool,
    line_anchors: bool,
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

/// What a backslash means.
enum Escape {
    Literal(char),
    Set(CharSet),
    Anchor(Anchor),
}

/// One member of a bracketed class.
enum Member {
    Literal(char),
    Set(CharSet),
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

    /// One atom with its quantifiers; `None` for a flag group, which takes no place in the tree.
    fn piece(&mut self) -> Result<Option<Node>> {
        let start = self.offset;
        let Some(atom) = self.atom()? else { return Ok(None) };
        let mut node = atom;
        let mut n_quantifiers = 0;
        while let Some((min, max, is_interval)) = self.quantifier()? {
            if matches!(node, Node::Look(..) | Node::Anchor(_) | Node::Empty) {
                return Err(self.problem_at(start, "a repeat of what takes no character"));
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
        }
        Ok(Some(node))
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
        self.problem_at(start, "a repeat of what may be empty; engines disagree on it")
    }

    /// The bounds of the quantifier that stands here, and whether it was written with braces.
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
            Err(self.problem("a `{` that starts no repeat; write `\\{`"))
        }
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
            // Without its tables the fold would fail; the dependency is built with them.
            let _ = set.characters.try_case_fold_simple();
        }
        set
    }

    fn group(&mut self, start: usize) -> Result<Option<Node>> {
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

    /// What stands in a group up to its `)`; the flags are those of before the group again.
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

    fn escape_outside(&mut self, start: usize) -> Result<Node> {
        match self.escape(start, false)? {
            Escape::Literal(character) => self.literal(start, character),
            Escape::Set(set) => {
                self.folded.clear();
                Ok(Node::Set(set))
            }
            Escape::Anchor(anchor) => {
                self.folded.clear();
                Ok(Node::Anchor(anchor))
            }
        }
    }

    /// What follows a backslash that stood at `start`.
    fn escape(&mut self, start: usize, in_class: bool) -> Result<Escape> {
        let Some(letter) = self.bump() else {
            return Err(self.problem_at(start, "a `\\` at the end"));
        };
        if !letter.is_ascii_alphanumeric() {
            return Ok(Escape::Literal(letter));
        }
        if let Some(set) = self.set_escape(start, letter, in_class)? {
            return Ok(Escape::Set(set));
        }
        if let Some(anchor) = self.anchor_escape(letter).filter(|_| !in_class) {
            return Ok(Escape::Anchor(anchor));
        }
        self.literal_escape(start, letter, in_class).map(Escape::Literal)
    }

    fn set_escape(
        &mut self,
        start: usize,
        letter: char,
        in_class: bool,
    ) -> Result<Option<CharSet>> {
        let set = match letter.to_ascii_lowercase() {
            'd' => self.property_set("Nd"),
            's' => self.property_set("White_Space"),
            'w' => self.word(in_class),
            'h' if self.is_oniguruma => ascii_set("09afAF"),
            'p' => return self.property_escape(start, letter == 'P').map(Some),
            _ => return Ok(None),
        };
        Ok(Some(if letter.is_ascii_uppercase() { set.negated() } else { set }))
    }

    /// Oniguruma tests a single `\w` with an older table for U+0080..U+00FF, in which `²³¹¼½¾` are word
    /// characters, and `[\w]` with the Unicode sets; both were compared with its release 6.9.
    fn word(&self, in_class: bool) -> CharSet {
        let names = ["Alphabetic", "M", "Nd", "Pc"];
        let word =
            names.iter().fold(CharSet::empty(), |word, name| word.union(&self.property_set(name)));
        match (self.is_oniguruma, in_class) {
            (false, _) => word.union(&self.property_set("Join_Control")),
            (true, false) => word.union(&CharSet::from_ranges(&['²'..='³', '¹'..='¹', '¼'..='¾'])),
            (true, true) => word,
        }
    }

    fn property_set(&self, name: &str) -> CharSet {
        CharSet::from_ranges(&self.unicode.property(name).unwrap_or_default())
    }

    fn property_escape(&mut self, start: usize, is_negated: bool) -> Result<CharSet> {
        let (name, inside_negated) = self.property_name(start)?;
        let unknown = || self.problem_at(start, &format!("the property {name:?} is not known"));
        let set = self.named_property(name).ok_or_else(unknown)?;
        let folded = self.fold(set.clone());
        if self.is_oniguruma && folded != set {
            return Err(self.problem_at(start, "a property of letters under (?i)"));
        }
        Ok(if is_negated == inside_negated { folded } else { folded.negated() })
    }

    fn property_name(&mut self, start: usize) -> Result<(&'p str, bool)> {
        if !self.eat("{") {
            let letter =
                self.bump().filter(|letter| letter.is_ascii_alphabetic() && !self.is_oniguruma);
            let Some(_) = letter else {
                return Err(self.problem_at(start, "a property without its name"));
            };
            return Ok((&self.source[self.offset - 1..self.offset], false));
        }
        let is_negated = self.eat("^");
        let source = self.source;
        let Some((name, _)) = source[self.offset..].split_once('}') else {
            return Err(self.problem_at(start, "a property without its `}`"));
        };
        self.offset += name.len() + 1;
        Ok((name, is_negated))
    }

    fn named_property(&self, name: &str) -> Option<CharSet> {
        if self.is_oniguruma {
            if name.contains('=') {
                return None;
            }
            match name.to_ascii_lowercase().as_str() {
                "alnum" | "digit" | "space" => return self.posix_set(&name.to_ascii_lowercase()),
                "punct" | "blank" | "cntrl" | "word" | "graph" | "print" | "upper" | "lower" => {
                    return None;
                }
                _ => {}
            }
        }
        self.unicode.property(name).map(|ranges| CharSet::from_ranges(&ranges))
    }

    fn anchor_escape(&self, letter: char) -> Option<Anchor> {
        Some(match letter {
            'A' => Anchor::TextStart,
            'z' => Anchor::TextEnd,
            'Z' if self.is_oniguruma => Anchor::TextEndOrFinalLineFeed,
            'Z' => Anchor::TextEndOrFinalLineFeeds,
            'b' if !self.rest().starts_with('{') => Anchor::WordBoundary,
            'B' => Anchor::NotWordBoundary,
            _ => return None,
        })
    }

    fn literal_escape(&mut self, start: usize, letter: char, in_class: bool) -> Result<char> {
        match letter {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'f' => Ok('\x0c'),
            'v' => Ok('\x0b'),
            'a' => Ok('\x07'),
            'e' => Ok('\x1b'),
            'b' if in_class && self.is_oniguruma => Ok('\x08'),
            'x' => self.code_point(start, 2),
            'u' => self.code_point(start, 4),
            '0'..='9' => {
                Err(self.problem_at(start, "back-references and octal escapes are not supported"))
            }
            _ => Err(self.problem_at(start, &format!("`\\{letter}` is not understood"))),
        }
    }

    /// `{HEX}` or exactly `n_digits` hexadecimal digits.
    fn code_point(&mut self, start: usize, n_digits: usize) -> Result<char> {
        let not_a_character = self.problem_at(start, "no character has this number");
        let rest = self.rest();
        let (digits, length) = match rest.strip_prefix('{').map(|inside| inside.split_once('}')) {
            Some(Some((inside, _))) => (inside, inside.len() + 2),
            _ => (rest.get(..n_digits).unwrap_or_default(), n_digits),
        };
        let is_hexadecimal =
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal);
        let Some(character) = code.and_then(char::from_u32) else { return Err(not_a_character) };
        if self.is_oniguruma && length == 2 && !character.is_ascii() {
            return Err(
                self.problem_at(start, "a byte of several that make a character; write \\x{…}")
            );
        }
        self.offset += length;
        Ok(character)
    }

    /// A bracketed class whose `[` stood at `start`.
    fn class(&mut self, start: usize) -> Result<CharSet> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.problem("classes nested too deeply"));
        }
        let is_negated = self.eat("^");
        let mut left: Option<(&str, CharSet)> = None;
        let mut set = self.class_start(start)?;
        while !self.eat("]") {
            match self.class_operator() {
                Some(operator) => {
                    left = Some((operator, self.combined(left, set)));
                    set = CharSet::empty();
                }
                None => set = set.union(&self.class_item(start)?),
            }
        }
        self.depth -= 1;
        let set = self.combined(left, set);
        let set = if is_negated { set.negated() } else { set };
        self.check_class_folds(start, &set)?;
        Ok(set)
    }

    /// A `]` or `-` that stands first is itself.
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

    fn class_item(&mut self, start: usize) -> Result<CharSet> {
        let item_start = self.offset;
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
            Member::Set(_) if is_range => {
                Err(self.problem_at(item_start, "a range from a class; write `\\-`"))
            }
            Member::Set(set) => Ok(set),
            Member::Literal(character) if !is_range => Ok(CharSet::single(character)),
            Member::Literal(first) => self.class_range(item_start, first),
        }
    }

    fn class_range(&mut self, start: usize, first: char) -> Result<CharSet> {
        self.bump();
        if self.peek() == Some('[') {
            return Err(self.problem_at(start, "a range to a class; write `\\[`"));
        }
        match self.class_member(start)? {
            Member::Literal(last) if first <= last => Ok(CharSet::range(first, last)),
            _ => {
                Err(self.problem_at(start, "a range whose ends are out of order or no characters"))
            }
        }
    }

    fn class_member(&mut self, class_start: usize) -> Result<Member> {
        let start = self.offset;
        match self.bump() {
            None => Err(self.problem_at(class_start, "a class without its `]`")),
            Some('\\') => match self.escape(start, true)? {
                Escape::Literal(character) => Ok(Member::Literal(character)),
                Escape::Set(set) => Ok(Member::Set(set)),
                Escape::Anchor(_) => Err(self.problem_at(start, "an anchor in a class")),
            },
            Some(character) => Ok(Member::Literal(character)),
        }
    }

    /// `[:alpha:]` or `[:^alpha:]`, inside a class.
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

    fn posix_set(&self, name: &str) -> Option<CharSet> {
        if !self.is_oniguruma {
            return ascii_posix(name).map(ascii_set);
        }
        Some(match name {
            "alpha" => self.property_set("Alphabetic"),
            "alnum" => self.property_set("Alphabetic").union(&self.property_set("Nd")),
            "digit" => self.property_set("Nd"),
            "space" => self.property_set("White_Space"),
            "word" => self.word(true),
            "xdigit" => ascii_set("09afAF"),
            "ascii" => ascii_set("\0\x7f"),
            _ => return None,
        })
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

const LOOKS: [(&str, Look); 4] = [
    ("=", Look { ahead: true, negative: false }),
    ("!", Look { ahead: true, negative: true }),
    ("<=", Look { ahead: false, negative: false }),
    ("<!", Look { ahead: false, negative: true }),
];

fn ascii_posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => "09AZaz",
        "alpha" => "AZaz",
        "ascii" => "\0\x7f",
        "blank" => "\t\t  ",
        "cntrl" => "\0\x1f\x7f\x7f",
        "digit" => "09",
        "graph" => "!~",
        "lower" => "az",
        "print" => " ~",
        "punct" => "!/:@[`{~",
        "space" => "\t\r  ",
        "upper" => "AZ",
        "word" => "09AZ__az",
        "xdigit" => "09AFaf",
        _ => return None,
    })
}

/// The union of ranges, each given by its two ends.
fn ascii_set(ends: &str) -> CharSet {
    let ends: Vec<char> = ends.chars().collect();
    ends.chunks(2).fold(CharSet::empty(), |set, pair| {
        set.union(&CharSet::range(pair[0], pair[pair.len() - 1]))
    })
}

/// The characters whose case folding is several characters, with that folding. Oniguruma applies it
/// both ways, the Rust engines never. The standard library's mapping serves only to refuse.
fn folds_to_several() -> &'static [(char, String)] {
    static FOLDS: std::sync::OnceLock<Vec<(char, String)>> = std::sync::OnceLock::new();
    FOLDS.get_or_init(|| {
        let several = |character: char| -> Option<(char, String)> {
            let folded: String = character.to_uppercase().flat_map(char::to_lowercase).collect();
            let is_special = matches!(character, 'İ' | 'ẞ');
            (folded.chars().count() > 1 || is_special).then_some((character, folded))
        };
        let special = [('İ', "i\u{307}".to_owned()), ('ẞ', "ss".to_owned())];
        ('\u{80}'..='\u{ffff}')
            .filter_map(several)
            .filter(|(_, folded)| folded.chars().count() > 1)
            .chain(special)
            .collect()
    })
}
