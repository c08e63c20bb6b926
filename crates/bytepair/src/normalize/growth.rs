//! How much longer than a text a list of replacements can make it.
//!
//! Replacing `a` by `aa` forty times makes a terabyte of one letter. A file that does so is refused when it is read, because
//! no memory would suffice later. A replacement multiplies the output of an earlier one only if it finds something in it;
//! this is judged by the bytes that the two have in common, so the bound may be too high but never too low. A byte of the
//! result comes from one of the text or from one that was put in front, so their growths are added, as if the text were one
//! byte long. The growth by Unicode forms, at most ten bytes for each, is not counted: a normalizer also checks the length
//! after each step. Takes the square of the number of steps.

/// How many times longer a text may become.
pub(crate) const MAX_GROWTH: u16 = 1024;

/// A change, as far as its size matters.
#[derive(Clone, Copy)]
pub(crate) enum Growth<'s> {
    /// A text becomes another.
    Text(&'s str, &'s str),
    /// What a pattern matches, at least one byte, becomes a text.
    Pattern(&'s str),
    /// A text is put in front.
    Prefix(&'s str),
    /// Anything, at least one byte, becomes one of some texts: the length of the longest, and the bytes of all.
    Any(usize, &'s ByteSet),
    /// Anything becomes something of about its length.
    Other,
}

/// The bytes of a text.
pub(crate) type ByteSet = [bool; 256];

impl Growth<'_> {
    fn factor(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
        let ratio = |to: &str, from_len: usize| to.len() as f64 / from_len.max(1) as f64;
        match self {
            Self::Text(from, to) => ratio(to, from.len()).max(1.0),
            Self::Pattern(to) => ratio(to, 1).max(1.0),
            #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
            Self::Any(longest, _) => longest.max(1) as f64,
            Self::Prefix(_) | Self::Other => 1.0,
        }
    }

    fn reads(self) -> ByteSet {
        match self {
            Self::Text(from, _) => bytes_of(from),
            Self::Pattern(_) | Self::Prefix(_) | Self::Any(..) | Self::Other => [true; 256],
        }
    }

    fn writes(self) -> ByteSet {
        match self {
            Self::Text(_, text) | Self::Pattern(text) | Self::Prefix(text) => bytes_of(text),
            Self::Any(_, bytes) => *bytes,
            Self::Other => [true; 256],
        }
    }
}

/// A bound of the length of the changed text over that of the text.
pub(crate) fn growth(steps: &[Growth<'_>]) -> f64 {
    // From the last step to the first: what a step reads, and how much longer steps make what it reads.
    let mut later: Vec<(ByteSet, f64)> = Vec::with_capacity(steps.len());
    let mut put_in_front = 0.0;
    for step in steps.iter().rev() {
        let writes = step.writes();
        let meets = |reads: &ByteSet| reads.iter().zip(&writes).any(|(one, other)| *one && *other);
        let grows = later
            .iter()
            .filter(|(reads, _)| meets(reads))
            .map(|(_, growth)| *growth)
            .fold(1.0, f64::max);
        match step {
            #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
            Growth::Prefix(text) => put_in_front += text.len() as f64 * grows,
            _ => later.push((step.reads(), step.factor() * grows)),
        }
    }
    put_in_front + later.iter().map(|(_, growth)| *growth).fold(1.0, f64::max)
}

pub(crate) fn bytes_of(text: &str) -> ByteSet {
    let mut set = [false; 256];
    text.bytes().for_each(|byte| set[usize::from(byte)] = true);
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_replacements_that_find_each_other_multiply() {
        let apart = [Growth::Text("%", "percent"), Growth::Text("$", "DOLLAR")];
        assert_eq!(growth(&apart).to_bits(), 7.0_f64.to_bits());
        let doubling = [Growth::Text("a", "aa"); 40];
        assert_eq!(growth(&doubling).to_bits(), 2.0_f64.powi(40).to_bits());
        let hidden = [Growth::Text("a", "AA"), Growth::Other, Growth::Text("a", "AA")];
        assert_eq!(growth(&hidden).to_bits(), 4.0_f64.to_bits());
    }

    #[test]
    fn what_is_put_in_front_and_what_a_map_gives_counts() {
        let symbol = Growth::Prefix("\u{2581}");
        assert_eq!(growth(&[symbol, Growth::Text(" ", "\u{2581}")]).to_bits(), 6.0_f64.to_bits());
        let found = [Growth::Prefix("ab"), Growth::Text("a", "bbbbb")];
        assert_eq!(growth(&found).to_bits(), 15.0_f64.to_bits());
        let map = bytes_of("xy ");
        let found = [Growth::Any(10, &map), Growth::Text(" ", "___"), Growth::Text("a", "bb")];
        assert_eq!(growth(&found).to_bits(), 30.0_f64.to_bits());
    }

    proptest! {
        #[test]
        fn no_text_grows_beyond_the_bound(
            steps in prop::collection::vec(("[ab]{0,2}", "[abc]{0,4}"), 0..6),
            text in "[abc]{1,12}",
        ) {
            let change = |(from, to): &(String, String), text: &str| match from.is_empty() {
                true => format!("{to}{text}"),
                false => text.replace(from, to),
            };
            let changes: Vec<_> = steps
                .iter()
                .map(|(from, to)| if from.is_empty() { Growth::Prefix(to) } else { Growth::Text(from, to) })
                .collect();
            let mut changed = text.clone();
            for step in &steps {
                if changed.is_empty() {
                    break; // nothing is put in front of nothing
                }
                changed = change(step, &changed);
            }
            #[expect(clippy::cast_precision_loss, reason = "short texts")]
            let ratio = changed.len() as f64 / text.len() as f64;
            prop_assert!(ratio <= growth(&changes), "{ratio} {}", growth(&changes));
        }
    }
}
