//! Files of merges: a pair of tokens on each line, as they are written, the earliest merge first.
//!
//! What the names mean is their format's business. Linear in the file; whether merges are missing takes the square of
//! the length of a token, up to a limit.

use std::collections::HashSet;

use super::json;
use bytepair::{Error, Result};

/// Tokens that are longer, in bytes, are not looked through for the two that would make them: that takes the
/// square of their length.
const MAX_CHECKED_LEN: usize = 256;

/// A merge, and the number of its line.
pub(super) struct NumberedMerge<'f> {
    pub(super) line: usize,
    pub(super) left: &'f str,
    pub(super) right: &'f str,
}

/// The merges of a `merges.txt`. Only the first line may be a header: `#` is also a token. Empty lines are none.
pub(super) fn numbered_merges<'f>(
    format: &'static str,
    file: &'f [u8],
) -> Result<Vec<NumberedMerge<'f>>> {
    let is_merge = |(line, text): &(usize, &str)| {
        let is_header = *line == 1 && text.starts_with("#version");
        !is_header && !matches!(*text, "" | "\r")
    };
    lines(format, "merges.txt", file)?
        .filter(is_merge)
        .map(|line| merge(format, "merges.txt", line))
        .collect()
}

/// What stands before the name of a split pattern in the first line of a `merges.txt`.
pub(super) const PATTERN_NAME: &str = " - pattern: ";

/// The split pattern that the first line of a `merges.txt` names, which we write there.
pub(super) fn named_pattern(file: &[u8]) -> Option<&str> {
    let line = file.split(|&byte| byte == b'\n').next()?;
    let (version, name) = std::str::from_utf8(line).ok()?.split_once(PATTERN_NAME)?;
    version.starts_with("#version").then_some(name.trim_end())
}

/// The first `n_merges` merges of a file as GPT-1 and CLIP are published. The first line may be a header; no line may
/// be empty.
pub(super) fn merge_lines<'f>(
    format: &'static str,
    part: &str,
    file: &'f [u8],
    n_merges: usize,
) -> Result<Vec<NumberedMerge<'f>>> {
    let is_merge = |(line, text): &(usize, &str)| *line > 1 || !text.contains("#version");
    let lines = lines(format, part, file)?.filter(is_merge).take(n_merges);
    lines.map(|line| merge(format, part, line)).collect()
}

/// The names of the two tokens of each merge.
pub(super) fn pairs<'f>(merges: &[NumberedMerge<'f>]) -> Vec<[&'f str; 2]> {
    merges.iter().map(|merge| [merge.left, merge.right]).collect()
}

fn lines<'f>(
    format: &'static str,
    part: &str,
    file: &'f [u8],
) -> Result<impl Iterator<Item = (usize, &'f str)> + use<'f>> {
    let text = std::str::from_utf8(file).map_err(|_| Error::format(format, part, "not UTF-8"))?;
    Ok((1..).zip(text.split_terminator('\n')))
}

fn merge<'f>(
    format: &'static str,
    part: &str,
    (line, text): (usize, &'f str),
) -> Result<NumberedMerge<'f>> {
    let names = json::two_parts(text.strip_suffix('\r').unwrap_or(text));
    let problem =
        || Error::format(format, format!("line {line} of {part}"), "not two tokens and a space");
    let (left, right) = names.ok_or_else(problem)?;
    Ok(NumberedMerge { line, left, right })
}

/// Refuses names that two others make but no merge does: `merges.txt` was cut off. Names in brackets may be
/// special, and a name that no two tokens make was put there by hand; so were those that `is_listed`. Names may end
/// in a mark, within which none is cut.
pub(super) fn check_made<'v>(
    format: &'static str,
    names: impl Iterator<Item = &'v str>,
    merges: &[NumberedMerge<'_>],
    suffix: &str,
    is_listed: impl Fn(&str) -> bool,
) -> Result<()> {
    let names: Vec<&str> = names.collect();
    let known: HashSet<&str> = names.iter().copied().collect();
    let made: HashSet<String> =
        merges.iter().map(|merge| [merge.left, merge.right].concat()).collect();
    let lacks_merge = |name: &str| {
        let in_brackets = |(open, close)| name.starts_with(open) && name.ends_with(close);
        let end = name.strip_suffix(suffix).unwrap_or(name).len();
        let is_two = |(cut, _)| {
            let (left, right) = name.split_at(cut);
            cut < end && known.contains(left) && known.contains(right)
        };
        !made.contains(name)
            && !is_listed(name)
            && name.len() <= MAX_CHECKED_LEN
            && ![('<', '>'), ('[', ']')].into_iter().any(in_brackets)
            && name.char_indices().skip(1).any(is_two)
    };
    match names.into_iter().find(|name| lacks_merge(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("no merge makes the token {name:?}: was the file cut off?");
            Err(Error::format(format, "merges.txt", problem))
        }
    }
}
