//! Many texts on many threads, with the result in the order of the texts.
//!
//! Threads take runs of neighbouring texts, one run after the other, so a slow one holds nobody up. They
//! live as long as the call: nothing survives a `fork`, and there is no pool to set up or to exhaust.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};
use crate::template::Padding;
use crate::vocabulary::TokenId;

/// A run of texts ends when it is this long, in bytes.
const RUN_LEN: usize = 64 << 10;

/// The ids of many texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts, one after the other.
    pub ids: Vec<TokenId>,
    /// Where each text begins in `ids`, and behind the last one where it ends.
    pub offsets: Vec<usize>,
}

impl Batch {
    /// Fills each text up to a length.
    pub(crate) fn padded(&self, padding: &Padding, len: usize) -> Self {
        let mut padded = Self { ids: Vec::new(), offsets: vec![0] };
        for ends in self.offsets.windows(2) {
            let start = padded.ids.len();
            padded.ids.extend_from_slice(&self.ids[ends[0]..ends[1]]);
            padding.fill(len, start, &mut padded.ids);
            padded.offsets.push(padded.ids.len());
        }
        padded
    }

    /// The number of ids of the longest text.
    pub(crate) fn longest(&self) -> usize {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or_default()
    }
}

/// The ids of a run of texts, with the number of ids of each.
struct Encoded {
    ids: Vec<TokenId>,
    lens: Vec<usize>,
}

/// Encodes texts by `encode_one`, which appends the ids of the text of an index.
pub(crate) fn encode(
    texts: &[&[u8]],
    n_threads: usize,
    encode_one: impl Fn(usize, &mut Vec<TokenId>) -> Result<()> + Sync,
) -> Result<Batch> {
    let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
    in_runs(&lens, n_threads, |range| encode_run(range, &encode_one)).map(joined)
}

/// What `make` makes for each index of `lens`, in order; `lens` say how much work each is, in bytes.
pub(crate) fn map<T: Send>(
    lens: &[usize],
    n_threads: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let make_one = |index| make(index).map_err(|error| ErrorKind::InBatch { index, error }.into());
    let runs = in_runs(lens, n_threads, |range| range.map(make_one).collect::<Result<Vec<_>>>())?;
    Ok(runs.into_iter().flatten().collect())
}

/// What `work` makes of each run of neighbouring texts, in order.
fn in_runs<T: Send>(
    lens: &[usize],
    n_threads: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let runs = runs(lens);
    let next_run = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::with_capacity(runs.len()));
    let work = || {
        loop {
            let run = next_run.fetch_add(1, Ordering::Relaxed);
            let Some(range) = runs.get(run) else { return Ok(()) };
            let made = work(range.clone())?;
            lock(&finished).push((run, made));
        }
    };
    let n_threads = n_threads.clamp(1, runs.len().max(1));
    if n_threads == 1 {
        work()?;
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let results = threads.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            first_error(results)
        })?;
    }
    let mut finished = finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    finished.sort_unstable_by_key(|(run, _)| *run);
    Ok(finished.into_iter().map(|(_, made)| made).collect())
}

/// Of several errors the one of the first text, so that threads do not show.
fn first_error(results: impl Iterator<Item = Result<()>>) -> Result<()> {
    let place = |error: &Error| match error.kind() {
        ErrorKind::InBatch { index, .. } => *index,
        _ => usize::MAX,
    };
    results.filter_map(Result::err).min_by_key(place).map_or(Ok(()), Err)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Cuts the texts into runs of about [`RUN_LEN`] bytes.
fn runs(lens: &[usize]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut len) = (0, 0);
    for (index, text_len) in lens.iter().enumerate() {
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

fn encode_run(
    range: Range<usize>,
    encode_one: &impl Fn(usize, &mut Vec<TokenId>) -> Result<()>,
) -> Result<Encoded> {
    let mut ids = Vec::new();
    let mut lens = Vec::with_capacity(range.len());
    for index in range {
        let n_before = ids.len();
        encode_one(index, &mut ids).map_err(|error| ErrorKind::InBatch { index, error })?;
        lens.push(ids.len() - n_before);
    }
    Ok(Encoded { ids, lens })
}

/// Puts the runs together in the order of their texts.
fn joined(finished: Vec<Encoded>) -> Batch {
    let mut batch = Batch { ids: Vec::new(), offsets: vec![0] };
    batch.ids.reserve_exact(finished.iter().map(|encoded| encoded.ids.len()).sum());
    for Encoded { ids, lens } in finished {
        let mut end = batch.ids.len();
        batch.offsets.extend(lens.iter().map(|len| {
            end += len;
            end
        }));
        batch.ids.extend_from_slice(&ids);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
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
        fn the_order_is_that_of_the_texts(lens in prop::collection::vec(0..40_000_usize, 0..20), n_threads in 1..4_usize) {
            let texts: Vec<_> = lens.iter().zip(0..).map(|(&len, byte)| vec![byte; len]).collect();
            let slices: Vec<_> = texts.iter().map(Vec::as_slice).collect();
            let batch = encode(&slices, n_threads, |index, ids| encode_one(slices[index], ids)).unwrap();
            prop_assert_eq!(batch.offsets.len(), texts.len() + 1);
            for (text, ends) in texts.iter().zip(batch.offsets.windows(2)) {
                let expected: Vec<_> = text.iter().map(|&byte| TokenId::from(byte)).collect();
                prop_assert_eq!(&batch.ids[ends[0]..ends[1]], &expected);
            }
        }
    }

    #[test]
    fn a_failing_batch_names_the_first_text_that_fails() {
        let long = vec![b'a'; RUN_LEN];
        let texts: Vec<&[u8]> = vec![&long, b"!", &long, b"!"];
        for n_threads in [1, 2] {
            let error =
                encode(&texts, n_threads, |index, ids| encode_one(texts[index], ids)).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InBatch { index: 1, .. }), "{error}");
        }
    }
}
