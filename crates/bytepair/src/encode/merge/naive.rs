//! Merging by its definition and nothing else: the reference for every algorithm beside it.
//!
//! Each step looks at all pairs: O(n²) look-ups for n symbols.

use std::collections::HashMap;

use crate::encode::Encoder;
use crate::error::Result;
use crate::vocabulary::{TokenId, Vocabulary};

/// By pair: the priority of its merge, and the result. If a pair has several merges, the last one counts.
#[derive(Debug)]
pub(crate) struct NaiveMerges(HashMap<[TokenId; 2], (usize, TokenId)>);

impl NaiveMerges {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let priority =
            |index| vocabulary.priorities().get(index).map_or(index, |&own| own as usize);
        let merges = vocabulary.merges().iter().enumerate();
        Self(
            merges
                .map(|(index, merge)| ([merge.left, merge.right], (priority(index), merge.result)))
                .collect(),
        )
    }

    /// Merges the pair of lowest priority, the leftmost of several, until no pair has a merge.
    pub(crate) fn merge(&self, mut ids: Vec<TokenId>) -> Vec<TokenId> {
        let candidate = |(place, pair): (usize, &[TokenId])| {
            let &(priority, result) = self.0.get(pair)?;
            Some((priority, place, result))
        };
        while let Some((_, place, result)) = ids.windows(2).enumerate().filter_map(candidate).min()
        {
            ids.splice(place..place + 2, [result]);
        }
        ids
    }
}

/// The tokens that symbols are merged to.
#[cfg(test)]
pub(in crate::encode) fn merge(vocabulary: &Vocabulary, ids: Vec<TokenId>) -> Vec<TokenId> {
    NaiveMerges::new(vocabulary).merge(ids)
}

impl Encoder {
    /// Appends the ids of a piece, whose text is already normalized.
    pub(crate) fn encode_by_definition(
        &self,
        piece: &[u8],
        merges: &NaiveMerges,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            out.push(id);
            return Ok(());
        }
        let mut ids = Vec::new();
        self.symbols.for_each(piece, |symbol| self.unknown_unit(symbol), |id, _| ids.push(id))?;
        out.extend(merges.merge(ids));
        Ok(())
    }
}
