//! Stages that cut a text at the mark that replaces its spaces, `▁` for most models.
//!
//! Files are read to these stages, and what cuts raw texts recognizes them by their equality. Cost: none beside that of any
//! pattern.

use crate::stage::{Flavour, Pattern, Stage, Unmatched, escaped};

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
    words(format!("{mark}?[^{mark}]+|{mark}"))
}

/// The stage in which the first of several marks begins a piece, as files of SentencePiece are read.
///
/// The mark must be a character that patterns read as it is.
///
/// ```
/// use bytepair_split::{Splitter, first_begins, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(vec![first_begins('_')], &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"_a__b")?, [&b"_a"[..], b"__b"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
pub fn first_begins(mark: char) -> Stage {
    words(format!("{mark}*[^{mark}]+|{mark}+"))
}

fn words(source: String) -> Stage {
    Stage::matches(Pattern { source, flavour: Flavour::Rust }, Unmatched::Keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use crate::unicode::UnicodeTables;

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
