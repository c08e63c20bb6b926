//! Training on a text of the page, in memory and with one thread, and the steps of a training: the pairs and their
//! counts, the choice and its reason, and the pieces after it.
//!
//! To show the steps, the merges of the tokenizer are applied again to the counted pieces, and pairs are counted before
//! each step that is requested. A step takes a pass over the distinct pieces, which are few.
//! `bytepair.analyze.training_steps` in Python does the same.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use bytepair::Tokenizer;
use bytepair::count::{CorpusCounter, First, PieceCounts};
use bytepair::dialect::Dialect;
use bytepair::split::{Flavour, Pattern, Stage, Unmatched};
use bytepair::train::Target;
use bytepair::vocabulary::{Merge, TokenId, TokenKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::{Answer, Course, Opened, Problem};
use crate::names;

/// A training request. Without `merges` and `vocab_size`, all pairs that occur often enough are merged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Training {
    dialect: String,
    /// A pattern, or the name of one. An empty pattern cuts nothing.
    pattern: Option<String>,
    merges: Option<usize>,
    vocab_size: Option<usize>,
    #[serde(default)]
    special_tokens: Vec<String>,
    /// Whether the text has one piece on each line, followed by a tab and its count.
    #[serde(default)]
    counts: bool,
}

/// The most bytes of all distinct pieces whose training can be shown.
const MAX_PIECE_BYTES: usize = 20_000;

/// Trains a tokenizer. Costs what the core takes for a text of this length.
pub(crate) fn train(training: &Training, text: &[u8]) -> Result<Opened, Problem> {
    let dialect = dialect(training)?;
    let mut counts = if training.counts {
        read_counts(text)?
    } else {
        let preparation = dialect.preparation(&training.special_tokens)?;
        let mut counter = CorpusCounter::new(preparation, 1)?;
        counter.count_texts(&[text])?;
        counter.finish()?.0
    };
    counts.sort();
    let n_bytes = counts.n_bytes();
    let can_be_shown = counts.distinct_bytes() <= MAX_PIECE_BYTES;
    let pieces = counts.iter().map(|(piece, count, _)| (piece.to_vec(), count));
    let pieces = can_be_shown.then(|| pieces.collect());
    let tokenizer = learn(&dialect, training, counts)?;
    let course = Some(Course { pieces, n_bytes, ties: dialect.ties });
    Ok(Opened { tokenizer, name: training.dialect.clone(), format: None, course })
}

