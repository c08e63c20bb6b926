//! Tokenizers made from another tokenizer: other lengths and templates, more added tokens, fewer merges, other
//! vocabularies. Also why a token cannot be removed, and which tokens are removed with it.
//!
//! Functions return plain values, from which `bytepair.Tokenizer` and `bytepair.surgery` make their results.

use std::collections::HashSet;
use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::added::AddedToken;
use bytepair::surgery::{Goal, Mode, Numbering, Rerouted, StringReport};
use bytepair::template::Template;
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::convert::{self, extract, number, value_of};
use crate::error::OrRaise;
use crate::reading::lock;
use crate::rows::PieceTable;
use crate::template::{Lengths, WrittenPiece, read_pieces};

/// The report for a string: the outcome, its id, the ids that it was encoded to before, and the helpers.
type Report = (&'static str, Option<TokenId>, Vec<TokenId>, Vec<TokenId>);

/// The id and the content of an added token, and its properties: `special`, `normalized`, `lstrip`, `rstrip`, `single_word`.
type AddedRow = (TokenId, String, [bool; 5]);

/// A tokenizer, and the new ids by old id (-1 if removed).
type Renumbered = (CoreTokenizer, Vec<i64>);

/// A token, the two tokens that made it, and the two that make it now.
type Way = [TokenId; 5];

/// Return a tokenizer with other templates for one text and two, another truncation or another padding.
#[pyfunction]
#[pyo3(signature = (tokenizer, *, template=None, truncation=None, padding=None))]
pub(crate) fn with_lengths(
    tokenizer: &CoreTokenizer,
    template: Option<(Vec<WrittenPiece>, Vec<WrittenPiece>)>,
    truncation: Option<&Lengths>,
    padding: Option<&Lengths>,
) -> PyResult<CoreTokenizer> {
    let parts = tokenizer.0.parts();
    let read = |(single, pair)| Template { single: read_pieces(single), pair: read_pieces(pair) };
    CoreTokenizer::made(tokenizer.0.with_lengths(
        template.map_or_else(|| parts.template.clone(), read),
        truncation.map_or_else(|| parts.truncation.clone(), |lengths| lengths.truncation.clone()),
        padding.map_or_else(|| parts.padding.clone(), |lengths| lengths.padding.clone()),
    ))
}

/// Return a tokenizer with fewer merges: with ``merges``, or with as many as ``vocab_size`` allows.
#[pyfunction]
pub(crate) fn shorten(
    tokenizer: &CoreTokenizer,
    vocab_size: Option<usize>,
    merges: Option<usize>,
) -> PyResult<CoreTokenizer> {
    let target = convert::target(vocab_size, merges)?;
    CoreTokenizer::made(tokenizer.0.truncated(target))
}

/// Return a tokenizer with more special tokens, each with its id or ``None``.
#[pyfunction]
pub(crate) fn with_special_tokens(
    tokenizer: &CoreTokenizer,
    tokens: Vec<Bound<'_, PyAny>>,
) -> PyResult<CoreTokenizer> {
    let tokens = tokens.iter().map(|token| {
        let (name, id) = extract::<(String, Option<Bound<'_, PyAny>>)>("special token", token)?;
        let id = id.map(|id| number("the id of a special token", &id)).transpose()?;
        Ok((name, id))
    });
    let tokens = tokens.collect::<PyResult<Vec<(String, Option<TokenId>)>>>()?;
    CoreTokenizer::made(tokenizer.0.with_special_tokens(&tokens))
}

/// Return a tokenizer with more added tokens, each with its properties: ``special``, ``normalized``, ``lstrip``,
/// ``rstrip`` and ``single_word``.
#[pyfunction]
pub(crate) fn with_added_tokens(
    tokenizer: &CoreTokenizer,
    tokens: Vec<(String, [bool; 5])>,
) -> PyResult<CoreTokenizer> {
    let tokens = tokens.into_iter().map(|(content, flags)| added_token((0, content, flags)));
    let changed = tokenizer.0.with_added_tokens(&tokens.collect::<Vec<_>>());
    CoreTokenizer::made(changed.map(|(changed, _)| changed))
}

/// Return a tokenizer with added tokens at the ids that files such as ``added_tokens.json`` set.
#[pyfunction]
pub(crate) fn with_tokens_at(
    tokenizer: &CoreTokenizer,
    tokens: Vec<AddedRow>,
) -> PyResult<CoreTokenizer> {
    let tokens: Vec<_> = tokens.into_iter().map(added_token).collect();
    CoreTokenizer::made(tokenizer.0.with_tokens_at(&tokens))
}

/// Return the id, the content and the properties of each added token.
#[pyfunction]
pub(crate) fn added_tokens(tokenizer: &CoreTokenizer) -> Vec<AddedRow> {
    let row = |token: &AddedToken| {
        let AddedToken { special, normalized, lstrip, rstrip, single_word, .. } = *token;
        let flags = [special, normalized, lstrip, rstrip, single_word];
        (token.id, token.content.clone(), flags)
    };
    tokenizer.0.parts().added.iter().map(row).collect()
}

/// Return a tokenizer with tokens for strings, and for each string the outcome, its id, the ids that it was encoded to
/// before, and the helpers that were added for it.
#[pyfunction]
pub(crate) fn extend_with_strings(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    strings: Vec<String>,
    allow_helpers: bool,
) -> PyResult<(CoreTokenizer, Vec<Report>)> {
    let strings: Vec<_> = strings.iter().map(String::as_str).collect();
    let extended =
        py.detach(|| tokenizer.0.extend_with_strings(&strings, allow_helpers)).or_raise()?;
    let reports = extended.reports.into_iter().map(report).collect();
    Ok((CoreTokenizer(Arc::new(extended.tokenizer)), reports))
}

/// Return a tokenizer with the tokens of another, and for each id of the other a report as for strings, or ``None`` if its
/// token is not text.
#[pyfunction]
pub(crate) fn merge_vocabularies(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    other: &CoreTokenizer,
    allow_helpers: bool,
) -> PyResult<(CoreTokenizer, Vec<Option<Report>>)> {
    let merged = py.detach(|| tokenizer.0.merge_with(&other.0, allow_helpers));
    let (tokenizer, reports) = merged.or_raise()?;
    let reports = reports.into_iter().map(|row| row.map(report)).collect();
    Ok((CoreTokenizer(Arc::new(tokenizer)), reports))
}

/// Return a tokenizer without some tokens, the new ids by old id (-1 if removed), the ids of all removed tokens, and the
/// tokens that are made another way, each with the two tokens that made it and the two that make it now.
#[pyfunction]
pub(crate) fn remove(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Vec<TokenId>,
    mode: &str,
    numbering: &str,
) -> PyResult<(Renumbered, Vec<TokenId>, Vec<Way>)> {
    let mode = value_of("mode", mode, &MODES)?;
    let numbering = value_of("numbering", numbering, &NUMBERINGS)?;
    let removed = py.detach(|| tokenizer.0.without(&ids, mode, numbering)).or_raise()?;
    let way = |Rerouted { before, now, .. }: &Rerouted| {
        [now.result, before.left, before.right, now.left, now.right]
    };
    let ways = removed.rerouted.iter().map(way).collect();
    Ok((renumbered(removed.tokenizer, &removed.id_map), removed.removed, ways))
}

/// Return a tokenizer with ``to`` tokens, or without those that occur less than ``min_count`` times, the new ids by old id
/// (-1 if removed), and the ids of the removed tokens in the order of removal, each with its count at that time.
///
/// With ``among``, only these tokens are removed.
#[pyfunction]
pub(crate) fn prune(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    to: Option<usize>,
    counts: &PieceTable,
    min_count: Option<i64>,
    among: Option<Vec<TokenId>>,
    numbering: &str,
) -> PyResult<(Renumbered, Vec<(TokenId, i64)>)> {
    let numbering = value_of("numbering", numbering, &NUMBERINGS)?;
    let among = among.map(|ids| {
        let named: HashSet<_> = ids.into_iter().collect();
        let ids = (0..).take(tokenizer.0.parts().vocabulary.len());
        ids.map(|id: TokenId| named.contains(&id)).collect::<Vec<_>>()
    });
    let goal = Goal { to, min_count, among: among.as_deref() };
    let pruned = py.detach(|| tokenizer.0.pruned(goal, &lock(&counts.0), numbering)).or_raise()?;
    Ok((renumbered(pruned.tokenizer, &pruned.id_map), pruned.removed))
}

/// Return, for each id, why its token must stay, or ``None`` if it is not required.
#[pyfunction]
pub(crate) fn why_it_stays(
    tokenizer: &CoreTokenizer,
    ids: Vec<TokenId>,
) -> Vec<Option<&'static str>> {
    tokenizer.0.why_it_stays(&ids)
}

/// Return these tokens and all tokens that are built on them, each with its parts.
#[pyfunction]
pub(crate) fn built_on(
    py: Python<'_>,
    tokenizer: &CoreTokenizer,
    ids: Vec<TokenId>,
) -> PyResult<Vec<(TokenId, Vec<TokenId>)>> {
    py.detach(|| tokenizer.0.built_on(&ids)).or_raise()
}

impl CoreTokenizer {
    /// A tokenizer that the core made, or the exception for its error.
    pub(crate) fn made(tokenizer: bytepair::Result<Tokenizer>) -> PyResult<Self> {
        tokenizer.map(|tokenizer| Self(Arc::new(tokenizer))).or_raise()
    }
}

fn added_token((id, content, flags): AddedRow) -> AddedToken {
    let [special, normalized, lstrip, rstrip, single_word] = flags;
    let own = AddedToken::default();
    AddedToken { id, content, special, normalized, lstrip, rstrip, single_word, ..own }
}

fn report(report: StringReport) -> Report {
    (report.outcome.name(), report.id, report.parts, report.helpers)
}

fn renumbered(tokenizer: Tokenizer, new_ids: &[Option<TokenId>]) -> Renumbered {
    let id_map = new_ids.iter().map(|id| id.map_or(-1, i64::from)).collect();
    (CoreTokenizer(Arc::new(tokenizer)), id_map)
}

const MODES: [(&str, Mode); 2] = [("cascade", Mode::Cascade), ("reroute", Mode::Reroute)];

const NUMBERINGS: [(&str, Numbering); 3] = [
    ("holes", Numbering::Holes),
    ("reserved", Numbering::Reserved),
    ("compact", Numbering::Compact),
];
