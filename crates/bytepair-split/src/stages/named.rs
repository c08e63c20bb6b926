//! Stages that have names or come from files: the split patterns of published models, by name (`named.txt` has the
//! data), and the stages that cut a text at the mark that replaces its spaces, `▁` for most models.
//!
//! Patterns are facts about those models and unchanged in the data, except that some characters are written as numbers.
//! For models that use a row of Hugging Face's own cutters, `Digits` is `\p{N}` and `Punctuation` is `\p{P}` with the
//! ASCII symbols.
//! Left out: everything that a model does besides splitting (normalization, prefix spaces, added tokens), and Falcon's
//! stages, the last of which matches characters that represent bytes.
//!
//! Code that cuts raw texts recognizes the stages of marks by equality.
//!
//! Cost: a pass over the file, some ten kilobytes, for each call of [`named`].

use crate::stage::{Behaviour, Flavour, Pattern, Stage, Unmatched, escaped};

/// The entries, each after an empty line.
const NAMED: &str = include_str!("named.txt");

/// The column at which the pattern of a stage begins.
const PATTERN: usize = 5;

/// The stages of a named splitter; `None` if the name is not known.
///
/// [`names`] lists all names. Cost: some microseconds, in addition to that of [`Splitter::new`](crate::Splitter::new).
///
/// ```
/// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"I can't")?, [&b"I"[..], b" can", b"'t"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
pub fn named(name: &str) -> Option<Vec<Stage>> {
    let mut lines = NAMED.lines();
    let flavour = lines.find_map(|line| heading(line).filter(|heading| heading.0 == name))?.1;
    let mut stages: Vec<Stage> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (key, pattern) = line.split_at_checked(PATTERN)?;
        let pattern = pattern.replace('␠', " ").replace('␊', "\n").replace('␍', "\r");
        match (treatment(key.trim_end()), stages.last_mut()) {
            (Some((behaviour, invert)), _) => {
                let pattern = Pattern { source: pattern, flavour };
                stages.push(Stage { pattern, behaviour, invert });
            }
            (None, Some(stage)) => stage.pattern.source.push_str(&pattern),
            (None, None) => return None,
        }
    }
    Some(stages)
}

/// Every name that [`named`] knows, in the order of its file.
///
/// ```
/// assert!(bytepair_split::names().any(|name| name == "o200k"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.lines().filter_map(heading).map(|heading| heading.0)
}

/// The name and the flavour of an entry, if this is its first line.
fn heading(line: &'static str) -> Option<(&'static str, Flavour)> {
    let (name, flavour) = line.split_once(' ')?;
    match flavour {
        "Rust" => Some((name, Flavour::Rust)),
        "Oniguruma" => Some((name, Flavour::Oniguruma)),
        _ => None,
    }
}

/// What happens to the delimiters of a stage, and whether they are the text that its pattern does not match.
fn treatment(key: &str) -> Option<(Behaviour, bool)> {
    match key {
        "keep" => Some((Behaviour::Isolated, false)),
        "only" => Some((Behaviour::Removed, true)),
        "drop" => Some((Behaviour::Removed, false)),
        "next" => Some((Behaviour::MergedWithNext, false)),
        "prev" => Some((Behaviour::MergedWithPrevious, false)),
        _ => None,
    }
}

/// The stage in which each mark begins a piece, as `Metaspace` of Hugging Face cuts.
///
/// ```
/// use bytepair_split::{Splitter, each_begins, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(vec![each_begins('_')], &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"_a__b")?, [&b"_a"[..], b"_", b"_b"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
pub fn each_begins(mark: char) -> Stage {
    let mark = escaped(mark);
    marked_words(format!("{mark}?[^{mark}]+|{mark}"))
}

/// The stage in which the first of adjacent marks begins a piece, as files of SentencePiece are read.
///
/// The mark must be a character that patterns take literally.
///
/// ```
/// use bytepair_split::{Splitter, first_begins, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(vec![first_begins('_')], &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"_a__b")?, [&b"_a"[..], b"__b"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
pub fn first_begins(mark: char) -> Stage {
    marked_words(format!("{mark}*[^{mark}]+|{mark}+"))
}

fn marked_words(source: String) -> Stage {
    Stage::matches(Pattern { source, flavour: Flavour::Rust }, Unmatched::Keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use crate::unicode::UnicodeTables;

    #[test]
    fn every_line_of_the_file_belongs_to_an_entry() {
        let is_stage = |line: &&str| {
            line.get(..PATTERN).is_some_and(|key| treatment(key.trim_end()).is_some())
        };
        let n_stages: usize = names().map(|name| named(name).unwrap().len()).sum();
        assert_eq!(n_stages, NAMED.lines().filter(is_stage).count());
        assert!(names().all(|name| !named(name).unwrap().is_empty()));
    }

    #[test]
    fn characters_that_lines_cannot_hold_are_read() {
        let source =
            |name: &str, stage: usize| named(name).unwrap().swap_remove(stage).pattern.source;
        assert_eq!(source("gemma", 0), " ");
        assert!(source("deepseek-v3", 2).contains("[^\r\n\\p{L}"));
        assert!(names().all(|name| !source(name, 0).contains(['␠', '␊', '␍'])));
    }

    #[test]
    fn pieces_begin_with_marks() {
        let pieces = |stage| {
            let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
            let pieces = splitter.pieces("a▁▁b c▁".as_bytes()).unwrap().join(&b'|');
            String::from_utf8(pieces).unwrap()
        };
        assert_eq!(pieces(each_begins('▁')), "a|▁|▁b c|▁");
        assert_eq!(pieces(first_begins('▁')), "a|▁▁b c|▁");
    }
}
