//! JSON lines to documents: one text from each line, found by the keys that lead to it.
//!
//! A block of whole lines goes in; the texts come out one after the other, unescaped, with the problems of other lines. All
//! other values are skipped, but must be JSON, or one of the numbers that Python's `json` writes although JSON has no such
//! numbers (`NaN`, `Infinity`, `-Infinity`). As there, the last of equal keys counts; unlike there, a lone surrogate in the text
//! is an error, since UTF-8 has none. Left out: lists on the way to the text, and values that extend over several lines.
//!
//! Each byte is examined by the search for the end of its line, the UTF-8 check, and a parser (`serde_json`); only the text is
//! copied. A line with a number that only Python writes is parsed again, with other values in place of these numbers.

use std::fmt;
use std::iter::repeat_n;

use memchr::memchr;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The documents of a block of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The texts, one after the other.
    pub text: Vec<u8>,
    /// Where each text begins, and after the last one where it ends. A `null` is an empty text.
    pub offsets: Vec<usize>,
    /// The lines of the block, empty ones too.
    pub n_lines: u64,
    /// How many of the texts are `null`.
    pub n_null: u64,
    /// The lines without a text, in order.
    pub bad: Vec<BadLine>,
}

/// A line that holds no document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLine {
    /// Its place in the block, from 0.
    pub line: u64,
    /// Where it begins, in bytes of the block.
    pub offset: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The documents of a block of lines, where `keys` lead from the object of a line to its text.
///
/// Lines of white space are no documents.
///
/// ```
/// let lines = b"{\"text\": \"one\\n\", \"id\": 1}\n{\"text\": null}\n{\"id\": 3}\n";
/// let documents = bytepair::documents::jsonl::read(lines, &["text"]);
/// assert_eq!((documents.text.as_slice(), documents.offsets), (b"one\n".as_slice(), vec![0, 4, 4]));
/// assert_eq!((documents.n_null, documents.bad[0].line), (1, 2));
/// ```
pub fn read<K: AsRef<str>>(block: &[u8], keys: &[K]) -> Documents {
    read_into(block, keys, Vec::new())
}

/// Reads a block as [`read`] does, into memory that is given.
pub fn read_into<K: AsRef<str>>(block: &[u8], keys: &[K], mut text: Vec<u8>) -> Documents {
    text.clear();
    text.reserve(block.len());
    let mut documents = Documents { text, offsets: vec![0], ..Documents::default() };
    let mut offset = 0;
    while offset < block.len() {
        let rest = &block[offset..];
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        if let Err(problem) = read_line(&rest[..len], keys, &mut documents) {
            documents.text.truncate(documents.offsets.last().copied().unwrap_or(0));
            documents.bad.push(BadLine { line: documents.n_lines, offset, problem });
        }
        documents.n_lines += 1;
        offset += len + 1;
    }
    documents
}

/// Appends the document of a line, if it has one.
fn read_line<K: AsRef<str>>(
    line: &[u8],
    keys: &[K],
    documents: &mut Documents,
) -> Result<(), String> {
    let line = simdutf8::compat::from_utf8(line)
        .map_err(|error| format!("not UTF-8 at byte {} of the line", error.valid_up_to()))?;
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    if line.starts_with('\u{feff}') {
        return Err(
            "a byte order mark at the beginning of the line, which is not the first one of a file"
                .to_owned(),
        );
    }
    let found = match find(line, keys, &mut documents.text) {
        Ok(found) => found,
        Err(error) => {
            find_beside_non_numbers(line, keys, &mut documents.text).unwrap_or(Err(error))?
        }
    };
    match found {
        Found::Text => {}
        Found::Null => documents.n_null += 1,
        Found::Nothing => return Err(format!("no field {}", named(keys))),
        Found::Other(kind) => {
            return Err(format!("the field {} is {kind}, not a string", named(keys)));
        }
    }
    documents.offsets.push(documents.text.len());
    Ok(())
}

/// Appends the text that `keys` lead to in a line of JSON, or says what lies there, or why the line is no JSON.
fn find<K: AsRef<str>>(line: &str, keys: &[K], text: &mut Vec<u8>) -> Result<Found, String> {
    let start = text.len();
    let mut found = Found::Nothing;
    let mut parser = serde_json::Deserializer::from_str(line);
    let search = Search { keys, text: &mut *text, start, found: &mut found };
    let result = search.deserialize(&mut parser).and_then(|()| parser.end());
    if result.is_err() {
        text.truncate(start);
    }
    result.map(|()| found).map_err(|error| problem(&error))
}

/// As [`find`], for a line with numbers that Python writes and JSON does not have; `None` if it has none.
fn find_beside_non_numbers<K: AsRef<str>>(
    line: &str,
    keys: &[K],
    text: &mut Vec<u8>,
) -> Option<Result<Found, String>> {
    let found = find(&in_place_of_non_numbers(line, ["0", "0", "0"])?, keys, text);
    if !matches!(found, Ok(Found::Other("a number"))) {
        return Some(found);
    }
    // A number is one of them if it becomes another kind of value when only these are replaced by it.
    let kinds = in_place_of_non_numbers(line, ["[]", "{}", "true"])?;
    let name = match find(&kinds, keys, text) {
        Ok(Found::Other("a list")) => NON_NUMBERS[0],
        Ok(Found::Other("an object")) => NON_NUMBERS[1],
        Ok(Found::Other("true or false")) => NON_NUMBERS[2],
        _ => "a number",
    };
    Some(Ok(Found::Other(name)))
}

