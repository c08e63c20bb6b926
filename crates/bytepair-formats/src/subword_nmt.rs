//! Codes of subword-nmt, versions 0.1 and 0.2, and the vocabularies that go with them.
//!
//! A line is a merge: two symbols and a space between them. Version 0.2 says so in its first line and joins
//! the end mark `</w>` to the last character; in 0.1, which may say nothing, it is a symbol of its own. A
//! vocabulary is a line for each token: the token, a space or a tabulator, and how often it occurs. Left out:
//! the third version of another program (`v3;…`), which is refused. Linear in the file.

use super::codes::{Codes, Undone, text};
use super::merges::NumberedMerge;
use super::quoted;
use bytepair::Tokenizer;
use bytepair::units::EndMarkKind;
use bytepair::{Error, Result};

/// The name of the format in messages.
const FORMAT: &str = "subword-nmt codes";

/// The name of a vocabulary in messages.
const VOCABULARY: &str = "subword-nmt vocabulary";

/// The codes of a file, or the first `n_merges` of them.
///
/// ```
/// use bytepair_formats::subword_nmt;
///
/// let codes = subword_nmt::read(b"#version: 0.2\nl o\nlo w</w>\n", None)?;
/// let tokenizer = codes.tokenizer()?;
/// assert_eq!(tokenizer.tokenize(b"low lox", Default::default())?, [&b"low</w>"[..], b"lo", b"x</w>"]);
/// # Ok::<(), bytepair::Error>(())
/// ```
///
/// # Errors
/// Where the version is not known, or a line is not two symbols.
pub fn read(file: &[u8], n_merges: Option<usize>) -> Result<Codes> {
    let text = text(FORMAT, file)?;
    let (end_mark, n_header_lines) = version(text.lines().next().unwrap_or(""))?;
    let mut pairs = Vec::new();
    let lines = text.trim_end_matches('\n').split('\n').enumerate().skip(n_header_lines);
    for (place, line) in lines.take(n_merges.unwrap_or(usize::MAX)) {
        let line = line.trim_matches(['\r', '\n', ' ']);
        let symbols = line.split_once(' ').filter(|(_, right)| !right.contains(' '));
        let (left, right) = symbols.ok_or_else(|| {
            let problem = format!("{} is not two symbols and a space", quoted(line.as_bytes()));
            Error::format(FORMAT, format!("line {}", place + 1), problem)
        })?;
        pairs.push(NumberedMerge { line: place + 1, left, right });
    }
    Codes::new(FORMAT, pairs, end_mark, Undone::First)
}

/// The file of a tokenizer: version 0.2 where the end mark is a suffix, 0.1 where it is a unit.
///
/// What is kept is how words are cut apart; ids are no part of codes.
///
/// # Errors
/// Where the tokenizer does anything but merge the characters of words; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let codes = Codes::of(FORMAT, tokenizer, Undone::First)?;
    let version = if codes.end_mark == EndMarkKind::Suffix { "0.2" } else { "0.1" };
    let mut file = format!("#version: {version}\n");
    for (left, right) in &codes.merges {
        file.extend([left, " ", right, "\n"]);
    }
    Ok(file.into_bytes())
}

/// The tokens of a vocabulary that occur at least `threshold` times, in the order of the file.
///
/// # Errors
/// Where a line is not a token and a number.
pub fn read_vocabulary(file: &[u8], threshold: Option<i64>) -> Result<Vec<String>> {
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text(VOCABULARY, file)?.lines()) {
        let line = line.trim_matches(['\r', '\n', ' ']);
        let fields = line.split_once([' ', '\t']);
        let count = fields.and_then(|(_, count)| count.parse::<i64>().ok());
        let Some(((token, _), count)) = fields.zip(count) else {
            let problem = format!("{} is not a token and a number", quoted(line.as_bytes()));
            return Err(Error::format(VOCABULARY, format!("line {number}"), problem));
        };
        if threshold.is_none_or(|threshold| count >= threshold) {
            tokens.push(token.to_owned());
        }
    }
    Ok(tokens)
}

/// What the first line says, and whether it is a line of its own.
fn version(line: &str) -> Result<(EndMarkKind, usize)> {
    if line.starts_with("v3;") {
        let problem = "codes of OpenNMT's learner are not supported, only those of subword-nmt";
        return Err(Error::format(FORMAT, "the header", problem));
    }
    let Some(version) = line.strip_prefix("#version:") else { return Ok((EndMarkKind::Unit, 0)) };
    let mut version = version.split_whitespace().next_back().unwrap_or("");
    while let Some(shorter) = version.trim_end_matches('0').strip_suffix('.') {
        version = shorter;
    }
    match version {
        "0.1" => Ok((EndMarkKind::Unit, 1)),
        "0.2" => Ok((EndMarkKind::Suffix, 1)),
        _ => {
            let problem = format!("{version:?} is not one of the versions 0.1 and 0.2");
            Err(Error::format(FORMAT, "#version", problem))
        }
    }
}
