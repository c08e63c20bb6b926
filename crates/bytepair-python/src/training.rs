//! Training: `Corpus`, which counts pieces and then learns merges.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytepair::{CorpusCounter, Error, ErrorKind, First, PieceCounts, Stop, Target, TrainOptions};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Text, extract, n_threads};
use crate::dialect::Dialect;
use crate::error::{in_file, raise, to_python};
use crate::tokenizer::CoreTokenizer;

/// The shortest time between two calls of a progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Piece counts while they are gathered, and what is learned from them.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Corpus {
    dialect: bytepair::Dialect,
    special_tokens: Vec<String>,
    counter: Mutex<Option<CorpusCounter>>,
    /// Pieces that were counted elsewhere.
    counts: Mutex<PieceCounts>,
}

#[pymethods]
impl Corpus {
    #[new]
    #[pyo3(signature = (dialect, special_tokens, *, separator=None, threads=None))]
    fn new(
        dialect: &Dialect,
        special_tokens: Vec<Bound<'_, PyAny>>,
        separator: Option<Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let special_tokens = special_tokens.iter().map(|token| extract("special_tokens", token));
        let special_tokens = special_tokens.collect::<PyResult<Vec<String>>>()?;
        let separator = separator.map(|text| extract::<String>("separator", &text)).transpose()?;
        let dialect = dialect.0.clone();
        let mut preparation =
            dialect.preparation(&special_tokens).map_err(|error| to_python(&error))?;
        preparation.separator = separator;
        let counter = CorpusCounter::new(preparation, n_threads(threads)?)
            .map_err(|error| to_python(&error))?;
        Ok(Self {
            dialect,
            special_tokens,
            counter: Mutex::new(Some(counter)),
            counts: Mutex::new(PieceCounts::new()),
        })
    }

    /// Counts a batch of texts.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Text>) -> PyResult<()> {
        py.detach(|| {
            let slices: Vec<_> = texts.iter().map(Text::bytes).collect();
            with(&self.counter, |counter| {
                counter.as_mut().map_or(Ok(()), |counter| counter.count_texts(&slices))
            })
        })
        .map_err(|error| to_python(&error))
    }

    /// Counts a file, or standard input for `-`; `progress` is called with the bytes read so far.
    fn add_file(&self, py: Python<'_>, path: PathBuf, progress: Py<PyAny>) -> PyResult<()> {
        let name = path.display().to_string();
        let reader: Box<dyn Read + Send> = if name == "-" {
            Box::new(Interruptible(std::io::stdin()))
        } else {
            let file = File::open(path).map_err(|error| in_file(&name, &error.into()))?;
            Box::new(Interruptible(file))
        };
        let mut reporter = Reporter::new(progress);
        let result = py.detach(|| {
            with(&self.counter, |counter| match counter {
                Some(counter) => {
                    counter.count_reader(reader, |n_bytes| reporter.report(|| (n_bytes,)))
                }
                None => Ok(()),
            })
        });
        result.map_err(|error| reporter.failure.take().unwrap_or_else(|| in_file(&name, &error)))
    }

    /// Adds pieces that were counted elsewhere, in the order in which they first occur.
    fn add_counts(&self, pieces: Vec<(Text, Bound<'_, PyAny>)>) -> PyResult<()> {
        let pieces = pieces.into_iter().map(|(piece, count)| Ok((counted(&piece, &count)?, piece)));
        let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
        let result = with(&self.counts, |counts| {
            let n_before = counts.len() as u64;
            (n_before..).zip(&pieces).try_for_each(|(offset, (count, piece))| {
                counts.add(piece.bytes(), *count, Some(First { source: 0, offset }))
            })
        });
        result.map_err(|error| to_python(&error))
    }

    /// Learns merges from all that was added; `progress` is called with merges done, the most merges
    /// (or `None`), characters and tokens of the corpus. Gives the tokenizer and a report.
    #[pyo3(signature = (*, vocab_size, merges, progress))]
    fn train<'py>(
        &self,
        py: Python<'py>,
        vocab_size: Option<usize>,
        merges: Option<usize>,
        progress: Py<PyAny>,
    ) -> PyResult<(CoreTokenizer, Bound<'py, PyDict>)> {
        let target = match (vocab_size, merges) {
            (Some(size), None) => Target::VocabSize(size),
            (None, n_merges) => Target::Merges(n_merges.unwrap_or(usize::MAX)),
            _ => {
                let message = "give vocab_size or merges, not both".to_owned();
                return Err(raise("TrainingError", message));
            }
        };
        let options = self.dialect.train_options(target, self.special_tokens.clone());
        let mut reporter = Reporter::new(progress);
        let result = py.detach(|| self.learn(&options, &mut reporter));
        let (tokenizer, report) =
            result.map_err(|error| reporter.failure.take().unwrap_or_else(|| to_python(&error)))?;
        Ok((CoreTokenizer(Arc::new(tokenizer)), report.into_dict(py)?))
    }
}

