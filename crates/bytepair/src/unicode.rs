//! Character sets and lower-case mappings of one version of Unicode, as data.
//!
//! The tables belong to a tokenizer's meaning: two libraries with different versions of Unicode
//! split some texts differently. So they are text in this repository (`unicode/16.0.0.txt`, made by
//! `examples/generate_unicode.rs`, its format told in its first lines), and a value that is passed
//! to whatever compiles a pattern. A newer version is a new file and never changes an old one.
//!
//! Left out: property aliases other than the long names of general categories, script extensions,
//! upper case, normalization.
//!
//! Cost: a property is parsed when it is asked for (some microseconds, a millisecond at most); the
//! lower-case mappings are parsed once per process.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

const UNICODE_16_0_0: &str = include_str!("../unicode/16.0.0.txt");

/// The character sets and lower-case mappings of one version of Unicode. Cheap to copy.
///
/// ```
/// let tables = bytepair::unicode::UnicodeTables::latest();
/// let digits = tables.property("Nd").unwrap();
/// assert_eq!(digits[0], '0'..='9');
/// assert_eq!(tables.lowercase('É').collect::<String>(), "é");
/// ```
#[derive(Clone, Copy)]
pub struct UnicodeTables {
    text: &'static str,
    lowercase: &'static OnceLock<LowercaseMap>,
}

impl UnicodeTables {
    /// The newest version this crate carries.
    pub fn latest() -> Self {
        static LOWERCASE: OnceLock<LowercaseMap> = OnceLock::new();
        Self { text: UNICODE_16_0_0, lowercase: &LOWERCASE }
    }

    /// The version of Unicode, such as `16.0.0`.
    pub fn version(&self) -> &'static str {
        self.line("version").unwrap_or_default()
    }

    /// The characters that have a property, as ascending ranges; `None` if the name is not known.
    ///
    /// Known are general categories (`Lu`, `L`, `Uppercase_Letter`, `gc=Lu`), scripts (`Han`,
    /// `sc=Han`, `Script=Han`), `White_Space`, `Join_Control`, `Alphabetic`, `Any`, `ASCII` and
    /// `Assigned`. Case, spaces, hyphens and underscores in a name do not matter.
    pub fn property(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        let name = loose(name);
        match name.split_once('=') {
            Some(("gc" | "generalcategory", value)) => self.category(value),
            Some(("sc" | "script", value)) => self.script(value),
            Some(_) => None,
            None => {
                self.category(&name).or_else(|| self.binary(&name)).or_else(|| self.script(&name))
            }
        }
    }

    /// The lower case of one character, whatever stands around it; most are one character, `İ` is two.
    pub fn lowercase(&self, character: char) -> impl Iterator<Item = char> + use<> {
        let (first, second) = match character {
            'A'..='Z' => (character.to_ascii_lowercase(), None),
            '\0'..='\x7f' => (character, None),
            _ => self.lowercase_map().get(character),
        };
        std::iter::once(first).chain(second)
    }

    fn category(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        let short =
            LONG_CATEGORIES.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
        if !short.is_ascii() {
            return None;
        }
        match short {
            "lc" | "l&" => Some(self.union(&["Lu", "Ll", "Lt"])),
            "l" | "m" | "n" | "p" | "s" | "z" | "c" => Some(self.group(short)),
            _ if short.len() == 2 => self.line_ranges(short),
            _ => None,
        }
    }

    fn binary(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        match name {
            "whitespace" | "wspace" => self.line_ranges("White_Space"),
            "joincontrol" | "joinc" => self.line_ranges("Join_Control"),
            "alphabetic" | "alpha" => self.line_ranges("Alphabetic"),
            "any" => Some(vec!['\0'..=char::MAX]),
            "ascii" => Some(vec!['\0'..='\x7f']),
            "assigned" => Some(self.assigned()),
            _ => None,
        }
    }

    fn script(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        let lines =
            self.text.lines().filter_map(|line| line.strip_prefix("Script=")?.split_once(' '));
        let mut named = lines.filter(|(script, _)| loose(script) == name);
        named.next().map(|(_, ranges)| parse_ranges(ranges))
    }

    fn group(&self, letter: &str) -> Vec<RangeInclusive<char>> {
        let is_member =
            |name: &str| name.len() == 2 && name.to_ascii_lowercase().starts_with(letter);
        let lines = self.text.lines().filter_map(|line| line.split_once(' '));
        let members = lines.filter(|(name, _)| is_member(name));
        merged(members.flat_map(|(_, ranges)| parse_ranges(ranges)).collect())
    }

    fn union(&self, names: &[&str]) -> Vec<RangeInclusive<char>> {
        merged(names.iter().filter_map(|name| self.line_ranges(name)).flatten().collect())
    }

    fn assigned(&self) -> Vec<RangeInclusive<char>> {
        let groups = ["l", "m", "n", "p", "s", "z"].iter().flat_map(|letter| self.group(letter));
        merged(groups.chain(self.union(&["Cc", "Cf", "Co"])).collect())
    }

    fn line_ranges(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        self.line(name).map(parse_ranges)
    }

    fn line(&self, name: &str) -> Option<&'static str> {
        let mut lines = self.text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, rest)| rest)
    }

    fn lowercase_map(&self) -> &'static LowercaseMap {
        self.lowercase
            .get_or_init(|| LowercaseMap::parse(self.line("lowercase").unwrap_or_default()))
    }
}

