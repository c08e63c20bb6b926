//! Many texts on many threads, with the result in the order of the texts.
//!
//! Threads take runs of neighbouring texts, one run after the other, so a slow one holds nobody up, and what they make
//! of them is put together meanwhile ([`in_order`](crate::parallel::in_order)). They live as long as the call: nothing survives a
//! `fork`, and there is no pool to set up or to exhaust.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::{ErrorKind, Result};
use crate::memory::ask_to_grow;
use crate::memory::large_pages::reserve;
use crate::narrow::append_narrow;
use crate::parallel::in_order::in_order_within;
use crate::template::Padding;
use crate::vocabulary::TokenId;

/// A run of texts ends when it is this long, in bytes.
const RUN_LEN: usize = 64 << 10;

/// Bytes of text for which there is room for an id beforehand; English has about four.
pub(crate) const BYTES_PER_ID: usize = 4;

/// From so many bytes of texts it is told how many ids the others have.
const SAMPLE_LEN: usize = 128 << 10;

/// A row of so many ids is made longer, if need be, by the allocator, which mostly copies none of it. A shorter one is
/// copied to where there are large pages.
const LONG_ROW: usize = 1 << 18;

/// Texts are handed on when they have so many ids, until more are wanted: 256 KB, which the processor still has at hand.
pub const GROUP_LEN: usize = 1 << 16;

/// Most ids for which there is room though they are not expected: 64 MiB.
const MAX_SPARE: usize = 1 << 24;

/// The ids of many texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch<N = TokenId> {
    /// The ids of all texts, one after the other.
    pub ids: Vec<N>,
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

impl<N> Batch<N> {
    /// Appends the ids of a run of texts, with which `n_done` of so many bytes are done. Room for all is made by the first.
    fn append(
        &mut self,
        encoded: &Encoded,
        (n_done, total_len): (usize, usize),
        append_ids: impl Fn(&[TokenId], &mut Vec<N>) -> Result<()>,
    ) -> Result<()> {
        if self.ids.is_empty() {
            let expected = encoded.ids.len() as u128 * total_len as u128 / n_done.max(1) as u128;
            let expected = usize::try_from(expected).unwrap_or(total_len);
            reserve(&mut self.ids, expected + expected / 16);
        }
        append_ids(&encoded.ids, &mut self.ids)?;
        let mut end = self.offsets.last().copied().unwrap_or_default();
        self.offsets.extend(encoded.lens.iter().map(|len| {
            end += len;
            end
        }));
        Ok(())
    }
}

/// Whether texts of these lengths, in bytes, are so short that one thread encodes them whatever the number of threads.
pub fn fits_one_thread(lens: impl IntoIterator<Item = usize>) -> bool {
    let mut left = Some(RUN_LEN);
    lens.into_iter().all(|len| {
        left = left.and_then(|left| left.checked_sub(len)?.checked_sub(16));
        left.is_some()
    })
}

/// How many threads are of use for texts of these lengths, in bytes.
pub(crate) fn n_useful(lens: &[usize], n_threads: usize) -> usize {
    let total_len: usize = lens.iter().map(|len| len + 16).sum();
    n_threads.clamp(1, total_len.div_ceil(RUN_LEN).max(1))
}

/// The ids of a run of texts, with the number of ids of each.
struct Encoded {
    ids: Vec<TokenId>,
    lens: Vec<usize>,
}

impl From<Encoded> for Batch {
    fn from(Encoded { ids, lens }: Encoded) -> Self {
        let ends = lens.into_iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        Self { ids, offsets: std::iter::once(0).chain(ends).collect() }
    }
}

/// Encodes texts by `encode_one`, which appends the ids of the text of an index: one text on each thread, or, for
/// texts so large that threads would wait for one of them, one after the other on all. The ids come into the memory of
/// `row`, if it has room for them.
pub(crate) fn encode<S: Send>(
    lens: &[usize],
    states: &mut [S],
    row: Vec<TokenId>,
    encode_one: impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()> + Sync,
) -> Result<Batch> {
    if states.len() == 1 {
        return encode_run(0..lens.len(), lens, states, (row, &encode_one)).map(Batch::from);
    }
    encode_in_runs(lens, states, row, encode_one, |ids, all| {
        ask_to_grow(all, ids.len())?;
        all.extend_from_slice(ids);
        Ok(())
    })
}

