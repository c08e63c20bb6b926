//! Training: `Corpus`, which counts pieces and then learns merges.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytepair::count::{CorpusCounter, Dropped, First, PieceCounts};
use bytepair::train::{
    CharacterLimits, Earlier, LeftOut, Stop, Ties, TokenLimits, TrainOptions, Trained,
};
use bytepair::vocabulary::TokenKind;
use bytepair::{CountProblem, ErrorKind, Scope, Tokenizer};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyBytes, PyDict};

use crate::convert::{Text, extract, n_threads, target};
use crate::dialect::Dialect;
use crate::error::{in_file, to_python};
use crate::numpy_import::GivenArray;
use crate::reading::{Interruptible, PythonReader, Reporter};
use crate::rows::{Column, PieceTable};
use crate::tokenizer::CoreTokenizer;

/// Piece counts while they are gathered, and what is learned from them.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Corpus {
    dialect: bytepair::dialect::Dialect,
    /// What is gone on from.
    resume: Option<Arc<Tokenizer>>,
    /// Whether its ids stay.
    keeps_ids: bool,
    /// What gets the last ids, if it has none.
    special_tokens: Vec<String>,
    /// What is counted in the texts: special tokens, and added ones.
    boundaries: Vec<String>,
    n_threads: usize,
    counter: Mutex<Option<CorpusCounter>>,
    /// Pieces that were counted elsewhere; in the end, all of them.
    counts: Mutex<PieceCounts>,
    n_bytes_read: Arc<AtomicU64>,
}

/// The most bytes and characters of a token, and whether it holds whole characters only.
#[derive(FromPyObject)]
struct GivenLimits(Option<u32>, Option<u32>, bool);

#[pymethods]
impl Corpus {
    #[new]
    #[pyo3(signature = (dialect, special_tokens, *, separator=None, threads=None, resume=None, keeps_ids=true))]
    fn new(
        dialect: &Dialect,
        special_tokens: Vec<Bound<'_, PyAny>>,
        separator: Option<Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        resume: Option<PyRef<'_, CoreTokenizer>>,
        keeps_ids: bool,
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
        let mut preparation = preparation.map_err(|error| to_python(&error))?;
        preparation.separator = separator;
        let boundaries = preparation.special_tokens.clone();
        let n_threads = n_threads(threads)?;
        let counter =
            CorpusCounter::new(preparation, n_threads).map_err(|error| to_python(&error))?;
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

    /// The bytes that were read from files so far.
    #[getter]
    fn n_bytes_read(&self) -> u64 {
        self.n_bytes_read.load(Ordering::Relaxed)
    }

    /// Keep what counting and learning need within so many bytes, the rest in a folder.
    ///
    /// ``reads_blocks`` says that the caller holds blocks of documents meanwhile.
    #[pyo3(signature = (limit, folder, *, reads_blocks=false))]
    fn set_memory_limit(
        &self,
        py: Python<'_>,
        limit: usize,
        folder: PathBuf,
        reads_blocks: bool,
    ) -> PyResult<()> {
        let set =
            |counter: &mut CorpusCounter| counter.set_memory_limit(limit, &folder, reads_blocks);
        self.counting(py, set).map_err(|error| match error.kind() {
            ErrorKind::Read(_) => in_file(&folder.display().to_string(), &error),
            _ => to_python(&error),
        })
    }

    /// Let every piece of what follows count so many times.
    fn set_weight(&self, py: Python<'_>, multiplier: u64) -> PyResult<()> {
        self.counting(py, |counter| counter.set_weight(multiplier))
            .map_err(|error| to_python(&error))
    }

    /// Count a batch of texts.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Text>) -> PyResult<()> {
        let slices: Vec<_> = texts.iter().map(Text::bytes).collect();
        self.counting(py, |counter| counter.count_texts(&slices)).map_err(|error| to_python(&error))
    }

    /// Count a file, or standard input for ``-``.
    fn add_file(&self, py: Python<'_>, path: PathBuf, progress: Py<PyAny>) -> PyResult<()> {
        let name = path.display().to_string();
        let reader = Interruptible::open(&path, &self.n_bytes_read)?;
        let mut reporter = Reporter::new(progress);
        let report = |n_bytes| reporter.report(|| (n_bytes,));
        let result = self.counting(py, |counter| counter.count_reader(reader, report));
        result.map_err(|error| reporter.failure.take().unwrap_or_else(|| in_file(&name, &error)))
    }

