//! Stop texts in decoded text that arrives in parts.
//!
//! ```text
//! for each byte: each stop text either matches one byte more, or falls back to its longest beginning that ends here
//! the first stop text that is complete ends the text; of several, the longest
//! text that may become a stop text is held back
//! ```
//!
//! Costs a step for each byte and stop text, and the memory of the longest stop text.

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
    pub text: String,
    /// The index of the stop text that follows it, if one does. What comes after it is left out.
    pub stop: Option<usize>,
}

impl Stops {
    /// Looks for these texts.
    ///
    /// # Errors
    /// If one is empty.
    pub fn new(texts: &[String]) -> Result<Self> {
        let stop = |text: &String| match text.is_empty() {
            true => Err(Error::option("stop", "must not have an empty text".to_owned())),
            false => Ok(Stop::new(text.as_bytes())),
        };
        let stops = texts.iter().map(stop).collect::<Result<_>>()?;
        Ok(Self { stops, held: Vec::new() })
    }

    /// Takes more text.
    pub fn push(&mut self, text: &str) -> Given {
        for byte in text.bytes() {
            self.held.push(byte);
            let complete =
                self.stops.iter_mut().enumerate().filter_map(|(index, stop)| {
                    stop.step(byte).then_some((stop.text.len(), index))
                });
            // Each stop text takes the byte; of equal lengths, the first is found.
            let complete: Vec<_> = complete.collect();
            if let Some(&(len, index)) =
                complete.iter().max_by_key(|&&(len, index)| (len, usize::MAX - index))
            {
                let text = self.take(self.held.len() - len);
                self.held.clear();
                return Given { text, stop: Some(index) };
            }
        }
        let n_held = self.stops.iter().map(|stop| stop.n_matched).max().unwrap_or(0);
        Given { text: self.take(self.held.len() - n_held), stop: None }
    }

    /// The text that was held back, when nothing follows.
    pub fn finish(&mut self) -> String {
        self.stops.iter_mut().for_each(|stop| stop.n_matched = 0);
        self.take(self.held.len())
    }

    /// A stop text begins and ends with whole characters, so what is before it does, too.
    fn take(&mut self, n_bytes: usize) -> String {
        let bytes: Vec<u8> = self.held.drain(..n_bytes).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Stop {
    fn new(text: &[u8]) -> Self {
        let (mut borders, mut border) = (vec![0, 0], 0);
        for place in 1..text.len() {
            while border > 0 && text[border] != text[place] {
                border = borders[border];
            }
            border += usize::from(text[border] == text[place]);
            borders.push(border);
        }
        Self { text: text.to_vec(), borders, n_matched: 0 }
    }

    /// Takes a byte; returns whether the text is complete.
    fn step(&mut self, byte: u8) -> bool {
        while self.n_matched > 0 && self.text[self.n_matched] != byte {
            self.n_matched = self.borders[self.n_matched];
        }
        self.n_matched += usize::from(self.text[self.n_matched] == byte);
        self.n_matched == self.text.len()
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
            let (mut text, mut stop) = (String::new(), None);
            for part in &parts {
                let given = stops.push(part);
                text += &given.text;
                if given.stop.is_some() {
                    stop = given.stop;
                    break;
                }
            }
            let Some((end, index)) = expected else {
                prop_assert_eq!((text + &stops.finish(), stop), (whole, None));
                return Ok(());
            };
            prop_assert_eq!(stop, Some(index));
            prop_assert_eq!(text, &whole[..end - texts[index].len()]);
        }
    }
}
