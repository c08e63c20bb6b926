//! Tokenizers from the contents of files, and back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use bytepair::Dropout;
use bytepair_formats::codes::{self, Codes};
use bytepair_formats::pair::Pair;
use bytepair_formats::segmentation::{LineEnds, SegmentOptions, Segmenter};
use bytepair_formats::{compiled, encodings, gguf, huggingface, pair, tiktoken};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::dialect::Dialect;
use crate::error::OrRaise;
use crate::output::bytes;
use crate::tokenizer::CoreTokenizer;

/// The content of a file, and the kinds of texts whose ids it changes, each with an example.
type WithChanges<'py> = (Bound<'py, PyBytes>, Vec<(String, String)>);

/// Read the content of a file, in a format that has one file and needs no options.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, format: &str, data: PyBackedBytes) -> PyResult<CoreTokenizer> {
    CoreTokenizer::made(py.detach(|| bytepair_formats::read(format, &data)))
}

/// Return the contents of the files of a format: two for ``gpt2`` and ``tiktoken``, otherwise one.
#[pyfunction]
pub(crate) fn write<'py>(
    py: Python<'py>,
    format: &str,
    tokenizer: &CoreTokenizer,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let files = py.detach(|| bytepair_formats::write(format, &tokenizer.0)).or_raise()?;
    files.iter().map(|(_, file)| bytes(py, file)).collect()
}

/// Return the content of a ``tokenizer.json``, and the kinds of texts whose ids it changes, each with an example.
#[pyfunction]
pub(crate) fn write_huggingface_with_changes<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
) -> PyResult<WithChanges<'py>> {
    let written = py.detach(|| huggingface::write_with_changes(&tokenizer.0)).or_raise()?;
    let changes = written.changes.into_iter().map(|change| (change.what, change.text)).collect();
    Ok((bytes(py, &written.file)?, changes))
}

/// Read the tokenizer at the beginning of a ``.gguf`` file; the splitter of ``dialect`` replaces its own.
#[pyfunction]
#[pyo3(signature = (path, dialect = None))]
pub(crate) fn read_gguf(
    py: Python<'_>,
    path: PathBuf,
    dialect: Option<&Dialect>,
) -> PyResult<CoreTokenizer> {
    let file = File::open(path)?;
    let stages = dialect.map(|dialect| dialect.0.split.clone());
    CoreTokenizer::made(py.detach(|| gguf::read_split(BufReader::new(file), stages)))
}

/// Return the names of the files with settings for ``vocab.json`` and ``merges.txt``.
#[pyfunction]
pub(crate) fn pair_settings() -> [&'static str; 4] {
    pair::SETTINGS
}

/// Read the contents of ``vocab.json``, ``merges.txt``, and the files with settings by name; the splitter of ``dialect``
/// replaces their own.
#[pyfunction]
#[pyo3(signature = (vocab, merges, settings, dialect = None))]
pub(crate) fn read_pair(
    py: Python<'_>,
    vocab: PyBackedBytes,
    merges: PyBackedBytes,
    settings: BTreeMap<String, PyBackedBytes>,
    dialect: Option<&Dialect>,
) -> PyResult<CoreTokenizer> {
    let settings: Vec<(&str, &[u8])> =
        settings.iter().map(|(name, file)| (name.as_str(), &**file)).collect();
    let files = Pair { vocab_json: &vocab, merges_txt: &merges, settings: &settings };
    let stages = dialect.map(|dialect| dialect.0.split.clone());
    CoreTokenizer::made(py.detach(|| pair::read_split(&files, stages)))
}

/// Read the content of a ``.tiktoken`` file that was made for a dialect.
#[pyfunction]
pub(crate) fn read_tiktoken(
    py: Python<'_>,
    ranks: PyBackedBytes,
    dialect: &Dialect,
    special_tokens: BTreeMap<String, u32>,
) -> PyResult<CoreTokenizer> {
    let special_tokens: Vec<_> = special_tokens.into_iter().collect();
    CoreTokenizer::made(
        py.detach(|| tiktoken::read(&ranks, dialect.0.split.clone(), &special_tokens)),
    )
}

/// Read the contents of a ``.tiktoken`` file and of its sidecar.
#[pyfunction]
pub(crate) fn read_tiktoken_sidecar(
    py: Python<'_>,
    ranks: PyBackedBytes,
    sidecar: PyBackedBytes,
) -> PyResult<CoreTokenizer> {
    CoreTokenizer::made(py.detach(|| tiktoken::read_with_sidecar(&ranks, &sidecar)))
}

/// Read a file of ranks as a published encoding.
#[pyfunction]
pub(crate) fn read_encoding(
    py: Python<'_>,
    ranks: PyBackedBytes,
    name: &str,
    renamed: BTreeMap<u32, String>,
) -> PyResult<CoreTokenizer> {
    let renamed: Vec<_> = renamed.into_iter().collect();
    CoreTokenizer::made(py.detach(|| encodings::read(&ranks, name, &renamed)))
}

