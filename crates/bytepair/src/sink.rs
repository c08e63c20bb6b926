//! Where ids go.
//!
//! Whatever encodes texts hands their ids to a [`Sink`], a slice at a time, text after text in their order. A sink writes
//! them down in a form of its own: a vector and [`Batch`] in one row, without offsets or with them, as numbers of four bytes or
//! of two; [`Layout`](crate::documents::Layout) with marks between documents; [`IdFile`](crate::IdFile) in a file; `Count`
//! not at all. So the work on threads is written once, whatever becomes of the ids.
//!
//! One thread appends ids to the sink's own row, if it has one of 32 bits. Otherwise each id is copied while the processor still
//! has it in its cache.

use crate::error::Result;
use crate::id_width::Number;
use crate::memory::ask_to_grow;
use crate::memory::huge_pages::reserve;
use crate::vocabulary::TokenId;

/// Takes the ids of texts, one text after the other.
pub trait Sink {
    /// Prepares for about so many more ids.
    fn expect(&mut self, _n_ids: usize) {}

    /// Takes ids of the text that is under way.
    ///
    /// # Errors
    /// Where they cannot be written down. Work ends with the error.
    fn push(&mut self, ids: &[TokenId]) -> Result<()>;

    /// The row that ids of the text that is under way may be appended to instead of being [pushed](Self::push), if there is one.
    fn row(&mut self) -> Option<&mut Vec<TokenId>> {
        None
    }

    /// Ends the text that is under way.
    ///
    /// # Errors
    /// As for [`Self::push`].
    fn end_text(&mut self) -> Result<()>;
}

/// The numbers of all texts, with nothing between them.
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
    /// Where each text begins in `ids`, and behind the last one where it ends.
    pub offsets: Vec<usize>,
}

impl<N> Batch<N> {
    /// No texts yet. Ids come into the memory of a row that was used before, as far as it has room.
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

/// How many ids there are.
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
