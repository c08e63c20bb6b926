//! `Patch`: how a list of ids changes.

use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use crate::convert::Ids;
use crate::error::raise;

/// How a list of ids changes: which of its ids stay, and which come instead of the others.
///
/// The new list is ``old[:keep] + ids + old[len(old) - keep_after:]``. ``keep_after`` is 0 if the text changed at its end.
///
/// >>> from bytepair.serving import Patch
/// >>> patch = Patch(2, [7, 8])
/// >>> patch.apply([1, 2, 3])
/// [1, 2, 7, 8]
/// >>> patch
/// Patch(keep=2, ids=[7, 8], keep_after=0)
#[pyclass(frozen, eq, module = "bytepair._core")]
#[derive(PartialEq, Eq)]
pub(crate) struct Patch(pub(crate) bytepair::serving::Patch);

#[pymethods]
impl Patch {
    #[new]
    #[pyo3(signature = (keep, ids, keep_after=0))]
    fn new(keep: usize, ids: Ids, keep_after: usize) -> Self {
        Self(bytepair::serving::Patch { keep, ids: ids.0, keep_after })
    }

    /// How many ids at the beginning stay.
    ///
    /// >>> from bytepair.serving import Patch
    /// >>> Patch(2, [7, 8]).keep
    /// 2
    #[getter]
    fn keep(&self) -> usize {
        self.0.keep
    }

    /// The ids that come after those that stay.
    ///
    /// >>> from bytepair.serving import Patch
    /// >>> Patch(2, [7, 8]).ids
    /// [7, 8]
    #[getter]
    fn ids(&self) -> Vec<TokenId> {
        self.0.ids.clone()
    }

    /// How many ids at the end stay.
    ///
    /// >>> from bytepair.serving import Patch
    /// >>> Patch(2, [7, 8]).keep_after
    /// 0
    #[getter]
    fn keep_after(&self) -> usize {
        self.0.keep_after
    }

    /// Return the new list of ids.
    ///
    /// >>> from bytepair.serving import Patch
    /// >>> Patch(1, [7], keep_after=1).apply([1, 2, 3])
    /// [1, 7, 3]
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     There are fewer ids than stay.
    fn apply(&self, ids: Ids) -> PyResult<Vec<TokenId>> {
        self.0.apply(&ids.0).ok_or_else(|| {
            let (n_ids, keep, after) = (ids.0.len(), self.0.keep, self.0.keep_after);
            let message = format!(
                "the patch keeps {keep} ids at the beginning and {after} at the end, but there are {n_ids}"
            );
            raise("TokenizerError", message)
        })
    }

    fn __getnewargs__(&self) -> (usize, Vec<TokenId>, usize) {
        (self.0.keep, self.0.ids.clone(), self.0.keep_after)
    }

    fn __repr__(&self) -> String {
        let bytepair::serving::Patch { keep, ids, keep_after } = &self.0;
        format!("Patch(keep={keep}, ids={ids:?}, keep_after={keep_after})")
    }
}