/// How Python's `json` writes floats that are no finite number.
const NON_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The line with a value for each of [`NON_NUMBERS`] where a value stands, padded so that all places stay; `None` without any.
fn in_place_of_non_numbers(line: &str, values: [&str; 3]) -> Option<String> {
    let mut replaced = String::with_capacity(line.len());
    let mut rest = line;
    let mut is_value_next = true;
    let mut has_any = false;
    while let Some(character) = rest.chars().next() {
        let word = NON_NUMBERS.iter().position(|word| is_value_next && rest.starts_with(word));
        let len = match (character, word) {
            (_, Some(place)) => {
                let len = NON_NUMBERS[place].len();
                replaced.push_str(values[place]);
                replaced.extend(repeat_n(' ', len - values[place].len()));
                has_any = true;
                len
            }
            ('"', None) => string_len(rest),
            _ => character.len_utf8(),
        };
        if word.is_none() {
            replaced.push_str(&rest[..len]);
        }
        is_value_next = matches!(character, '[' | ':' | ',')
            || is_value_next && word.is_none() && character.is_ascii_whitespace();
        rest = &rest[len..];
    }
    has_any.then_some(replaced)
}

/// The length of the string that `text` begins with, quotes included.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return place + 1,
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    text.len()
}

/// What is wrong with a line, without the line number of the parser, which sees one line alone.
fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let reason = match message.split(" at line ").next().unwrap_or_default() {
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            r"a lone surrogate (\ud800 to \udfff), half of a character, which UTF-8 cannot hold,"
        }
        reason => reason,
    };
    format!("{reason} at byte {} of the line", error.column())
}

fn named<K: AsRef<str>>(keys: &[K]) -> String {
    keys.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(".")
}

/// What lies where the keys lead.
enum Found {
    Nothing,
    Text,
    Null,
    Other(&'static str),
}

/// Goes through a value and keeps the text that `keys` lead to.
struct Search<'s, K> {
    keys: &'s [K],
    text: &'s mut Vec<u8>,
    /// Where the text of this line begins.
    start: usize,
    found: &'s mut Found,
}

impl<K: AsRef<str>> Search<'_, K> {
    /// Notes a value that has no keys; only where no key is left to follow is it what was looked for.
    fn note(self, found: Found) {
        *self.found = match (self.keys.is_empty(), found) {
            (true, found) => found,
            (false, _) => Found::Nothing,
        };
    }

    fn take(self, text: &str) {
        if self.keys.is_empty() {
            self.text.extend_from_slice(text.as_bytes());
        }
        self.note(Found::Text);
    }
}

impl<'de, K: AsRef<str>> DeserializeSeed<'de> for Search<'_, K> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, K: AsRef<str>> Visitor<'de> for Search<'_, K> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.take(text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.note(Found::Null);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.note(Found::Other("true or false"));
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.note(Found::Other("a number"));
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.note(Found::Other("a number"));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.note(Found::Other("a number"));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.note(Found::Other("a list"));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((key, keys)) = self.keys.split_first() else {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            self.note(Found::Other("an object"));
            return Ok(());
        };
        *self.found = Found::Nothing;
        while let Some(is_wanted) = entries.next_key_seed(IsKey(key.as_ref()))? {
            if !is_wanted {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            self.text.truncate(self.start); // of an equal key before
            *self.found = Found::Nothing;
            let (text, start, found) = (&mut *self.text, self.start, &mut *self.found);
            entries.next_value_seed(Search { keys, text, start, found })?;
        }
        Ok(())
    }
}