/// Return the names of the published encodings that a file of ranks may belong to; several may share it.
#[pyfunction]
pub(crate) fn recognise_encodings(
    ranks: PyBackedBytes,
    file_name: &str,
    renamed: BTreeMap<u32, String>,
) -> Vec<&'static str> {
    let renamed: Vec<_> = renamed.into_iter().collect();
    encodings::recognise(&ranks, file_name, &renamed)
}

/// Raise an error if ranks are only a part of a published file.
#[pyfunction]
pub(crate) fn check_whole_ranks(
    ranks: PyBackedBytes,
    file_name: &str,
    has_split: bool,
) -> PyResult<()> {
    encodings::check_whole(&ranks, file_name, has_split).or_raise()
}

/// Return the name of the format of a file, by its content, or ``None`` if the format is unknown.
#[pyfunction]
pub(crate) fn recognise_format(data: PyBackedBytes) -> Option<&'static str> {
    bytepair_formats::recognise(&data)
}

/// Return what a file lacks if it is half of a tokenizer, or ``None`` for any other file.
#[pyfunction]
pub(crate) fn half_of_pair(name: &str, data: PyBackedBytes) -> Option<String> {
    bytepair_formats::half_of_pair(name, &data)
}

/// Return the names of the vocabulary files that need a file of merges, each with the name of that file.
#[pyfunction]
pub(crate) fn pair_names() -> [(&'static str, &'static str); 3] {
    bytepair_formats::PAIRS
}

/// Return the names of the published encodings that ``Tokenizer.from_file`` recognises.
///
/// >>> import bytepair
/// >>> "o200k_base" in bytepair.encodings()
/// True
#[pyfunction]
pub(crate) fn encoding_names() -> Vec<&'static str> {
    encodings::names().collect()
}

/// Read the contents of ``encoder_bpe_40000.json`` and ``vocab_40000.bpe``.
#[pyfunction]
pub(crate) fn read_gpt1(
    py: Python<'_>,
    vocab: PyBackedBytes,
    merges: PyBackedBytes,
) -> PyResult<CoreTokenizer> {
    CoreTokenizer::made(py.detach(|| pair::read_gpt1(&vocab, &merges)))
}

/// Read a compiled tokenizer from a file.
#[pyfunction]
pub(crate) fn read_compiled_file(py: Python<'_>, path: PathBuf) -> PyResult<CoreTokenizer> {
    let file = File::open(path)?;
    let n_bytes = file.metadata()?.len();
    CoreTokenizer::made(py.detach(|| compiled::read_from(file, n_bytes)))
}

/// Return the tokens of a subword-nmt vocabulary that occur at least ``threshold`` times.
#[pyfunction]
pub(crate) fn read_subword_vocabulary(
    data: PyBackedBytes,
    threshold: Option<i64>,
) -> PyResult<Vec<String>> {
    codes::read_vocabulary(&data, threshold).or_raise()
}

/// Cuts words into the parts that merges make.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CoreSegmenter(Segmenter);

#[pymethods]
impl CoreSegmenter {
    #[new]
    fn new(
        codes: PyBackedBytes,
        n_merges: Option<usize>,
        separator: &str,
        allowed: Vec<String>,
    ) -> PyResult<Self> {
        Codes::read(&codes, n_merges)
            .and_then(|codes| Segmenter::new(&codes, separator, &allowed))
            .map(Self)
            .or_raise()
    }

    /// Segment the words of a text, line by line.
    ///
    /// Lines end at line feeds, or with ``splits_lines`` where ``str.splitlines`` ends them.
    #[pyo3(signature = (text, *, dropout=0.0, seed=0, first_line=0, splits_lines=false))]
    fn segment(
        &self,
        py: Python<'_>,
        text: &str,
        dropout: f64,
        seed: u64,
        first_line: u64,
        splits_lines: bool,
    ) -> PyResult<String> {
        let line_ends = if splits_lines { LineEnds::Python } else { LineEnds::LineFeeds };
        let dropout = Some(Dropout { probability: dropout, seed });
        let options = SegmentOptions { dropout, first_line, line_ends };
        py.detach(|| self.0.segment(text, options)).or_raise()
    }

    /// Return the parts of a word, without separators; ``place`` is the position of the word in its line.
    #[pyo3(signature = (word, *, dropout=0.0, seed=0, line=0, place=0))]
    fn parts_of_word(
        &self,
        word: &str,
        dropout: f64,
        seed: u64,
        line: u64,
        place: u64,
    ) -> PyResult<Vec<String>> {
        let dropout = Some(Dropout { probability: dropout, seed });
        self.0.parts_of_word(word, dropout, (line, place)).or_raise()
    }
}
