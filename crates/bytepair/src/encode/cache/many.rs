//! Up to sixteen ids of a short piece that do not fit its slot, in a row of their own: words of scripts for which a
//! vocabulary has hardly any tokens, and spaces of which none are joined.
//!
//! A row is 64 bytes, one line of the processor's cache, and is copied whole whatever counts of it. Rows are written
//! round and round; whether one still stands is seen from its number, counted since the beginning. Left out: more ids.

use crate::vocabulary::TokenId;

/// Ids of a row.
const ROW_LEN: usize = 16;
/// Rows; 8 MiB. Fifteen megabytes of text in many languages have 76,000 such words in GPT-2, which must not displace each
/// other.
const MAX_ROWS: usize = 1 << 17;
/// In a value: the bits that say how many ids count.
const LEN_BITS: u32 = 8;

/// Rows in the order in which they were written.
#[derive(Default)]
pub(super) struct Many {
    rows: Vec<Row>,
    n_written: u64,
}

/// Aligned so that no row lies in two lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([TokenId; ROW_LEN]);

impl Many {
    /// The value for some ids, unless there are too many of them. It is less than 2^72.
    pub(super) fn push(&mut self, ids: &[TokenId]) -> Option<u128> {
        let mut row = Row([0; ROW_LEN]);
        row.0.get_mut(..ids.len())?.copy_from_slice(ids);
        let number = self.n_written;
        match self.rows.get_mut(index(number)) {
            Some(old) => *old = row,
            None => self.rows.push(row),
        }
        self.n_written += 1;
        Some(u128::from(number) << LEN_BITS | ids.len() as u128)
    }

    /// Appends the ids of a value, if they still stand.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a number has 64 bits, and a length fewer")]
    pub(super) fn append(&self, value: u128, out: &mut Vec<TokenId>) -> bool {
        let (number, n_ids) = ((value >> LEN_BITS) as u64, value as usize % (1 << LEN_BITS));
        if self.n_written - number > MAX_ROWS as u64 {
            return false;
        }
        let Some(row) = self.rows.get(index(number)) else { return false };
        out.extend_from_slice(&row.0);
        out.truncate(out.len() - ROW_LEN + n_ids);
        true
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "less than the number of rows")]
fn index(number: u64) -> usize {
    (number % MAX_ROWS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids that hardly another number has, as many as it says.
    fn ids(number: u32) -> Vec<TokenId> {
        (0..number % 17).map(|place| number * 31 + place).collect()
    }

    #[test]
    fn ids_are_given_until_their_row_is_written_again() {
        let mut many = Many::default();
        let values: Vec<_> = (0..200_000).map(|number| many.push(&ids(number)).unwrap()).collect();
        for (number, &value) in (0..).zip(&values) {
            let mut found = vec![7];
            let is_here = many.append(value, &mut found);
            assert_eq!(is_here, number as usize + MAX_ROWS >= 200_000, "{number}");
            assert_eq!(found[1..], if is_here { ids(number) } else { vec![] });
        }
        assert!(many.rows.len() == MAX_ROWS && many.push(&[1; 17]).is_none());
    }
}