    /// Count the rows of a column of texts, each whole: a separator is text there.
    fn add_rows(
        &self,
        py: Python<'_>,
        data: GivenArray<'_, u8>,
        offsets: GivenArray<'_, i64>,
    ) -> PyResult<()> {
        let column = Column::new(data, offsets);
        let rows = column.rows()?;
        self.counting(py, |counter| counter.count_documents(&rows))
            .map_err(|error| to_python(&error))
    }

    /// Count one text; ``read`` gives at most so many of its next bytes.
    fn add_stream(&self, py: Python<'_>, read: Py<PyAny>) -> PyResult<()> {
        let mut failure = None;
        let reader = PythonReader { read, failure: &mut failure };
        let result = self.counting(py, |counter| counter.count_reader(reader, |_| Ok(())));
        result.map_err(|error| failure.take().unwrap_or_else(|| to_python(&error)))
    }

    /// Add the rows of a table, which is empty afterwards.
    fn add_table(&self, py: Python<'_>, table: PyRef<'_, PieceTable>) -> PyResult<()> {
        let table = &*table;
        let add = || {
            let rows = table.with(std::mem::take);
            with(&self.counts, |counts| add_counts(counts, rows))
        };
        py.detach(add).map_err(|error| to_python(&error))
    }

    /// End the counting, and leave what was counted in files, for `CountSums`.
    ///
    /// Gives their names, and how often each special token was found.
    fn finish_runs<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
    ) -> PyResult<(Vec<PathBuf>, Bound<'py, PyDict>)> {
        let written = py.detach(|| {
            let counter = with(&self.counter, Option::take);
            counter.map_or_else(|| Ok(<_>::default()), |counter| counter.finish_runs(&folder))
        });
        let (files, corpus) = written.map_err(|error| to_python(&error))?;
        Ok((files, self.special_found(py, &corpus)?))
    }

    /// Add pieces that were counted elsewhere.
    fn add_counts(&self, py: Python<'_>, pieces: Vec<(Text, Bound<'_, PyAny>)>) -> PyResult<()> {
        let pieces = pieces.into_iter().map(|(piece, count)| Ok((counted(&piece, &count)?, piece)));
        let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
        let result = with_attached(py, &self.counts, |counts| {
            let n_before = counts.len() as u64;
            (n_before..).zip(&pieces).try_for_each(|(offset, (count, piece))| {
                counts.add(piece.bytes(), *count, Some(First { source: 0, offset }))
            })
        });
        result.map_err(|error| to_python(&error))
    }

    /// End the counting, leave out rare pieces, and tell what was counted.
    ///
    /// ``is_thinned`` says that rare pieces are left out already of what was added as a table.
    #[pyo3(signature = (min_piece_count, *, is_thinned=false))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        min_piece_count: i64,
        is_thinned: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counted = py.detach(|| self.add_up(min_piece_count, is_thinned));
        let (corpus, n_characters, dropped) = counted.map_err(|error| to_python(&error))?;
        let report = PyDict::new(py);
        report.set_item("texts", corpus.n_texts)?;
        report.set_item("bytes", corpus.n_bytes)?;
        report.set_item("characters", n_characters)?;
        report
            .set_item("distinct_pieces", with_attached(py, &self.counts, |counts| counts.len()))?;
        report.set_item("special_tokens", self.special_found(py, &corpus)?)?;
        report.set_item("added_tokens", corpus.n_added)?;
        report.set_item("dropped_pieces", dropped.n_pieces)?;
        report.set_item("dropped_occurrences", dropped.n_occurrences)?;
        Ok(report)
    }

    /// After ``finish``: the pieces and how often each occurs, in the order of their first occurrence or, where that is
    /// not known, of their bytes; ``None`` where all of them are more than so many bytes.
    fn pieces<'py>(&self, py: Python<'py>, most: usize) -> Option<Vec<(Bound<'py, PyBytes>, i64)>> {
        with_attached(py, &self.counts, |counts| {
            if counts.distinct_bytes() > most {
                return None;
            }
            counts.sort();
            let pieces = counts.iter().map(|(piece, count, _)| (PyBytes::new(py, piece), count));
            Some(pieces.collect())
        })
    }

    /// After ``finish``: the bytes of all pieces, repeated ones too.
    fn n_piece_bytes(&self, py: Python<'_>) -> i64 {
        py.detach(|| with(&self.counts, |counts| counts.n_bytes()))
    }

    /// After ``finish``: a name for the pieces and their counts.
    fn fingerprint(&self, py: Python<'_>) -> String {
        py.detach(|| with(&self.counts, |counts| counts.fingerprint()))
    }

    /// After ``finish``: learn merges.
    ///
    /// ``characters`` says which get ids: those that cover a share of the text, a fraction,
    /// and at most so many. Gives the tokenizer, a report, and the course if it is wanted: the tokens of the
    /// corpus before the first new merge and after each, and the count of each. ``scope`` has the first and last
    /// code points of characters: only tokens are learned that occur in no text without one of them.
    #[pyo3(
        signature = (*, vocab_size, merges, scale, limits, with_course, progress, characters=(None, None), scope=None),
        text_signature = "($self, *, vocab_size, merges, scale, limits, with_course, progress, characters=(None, None), scope=None)"
    )]
    fn train<'py>(
        &self,
        py: Python<'py>,
        vocab_size: Option<usize>,
        merges: Option<usize>,
        scale: i64,
        limits: GivenLimits,
        with_course: bool,
        progress: Py<PyAny>,
        characters: (Option<(u64, u64)>, Option<usize>),
        scope: Option<Vec<(u32, u32)>>,
    ) -> PyResult<(CoreTokenizer, Bound<'py, PyDict>, Option<Course>)> {
        let (coverage, most) = characters;
        let GivenLimits(max_bytes, max_characters, whole_characters) = limits;
        let mut options =
            self.dialect.train_options(target(vocab_size, merges)?, self.new_special_tokens());
        options.min_count = options.min_count.saturating_mul(scale);
        options.limits = TokenLimits { max_bytes, max_characters, whole_characters };
        options.characters = CharacterLimits { coverage, most };
        options.scope = scope.as_deref().map(read_scope).transpose()?;
        options.n_threads = self.n_threads;
        options.resume = self.resume.as_ref().map(|earlier| Earlier {
            vocabulary: Arc::clone(&earlier.parts().vocabulary),
            ignore_merges: earlier.parts().ignore_merges,
            keeps_ids: self.keeps_ids,
        });
        let mut reporter = Reporter::new(progress);
        let result = py.detach(|| self.learn(&options, scale, &mut reporter));
        let (tokenizer, learned) =
            result.map_err(|error| reporter.failure.take().unwrap_or_else(|| to_python(&error)))?;
        let report = learned.report(py)?;
        let course = with_course.then_some(learned.course);
        Ok((CoreTokenizer(Arc::new(tokenizer)), report, course))
    }
}

