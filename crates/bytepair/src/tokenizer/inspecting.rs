//! Questions about the tokens of a vocabulary: properties that need no text, and how often each token is made in a
//! corpus and how often it stays.
//!
//! Texts of a corpus are cut into pieces, and each distinct piece is encoded once, with all its merges. Pieces are
//! collected in a table until there are many; then they are encoded and dropped, which changes no sum. Special tokens
//! are plain text, and other added tokens are found, as when a corpus is encoded. Templates and lengths are ignored.
//!
//! Methods that look at all tokens cost an encoding of each. A corpus costs cutting its texts, a look-up for each
//! piece, and an encoding of each distinct piece.

use super::call::Call;
use super::walk::{Depth, Met};
use super::{EncodeOptions, Parts, Tokenizer};
use crate::count::PieceCounts;
use crate::encode::{PieceCourse, Scratch};
use crate::encoding::Traced;
use crate::error::{Error, ErrorKind, Result};
use crate::normalize::{NormalizeStep, add_spaces_only};
use crate::parallel::in_parallel;
use crate::segment::Segment;
use crate::units::printable_name;
use crate::vocabulary::TokenId;

/// Text tokens that merging never gives (`docs/explanation/reachability.md`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreached {
    /// Merging their own units gives other tokens.
    pub unmade: Vec<TokenId>,
    /// Merging their units gives them, but no neighbours leave them whole.
    pub unplaced: Vec<TokenId>,
}

impl Tokenizer {
    /// The tokens that merging never gives, including those that can be a whole piece.
    pub fn unreached(&self) -> Unreached {
        let encoder = self.encoder();
        let mut unmade = encoder.unmade();
        let unplaced = encoder.unplaced(&unmade);
        let others = encoder.made_of_others();
        unmade.retain(|id| !others.contains(id));
        Unreached { unmade, unplaced }
    }

    /// For each text: whether it is proven that no text contains it after normalization.
    ///
    /// # Errors
    /// As for encoding these texts.
    pub fn never_normalized(&self, texts: &[&[u8]]) -> Result<Vec<bool>> {
        let Parts { normalizer, pre_tokenizer, .. } = &self.parts;
        let later = pre_tokenizer.rounds().iter().flat_map(|round| round.change.steps());
        let is_last = add_spaces_only(&later.collect::<Vec<_>>());
        let steps = if is_last { normalizer.closed_steps() } else { Vec::new() };
        let is_never = |text: &&[u8]| {
            let mut changes = steps.iter().map(|step| step.changes(text));
            let change = changes.find(|change| !matches!(change, Ok(false)));
            change.unwrap_or(Ok(false))
        };
        texts.iter().map(is_never).collect()
    }

    /// For each text, which must be UTF-8 and not empty: whether the split pattern provably cuts it wherever it
    /// stands.
    pub fn never_held(&self, texts: &[&[u8]]) -> Vec<bool> {
        let spelled: Vec<_> = texts.iter().map(|text| printable_name(text)).collect();
        let spelled: Vec<_> = spelled.iter().map(String::as_bytes).collect();
        let (mut never, mut is_spelled) = (vec![false; texts.len()], false);
        for round in self.parts.pre_tokenizer.rounds().iter().rev() {
            let found = round.splitter.never_hold(if is_spelled { &spelled } else { texts });
            never.iter_mut().zip(found).for_each(|(never, found)| *never |= found);
            is_spelled = match (round.change.steps(), is_spelled) {
                ([], _) => is_spelled,
                ([NormalizeStep::CharBytes], false) => true,
                ([NormalizeStep::ByteChars], true) => false,
                _ => break, // earlier rounds split other texts
            };
        }
        never
    }

    /// The units of a text token, marks included; `None` if one is not in the vocabulary, and for other tokens.
    pub fn units_of_token(&self, id: TokenId) -> Option<Vec<TokenId>> {
        self.encoder().units_of_token(id)
    }

    /// The tokens that units, or other tokens, are merged to.
    ///
    /// # Errors
    /// If an id has no token, or there are too many for the memory.
    pub fn merged(&self, ids: &[TokenId]) -> Result<Vec<TokenId>> {
        ids.iter().try_for_each(|&id| self.parts.vocabulary.expect_token(id).map(drop))?;
        self.encoder().merged(ids, &mut Scratch::default())
    }
}

/// Pieces are encoded and dropped when there are this many distinct ones, or this many bytes of them.
const MAX_PIECES: usize = if crate::SMALL { 8 } else { 1 << 20 };
const MAX_BYTES: usize = 64 << 20;

/// Sums by id.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Usage {
    /// How often a token was made: as a unit, by a merge, or as a whole.
    pub made: Vec<u64>,
    /// How often it stayed: the ids of the corpus.
    pub kept: Vec<u64>,
    /// How many pieces there were.
    pub n_pieces: u64,
    pieces: PieceCounts,
}

/// What one thread found in some texts.
struct Found {
    pieces: PieceCounts,
    added: Vec<TokenId>,
}

impl Usage {
    /// An empty usage for a vocabulary of this many ids; a larger vocabulary makes it grow.
    pub fn new(n_ids: usize) -> Self {
        let zeros = vec![0; n_ids];
        Self { made: zeros.clone(), kept: zeros, n_pieces: 0, pieces: PieceCounts::new() }
    }