/// Compares a key without a copy of it.
struct IsKey<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for IsKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsKey<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(documents: &Documents) -> Vec<&str> {
        let ends = documents.offsets.windows(2);
        ends.map(|ends| std::str::from_utf8(&documents.text[ends[0]..ends[1]]).unwrap()).collect()
    }

    fn problem_of(line: &str, keys: &[&str]) -> String {
        let documents = read(line.as_bytes(), keys);
        assert_eq!((documents.offsets.len(), documents.bad.len()), (1, 1), "{line}");
        documents.bad[0].problem.clone()
    }

    /// The definition: the whole line as a value, and its keys looked up.
    fn naive(line: &str, keys: &[&str]) -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let found = keys.iter().try_fold(&value, |value, key| value.get(key))?;
        if found.is_null() { Some(String::new()) } else { found.as_str().map(str::to_owned) }
    }

    /// Any value.
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::hash_map("[a-c\"\\\\é]{0,2}", inner, 0..4)
                    .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_of_any_shape_are_passed_over(
            value in json(),
            text: String,
            is_ascii: bool,
            cut in 0..400_usize,
        ) {
            let line = serde_json::json!({"o": value, "a": text, "z": value}).to_string();
            let escape = |letter: char| {
                let units = letter.encode_utf16(&mut [0; 2]).to_vec();
                let escaped = units.iter().map(|unit| format!("\\u{unit:04X}"));
                if letter.is_ascii() { letter.to_string() } else { escaped.reduce(|all, unit| all + &unit).unwrap_or_default() }
            };
            let line = if is_ascii { line.chars().map(escape).collect() } else { line };
            let documents = read(line.as_bytes(), &["a"]);
            prop_assert_eq!(texts(&documents), [text]);
            prop_assert!(documents.bad.is_empty());
            let head: String = line.chars().take(cut).collect();
            let documents = read(head.as_bytes(), &["a"]);
            let found = texts(&documents).first().map(|&text| text.to_owned());
            prop_assert_eq!(found, naive(&head, &["a"]), "{}", head);
            prop_assert_eq!(documents.bad.is_empty(), head.is_empty() || head == line);
        }

        #[test]
        fn lines_of_json_and_not_quite_json_are_read_as_by_the_definition(
            line in r#"\{("(a|b)": ?("x\\n?"|null|1|\[\]|\{"(a|b)": "y"\}|\{\}),? ?){0,4}\}"#
        ) {
            for keys in [&["a"][..], &["a", "b"]] {
                let documents = read(line.as_bytes(), keys);
                let found = texts(&documents).first().map(|&text| text.to_owned());
                prop_assert_eq!(found, naive(&line, keys), "{}", line);
                prop_assert_eq!(documents.bad.len() + documents.offsets.len(), 2);
            }
        }
    }

    #[test]
    fn keys_lead_into_objects_and_the_last_of_equal_ones_counts() {
        let line = br#"{"a": {"b": "old"}, "c": 1, "a": {"b": "new", "b": "newest"}}"#;
        assert_eq!(texts(&read(line, &["a", "b"])), ["newest"]);
        assert_eq!(problem_of(r#"{"a": {"b": "old"}, "a": {}}"#, &["a", "b"]), "no field a.b");
    }

    #[test]
    fn a_bad_line_is_told_by_its_place_and_takes_no_other_with_it() {
        let block = b"{\"t\": \"one\"}\r\n\n{\"t\": \"half\n{\"t\": \"two\"}";
        let documents = read(block, &["t"]);
        assert_eq!(texts(&documents), ["one", "two"]);
        assert_eq!(documents.n_lines, 4);
        let BadLine { line, offset, problem } = &documents.bad[0];
        assert_eq!((*line, &block[*offset..*offset + 5]), (2, b"{\"t\":".as_slice()));
        assert!(problem.starts_with("EOF while parsing a string at byte"), "{problem}");
    }

    #[test]
    fn numbers_that_only_python_writes_may_stand_in_other_fields() {
        for word in NON_NUMBERS {
            for line in [
                format!(r#"{{"x": {word}, "t": "low"}}"#),
                format!(r#"{{"t":"low","x":[{word},{{"t":{word}}}]}}"#),
                format!(
                    "{{\"x\\u0041\": {word} , \"t\": \"old\", \"t\": \"low\", \"\\\"\":\t{word}}}"
                ),
            ] {
                assert_eq!(texts(&read(line.as_bytes(), &["t"])), ["low"], "{line}");
            }
            let text = format!(r#"{{"x": {word}, "t": ": {word}, \": {word}"}}"#);
            let expected = format!(": {word}, \": {word}");
            assert_eq!(texts(&read(text.as_bytes(), &["t"])), [expected]);
            let told = format!("the field t is {word}, not a string");
            assert_eq!(problem_of(&format!(r#"{{"t": {word}}}"#), &["t"]), told);
            let number = format!(r#"{{"t": 1, "x": {word}}}"#);
            assert_eq!(problem_of(&number, &["t"]), "the field t is a number, not a string");
            for broken in ["1{}", "{}1", "-{}", "{}{}", "[{}", "{} {}", "x{}"] {
                let line = format!(r#"{{"x": {}, "t": "low"}}"#, broken.replace("{}", word));
                let documents = read(line.as_bytes(), &["t"]);
                let is_number = broken == "-{}" && word == "Infinity";
                assert_eq!(documents.bad.len(), usize::from(!is_number), "{line}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert_eq!(problem_of(r#"{"t": 1}"#, &["t"]), "the field t is a number, not a string");
        assert_eq!(problem_of(r#"{"t": ["x"]}"#, &["t"]), "the field t is a list, not a string");
        assert_eq!(problem_of(r#"["x"]"#, &["t"]), "no field t");
        assert!(problem_of(r#"{"t": "\ud800"}"#, &["t"]).contains("lone surrogate"));
        assert!(problem_of(r#"{"t": "x"} {"#, &["t"]).contains("trailing"));
        assert!(problem_of("\u{feff}{\"t\": \"x\"}", &["t"]).contains("byte order mark"));
        let not_utf8 = read(b"{\"t\": \"\xff\"}", &["t"]);
        assert_eq!(not_utf8.bad[0].problem, "not UTF-8 at byte 7 of the line");
    }
}