/// The scope of these code points; surrogates are none.
fn read_scope(ranges: &[(u32, u32)]) -> PyResult<Arc<Scope>> {
    let read = |&(first, last): &(u32, u32)| Some(char::from_u32(first)?..=char::from_u32(last)?);
    let ranges: Option<Vec<_>> = ranges.iter().map(read).collect();
    let problem = "a range begins or ends with no character";
    let ranges = ranges.ok_or_else(|| bytepair::Error::option("scope", problem));
    let scope = ranges.and_then(Scope::new);
    scope.map(Arc::new).map_err(|error| to_python(&error))
}

/// Each name once.
fn without_repeats(names: &[String]) -> Vec<String> {
    let mut known = HashSet::new();
    names.iter().filter(|name| known.insert(*name)).cloned().collect()
}

/// Length of the corpus in tokens, before the first new merge and after each; how often each pair occurred.
type Course = (Vec<i64>, Vec<i64>);

fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Unknown | TokenKind::Added)
}

/// What is known after merging.
struct Learned {
    n_merges: usize,
    n_new_merges: usize,
    /// Unknown and special tokens.
    n_names: usize,
    course: Course,
    stop: Stop,
    left_out: Option<LeftOut>,
}

impl Corpus {
    /// Works with the counter; once counting has ended, nothing is done.
    fn counting(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CorpusCounter) -> bytepair::Result<()> + Send,
    ) -> bytepair::Result<()> {
        py.detach(|| with(&self.counter, |counter| counter.as_mut().map_or(Ok(()), work)))
    }

    /// Those that are no added tokens of the tokenizer to go on from, where they may have the id of any token.
    fn new_special_tokens(&self) -> Vec<String> {
        let added = self.resume.as_ref().map(|earlier| earlier.parts().added.as_slice());
        let known: HashSet<_> =
            added.unwrap_or_default().iter().map(|token| token.content.as_str()).collect();
        let is_new = |name: &&String| !known.contains(name.as_str());
        self.special_tokens.iter().filter(is_new).cloned().collect()
    }

    /// How often each special token stood in the texts.
    fn special_found<'py>(
        &self,
        py: Python<'py>,
        corpus: &bytepair::count::CorpusReport,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (name, count) in self.boundaries.iter().zip(&corpus.n_special) {
            found.set_item(name, count)?;
        }
        Ok(found)
    }

    /// Brings all counts together in `counts`; also gives the characters of the corpus, and what was dropped.
    fn add_up(
        &self,
        min_piece_count: i64,
        is_thinned: bool,
    ) -> bytepair::Result<(bytepair::count::CorpusReport, i64, Dropped)> {
        let added = with(&self.counts, std::mem::take);
        // What is added may turn a rare piece into a common one.
        let least = if added.is_empty() { min_piece_count } else { 1 };
        let (mut counts, mut dropped, mut corpus) = match with(&self.counter, Option::take) {
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
            // Tokens are those of the pieces that stay, and so are the characters that they are compared with.
            n_characters = counts.n_characters();
        }
        with(&self.counts, |all| *all = counts);
        Ok((corpus, n_characters, dropped))
    }

    fn learn(
        &self,
        options: &TrainOptions,
        scale: i64,
        reporter: &mut Reporter,
    ) -> bytepair::Result<(Tokenizer, Learned)> {
        let counts = with(&self.counts, std::mem::take);
        let mut trained =
            bytepair::train::train(counts, &self.dialect.units, options, |progress| {
                let most = i64::try_from(progress.max_merges).ok();
                let told = reporter.report(|| (progress.n_merges, most, progress.n_corpus_tokens));
                match told {
                    Err(_) if reporter.is_interrupted() => Ok(ControlFlow::Break(())),
                    told => told.map(ControlFlow::Continue),
                }
            })?;
        let n_tokens = std::iter::once(trained.n_initial_tokens);
        let n_tokens = n_tokens.chain(trained.tokens_after.iter().copied()).collect();
        let merge_counts = unscale(&mut trained, scale);
        let learned = Learned {
            n_merges: trained.vocabulary.merges().len(),
            n_new_merges: trained.tokens_after.len(),
            n_names: trained.vocabulary.iter().filter(|(_, token)| is_name(token.kind)).count(),
            course: (n_tokens, merge_counts),
            stop: trained.stop,
            left_out: trained.left_out,
        };
        let tokenizer = match &self.resume {
            Some(earlier) => earlier.with_learned(trained.vocabulary, &self.special_tokens)?,
            None => self.dialect.tokenizer(trained, options)?,
        };
        Ok((tokenizer, learned))
    }
}

