//! Tokenizers made from another: other lengths and templates, more added tokens, fewer merges, other vocabularies.
//!
//! Methods for other vocabularies give plain values, from which `bytepair.surgery` makes its results.

use std::collections::HashSet;
use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::added::AddedToken;
use bytepair::surgery::{Goal, Mode, Numbering, Rerouted, StringReport};
use bytepair::template::{OffsetRules, Template};
use bytepair::vocabulary::{Merge, TokenId};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::convert::{self, extract, meant, number};
use crate::error::OrRaise;
use crate::importing::ready;
use crate::reading::lock;
use crate::rows::PieceTable;
use crate::template::{Lengths, WrittenPiece, read_pieces};

/// What became of a string: the outcome, its id, its parts before, and the helpers.
type Report = (&'static str, Option<TokenId>, Vec<TokenId>, Vec<TokenId>);

/// New ids by the old ones, -1 for those that went.
type IdMap<'py> = Bound<'py, PyArray1<i64>>;

/// The id and the content of an added token; whether it is special, normalized, strips left and right, and is a word.
type AddedRow = (TokenId, String, [bool; 5]);

/// Two parts and their result.
type Parts = (TokenId, TokenId, TokenId);

#[pymethods]
impl CoreTokenizer {
    /// Return this tokenizer with the truncation of these lengths, or without any.
    fn _with_truncation(&self, lengths: &Lengths) -> PyResult<Self> {
        let (parts, truncation) = (self.0.parts(), lengths.truncation.clone());
        Self::made(self.0.with_lengths(parts.template.clone(), truncation, parts.padding.clone()))
    }

    /// Return this tokenizer with the padding of these lengths, or without any.
    fn _with_padding(&self, lengths: &Lengths) -> PyResult<Self> {
        let (parts, padding) = (self.0.parts(), lengths.padding.clone());
        Self::made(self.0.with_lengths(parts.template.clone(), parts.truncation.clone(), padding))
    }

    /// Return this tokenizer with other special tokens around one text and around two.
    fn _with_template(&self, single: Vec<WrittenPiece>, pair: Vec<WrittenPiece>) -> PyResult<Self> {
        let parts = self.0.parts();
        let template = Template { single: read_pieces(single), pair: read_pieces(pair) };
        Self::made(self.0.with_lengths(template, parts.truncation.clone(), parts.padding.clone()))
    }

    /// Return this tokenizer with spans that are the text of each token as it stands there.
    fn _with_plain_offsets(&self) -> Self {
        Self(Arc::new(self.0.with_offsets(OffsetRules::default())))
    }

    /// Return this tokenizer with fewer merges: so many, or those of a vocabulary of a size.
    fn _truncated(&self, vocab_size: Option<usize>, merges: Option<usize>) -> PyResult<Self> {
        let target = convert::target(vocab_size, merges)?;
        Self::made(self.0.truncated(target))
    }

    /// Return this tokenizer with more special tokens, each of which may name its id.
    fn _with_special_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let tokens = tokens.iter().map(|token| {
            let (name, id) = extract::<(String, Option<Bound<'_, PyAny>>)>("special token", token)?;
            let id = id.map(|id| number("the id of a special token", &id)).transpose()?;
            Ok((name, id))
        });
        let tokens = tokens.collect::<PyResult<Vec<(String, Option<TokenId>)>>>()?;
        Self::made(self.0.with_special_tokens(&tokens))
    }

    /// Each token with whether it is special, normalized, strips left and right, and is a word.
    fn _with_added_tokens(&self, tokens: Vec<(String, [bool; 5])>) -> PyResult<(Self, usize)> {
        let tokens = tokens.into_iter().map(|(content, flags)| added_token((0, content, flags)));
        let tokens: Vec<_> = tokens.collect();
        let (changed, n_changed) = self.0.with_added_tokens(&tokens).or_raise()?;
        Ok((Self(Arc::new(changed)), n_changed))
    }

    /// Return this tokenizer with added tokens that have ids of their own, as other files name them.
    fn _with_tokens_at(&self, tokens: Vec<AddedRow>) -> PyResult<Self> {
        let tokens: Vec<_> = tokens.into_iter().map(added_token).collect();
        Self::made(self.0.with_tokens_at(&tokens))
    }

    /// The id, the content and the properties of each added token.
    #[getter]
    fn _added_tokens(&self) -> Vec<AddedRow> {
        let row = |token: &AddedToken| {
            let AddedToken { special, normalized, lstrip, rstrip, single_word, .. } = *token;
            let flags = [special, normalized, lstrip, rstrip, single_word];
            (token.id, token.content.clone(), flags)
        };
        self.0.parts().added.iter().map(row).collect()
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
        let extended =
            py.detach(|| self.0.extend_with_strings(&strings, allow_helpers)).or_raise()?;
        let reports = extended.reports.into_iter().map(report).collect();
        Ok((Self(Arc::new(extended.tokenizer)), reports))
    }

    /// Return this tokenizer with the tokens of another, and for each id of the other what became of it, as for strings; ``None``
    /// where its token is not text.
    #[pyo3(signature = (other, *, allow_helpers=false))]
    fn _merged_with(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Self>,
        allow_helpers: bool,
    ) -> PyResult<(Self, Vec<Option<Report>>)> {
        let other = &other.get().0;
        let merged = py.detach(|| self.0.merge_with(other, allow_helpers));
        let (tokenizer, reports) = merged.or_raise()?;
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
        let mode = meant("mode", mode, &MODES)?;
        let numbering = meant("numbering", numbering, &NUMBERINGS)?;
        let removed = py.detach(|| self.0.without(&ids, mode, numbering)).or_raise()?;
        let way = |way: &Rerouted| (parts(&way.before), parts(&way.now));
        let ways = removed.rerouted.iter().map(way).collect();
        let id_map = id_map(py, &removed.id_map)?;
        Ok((Self(Arc::new(removed.tokenizer)), id_map, removed.removed, ways))
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
        counts: &Bound<'py, PieceTable>,
        min_count: Option<i64>,
        among: Option<Vec<TokenId>>,
        numbering: &str,
    ) -> PyResult<(Self, IdMap<'py>, Vec<(TokenId, i64)>)> {
        let numbering = meant("numbering", numbering, &NUMBERINGS)?;
        let among = among.map(|ids| {
            let named: HashSet<_> = ids.into_iter().collect();
            let ids = (0..).take(self.0.parts().vocabulary.len());
            ids.map(|id: TokenId| named.contains(&id)).collect::<Vec<_>>()
        });
        let goal = Goal { to, min_count, among: among.as_deref() };
        let counts = &counts.get().0;
        let pruned = py.detach(|| self.0.pruned(goal, &lock(counts), numbering)).or_raise()?;
        let id_map = id_map(py, &pruned.id_map)?;
        Ok((Self(Arc::new(pruned.tokenizer)), id_map, pruned.removed))
    }
}

impl CoreTokenizer {
    /// The tokenizer that the core has made.
    pub(crate) fn made(tokenizer: bytepair::Result<Tokenizer>) -> PyResult<Self> {
        tokenizer.map(|tokenizer| Self(Arc::new(tokenizer))).or_raise()
    }
}

fn added_token((id, content, flags): AddedRow) -> AddedToken {
    let [special, normalized, lstrip, rstrip, single_word] = flags;
    let own = AddedToken::default();
    AddedToken { id, content, special, normalized, lstrip, rstrip, single_word, ..own }
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

const MODES: [(&str, Mode); 2] = [("cascade", Mode::Cascade), ("reroute", Mode::Reroute)];

const NUMBERINGS: [(&str, Numbering); 3] = [
    ("holes", Numbering::Holes),
    ("reserved", Numbering::Reserved),
    ("compact", Numbering::Compact),
];
