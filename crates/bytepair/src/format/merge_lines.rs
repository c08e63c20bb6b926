//! Files of merges: a header, then a pair of names on each line, as GPT-1 and CLIP are published.
//!
//! What the names mean is their format's business. Costs one pass over the lines that are wanted.

use super::json;
use crate::error::{Error, Result};

/// The first `n_merges` merges of a file whose first line is a header: the two names of each.
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