/// What is known after training.
struct Report {
    corpus: bytepair::CorpusReport,
    special_tokens: Vec<String>,
    n_pieces: usize,
    n_characters: i64,
    n_tokens: i64,
    n_merges: usize,
    stop: Stop,
}

impl Corpus {
    fn learn(
        &self,
        options: &TrainOptions,
        reporter: &mut Reporter,
    ) -> bytepair::Result<(bytepair::Tokenizer, Report)> {
        let (mut counts, corpus) = match with(&self.counter, Option::take) {
            Some(counter) => counter.finish()?,
            None => (PieceCounts::new(), bytepair::CorpusReport::default()),
        };
        with(&self.counts, |added| counts.merge(added))?;
        let n_characters =
            corpus.n_characters.saturating_add(with(&self.counts, |added| added.n_characters()));
        let trained = bytepair::train(&counts, &self.dialect.units, options, |progress| {
            let most = i64::try_from(progress.max_merges).ok();
            reporter
                .report(|| (progress.n_merges, most, n_characters, progress.n_corpus_tokens))?;
            Ok(ControlFlow::Continue(()))
        })?;
        let report = Report {
            corpus,
            special_tokens: self.special_tokens.clone(),
            n_pieces: counts.len(),
            n_characters,
            n_tokens: trained.n_corpus_tokens(),
            n_merges: trained.vocabulary.merges().len(),
            stop: trained.stop,
        };
        Ok((self.dialect.tokenizer(trained, options)?, report))
    }
}

impl Report {
    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let report = PyDict::new(py);
        report.set_item("texts", self.corpus.n_texts)?;
        report.set_item("bytes", self.corpus.n_bytes)?;
        report.set_item("distinct_pieces", self.n_pieces)?;
        report.set_item("characters", self.n_characters)?;
        report.set_item("tokens", self.n_tokens)?;
        report.set_item("merges", self.n_merges)?;
        let stop = match self.stop {
            Stop::Target | Stop::Caller => None,
            Stop::MinCount(count) => Some(count),
        };
        report.set_item("best_count_at_stop", stop)?;
        let specials = PyDict::new(py);
        for (name, count) in self.special_tokens.iter().zip(&self.corpus.n_special) {
            specials.set_item(name, count)?;
        }
        report.set_item("special_tokens", specials)?;
        Ok(report)
    }
}

/// A reader that waits, perhaps for ever, for what another program writes: Ctrl-C ends the waiting.
struct Interruptible<R>(R);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let result = self.0.read(buffer);
        if result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {
            let stop = |py: Python<'_>| py.check_signals();
            Python::attach(stop).map_err(std::io::Error::other)?;
        }
        result
    }
}

/// Calls a progress function now and then, and looks whether the user wants to stop.
struct Reporter {
    progress: Py<PyAny>,
    last: Option<Instant>,
    /// What the progress function, or Ctrl-C, raised.
    failure: Option<PyErr>,
}

impl Reporter {
    fn new(progress: Py<PyAny>) -> Self {
        Self { progress, last: None, failure: None }
    }

    fn report<A>(&mut self, arguments: impl FnOnce() -> A) -> bytepair::Result<()>
    where
        A: for<'py> IntoPyObject<'py> + for<'py> pyo3::call::PyCallArgs<'py>,
    {
        if self.last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return Ok(());
        }
        self.last = Some(Instant::now());
        let called = Python::attach(|py| {
            py.check_signals()?;
            if self.progress.is_none(py) {
                return Ok(());
            }
            self.progress.call1(py, arguments()).map(drop)
        });
        called.map_err(|failure| {
            self.failure = Some(failure);
            Error::from(ErrorKind::Interrupted)
        })
    }
}

fn with<T, R>(mutex: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    work(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The count of a piece; one that exceeds 63 bits is the error of the core.
fn counted(piece: &Text, count: &Bound<'_, PyAny>) -> PyResult<i64> {
    let too_large = || to_python(&ErrorKind::Count { piece: piece.bytes().to_vec() }.into());
    count.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(count.py()) { too_large() } else { error }
    })
}
