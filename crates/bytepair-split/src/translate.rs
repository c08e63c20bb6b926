//! A split pattern in the words of another engine.
//!
//! The two flavours read some constructs differently (`parser` lists them). A translation spells
//! out what differs (`\w` becomes the set it stands for, `{1,3}+` an atomic group) and refuses what it
//! has no spelling for. What comes out is compiled in its new flavour and must cut a text of boundary
//! cases (every pair of kinds of characters, every triple of the common ones) into the same pieces.
//!
//! Left out: the starts of lines, word boundaries, POSIX classes, comments, flags in the middle of a group, repeats of
//! repeats, and patterns that could match the empty text, where Oniguruma's users cut.
//! Cost: a few milliseconds, nearly all of them for the comparison.

use crate::unicode::UnicodeTables;
use crate::{Flavour, Pattern, Splitter, Stage, Unmatched};

/// What `\w` stands for in both flavours, as members of a class.
const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";

/// What belongs to `\w` in the Rust flavour besides.
const JOIN_CONTROLS: &str = r"\x{200C}\x{200D}";

/// What belongs to `\w` in Oniguruma besides, outside a class.
const OLD_DIGITS: &str = "²³¹¼½¾";

/// Properties that are POSIX classes in Oniguruma, and may be others in the Rust flavour.
const POSIX_NAMES: [&str; 8] =
    ["alnum", "blank", "cntrl", "graph", "print", "punct", "word", "xdigit"];

/// One of each kind of character that patterns tell apart.
const KINDS: &str = "aBstLſéǅʰ中あンﾞ한ا\u{301}\u{903}\u{20dd}0٣Ⅷ½²_-./'’\"($+^€©😀🇫 \u{a0}\u{3000}\t\n\r\u{b}\u{85}\u{2028}\
                     \u{200c}\u{200d}\0\u{e000}\u{378}\u{ad}";

/// The kinds whose triples are tried.
const COMMON_KINDS: &str = "aBsé中0½_.'( \u{a0}\n\r\t\u{301}\u{200d}";

/// Texts that are tried besides.
const SAMPLES: [&str; 5] = [
    "don't DON'T we'll we've I'd you're I'm it's IT'S 'tis ''s'll",
    "1 12 123 1234 12345 123456 1234567890 ٣٣٣٣ ⅧⅧ ½½½½",
    "a   b \n\n c\r\n\r\n  d\t\te \u{3000}\u{3000}f  \n  ",
    "fn main() { println!(\"{}\", x_1 + y); } // ok/fine\n/*  */ https://a.b/c?d=e&f",
    "HelloWORLD camelCase snake_case ÉCOLE 中文字符かなカナ한국어 نیم\u{200c}فاصله e\u{301}e\u{301}",
];

/// A pattern that means in another flavour what this one means in its own.
///
/// Cost: some milliseconds, nearly all of them for comparing both on texts of boundary cases.
///
/// # Errors
/// A phrase that says what stands in the way.
///
/// ```
/// use bytepair_split::{Flavour, Pattern, translated};
///
/// let pattern = Pattern { source: r"\p{N}{1,3}+".to_owned(), flavour: Flavour::Rust };
/// assert_eq!(translated(&pattern, Flavour::Oniguruma)?.source, r"(?>\p{N}{1,3})");
/// # Ok::<(), String>(())
/// ```
pub fn translated(pattern: &Pattern, flavour: Flavour) -> Result<Pattern, String> {
    if pattern.flavour == flavour {
        return Ok(pattern.clone());
    }
    if pattern.flavour == Flavour::Cutter {
        return Err("it is a cutter of Hugging Face tokenizers, not a pattern".to_owned());
    }
    let mut translator = Translator {
        rest: &pattern.source,
        out: String::new(),
        from_rust: pattern.flavour == Flavour::Rust,
        groups: Vec::new(),
        atom: None,
    };
    translator.run()?;
    let written = Pattern { source: translator.out, flavour };
    check_same_pieces(pattern, &written)?;
    Ok(written)
}

