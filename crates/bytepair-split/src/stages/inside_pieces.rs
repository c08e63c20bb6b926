//! Which texts can lie inside of one piece, in whatever text around them.
//!
//! A match contains a text exactly if, from some state of an attempt, the attempt goes through its symbols and can still find
//! a match behind them. Each state can be reached from the start by some symbols, and a text that begins with these symbols
//! brings an attempt there. A later match is always preferred, so matches that were seen before do not matter. Where every
//! piece is a match, a text that no match contains is cut in any context.
//!
//! Left out: patterns that are no automaton, and stages whose pieces are not exactly the matches; nothing is claimed of them.
//! Cost: the states times the symbols of the text.

use super::behaviour::{Dropped, Join};
use super::step::Step;
use crate::automaton::table::Automaton;
use crate::engine::Engine;

/// An automaton whose matches are all pieces, and the rows behind which a match can be seen.
pub(crate) struct Holding<'s> {
    automaton: &'s Automaton,
    leads: Vec<bool>,
}

impl<'s> Holding<'s> {
    /// `None` where pieces are not exactly the matches of an automaton.
    pub(crate) fn of(step: &'s Step) -> Option<Self> {
        let Engine::Automaton(machine) = &step.engine else { return None };
        let automaton = machine.automaton();
        let dropped = Dropped::by(&step.stage);
        let are_matches = Join::by(&step.stage).is_none()
            && dropped != Dropped::Matches
            && (automaton.covers_everything() || dropped == Dropped::Unmatched);
        are_matches.then(|| Self { automaton, leads: leads(automaton) })
    }

    pub(crate) fn holds(&self, text: &[u8]) -> bool {
        let mut symbols = Vec::with_capacity(text.len());
        let mut offset = 0;
        while offset < text.len() {
            let (class, length) = self.automaton.class_at(text, offset);
            symbols.push(usize::from(class));
            offset += length;
        }
        (1..=self.automaton.n_states()).any(|first| {
            let last = symbols.iter().fold(first, |row, &symbol| match row {
                0 => 0,
                row => self.automaton.step(row, symbol).1,
            });
            self.leads[last]
        })
    }
}

/// By row: whether a match is seen in some step from it on.
fn leads(automaton: &Automaton) -> Vec<bool> {
    let mut leads = vec![false; automaton.n_states() + 1];
    loop {
        let mut is_changed = false;
        for row in 1..leads.len() {
            let steps = || (0..=automaton.n_classes()).map(|symbol| automaton.step(row, symbol));
            if !leads[row] && steps().any(|(is_matched, next)| is_matched || leads[next]) {
                leads[row] = true;
                is_changed = true;
            }
        }
        if !is_changed {
            return leads;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::unicode::UnicodeTables;
    use crate::{Flavour, Pattern, Splitter, Stage, Unmatched, named, names};

    fn splitter(source: &str) -> Splitter {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Rust };
        let stage = Stage::matches(pattern, Unmatched::Keep);
        Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap()
    }

    /// Whether a piece of some text with up to two characters on each side of this one contains it.
    fn is_found(splitter: &Splitter, text: &str) -> bool {
        let letters = ["", "a", "A", " ", "1", "'", "\n", "."];
        let around = letters.map(|one| letters.map(|other| format!("{one}{other}")));
        let around: Vec<_> = around.into_iter().flatten().collect();
        around.iter().any(|before| {
            around.iter().any(|behind| {
                let whole = format!("{before}{text}{behind}");
                let pieces = splitter.pieces(whole.as_bytes()).unwrap();
                pieces
                    .iter()
                    .any(|piece| piece.windows(text.len()).any(|window| window == text.as_bytes()))
            })
        })
    }

    #[test]
    fn a_text_is_never_held_exactly_if_every_context_cuts_it() {
        let patterns = [
            r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\p{N}{1,3}|\P{N}+",
            r"a+b?|[^a]",
            r" ?\p{Lu}\p{Ll}*|\s+|.",
        ];
        let texts = [
            "12", "1", "1234", "a1", "aA", "Aa", " a", "a ", "\n ", " \n", "'s", "aab", "ba", ".a",
            "..", "  ",
        ];
        for pattern in patterns {
            let splitter = splitter(pattern);
            for text in texts {
                let is_never = splitter.never_hold(&[text.as_bytes()])[0];
                assert_eq!(is_never, !is_found(&splitter, text), "{pattern} {text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_text_that_stands_in_a_piece_is_not_said_to_be_cut(
            text in "[aAé1'. \\n中]{1,4}",
            before in "[aAé1'. \\n中]{0,4}",
            behind in "[aAé1'. \\n中]{0,4}",
        ) {
            let whole = format!("{before}{text}{behind}");
            for name in names() {
                let splitter = Splitter::new(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
                let pieces = splitter.pieces(whole.as_bytes()).unwrap();
                let mut windows = pieces.iter().flat_map(|piece| piece.windows(text.len()));
                let is_whole = windows.any(|window| window == text.as_bytes());
                prop_assert!(!(is_whole && splitter.never_hold(&[text.as_bytes()])[0]));
            }
        }
    }
}
