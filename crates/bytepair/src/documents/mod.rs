//! Documents in files and columns: JSON lines (`jsonl`), CSV (`csv`), rows of texts in columns, stored one after the
//! other with offsets, and rows of their ids in files of tokens.
//!
//! The offsets of a column are checked once; then a row is a slice. Costs a pass over the offsets, or over the ids.

pub mod csv;
pub mod jsonl;

use aho_corasick::AhoCorasick;

use crate::error::{Error, Result};
use crate::memory::ask_to_grow;
use crate::sink::Number;
use crate::sink::Sink;
use crate::vocabulary::TokenId;

/// The rows of a column.
///
/// # Errors
/// If offsets decrease, or are outside `data`.
pub fn slices<'d>(data: &'d [u8], offsets: &[i64]) -> Result<Vec<&'d [u8]>> {
    let wrong = || Error::option("offsets", "they must not decrease or lie outside the data");
    let row = |ends: &[i64]| {
        let (start, end) = (usize::try_from(ends[0]).ok()?, usize::try_from(ends[1]).ok()?);
        data.get(start..end)
    };
    offsets.windows(2).map(|ends| row(ends).ok_or_else(wrong)).collect()
}

/// For each group, how many texts contain one of its names.
///
/// All names are searched for at once. So texts without any name, which are most, are searched once, however many
/// groups there are.
///
/// # Errors
/// If there are too many names to search for.
pub fn n_holding(texts: &[&[u8]], groups: &[Vec<&[u8]>]) -> Result<Vec<u64>> {
    let search = |names: &mut dyn Iterator<Item = &&[u8]>| {
        let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
        let found = (!names.is_empty()).then(|| AhoCorasick::new(names)).transpose();
        found.map_err(|error| Error::option("names", error.to_string()))
    };
    let Some(any) = search(&mut groups.iter().flatten())? else { return Ok(vec![0; groups.len()]) };
    let some: Vec<_> = texts.iter().filter(|text| any.is_match(**text)).collect();
    let n_in = |names: &Vec<&[u8]>| {
        let Some(search) = search(&mut names.iter())? else { return Ok(0) };
        Ok(some.iter().filter(|text| search.is_match(***text)).count() as u64)
    };
    match some.is_empty() {
        true => Ok(vec![0; groups.len()]),
        false => groups.iter().map(n_in).collect(),
    }
}

/// The ids of documents, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens<T> {
    /// The ids, including marks of documents.
    pub ids: Vec<T>,
    /// By row: where its ids end. A row without ids gets no marks.
    pub ends: Vec<i64>,
}

/// The ids around each document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// An id before it.
    pub before: Option<TokenId>,
    /// An id after it.
    pub behind: Option<TokenId>,
}

/// Stores the ids of documents, with marks, as numbers of type `N`.
#[derive(Clone, Debug)]
pub struct Layout<N> {
    marks: Marks,
    /// Whether the present document has ids so far.
    is_begun: bool,
    tokens: Tokens<N>,
}

impl<N: Number> Layout<N> {
    /// A layout without documents, which reuses the memory of `row`.
    ///
    /// # Errors
    /// If a mark does not fit `N`.
    pub fn new(marks: Marks, row: Vec<N>) -> Result<Self> {
        marks.before.into_iter().chain(marks.behind).try_for_each(|mark| N::check(&[mark]))?;
        let mut ids = row;
        ids.clear();
        Ok(Self { marks, is_begun: false, tokens: Tokens { ids, ends: Vec::new() } })
    }

    /// The ids of all documents.
    pub fn finish(self) -> Tokens<N> {
        self.tokens
    }
}

impl<N: Number> Sink for Layout<N> {
    fn push(&mut self, ids: &[TokenId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let row = &mut self.tokens.ids;
        ask_to_grow(row, ids.len() + 2)?;
        if !std::mem::replace(&mut self.is_begun, true) {
            row.extend(self.marks.before.map(N::low_bits));
        }
        N::append(row, ids)
    }

    fn end_text(&mut self) -> Result<()> {
        let Tokens { ids, ends } = &mut self.tokens;
        let has_ids = std::mem::take(&mut self.is_begun);
        let behind = self.marks.behind.filter(|_| has_ids);
        ids.extend(behind.map(N::low_bits));
        ends.push(i64::try_from(ids.len()).unwrap_or(i64::MAX));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out<N: Number>(rows: &[&[TokenId]], marks: Marks) -> Result<Tokens<N>> {
        let mut layout = Layout::new(marks, Vec::new())?;
        for row in rows {
            // A document may come in parts, some of them empty.
            let (first, second) = row.split_at(row.len() / 2);
            layout.push(first)?;
            layout.push(second)?;
            layout.end_text()?;
        }
        Ok(layout.finish())
    }

    #[test]
    fn offsets_that_leave_the_data_or_decrease_are_refused() {
        assert_eq!(slices(b"abc", &[1, 1, 3]).unwrap(), [b"".as_slice(), b"bc"]);
        for offsets in [[0, 4], [-1, 2], [2, 1]] {
            assert!(slices(b"abc", &offsets).is_err(), "{offsets:?}");
        }
    }

    #[test]
    fn texts_that_hold_a_name_are_counted_once_in_each_group() {
        let texts: Vec<&[u8]> = vec![b"<|a|><|a|>", b"<|b|", b"x<|b|>", b"", b"<c><|a|>"];
        let (first, second): (Vec<&[u8]>, Vec<&[u8]>) =
            (vec![b"<|a|>", b"<|b|>", b""], vec![b"<c>"]);
        let groups = [first, vec![], second];
        assert_eq!(n_holding(&texts, &groups).unwrap(), [3, 0, 1]);
        assert_eq!(n_holding(&texts[3..4], &groups).unwrap(), [0, 0, 0]);
        assert_eq!(n_holding(&texts, &[vec![]]).unwrap(), [0]);
    }

    fn marks(before: Option<TokenId>, behind: Option<TokenId>) -> Marks {
        Marks { before, behind }
    }

    #[test]
    fn marks_stand_around_each_document_that_has_ids() {
        let laid_out =
            |before, behind| laid_out::<u32>(&[&[1, 2], &[], &[3]], marks(before, behind)).unwrap();
        assert_eq!(laid_out(None, None).ids, [1, 2, 3]);
        assert_eq!(laid_out(Some(9), None).ids, [9, 1, 2, 9, 3]);
        let behind = laid_out(None, Some(9));
        assert_eq!((behind.ids, behind.ends), (vec![1, 2, 9, 3, 9], vec![3, 3, 5]));
        let both = laid_out(Some(8), Some(9));
        assert_eq!((both.ids, both.ends), (vec![8, 1, 2, 9, 8, 3, 9], vec![4, 4, 7]));
    }

    #[test]
    fn an_id_that_does_not_fit_is_refused() {
        assert!(laid_out::<u16>(&[&[65_535]], Marks::default()).is_ok());
        assert!(laid_out::<u16>(&[&[65_536]], Marks::default()).is_err());
        for marks in [marks(None, Some(65_536)), marks(Some(65_536), Some(1))] {
            assert!(laid_out::<u16>(&[&[1]], marks).is_err());
        }
    }
}
