//! Character sets and lower-case mappings of one version of Unicode, as data.
//!
//! The tables are part of a tokenizer's meaning: two libraries with different versions of Unicode split some texts
//! differently. So they are text in this repository (`unicode/16.0.0.txt`, made by `examples/generate_unicode.rs`, whose
//! first lines explain its format), and a value that is passed to the code that compiles patterns. A newer version is a
//! new file and never changes an old one.
//!
//! A library may use several versions at once. `unicode/huggingface-0.23.txt` lists how the normalizers and cutters of
//! Hugging Face `tokenizers` 0.23 differ from 16.0.0: see `docs/explanation/unicode.md`.
//!
//! Left out: property aliases other than the long names of general categories, script extensions, upper case,
//! normalization.
//!
//! Cost: properties and lower-case mappings are parsed once per process, when they are first needed (a millisecond at
//! most), and kept. All together they take about a megabyte.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::bits::Bits;

const UNICODE_16_0_0: &str = include_str!("../unicode/16.0.0.txt");
const HUGGING_FACE_0_23: &str = include_str!("../unicode/huggingface-0.23.txt");

/// The long names of general categories, with their short names.
const LONG_CATEGORIES: &str = include_str!("../unicode/long_categories.txt");

/// The prefix of the names of script lines.
const SCRIPT: &str = "Script=";

/// The character sets and lower-case mappings of one version of Unicode. Cheap to copy.
///
/// ```
/// let tables = bytepair_split::unicode::UnicodeTables::latest();
/// let digits = tables.property("Nd").unwrap();
/// assert_eq!(digits[0], '0'..='9');
/// assert_eq!(tables.lowercase('É').collect::<String>(), "é");
/// ```
#[derive(Clone, Copy)]
pub struct UnicodeTables {
    text: &'static str,
    /// How a library differs from `text`; empty for a version of Unicode itself.
    changes: &'static str,
    parsed: &'static ParsedTables,
}

/// Tables that are parsed once per process.
struct ParsedTables {
    lowercase: OnceLock<LowercaseMap>,
    classes: [OnceLock<Bits>; 6],
    /// By loose name. Only known names are kept, so their number is bounded.
    properties: Mutex<BTreeMap<String, Vec<RangeInclusive<char>>>>,
}

impl ParsedTables {
    const fn new() -> Self {
        Self {
            lowercase: OnceLock::new(),
            classes: [const { OnceLock::new() }; 6],
            properties: Mutex::new(BTreeMap::new()),
        }
    }
}

/// Characters that the normalizers and cutters of published libraries distinguish. Each class was compared with the
/// library on every code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextClass {
    /// Every assigned character; the normalization forms know no other ones.
    Assigned,
    /// Marks of every kind.
    Mark,
    /// Marks that take no space of their own.
    NonspacingMark,
    /// Controls, format characters and private-use characters.
    Other,
    /// Punctuation.
    Punctuation,
    /// Numbers of every kind.
    Numeric,
}

impl TextClass {
    /// The name in the data, and the categories that make up the class.
    fn row(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Assigned => ("Assigned", &["Assigned"]),
            Self::Mark => ("Mark", &["M"]),
            Self::NonspacingMark => ("NonspacingMark", &["Mn"]),
            Self::Other => ("Other", &["Cc", "Cf", "Co"]),
            Self::Punctuation => ("Punctuation", &["P"]),
            Self::Numeric => ("Numeric", &["N"]),
        }
    }
}

/// ASCII characters that count as punctuation in addition to those of the general category.
const ASCII_SYMBOLS: &str = r"\$\+<=>\^`\|~";

