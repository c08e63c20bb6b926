//! Training: `Corpus` counts pieces, then learns merges.

use std::collections::HashSet;
use std::io::Error as IoError;
use std::mem::take;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytepair::count::{CorpusCounter, Dropped, First, PieceCounts};
use bytepair::split::{Flavour, Pattern};
use bytepair::train::{
    CharacterLimits, Cuts, Earlier, Forbids, Function, Parity, Stop, Ties, TokenLimits,
    TrainOptions, Trained, Window,
};
use bytepair::vocabulary::{TokenId, TokenKind};
use bytepair::{Error, ErrorKind, Forbidden, Scope, Tokenizer};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{IntoPyDict, PyBool, PyBytes, PyDict};

use crate::convert::{Text, extract, n_threads, target, whole};
use crate::dialect::Dialect;
use crate::error::{OrRaise, in_file, raised_meanwhile, to_python};
use crate::reading::{Interruptible, PythonReader, Reporter, lock};
use crate::rows::{Column, PieceTable};
use crate::tokenizer::CoreTokenizer;

/// Counts the pieces of a corpus, then learns merges from the counts.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Corpus {
    dialect: bytepair::dialect::Dialect,
    /// The tokenizer to resume from.
    resume: Option<Arc<Tokenizer>>,
    /// Whether the tokens of that tokenizer keep their ids.
    keeps_ids: bool,
    /// Special tokens. Those without an id get the last ids.
    special_tokens: Vec<String>,
    /// The tokens that are counted in the texts: special tokens and added tokens.
    boundaries: Vec<String>,
    n_threads: usize,
    counter: Mutex<Option<CorpusCounter>>,
    /// Pieces that were counted elsewhere; after `finish`, all pieces.
    counts: Mutex<PieceCounts>,
    n_bytes_read: Arc<AtomicU64>,
}

/// The largest numbers of bytes and characters of a token, and whether tokens have whole characters only.
#[derive(FromPyObject)]
struct LimitsArgument(Option<u32>, Option<u32>, bool);

/// Ratios, the length of a window and its `alpha`, and the number of merges that the whole corpus chooses.
#[derive(FromPyObject)]
struct ParityArgument(Option<Vec<f64>>, Option<usize>, f64, usize);

#[pymethods]
impl Corpus {
    #[new]
    #[pyo3(signature = (dialect, special_tokens, *, separator=None, threads=None, resume=None, keeps_ids=true, min_sources=None))]
    fn new(
        dialect: &Dialect,
        special_tokens: Vec<Bound<'_, PyAny>>,
        separator: Option<Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        resume: Option<PyRef<'_, CoreTokenizer>>,
        keeps_ids: bool,
        min_sources: Option<i64>,
    ) -> PyResult<Self> {
        let special_tokens = special_tokens.iter().map(|token| extract("special_tokens", token));
        let given = special_tokens.collect::<PyResult<Vec<String>>>()?;
        let separator = separator.map(|text| extract::<String>("separator", &text)).transpose()?;
        let dialect = dialect.0.clone();
        let resume = resume.map(|tokenizer| Arc::clone(&tokenizer.0));
        let preparation = match &resume {
            Some(tokenizer) => dialect.preparation_for(tokenizer, &given),
            None => dialect.preparation(&without_repeats(&given)),
        };
        let mut preparation = preparation.or_raise()?;
        preparation.separator = separator;
        let boundaries = preparation.special_tokens.clone();
        let n_threads = n_threads(threads)?;
        let counter = CorpusCounter::new(preparation, n_threads)
            .and_then(|counter| counter.with_min_documents(min_sources.unwrap_or(1)))
            .or_raise()?;
        Ok(Self {
            dialect,
            resume,
            keeps_ids,
            special_tokens: given,
            boundaries,
            n_threads,
            counter: Mutex::new(Some(counter)),
            counts: Mutex::new(PieceCounts::new()),
            n_bytes_read: Arc::default(),
        })
    }

    /// The number of bytes read from files so far.
    #[getter]
    fn n_bytes_read(&self) -> u64 {
        self.n_bytes_read.load(Ordering::Relaxed)
    }

