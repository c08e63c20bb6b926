//! The number of ids of a text, which are never kept.
//!
//! A long text is encoded stretch by stretch (`threads`), and what each gives is counted and forgotten. Template, truncation
//! and padding are added up. Costs what encoding costs, and memory for one stretch on each thread.

use super::call::Call;
use super::threads::{Team, n_useful};
use super::{EncodeOptions, Tokenizer};
use crate::batch;
use crate::error::Result;
use crate::memory::prefetch::prefetch_beginning;
use crate::segment::Segment;
use crate::template::TemplatePiece;

/// The ids of shorter texts are made in one go, in bytes.
const MAX_SHORT_LEN: usize = 16 << 10;

impl Tokenizer {
    /// The number of ids of a text, found on `n_threads` threads.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`].
    pub fn count(
        &self,
        text: &[u8],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<usize> {
        if text.len() <= MAX_SHORT_LEN {
            return self.with_ids(text, options, <[_]>::len);
        }
        let call = self.call(options)?;
        let n_threads = n_useful(text.len(), n_threads);
        call.tokenizer.with_team(n_threads, |team| call.count(text, 0, team))
    }

    /// The number of ids of each text of a batch.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_batch`].
    pub fn count_batch(
        &self,
        texts: &[&[u8]],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<usize>> {
        let call = self.call(options)?;
        let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let n_threads = batch::n_useful(&lens, n_threads);
        let count_one = |index: usize, workers: &mut [_]| {
            texts.get(index + 1).into_iter().for_each(|next| prefetch_beginning(next));
            call.count(texts[index], index as u64, &mut Team::of(workers))
        };
        let counts = call
            .tokenizer
            .with_workers(n_threads, |workers| batch::map(&lens, workers, true, count_one))?;
        let longest = counts.iter().copied().max().unwrap_or_default();
        Ok(match call.padding() {
            Some(padding) => counts.iter().map(|&count| count.max(padding.len(longest))).collect(),
            None => counts,
        })
    }
}

impl Call<'_> {
    /// The number of ids that [`Call::encode`] appends.
    pub(super) fn count(&self, text: &[u8], index: u64, team: &mut Team<'_>) -> Result<usize> {
        if self.dropping(index).is_some() {
            let mut ids = Vec::new();
            self.encode(text, index, &mut ids, team)?;
            return Ok(ids.len());
        }
        let n_ids = self.count_by(Segment::whole(text), team)?;
        if !self.add_special_tokens && self.truncation().is_none() && self.padding().is_none() {
            return Ok(n_ids);
        }
        let n_ids = match self.truncation() {
            Some(truncation) => truncation.lens(n_ids, None, self.n_added(false))?.0,
            None => n_ids,
        };
        let pieces = self.tokenizer.parts.template.single.iter();
        let n_texts = pieces.filter(|piece| matches!(piece, TemplatePiece::Text { .. })).count();
        let n_ids = n_ids * n_texts + self.n_added(false);
        Ok(self.padding().map_or(n_ids, |padding| n_ids.max(padding.len(n_ids))))
    }
}
