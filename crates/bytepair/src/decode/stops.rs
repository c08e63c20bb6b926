//! Stop texts in decoded text that arrives in parts.
//!
//! ```text
//! for each byte: each stop text either matches one byte more, or falls back to its longest beginning that ends here
//! the first stop text that is complete ends the text; of several, the longest
//! text that may become a stop text is held back
//! ```
//!
//! Costs a step for each byte and stop text, and the memory of the longest stop text.

use super::chain::borders;
use crate::error::{Error, Result};

/// Looks for stop texts.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    stops: Vec<Stop>,
    /// The end of the text that is held back.
    held: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Stop {
    text: Vec<u8>,
    /// By number of bytes: the length of the longest proper beginning of these bytes that they end with.
    borders: Vec<usize>,
    n_matched: usize,
}

/// Text that can be given out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Given {
    /// The text, without the stop text.
    pub text: Vec<u8>,
    /// The index of the stop text that follows it, if one does. What comes after it is left out.
    pub stop: Option<usize>,
}

impl Stops {
    /// Looks for these texts.
    ///
    /// # Errors
    /// If one is empty.
    pub fn new(texts: &[String]) -> Result<Self> {
        if texts.iter().any(String::is_empty) {
            return Err(Error::option("stop", "a stop text must not be empty"));
        }
        let stop = |text: &String| {
            let text = text.as_bytes();
            Stop { text: text.to_vec(), borders: borders(text), n_matched: 0 }
        };
        Ok(Self { stops: texts.iter().map(stop).collect(), held: Vec::new() })
    }

    /// Takes more text.
    pub fn push(&mut self, text: &[u8]) -> Given {
        for &byte in text {
            self.held.push(byte);
            self.stops.iter_mut().for_each(|stop| stop.step(byte));
            let is_complete = |(_, stop): &(usize, &Stop)| stop.n_matched == stop.text.len();
            let complete = self.stops.iter().enumerate().filter(is_complete);
            // Of equal lengths, the last one is the maximum.
            if let Some((index, stop)) = complete.rev().max_by_key(|(_, stop)| stop.text.len()) {
                self.held.truncate(self.held.len() - stop.text.len());
                return Given { text: self.finish(), stop: Some(index) };
            }
        }
        let n_held = self.stops.iter().map(|stop| stop.n_matched).max().unwrap_or(0);
        Given { text: self.held.drain(..self.held.len() - n_held).collect(), stop: None }
    }

    /// The text that was held back, when nothing follows.
    pub fn finish(&mut self) -> Vec<u8> {
        self.stops.iter_mut().for_each(|stop| stop.n_matched = 0);
        std::mem::take(&mut self.held)
    }
}

impl Stop {
    /// Takes a byte.
    fn step(&mut self, byte: u8) {
        while self.n_matched > 0 && self.text[self.n_matched] != byte {
            self.n_matched = self.borders[self.n_matched];
        }
        self.n_matched += usize::from(self.text[self.n_matched] == byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_stop_text_is_found_in_parts_as_in_the_whole(
            parts in prop::collection::vec("[abé]{0,4}", 0..8),
            texts in prop::collection::vec("[abé]{1,4}", 0..4),
        ) {
            let whole = parts.concat();
            let ends = |end: &usize| {
                let stop = texts.iter().enumerate().filter(|(_, text)| whole[..*end].ends_with(text.as_str()));
                stop.max_by_key(|(index, text)| (text.len(), usize::MAX - index)).map(|(index, _)| (*end, index))
            };
            let expected = (0..=whole.len()).filter(|&end| whole.is_char_boundary(end)).find_map(|end| ends(&end));
            let mut stops = Stops::new(&texts).unwrap();
            let (mut text, mut stop) = (Vec::new(), None);
            for part in &parts {
                let given = stops.push(part.as_bytes());
                text.extend(given.text);
                if given.stop.is_some() {
                    stop = given.stop;
                    break;
                }
            }
            let Some((end, index)) = expected else {
                text.extend(stops.finish());
                prop_assert_eq!((text, stop), (whole.into_bytes(), None));
                return Ok(());
            };
            prop_assert_eq!(stop, Some(index));
            prop_assert_eq!(text, whole.as_bytes()[..end - texts[index].len()].to_vec());
        }
    }
}
