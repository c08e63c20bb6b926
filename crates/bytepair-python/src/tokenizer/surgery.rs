//! Tokenizers with other vocabularies: extended, pruned, without some tokens, joined with another.
//!
//! The methods give plain values, from which `bytepair.surgery` makes its results.

use std::collections::HashSet;
use std::sync::Arc;

use bytepair::surgery::{Goal, Mode, Numbering, Rerouted, StringReport};
use bytepair::vocabulary::{Merge, TokenId};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::convert;
use crate::error::{raise, to_python};
use crate::numpy_import::ready;
use crate::rows::PieceTable;

/// What became of a string: the outcome, its id, its parts before, and the helpers.
type Report = (&'static str, Option<TokenId>, Vec<TokenId>, Vec<TokenId>);

/// New ids by the old ones, -1 for those that went.
type IdMap<'py> = Bound<'py, PyArray1<i64>>;

/// Two parts and their result.
type Parts = (TokenId, TokenId, TokenId);

#[pymethods]
impl CoreTokenizer {
    /// Return the merges that make a token and those that use it, each as its two parts and its result.
    fn _merges_of(&self, py: Python<'_>, ids: Vec<TokenId>) -> Vec<(Vec<Parts>, Vec<Parts>)> {
        py.detach(|| {
            let graph = self.0.merge_graph();
            let merges = self.0.parts().vocabulary.merges();
            let all = |places: &[u32]| -> Vec<Parts> {
                places.iter().map(|&place| parts(&merges[place as usize])).collect()
            };
            ids.iter().map(|&id| (all(graph.makers(id)), all(graph.users(id)))).collect()
        })
    }

    /// Return the tokens that no other is built on and that may be removed.
    fn _leaves(&self, py: Python<'_>) -> PyResult<Vec<TokenId>> {
        py.detach(|| self.0.leaves()).map_err(|error| to_python(&error))
    }

    /// Return these tokens and all that are built on them.
    fn _built_on(&self, py: Python<'_>, ids: Vec<TokenId>) -> PyResult<Vec<TokenId>> {
        py.detach(|| self.0.built_on(&ids)).map_err(|error| to_python(&error))
    }

    /// Return this tokenizer with tokens for strings, and for each string its outcome, its id, what it was encoded to, and the
    /// helpers that were added for it.
    #[pyo3(signature = (strings, *, allow_helpers=false))]
    fn _extended(
        &self,
        py: Python<'_>,
        strings: Vec<String>,
        allow_helpers: bool,
    ) -> PyResult<(Self, Vec<Report>)> {
        let strings: Vec<_> = strings.iter().map(String::as_str).collect();
        let extended = py.detach(|| self.0.extend_with_strings(&strings, allow_helpers));
        let extended = extended.map_err(|error| to_python(&error))?;
        let reports = extended.reports.into_iter().map(report).collect();
        Ok((Self(Arc::new(extended.tokenizer)), reports))
    }

    /// Return this tokenizer with the tokens of another, and for each id of the other what became of it, as for strings; ``None``
    /// where its token is not text.
    #[pyo3(signature = (other, *, allow_helpers=false))]
    fn _merged_with(
        &self,
        py: Python<'_>,
        other: PyRef<'_, Self>,
        allow_helpers: bool,
    ) -> PyResult<(Self, Vec<Option<Report>>)> {
        let other = Arc::clone(&other.0);
        let merged = py.detach(|| self.0.merge_with(&other, allow_helpers));
        let (tokenizer, reports) = merged.map_err(|error| to_python(&error))?;
        let reports = reports.into_iter().map(|row| row.map(report)).collect();
        Ok((Self(Arc::new(tokenizer)), reports))
    }

    /// Return this tokenizer without some tokens, the new ids by the old ones (-1: gone), the ids of all that went, and those
    /// that are made another way: the merge before and the one now.
    #[pyo3(signature = (ids, *, mode="cascade", numbering="holes"))]
    #[expect(clippy::type_complexity, reason = "plain values for Python")]
    fn _without<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<Bound<'py, PyAny>>,
        mode: &str,
        numbering: &str,
    ) -> PyResult<(Self, IdMap<'py>, Vec<TokenId>, Vec<(Parts, Parts)>)> {
        let ids = ids.iter().map(convert::id).collect::<PyResult<Vec<_>>>()?;
        let (mode, numbering) = (read_mode(mode)?, read_numbering(numbering)?);
        let removed = py.detach(|| self.0.without(&ids, mode, numbering));
        let removed = removed.map_err(|error| to_python(&error))?;
        let way = |way: &Rerouted| (parts(&way.before), parts(&way.now));
        let ways = removed.rerouted.iter().map(way).collect();
        let id_map = id_map(py, &removed.id_map)?;
        Ok((Self(Arc::new(removed.tokenizer)), id_map, removed.removed, ways))
    }

    /// Return for each id why its token must stay, ``None`` if it need not.
    fn _why_it_stays(&self, ids: Vec<TokenId>) -> Vec<Option<&'static str>> {
        self.0.why_it_stays(&ids)
    }

    /// Return this tokenizer with so many tokens, or without all that occur less often than ``min_count``, the new ids by the old
    /// ones (-1: gone), and the ids of those that went, in this order, each with how often it occurred then. With ``among``, none
    /// but these go.
    #[pyo3(signature = (to, counts, *, min_count=None, among=None, numbering="holes"))]
    #[expect(clippy::type_complexity, reason = "plain values for Python")]
    fn _pruned<'py>(
        &self,
        py: Python<'py>,
        to: Option<usize>,
        counts: PyRef<'py, PieceTable>,
        min_count: Option<i64>,
        among: Option<Vec<TokenId>>,
        numbering: &str,
    ) -> PyResult<(Self, IdMap<'py>, Vec<(TokenId, i64)>)> {
        let numbering = read_numbering(numbering)?;
        let counts = counts.with(|counts| counts.clone());
        let among = among.map(|ids| {
            let named: HashSet<_> = ids.into_iter().collect();
            let ids = (0..).take(self.0.parts().vocabulary.len());
            ids.map(|id: TokenId| named.contains(&id)).collect::<Vec<_>>()
        });
        let goal = Goal { to, min_count, among: among.as_deref() };
        let pruned = py.detach(|| self.0.pruned(goal, &counts, numbering));
        let pruned = pruned.map_err(|error| to_python(&error))?;
        let id_map = id_map(py, &pruned.id_map)?;
        Ok((Self(Arc::new(pruned.tokenizer)), id_map, pruned.removed))
    }
}

fn parts(merge: &Merge) -> Parts {
    (merge.left, merge.right, merge.result)
}

fn report(report: StringReport) -> Report {
    (report.outcome.name(), report.id, report.parts, report.helpers)
}

fn id_map<'py>(py: Python<'py>, new_ids: &[Option<TokenId>]) -> PyResult<IdMap<'py>> {
    ready(py)?;
    let ids: Vec<_> = new_ids.iter().map(|id| id.map_or(-1, i64::from)).collect();
    Ok(ids.into_pyarray(py))
}

fn read_mode(name: &str) -> PyResult<Mode> {
    match name {
        "cascade" => Ok(Mode::Cascade),
        "reroute" => Ok(Mode::Reroute),
        _ => Err(raise(
            "TokenizerError",
            format!("mode={name:?} is neither 'cascade' nor 'reroute'"),
        )),
    }
}

fn read_numbering(name: &str) -> PyResult<Numbering> {
    match name {
        "holes" => Ok(Numbering::Holes),
        "reserved" => Ok(Numbering::Reserved),
        "compact" => Ok(Numbering::Compact),
        _ => Err(raise(
            "TokenizerError",
            format!("numbering={name:?} is none of 'holes', 'reserved', 'compact'"),
        )),
    }
}
