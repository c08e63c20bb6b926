//! Cutters that have a name instead of a pattern.
//!
//! `UnicodeScripts` of Hugging Face `tokenizers` is the only one. Its piece is a character of a script with everything that
//! follows, up to the next character of another script. Kana count as Han, and so does U+30FC; `Common` and `Inherited` are
//! scripts like the others. The space, characters of no script (unassigned or for private use) and bytes that belong to no
//! character stay in the piece in which they occur. Before the first character of a script they are in no piece.
//!
//! This is an alternation with one branch for each script, `L[LN]*|G[GN]*|…`, where `N` is the set of characters without a
//! script. It needs the classes of the library's own version of Unicode and is too long to be passed around as a pattern.
//! Cost: an automaton with a state for each script.

use super::Parsed;
use super::tree::{CharSet, Greed, Node};
use crate::error::{ErrorKind, Result};
use crate::stage::Pattern;
use crate::unicode::UnicodeTables;

/// The name of the only cutter: a pattern of the flavour [`Cutter`](crate::Flavour::Cutter) that separates scripts.
pub const UNICODE_SCRIPTS: &str = "UnicodeScripts";

/// Scripts that count as Han.
const KANA: [&str; 2] = ["Hiragana", "Katakana"];

/// The mark of a long vowel, which is written in both kana.
const LONG_VOWEL: char = 'ー';

/// Parses a cutter: its pieces as the tree of a pattern.
pub(crate) fn parse(pattern: &Pattern, unicode: &UnicodeTables) -> Result<Parsed> {
    if pattern.source == UNICODE_SCRIPTS {
        return Ok(Parsed { root: one_script(unicode), word: None });
    }
    let problem = format!("unknown cutter; the only known one is {UNICODE_SCRIPTS}");
    Err(ErrorKind::Pattern { pattern: pattern.source.clone(), offset: 0, problem }.into())
}

fn one_script(unicode: &UnicodeTables) -> Node {
    let scripts = scripts(unicode);
    let no_script = CharSet::union_of(&scripts).negated();
    let branches = scripts.into_iter().map(|script| {
        let inside = Box::new(Node::Set(script.clone().union(&no_script)));
        let rest = Node::Repeat { inside, min: 0, max: None, greed: Greed::Greedy };
        Node::concat(vec![Node::Set(script), rest])
    });
    Node::alternate(branches.collect())
}

/// The sets of characters between which a cutter cuts.
fn scripts(unicode: &UnicodeTables) -> Vec<CharSet> {
    let moved = CharSet::single(' ').union(&CharSet::single(LONG_VOWEL));
    let mut han = CharSet::single(LONG_VOWEL);
    let mut others = Vec::new();
    for (name, ranges) in unicode.scripts() {
        let script = CharSet::from_ranges(&ranges).difference(&moved);
        match name {
            "Han" => han = han.union(&script),
            kana if KANA.contains(&kana) => han = han.union(&script),
            _ => others.push(script),
        }
    }
    others.push(han);
    others.retain(|script| *script != CharSet::empty());
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_tests::pieces_by_block;
    use crate::{Flavour, Splitter, Stage, Unmatched};
    use proptest::prelude::*;
    use std::ops::RangeInclusive;
    use std::sync::LazyLock;

    fn stages(name: &str) -> Vec<Stage> {
        let pattern = Pattern { source: name.to_owned(), flavour: Flavour::Cutter };
        vec![Stage::matches(pattern, Unmatched::Drop)]
    }

    fn splitter() -> Splitter {
        Splitter::new(stages(UNICODE_SCRIPTS), &UnicodeTables::hugging_face()).unwrap()
    }

    /// The script of a character; `None` if it stays in the piece in which it occurs.
    fn script_of(character: char) -> Option<&'static str> {
        type Script = (&'static str, Vec<RangeInclusive<char>>);
        static SCRIPTS: LazyLock<Vec<Script>> =
            LazyLock::new(|| UnicodeTables::hugging_face().scripts());
        let is_in =
            |ranges: &[RangeInclusive<char>]| ranges.iter().any(|range| range.contains(&character));
        let name = SCRIPTS.iter().find(|(_, ranges)| is_in(ranges)).map(|(name, _)| *name);
        match character {
            ' ' => None,
            'ー' => Some("Han"),
            _ => name.map(|name| if KANA.contains(&name) { "Han" } else { name }),
        }
    }

    /// The pieces by the definition, one character after another.
    fn naive(text: &str) -> Vec<&str> {
        let mut starts = Vec::new();
        let mut last = None;
        for (offset, character) in text.char_indices() {
            let script = script_of(character);
            if script.is_some() && script != last {
                starts.push(offset);
                last = script;
            }
        }
        let ends = starts.iter().copied().skip(1).chain([text.len()]);
        starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
    }

    fn characters() -> impl Strategy<Value = char> {
        let edges =
            " ーァ々a1\u{301}\u{589}\u{61c}\u{953}\u{30a0}\u{e000}\u{378}\u{1e94b}\u{1c89}한中あア";
        prop_oneof![
            prop::sample::select(edges.chars().collect::<Vec<_>>()),
            prop::char::range('\0', '\u{33ff}'),
            any::<char>(),
        ]
    }

    #[test]
    fn a_piece_is_of_one_script_and_what_has_none_stays() {
        let cut = |text: &'static str| splitter().pieces(text.as_bytes()).unwrap();
        let pieces = ["カタカナ ー 漢字 ".as_bytes(), b"Latin ", "по".as_bytes()];
        assert_eq!(cut("  カタカナ ー 漢字 Latin по"), pieces);
        assert_eq!(cut("a1 \u{e000}b\u{301}"), [&b"a"[..], b"1 \xee\x80\x80", b"b", b"\xcc\x81"]);
        assert!(cut("  \u{378}").is_empty());
        assert_eq!(splitter().pieces(b"\xff a\xff b").unwrap(), [b"a\xff b"]);
    }

    #[test]
    fn the_cutter_is_an_automaton_and_leaves_something_and_another_name_is_refused() {
        assert!(splitter().explain()[0].starts_with("automaton"), "{:?}", splitter().explain());
        assert!(!splitter().covers_everything());
        let error = Splitter::new(stages("Scripts"), &UnicodeTables::hugging_face()).unwrap_err();
        assert!(error.to_string().contains(UNICODE_SCRIPTS), "{error}");
    }

    proptest! {
        #[test]
        fn the_automaton_cuts_as_the_definition(
            characters in prop::collection::vec(characters(), 0..40), block_len in 1_usize..20,
        ) {
            static BOTH: LazyLock<[Splitter; 2]> = LazyLock::new(|| {
                let naive = Splitter::naive(stages(UNICODE_SCRIPTS), &UnicodeTables::hugging_face());
                [splitter(), naive.unwrap()]
            });
            let text = String::from_iter(characters);
            for splitter in &*BOTH {
                let pieces = pieces_by_block(splitter, text.as_bytes(), block_len).unwrap();
                let pieces: Vec<_> = pieces.into_iter().map(|range| &text[range]).collect();
                prop_assert_eq!(&pieces, &naive(&text));
            }
        }
    }
}