    /// Limit the memory of counting and learning to ``limit`` bytes; the rest goes to files in ``folder``.
    ///
    /// ``n_corpora`` share the limit.
    /// ``reads_blocks`` says whether the caller holds blocks of documents meanwhile, which then count too.
    #[pyo3(signature = (limit, folder, n_corpora=1, *, reads_blocks=false))]
    fn set_memory_limit(
        &self,
        py: Python<'_>,
        limit: usize,
        folder: PathBuf,
        n_corpora: usize,
        reads_blocks: bool,
    ) -> PyResult<()> {
        let set = |counter: &mut CorpusCounter| {
            counter.set_memory_limit(limit, n_corpora, &folder, reads_blocks)
        };
        self.counting(py, set).map_err(|error| match error.kind() {
            ErrorKind::Read(_) => in_file(&folder, &error),
            _ => to_python(&error),
        })
    }

    /// Count every piece of the following sources ``multiplier`` times.
    fn set_weight(&self, py: Python<'_>, multiplier: u64) -> PyResult<()> {
        self.counting(py, |counter| counter.set_weight(multiplier)).or_raise()
    }

    /// Count a batch of texts.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Text>) -> PyResult<()> {
        let slices: Vec<_> = texts.iter().map(Text::bytes).collect();
        self.counting(py, |counter| counter.count_texts(&slices)).or_raise()
    }

    /// Count a file, or standard input for ``-``.
    fn add_file(&self, py: Python<'_>, path: PathBuf, progress: Py<PyAny>) -> PyResult<()> {
        let reader = Interruptible::open(&path, &self.n_bytes_read)?;
        let mut reporter = Reporter::new(progress);
        let report = |n_bytes| reporter.report(|| (n_bytes,));
        let result = self.counting(py, |counter| counter.count_reader(reader, report));
        result.map_err(|error| in_file(&path, &error))
    }

    /// Count the rows of a column of texts. A separator in a row is ordinary text.
    fn add_rows(&self, py: Python<'_>, column: Column<'_>) -> PyResult<()> {
        let rows = column.rows()?;
        self.counting(py, |counter| counter.count_documents(&rows)).or_raise()
    }

    /// Count one text; ``read(n)`` returns at most ``n`` of its next bytes.
    fn add_stream(&self, py: Python<'_>, read: Py<PyAny>) -> PyResult<()> {
        let reader = PythonReader(read);
        self.counting(py, |counter| counter.count_reader(reader, |_| Ok(()))).or_raise()
    }

    /// Add the rows of a table, which is empty afterwards.
    fn add_table(&self, py: Python<'_>, table: &Bound<'_, PieceTable>) -> PyResult<()> {
        let table = &table.get().0;
        let add = || {
            let rows = take(&mut *lock(table));
            add_counts(&mut lock(&self.counts), rows)
        };
        py.detach(add).or_raise()
    }

    /// End the counting, and write the counts to files for ``CountSums``.
    ///
    /// Return the paths of the files, and how often each special token occurred.
    fn finish_runs<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
    ) -> PyResult<(Vec<PathBuf>, Bound<'py, PyDict>)> {
        let written = py.detach(|| {
            let counter = lock(&self.counter).take();
            counter.map_or_else(|| Ok(<_>::default()), |counter| counter.finish_runs(&folder))
        });
        let (files, corpus) = written.or_raise()?;
        Ok((files, self.special_found(py, &corpus)?))
    }

    /// Add pieces that were counted elsewhere.
    fn add_counts(&self, py: Python<'_>, pieces: Vec<(Text, Bound<'_, PyAny>)>) -> PyResult<()> {
        let pieces = pieces.into_iter().map(|(piece, count)| Ok((counted(&piece, &count)?, piece)));
        let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
        let added = py.detach(|| {
            let mut counts = lock(&self.counts);
            let n_before = counts.len() as u64;
            (n_before..).zip(&pieces).try_for_each(|(offset, (count, piece))| {
                counts.add(piece.bytes(), *count, Some(First { source: 0, offset }))
            })
        });
        added.or_raise()
    }

    /// End the counting, drop rare pieces, and return a report.
    ///
    /// ``is_thinned`` says whether rare pieces were already dropped from an added table.
    #[pyo3(signature = (min_piece_count, *, is_thinned=false))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        min_piece_count: i64,
        is_thinned: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counted = py.detach(|| self.add_up(min_piece_count, is_thinned));
        let (corpus, n_characters, dropped) = counted.or_raise()?;
        let report = PyDict::new(py);
        report.set_item("texts", corpus.n_texts)?;
        report.set_item("bytes", corpus.n_bytes)?;
        report.set_item("characters", n_characters)?;
        report.set_item("distinct_pieces", py.detach(|| lock(&self.counts).len()))?;
        report.set_item("special_tokens", self.special_found(py, &corpus)?)?;
        report.set_item("added_tokens", corpus.n_added)?;
        report.set_item("dropped_pieces", dropped.n_pieces)?;
        report.set_item("dropped_occurrences", dropped.n_occurrences)?;
        Ok(report)
    }

    /// Return the pieces and their counts after ``finish``, or ``None`` if the pieces have more than ``most`` bytes.
    ///
    /// They are sorted by first occurrence or, if it is not known, by their bytes.
    fn pieces<'py>(&self, py: Python<'py>, most: usize) -> Option<Vec<(Bound<'py, PyBytes>, i64)>> {
        // A thread that holds the lock may wait for the GIL, as this one does.
        let counts = self.counts.lock_py_attached(py);
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        if counts.distinct_bytes() > most {
            return None;
        }
        counts.sort();
        let pieces = counts.iter().map(|(piece, count, _)| (PyBytes::new(py, piece), count));
        Some(pieces.collect())
    }

    /// Return the number of bytes of all pieces after ``finish``, including repeated pieces.
    fn n_piece_bytes(&self, py: Python<'_>) -> i64 {
        py.detach(|| lock(&self.counts).n_bytes())
    }

    /// Return a hash of the pieces and their counts after ``finish``.
    fn fingerprint(&self, py: Python<'_>) -> String {
        py.detach(|| lock(&self.counts).fingerprint())
    }

    /// Learn merges after ``finish``.
    ///
    /// ``characters`` limits the characters that get ids: those that cover a share of the text, a fraction, and at
    /// most a number of them. ``scope`` has the first and last code points of ranges of characters: only tokens are
    /// learned that occur in no text without one of these characters. Tokens in which a pattern of ``forbidden`` matches
    /// are not learned, nor, with ``one_script``, tokens with characters of several scripts. ``veto`` is called with two
    /// tokens as bytes, and returns whether they must not be merged. ``cuts`` is called with a piece, and returns the offsets
    /// that no merge crosses. With ``words``, only words that are one token of this tokenizer are joined. ``parity`` has
    /// ratios, the length of a window, its ``alpha``, and how many of the first merges all groups choose together; the groups
    /// are this corpus and ``others``, with their ``parallel`` texts. Return the tokenizer, a report and, with
    /// ``with_course``, the number of tokens in the corpus before the first new merge and after each, and the count of
    /// each new merge.
    #[pyo3(
        signature = (*, vocab_size, merges, scale, limits, with_course, progress, characters=(None, None), scope=None, forbidden=Vec::new(), one_script=false, veto=None, cuts=None, words=None, others=Vec::new(), parallel=Vec::new(), parity=None),
        text_signature = "($self, *, vocab_size, merges, scale, limits, with_course, progress, characters=(None, None), scope=None, forbidden=(), one_script=False, veto=None, cuts=None, words=None, others=(), parallel=(), parity=None)"
    )]
    fn train(
        &self,
        py: Python<'_>,
        vocab_size: Option<usize>,
        merges: Option<usize>,
        scale: i64,
        limits: LimitsArgument,
        with_course: bool,
        progress: Py<PyAny>,
        characters: (Option<(u64, u64)>, Option<usize>),
        scope: Option<Vec<(u32, u32)>>,
        forbidden: Vec<String>,
        one_script: bool,
        veto: Option<Py<PyAny>>,
        cuts: Option<Py<PyAny>>,
        words: Option<PyRef<'_, CoreTokenizer>>,
        others: Vec<PyRef<'_, Self>>,
        parallel: Vec<PyRef<'_, Self>>,
        parity: Option<ParityArgument>,
    ) -> PyResult<(CoreTokenizer, Learned, Option<Course>)> {
        let (coverage, most) = characters;
        let LimitsArgument(max_bytes, max_characters, whole_characters) = limits;
        let mut options =
            self.dialect.train_options(target(vocab_size, merges)?, self.new_special_tokens());
        options.min_count = options.min_count.saturating_mul(scale);
        options.limits = TokenLimits { max_bytes, max_characters, whole_characters };
        options.characters = CharacterLimits { coverage, most };
        options.scope = scope.as_deref().map(read_scope).transpose()?;
        let pattern = |source| Pattern { source, flavour: Flavour::Rust };
        let patterns: Vec<_> = forbidden.into_iter().map(pattern).collect();
        if one_script || !patterns.is_empty() {
            options.forbidden = Some(Arc::new(Forbidden::new(&patterns, one_script).or_raise()?));
        }
        options.veto = veto.map(|function| {
            let forbid = move |left: &[u8], right: &[u8]| called(&function, (left, right));
            Function(Arc::new(forbid) as Arc<Forbids>)
        });
        options.cuts = cuts.map(|function| {
            let cut = move |piece: &[u8]| called(&function, (piece,));
            Function(Arc::new(cut) as Arc<Cuts>)
        });
        options.begin = words.map(|words| words.0.whole_words()).transpose().or_raise()?;
        options.n_threads = self.n_threads;
        options.parity = parity.map(Parity::from);
        options.resume = self.resume.as_ref().map(|earlier| Earlier {
            vocabulary: Arc::clone(&earlier.parts().vocabulary),
            ignore_merges: earlier.parts().ignore_merges,
            keeps_ids: self.keeps_ids,
        });
        let mut reporter = Reporter::new(progress);
        let groups = std::iter::once(self).chain(others.iter().map(|corpus| &**corpus));
        let groups = groups.map(|corpus| &corpus.counts).collect();
        let parallel = parallel.iter().map(|corpus| &corpus.counts).collect();
        let learned = py.detach(|| self.learn(groups, parallel, &options, scale, &mut reporter));
        let (tokenizer, report, course) = learned.or_raise()?;
        Ok((CoreTokenizer(Arc::new(tokenizer)), report, with_course.then_some(course)))
    }

    /// Refuse settings of parity that do not fit this many groups and parallel texts.
    #[staticmethod]
    fn check_parity(
        parity: ParityArgument,
        n_groups: usize,
        n_parallel: Option<usize>,
        merges: Option<usize>,
        is_resumed: bool,
    ) -> PyResult<()> {
        Parity::from(parity).check(n_groups, n_parallel, merges, is_resumed).or_raise()
    }
}

