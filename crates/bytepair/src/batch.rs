//! Encodes many texts on many threads, with results in the order of the texts.
//!
//! Threads take runs of adjacent texts, one run after the other, so a slow run delays no other thread, and the results
//! are put together meanwhile ([`parallel`](crate::parallel)). Threads live as long as the call: nothing survives a
//! `fork`, and there is no thread pool to set up or to exhaust. A text so large that threads would wait for the one
//! that has it is encoded by all of them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::{ErrorKind, Result};
use crate::memory::ask_to_grow;
use crate::parallel::in_order_within;
use crate::sink::Sink;
use crate::vocabulary::TokenId;

/// A run of texts ends when it has this many bytes.
const RUN_LEN: usize = 64 << 10;

/// Bytes of text per id for which room is reserved; English has about four.
pub(crate) const BYTES_PER_ID: usize = 4;

/// Room is reserved for the ids of at most this many bytes of a run.
const MAX_EXPECTED_LEN: usize = 2 * RUN_LEN;

/// Whether texts of these lengths, in bytes, are so short that one thread encodes them whatever the number of threads.
pub fn fits_one_thread(lens: impl IntoIterator<Item = usize>) -> bool {
    let mut lens = lens.into_iter().map(|len| len.saturating_add(16));
    lens.try_fold(RUN_LEN, usize::checked_sub).is_some()
}

/// How many threads are useful for texts of these lengths, in bytes.
pub(crate) fn n_useful(lens: &[usize], n_threads: usize) -> usize {
    let total_len: usize = lens.iter().map(|len| len + 16).sum();
    n_threads.clamp(1, total_len.div_ceil(RUN_LEN).max(1))
}

/// The ids of a run of texts, and the end of each text in them.
#[derive(Default)]
struct Run {
    ids: Vec<TokenId>,
    ends: Vec<usize>,
}

impl Run {
    /// Encodes the texts of a range with `encode_one`.
    fn fill<S>(
        &mut self,
        range: Range<usize>,
        lens: &[usize],
        states: &mut [S],
        encode_one: &impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()>,
    ) -> Result<()> {
        self.ids.clear();
        self.ends.clear();
        let n_bytes = lens[range.clone()].iter().sum::<usize>().min(MAX_EXPECTED_LEN);
        self.ids.reserve(n_bytes / BYTES_PER_ID);
        self.ends.reserve(range.len());
        for index in range {
            let encoded = encode_one(index, &mut self.ids, states);
            encoded.map_err(|error| ErrorKind::InBatch { index, error })?;
            self.ends.push(self.ids.len());
        }
        Ok(())
    }

    fn hand_over(&self, sink: &mut impl Sink) -> Result<()> {
        let mut start = 0;
        self.ends.iter().try_for_each(|&end| {
            sink.push(&self.ids[start..end])?;
            start = end;
            sink.end_text()
        })
    }
}

/// Encodes texts with `encode_one`, which appends the ids of the text with an index, and hands the ids to a sink. Each
/// thread takes one text at a time; texts so large that threads would wait for one of them are encoded one after the
/// other on all threads. Besides those in the sink, memory holds only the ids of a run of texts per thread, and of
/// runs that wait for a slow one.
pub(crate) fn encode<S: Send>(
    lens: &[usize],
    states: &mut [S],
    sink: &mut impl Sink,
    encode_one: impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()> + Sync,
) -> Result<()> {
    if states.len() == 1 {
        return encode_alone(lens, states, sink, encode_one);
    }
    let emptied = Mutex::new(Vec::new());
    let work = |range, states: &mut [S]| {
        let mut run: Run = lock(&emptied).pop().unwrap_or_default();
        run.fill(range, lens, states, &encode_one).map(|()| run)
    };
    let mut is_first = true;
    in_runs(lens, states, true, work, |(range, run)| {
        if std::mem::take(&mut is_first) {
            let n_bytes: usize = lens[range].iter().sum();
            sink.expect(n_expected(run.ids.len(), n_bytes, lens.iter().sum()));
        }
        run.hand_over(sink)?;
        lock(&emptied).push(run);
        Ok(())
    })
}

