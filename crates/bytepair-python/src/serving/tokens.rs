//! Bytes of tokens as arrays, their trie, and healing. `bytepair.serving` makes classes of them.

use bytepair::serving::ByteTrie;
use bytepair::vocabulary::TokenId;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::Ids;
use crate::error::OrRaise;
use crate::output::{bytes, into_array};
use crate::tokenizer::CoreTokenizer;

type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// The arrays of a trie, in the order of the fields of `ByteTrie`.
type Trie<'py> = (Array<'py, u8>, Array<'py, u32>, Array<'py, u32>, Array<'py, TokenId>);

/// Return the bytes of text of all tokens, where those of each begin, and the class of each.
///
/// A class is an index of ``bytepair.serving.KINDS``. There is one more offset than tokens.
#[pyfunction]
pub(crate) fn token_texts<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
) -> PyResult<(Array<'py, u8>, Array<'py, i64>, Array<'py, u8>)> {
    let table = py.detach(|| tokenizer.0.token_bytes()).or_raise()?;
    let offsets = table.offsets.iter().map(|&offset| i64::try_from(offset).unwrap_or(i64::MAX));
    let kinds = table.classes.iter().map(|&class| class as u8);
    let (offsets, kinds) = (offsets.collect(), kinds.collect());
    Ok((into_array(py, table.bytes.clone())?, into_array(py, offsets)?, into_array(py, kinds)?))
}

/// Return the trie of all tokens as ``bytepair.serving.ByteTrie`` has it: ``bytes``, ``ends``, ``starts`` and ``ids``.
#[pyfunction]
pub(crate) fn byte_trie<'py>(py: Python<'py>, tokenizer: &CoreTokenizer) -> PyResult<Trie<'py>> {
    let trie = py.detach(|| tokenizer.0.token_bytes().map(ByteTrie::new));
    let ByteTrie { bytes, ends, starts, ids } = trie.or_raise()?;
    let (ends, starts, ids) =
        (into_array(py, ends)?, into_array(py, starts)?, into_array(py, ids)?);
    Ok((into_array(py, bytes)?, ends, starts, ids))
}

/// Return how many ids of a prompt stay, whatever follows, and the bytes of the others.
#[pyfunction]
pub(crate) fn heal<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let healed = py.detach(|| tokenizer.0.heal(&ids.0)).or_raise()?;
    Ok((healed.n_kept, bytes(py, &healed.rest)?))
}
