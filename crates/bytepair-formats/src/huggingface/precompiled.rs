//! Which texts the library's `Precompiled` changes otherwise than SentencePiece, whose map it has.
//!
//! SentencePiece replaces the longest key at each place. The library looks at clusters: one of less than six bytes becomes
//! what the shortest key that it begins with becomes, and of others each character does. Both are the same for a map
//! whose keys are single characters that are a cluster of their own wherever they stand, as controls are, or that have
//! four bytes: what a cluster of these and a mark has is six. `\r\n` alone is a cluster of two such. Then nothing is named.
//! For other maps a text is looked for that shows the difference, first among some that texts have, then among the keys with
//! marks behind them. Takes time linear in the keys.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::FORMAT;
use crate::{Change, inexpressible, quoted};
use bytepair::Result;
use bytepair::normalize::{CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules};
use bytepair::segment::Segment;

/// Clusters of so many bytes are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// A mark of the fewest bytes.
const MARK: char = '\u{301}';

/// Texts with clusters that libraries read otherwise.
const KNOWN: [&str; 5] =
    ["か\u{3099}", "\u{1100}\u{1161}", "ﬁ\u{301}", "a\u{323}\u{302}", "①\u{20DD}"];

/// Which texts these steps change otherwise than SentencePiece's own.
///
/// # Errors
/// Where a user-defined symbol would be changed, since the library would look for something else then.
pub(super) fn changes_of(step: &SentencePiece, steps: &Normalizer) -> Result<Vec<Change>> {
    let Some(map) = &step.rules().characters else { return Ok(Vec::new()) };
    let keys = map.keys();
    check_symbols(step.rules(), map)?;
    let both = Both {
        here: Normalizer::new(vec![NormalizeStep::SentencePiece(step.clone())], steps.unicode()),
        there: steps,
    };
    let what = "the library looks up clusters of characters in the map of this model, SentencePiece the longest match";
    let is_exact = keys.as_ref().is_some_and(|keys| is_read_alike(keys, step.rules()));
    let keys = keys.unwrap_or_default();
    let clusters = (!is_exact).then(|| both.difference(&keys));
    let symbols = "user-defined symbols, which SentencePiece finds before the map of this model changes the text beside \
                   them";
    let beside = both.difference_beside(&step.rules().verbatim);
    let left_out = "texts of which the map of this model leaves nothing, where SentencePiece still puts a space";
    let dropped = keys.iter().find(|(_, replacement)| replacement.is_empty());
    let dropped = dropped.and_then(|(key, _)| String::from_utf8(key.clone()).ok());
    let dropped = dropped.filter(|text| both.differs(text));
    let all = [
        clusters.map(|text| (what, text)),
        beside.map(|text| (symbols, text)),
        dropped.map(|text| (left_out, text)),
    ];
    let changes = all.into_iter().flatten();
    Ok(changes.map(|(what, text)| Change { what: what.to_owned(), text }).collect())
}

/// Refuses symbols that the library would change before it looks for them.
fn check_symbols(rules: &SentencePieceRules, map: &CharsMap) -> Result<()> {
    let step = Normalizer::new(
        vec![NormalizeStep::Precompiled(map.clone())],
        bytepair_split::unicode::UnicodeTables::hugging_face(),
    );
    for symbol in &rules.verbatim {
        if *normalized(&step, symbol) != *symbol.as_bytes() {
            let symbol = quoted(symbol.as_bytes());
            let part = format!(
                "the user-defined symbol {symbol}, which the map of this model would change there"
            );
            return Err(inexpressible(FORMAT, part));
        }
    }
    Ok(())
}

/// Whether clusters show in nothing.
fn is_read_alike(keys: &[(Vec<u8>, &str)], rules: &SentencePieceRules) -> bool {
    let is_alone = |key: &[u8]| {
        let Ok(text) = std::str::from_utf8(key) else { return false };
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else { return false };
        character.len_utf8() + MARK.len_utf8() >= LONG_CLUSTER
            || format!("{character}{MARK}").graphemes(true).nth(1).is_some()
    };
    let of = |key: &[u8]| keys.iter().find(|other| other.0 == key).map(|other| other.1);
    let line_ends = match (of(b"\r"), of(b"\n")) {
        (None, _) | (Some(_), Some("")) => true,
        (Some(" "), Some(" ")) => rules.removes_extra_spaces,
        _ => false,
    };
    line_ends && keys.iter().all(|(key, _)| is_alone(key))
}

fn normalized<'t>(steps: &Normalizer, text: &'t str) -> Cow<'t, [u8]> {
    steps.normalize(Segment::whole(text.as_bytes())).unwrap_or_default()
}

/// The steps of both libraries.
struct Both<'s> {
    here: Normalizer,
    there: &'s Normalizer,
}

impl Both<'_> {
    fn differs(&self, text: &str) -> bool {
        normalized(&self.here, text) != normalized(self.there, text)
    }

    /// A text that is read otherwise, empty if none is found.
    fn difference(&self, keys: &[(Vec<u8>, &str)]) -> String {
        let keys = keys.iter().filter_map(|(key, _)| std::str::from_utf8(key).ok());
        let marks = ["", "\u{301}", "\u{300}", "\u{200D}", "\n"];
        let marked = keys.flat_map(|key| marks.iter().map(move |mark| format!("{key}{mark}")));
        let mut texts = KNOWN.map(str::to_owned).into_iter().chain(marked);
        texts.find(|text| self.differs(text)).unwrap_or_default()
    }

    /// A user-defined symbol with something beside it that is read otherwise.
    fn difference_beside(&self, symbols: &[String]) -> Option<String> {
        let marks = ["\u{301}", "\u{308}", "\u{338}", "\u{3099}", "\u{200D}"];
        let mut marked = symbols
            .iter()
            .flat_map(|symbol| marks.iter().map(move |mark| format!("{symbol}{mark}")));
        marked.find(|text| self.differs(text))
    }
}
