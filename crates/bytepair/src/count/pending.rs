//! Rare pieces left out, in the plainest way; weights are not there yet.

use super::{CorpusCounter, PieceCounts};
use crate::error::{Error, Result};

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The number of distinct pieces.
    pub n_pieces: u64,
    /// How often they occurred, all together.
    pub n_occurrences: i64,
    /// No pair of tokens occurred more often than this in them.
    pub bound: i64,
}

impl PieceCounts {
    /// Leaves out pieces that occur less than `min_count` times.
    pub fn drop_rare(&mut self, min_count: i64) -> Result<Dropped> {
        let (mut kept, mut dropped) = (Self::new(), Dropped::default());
        for (piece, count, first) in self.iter() {
            if count >= min_count {
                kept.add(piece, count, first)?;
                continue;
            }
            dropped.n_pieces += 1;
            dropped.n_occurrences += count;
            dropped.bound += count * i64::try_from(piece.len()).unwrap_or(i64::MAX);
        }
        *self = kept;
        Ok(dropped)
    }
}

impl CorpusCounter {
    /// Lets every piece of the sources that follow count `multiplier` times.
    pub fn set_weight(&mut self, multiplier: u64) -> Result<()> {
        match multiplier {
            1 => Ok(()),
            _ => Err(Error::option("weight", "other than 1 is not available")),
        }
    }
}