/// Whether two rows of stages cut some texts of boundary cases alike.
///
/// It is no proof, and nothing that gives ids may rest on it. Cost: some milliseconds.
///
/// ```
/// use bytepair_split::{cuts_alike, named};
///
/// let [gpt2, qwen2, o200k] = ["gpt2", "qwen2", "o200k"].map(|name| named(name).unwrap());
/// assert!(!cuts_alike(&gpt2, &o200k));
/// assert!(cuts_alike(&qwen2, &named("qwen2").unwrap()));
/// ```
pub fn cuts_alike(one: &[Stage], other: &[Stage]) -> bool {
    if one == other {
        return true;
    }
    let unicode = UnicodeTables::latest();
    let compiled = |stages: &[Stage]| Splitter::new(stages.to_vec(), &unicode).ok();
    let Some((one_splitter, other_splitter)) = compiled(one).zip(compiled(other)) else {
        return false;
    };
    let sources = one.iter().chain(other).map(|stage| stage.pattern.source.as_str());
    let texts = boundary_texts(&sources.collect::<String>());
    texts.iter().chain([&texts.concat()]).all(|text| {
        let pieces = |splitter: &Splitter| {
            let pieces = splitter.pieces(text.as_bytes()).ok()?;
            Some(pieces.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
        };
        pieces(&one_splitter).is_some_and(|found| pieces(&other_splitter) == Some(found))
    })
}

/// Cuts the boundary texts with both patterns.
fn check_same_pieces(one: &Pattern, other: &Pattern) -> Result<(), String> {
    let unicode = UnicodeTables::latest();
    let compiled = |pattern: &Pattern| {
        let stage = Stage::matches(pattern.clone(), Unmatched::Keep);
        Splitter::new(vec![stage], &unicode).map_err(|error| {
            format!("its translation {:?} does not compile ({error})", pattern.source)
        })
    };
    let (one_splitter, other_splitter) = (compiled(one)?, compiled(other)?);
    if one_splitter.may_match_nothing() {
        return Err("it could match the empty text, where one flavour cuts".to_owned());
    }
    let texts = boundary_texts(&one.source);
    let whole = texts.concat();
    for text in texts.iter().chain([&whole]) {
        let pieces = |splitter: &Splitter| {
            splitter
                .pieces(text.as_bytes())
                .ok()
                .map(|pieces| pieces.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
        };
        if pieces(&one_splitter) != pieces(&other_splitter) {
            return Err(format!("its translation {:?} cuts some texts differently", other.source));
        }
    }
    Ok(())
}

fn boundary_texts(source: &str) -> Vec<String> {
    let mut kinds: Vec<char> = KINDS.chars().chain(source.chars()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.truncate(120);
    let common: Vec<char> = COMMON_KINDS.chars().collect();
    let mut texts: Vec<String> = SAMPLES.map(str::to_owned).to_vec();
    for &first in &kinds {
        texts.extend(kinds.iter().map(|&second| String::from_iter([first, second])));
    }
    for &first in &common {
        for &second in &common {
            texts.extend(common.iter().map(|&third| String::from_iter([first, second, third])));
        }
    }
    texts
}

struct Translator<'p> {
    rest: &'p str,
    out: String,
    from_rust: bool,
    /// Where the open groups begin in `out`.
    groups: Vec<usize>,
    /// Where the last atom begins in `out`, if a repeat may follow it.
    atom: Option<usize>,
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(next) = self.bump() {
            match next {
                '(' => self.group()?,
                ')' => {
                    self.atom = self.groups.pop();
                    self.out.push(')');
                }
                '|' => self.push_without_atom("|"),
                '^' if !self.from_rust => return Err("line anchors".to_owned()),
                '$' if !self.from_rust => self.push_without_atom("(?m:$)"),
                '^' => self.push_without_atom(r"\A"),
                '$' => self.push_without_atom(r"\z"),
                '*' | '+' | '?' => self.repeat(next)?,
                '{' => self.brace()?,
                '[' => {
                    self.atom = Some(self.out.len());
                    self.class()?;
                }
                '\\' => self.escape(false)?,
                _ => {
                    self.atom = Some(self.out.len());
                    self.out.push(next);
                }
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<(), String> {
        self.groups.push(self.out.len());
        self.atom = None;
        if !self.eat("?") {
            self.out.push_str("(?:");
            return Ok(());
        }
        if let Some(opening) =
            ["<=", "<!", "=", "!", ">", ":"].into_iter().find(|opening| self.eat(opening))
        {
            self.out.push_str("(?");
            self.out.push_str(opening);
            return Ok(());
        }
        if self.eat("P<") || self.eat("<") {
            while self.bump().is_some_and(|character| character != '>') {}
            self.out.push_str("(?:");
            return Ok(());
        }
        self.flags()
    }

    /// `(?i:` or, at the beginning of a group, `(?i)`.
    fn flags(&mut self) -> Result<(), String> {
        let starts_group = self.out.is_empty() || self.out.ends_with("(?:");
        let (line_feed, written) = if self.from_rust { ('s', 'm') } else { ('m', 's') };
        self.out.push_str("(?");
        while let Some(next) = self.bump() {
            match next {
                'i' | '-' => self.out.push(next),
                _ if next == line_feed => self.out.push(written),
                ':' => {
                    self.out.push(':');
                    return Ok(());
                }
                ')' if starts_group => {
                    self.groups.pop();
                    self.out.push(')');
                    return Ok(());
                }
                _ => break,
            }
        }
        Err("flags in the middle of a group, or of lines".to_owned())
    }

    fn repeat(&mut self, symbol: char) -> Result<(), String> {
        if self.atom.take().is_none() {
            return Err("a repeat of a repeat".to_owned());
        }
        self.out.push(symbol);
        for suffix in ["?", "+"] {
            if self.eat(suffix) {
                self.out.push_str(suffix);
                return Ok(());
            }
        }
        Ok(())
    }

    /// A counted repeat, or in Oniguruma a brace that stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let Some((least, most)) = self.interval() else {
            if self.from_rust {
                return Err("a brace that does not start a repeat".to_owned());
            }
            self.atom = Some(self.out.len());
            self.out.push_str(r"\{");
            return Ok(());
        };
        let Some(atom) = self.atom.take() else { return Err("a repeat of a repeat".to_owned()) };
        let is_exact = least == most;
        let interval =
            if is_exact { format!("{{{least}}}") } else { format!("{{{least},{most}}}") };
        self.out.push_str(&interval);
        let (opening, closing) = match (self.from_rust, self.eat_any(["+", "?"])) {
            (true, Some("+")) => ("(?>", ")"),
            (false, Some("+")) => ("(?:", ")+"),
            (false, Some("?")) if is_exact => ("(?:", ")?"),
            (true, Some("?")) if is_exact => ("", ""),
            (_, Some(_)) => ("", "?"),
            (_, None) => ("", ""),
        };
        self.out.insert_str(atom, opening);
        self.out.push_str(closing);
        Ok(())
    }

    /// The bounds of the counted repeat whose `{` was just read.
    fn interval(&mut self) -> Option<(String, String)> {
        let (inside, after) = self.rest.split_once('}')?;
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(least) || !is_number(most) || least.is_empty() && most.is_empty() {
            return None;
        }
        self.rest = after;
        let least = if least.is_empty() { "0" } else { least };
        Some((least.to_owned(), most.to_owned()))
    }

    /// A bracketed class whose `[` was just read.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        if self.eat("]") {
            self.out.push_str(r"\]");
        }
        loop {
            if self.rest.starts_with("[:")
                || self.rest.starts_with("--")
                || self.rest.starts_with("~~")
            {
                return Err("a POSIX class, or a difference of classes".to_owned());
            }
            match self.bump() {
                None => return Err("a class without its end".to_owned()),
                Some(']') => break,
                Some('[') => self.class()?,
                Some('\\') => self.escape(true)?,
                Some(other) => self.out.push(other),
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// What follows a backslash that was just read.
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(letter) = self.bump() else { return Err("a backslash at the end".to_owned()) };
        if !in_class {
            self.atom = Some(self.out.len());
        }
        match letter {
            'd' | 'D' | 's' | 'S' | 'n' | 'r' | 't' => self.out.extend(['\\', letter]),
            'A' | 'z' if !in_class => {
                self.out.extend(['\\', letter]);
                self.atom = None;
            }
            'w' | 'W' => self.word(letter == 'W', in_class),
            'h' | 'H' => self.set("0-9A-Fa-f", letter == 'H', in_class),
            'p' | 'P' => self.property(letter == 'P')?,
            'x' => self.code_point(2)?,
            'u' => self.code_point(4)?,
            'f' => self.out.push_str(r"\x{C}"),
            'v' => self.out.push_str(r"\x{B}"),
            'a' => self.out.push_str(r"\x{7}"),
            'e' => self.out.push_str(r"\x{1B}"),
            'b' if in_class && !self.from_rust => self.out.push_str(r"\x{8}"),
            _ if letter.is_ascii_alphanumeric() => return Err(format!("the escape \\{letter}")),
            _ if r"\.+*?()|[]{}^$#&-~".contains(letter) => self.out.extend(['\\', letter]),
            _ => self.out.push(letter),
        }
        Ok(())
    }

    fn word(&mut self, is_negated: bool, in_class: bool) {
        let besides = match (self.from_rust, in_class) {
            (true, _) => JOIN_CONTROLS,
            (false, false) => OLD_DIGITS,
            (false, true) => "",
        };
        self.set(&format!("{WORD}{besides}"), is_negated, in_class);
    }

    fn set(&mut self, members: &str, is_negated: bool, in_class: bool) {
        match (is_negated, in_class) {
            (true, _) => self.out.extend(["[^", members, "]"]),
            (false, true) => self.out.push_str(members),
            (false, false) => self.out.extend(["[", members, "]"]),
        }
    }

    fn property(&mut self, mut is_negated: bool) -> Result<(), String> {
        let name = if self.eat("{") {
            is_negated ^= self.eat("^");
            let (name, after) = self.rest.split_once('}').ok_or("a property without its end")?;
            self.rest = after;
            name.to_owned()
        } else {
            self.bump().map(String::from).unwrap_or_default()
        };
        let name = match name.split_once('=') {
            Some(("sc" | "script" | "Script" | "gc" | "General_Category", value)) => {
                value.to_owned()
            }
            Some(_) => return Err(format!("the property {name:?}")),
            None => name,
        };
        if POSIX_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("the property {name:?}"));
        }
        let opening = if is_negated { r"\P{" } else { r"\p{" };
        self.out.extend([opening, &name, "}"]);
        Ok(())
    }

    fn code_point(&mut self, n_digits: usize) -> Result<(), String> {
        let digits = if self.eat("{") {
            let (digits, after) = self.rest.split_once('}').ok_or("a number without its end")?;
            self.rest = after;
            digits
        } else {
            let (digits, after) = self.rest.split_at_checked(n_digits).ok_or("a number cut off")?;
            self.rest = after;
            digits
        };
        self.out.extend([r"\x{", digits, "}"]);
        Ok(())
    }

    fn push_without_atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.atom = None;
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let after = self.rest.strip_prefix(expected);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn eat_any<'e>(&mut self, expected: [&'e str; 2]) -> Option<&'e str> {
        expected.into_iter().find(|text| self.eat(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(source: &str, from: Flavour) -> Result<String, String> {
        let to = if from == Flavour::Rust { Flavour::Oniguruma } else { Flavour::Rust };
        let pattern = Pattern { source: source.to_owned(), flavour: from };
        translated(&pattern, to).map(|pattern| pattern.source)
    }

    fn check_named(names: impl IntoIterator<Item = &'static str>) {
        // A word boundary, and a match of the empty text.
        let without = ["tiny-aya", "superbpe"];
        for name in names {
            let translate = |stage: Stage| translate(&stage.pattern.source, stage.pattern.flavour);
            let all = crate::named(name).unwrap().into_iter().map(translate);
            let all = all.collect::<Result<Vec<_>, _>>();
            assert_eq!(all.is_ok(), !without.contains(&name), "{name}: {all:?}");
        }
    }

    #[test]
    fn some_named_patterns_have_a_translation_and_some_have_none() {
        check_named(["gpt2", "deepseek-coder", "tiny-aya", "superbpe"]);
    }

    #[test]
    #[ignore = "slow: all patterns"]
    fn every_named_pattern_has_a_translation() {
        check_named(crate::names());
    }

    #[test]
    fn what_the_flavours_read_differently_is_spelled_out() {
        let rust = |source| translate(source, Flavour::Rust).unwrap();
        assert_eq!(rust(r"\p{N}{1,3}+|\s++$"), r"(?>\p{N}{1,3})|\s++\z");
        assert_eq!(rust(r"(?s:.)(a{2}?)"), r"(?m:.)(?:a{2})");
        assert_eq!(
            rust(r"[^\W_]\pL"),
            r"[^[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]_]\p{L}"
        );
        let oniguruma = |source| translate(source, Flavour::Oniguruma).unwrap();
        assert_eq!(oniguruma(r"\p{N}{1,3}+\h{x"), r"(?:\p{N}{1,3})+[0-9A-Fa-f]\{x");
        assert_eq!(oniguruma(r"(?m:.)a{2}?"), r"(?s:.)(?:a{2})?");
        assert_eq!(oniguruma(r"\s+$"), r"\s+(?m:$)");
    }

    #[test]
    fn what_has_no_spelling_is_refused() {
        for source in [r"\bword\b", r"[[:alpha:]]+", r"a(?i)b|c", r"(?m:^a)", r"[a--b]"] {
            assert!(translate(source, Flavour::Rust).is_err(), "{source}");
        }
        for source in [r"^a", r"\bword", r"a+*", r"(?=a)", r"\p{Print}"] {
            assert!(translate(source, Flavour::Oniguruma).is_err(), "{source}");
        }
    }

    #[test]
    fn the_comparison_tells_patterns_apart() {
        let pattern = |source: &str, flavour| Pattern { source: source.to_owned(), flavour };
        for (one, other) in [(r"\w+", r"\w+"), (r"\s+$", r"\s+$"), (r"\d{1,2}+", r"\d{1,2}+")] {
            let different = check_same_pieces(
                &pattern(one, Flavour::Rust),
                &pattern(other, Flavour::Oniguruma),
            );
            assert!(different.is_err(), "{one}");
        }
    }
}
