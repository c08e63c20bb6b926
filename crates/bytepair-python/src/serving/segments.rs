//! Texts in segments, each encoded on its own: `encode_segments`, its batch, and the class of their results.
//!
//! The result holds ids and where segments end. Lists and arrays are made when they are asked for.

use std::borrow::Cow;

use bytepair::vocabulary::TokenId;
use bytepair::{SegmentIds, TextSegment, fits_one_thread};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

use crate::convert::{SpecialNames, Text, each_in, each_of, n_threads, type_name};
use crate::error::{OrRaise, raise};
use crate::output::{LEN_OF_OBJECT, Width, array, array_of, array_of_pairs, list, list_of};
use crate::tokenizer::CoreTokenizer;
use crate::tokenizer::calls::GIL_LEN;

/// What a pickle holds: the ids, the ends of the segments in them, and the offsets.
type Pickled = (Vec<TokenId>, Vec<usize>, Option<Vec<(usize, usize)>>);

/// The ids of a text in segments.
///
/// >>> import bytepair
/// >>> from bytepair.serving import encode_segments
/// >>> tokenizer = bytepair.train_from_iterator(
/// ...     ["low lower"], vocab_size=259, special_tokens=["<s>"]
/// ... )
/// >>> encoding = encode_segments(tokenizer, [("<s>", True), ("low<s>", False)])
/// >>> encoding
/// <bytepair.serving.SegmentEncoding: 5 ids, 2 segments>
/// >>> encoding.segment_ids.tolist()
/// [0, 1, 1, 1, 1]
#[pyclass(frozen, eq, module = "bytepair._core")]
#[derive(PartialEq, Eq)]
pub(crate) struct SegmentEncoding(SegmentIds);

#[pymethods]
impl SegmentEncoding {
    /// Make an encoding from its ids and where those of each segment end.
    #[new]
    #[pyo3(signature = (ids, ends, offsets=None))]
    fn new(
        ids: Vec<TokenId>,
        ends: Vec<usize>,
        offsets: Option<Vec<(usize, usize)>>,
    ) -> PyResult<Self> {
        let has_each = offsets.as_ref().is_none_or(|offsets| offsets.len() == ids.len());
        if !has_each || !ends.is_sorted() || ends.last().copied().unwrap_or(0) != ids.len() {
            let message = format!("{} ids, but ends or offsets of another number", ids.len());
            return Err(raise("TokenizerError", message));
        }
        Ok(Self(SegmentIds { ids, ends, offsets }))
    }

    fn __getnewargs__(&self) -> Pickled {
        (self.0.ids.clone(), self.0.ends.clone(), self.0.offsets.clone())
    }

    /// The ids of all segments.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> SegmentEncoding([7, 8, 9], [1, 3]).ids
    /// [7, 8, 9]
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.0.ids)
    }

    /// The index of the segment of each id, ``uint32[n]``.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> SegmentEncoding([7, 8, 9], [1, 3]).segment_ids
    /// array([0, 1, 1], dtype=uint32)
    #[getter]
    fn segment_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut indices = Vec::with_capacity(self.0.ids.len());
        (0..).zip(&self.0.ends).for_each(|(index, &end)| indices.resize(end, index));
        array_of(py, Cow::Owned(indices))
    }

    /// The first id of each segment and the one after its last, ``int64[n_segments, 2]``.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> SegmentEncoding([7, 8, 9], [1, 3]).segment_spans.tolist()
    /// [[0, 1], [1, 3]]
    #[getter]
    fn segment_spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let ends = &self.0.ends;
        array_of_pairs(py, [0].iter().chain(ends).copied().zip(ends.iter().copied()))
    }

    /// The span of each id in the joined text of all segments, in characters.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> SegmentEncoding([7, 8], [1, 2], [(0, 3), (3, 4)]).offsets
    /// [(0, 3), (3, 4)]
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The segments were encoded without ``offsets=True``.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.spans()?.iter(), 3 * LEN_OF_OBJECT)
    }

    /// Return the ids as an array, ``uint32[n]``.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> SegmentEncoding([7, 8, 9], [1, 3]).ids_to_numpy()
    /// array([7, 8, 9], dtype=uint32)
    fn ids_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, Cow::Borrowed(&self.0.ids), Width::Bits32)
    }

    /// Return the offsets as an array, ``int64[n, 2]``.
    ///
    /// >>> from bytepair.serving import SegmentEncoding
    /// >>> encoding = SegmentEncoding([7, 8], [1, 2], [(0, 3), (3, 4)])
    /// >>> encoding.offsets_to_numpy().tolist()
    /// [[0, 3], [3, 4]]
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The segments were encoded without ``offsets=True``.
    fn offsets_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        array_of_pairs(py, self.spans()?.iter().copied())
    }

    fn __len__(&self) -> usize {
        self.0.ids.len()
    }

    fn __repr__(&self) -> String {
        let (n_ids, n_segments) = (self.0.ids.len(), self.0.ends.len());
        format!("<bytepair.serving.SegmentEncoding: {n_ids} ids, {n_segments} segments>")
    }
}

