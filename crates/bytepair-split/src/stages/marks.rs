//! Stages that cut a text at the mark that stands for its spaces.
//!
//! Files are read to these stages, and what cuts raw texts knows them again by their equality.

use crate::stage::{Flavour, Pattern, Stage, Unmatched, escaped};

/// Each mark begins a piece, as `Metaspace` cuts.
pub fn each_begins(mark: char) -> Stage {
    let mark = escaped(mark);
    words(format!("{mark}?[^{mark}]+|{mark}"))
}

/// The first of several marks begins a piece, as files of SentencePiece are read; for marks that patterns read as they are.
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
