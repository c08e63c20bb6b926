//! Questions about ids that a model sampled.

use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use crate::convert::{BorrowedText, Ids};
use crate::error::OrRaise;
use crate::patch::Patch;
use crate::tokenizer::CoreTokenizer;
use crate::tokenizer::calls::{Keywords, Options};

/// Return the index of the first id that the text of a row of ids does not have, or ``None``.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, **options), text_signature = "(tokenizer, ids, *, added_tokens='find')")]
pub(crate) fn first_noncanonical(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Option<usize>> {
    let options = Options::of("first_noncanonical", options, &[])?;
    let options = options.core();
    py.detach(|| tokenizer.0.first_noncanonical(&ids.0, options)).or_raise()
}

/// Return the ids that the text of a row of ids has, with the special tokens of the row.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, **options), text_signature = "(tokenizer, ids, *, added_tokens='find')")]
pub(crate) fn canonicalize(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Vec<TokenId>> {
    let options = Options::of("canonicalize", options, &[])?;
    let options = options.core();
    py.detach(|| tokenizer.0.canonicalize(&ids.0, options)).or_raise()
}

/// Return how a row of ids changes when text follows it.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, text, **options), text_signature = "(tokenizer, ids, text, *, allowed_special=(), disallowed_special=(), added_tokens='find')")]
pub(crate) fn splice(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    text: BorrowedText<'_>,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Patch> {
    let options = Options::of("splice", options, &[])?;
    let (options, text) = (options.core(), text.bytes);
    py.detach(|| tokenizer.0.splice(&ids.0, text, options)).map(Patch).or_raise()
}
