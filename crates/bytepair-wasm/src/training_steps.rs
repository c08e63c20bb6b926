//! Training, one merge at a time: pairs and their counts, the choice and its reason, and the pieces after it.
//!
//! The core has trained; here its merges are done again on the counted pieces, and pairs are counted before each step
//! that is asked for. A step takes a pass over the distinct pieces, which are few. The same is
//! `bytepair.analyze.training_steps` in Python.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap};

use bytepair::Tokenizer;
use bytepair::train::Ties;
use bytepair::vocabulary::{TokenId, TokenKind};
use serde_json::{Value, json};

use crate::message::{Answer, Problem};
use crate::names;
use crate::train::{Course, MAX_PIECE_BYTES, Opened};

/// The most pairs and pieces of a step that are given.
const MAX_PAIRS: usize = 40;
const MAX_PIECES: usize = 200;

/// A unit; `None` stands for one outside the alphabet, which is in no pair.
type Symbol = Option<TokenId>;

/// A distinct piece, and how often it occurs.
struct Word {
    symbols: Vec<Symbol>,
    count: i64,
}

/// Neighbours, how often they occur, and their place in the order in which they first occur.
#[derive(Clone, Copy)]
struct Pair {
    ids: (TokenId, TokenId),
    count: i64,
    place: usize,
}

/// The steps from one to before another, counted from 0; the first call also gives the pieces before any merge.
pub(crate) fn steps(opened: &Opened, from: usize, to: usize) -> Result<Answer, Problem> {
    let course = opened.course.as_ref();
    let course = course.ok_or_else(|| Problem::new("this tokenizer was not trained here"))?;
    let tokenizer = &*opened.tokenizer;
    let mut words = words(tokenizer, course)?;
    let mut fields = json!({});
    // Tokens of long pieces are long, so only those are named that the answer has.
    let mut ids = BTreeSet::new();
    if from == 0 {
        ids.extend(symbols(&words));
        fields["start"] = json!({ "pieces": pieces(&words), "n_pieces": words.len(), "n_tokens": n_tokens(&words) });
    }
    let mut steps = Vec::new();
    for (index, &(joined, _)) in course.merges.iter().enumerate().take(to) {
        let pairs = (index >= from).then(|| count_pairs(&words));
        words.iter_mut().for_each(|word| merge(&mut word.symbols, joined));
        if let Some(pairs) = pairs {
            let (step, shown) = step(tokenizer, course, index, pairs, &words);
            steps.push(step);
            ids.extend(shown);
        }
    }
    fields["steps"] = steps.into();
    fields["known"] = names::by_id(tokenizer, ids);
    Ok(Answer::new(fields))
}

/// The pieces in their units; a unit outside the alphabet, or left out, parts its neighbours.
fn words(tokenizer: &Tokenizer, course: &Course) -> Result<Vec<Word>, Problem> {
    let vocabulary = &tokenizer.parts().vocabulary;
    let is_letter = |id: &TokenId| {
        vocabulary.token(*id).is_some_and(|token| matches!(token.kind, TokenKind::Text(_)))
    };
    let word = |(piece, count): &(Vec<u8>, i64)| {
        let (mut symbols, mut reached) = (Vec::new(), 0);
        for (id, at) in tokenizer.symbols(piece)? {
            if at.start > reached {
                symbols.push(None);
            }
            symbols.push(id.filter(is_letter));
            reached = reached.max(at.end);
        }
        Ok(Word { symbols, count: *count })
    };
    let pieces = course.pieces.as_ref().ok_or_else(|| {
        Problem(format!(
            "training can be walked through where distinct pieces have at most {MAX_PIECE_BYTES} bytes; here they \
             have more"
        ))
    })?;
    pieces.iter().map(word).collect()
}

fn count_pairs(words: &[Word]) -> Vec<Pair> {
    let (mut pairs, mut place_of) = (Vec::<Pair>::new(), HashMap::new());
    for word in words {
        for pair in word.symbols.windows(2) {
            let (Some(left), Some(right)) = (pair[0], pair[1]) else { continue };
            let place = *place_of.entry((left, right)).or_insert(pairs.len());
            if place == pairs.len() {
                pairs.push(Pair { ids: (left, right), count: 0, place });
            }
            pairs[place].count = pairs[place].count.saturating_add(word.count);
        }
    }
    pairs
}

/// Joins every occurrence of a pair, from left to right.
fn merge(symbols: &mut Vec<Symbol>, [left, right, result]: [TokenId; 3]) {
    let mut merged = Vec::with_capacity(symbols.len());
    let mut rest = symbols.iter().copied().peekable();
    while let Some(symbol) = rest.next() {
        let is_pair = symbol == Some(left) && rest.next_if_eq(&Some(right)).is_some();
        merged.push(if is_pair { Some(result) } else { symbol });
    }
    *symbols = merged;
}

