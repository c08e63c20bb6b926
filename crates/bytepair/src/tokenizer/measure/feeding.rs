//! A stream that is one text, measured stretch by stretch.
//!
//! The calling thread reads and cuts, others measure. Memory is that of some stretches for each thread, and grows with the
//! longest part that has no place to cut, which has a limit. Costs what measuring costs, and a copy of what is carried.

use std::io::Read;

use super::placing::PieceCount;
use super::{Joints, Measure, State};
use crate::error::Result;
use crate::tokenizer::stream::{Feed, Stretch};

/// How much is measured at once, in bytes.
const STRETCH_LEN: usize = if cfg!(test) { 16 } else { 256 << 10 };

/// How long a part without a place to cut may be, in bytes.
const MAX_UNCUT: usize = 256 << 20;

/// What to do about a longer one.
const WAY_OUT: &str = "cut the text into documents";

impl Measure {
    /// Adds all that `reader` gives as one text of a group, on `n_threads` threads.
    ///
    /// # Errors
    /// As for [`Measure::add`]; where reading fails; and where a part of the text that cannot be cut is too long. Some of
    /// the text may have been added then.
    pub fn add_stream(&mut self, reader: impl Read, name: &[u8], n_threads: usize) -> Result<()> {
        let number = self.group(name)?;
        self.with_states(n_threads.max(1), |measure, states| {
            let cut = |text: &[u8], range| measure.last_cut(text, range);
            let feed = Feed::new(cut, reader, STRETCH_LEN, (MAX_UNCUT, WAY_OUT));
            let work = |stretch: &Stretch, state: &mut State<'_>, count: &mut PieceCount| {
                *count = measure.measure(stretch.segment(), state)?;
                state.desk.hand_over(&measure.groups[number]);
                Ok(())
            };
            let (mut last, mut joints) = (None, Joints::default());
            feed.for_each(states, work, |stretch, count| {
                measure.join(&mut joints, 0, (number, count));
                last = stretch.segment().text.last().copied();
                Ok(())
            })?;
            states[0].desk.sums.end_text(last);
            states[0].desk.hand_over(&measure.groups[number]);
            Ok(())
        })
    }
}
