//! Counts the ids of a text, and finds the longest prefix of a text with at most a given number of ids.
//!
//! To count, a long text is encoded stretch by stretch (`stream`); the ids of each stretch are counted and dropped.
//! Template, truncation and padding are computed. Costs what encoding costs, and memory for one stretch on each
//! thread.
//!
//! To cut, the candidates are the places where one of the first ids of the text ends, each moved back to a character
//! boundary. The last candidate is chosen whose prefix has at most the wanted number of ids: without the text after
//! it, the end of a prefix may take more ids. The text is encoded stretch by stretch until there are too many ids, so
//! the rest is never looked at; the stretch in which that happens is encoded again with the places of its ids.

use super::call::Call;
use super::stream::n_useful;
use super::worker::Worker;
use super::{EncodeOptions, Tokenizer};
use crate::batch;
use crate::error::Result;
use crate::memory::prefetch::prefetch_beginning;
use crate::normalize::character_length;
use crate::segment::Segment;

/// Texts with fewer bytes are encoded at once.
const MAX_SHORT_LEN: usize = if crate::SMALL { 16 } else { 16 << 10 };

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
        call.tokenizer.with_workers(n_threads, |workers| call.count(text, 0, workers))
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
            call.count(texts[index], index as u64, workers)
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
    pub(super) fn count(
        &self,
        text: &[u8],
        index: u64,
        workers: &mut [Box<Worker>],
    ) -> Result<usize> {
        if self.dropping(index).is_some() {
            let mut ids = Vec::new();
            self.encode(text, index, &mut ids, workers)?;
            return Ok(ids.len());
        }
        let n_ids = self.count_by(Segment::whole(text), workers)?;
        let contents = self.contents(false);
        let n_ids = match self.truncation() {
            Some(truncation) => truncation.lens(n_ids, None, contents)?.0,
            None => n_ids,
        };
        let n_ids = contents.n_ids((n_ids, 0));
        Ok(self.padding().map_or(n_ids, |padding| n_ids.max(padding.len(n_ids))))
    }
}

/// The first and the greatest length of stretches, in bytes.
const STRETCH_LENS: (usize, usize) = (1 << 10, 64 << 10);

/// The approximate number of bytes per id.
const N_BYTES_PER_ID: usize = 4;

impl Tokenizer {
    /// The longest prefix of a text that ends where one of its first `n_ids` ids does, or at the end, and that itself
    /// has at most `n_ids` ids. Options about lengths and the template are ignored.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], for the part of the text that is looked at.
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
            let n_here =
                call.count_stretch(stretch).map_err(|error| error.moved_by(start as u64))?;
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
    /// The last place in a stretch where one of its first ids ends and the text before has no more ids than allowed.
    fn end_of_ids(&self, stretch: Segment<'_>, n_ids: usize) -> Result<usize> {
        let row = self.trace(stretch, 0)?;
        let ends = row.offsets[..n_ids.min(row.ids.len())].iter().scan(0, |last, &(_, end)| {
            *last = end.max(*last);
            Some(whole_characters(stretch.text, *last))
        });
        let mut ends: Vec<_> = ends.collect();
        ends.dedup();
        while let Some(end) = ends.pop() {
            let begin = Segment { is_last: true, ..stretch.part(0..end) };
            if self.count_stretch(begin)? <= n_ids {
                return Ok(end);
            }
        }
        Ok(0)
    }
}

/// The last character boundary up to `end`.
fn whole_characters(text: &[u8], end: usize) -> usize {
    let starts = (end.saturating_sub(3)..end).rev();
    let is_cut = |&start: &usize| {
        character_length(&text[start..]).is_some_and(|length| start + length > end)
    };
    starts.filter(|&start| text[start] & 0xC0 != 0x80).take(1).find(is_cut).unwrap_or(end)
}