/// Adds counts to others; takes no second copy of them where there are no others.
fn add_counts(counts: &mut PieceCounts, added: PieceCounts) -> bytepair::Result<()> {
    if counts.is_empty() {
        *counts = added;
        return Ok(());
    }
    counts.merge(&added)
}

/// Divides the counts of the new merges, and gives them as they were.
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

impl Learned {
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = PyDict::new(py);
        report.set_item("tokens", self.course.0.last())?;
        report.set_item("merges", self.n_merges)?;
        report.set_item("new_merges", self.n_new_merges)?;
        report.set_item("n_names", self.n_names)?;
        let left_out = self.left_out.map(|out| (out.n_characters, out.n_occurrences, out.n_total));
        report.set_item("left_out", left_out)?;
        report.set_item("interrupted", self.stop == Stop::Caller)?;
        let best_count = match self.stop {
            Stop::Target | Stop::Caller => None,
            Stop::MinCount(count) => Some(count),
        };
        report.set_item("best_count_at_stop", best_count)?;
        Ok(report)
    }
}

/// To be called without the GIL, or for what no thread holds while it asks Python for something.
fn with<T, R>(mutex: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    work(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The same for what a thread holds that reads a corpus by a function of Python's: it needs the GIL meanwhile.
fn with_attached<T, R>(py: Python<'_>, mutex: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    work(&mut mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
}

/// The count of a piece; one that is no `i64` is the error of the core.
fn counted(piece: &Text, count: &Bound<'_, PyAny>) -> PyResult<i64> {
    let out_of_range = || {
        let problem = CountProblem::OutOfRange { count: count.to_string() };
        to_python(&ErrorKind::Count { piece: piece.bytes().to_vec(), problem }.into())
    };
    if count.is_instance_of::<PyBool>() {
        let message = format!("a count must be a whole number, not {count}");
        return Err(PyTypeError::new_err(message));
    }
    count.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(count.py()) { out_of_range() } else { error }
    })
}
