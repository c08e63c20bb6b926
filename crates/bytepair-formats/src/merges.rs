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

/// A line of `merges.txt`: its number, and the names of two tokens.
pub(super) type NumberedMerge<'f> = (usize, &'f str, &'f str);

/// The merges of a `merges.txt`. Only the first line may be a header: `#` is also a token.
pub(super) fn numbered_merges<'f>(
    format: &'static str,
    file: &'f [u8],
) -> Result<Vec<NumberedMerge<'f>>> {
    let not_utf8 = |_| Error::format(format, "merges.txt", "not UTF-8");
    let text = std::str::from_utf8(file).map_err(not_utf8)?;
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let lines = (1..).zip(lines).filter(|(number, line)| {
        let is_header = *number == 1 && line.starts_with("#version");
        !line.is_empty() && !is_header
    });
    let merge = |(number, line)| {
        let problem = || {
            let part = format!("line {number} of merges.txt");
            Error::format(format, part, "not two tokens and a space")
        };
        let (left, right) = json::two_parts(line).ok_or_else(problem)?;
        Ok((number, left, right))
    };
    lines.map(merge).collect()
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
        merges.iter().map(|(_, left, right)| [*left, *right].concat()).collect();
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

/// The first `n_merges` merges of a file as GPT-1 and CLIP are published, the two names of each. The first line may
/// be a header; no line may be empty.
pub(super) fn merge_lines(
    format: &'static str,
    part: &str,
    file: &[u8],
    n_merges: usize,
) -> Result<Vec<[String; 2]>> {
    let text = std::str::from_utf8(file).map_err(|_| Error::format(format, part, "not UTF-8"))?;
    let lines = (1..).zip(text.split_terminator('\n'));
    let lines = lines.filter(|(number, line)| *number > 1 || !line.contains("#version"));
    let merges = lines.take(n_merges).map(|(number, line)| {
        let names = json::two_parts(line.strip_suffix('\r').unwrap_or(line));
        let problem = || {
            let part = format!("line {number} of {part}");
            Error::format(format, part, "not two tokens and a space")
        };
        names.map(|(left, right)| [left.to_owned(), right.to_owned()]).ok_or_else(problem)
    });
    merges.collect()
}
