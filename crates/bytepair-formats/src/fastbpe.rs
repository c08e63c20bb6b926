//! Codes of fastBPE: a merge and how often it occurred on each line.
//!
//! They mean what subword-nmt's codes of version 0.2 mean: the end mark `</w>` is joined to the last
//! character of a word. Where a vocabulary is given and two merges make one symbol, the later is undone.
//! Linear in the file.

use super::codes::{Codes, Undone, text};
use super::merges::NumberedMerge;
use super::{inexpressible, quoted};
use bytepair::Tokenizer;
use bytepair::units::EndMarkKind;
use bytepair::{Error, Result};

/// The name of the format in messages.
const FORMAT: &str = "fastBPE codes";

/// The codes of a file, or the first `n_merges` of them.
///
/// ```
/// use bytepair_formats::fastbpe;
///
/// let codes = fastbpe::read(b"l o 12\nlo w</w> 5\n", None)?;
/// assert_eq!(codes.merges[1], ("lo".to_owned(), "w</w>".to_owned()));
/// # Ok::<(), bytepair::Error>(())
/// ```
///
/// # Errors
/// Where a line is not two symbols and a number, or a pair appears twice.
pub fn read(file: &[u8], n_merges: Option<usize>) -> Result<Codes> {
    let text = text(FORMAT, file)?;
    let lines = (1..).zip(text.split_terminator('\n')).take(n_merges.unwrap_or(usize::MAX));
    let pairs: Vec<_> = lines
        .map(|(number, line)| {
            let (left, right) = merge(line).ok_or_else(|| {
                let problem =
                    format!("{} is not two symbols and a number", quoted(line.as_bytes()));
                Error::format(FORMAT, format!("line {number}"), problem)
            })?;
            Ok(NumberedMerge { line: number, left, right })
        })
        .collect::<Result<_>>()?;
    let n_lines = pairs.len();
    let codes = Codes::new(FORMAT, pairs, EndMarkKind::Suffix, Undone::Last)?;
    match codes.merges.len() == n_lines {
        true => Ok(codes),
        false => Err(Error::format(FORMAT, "the file", "a pair appears twice")),
    }
}

/// The file of a tokenizer; counts that are not known are 0.
///
/// # Errors
/// Where the tokenizer does anything but merge the characters of words, the last of them joined to the end
/// mark; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let codes = Codes::of(FORMAT, tokenizer, Undone::Last)?;
    if codes.end_mark != EndMarkKind::Suffix {
        return Err(inexpressible(FORMAT, "an end mark that is a unit of its own"));
    }
    let counts = tokenizer.parts().vocabulary.merge_counts().iter().copied();
    let mut file = String::new();
    for ((left, right), count) in codes.merges.iter().zip(counts.chain(std::iter::repeat(0))) {
        file.extend([left, " ", right, " ", &count.to_string(), "\n"]);
    }
    Ok(file.into_bytes())
}

fn merge(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.strip_suffix('\r').unwrap_or(line).split(' ');
    let (left, right, count) = (fields.next()?, fields.next()?, fields.next()?);
    let is_merge = !left.is_empty() && !right.is_empty() && count.parse::<u64>().is_ok();
    (is_merge && fields.next().is_none()).then_some((left, right))
}