impl From<ParityArgument> for Parity {
    fn from(ParityArgument(ratios, window, alpha, global_merges): ParityArgument) -> Self {
        Self { ratios, window: window.map(|len| Window { len, alpha }), global_merges }
    }
}

/// Return the tokens of pieces: the id of each word that is one token of a tokenizer, ``None`` for all other tokens.
#[pyfunction]
pub(crate) fn whole_words(
    tokenizer: PyRef<'_, CoreTokenizer>,
    pieces: Vec<Text>,
) -> PyResult<Vec<Vec<Option<TokenId>>>> {
    let Function(begin) = tokenizer.0.whole_words().or_raise()?;
    pieces.iter().map(|piece| begin(piece.bytes()).or_raise()).collect()
}

/// What a Python function returns. An exception passes through the core as an error of reading.
fn called<A, R>(function: &Py<PyAny>, arguments: A) -> bytepair::Result<R>
where
    A: for<'py> PyCallArgs<'py>,
    R: for<'py> FromPyObjectOwned<'py, Error = PyErr>,
{
    let called = Python::attach(|py| function.bind(py).call1(arguments)?.extract());
    Ok(called.map_err(IoError::other)?)
}

/// The scope of these ranges of code points. A range must begin and end with a character, not a surrogate.
fn read_scope(ranges: &[(u32, u32)]) -> PyResult<Arc<Scope>> {
    let read = |&(first, last): &(u32, u32)| Some(char::from_u32(first)?..=char::from_u32(last)?);
    let ranges: Option<Vec<_>> = ranges.iter().map(read).collect();
    let problem = "a range must begin and end with a character";
    let ranges = ranges.ok_or_else(|| Error::option("scope", problem));
    let scope = ranges.and_then(Scope::new);
    scope.map(Arc::new).or_raise()
}

