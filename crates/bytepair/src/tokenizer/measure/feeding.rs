//! A stream that is one text, measured stretch by stretch.
//!
//! The calling thread reads and cuts, others measure. Memory is that of some stretches for each thread, and grows with the
//! longest part that has no place to cut, which has a limit. Costs what measuring costs, and a copy of what is carried.

use std::cell::{Cell, RefCell};
use std::io::Read;

use super::placing::PieceCount;
use super::{Joints, Measure, State};
use crate::error::Result;
use crate::parallel::in_order::{N_JOBS_PER_THREAD, in_order_within};
use crate::tokenizer::feed::{Feed, Stretch};

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
            let mut feed = Feed::new(cut, reader, STRETCH_LEN, (MAX_UNCUT, WAY_OUT));
            let emptied = RefCell::new(Vec::new());
            let (n_out, most_out) = (Cell::new(0), states.len() * N_JOBS_PER_THREAD * STRETCH_LEN);
            let next = || {
                let stretch = feed.next(emptied.borrow_mut().pop().unwrap_or_default())?;
                n_out.set(n_out.get() + stretch.as_ref().map_or(0, Stretch::len));
                Ok(stretch)
            };
            let work = |stretch: Stretch, state: &mut State<'_>| {
                let measured = measure.measure(stretch.segment(), state);
                let count = measured.map_err(|error| error.moved_by(stretch.offset()))?;
                state.desk.hand_over(&measure.groups[number]);
                Ok((stretch, count))
            };
            let (mut last, mut joints) = (None, Joints::default());
            let take = |done: Result<(Stretch, PieceCount)>| {
                let (stretch, count) = done?;
                measure.join(&mut joints, 0, (number, &count));
                n_out.set(n_out.get() - stretch.len());
                last = stretch.segment().text.last().copied();
                let is_kept = |stretch: &Stretch| stretch.room() <= 4 * STRETCH_LEN;
                emptied.borrow_mut().extend(Some(stretch).filter(is_kept));
                Ok(())
            };
            let within = (N_JOBS_PER_THREAD, || n_out.get() < most_out);
            in_order_within(within, states, next, work, take)?;
            states[0].desk.sums.end_text(last);
            states[0].desk.hand_over(&measure.groups[number]);
            Ok(())
        })
    }
}