/// The same, as numbers of two bytes. Beside them lie no more ids than those of a run of texts for each thread.
///
/// # Errors
/// As for [`encode`], and where an id does not fit.
pub(crate) fn encode_narrow<S: Send>(
    lens: &[usize],
    states: &mut [S],
    row: Vec<u16>,
    encode_one: impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()> + Sync,
) -> Result<Batch<u16>> {
    encode_in_runs(lens, states, row, encode_one, append_narrow)
}

/// Encodes runs of texts, and puts the ids of each behind those before it by `append_ids`.
fn encode_in_runs<N, S: Send>(
    lens: &[usize],
    states: &mut [S],
    row: Vec<N>,
    encode_one: impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()> + Sync,
    append_ids: impl Fn(&[TokenId], &mut Vec<N>) -> Result<()>,
) -> Result<Batch<N>> {
    let (total_len, emptied) = (lens.iter().sum(), Mutex::new(Vec::new()));
    let work = |range, states: &mut [S]| {
        let row = lock(&emptied).pop().unwrap_or_default();
        encode_run(range, lens, states, (row, &encode_one))
    };
    let mut batch = Batch { ids: row, offsets: vec![0] };
    batch.ids.clear();
    let mut n_done = 0;
    in_runs(lens, states, true, work, |(range, encoded)| {
        n_done += lens[range].iter().sum::<usize>();
        batch.append(&encoded, (n_done, total_len), &append_ids)?;
        lock(&emptied).push(encoded.ids);
        Ok(())
    })?;
    Ok(batch)
}

/// Encodes runs of texts, and hands some of them at a time to `take`, in order, as soon as they have enough ids; `take` says
/// how many are enough the next time. Returns those that are left. So no row is as long as the batch, unless that is
/// wanted or others wait behind a slow run. The first run has the memory of `row`.
pub(crate) fn encode_in_groups<S: Send>(
    lens: &[usize],
    states: &mut [S],
    (row, encode_one): (
        Vec<TokenId>,
        impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()> + Sync,
    ),
    mut take: impl FnMut(&[Batch]) -> usize,
) -> Result<Vec<Batch>> {
    let emptied = Mutex::new(vec![row]);
    let work = |range, states: &mut [S]| {
        let row = lock(&emptied).pop().unwrap_or_default();
        encode_run(range, lens, states, (row, &encode_one)).map(Batch::from)
    };
    let (mut group, mut n_ids, mut n_wanted) = (Vec::new(), 0, GROUP_LEN);
    in_runs(lens, states, true, work, |(_, batch)| {
        n_ids += batch.ids.len();
        group.push(batch);
        if n_ids >= n_wanted {
            n_wanted = take(&group);
            lock(&emptied).extend(group.drain(..).map(|batch: Batch| batch.ids));
            n_ids = 0;
        }
        Ok(())
    })?;
    Ok(group)
}

/// What `make` makes for each index of `lens`, in order; `lens` say how much work each is, in bytes. Large ones get
/// all states, if they are dealt out (`deals_large`).
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

/// Hands what `work` makes of each run of neighbouring texts to `take`, in order. It is made with one of the states for
/// each thread, of one large text with all of them.
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
        // What is made is kept anyway, however long one of the texts takes.
        let states = &mut states[..n_threads];
        let is_given = (usize::MAX, || true);
        in_order_within(is_given, states, || Ok(next.next()), work, |made| take(made?))?;
    }
    Ok(())
}

/// Whether a text of a batch is better dealt to all threads than taken by one, which others would wait for.
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

