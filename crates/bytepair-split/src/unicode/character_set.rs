//! A set of characters, for questions about one character at a time.
//!
//! One byte for every 256 code points answers for most; the others take a binary search among ranges.

use std::ops::RangeInclusive;

/// Ascending ranges and a summary of each page of 256 code points.
pub(super) struct CharacterSet {
    pages: Vec<Page>,
    ranges: Vec<RangeInclusive<char>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    None,
    All,
    Some,
}

impl CharacterSet {
    pub(super) fn new(ranges: Vec<RangeInclusive<char>>) -> Self {
        let mut pages = vec![Page::None; (char::MAX as usize >> 8) + 1];
        ranges.iter().for_each(|range| mark(&mut pages, range));
        Self { pages, ranges }
    }

    pub(super) fn contains(&self, character: char) -> bool {
        match self.pages[character as usize >> 8] {
            Page::None => false,
            Page::All => true,
            Page::Some => {
                let after = self.ranges.partition_point(|range| *range.start() <= character);
                after > 0 && character <= *self.ranges[after - 1].end()
            }
        }
    }
}

fn mark(pages: &mut [Page], range: &RangeInclusive<char>) {
    let (start, end) = (*range.start() as usize, *range.end() as usize);
    for (page, state) in pages.iter_mut().enumerate().take((end >> 8) + 1).skip(start >> 8) {
        let is_whole = start <= page << 8 && (page << 8) + 0xFF <= end;
        *state = if is_whole { Page::All } else { Page::Some };
    }
}
