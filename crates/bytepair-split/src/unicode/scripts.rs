//! The scripts of characters, for the cutter `UnicodeScripts`.
//!
//! A pattern's `\p{Latin}` is of 16.0.0 in every table; the differences of a library concern this cutter
//! alone. A character is of one script at most.

use std::ops::RangeInclusive;

use super::{UnicodeTables, changed, line_of, parse_ranges};

/// What the names of the lines begin with.
const PREFIX: &str = "Script=";

impl UnicodeTables {
    /// Every script with its characters, as ascending ranges; there may be none.
    pub fn scripts(&self) -> Vec<(&'static str, Vec<RangeInclusive<char>>)> {
        let lines = self.text.lines().filter(|line| line.starts_with(PREFIX));
        let rows = lines.filter_map(|line| line.split_once(' '));
        let scripts = rows.map(|(name, ranges)| {
            let changes = line_of(self.changes, name).unwrap_or_default();
            (name.trim_start_matches(PREFIX), changed(parse_ranges(ranges), changes))
        });
        scripts.collect()
    }
}