/// The characters of a class in Hugging Face `tokenizers` 0.23 as a pattern: one pair of brackets that matches one
/// character, in both flavours. `Punctuation` includes ASCII symbols, as in the cutters.
///
/// The libraries in it follow other versions of Unicode than the engines of patterns do (16.0.0). So the pattern names the
/// property of 16.0.0 and the differences from it.
///
/// ```
/// use bytepair_split::unicode::{TextClass, published_class};
///
/// assert!(published_class(TextClass::Numeric).starts_with(r"[\p{N}"));
/// ```
pub fn published_class(class: TextClass) -> String {
    let (mut added, mut removed) = (String::new(), String::new());
    if class == TextClass::Punctuation {
        added.push_str(ASCII_SYMBOLS);
    }
    for word in UnicodeTables::hugging_face().changes(class).split(' ') {
        let place = if word.starts_with('+') { &mut added } else { &mut removed };
        let ends = word.get(1..).unwrap_or_default().split('-');
        let escapes: Vec<_> = ends.map(|end| format!(r"\x{{{end}}}")).collect();
        place.push_str(&escapes.join("-"));
    }
    let base: Vec<_> = class.row().1.iter().map(|name| format!(r"\p{{{name}}}")).collect();
    let base = base.concat();
    match removed.is_empty() {
        true => format!("[{base}{added}]"),
        false => format!("[{base}{added}&&[^{removed}]]"),
    }
}

impl UnicodeTables {
    /// The newest version in this crate.
    pub fn latest() -> Self {
        static PARSED: ParsedTables = ParsedTables::new();
        Self { text: UNICODE_16_0_0, changes: "", parsed: &PARSED }
    }

    /// The tables of Hugging Face `tokenizers` 0.23. Classes of patterns are those of [`Self::latest`]; the normalizers
    /// and cutters have those of other versions.
    pub fn hugging_face() -> Self {
        static PARSED: ParsedTables = ParsedTables::new();
        Self { text: UNICODE_16_0_0, changes: HUGGING_FACE_0_23, parsed: &PARSED }
    }

    /// The tables with this [`Self::version`]; `None` if this crate does not have them.
    pub fn of_version(name: &str) -> Option<Self> {
        [Self::latest(), Self::hugging_face()].into_iter().find(|tables| tables.version() == name)
    }

    /// The version of Unicode, such as `16.0.0`, or the library that the tables follow: `huggingface-0.23`.
    pub fn version(&self) -> &'static str {
        let own = line_of(self.changes, "version");
        own.or_else(|| line_of(self.text, "version")).unwrap_or_default()
    }

    /// Whether a character belongs to a class.
    pub fn is_in(&self, class: TextClass, character: char) -> bool {
        let set = self.parsed.classes[class as usize].get_or_init(|| {
            let mut set = Bits::default();
            self.class(class).into_iter().flatten().for_each(|other| set.insert(other as usize));
            set
        });
        set.contains(character as usize)
    }

    /// The characters of a class, as ascending ranges.
    pub fn class(&self, class: TextClass) -> Vec<RangeInclusive<char>> {
        let names = class.row().1.iter().filter_map(|name| self.property(name));
        let base: Vec<_> = names.flatten().collect();
        changed(&base, self.changes(class))
    }

    /// What a library adds to a class of 16.0.0 (`+FIRST-LAST`) and what it removes (`-FIRST-LAST`).
    fn changes(&self, class: TextClass) -> &'static str {
        line_of(self.changes, class.row().0).unwrap_or_default()
    }

    /// The characters that have a property, as ascending ranges; `None` if the name is not known.
    ///
    /// Known names are general categories (`Lu`, `L`, `Uppercase_Letter`, `gc=Lu`), scripts (`Han`, `sc=Han`,
    /// `Script=Han`), `White_Space`, `Join_Control`, `Alphabetic`, `Any`, `ASCII` and `Assigned`. Case, spaces, hyphens
    /// and underscores in a name do not matter.
    pub fn property(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        let name = loose(name);
        let known = || self.parsed.properties.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ranges) = known().get(&name) {
            return Some(ranges.clone());
        }
        let ranges = self.parsed_property(&name)?;
        known().insert(name, ranges.clone());
        Some(ranges)
    }

    /// Reads a property from the text, by its loose name.
    fn parsed_property(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        match name.split_once('=') {
            Some(("gc" | "generalcategory", value)) => self.category(value),
            Some(("sc" | "script", value)) => self.script(value),
            Some(_) => None,
            None => self.category(name).or_else(|| self.binary(name)).or_else(|| self.script(name)),
        }
    }

    /// Every script with its characters, as ascending ranges, which may be empty. A character has one script at most.
    ///
    /// These are the scripts of the cutter `UnicodeScripts`. The differences of a library apply to it alone: `\p{Latin}`
    /// in a pattern is that of 16.0.0 in every table.
    pub fn scripts(&self) -> Vec<(&'static str, Vec<RangeInclusive<char>>)> {
        let lines = self.text.lines().filter(|line| line.starts_with(SCRIPT));
        let rows = lines.filter_map(|line| line.split_once(' '));
        let scripts = rows.map(|(name, ranges)| {
            let changes = line_of(self.changes, name).unwrap_or_default();
            (name.trim_start_matches(SCRIPT), changed(&parse_ranges(ranges), changes))
        });
        scripts.collect()
    }

    /// The lower case of one character, whatever surrounds it. Most mappings are one character; that of `İ` is two.
    pub fn lowercase(&self, character: char) -> impl Iterator<Item = char> + use<> {
        let (first, second) = match character {
            'A'..='Z' => (character.to_ascii_lowercase(), None),
            '\0'..='\x7f' => (character, None),
            _ => self.lowercase_map().get(character),
        };
        std::iter::once(first).chain(second)
    }

    fn category(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        let short = line_of(LONG_CATEGORIES, name).unwrap_or(name);
        if !short.is_ascii() {
            return None;
        }
        match short {
            "lc" | "l&" => {
                let lines = ["Lu", "Ll", "Lt"].iter().filter_map(|name| self.line_ranges(name));
                Some(merged(lines.flatten().collect()))
            }
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
            "assigned" => self.assigned(),
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

    fn assigned(&self) -> Option<Vec<RangeInclusive<char>>> {
        let mut assigned = class_of(&self.line_ranges("Cn")?);
        assigned.negate();
        Some(ranges_of(&assigned))
    }

    fn line_ranges(&self, name: &str) -> Option<Vec<RangeInclusive<char>>> {
        line_of(self.text, name).map(parse_ranges)
    }

    fn lowercase_map(&self) -> &'static LowercaseMap {
        self.parsed.lowercase.get_or_init(|| {
            let lines = [self.text, self.changes].map(|text| line_of(text, "lowercase"));
            LowercaseMap::parse(lines.into_iter().flatten())
        })
    }
}

