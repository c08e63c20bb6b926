//! Questions about ids that a model sampled, and which ids of a text stay.

use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{Added, BorrowedText, Ids};
use crate::error::OrRaise;
use crate::output::{bytes, patch};
use crate::tokenizer::calls::{Keywords, Options};
use crate::tokenizer::{CoreTokenizer, Session};

/// Return whether the text of a row of ids has these ids.
///
/// Special tokens divide a row, and each stretch of text between them is encoded as it stands in the row. A special
/// token that a model spelled in other tokens stays text. With ``added_tokens="text"``, all added tokens divide a row, as
/// in a row whose text was encoded with this option. Where decoding writes end marks as text, as CLIP's decoder does, no
/// row is canonical. Takes about twice as long as encoding the text.
///
/// >>> import bytepair
/// >>> from bytepair.serving import is_canonical
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> is_canonical(tokenizer, [257, 68]), is_canonical(tokenizer, [256, 86, 68])
/// (True, False)
///
/// Raises
/// ------
/// UnknownTokenError
///     No token has one of the ids.
/// TokenizerError
///     The row has an unknown token, whose text is not known; or tokens have no bytes of their own, as for
///     ``TokenBytes``.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, *, added_tokens=Added::FIND), text_signature = "(tokenizer, ids, *, added_tokens='find')")]
pub(crate) fn is_canonical(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    added_tokens: Added,
) -> PyResult<bool> {
    Ok(first_noncanonical(py, tokenizer, ids, added_tokens)?.is_none())
}

/// Return the index of the first id that the text of a row of ids does not have, or ``None``.
///
/// >>> import bytepair
/// >>> from bytepair.serving import first_noncanonical
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> first_noncanonical(tokenizer, [257, 220, 256, 86])
/// 2
///
/// Raises the errors of :func:`is_canonical`.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, *, added_tokens=Added::FIND), text_signature = "(tokenizer, ids, *, added_tokens='find')")]
pub(crate) fn first_noncanonical(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    added_tokens: Added,
) -> PyResult<Option<usize>> {
    py.detach(|| tokenizer.0.first_noncanonical(&ids.0, added_tokens.0)).or_raise()
}

/// Return the ids that the text of a row of ids has, with the special tokens of the row.
///
/// >>> import bytepair
/// >>> from bytepair.serving import canonicalize
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> canonicalize(tokenizer, [257, 220, 256, 86])
/// [257, 220, 257]
///
/// Raises
/// ------
/// EncodingError
///     The ids have no text, and the dialect needs one; also the errors of :func:`is_canonical`.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, *, added_tokens=Added::FIND), text_signature = "(tokenizer, ids, *, added_tokens='find')")]
pub(crate) fn canonicalize(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    added_tokens: Added,
) -> PyResult<Vec<TokenId>> {
    py.detach(|| tokenizer.0.canonicalize(&ids.0, added_tokens.0)).or_raise()
}

/// Return how a row of ids changes when text follows it.
///
/// Ids that the text does not change stay as they were sampled. If the row is canonical, the new row has the ids of the
/// whole text. If it is not, ids stay up to the last place where one of them and one of the whole text's ids end. The
/// options are about special tokens in ``text``: they are found there alone, so their ``lstrip`` and ``single_word`` do not
/// look at the row. The cost does not depend on the length of the row, apart from reading it.
///
/// >>> import bytepair
/// >>> from bytepair.serving import splice
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> splice(tokenizer, [256, 86, 220, 75], "ow")
/// Patch(keep=3, ids=[257], keep_after=0)
///
/// Raises
/// ------
/// EncodingError
///     The text of the last ids cannot be encoded; also the errors of :func:`is_canonical` and of ``Tokenizer.encode``.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, text, **options), text_signature = "(tokenizer, ids, text, *, allowed_special=(), disallowed_special=(), added_tokens='find')")]
pub(crate) fn splice<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
    text: BorrowedText<'_>,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options::of("splice", options, &[])?;
    let (options, text) = (options.core(), text.bytes);
    patch(py, py.detach(|| tokenizer.0.splice(&ids.0, text, options)).or_raise()?)
}

/// Return how many of the first ids of a text stay, whatever text is appended.
///
/// This is proven from the split pattern, the normalizer and the merges, so it is 0 where they prove nothing;
/// ``tokenizer.session().explain()`` says why.
///
/// >>> import bytepair
/// >>> from bytepair.serving import stable_prefix
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> stable_prefix(tokenizer, "low low")
/// 1
///
/// Raises the errors of ``Tokenizer.encode``.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, **options), text_signature = "(tokenizer, text, *, allowed_special=(), disallowed_special=(), added_tokens='find')")]
pub(crate) fn stable_prefix(
    tokenizer: &Bound<'_, CoreTokenizer>,
    text: &Bound<'_, PyAny>,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<usize> {
    Options::of("stable_prefix", options, &[])?;
    Ok(Session::new(tokenizer, Some(text), false, None, options)?.n_stable())
}

/// Return the text of a row without its special tokens, and where each id ends in it, in bytes.
#[pyfunction]
pub(crate) fn text_and_ends<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    ids: Ids,
) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
    let (text, ends) = py.detach(|| tokenizer.0.text_and_ends(&ids.0)).or_raise()?;
    Ok((bytes(py, &text)?, ends))
}
