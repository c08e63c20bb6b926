//! A text to ids with their spans; and how one piece of it becomes ids: its symbols, its merges, and at each step
//! the merges that had to wait.
//!
//! Encoding takes time and memory linear in the text; an id takes about sixty bytes while it lasts. Before each merge of a
//! piece that is shown all neighbours are looked at, so it takes the square of its length; longer pieces are refused. The
//! merges of the tokenizer are searched once for it.

use std::collections::{BTreeSet, HashMap, HashSet};

use bytepair::inspect::{MergeStep, Piece, TextPart};
use bytepair::vocabulary::TokenId;
use bytepair::{Tokenizer, graphemes};
use serde_json::{Value, json};

use crate::message::{Answer, Problem, Special, numbers};
use crate::names;

/// The ids of a text, where each begins and ends, and the first token of each group.
pub(crate) fn encode(
    tokenizer: &Tokenizer,
    text: &[u8],
    special: Special,
) -> Result<Answer, Problem> {
    let encoding = tokenizer.encode_full(text, None, special.options())?;
    let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let starts: Vec<u32> = encoding.offsets.iter().map(|span| place(span.0)).collect();
    let ends: Vec<u32> = encoding.offsets.iter().map(|span| place(span.1)).collect();
    let groups = groups(text, &encoding.offsets);
    Ok(Answer {
        fields: json!({ "n_tokens": encoding.ids.len(), "n_groups": groups.len() }),
        bytes: numbers(&[&encoding.ids, &starts, &ends, &groups]),
    })
}

/// The first token of each group: the fewest tokens that together have whole characters, as a reader sees them.
///
/// A group begins where no token before reaches further, and where a character begins.
fn groups(text: &[u8], spans: &[(usize, usize)]) -> Vec<u32> {
    let mut borders = std::iter::once(0).chain(graphemes(text).into_iter().map(|(end, _)| end));
    let (mut border, mut reached, mut found) = (0, 0, Vec::new());
    for (index, &(start, end)) in spans.iter().enumerate() {
        while border < start {
            border = borders.next().unwrap_or(usize::MAX);
        }
        if index == 0 || (border == start && reached <= start) {
            found.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        reached = reached.max(end);
    }
    found
}

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
        TextPart::Segment(_, _, parts) => parts,
        part => vec![part],
    });
    let found = inner.into_iter().find(|part| match part {
        TextPart::Added(_, span) | TextPart::Segment(span, ..) => holds(span),
        TextPart::Piece(piece) => holds(&piece.span),
    });
    match found {
        Some(TextPart::Added(id, (start, end))) => Ok(Answer::new(json!({
            "kind": "added", "id": id, "start": start, "end": end,
            "known": names::by_id(tokenizer, [id]),
        }))),
        Some(TextPart::Piece(piece)) => Ok(Answer::new(piece_fields(tokenizer, &piece)?)),
        _ => Err(Problem::new("no piece of the text is at this place")),
    }
}

fn piece_fields(tokenizer: &Tokenizer, piece: &Piece) -> Result<Value, Problem> {
    let Piece { span: (start, end), text, course, spans, .. } = piece;
    if course.symbols.len() > MAX_SYMBOLS {
        let n_symbols = course.symbols.len();
        return Err(Problem(format!(
            "this piece has {n_symbols} symbols; at most {MAX_SYMBOLS} can be shown step by step"
        )));
    }
    let rows = rows(&course.symbols.iter().map(|(id, _)| *id).collect::<Vec<_>>(), &course.steps);
    let ranks = ranks(tokenizer, &rows);
    // A pair at a place, with its rank and its result if a merge joins it.
    let other = |(place, (left, right))| {
        let (rank, token) = ranks.get(&(left, right)).copied().unzip();
        json!([place, left, right, rank, token])
    };
    let steps = course.steps.iter().zip(&rows).map(|(step, row)| {
        let MergeStep { place, index, priority, merge, .. } = step;
        json!({
            "place": place, "merge": index, "rank": priority, "left": merge.left,
            "right": merge.right, "token": merge.result,
            "count": tokenizer.parts().vocabulary.merge_counts().get(*index),
            "others": neighbours(row).map(other).collect::<Vec<_>>(),
        })
    });
    let steps: Vec<_> = steps.collect();
    let ids = rows.iter().flatten().map(|&(_, id)| id);
    let ids = ids.chain(course.tokens.iter().map(|(id, _)| *id));
    let ids = ids.chain(ranks.values().map(|&(_, token)| token));
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

/// Two tokens that are neighbours.
type Pair = (TokenId, TokenId);

/// The neighbours of a row, each with its place.
fn neighbours(row: &Row) -> impl Iterator<Item = (usize, Pair)> {
    row.windows(2).map(|pair| (pair[0].0, (pair[0].1, pair[1].1)))
}

/// The rank and the result of each pair of neighbours that a merge joins.
fn ranks(tokenizer: &Tokenizer, rows: &[Row]) -> HashMap<Pair, (u32, TokenId)> {
    let vocabulary = &tokenizer.parts().vocabulary;
    let wanted: HashSet<_> = rows.iter().flat_map(neighbours).map(|(_, pair)| pair).collect();
    let mut ranks = HashMap::new();
    for (index, merge) in (0_u32..).zip(vocabulary.merges()) {
        let pair = (merge.left, merge.right);
        if wanted.contains(&pair) {
            // Of a merge that is listed twice, the later one counts.
            let rank = vocabulary.priorities().get(index as usize).copied().unwrap_or(index);
            ranks.insert(pair, (rank, merge.result));
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn a_group_holds_whole_characters() {
        // An e with an accent in two tokens, and a word of its own.
        assert_eq!(groups("e\u{301} no".as_bytes(), &[(0, 1), (1, 3), (3, 6)]), [0, 2]);
        // Three tokens for three bytes of one character, each with the span of the character.
        assert_eq!(groups("中a".as_bytes(), &[(0, 3), (0, 3), (0, 3), (3, 4)]), [0, 3]);
        // Each byte of one character, with its own span.
        assert_eq!(groups("中".as_bytes(), &[(0, 1), (1, 2), (2, 3)]), [0]);
        assert_eq!(groups(b"", &[]), [0_u32; 0]);
    }
}
