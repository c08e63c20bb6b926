//! Whether a token can occur in any text, for `bytepair.analyze` and `bytepair.surgery`.

use std::sync::Arc;

use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::error::OrRaise;

/// Return the id of a token, as Hugging Face files write it, or ``None`` if there is none.
///
/// >>> import bytepair
/// >>> from bytepair import _core
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> _core.id_of_written(tokenizer, "Ġ"), tokenizer.token_to_id(" ")
/// (220, 220)
#[pyfunction]
pub(crate) fn id_of_written(tokenizer: &CoreTokenizer, token: &str) -> Option<TokenId> {
    tokenizer.0.id_of_published(token)
}

/// Return a tokenizer with a token for units that no token stands for, and its id, or ``None`` if there are no such units.
#[pyfunction]
pub(crate) fn with_missing(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
) -> PyResult<Option<(CoreTokenizer, TokenId)>> {
    let found = py.detach(|| tokenizer.0.with_missing()).or_raise()?;
    Ok(found.map(|(tokenizer, id)| (CoreTokenizer(Arc::clone(tokenizer)), *id)))
}

/// Return the tokens that merging their own units does not make, and the tokens that it makes, but that no neighbours
/// leave whole.
#[pyfunction]
pub(crate) fn unreached(py: Python<'_>, tokenizer: &CoreTokenizer) -> (Vec<TokenId>, Vec<TokenId>) {
    let found = py.detach(|| tokenizer.0.unreached());
    (found.unmade, found.unplaced)
}

/// Return the ids that the units of consecutive text tokens are merged to, or ``None`` if a unit is not in the vocabulary or
/// a token is not text.
#[pyfunction]
pub(crate) fn merged_units(
    tokenizer: &CoreTokenizer,
    ids: Vec<TokenId>,
) -> PyResult<Option<Vec<TokenId>>> {
    let units: Option<Vec<_>> = ids.iter().map(|&id| tokenizer.0.units_of_token(id)).collect();
    units.map(|units| tokenizer.0.merged(&units.concat()).or_raise()).transpose()
}

/// Return, for each text, why no piece can contain it: ``"changed"`` if the normalizer always changes it, ``"cut"`` if the
/// split pattern always cuts it, or ``None`` if neither is proven.
#[pyfunction]
pub(crate) fn why_in_no_piece(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    texts: Vec<Vec<u8>>,
) -> PyResult<Vec<Option<&'static str>>> {
    let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
    let changed = py.detach(|| tokenizer.0.never_normalized(&texts)).or_raise()?;
    let cut = py.detach(|| tokenizer.0.never_held(&texts));
    let why = |(is_changed, is_cut)| match (is_changed, is_cut) {
        (true, _) => Some("changed"),
        (false, true) => Some("cut"),
        (false, false) => None,
    };
    Ok(changed.into_iter().zip(cut).map(why).collect())
}