fn learn(
    dialect: &Dialect,
    training: &Training,
    counts: PieceCounts,
) -> Result<Tokenizer, Problem> {
    let target = match (training.vocab_size, training.merges) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(
                "give the size of the vocabulary or the number of merges, not both",
            ));
        }
        (Some(size), None) => Target::VocabSize(size),
        (None, merges) => Target::Merges(merges.unwrap_or(usize::MAX)),
    };
    let options = dialect.train_options(target, training.special_tokens.clone());
    let trained = bytepair::train::train(counts, &dialect.units, &options, |_| {
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(dialect.tokenizer(trained, &options)?)
}

/// The dialect of a training request, with its pattern.
fn dialect(training: &Training) -> Result<Dialect, Problem> {
    let mut dialect = named_dialect(&training.dialect)?;
    dialect.split = match training.pattern.as_deref() {
        None => dialect.split,
        Some("") => Vec::new(),
        Some(pattern) => bytepair::split::named(pattern).unwrap_or_else(|| {
            let pattern = Pattern { source: pattern.to_owned(), flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        }),
    };
    Ok(dialect)
}

/// The dialect of a name.
pub(crate) fn named_dialect(name: &str) -> Result<Dialect, Problem> {
    Dialect::named(name).ok_or_else(|| {
        let known: Vec<_> = Dialect::names().collect();
        Problem(format!("unknown dialect {name:?}; known are {}", known.join(", ")))
    })
}

/// Reads pieces with their counts, one on each line.
fn read_counts(text: &[u8]) -> Result<PieceCounts, Problem> {
    let mut counts = PieceCounts::new();
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    for (number, line) in (1_u64..).zip(lines).filter(|(_, line)| !line.is_empty()) {
        let place = line.iter().rposition(|&byte| byte == b'\t');
        let (piece, count) =
            place.map_or((line, &b"1"[..]), |place| (&line[..place], &line[place + 1..]));
        let count = std::str::from_utf8(count).ok().and_then(|count| count.trim().parse().ok());
        let count = count.ok_or_else(|| {
            Problem(format!(
                "line {number}: a piece, a tab and a count are expected, such as `low⇥5`"
            ))
        })?;
        counts.add(piece, count, Some(First { source: 0, offset: number }))?;
    }
    Ok(counts)
}

/// The most pairs and pieces of a step in an answer.
const MAX_PAIRS: usize = 40;
const MAX_PIECES: usize = 200;

/// A distinct piece, and how often it occurs.
struct Word {
    /// Its units; `None` stands for a unit outside the alphabet, which is in no pair.
    symbols: Vec<Option<TokenId>>,
    count: i64,
}

/// An adjacent pair, and how often it occurs.
type Pair = (TokenId, TokenId, i64);

/// The training steps in `from..to`, counted from 0. If `from` is 0, also the pieces before any merge.
pub(crate) fn steps(opened: &Opened, from: usize, to: usize) -> Result<Answer, Problem> {
    let course = opened.course.as_ref();
    let course = course.ok_or_else(|| Problem::new("this tokenizer was not trained here"))?;
    let vocabulary = &opened.tokenizer.parts().vocabulary;
    let mut words = words(&opened.tokenizer, course)?;
    let (mut fields, mut steps) = (json!({}), Vec::new());
    // Tokens of long pieces are long, so only the tokens in the answer are named.
    let mut ids = BTreeSet::new();
    if from == 0 {
        ids.extend(symbols(&words));
        fields["start"] = json!({ "pieces": pieces(&words), "n_pieces": words.len(), "n_tokens": n_tokens(&words) });
    }
    for (index, merge) in vocabulary.merges().iter().enumerate().take(to) {
        let pairs = (index >= from).then(|| sorted_pairs(&words, merge));
        words.iter_mut().for_each(|word| word.join(merge));
        let Some(pairs) = pairs else { continue };
        let count = vocabulary.merge_counts().get(index).copied().unwrap_or_default();
        let is_tied = |pair: &&Pair| pair.2 == count && !is_chosen(pair, merge);
        let tied: Vec<_> =
            pairs.iter().filter(is_tied).map(|&(left, right, _)| (left, right)).collect();
        let (shown, shown_tied) = (first(&pairs, MAX_PAIRS), first(&tied, MAX_PAIRS));
        ids.extend(shown.iter().flat_map(|&(left, right, _)| [left, right]));
        ids.extend(shown_tied.iter().flat_map(|&(left, right)| [left, right]));
        ids.extend(symbols(&words).chain([merge.left, merge.right, merge.result]));
        steps.push(json!({
            "number": index + 1, "left": merge.left, "right": merge.right, "token": merge.result,
            "count": count, "n_pairs": pairs.len(), "pairs": shown, "n_tied": tied.len(),
            "tied": shown_tied, "rule": course.ties, "n_tokens": n_tokens(&words),
            "n_pieces": words.len(), "pieces": pieces(&words),
        }));
    }
    fields["steps"] = steps.into();
    fields["known"] = names::by_id(&opened.tokenizer, ids);
    Ok(Answer::new(fields))
}

/// The pieces in their units. A unit that is outside the alphabet or left out separates its neighbours.
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

impl Word {
    /// Joins every occurrence of a pair, from left to right.
    fn join(&mut self, merge: &Merge) {
        let mut joined = Vec::with_capacity(self.symbols.len());
        let mut rest = self.symbols.iter().copied().peekable();
        while let Some(symbol) = rest.next() {
            let is_pair =
                symbol == Some(merge.left) && rest.next_if_eq(&Some(merge.right)).is_some();
            joined.push(if is_pair { Some(merge.result) } else { symbol });
        }
        self.symbols = joined;
    }
}

/// All pairs, the most frequent first. Among equally frequent pairs the chosen one is first, then those of smaller ids.
fn sorted_pairs(words: &[Word], chosen: &Merge) -> Vec<Pair> {
    let mut counts = HashMap::new();
    for word in words {
        for pair in word.symbols.windows(2) {
            let (Some(left), Some(right)) = (pair[0], pair[1]) else { continue };
            let count = counts.entry((left, right)).or_insert(0_i64);
            *count = count.saturating_add(word.count);
        }
    }
    let pairs = counts.into_iter().map(|((left, right), count)| (left, right, count));
    let mut pairs: Vec<Pair> = pairs.collect();
    pairs.sort_by_key(|pair| (Reverse(pair.2), !is_chosen(pair, chosen), pair.0, pair.1));
    pairs
}

fn is_chosen(pair: &Pair, merge: &Merge) -> bool {
    (pair.0, pair.1) == (merge.left, merge.right)
}

fn first<T>(items: &[T], most: usize) -> &[T] {
    &items[..items.len().min(most)]
}

fn n_tokens(words: &[Word]) -> i64 {
    let len = |word: &Word| i64::try_from(word.symbols.len()).unwrap_or(i64::MAX);
    words.iter().map(|word| len(word).saturating_mul(word.count)).fold(0, i64::saturating_add)
}

/// The ids in the pieces of an answer.
fn symbols(words: &[Word]) -> impl Iterator<Item = TokenId> {
    first(words, MAX_PIECES).iter().flat_map(|word| word.symbols.iter().copied().flatten())
}

fn pieces(words: &[Word]) -> Vec<Value> {
    let piece = |word: &Word| json!({ "ids": word.symbols, "count": word.count });
    first(words, MAX_PIECES).iter().map(piece).collect()
}