/// [`encode`] on the calling thread. Ids go directly to the sink's own row, if it has one.
fn encode_alone<S>(
    lens: &[usize],
    states: &mut [S],
    sink: &mut impl Sink,
    encode_one: impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()>,
) -> Result<()> {
    let total_len: usize = lens.iter().sum();
    let (mut spare, mut n_ids, mut n_bytes) = (Vec::new(), 0, 0);
    for (index, &len) in lens.iter().enumerate() {
        spare.clear();
        let row = sink.row().unwrap_or(&mut spare);
        let n_before = row.len();
        // There are hardly ever more ids than bytes. Long texts check memory on the way.
        let asked = ask_to_grow(row, len.min(RUN_LEN));
        let encoded = asked.and_then(|()| encode_one(index, row, states));
        if let Err(error) = encoded {
            row.truncate(n_before);
            return Err(ErrorKind::InBatch { index, error }.into());
        }
        n_ids += row.len() - n_before;
        sink.push(&spare)?;
        sink.end_text()?;
        let was_short = n_bytes < RUN_LEN;
        n_bytes += len;
        if was_short && n_bytes >= RUN_LEN {
            sink.expect(n_expected(n_ids, n_bytes, total_len - n_bytes));
        }
    }
    Ok(())
}

/// How many ids a text has if all of it is like its beginning; hardly ever more than one per byte.
pub(crate) fn n_expected(n_ids: usize, n_bytes: usize, total_len: usize) -> usize {
    let expected = n_ids as u128 * total_len as u128 / n_bytes.max(1) as u128;
    usize::try_from(expected).unwrap_or(total_len).min(total_len)
}

