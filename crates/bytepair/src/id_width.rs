//! The numbers that ids are stored as: `u32`, or `u16` for small vocabularies.
//!
//! Left out: choosing one of them, which callers do, and where the numbers go ([`Sink`](crate::Sink)). Costs a copy of each
//! id, and for `u16` one comparison for each slice of ids.

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// A number that ids are written down as: `u32`, or `u16` for vocabularies of at most 65,536 ids, which takes half of the
/// memory, and half of the time that a system takes to hand it out.
pub trait Number: Copy + Send + Sync + 'static {
    /// The largest id that is such a number.
    const MAX: TokenId;

    /// An id, without the bits that such a number does not hold.
    fn cut(id: TokenId) -> Self;

    /// Refuses ids that are no such number.
    ///
    /// # Errors
    /// Where one is too large.
    fn check(ids: &[TokenId]) -> Result<()> {
        // Has a bit beyond the largest if any id has one.
        let bits = ids.iter().fold(0, |bits, id| bits | id);
        if bits <= Self::MAX {
            return Ok(());
        }
        let large = ids.iter().find(|&&id| id > Self::MAX).unwrap_or(&bits);
        Err(Error::option("dtype", format!("the id {large} does not fit uint16")))
    }

    /// Appends ids to a row of such numbers.
    ///
    /// # Errors
    /// Where an id is too large. Nothing was appended then.
    fn append(row: &mut Vec<Self>, ids: &[TokenId]) -> Result<()>;

    /// A row of such numbers as one of ids, if it is one.
    fn as_ids(_row: &mut Vec<Self>) -> Option<&mut Vec<TokenId>> {
        None
    }
}

impl Number for u32 {
    const MAX: TokenId = Self::MAX;

    fn cut(id: TokenId) -> Self {
        id
    }

    fn append(row: &mut Vec<Self>, ids: &[TokenId]) -> Result<()> {
        row.extend_from_slice(ids);
        Ok(())
    }

    fn as_ids(row: &mut Vec<Self>) -> Option<&mut Vec<TokenId>> {
        Some(row)
    }
}

impl Number for u16 {
    const MAX: TokenId = Self::MAX as TokenId;

    #[expect(clippy::cast_possible_truncation, reason = "callers know of what does not fit")]
    fn cut(id: TokenId) -> Self {
        id as Self
    }

    fn append(row: &mut Vec<Self>, ids: &[TokenId]) -> Result<()> {
        Self::check(ids)?;
        row.extend(ids.iter().copied().map(Self::cut));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_one_id_after_the_other(
            before: Vec<u16>,
            ids in prop::collection::vec(prop_oneof![60 => 0..65_536_u32, 1 => 65_530..70_000_u32], 0..200),
        ) {
            let mut numbers = before.clone();
            let expected: Option<Vec<u16>> = ids.iter().map(|&id| u16::try_from(id).ok()).collect();
            let appended = u16::append(&mut numbers, &ids);
            prop_assert_eq!(appended.is_ok(), expected.is_some());
            prop_assert_eq!(numbers, [before, expected.unwrap_or_default()].concat());
            if let Err(error) = appended {
                let large = ids.iter().find(|&&id| id > 65_535).unwrap();
                prop_assert_eq!(error.to_string(), format!("dtype: the id {large} does not fit uint16"));
            }
        }
    }
}
