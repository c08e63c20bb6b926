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
            .ok_or(ErrorKind::VocabularyTooSmall { requested, needed, may_leave_out: false })?,
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::count::PieceCounts;
    use crate::train::{TrainOptions, train};
    use crate::units::Units;
    use crate::vocabulary::TokenId;

    /// A vocabulary in words: tokens, merges and counts.
    fn trained(pieces: &[(String, u8)], target: Target) -> Vocabulary {
        let mut counts = PieceCounts::new();
        for (piece, count) in pieces {
            counts.add(piece.as_bytes(), i64::from(*count) + 1, None).unwrap();
        }
        let units = Units { unknown: Some("[UNK]".to_owned()), ..Units::characters() };
        let special_tokens = vec!["<s>".to_owned()];
        let options = TrainOptions { special_tokens, ..TrainOptions::new(target) };
        train(&counts, &units, &options, |_| Ok(ControlFlow::Continue(()))).unwrap().vocabulary
    }

    fn assert_equal(one: &Vocabulary, other: &Vocabulary) {
        assert!(one.iter().eq(other.iter()));
        assert_eq!(one.merges(), other.merges());
        assert_eq!(one.merge_counts(), other.merge_counts());
    }

    proptest! {
        #[test]
        fn a_cut_vocabulary_is_that_of_shorter_training(
            pieces in prop::collection::vec(("[a-cé]{1,9}", 0..6_u8), 1..9),
            n_merges in 0..9_usize,
        ) {
            let large = trained(&pieces, Target::Merges(30));
            let n_merges = n_merges.min(large.merges().len());
            let small = trained(&pieces, Target::Merges(n_merges));
            assert_equal(&truncated(&large, Target::Merges(n_merges)).unwrap(), &small);
            assert_equal(&truncated(&large, Target::VocabSize(small.len())).unwrap(), &small);
        }
    }

    #[test]
    fn what_training_does_not_leave_is_refused() {
        let pieces = [("abab".to_owned(), 3)];
        let large = trained(&pieces, Target::Merges(30));
        assert!(truncated(&large, Target::Merges(large.merges().len() + 1)).is_err());
        let error = truncated(&large, Target::VocabSize(3)).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::VocabularyTooSmall { requested: 3, needed: 4, .. }
        ));
        let mut with_hole = large.clone();
        let name = crate::vocabulary::Token { kind: TokenKind::Added, bytes: b"<t>" };
        with_hole.insert(TokenId::try_from(large.len() + 1).unwrap(), name).unwrap();
        assert!(truncated(&with_hole, Target::Merges(0)).is_err());
    }
}