impl std::fmt::Debug for UnicodeTables {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "UnicodeTables({})", self.version())
    }
}

/// Most characters are recognized as unmapped by one bit, without a search.
struct LowercaseMap {
    mapped: Bits,
    entries: BTreeMap<char, (char, Option<char>)>,
}

impl LowercaseMap {
    fn parse<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let words = lines.flat_map(|line| line.split(' '));
        let entries: BTreeMap<_, _> = words.filter_map(parse_lowercase).collect();
        let mut mapped = Bits::default();
        entries.keys().for_each(|&character| mapped.insert(character as usize));
        Self { mapped, entries }
    }

    fn get(&self, character: char) -> (char, Option<char>) {
        let entry = || self.entries.get(&character).copied();
        let found = self.mapped.contains(character as usize).then(entry).flatten();
        found.unwrap_or((character, None))
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

fn line_of(text: &'static str, name: &str) -> Option<&'static str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, rest)| rest)
}

/// Applies the differences of a library to a set: `+FIRST-LAST` and `-FIRST-LAST`.
fn changed(base: &[RangeInclusive<char>], changes: &str) -> Vec<RangeInclusive<char>> {
    let set = |sign: char| {
        let words =
            changes.split(' ').filter_map(move |word| parse_range(word.strip_prefix(sign)?));
        class_of(&words.collect::<Vec<_>>())
    };
    let mut kept = class_of(base);
    kept.union(&set('+'));
    kept.difference(&set('-'));
    ranges_of(&kept)
}

pub(crate) fn class_of(ranges: &[RangeInclusive<char>]) -> ClassUnicode {
    let ranges = ranges.iter().map(|range| ClassUnicodeRange::new(*range.start(), *range.end()));
    ClassUnicode::new(ranges)
}

fn ranges_of(set: &ClassUnicode) -> Vec<RangeInclusive<char>> {
    merged(set.iter().map(|range| range.start()..=range.end()).collect())
}

/// Sorts ranges and joins those that touch.
pub fn merged(mut ranges: Vec<RangeInclusive<char>>) -> Vec<RangeInclusive<char>> {
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

/// A name in the form that is compared: lower case, without spaces, hyphens and underscores.
fn loose(name: &str) -> String {
    let kept = name.chars().filter(|character| !matches!(character, '_' | '-' | ' '));
    kept.map(|character| character.to_ascii_lowercase()).collect()
}

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
