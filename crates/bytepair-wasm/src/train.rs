//! Tokenizers that are open, and training one on a text of the page, in memory and with one thread.

use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::count::{CorpusCounter, First, PieceCounts};
use bytepair::dialect::Dialect;
use bytepair::split::{Flavour, Pattern, Stage, Unmatched};
use bytepair::train::{Target, Ties};
use bytepair::vocabulary::TokenId;
use serde::Deserialize;

use crate::message::Problem;

/// A tokenizer that is open.
pub(crate) struct Opened {
    pub(crate) tokenizer: Arc<Tokenizer>,
    /// The name of its file, or of its dialect.
    pub(crate) name: String,
    /// The format of its file; `None` if it was trained here.
    pub(crate) format: Option<&'static str>,
    /// What it was trained on, if it was trained here.
    pub(crate) course: Option<Course>,
}

/// What a tokenizer was trained on, for walking through its training.
pub(crate) struct Course {
    /// The distinct pieces with their counts, in the order of their first occurrence; `None` if they are too long.
    pub(crate) pieces: Option<Vec<(Vec<u8>, i64)>>,
    /// Left part, right part and result of each merge, and how often the pair occurred.
    pub(crate) merges: Vec<([TokenId; 3], i64)>,
    /// Bytes of all pieces, repeated ones too.
    pub(crate) n_bytes: i64,
    /// Which of several equally frequent pairs was merged first.
    pub(crate) ties: Ties,
}

/// What to learn. Without `merges` and `vocab_size`, all pairs that occur often enough are merged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Training {
    dialect: String,
    /// A pattern of its own, or the name of one. An empty one cuts nothing.
    pattern: Option<String>,
    merges: Option<usize>,
    vocab_size: Option<usize>,
    #[serde(default)]
    special_tokens: Vec<String>,
    /// Whether the text has a piece on each line, and behind a tab how often it occurs.
    #[serde(default)]
    counts: bool,
}

/// The most bytes of all distinct pieces that can be walked through.
pub(crate) const MAX_PIECE_BYTES: usize = 20_000;

/// Trains a tokenizer; takes about what the core takes for a text of this length.
pub(crate) fn train(training: &Training, text: &[u8]) -> Result<Opened, Problem> {
    let dialect = dialect(training)?;
    let mut counts = match training.counts {
        true => read_counts(text)?,
        false => count(&dialect, &training.special_tokens, text)?,
    };
    counts.sort();
    let n_bytes = counts.n_bytes();
    let can_be_shown = counts.distinct_bytes() <= MAX_PIECE_BYTES;
    let pieces = counts.iter().map(|(piece, count, _)| (piece.to_vec(), count));
    let pieces = can_be_shown.then(|| pieces.collect());
    let tokenizer = learn(&dialect, training, counts)?;
    let vocabulary = &tokenizer.parts().vocabulary;
    let merges = vocabulary.merges().iter().zip(vocabulary.merge_counts());
    let merges =
        merges.map(|(merge, &count)| ([merge.left, merge.right, merge.result], count)).collect();
    let course = Course { pieces, merges, n_bytes, ties: dialect.ties };
    Ok(Opened {
        tokenizer: Arc::new(tokenizer),
        name: training.dialect.clone(),
        format: None,
        course: Some(course),
    })
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

/// The dialect of a training, with its pattern.
fn dialect(training: &Training) -> Result<Dialect, Problem> {
    let mut dialect = named_dialect(&training.dialect)?;
    if let Some(pattern) = &training.pattern {
        dialect.split = stages(pattern);
    }
    Ok(dialect)
}

/// The dialect of a name.
pub(crate) fn named_dialect(name: &str) -> Result<Dialect, Problem> {
    Dialect::named(name).ok_or_else(|| {
        let known: Vec<_> = Dialect::names().collect();
        Problem(format!("unknown dialect {name:?}; known are {}", known.join(", ")))
    })
}

/// What a pattern, or the name of one, cuts.
fn stages(pattern: &str) -> Vec<Stage> {
    if pattern.is_empty() {
        return Vec::new();
    }
    bytepair::split::named(pattern).unwrap_or_else(|| {
        let pattern = Pattern { source: pattern.to_owned(), flavour: Flavour::Rust };
        vec![Stage::matches(pattern, Unmatched::Keep)]
    })
}

fn count(
    dialect: &Dialect,
    special_tokens: &[String],
    text: &[u8],
) -> Result<PieceCounts, Problem> {
    let mut counter = CorpusCounter::new(dialect.preparation(special_tokens)?, 1)?;
    counter.count_texts(&[text])?;
    Ok(counter.finish()?.0)
}

/// Pieces with their counts, a line each.
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
