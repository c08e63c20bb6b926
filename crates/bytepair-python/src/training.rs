//! Dialects and training: `Dialect`, and `Corpus`, which counts pieces and then learns merges.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytepair::split::{Flavour, Pattern, Stage, Unmatched};
use bytepair::{
    ByteIds, CorpusCounter, EndMark, EndMarkKind, Error, ErrorKind, First, NormalizeStep,
    PieceCounts,
};
use bytepair::{Stop, Target, Ties, TrainOptions, UnicodeForm, Unit, Units};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Text, n_threads};
use crate::error::{in_file, raise, to_python};
use crate::tokenizer::CoreTokenizer;

/// The shortest time between two calls of a progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The parts of a tokenizer that are chosen before training.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Dialect(pub(crate) bytepair::Dialect);

#[pymethods]
impl Dialect {
    #[new]
    #[pyo3(signature = (name, **changes))]
    fn new(name: &str, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut dialect = bytepair::Dialect::named(name).ok_or_else(|| {
            let names: Vec<_> = bytepair::Dialect::names().collect();
            raise(
                "TokenizerError",
                format!("unknown dialect {name:?}; known are {}", names.join(", ")),
            )
        })?;
        let changes = changes.map(|changes| changes.copy()).transpose()?;
        for (name, change) in CHANGES {
            let value = changes
                .as_ref()
                .map(|changes| changes.call_method1("pop", (name, &changes)))
                .transpose()?;
            // The dictionary itself stands for an absent value.
            let value =
                value.filter(|value| changes.as_ref().is_some_and(|changes| !value.is(changes)));
            value.map_or(Ok(()), |value| change(&mut dialect, &value))?;
        }
        match changes.and_then(|rest| rest.keys().get_item(0).ok()) {
            Some(name) => Err(raise("TokenizerError", format!("a dialect has no part {name}"))),
            None => Ok(Self(dialect)),
        }
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Sets one part of a dialect.
type Change = fn(&mut bytepair::Dialect, &Bound<'_, PyAny>) -> PyResult<()>;

/// The parts that can be set, in the order in which they are: a pattern before what becomes of the rest.
const CHANGES: [(&str, Change); 15] = [
    ("unit", |dialect, value| set_unit(&mut dialect.units, &value.extract::<String>()?)),
    ("byte_ids", |dialect, value| {
        dialect.units.unit = Unit::Byte(byte_ids(&value.extract::<String>()?)?);
        Ok(())
    }),
    ("pattern", set_pattern),
    ("pattern_flavour", |dialect, value| {
        let flavour = flavour(&value.extract::<String>()?)?;
        dialect.split.iter_mut().for_each(|stage| stage.pattern.flavour = flavour);
        Ok(())
    }),
    ("unmatched", |dialect, value| {
        let unmatched = unmatched(&value.extract::<String>()?)?;
        dialect.split.iter_mut().for_each(|stage| stage.unmatched = unmatched);
        Ok(())
    }),
    ("normalize", |dialect, value| steps(value).map(|steps| dialect.normalize = steps)),
    ("lowercase", set_lowercase),
    ("end_mark", |dialect, value| {
        let kind = dialect.units.end_mark_kind().unwrap_or(EndMarkKind::Unit);
        let text = value.extract::<Option<String>>()?.filter(|text| !text.is_empty());
        dialect.units.end_mark = text.map(|text| EndMark { text, kind });
        Ok(())
    }),
    ("end_mark_kind", |dialect, value| {
        let kind = end_mark_kind(&value.extract::<String>()?)?;
        dialect.units.end_mark.iter_mut().for_each(|mark| mark.kind = kind);
        Ok(())
    }),
    ("continuing_prefix", |dialect, value| {
        value.extract().map(|prefix| dialect.units.continuing_prefix = prefix)
    }),
    ("unknown_token", |dialect, value| value.extract().map(|name| dialect.units.unknown = name)),
    ("fuse_unknown", |dialect, value| {
        value.extract().map(|fuse| dialect.units.fuse_unknown = fuse)
    }),
    ("byte_fallback", |dialect, value| {
        value.extract().map(|fallback| dialect.units.byte_fallback = fallback)
    }),
    ("ties", |dialect, value| ties(&value.extract::<String>()?).map(|ties| dialect.ties = ties)),
    ("min_count", |dialect, value| value.extract().map(|count| dialect.min_count = count)),
];

fn set_unit(units: &mut Units, name: &str) -> PyResult<()> {
    units.unit = match (name, units.unit) {
        ("character", _) => Unit::Character,
        ("byte", Unit::Character) => Unit::Byte(ByteIds::Printable),
        ("byte", unit) => unit,
        _ => return Err(choice("unit", name, &["byte", "character"])),
    };
    Ok(())
}

/// `True` and `"always"`: in training and encoding; `"training"`: there alone; `False`: never.
fn set_lowercase(dialect: &mut bytepair::Dialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let when = match value.extract::<bool>() {
        Ok(true) => "always".to_owned(),
        Ok(false) => "never".to_owned(),
        Err(_) => value.extract::<String>()?,
    };
    dialect.normalize.retain(|step| *step != NormalizeStep::Lowercase);
    let rest = dialect.normalize.clone();
    let lowered = || std::iter::once(NormalizeStep::Lowercase).chain(rest.clone()).collect();
    (dialect.normalize, dialect.normalize_training) = match when.as_str() {
        "always" => (lowered(), None),
        "training" => (rest.clone(), Some(lowered())),
        "never" => (rest.clone(), None),
        other => return Err(choice("lowercase", other, &["always", "training", "never"])),
    };
    Ok(())
}

fn set_pattern(dialect: &mut bytepair::Dialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if !value.is_none() {
        dialect.split = stages(value)?;
    }
    Ok(())
}

/// A pattern, the name of one, or a list of either: one stage each.
fn stages(value: &Bound<'_, PyAny>) -> PyResult<Vec<Stage>> {
    let sources = match value.extract::<String>() {
        Ok(source) if source.is_empty() => Vec::new(),
        Ok(source) => vec![source],
        Err(_) => value.extract::<Vec<String>>()?,
    };
    let stages = sources.into_iter().flat_map(|source| {
        let own = |source| {
            let pattern = Pattern { source, flavour: Flavour::Rust };
            vec![Stage { pattern, unmatched: Unmatched::Keep }]
        };
        bytepair::split::named(&source).unwrap_or_else(|| own(source))
    });
    Ok(stages.collect())
}

/// `"nfc"`, `"nfd"`, `"nfkc"`, `"nfkd"`, `"lowercase"`, `("replace", from, to)`, `("prepend", text)`.
fn steps(value: &Bound<'_, PyAny>) -> PyResult<Vec<NormalizeStep>> {
    if let Ok(name) = value.extract::<String>() {
        return Ok(vec![step(&[name])?]);
    }
    value.try_iter()?.map(|item| step(&words(&item?)?)).collect()
}

fn words(item: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    item.extract::<String>().map(|name| vec![name]).or_else(|_| item.extract())
}

fn step(words: &[String]) -> PyResult<NormalizeStep> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words[..] {
        ["nfc"] => NormalizeStep::Form(UnicodeForm::Nfc),
        ["nfd"] => NormalizeStep::Form(UnicodeForm::Nfd),
        ["nfkc"] => NormalizeStep::Form(UnicodeForm::Nfkc),
        ["nfkd"] => NormalizeStep::Form(UnicodeForm::Nfkd),
        ["lowercase"] => NormalizeStep::Lowercase,
        ["replace", from, to] if !from.is_empty() => {
            NormalizeStep::Replace { from: from.to_owned(), to: to.to_owned() }
        }
        ["prepend", text] => prepend(text, false),
        ["prepend_first", text] => prepend(text, true),
        _ => {
            let known = [
                "nfc",
                "nfd",
                "nfkc",
                "nfkd",
                "lowercase",
                "(replace, from, to)",
                "(prepend, text)",
            ];
            return Err(choice("normalize", &words.join(", "), &known));
        }
    })
}

fn byte_ids(name: &str) -> PyResult<ByteIds> {
    match name {
        "printable" => Ok(ByteIds::Printable),
        "value" => Ok(ByteIds::Value),
        _ => Err(choice("byte_ids", name, &["printable", "value"])),
    }
}

fn unmatched(name: &str) -> PyResult<Unmatched> {
    match name {
        "keep" => Ok(Unmatched::Keep),
        "drop" => Ok(Unmatched::Drop),
        _ => Err(choice("unmatched", name, &["keep", "drop"])),
    }
}

fn flavour(name: &str) -> PyResult<Flavour> {
    match name {
        "rust" => Ok(Flavour::Rust),
        "oniguruma" => Ok(Flavour::Oniguruma),
        _ => Err(choice("pattern_flavour", name, &["rust", "oniguruma"])),
    }
}

fn end_mark_kind(name: &str) -> PyResult<EndMarkKind> {
    match name {
        "unit" => Ok(EndMarkKind::Unit),
        "suffix" => Ok(EndMarkKind::Suffix),
        _ => Err(choice("end_mark_kind", name, &["unit", "suffix"])),
    }
}

fn ties(name: &str) -> PyResult<Ties> {
    match name {
        "smallest_ids" => Ok(Ties::SmallestIds),
        "first_seen" => Ok(Ties::FirstSeen),
        "largest_text" => Ok(Ties::LargestText),
        _ => Err(choice("ties", name, &["smallest_ids", "first_seen", "largest_text"])),
    }
}

fn choice(option: &str, found: &str, known: &[&str]) -> PyErr {
    raise("TokenizerError", format!("{option} must be one of {}, not {found:?}", known.join(", ")))
}

/// The names of all dialects.
#[pyfunction]
pub(crate) fn dialect_names() -> Vec<&'static str> {
    bytepair::Dialect::names().collect()
}

