//! How one piece of a text becomes ids: its symbols, its merges, and at each step the merges that had to wait.
//!
//! Before each merge all neighbours are looked at, so a piece takes the square of its length; longer pieces are refused.
//! The rest of the text takes linear time, and so do the merges of the tokenizer, which are searched once.

use std::collections::{BTreeSet, HashMap};

use bytepair::Tokenizer;
use bytepair::inspect::{MergeStep, Piece, SegmentPart, TextPart};
use bytepair::vocabulary::TokenId;
use serde_json::{Value, json};

use crate::message::{Answer, Problem, Special};
use crate::names;

/// The most symbols of a piece.
const MAX_SYMBOLS: usize = 300;

/// What happens to the part of a text that holds the byte at `at`.
pub(crate) fn trace(
    tokenizer: &Tokenizer,
    text: &[u8],
    at: usize,
    special: Special,
) -> Result<Answer, Problem> {
    let parts = tokenizer.course(text, special.options())?;
    let holds = |&(start, end): &(usize, usize)| start <= at && at < end;
    let inner = parts.into_iter().flat_map(|part| match part {
        TextPart::Added(id, span) => vec![SegmentPart::Added(id, span)],
        TextPart::Segment(_, _, parts) => parts,
    });
    let found = inner.into_iter().find(|part| match part {
        SegmentPart::Added(_, span) => holds(span),
        SegmentPart::Piece(piece) => holds(&piece.span),
    });
    match found {
        None => Err(Problem::new("no piece of the text is at this place")),
        Some(SegmentPart::Added(id, (start, end))) => Ok(Answer::new(json!({
            "kind": "added", "id": id, "start": start, "end": end,
            "known": names::by_id(tokenizer, [id]),
        }))),
        Some(SegmentPart::Piece(piece)) => Ok(Answer::new(piece_fields(tokenizer, &piece)?)),
    }
}

fn piece_fields(tokenizer: &Tokenizer, piece: &Piece) -> Result<Value, Problem> {
    let Piece { span: (start, end), text, course, spans } = piece;
    if course.symbols.len() > MAX_SYMBOLS {
        let n_symbols = course.symbols.len();
        return Err(Problem(format!(
            "this piece has {n_symbols} symbols; at most {MAX_SYMBOLS} can be shown step by step"
        )));
    }
    let rows = rows(&course.symbols.iter().map(|(id, _)| *id).collect::<Vec<_>>(), &course.steps);
    let ranks = Ranks::of(tokenizer, rows.iter().flat_map(neighbours));
    let steps = course.steps.iter().zip(&rows).map(|(step, row)| {
        let others: Vec<_> = places(row).map(|(place, pair)| ranks.other(place, pair)).collect();
        let MergeStep { place, index, priority, merge } = step;
        json!({
            "place": place, "merge": index, "rank": priority, "left": merge.left,
            "right": merge.right, "token": merge.result,
            "count": tokenizer.parts().vocabulary.merge_counts().get(*index), "others": others,
        })
    });
    let steps: Vec<_> = steps.collect();
    let ids = rows.iter().flatten().map(|&(_, id)| id);
    let ids = ids.chain(course.tokens.iter().map(|(id, _)| *id)).chain(ranks.results());
    let known = names::by_id(tokenizer, ids.collect::<BTreeSet<_>>());
    let id = |id: TokenId| known.get(id.to_string()).map(|_| id);
    let symbols = course.symbols.iter().map(|(symbol, at)| (id(*symbol), at.start, at.end));
    let tokens = course.tokens.iter().zip(spans);
    let tokens = tokens.map(|((token, _), (start, end))| (id(*token), start, end));
    Ok(json!({
        "kind": "piece", "start": start, "end": end, "bytes": text, "is_whole": course.is_whole,
        "symbols": symbols.collect::<Vec<_>>(), "steps": steps,
        "tokens": tokens.collect::<Vec<_>>(), "known": known,
    }))
}

/// The tokens at a time, each with its first symbol.
type Row = Vec<(usize, TokenId)>;

/// The tokens before the first merge, and after each.
fn rows(symbols: &[TokenId], steps: &[MergeStep]) -> Vec<Row> {
    let mut row: Row = symbols.iter().copied().enumerate().collect();
    let mut rows = vec![row.clone()];
    for step in steps {
        if let Some(left) = row.iter().position(|&(place, _)| place == step.place) {
            row[left].1 = step.merge.result;
            row.remove(left + 1);
        }
        rows.push(row.clone());
    }
    rows
}

fn places(row: &Row) -> impl Iterator<Item = (usize, (TokenId, TokenId))> {
    row.windows(2).map(|pair| (pair[0].0, (pair[0].1, pair[1].1)))
}

fn neighbours(row: &Row) -> impl Iterator<Item = (TokenId, TokenId)> {
    places(row).map(|(_, pair)| pair)
}

/// The rank and the result of each pair that is asked for, if a merge joins it.
struct Ranks(HashMap<(TokenId, TokenId), Option<(u32, TokenId)>>);

impl Ranks {
    fn of(tokenizer: &Tokenizer, pairs: impl Iterator<Item = (TokenId, TokenId)>) -> Self {
        let vocabulary = &tokenizer.parts().vocabulary;
        let mut ranks: HashMap<_, _> = pairs.map(|pair| (pair, None)).collect();
        for (index, merge) in (0_u32..).zip(vocabulary.merges()) {
            // Of a merge that is listed twice, the later one counts.
            if let Some(found) = ranks.get_mut(&(merge.left, merge.right)) {
                let rank = vocabulary.priorities().get(index as usize).copied().unwrap_or(index);
                *found = Some((rank, merge.result));
            }
        }
        Self(ranks)
    }

    /// A pair at a place, with its rank and its result.
    fn other(&self, place: usize, (left, right): (TokenId, TokenId)) -> Value {
        let found = self.0.get(&(left, right)).copied().flatten();
        let (rank, token) = found.unzip();
        json!([place, left, right, rank, token])
    }

    fn results(&self) -> impl Iterator<Item = TokenId> {
        let mut results: Vec<_> = self.0.values().flatten().map(|&(_, token)| token).collect();
        results.sort_unstable();
        results.into_iter()
    }
}