impl std::fmt::Debug for UnicodeTables {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "UnicodeTables({})", self.version())
    }
}

/// Sorted by character; `has_mapping[code / 256]` tells most characters apart without a search.
struct LowercaseMap {
    has_mapping: Vec<bool>,
    entries: Vec<(char, (char, Option<char>))>,
}

impl LowercaseMap {
    fn parse(line: &str) -> Self {
        let entries: Vec<_> = line.split(' ').filter_map(parse_lowercase).collect();
        let mut has_mapping = vec![false; (char::MAX as usize >> 8) + 1];
        for &(character, _) in &entries {
            has_mapping[character as usize >> 8] = true;
        }
        Self { has_mapping, entries }
    }

    fn get(&self, character: char) -> (char, Option<char>) {
        if !self.has_mapping[character as usize >> 8] {
            return (character, None);
        }
        let found = self.entries.binary_search_by_key(&character, |entry| entry.0);
        found.map_or((character, None), |index| self.entries[index].1)
    }
}

fn parse_lowercase(field: &str) -> Option<(char, (char, Option<char>))> {
    let (from, to) = field.split_once(':')?;
    let (first, second) =
        to.split_once('+').map_or((to, None), |(first, second)| (first, Some(second)));
    Some((parse_character(from)?, (parse_character(first)?, second.and_then(parse_character))))
}

fn parse_ranges(fields: &str) -> Vec<RangeInclusive<char>> {
    fields.split(' ').filter_map(parse_range).collect()
}

fn parse_range(field: &str) -> Option<RangeInclusive<char>> {
    let (first, last) = field.split_once('-').unwrap_or((field, field));
    Some(parse_character(first)?..=parse_character(last)?)
}

fn parse_character(hexadecimal: &str) -> Option<char> {
    u32::from_str_radix(hexadecimal, 16).ok().and_then(char::from_u32)
}

/// Sorts ranges and joins those that touch.
fn merged(mut ranges: Vec<RangeInclusive<char>>) -> Vec<RangeInclusive<char>> {
    ranges.sort_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<char>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= next_character(*last.end()) => {
                *last = *last.start()..=*range.end().max(last.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The character after this one; surrogates are not characters.
fn next_character(character: char) -> char {
    (character..=char::MAX).nth(1).unwrap_or(char::MAX)
}

/// A name as it is compared: lower case, without spaces, hyphens and underscores.
fn loose(name: &str) -> String {
    let kept = name.chars().filter(|character| !matches!(character, '_' | '-' | ' '));
    kept.map(|character| character.to_ascii_lowercase()).collect()
}

const LONG_CATEGORIES: [(&str, &str); 39] = [
    ("letter", "l"),
    ("casedletter", "lc"),
    ("uppercaseletter", "lu"),
    ("lowercaseletter", "ll"),
    ("titlecaseletter", "lt"),
    ("modifierletter", "lm"),
    ("otherletter", "lo"),
    ("mark", "m"),
    ("combiningmark", "m"),
    ("nonspacingmark", "mn"),
    ("spacingmark", "mc"),
    ("enclosingmark", "me"),
    ("number", "n"),
    ("decimalnumber", "nd"),
    ("letternumber", "nl"),
    ("othernumber", "no"),
    ("punctuation", "p"),
    ("connectorpunctuation", "pc"),
    ("dashpunctuation", "pd"),
    ("openpunctuation", "ps"),
    ("closepunctuation", "pe"),
    ("initialpunctuation", "pi"),
    ("finalpunctuation", "pf"),
    ("otherpunctuation", "po"),
    ("symbol", "s"),
    ("mathsymbol", "sm"),
    ("currencysymbol", "sc"),
    ("modifiersymbol", "sk"),
    ("othersymbol", "so"),
    ("separator", "z"),
    ("spaceseparator", "zs"),
    ("lineseparator", "zl"),
    ("paragraphseparator", "zp"),
    ("other", "c"),
    ("control", "cc"),
    ("format", "cf"),
    ("privateuse", "co"),
    ("unassigned", "cn"),
    ("punct", "p"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    fn published(name: &str) -> Vec<RangeInclusive<char>> {
        let hir = regex_syntax::parse(&format!(r"\p{{{name}}}")).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.into_kind() else {
            panic!("{name} is no class")
        };
        class.iter().map(|range| range.start()..=range.end()).collect()
    }

    #[test]
    fn properties_equal_those_of_regex_syntax() {
        let tables = UnicodeTables::latest();
        let names = "L Lu LC Letter Uppercase_Letter M N Nd P S Z C Cn Other Han sc=Greek Script=Latin White_Space \
                     Alphabetic Join_Control gc=Lo Any ASCII Assigned";
        for name in names.split(' ').filter(|name| !name.is_empty()) {
            assert!(tables.property(name) == Some(published(name)), "{name}");
        }
        assert_eq!(tables.property("Klingon"), None);
        assert_eq!(tables.property("é"), None);
        assert_eq!(tables.version(), "16.0.0");
    }

    #[test]
    fn lowercase_is_per_character() {
        let lower = |text: &str| -> String {
            text.chars()
                .flat_map(|character| UnicodeTables::latest().lowercase(character))
                .collect()
        };
        assert_eq!(lower("AZ[az É ΟΔΟΣ İ ẞ Ა 中"), "az[az é οδοσ i\u{307} ß ა 中");
    }
}