/// Each name once.
fn without_repeats(names: &[String]) -> Vec<String> {
    let mut known = HashSet::new();
    names.iter().filter(|name| known.insert(*name)).cloned().collect()
}

/// The length of the corpus in tokens before the first new merge and after each, and how often each new pair occurred.
type Course = (Vec<i64>, Vec<i64>);

fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Unknown | TokenKind::Added)
}

/// The report of `train`: a dict.
#[derive(IntoPyObject)]
struct Learned {
    tokens: Option<i64>,
    merges: usize,
    new_merges: usize,
    /// The number of unknown and special tokens.
    n_names: usize,
    /// The number of characters without ids, how often they occur, and how often all characters do.
    left_out: Option<(usize, i64, i64)>,
    /// By group: the length that measures its need, in tokens, before and after.
    groups: Vec<(i64, i64)>,
    /// By new merge: the place of the group that chose it; `None` if all groups together did.
    choosers: Vec<Option<usize>>,
    interrupted: bool,
    best_count_at_stop: Option<i64>,
}

impl Corpus {
    /// Calls `work` with the counter, unless the counting has ended.
    fn counting(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CorpusCounter) -> bytepair::Result<()> + Send,
    ) -> bytepair::Result<()> {
        py.detach(|| lock(&self.counter).as_mut().map_or(Ok(()), work))
    }

    /// The special tokens that need new ids: those that are not added tokens of the tokenizer to resume from.
    fn new_special_tokens(&self) -> Vec<String> {
        let added = self.resume.as_ref().map(|earlier| earlier.parts().added.as_slice());
        let known: HashSet<_> =
            added.unwrap_or_default().iter().map(|token| token.content.as_str()).collect();
        let is_new = |name: &&String| !known.contains(name.as_str());
        self.special_tokens.iter().filter(is_new).cloned().collect()
    }

    /// How often each special token occurred in the texts.
    fn special_found<'py>(
        &self,
        py: Python<'py>,
        corpus: &bytepair::count::CorpusReport,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.boundaries.iter().zip(&corpus.n_special).into_py_dict(py)
    }

    /// Collects all counts in `counts`. Also returns the number of characters of the corpus, and what was dropped.
    fn add_up(
        &self,
        min_piece_count: i64,
        is_thinned: bool,
    ) -> bytepair::Result<(bytepair::count::CorpusReport, i64, Dropped)> {
        let added = take(&mut *lock(&self.counts));
        // Added counts may turn a rare piece into a common one.
        let least = if added.is_empty() { min_piece_count } else { 1 };
        let (mut counts, mut dropped, mut corpus) = match lock(&self.counter).take() {
            Some(counter) => counter.finish_common(least, self.dialect.ties == Ties::FirstSeen)?,
            None => <_>::default(),
        };
        let mut n_characters = corpus.n_characters.saturating_add(added.n_characters());
        if !added.is_empty() {
            add_counts(&mut counts, added)?;
            dropped = counts.drop_rare(min_piece_count)?;
        }
        if let Some(earlier) = &self.resume {
            let (rest, n_whole) = earlier.without_whole_pieces(counts)?;
            counts = rest;
            corpus.n_added = corpus.n_added.saturating_add(n_whole);
        }
        if min_piece_count > 1 || is_thinned {
            // Only the tokens of the remaining pieces are counted, so only their characters are compared with them.
            n_characters = counts.n_characters();
        }
        *lock(&self.counts) = counts;
        Ok((corpus, n_characters, dropped))
    }

    fn learn(
        &self,
        groups: Vec<&Mutex<PieceCounts>>,
        parallel: Vec<&Mutex<PieceCounts>>,
        options: &TrainOptions,
        scale: i64,
        reporter: &mut Reporter,
    ) -> bytepair::Result<(Tokenizer, Learned, Course)> {
        let taken = |counts: Vec<&Mutex<PieceCounts>>| {
            counts.into_iter().map(|counts| take(&mut *lock(counts))).collect::<Vec<_>>()
        };
        let (groups, parallel, units) = (taken(groups), taken(parallel), &self.dialect.units);
        let mut trained =
            bytepair::train::train_groups(groups, parallel, units, options, |progress| {
                let most = i64::try_from(progress.max_merges).ok();
                let told = reporter.report(|| (progress.n_merges, most, progress.n_corpus_tokens));
                match told {
                    Err(error) if is_interrupt(&error) => Ok(ControlFlow::Break(())),
                    told => told.map(ControlFlow::Continue),
                }
            })?;
        let n_tokens = std::iter::once(trained.n_initial_tokens);
        let n_tokens: Vec<_> = n_tokens.chain(trained.tokens_after.iter().copied()).collect();
        let merge_counts = unscale(&mut trained, scale);
        let left_out = trained.left_out;
        let learned = Learned {
            tokens: n_tokens.last().copied(),
            merges: trained.vocabulary.merges().len(),
            new_merges: trained.tokens_after.len(),
            n_names: trained.vocabulary.iter().filter(|(_, token)| is_name(token.kind)).count(),
            left_out: left_out.map(|out| (out.n_characters, out.n_occurrences, out.n_total)),
            groups: trained.groups.iter().map(|it| (it.initial, it.current)).collect(),
            choosers: take(&mut trained.choosers),
            interrupted: trained.stop == Stop::Caller,
            best_count_at_stop: match trained.stop {
                Stop::Target | Stop::Caller => None,
                Stop::MinCount(count) => Some(count),
            },
        };
        let tokenizer = match &self.resume {
            Some(earlier) => earlier.with_learned(trained.vocabulary, &self.special_tokens)?,
            None => self.dialect.tokenizer(trained, options)?,
        };
        Ok((tokenizer, learned, (n_tokens, merge_counts)))
    }
}