    /// Adds texts.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_batch`].
    pub fn add(&mut self, tokenizer: &Tokenizer, texts: &[&[u8]], n_threads: usize) -> Result<()> {
        let n_each = texts.len().div_ceil(n_threads.max(1)).max(1);
        let parts = texts.chunks(n_each).enumerate();
        let found = in_parallel(n_threads, parts, |(number, part)| {
            tokenizer.pieces_of(part, number * n_each)
        });
        self.make_room(tokenizer.parts().vocabulary.len());
        for found in found {
            let found = found?;
            for id in found.added {
                self.made[id as usize] += 1;
                self.kept[id as usize] += 1;
            }
            for (piece, count, _) in found.pieces.iter() {
                self.n_pieces += count.unsigned_abs();
                self.pieces.add(piece, count, None)?;
            }
        }
        if self.pieces.len() > MAX_PIECES || self.pieces.distinct_bytes() > MAX_BYTES {
            self.settle(tokenizer, n_threads)?;
        }
        Ok(())
    }

    /// Encodes the pieces collected so far.
    ///
    /// # Errors
    /// As for [`Self::add`].
    pub fn settle(&mut self, tokenizer: &Tokenizer, n_threads: usize) -> Result<()> {
        let pieces = std::mem::take(&mut self.pieces);
        let n_each = pieces.len().div_ceil(n_threads.max(1)).max(1);
        let n_parts = pieces.len().div_ceil(n_each);
        let n_ids = tokenizer.parts().vocabulary.len();
        self.make_room(n_ids);
        let sums = in_parallel(n_threads, 0..n_parts, |part| {
            let places = part * n_each..pieces.len().min((part + 1) * n_each);
            tokenizer.course_of(places.map(|place| pieces.get(place)), n_ids)
        });
        for sums in sums {
            let Self { made, kept, .. } = sums?;
            self.made.iter_mut().zip(made).for_each(|(sum, more)| *sum += more);
            self.kept.iter_mut().zip(kept).for_each(|(sum, more)| *sum += more);
        }
        Ok(())
    }

    fn make_room(&mut self, n_ids: usize) {
        for sums in [&mut self.made, &mut self.kept] {
            sums.resize(sums.len().max(n_ids), 0);
        }
    }
}

impl Tokenizer {
    /// The pieces of texts, the first of which has this index in its batch.
    fn pieces_of(&self, texts: &[&[u8]], first: usize) -> Result<Found> {
        let call = self.call(EncodeOptions::default())?;
        let mut found = Found { pieces: PieceCounts::new(), added: Vec::new() };
        (first..).zip(texts).try_for_each(|(index, text)| {
            let taken = take_pieces(&call, text, &mut found);
            taken.map_err(|error| Error::from(ErrorKind::InBatch { index, error }))
        })?;
        Ok(found)
    }

    /// The sums of pieces, each with how often it occurs.
    fn course_of<'p>(
        &self,
        pieces: impl Iterator<Item = (&'p [u8], i64)>,
        n_ids: usize,
    ) -> Result<Usage> {
        let mut usage = Usage::new(n_ids);
        self.workers.with(|worker| {
            for (piece, count) in pieces {
                let count = count.unsigned_abs();
                let encoder = self.encoder();
                let piece = encoder.spelled(piece).map_or(piece.into(), std::borrow::Cow::Owned);
                let course = encoder.course(&piece, &mut worker.scratch)?;
                made(&course).for_each(|id| usage.made[id as usize] += count);
                course.tokens.iter().for_each(|&(id, _)| usage.kept[id as usize] += count);
            }
            Ok(usage)
        })
    }
}

/// The tokens that are made while a piece is encoded: its symbols or its whole token, and the results of merges.
fn made(course: &PieceCourse) -> impl Iterator<Item = TokenId> {
    let begun = if course.is_whole { &course.tokens } else { &course.symbols };
    let merged = course.steps.iter().map(|step| step.merge.result);
    begun.iter().map(|&(id, _)| id).chain(merged)
}

fn take_pieces(call: &Call<'_>, text: &[u8], found: &mut Found) -> Result<()> {
    let text = Traced::plain(Segment::whole(text));
    call.walk(&text, Depth::Piece, |met| {
        match met {
            Met::Token { id, .. } => found.added.push(id),
            Met::Segment { .. } => {}
            Met::Text { text, place } => {
                match call.matcher.whole_piece(&text.text[place.clone()]) {
                    Some(id) => found.added.push(id),
                    None => found.pieces.add(&text.text[place], 1, None)?,
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::tests::tokenizers;

    proptest! {
        #[test]
        fn what_is_kept_are_the_ids_of_the_texts_whatever_the_threads(
            texts in prop::collection::vec("[a-e lowr\n<s>1▁é中]{0,12}|(low |er|est ){0,9}", 0..20),
            n_threads in 1..4_usize,
        ) {
            let texts: Vec<_> = texts.iter().map(String::as_bytes).collect();
            for tokenizer in tokenizers() {
                let Ok(batch) = tokenizer.encode_batch(&texts, EncodeOptions::default(), 1) else {
                    continue;
                };
                let mut usage = Usage::new(tokenizer.parts().vocabulary.len());
                let (first, rest) = texts.split_at(texts.len() / 2);
                usage.add(tokenizer, first, n_threads).unwrap();
                usage.add(tokenizer, rest, n_threads).unwrap();
                usage.settle(tokenizer, n_threads).unwrap();
                let mut kept = vec![0; usage.kept.len()];
                batch.ids.iter().for_each(|&id| kept[id as usize] += 1);
                prop_assert_eq!(&usage.kept, &kept);
                prop_assert!(usage.made.iter().zip(&kept).all(|(made, kept)| made >= kept));
            }
        }
    }
}