impl SegmentEncoding {
    fn spans(&self) -> PyResult<&[(usize, usize)]> {
        let message = "the segments were encoded without offsets; pass offsets=True";
        self.0.offsets.as_deref().ok_or_else(|| raise("TokenizerError", message))
    }
}

/// Encode segments of a text, each on its own, and join their ids.
///
/// A segment is a tuple ``(text, trusted)``; further items of a tuple are ignored. If ``trusted`` is true, all special
/// and added tokens are found in the text, as by ``encode(text, allowed_special="all")``. If it is false, none is, as by
/// ``encode(text, added_tokens="text")``. If it is a collection of names, only these tokens are found, and all others are
/// text. No token crosses the border of two segments. With ``offsets``, the result also has the span of each id in the
/// joined text, in characters.
///
/// >>> import bytepair
/// >>> from bytepair.serving import encode_segments
/// >>> tokenizer = bytepair.train_from_iterator(
/// ...     ["low lower"], vocab_size=260, special_tokens=["<s>", "<e>"]
/// ... )
/// >>> encode_segments(tokenizer, [("<s>low", True), ("<s>", False)]).ids
/// [258, 257, 27, 82, 29]
/// >>> encode_segments(tokenizer, [("<s><e>", {"<e>"})], offsets=True).offsets
/// [(0, 1), (1, 2), (2, 3), (3, 6)]
///
/// Raises
/// ------
/// SpecialTokenError
///     A name in ``trusted`` is neither a special nor an added token.
///
/// Also raises the errors of :meth:`Tokenizer.encode`. Every message has the index of the segment.
#[pyfunction]
#[pyo3(signature = (tokenizer, segments, *, offsets=false))]
pub(crate) fn encode_segments(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    segments: &Bound<'_, PyAny>,
    offsets: bool,
) -> PyResult<SegmentEncoding> {
    let segments = self::segments(segments)?;
    let encode = || tokenizer.0.encode_segments(borrowed(&segments), offsets);
    let encoded = if len(&segments) <= GIL_LEN { encode() } else { py.detach(encode) };
    encoded.map(SegmentEncoding).or_raise()
}

/// Encode many texts in segments, each as :func:`encode_segments` does.
///
/// ``threads`` is the number of threads; ``None`` uses all processors.
///
/// >>> import bytepair
/// >>> from bytepair.serving import encode_segments_batch
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> batch = encode_segments_batch(tokenizer, [[("low", True)], []])
/// >>> [encoding.ids for encoding in batch]
/// [[257], []]
///
/// Raises the errors of :func:`encode_segments`; the message also has the text's index in the batch.
#[pyfunction]
#[pyo3(signature = (tokenizer, batch, *, offsets=false, threads=None))]
pub(crate) fn encode_segments_batch(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    batch: &Bound<'_, PyAny>,
    offsets: bool,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<SegmentEncoding>> {
    let rows = each_of(batch, segments)?;
    let fits_one = threads.is_none() && fits_one_thread(rows.iter().map(|row| len(row)));
    let rows: Vec<Vec<_>> = rows.iter().map(|row| borrowed(row).collect()).collect();
    let n_threads = if fits_one { 1 } else { n_threads(threads)? };
    let encoded = py.detach(|| tokenizer.0.encode_segments_batch(&rows, offsets, n_threads));
    Ok(encoded.or_raise()?.into_iter().map(SegmentEncoding).collect())
}

fn len(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.text.bytes().len()).sum()
}

/// A segment from Python.
struct Segment {
    text: Text,
    found: SpecialNames,
}

fn borrowed(segments: &[Segment]) -> impl Iterator<Item = TextSegment<'_>> + Clone {
    segments.iter().map(|Segment { text, found }| TextSegment {
        text: text.bytes(),
        found: found.as_specials(),
    })
}

/// The segments of a text. An error gives the index of the segment.
fn segments(items: &Bound<'_, PyAny>) -> PyResult<Vec<Segment>> {
    each_in("segments", items, |index| format!("segment {index}"), segment)
}

fn segment(item: &Bound<'_, PyAny>) -> PyResult<Segment> {
    let Some(fields) = item.cast::<PyTuple>().ok().filter(|fields| fields.len() >= 2) else {
        let message = format!("expected a tuple (text, trusted), not {}", item.repr()?);
        return Err(PyTypeError::new_err(message));
    };
    let text = fields.get_borrowed_item(0)?.extract()?;
    Ok(Segment { text, found: found(&fields.get_item(1)?)? })
}

/// The tokens to find, as `trusted` says.
fn found(trusted: &Bound<'_, PyAny>) -> PyResult<SpecialNames> {
    if let Ok(is_trusted) = trusted.cast::<PyBool>() {
        return Ok(if is_trusted.is_true() { SpecialNames::All } else { SpecialNames::None });
    }
    match trusted.extract() {
        Ok(SpecialNames::All) => {}
        Err(error) if error.is_instance_of::<PyTypeError>(trusted.py()) => {}
        names => return names,
    }
    let message = "trusted must be True, False or a collection of names of tokens, not";
    Err(PyTypeError::new_err(format!("{message} {}", type_name(trusted))))
}