fn encode_run<S>(
    range: Range<usize>,
    text_lens: &[usize],
    states: &mut [S],
    (mut ids, encode_one): (
        Vec<TokenId>,
        &impl Fn(usize, &mut Vec<TokenId>, &mut [S]) -> Result<()>,
    ),
) -> Result<Encoded> {
    let n_bytes: usize = text_lens[range.clone()].iter().sum();
    ids.clear();
    ids.reserve(n_bytes.min(SAMPLE_LEN) / BYTES_PER_ID);
    let mut lens = Vec::with_capacity(range.len());
    let mut n_done = 0;
    for index in range {
        if n_done >= SAMPLE_LEN {
            ids = with_room_for((text_lens[index], n_bytes - n_done), n_done, ids);
        }
        let n_before = ids.len();
        encode_one(index, &mut ids, states).map_err(|error| ErrorKind::InBatch { index, error })?;
        lens.push(ids.len() - n_before);
        n_done += text_lens[index];
    }
    Ok(Encoded { ids, lens })
}

/// The ids of the first `n_done` bytes of texts, with room for those of the next text of `n_next` bytes, and if there
/// is none before for those of all `n_left` bytes: to copy a row that has become too short into fresh memory, in small
/// pages, takes as long as half of encoding.
fn with_room_for(
    (n_next, n_left): (usize, usize),
    n_done: usize,
    ids: Vec<TokenId>,
) -> Vec<TokenId> {
    // The texts so far may be of another kind than the others. There is hardly ever more than one id for a byte.
    let expected = |n_bytes: usize| {
        let n_ids = n_bytes as u128 * ids.len() as u128 / n_done as u128;
        usize::try_from(n_ids).unwrap_or(n_bytes).min(n_bytes)
    };
    let n_now = expected(n_next);
    if ids.len() + n_now + n_now / 2 <= ids.capacity() {
        return ids;
    }
    // What is never written takes no memory, but for its addresses.
    let n_all = expected(n_left);
    let n_all = (n_all + n_all.min(MAX_SPARE)).min(n_left) + n_now;
    if ids.len() > LONG_ROW {
        let mut ids = ids;
        ids.reserve(n_all);
        return ids;
    }
    let mut row = Vec::new();
    reserve(&mut row, ids.len() + n_all);
    row.extend_from_slice(&ids);
    row
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
        fn the_order_is_that_of_the_texts(
            lens in prop::collection::vec(prop_oneof![0..40_000_usize, 100_000..400_000_usize], 0..20),
            n_threads in 1..4_usize,
        ) {
            let texts: Vec<_> = lens.iter().zip(0..).map(|(&len, byte)| vec![byte; len]).collect();
            let batch = encode(&lens, &mut vec![(); n_threads], Vec::new(), |index, ids, _| encode_one(&texts[index], ids)).unwrap();
            prop_assert_eq!(batch.offsets.len(), texts.len() + 1);
            let narrow = encode_narrow(&lens, &mut vec![(); n_threads], vec![7], |index, ids, _| encode_one(&texts[index], ids)).unwrap();
            prop_assert_eq!(&narrow.offsets, &batch.offsets);
            prop_assert!(narrow.ids.iter().map(|&number| TokenId::from(number)).eq(batch.ids.iter().copied()));
            let (mut in_groups, mut n_wanted) = (Batch { ids: Vec::new(), offsets: vec![0] }, 0);
            let mut append = |group: &[Batch]| {
                for Batch { ids, offsets } in group {
                    let n_before = in_groups.ids.len();
                    in_groups.ids.extend(ids);
                    in_groups.offsets.extend(offsets[1..].iter().map(|end| n_before + end));
                }
                n_wanted = (n_wanted + 7) * 11 % 300_000;
                n_wanted
            };
            let encode_one = |index: usize, ids: &mut Vec<_>, _: &mut [()]| encode_one(&texts[index], ids);
            let (states, row) = (&mut vec![(); n_threads], vec![7]);
            let left = encode_in_groups(&lens, states, (row, encode_one), &mut append).unwrap();
            append(&left);
            prop_assert_eq!(&in_groups, &batch);
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
        let batch = encode(&lens, &mut [(); 3], vec![7; 3], n_states).unwrap();
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
            let error =
                encode(&lens, &mut vec![(); n_threads], Vec::new(), encode_one).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InBatch { index: 1, .. }), "{error}");
        }
    }
}
