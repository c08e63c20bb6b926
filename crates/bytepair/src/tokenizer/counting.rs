//! The number of ids of a text, and the beginning of a text that has at most so many.
//!
//! To count, a long text is encoded stretch by stretch (`threads`), and what each gives is counted and forgotten. Template,
//! truncation and padding are added up. Costs what encoding costs, and memory for one stretch on each thread.
//!
//! To cut, candidates are the places where one of the first ids of the text ends, each moved back to the end of a whole
//! character. The last of them counts that leaves a text with no more ids than wanted: what is cut off may have kept the end
//! in fewer ids. The text is encoded stretch by stretch until there are too many ids, so the rest is not even looked at; the
//! stretch in which that happens is encoded again with the places of its ids.

use super::call::Call;
use super::threads::{Team, n_useful};
use super::{EncodeOptions, Tokenizer};
use crate::batch;
use crate::error::Result;
use crate::memory::prefetch::prefetch_beginning;
use crate::normalize::character_length;
use crate::segment::Segment;

/// The ids of shorter texts are made in one go, in bytes.
const MAX_SHORT_LEN: usize = if cfg!(test) { 16 } else { 16 << 10 };

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
        let contents = self.contents(false);
        let n_ids = match self.truncation() {
            Some(truncation) => truncation.lens(n_ids, None, contents)?.0,
            None => n_ids,
        };
        let n_ids = contents.n_ids((n_ids, 0));
        Ok(self.padding().map_or(n_ids, |padding| n_ids.max(padding.len(n_ids))))
    }
}

/// How long stretches are at first and at most, in bytes.
const STRETCH_LENS: (usize, usize) = (1 << 10, 64 << 10);

/// How many bytes an id has, roughly.
const N_BYTES_PER_ID: usize = 4;

impl Tokenizer {
    /// The longest beginning of a text that ends where one of its first `n_ids` ids does, or at the end, and that
    /// itself has at most so many ids. Options about lengths and the template do not count.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], as far as the text is looked at.
    pub fn truncate<'t>(
        &self,
        text: &'t [u8],
        n_ids: usize,
        options: EncodeOptions<'_>,
    ) -> Result<&'t [u8]> {
        let call = self.call(EncodeOptions { dropout: None, ..options })?;
        let len = n_ids.saturating_mul(N_BYTES_PER_ID).clamp(STRETCH_LENS.0, STRETCH_LENS.1);
        let (mut n_before, mut rest) = (0, Segment::whole(text));
        while !rest.text.is_empty() {
            let stretch = rest.part(0..call.tokenizer.stretch_end(rest.text, len));
            let start = text.len() - rest.text.len();
            let n_here = call
                .tokenizer
                .workers
                .with(|worker| call.count_by(stretch, &mut Team::of_one(worker)));
            let n_here = n_here.map_err(|error| error.moved_by(start as u64))?;
            if n_before + n_here > n_ids {
                let end = call.end_of_ids(stretch, n_ids - n_before)?;
                return Ok(&text[..start + end]);
            }
            n_before += n_here;
            rest = rest.rest(stretch.text.len());
        }
        Ok(text)
    }
}

impl Call<'_> {
    /// The last place of a stretch where one of its first ids ends, so that the text before has no more ids.
    fn end_of_ids(&self, stretch: Segment<'_>, n_ids: usize) -> Result<usize> {
        let row = self.trace_stretch(stretch)?;
        let ends = row.offsets()[..n_ids.min(row.ids.len())].iter().scan(0, |last, &(_, end)| {
            *last = end.max(*last);
            Some(whole_characters(stretch.text, *last))
        });
        let mut ends: Vec<_> = ends.collect();
        ends.dedup();
        while let Some(end) = ends.pop() {
            let begin = Segment { is_last: true, ..stretch.part(0..end) };
            let n_left = self
                .tokenizer
                .workers
                .with(|worker| self.count_by(begin, &mut Team::of_one(worker)))?;
            if n_left <= n_ids {
                return Ok(end);
            }
        }
        Ok(0)
    }
}

/// The last place up to `end` that lies in no character.
fn whole_characters(text: &[u8], end: usize) -> usize {
    let starts = (end.saturating_sub(3)..end).rev();
    let is_cut = |&start: &usize| {
        character_length(&text[start..]).is_some_and(|length| start + length > end)
    };
    starts.filter(|&start| text[start] & 0xC0 != 0x80).take(1).find(is_cut).unwrap_or(end)
}
