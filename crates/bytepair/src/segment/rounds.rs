//! Joining, in rounds, every occurrence of the best pair of a word: the definition.
//!
//! The best pair is the one whose merge stands first; its occurrences are joined from left to right, those
//! that overlap with one just joined left out. Costs one pass over the word for each round.

use std::collections::HashMap;

/// The merges by their pairs.
#[derive(Debug)]
pub(super) struct Rounds {
    /// By left and then right part: the place of the merge.
    places: HashMap<String, HashMap<String, usize>>,
}

impl Rounds {
    pub(super) fn new(merges: &[(String, String)]) -> Self {
        let mut places: HashMap<String, HashMap<String, usize>> = HashMap::new();
        for (place, (left, right)) in merges.iter().enumerate() {
            places.entry(left.clone()).or_default().insert(right.clone(), place);
        }
        Self { places }
    }

    /// The symbols of a word after all rounds.
    pub(super) fn merge(&self, mut symbols: Vec<String>) -> Vec<String> {
        while let Some(best) = self.best(&symbols) {
            symbols = self.joined(&symbols, best);
        }
        symbols
    }

    /// The symbols with every occurrence of one merge joined.
    fn joined(&self, symbols: &[String], best: usize) -> Vec<String> {
        let mut joined = Vec::with_capacity(symbols.len());
        let mut rest = symbols;
        while let [first, others @ ..] = rest {
            let second = others.first().filter(|second| self.place(first, second) == Some(best));
            joined.push(second.map_or_else(|| first.clone(), |second| format!("{first}{second}")));
            rest = &others[usize::from(second.is_some())..];
        }
        joined
    }

    fn best(&self, symbols: &[String]) -> Option<usize> {
        symbols.windows(2).filter_map(|pair| self.place(&pair[0], &pair[1])).min()
    }

    fn place(&self, left: &str, right: &str) -> Option<usize> {
        self.places.get(left)?.get(right).copied()
    }
}
