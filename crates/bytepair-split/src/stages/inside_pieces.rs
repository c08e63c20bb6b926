//! Finds the texts that can lie inside one piece, whatever surrounds them.
//!
//! A match contains a text exactly if some state of an attempt leads through the symbols of the text to a state from
//! which a match can still be found. Some sequence of symbols leads from the start to each state, and a text that begins
//! with this sequence brings an attempt there. A later match is always preferred, so earlier matches do not matter.
//!
//! A run of unmatched characters may be a piece too. Such a run does not contain a text in which an attempt finds a
//! match, whatever follows: either the attempt is made, or an earlier match covers its place. So a text that neither a
//! match nor an unmatched run contains, as far as these are pieces, is cut in any context.
//!
//! Left out: patterns that do not run as an automaton, and stages that join pieces; nothing is claimed about them.
//! Cost: the states times the symbols of the text.

use super::step::Step;
use super::{Dropped, Join};
use crate::automaton::Automaton;
use crate::engine::Engine;

/// An automaton whose matches or unmatched runs are pieces.
pub(crate) struct Holding<'s> {
    automaton: &'s Automaton,
    dropped: Dropped,
    /// By row: whether a match can be found from it.
    leads: Vec<bool>,
    /// By row: whether a match is found from it, whatever follows.
    is_certain: Vec<bool>,
}

impl<'s> Holding<'s> {
    /// `None` unless the pieces are exactly the matches of an automaton, its unmatched runs, or both.
    pub(crate) fn of(step: &'s Step) -> Option<Self> {
        let Engine::Automaton(machine) = &step.engine else { return None };
        let automaton = machine.automaton();
        Join::by(&step.stage).is_none().then(|| Self {
            automaton,
            dropped: Dropped::by(&step.stage),
            leads: sees_match(automaton, false),
            is_certain: sees_match(automaton, true),
        })
    }

    pub(crate) fn holds(&self, text: &[u8]) -> bool {
        let mut symbols = Vec::with_capacity(text.len());
        let mut offset = 0;
        while offset < text.len() {
            let (class, length) = self.automaton.alphabet().class_at(text, offset);
            symbols.push(usize::from(class));
            offset += length;
        }
        self.dropped != Dropped::Matches && self.is_in_match(&symbols)
            || self.dropped != Dropped::Unmatched && self.is_in_unmatched_run(&symbols)
    }

    fn is_in_match(&self, symbols: &[usize]) -> bool {
        (1..=self.automaton.n_states()).any(|first| {
            let last = symbols.iter().fold(first, |row, &symbol| match row {
                0 => 0,
                row => self.automaton.step(row, symbol).1,
            });
            self.leads[last]
        })
    }

    fn is_in_unmatched_run(&self, symbols: &[usize]) -> bool {
        (0..symbols.len()).all(|first| {
            let mut starts = self.automaton.starts().into_iter();
            starts.any(|start| !self.surely_matches(start, &symbols[first..]))
        })
    }

    /// Whether an attempt at these symbols finds a non-empty match, whatever follows them.
    fn surely_matches(&self, start: usize, symbols: &[usize]) -> bool {
        let mut row = start;
        for (index, &symbol) in symbols.iter().enumerate() {
            let (is_matched, next) = self.automaton.step(row, symbol);
            if is_matched && index > 0 {
                return true;
            }
            if next == 0 {
                return false;
            }
            row = next;
        }
        self.is_certain[row]
    }
}

/// By row: whether some sequence of steps finds a match from it, or with `by_all_steps`, whether every sequence does.
fn sees_match(automaton: &Automaton, by_all_steps: bool) -> Vec<bool> {
    let mut sees = vec![by_all_steps; automaton.n_states() + 1];
    sees[0] = false;
    loop {
        let before = sees.clone();
        for row in 1..sees.len() {
            let steps = (0..=automaton.n_classes()).map(|symbol| automaton.step(row, symbol));
            let mut seen = steps.map(|(is_matched, next)| is_matched || sees[next]);
            sees[row] = if by_all_steps { seen.all(|seen| seen) } else { seen.any(|seen| seen) };
        }
        if sees == before {
            return sees;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use crate::unicode::UnicodeTables;
    use crate::{Behaviour, Flavour, Pattern, Splitter, Stage, named, names};

    fn splitter(source: &str, behaviour: Behaviour, invert: bool) -> Splitter {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Rust };
        let stage = Stage { pattern, behaviour, invert };
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
            r"[\p{P}]",
            r"a+b|\p{N}+",
            r"[a-z]+|\s",
        ];
        let behaviours =
            [(Behaviour::Isolated, false), (Behaviour::Removed, false), (Behaviour::Removed, true)];
        let texts = [
            "12", "1", "1234", "a1", "aA", "Aa", " a", "a ", "\n ", " \n", "'s", "aab", "ba", ".a",
            "..", "  ",
        ];
        for (pattern, (behaviour, invert)) in patterns
            .into_iter()
            .flat_map(|pattern| behaviours.map(|behaviour| (pattern, behaviour)))
        {
            let splitter = splitter(pattern, behaviour, invert);
            for text in texts {
                let is_never = splitter.never_hold(&[text.as_bytes()])[0];
                let is_cut = !is_found(&splitter, text);
                assert_eq!(is_never, is_cut, "{pattern} {behaviour:?} {invert} {text:?}");
            }
        }
    }

    static PUBLISHED: LazyLock<Vec<Splitter>> = LazyLock::new(|| {
        let compiled = |stages| Splitter::new(stages, &UnicodeTables::latest()).unwrap();
        names().map(|name| compiled(named(name).unwrap())).collect()
    });

    proptest! {
        #[test]
        fn a_text_that_stands_in_a_piece_is_not_said_to_be_cut(
            text in "[aAé1'. \\n中]{1,4}",
            before in "[aAé1'. \\n中]{0,4}",
            behind in "[aAé1'. \\n中]{0,4}",
        ) {
            let whole = format!("{before}{text}{behind}");
            for splitter in &*PUBLISHED {
                let pieces = splitter.pieces(whole.as_bytes()).unwrap();
                let mut windows = pieces.iter().flat_map(|piece| piece.windows(text.len()));
                let is_whole = windows.any(|window| window == text.as_bytes());
                prop_assert!(!(is_whole && splitter.never_hold(&[text.as_bytes()])[0]));
            }
        }
    }
}
