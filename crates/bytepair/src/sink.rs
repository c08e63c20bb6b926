//! Where ids are written.
//!
//! Every function that encodes texts hands their ids to a [`Sink`], a slice at a time, text after text in order. A
//! sink stores them in its own form: a vector and [`Batch`] in one row, without offsets or with them, as numbers of
//! four bytes or of two; [`Layout`](crate::documents::Layout) with marks between documents; [`IdFile`](crate::IdFile)
//! in a file; `Count` not at all. So threading is written once for all of them.
//!
//! A single thread appends ids directly to the sink's own row, if it has one of 32 bits. In all other cases each id is
//! copied while the processor still has it in its cache, and for ids of 16 bits each slice is checked before any of its
//! ids is converted. Callers choose the width of ids.

use crate::error::{Error, Result};
use crate::memory::ask_to_grow;
use crate::memory::huge_pages::reserve;
use crate::vocabulary::TokenId;

/// Receives the ids of texts, one text after the other.
pub trait Sink {
    /// Prepares for about this many more ids.
    fn expect(&mut self, _n_ids: usize) {}

    /// Receives ids of the current text.
    ///
    /// # Errors
    /// If they cannot be stored. Encoding then stops with this error.
    fn push(&mut self, ids: &[TokenId]) -> Result<()>;

    /// The row to which ids of the current text may be appended instead of being [pushed](Self::push), if there is
    /// one.
    fn row(&mut self) -> Option<&mut Vec<TokenId>> {
        None
    }

    /// Ends the current text.
    ///
    /// # Errors
    /// As for [`Self::push`].
    fn end_text(&mut self) -> Result<()>;
}

/// The ids of all texts, with nothing between them.
impl<N: Number> Sink for Vec<N> {
    fn expect(&mut self, n_ids: usize) {
        reserve(self, n_ids + n_ids / 16);
    }

    fn push(&mut self, ids: &[TokenId]) -> Result<()> {
        ask_to_grow(self, ids.len())?;
        N::append(self, ids)
    }

    fn row(&mut self) -> Option<&mut Vec<TokenId>> {
        N::as_ids(self)
    }

    fn end_text(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The ids of many texts in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<N = TokenId> {
    /// The ids of all texts, one after the other.
    pub ids: Vec<N>,
    /// Where each text begins in `ids`, and the end of the last one.
    pub offsets: Vec<usize>,
}

impl<N> Batch<N> {
    /// An empty batch. The memory of a used row is reused as far as it suffices.
    pub fn in_memory(row: Vec<N>) -> Self {
        let mut ids = row;
        ids.clear();
        Self { ids, offsets: vec![0] }
    }

    /// The ids of each text.
    pub fn texts(&self) -> impl Iterator<Item = &[N]> {
        self.offsets.windows(2).map(|ends| &self.ids[ends[0]..ends[1]])
    }
}

impl<N> Default for Batch<N> {
    fn default() -> Self {
        Self::in_memory(Vec::new())
    }
}

impl<N: Number> Sink for Batch<N> {
    fn expect(&mut self, n_ids: usize) {
        self.ids.expect(n_ids);
    }

    fn push(&mut self, ids: &[TokenId]) -> Result<()> {
        Sink::push(&mut self.ids, ids)
    }

    fn row(&mut self) -> Option<&mut Vec<TokenId>> {
        self.ids.row()
    }

    fn end_text(&mut self) -> Result<()> {
        self.offsets.push(self.ids.len());
        Ok(())
    }
}

/// Counts ids without storing them.
#[derive(Debug, Default)]
pub(crate) struct Count(pub(crate) usize);

impl Sink for Count {
    fn push(&mut self, ids: &[TokenId]) -> Result<()> {
        self.0 += ids.len();
        Ok(())
    }

    fn end_text(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A number type for ids: `u32`, or `u16` for vocabularies of at most 65,536 ids, which takes half the memory, and
/// half the time that a system takes to provide it.
pub trait Number: Copy + Send + Sync + 'static {
    /// The largest id that fits.
    const MAX: TokenId;

    /// The low bits of an id, which is the id itself if [`check`](Self::check) accepts it.
    fn low_bits(id: TokenId) -> Self;

    /// Refuses ids that do not fit.
    ///
    /// # Errors
    /// If one is too large.
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
    /// If an id is too large. Nothing is appended in that case.
    fn append(row: &mut Vec<Self>, ids: &[TokenId]) -> Result<()> {
        Self::check(ids)?;
        row.extend(ids.iter().copied().map(Self::low_bits));
        Ok(())
    }

    /// A row of such numbers as a row of ids, if the types are the same.
    fn as_ids(_row: &mut Vec<Self>) -> Option<&mut Vec<TokenId>> {
        None
    }
}

impl Number for u32 {
    const MAX: TokenId = Self::MAX;

    fn low_bits(id: TokenId) -> Self {
        id
    }

    fn as_ids(row: &mut Vec<Self>) -> Option<&mut Vec<TokenId>> {
        Some(row)
    }
}

impl Number for u16 {
    const MAX: TokenId = Self::MAX as TokenId;

    #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
    fn low_bits(id: TokenId) -> Self {
        id as Self
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
