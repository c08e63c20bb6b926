//! Cuts out runs of one ASCII character, with a least and a greatest length, without an automaton.
//!
//! These are the matches of ` {2,24}|\t{2,9}`. An automaton begins a match at each space between two words, and gives it
//! up one symbol later. Here the shortest run is searched as a string, with vectors, and then extended as far as it
//! goes.
//!
//! Left out: characters of several bytes, runs without a limit.
//! Cost: a pass over the text as fast as memory allows, and some ten nanoseconds for each match.

use memchr::memmem::Finder;

use crate::automaton::scan::Scan;
use crate::stage::{Flavour, Pattern, Stage, Unmatched, escaped};

/// An ASCII character, and how often it occurs in a match; at least once.
///
/// ```
/// use bytepair_split::{Repeat, Splitter};
///
/// // Runs of two to four spaces are pieces, whatever cuts the rest.
/// let splitter = Splitter::whole().behind(&[Repeat { byte: b' ', least: 2, most: 4 }]);
/// assert_eq!(splitter.pieces(b"a b   c")?, [&b"a b"[..], b"   ", b"c"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The character.
    pub byte: u8,
    /// The smallest count in a match.
    pub least: usize,
    /// The largest count in a match.
    pub most: usize,
}

/// Finds runs of some characters.
pub(crate) struct Repeats(Vec<(Repeat, Finder<'static>)>);

impl Repeats {
    /// Each repeat must have another character.
    pub(crate) fn new(repeats: &[Repeat]) -> Self {
        let finder = |repeat: &Repeat| Finder::new(&vec![repeat.byte; repeat.least]).into_owned();
        Self(repeats.iter().map(|repeat| (*repeat, finder(repeat))).collect())
    }

    /// The stage that has these pieces.
    pub(crate) fn stage(repeats: &[Repeat]) -> Stage {
        let source = repeats.iter().map(|&Repeat { byte, least, most }| {
            format!("{}{{{least},{most}}}", escaped(byte.into()))
        });
        let source = source.collect::<Vec<_>>().join("|");
        Stage::matches(Pattern { source, flavour: Flavour::Rust }, Unmatched::Keep)
    }

    /// Marks the pieces of a task. Returns where it stopped, which is after a match or at the end of the text.
    pub(crate) fn run(&self, scan: &mut Scan<'_>) -> usize {
        let (text, mut start) = (scan.task.text, scan.task.from);
        let mut places: Vec<_> = self.0.iter().map(|run| next(run, text, start)).collect();
        while start < text.len() {
            let nearest = places.iter().copied().enumerate().min_by_key(|&(_, place)| place);
            let Some((number, place)) = nearest.filter(|&(_, place)| place < text.len()) else {
                scan.mark_unmatched(start);
                return text.len();
            };
            if start < place {
                scan.mark_unmatched(start);
            }
            let run = &self.0[number];
            let most = text[place..].iter().take(run.0.most);
            scan.marked.starts.insert(scan.place(place));
            start = place + most.take_while(|&&byte| byte == run.0.byte).count();
            if start >= scan.task.limit {
                return start;
            }
            places[number] = next(run, text, start);
        }
        start
    }

    /// A description for people.
    pub(crate) fn in_words(&self) -> String {
        let names = self.0.iter().map(|(Repeat { byte, least, most }, _)| {
            format!("{:?} {least} to {most} times", char::from(*byte))
        });
        format!("runs of {}", names.collect::<Vec<_>>().join(", "))
    }
}

impl Scan<'_> {
    /// Marks the start of a piece without a match.
    fn mark_unmatched(&mut self, start: usize) {
        let place = self.place(start);
        self.marked.starts.insert(place);
        self.marked.unmatched.insert(place);
    }
}

/// Where the next run begins; the end of the text if there is none.
fn next((_, finder): &(Repeat, Finder<'_>), text: &[u8], from: usize) -> usize {
    finder.find(&text[from..]).map_or(text.len(), |place| from + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use crate::shared_tests::{oniguruma, pieces_by_block, stage};
    use crate::unicode::UnicodeTables;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_found_as_the_pattern_of_their_stage_finds_them(
            space in (1..4_usize, 0..5_usize),
            tab in prop::option::of((1..4_usize, 0..5_usize)),
            behind in prop::sample::select(&[None, Some(r"\s+(?!\S)|\s+|\S+"), Some("[^a]+")][..]),
            text in "([ab]{1,6}|[ \t]{1,9}| {20,80}|é中){0,40}",
            block_len in 1..60_usize,
        ) {
            let repeat = |byte, bounds: Option<(usize, usize)>| {
                bounds.map(|(least, more)| Repeat { byte, least, most: least + more })
            };
            let repeats: Vec<_> = [repeat(b' ', Some(space)), repeat(b'\t', tab)].into_iter().flatten().collect();
            let splitter = behind.map_or_else(Splitter::whole, oniguruma).behind(&repeats);
            let stages = behind.map(|source| stage(source, Flavour::Oniguruma, Unmatched::Keep));
            let all: Vec<_> = [Repeats::stage(&repeats)].into_iter().chain(stages).collect();
            prop_assert_eq!(splitter.stages(), &all);
            let naive = Splitter::naive(all, &UnicodeTables::latest()).unwrap();
            let expected = pieces_by_block(&naive, text.as_bytes(), usize::MAX);
            prop_assert_eq!(pieces_by_block(&splitter, text.as_bytes(), block_len), expected);
        }
    }
}