/// The names of all split patterns.
#[pyfunction]
pub(crate) fn pattern_names() -> Vec<String> {
    bytepair::split::names().map(str::to_owned).collect()
}

/// Piece counts while they are gathered, and what is learned from them.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Corpus {
    dialect: bytepair::Dialect,
    special_tokens: Vec<String>,
    n_separators: usize,
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
        special_tokens: Vec<String>,
        separator: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let dialect = dialect.0.clone();
        let n_separators = usize::from(separator.is_some());
        let boundaries: Vec<_> = special_tokens.iter().cloned().chain(separator).collect();
        let preparation = dialect.preparation(&boundaries).map_err(|error| to_python(&error))?;
        let counter = CorpusCounter::new(preparation, n_threads(threads)?)
            .map_err(|error| to_python(&error))?;
        Ok(Self {
            dialect,
            special_tokens,
            n_separators,
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
        let reader: Box<dyn Read + Send> = match name.as_str() {
            "-" => Box::new(Interruptible(std::io::stdin())),
            _ => {
                let file = File::open(path).map_err(|error| in_file(&name, &error.into()))?;
                Box::new(Interruptible(file))
            }
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
    fn add_counts(&self, pieces: Vec<(Text, i64)>) -> PyResult<()> {
        let result = with(&self.counts, |counts| {
            let n_before = counts.len() as u64;
            (n_before..).zip(&pieces).try_for_each(|(offset, (piece, count))| {
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
        let options = TrainOptions {
            target: match (vocab_size, merges) {
                (Some(size), None) => Target::VocabSize(size),
                (None, n_merges) => Target::Merges(n_merges.unwrap_or(usize::MAX)),
                _ => {
                    return Err(raise(
                        "TrainingError",
                        "give vocab_size or merges, not both".to_owned(),
                    ));
                }
            },
            min_count: self.dialect.min_count,
            ties: self.dialect.ties,
            special_tokens: self.special_tokens.clone(),
        };
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
    n_separators: usize,
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
            reporter.report(|| (progress.n_merges, most, n_characters, progress.n_corpus_tokens))
        })?;
        let report = Report {
            corpus,
            n_separators: self.n_separators,
            special_tokens: self.special_tokens.clone(),
            n_pieces: counts.len(),
            n_characters,
            n_tokens: trained.n_corpus_tokens,
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
            Stop::Target => None,
            Stop::MinCount(count) => Some(count),
        };
        report.set_item("best_count_at_stop", stop)?;
        let specials = PyDict::new(py);
        let n_special = self.corpus.n_special.len().saturating_sub(self.n_separators);
        for (name, count) in self.special_tokens.iter().zip(&self.corpus.n_special).take(n_special)
        {
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
            Python::attach(|py| py.check_signals()).map_err(std::io::Error::other)?;
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

fn prepend(text: &str, only_first: bool) -> NormalizeStep {
    NormalizeStep::Prepend { text: text.to_owned(), only_first, unless_there: false }
}
