//! The longest beginning of a text that has at most a given number of ids.
//!
//! Candidates are the places where one of the first ids of the text ends, each moved back to the end of a whole character. The
//! last candidate whose text has no more ids than wanted wins; without the text after it, a text may have more ids than it had
//! as a part. The text is encoded stretch by stretch until there are too many ids, so the rest is not looked at; the stretch
//! in which this happens is encoded again with the places of its ids.

use super::call::Call;
use super::threads::Team;
use super::{EncodeOptions, Tokenizer};
use crate::error::Result;
use crate::normalize::character_length;
use crate::segment::Segment;

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
