//! What training would have learned up to a smaller size: the same alphabet and the first of its merges.
//!
//! A merge depends on the merges before it and never on where training stops, so nothing is learned again.
//! Linear in the size of the vocabulary.

use super::{Target, start};
use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::{TokenKind, Vocabulary};

/// The vocabulary that training up to `target` gives, cut from a larger one. Unknown and special tokens stay
/// last and get new ids.
///
/// # Errors
/// Where the ids are in another order than training gives them, or `target` is more than there is or less than
/// there must be.
pub(crate) fn truncated(vocabulary: &Vocabulary, target: Target) -> Result<Vocabulary> {
    let learned = start::continued(vocabulary).map_err(|error| named(&error))?;
    let names: Vec<_> = vocabulary
        .iter()
        .filter(|(_, token)| is_name(token.kind))
        .map(|(_, token)| token)
        .collect();
    if vocabulary.len() != learned.len() + names.len() {
        let problem = "has ids that no token has, which training does not leave";
        return Err(Error::option("truncated", problem));
    }
    let n_merges = n_merges(&learned, names.len(), target)?;
    let n_alphabet = learned.len() - learned.merges().len();
    let mut shorter = Vocabulary::new();
    for (_, token) in learned.iter().take(n_alphabet) {
        shorter.push(token)?;
    }
    for merge in &learned.merges()[..n_merges] {
        shorter.push_merge(merge.left, merge.right)?;
    }
    let counts = learned.merge_counts();
    shorter.set_merge_counts(counts[..n_merges.min(counts.len())].to_vec());
    for name in names {
        shorter.push(name)?;
    }
    Ok(shorter)
}

/// How many merges are kept.
fn n_merges(learned: &Vocabulary, n_names: usize, target: Target) -> Result<usize> {
    let n_learned = learned.merges().len();
    let needed = learned.len() - n_learned + n_names;
    let n_merges = match target {
        Target::Merges(n_merges) => n_merges,
        Target::VocabSize(requested) => requested
            .checked_sub(needed)
            .ok_or(ErrorKind::VocabularyTooSmall { requested, needed })?,
    };
    if n_merges > n_learned {
        let problem = format!(
            "{n_merges} merges are asked for, but there are {n_learned}; training with resume learns more"
        );
        return Err(Error::option("truncated", problem));
    }
    Ok(n_merges)
}

/// Whether a token is known by its name, not learned.
fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Unknown | TokenKind::Added)
}

/// The same problem, of what is asked for here.
fn named(error: &Error) -> Error {
    match error.kind() {
        ErrorKind::Option { problem, .. } => Error::option("truncated", problem.clone()),
        _ => Error::option("truncated", error.to_string()),
    }
}
