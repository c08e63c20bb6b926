//! How much longer than a text a row of replacements can make it.
//!
//! `a` by `aa` forty times over makes a terabyte of one letter. A file that says so is refused when it is
//! read, since later no memory would suffice. A replacement multiplies what an earlier one has put there only
//! if it finds something in it; whether it does is judged by the bytes the two have in common, so the bound
//! may be too high and is never too low. What is put in front of a text is not counted: it is as long as the file
//! says. Takes the square of the number of steps.

/// A change, as far as its size matters.
#[derive(Clone, Copy)]
pub(crate) enum Growth<'s> {
    /// A text becomes another.
    Text(&'s str, &'s str),
    /// What a pattern matches, at least one byte, becomes a text.
    Pattern(&'s str),
    /// Anything becomes something of about its length.
    Other,
}

/// The bytes of a text.
type ByteSet = [bool; 256];

impl Growth<'_> {
    fn factor(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
        let ratio = |to: &str, from_len: usize| to.len() as f64 / from_len.max(1) as f64;
        match self {
            Self::Text(from, to) => ratio(to, from.len()).max(1.0),
            Self::Pattern(to) => ratio(to, 1).max(1.0),
            Self::Other => 1.0,
        }
    }

    fn reads(self) -> ByteSet {
        match self {
            Self::Text(from, _) => bytes_of(from),
            Self::Pattern(_) | Self::Other => [true; 256],
        }
    }

    fn writes(self) -> ByteSet {
        match self {
            Self::Text(_, to) | Self::Pattern(to) => bytes_of(to),
            Self::Other => [true; 256],
        }
    }
}

/// A bound of the length of the changed text over that of the text.
pub(crate) fn growth(steps: &[Growth<'_>]) -> f64 {
    let mut done: Vec<(ByteSet, f64)> = Vec::with_capacity(steps.len());
    for step in steps {
        let reads = step.reads();
        let meets = |writes: &ByteSet| writes.iter().zip(&reads).any(|(one, other)| *one && *other);
        let found = done.iter().filter(|(writes, _)| meets(writes)).map(|(_, growth)| *growth);
        done.push((step.writes(), step.factor() * found.fold(1.0, f64::max)));
    }
    done.iter().map(|(_, growth)| *growth).fold(1.0, f64::max)
}

fn bytes_of(text: &str) -> ByteSet {
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

    proptest! {
        #[test]
        fn no_text_grows_beyond_the_bound(
            steps in prop::collection::vec(("[ab]{1,2}", "[abc]{0,4}"), 0..6),
            text in "[abc]{1,12}",
        ) {
            let changes: Vec<_> = steps.iter().map(|(from, to)| Growth::Text(from, to)).collect();
            let changed = steps.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
            #[expect(clippy::cast_precision_loss, reason = "short texts")]
            let ratio = changed.len() as f64 / text.len() as f64;
            prop_assert!(ratio <= growth(&changes), "{ratio} {}", growth(&changes));
        }
    }
}