/// Adds counts to others. If there are no others, the counts are moved, not copied.
fn add_counts(counts: &mut PieceCounts, added: PieceCounts) -> bytepair::Result<()> {
    if counts.is_empty() {
        *counts = added;
        return Ok(());
    }
    counts.merge(&added)
}

/// Divides the counts of the new merges by `scale`, and returns them as they were before.
fn unscale(trained: &mut Trained, scale: i64) -> Vec<i64> {
    let n_new = trained.tokens_after.len();
    let mut counts = trained.vocabulary.merge_counts().to_vec();
    let n_earlier = counts.len().saturating_sub(n_new);
    let new_counts = counts[n_earlier..].to_vec();
    if scale > 1 {
        counts[n_earlier..].iter_mut().for_each(|count| *count /= scale);
        trained.vocabulary.set_merge_counts(counts);
    }
    new_counts
}

/// Whether Python raised `KeyboardInterrupt`, for Ctrl-C or in a progress function.
fn is_interrupt(error: &Error) -> bool {
    let is_interrupt =
        |raised: PyErr| Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py));
    raised_meanwhile(error.kind()).is_some_and(is_interrupt)
}

/// Converts the count of a piece. The error for a whole number that is not an `i64` is that of the core.
fn counted(piece: &Text, count: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !count.is_instance_of::<PyBool>()
        && let Ok(count) = count.extract()
    {
        return Ok(count);
    }
    let Some(number) = whole(count) else {
        let message = format!("a count must be a whole number, not {count}");
        return Err(PyTypeError::new_err(message));
    };
    Err(to_python(&Error::count_of(piece.bytes(), number)))
}
