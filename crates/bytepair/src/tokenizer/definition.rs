//! Encoding by its definition, for tests and for locating bugs.
//!
//! ```text
//! walk through the text to its added tokens and segments
//!     split each segment by the backtracker, stage by stage        (no windows, no automaton, no blocks)
//!     merge each piece as `encode/merge/naive.rs` does              (no cache, no cuts, no whole text in parts)
//! ```
//!
//! [`by_definition`] turns it on for the process. Ids must not change. If they do, a splitting engine, the merging of
//! pieces, a cache or a cut has a bug.
//!
//! Both ways share the search for added tokens, the normalizer, and the look-up of pieces that are a token as a whole,
//! so this does not check them. Spans, traces and dropout are checked by reference implementations in the tests. Costs
//! a look at each pair of a piece for each merge.

use std::sync::atomic::{AtomicBool, Ordering};

use super::call::Call;
use super::parts::Parts;
use super::walk::Depth;
use crate::encode::NaiveMerges;
use crate::error::Result;
use crate::pretokenize::{PreTokenizer, Round};
use crate::segment::Segment;
use crate::vocabulary::TokenId;
use bytepair_split::Splitter;

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Switches encoding by the definition on or off for the whole process.
pub fn by_definition(is_on: bool) {
    IS_ON.store(is_on, Ordering::Relaxed);
}

/// Whether texts are encoded by the definition.
#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// What the definition needs of a tokenizer besides its parts.
#[derive(Debug)]
pub(super) struct Definition {
    pre_tokenizer: PreTokenizer,
    merges: NaiveMerges,
}

impl Definition {
    pub(super) fn new(parts: &Parts) -> Result<Self> {
        let unicode = parts.normalizer.unicode();
        let rounds = parts.pre_tokenizer.rounds().iter().map(|round| {
            let splitter = Splitter::naive(round.splitter.stages().to_vec(), &unicode)?;
            Ok(Round { splitter, change: round.change.clone() })
        });
        let pre_tokenizer = PreTokenizer::new(rounds.collect::<Result<_>>()?);
        Ok(Self { pre_tokenizer, merges: NaiveMerges::new(&parts.vocabulary) })
    }
}

impl Call<'_> {
    /// Appends the ids of a text.
    pub(super) fn encode_by_definition(
        &self,
        text: Segment<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let tokenizer = self.tokenizer;
        let Definition { pre_tokenizer, merges } = tokenizer.plan().definition(&tokenizer.parts)?;
        self.walk_to_ids(text, Depth::Segment, ids, |text, place, ids| {
            pre_tokenizer.for_each_piece(&text.part(place), &mut |text, place| {
                let piece = &text.text[place];
                match self.matcher.whole_piece(piece) {
                    Some(id) => ids.push(id),
                    None => tokenizer.encoder().encode_by_definition(piece, merges, ids)?,
                }
                Ok(())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::segment::Segment;
    use crate::tokenizer::tests::{options, text, tokenizers};

    proptest! {
        #[test]
        fn encoding_gives_the_ids_of_the_definition(
            which: prop::sample::Index,
            text in text(),
            allows: bool,
        ) {
            let tokenizer = which.get(tokenizers());
            let call = tokenizer.call(options(allows)).unwrap();
            let mut ids = Vec::new();
            let expected = call.encode_by_definition(Segment::whole(&text), &mut ids);
            prop_assert_eq!(tokenizer.encode(&text, options(allows)).ok(), expected.ok().map(|()| ids));
        }
    }
}