/// The results of `make` for each index of `lens`, in order; `lens` give the amount of work for each, in bytes. Large
/// ones get all states if `deals_large`.
pub(crate) fn map<T: Send, S: Send>(
    lens: &[usize],
    states: &mut [S],
    deals_large: bool,
    make: impl Fn(usize, &mut [S]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut all = Vec::with_capacity(lens.len());
    let make_run = |range: Range<usize>, states: &mut [S]| {
        let make_one =
            |index| make(index, states).map_err(|error| ErrorKind::InBatch { index, error }.into());
        range.map(make_one).collect::<Result<Vec<_>>>()
    };
    in_runs(lens, states, deals_large, make_run, |(_, made)| {
        all.extend(made);
        Ok(())
    })?;
    Ok(all)
}

/// Hands the results of `work` for each run of adjacent texts to `take`, in order. Each thread has one of the states;
/// a large text gets all of them.
fn in_runs<T: Send, S: Send>(
    lens: &[usize],
    states: &mut [S],
    deals_large: bool,
    work: impl Fn(Range<usize>, &mut [S]) -> Result<T> + Sync,
    mut take: impl FnMut((Range<usize>, T)) -> Result<()>,
) -> Result<()> {
    let (total_len, n_states) = (lens.iter().sum(), states.len());
    let is_large = |index: usize| deals_large && is_large(lens[index], total_len, n_states);
    let runs = runs(lens, is_large);
    let are_alike =
        |one: &Range<usize>, other: &Range<usize>| !is_large(one.start) && !is_large(other.start);
    for runs in runs.chunk_by(are_alike) {
        if let [run] = runs
            && is_large(run.start)
        {
            take((run.clone(), work(run.clone(), states)?))?;
            continue;
        }
        let (mut next, n_threads) = (runs.iter().cloned(), n_states.min(runs.len()));
        let work = |run: Range<usize>, state: &mut S| {
            work(run.clone(), std::slice::from_mut(state)).map(|made| (run, made))
        };
        // The results are kept anyway, however long one of the texts takes.
        let states = &mut states[..n_threads];
        let is_given = (usize::MAX, || true);
        in_order_within(is_given, states, || Ok(next.next()), work, |made| take(made?))?;
    }
    Ok(())
}

/// Whether a text of a batch is better split among all threads than encoded by one, for which others would wait.
fn is_large(len: usize, total_len: usize, n_threads: usize) -> bool {
    n_threads > 1 && len >= 2 * RUN_LEN && len > total_len / (2 * n_threads)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts the texts into runs of about [`RUN_LEN`] bytes. A large text is a run of its own.
fn runs(lens: &[usize], is_large: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut len) = (0, 0);
    for (index, text_len) in lens.iter().enumerate() {
        if is_large(index) && start < index {
            runs.push(start..index);
            start = index;
        }
        len += text_len + 16;
        if len >= RUN_LEN {
            runs.push(start..index + 1);
            (start, len) = (index + 1, 0);
        }
    }
    if start < lens.len() {
        runs.push(start..lens.len());
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Batch;
    use proptest::prelude::*;

    /// A stand-in for an encoder: each byte is an id, and `!` is an error.
    fn encode_one(text: &[u8], ids: &mut Vec<TokenId>) -> Result<()> {
        if text.contains(&b'!') {
            return Err(ErrorKind::EmptyCorpus.into());
        }
        ids.extend(text.iter().map(|&byte| TokenId::from(byte)));
        Ok(())
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_texts(
            lens in prop::collection::vec(prop_oneof![0..40_000_usize, 100_000..400_000_usize], 0..20),
            n_threads in 1..4_usize,
        ) {
            let texts: Vec<_> = lens.iter().zip(0..).map(|(&len, byte)| vec![byte; len]).collect();
            let encode_one = |index: usize, ids: &mut Vec<_>, _: &mut [()]| encode_one(&texts[index], ids);
            let mut batch = Batch::in_memory(vec![7_u32]);
            encode(&lens, &mut vec![(); n_threads], &mut batch, encode_one).unwrap();
            prop_assert_eq!(batch.offsets.len(), texts.len() + 1);
            let mut narrow = Batch::in_memory(vec![7_u16]);
            encode(&lens, &mut vec![(); n_threads], &mut narrow, encode_one).unwrap();
            prop_assert_eq!(&narrow.offsets, &batch.offsets);
            prop_assert!(narrow.ids.iter().map(|&number| TokenId::from(number)).eq(batch.ids.iter().copied()));
            for (text, ends) in texts.iter().zip(batch.offsets.windows(2)) {
                let expected: Vec<_> = text.iter().map(|&byte| TokenId::from(byte)).collect();
                prop_assert_eq!(&batch.ids[ends[0]..ends[1]], &expected);
            }
        }
    }

    #[test]
    fn texts_fit_one_thread_where_more_are_of_no_use() {
        let rows: [&[usize]; 6] = [
            &[],
            &[RUN_LEN - 16],
            &[RUN_LEN - 15],
            &[RUN_LEN / 2 - 16, RUN_LEN / 2 - 16],
            &[RUN_LEN / 2 - 16, RUN_LEN / 2 - 16, 0],
            &[10, 8 * RUN_LEN],
        ];
        for lens in rows {
            assert_eq!(fits_one_thread(lens.iter().copied()), n_useful(lens, 99) == 1, "{lens:?}");
        }
    }

    #[test]
    fn a_text_that_threads_would_wait_for_gets_all_of_them() {
        let lens = [10, 8 * RUN_LEN, 20, 30];
        let n_states = |index: usize, ids: &mut Vec<TokenId>, states: &mut [()]| {
            ids.extend([
                TokenId::try_from(index).unwrap(),
                TokenId::try_from(states.len()).unwrap(),
            ]);
            Ok(())
        };
        let mut batch = Batch::<TokenId>::default();
        encode(&lens, &mut [(); 3], &mut batch, n_states).unwrap();
        assert_eq!(batch.ids, [0, 1, 1, 3, 2, 1, 3, 1]);
    }

    #[test]
    fn a_failing_batch_names_the_first_text_that_fails() {
        let long = vec![b'a'; RUN_LEN];
        let larger = [&[b'!'][..], &vec![b'a'; 20 * RUN_LEN]].concat();
        let texts: Vec<&[u8]> = vec![&long, b"!", &long, b"!", &larger];
        let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
        for n_threads in [1, 2] {
            let encode_one =
                |index: usize, ids: &mut Vec<_>, _: &mut [()]| encode_one(texts[index], ids);
            let (states, batch) = (&mut vec![(); n_threads], &mut Batch::<TokenId>::default());
            let error = encode(&lens, states, batch, encode_one).unwrap_err();
            assert_eq!(batch.offsets, [0, RUN_LEN]);
            assert!(matches!(error.kind(), ErrorKind::InBatch { index: 1, .. }), "{error}");
        }
    }
}