/// A step: all pairs before its merge, the choice, and the pieces after it; with all ids in it.
fn step(
    tokenizer: &Tokenizer,
    course: &Course,
    index: usize,
    mut pairs: Vec<Pair>,
    words: &[Word],
) -> (Value, Vec<TokenId>) {
    let ([left, right, token], count) = course.merges[index];
    let is_chosen = |pair: &Pair| pair.ids == (left, right);
    let chosen = pairs.iter().copied().find(is_chosen);
    let chosen = chosen.unwrap_or(Pair { ids: (left, right), count, place: usize::MAX });
    pairs.sort_by_key(|pair| (Reverse(pair.count), !is_chosen(pair), pair.ids));
    let rule = Rule { tokenizer, ties: course.ties };
    let goes_before = |pair: &&Pair| rule.compare(pair, &chosen) == Ordering::Less;
    let passed_over: Vec<_> = pairs.iter().filter(goes_before).map(row).collect();
    let is_tied = |pair: &&Pair| {
        pair.count == chosen.count && !is_chosen(pair) && rule.compare(pair, &chosen).is_gt()
    };
    let tied: Vec<_> = pairs.iter().filter(is_tied).map(|pair| pair.ids).collect();
    let shown = pairs.iter().take(MAX_PAIRS).map(|pair| pair.ids);
    let shown = shown.chain(tied.iter().take(MAX_PAIRS).copied());
    let shown = shown.chain(passed_over.iter().map(|&(left, right, _)| (left, right)));
    let shown = shown.chain([(left, right)]).flat_map(|(left, right)| [left, right]);
    let ids = shown.chain(symbols(words)).chain([token]).collect();
    let fields = json!({
        "number": index + 1, "left": left, "right": right, "token": token, "count": chosen.count,
        "n_pairs": pairs.len(), "pairs": pairs.iter().take(MAX_PAIRS).map(row).collect::<Vec<_>>(),
        "n_tied": tied.len(), "tied": tied.iter().take(MAX_PAIRS).collect::<Vec<_>>(),
        "passed_over": passed_over, "rule": rule.name(), "n_tokens": n_tokens(words),
        "n_pieces": words.len(), "pieces": pieces(words),
    });
    (fields, ids)
}

fn row(pair: &Pair) -> (TokenId, TokenId, i64) {
    (pair.ids.0, pair.ids.1, pair.count)
}

fn n_tokens(words: &[Word]) -> i64 {
    let len = |word: &Word| i64::try_from(word.symbols.len()).unwrap_or(i64::MAX);
    words.iter().map(|word| len(word).saturating_mul(word.count)).fold(0, i64::saturating_add)
}

/// The ids in the pieces that are given.
fn symbols(words: &[Word]) -> impl Iterator<Item = TokenId> {
    words.iter().take(MAX_PIECES).flat_map(|word| word.symbols.iter().copied().flatten())
}

fn pieces(words: &[Word]) -> Vec<Value> {
    let piece = |word: &Word| json!({ "ids": word.symbols, "count": word.count });
    words.iter().take(MAX_PIECES).map(piece).collect()
}

/// What decides which pair goes first.
struct Rule<'t> {
    tokenizer: &'t Tokenizer,
    ties: Ties,
}

impl Rule<'_> {
    /// The name of the rule for ties, as in `ties=` of Python.
    fn name(&self) -> &'static str {
        match self.ties {
            Ties::SmallestIds => "smallest_ids",
            Ties::FirstSeen => "first_seen",
            Ties::LargestText => "largest_text",
        }
    }

    /// The order of two pairs: the more frequent one goes first, then the one that the rule prefers.
    fn compare(&self, one: &Pair, other: &Pair) -> Ordering {
        let by_rule = || match self.ties {
            Ties::SmallestIds => one.ids.cmp(&other.ids),
            Ties::FirstSeen => one.place.cmp(&other.place),
            Ties::LargestText => self.texts(other).cmp(&self.texts(one)),
        };
        other.count.cmp(&one.count).then_with(by_rule)
    }

    /// The texts of both parts as the vocabulary writes them, and the ids.
    fn texts(&self, pair: &Pair) -> ([Vec<u8>; 2], (TokenId, TokenId)) {
        let parts = self.tokenizer.parts();
        let text = |id| {
            let token = parts.vocabulary.token(id);
            token.map_or_else(Vec::new, |token| parts.units.written(token).into_owned())
        };
        ([text(pair.ids.0), text(pair.ids.1)], pair.ids)
    }
}
