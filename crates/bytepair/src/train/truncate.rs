//! What training would have learned up to a smaller size: the same alphabet and the first of its merges.
//!
//! A merge depends on the merges before it and never on where training stops, so nothing is learned again. The
//! tokens of the last merges go; all others stay in their order and close ranks. Linear in the size of the vocabulary.

use super::Target;
use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::{Merge, TokenId, TokenKind, Vocabulary};

/// The vocabulary that training up to `target` gives, cut from a larger one. Tokens behind those that go get smaller
/// ids, as a rule the unknown and special tokens.
///
/// # Errors
/// Where the ids are in another order than training gives them, or `target` is more than there is or less than
/// there must be.
pub(crate) fn truncated(vocabulary: &Vocabulary, target: Target) -> Result<Vocabulary> {
    check_order(vocabulary)?;
    let n_kept = n_merges(vocabulary, target)?;
    let (kept, gone) = vocabulary.merges().split_at(n_kept);
    let mut gone = gone.iter().map(|merge| merge.result).peekable();
    let mut shorter = Vocabulary::new();
    let mut new_ids = vec![TokenId::MAX; vocabulary.len()];
    for (id, token) in vocabulary.iter() {
        if gone.next_if_eq(&id).is_none() {
            new_ids[id as usize] = shorter.push(token)?;
        }
    }
    for &Merge { left, right, result } in kept {
        let [left, right, result] = [left, right, result].map(|id| new_ids[id as usize]);
        shorter.push_merge_to(Merge { left, right, result });
    }
    let counts = vocabulary.merge_counts();
    shorter.set_merge_counts(counts[..n_kept.min(counts.len())].to_vec());
    Ok(shorter)
}

/// Refuses a vocabulary that training does not leave: each merge makes a token behind those of earlier merges and
/// behind its parts, and no other token of text stands behind the first of them.
fn check_order(vocabulary: &Vocabulary) -> Result<()> {
    let refused = |problem| Err(Error::option("truncated", problem));
    if vocabulary.iter().count() != vocabulary.len() {
        return refused("has ids that no token has, which training does not leave");
    }
    let merges = vocabulary.merges();
    let ascends = merges.is_sorted_by(|one, other| one.result < other.result);
    let is_late = |merge: &Merge| merge.left.max(merge.right) < merge.result;
    let is_text = |kind| !matches!(kind, TokenKind::Unknown | TokenKind::Added);
    let first = merges.first().map_or(vocabulary.len(), |merge| merge.result as usize);
    let n_made = vocabulary.iter().skip(first).filter(|(_, token)| is_text(token.kind)).count();
    let is_ordered = ascends && merges.iter().all(is_late) && n_made == merges.len();
    if !is_ordered || !vocabulary.priorities().is_empty() {
        return refused(
            "has ids in another order than training gives them: first the alphabet, then a token for each merge",
        );
    }
    Ok(())
}

/// How many merges are kept.
fn n_merges(vocabulary: &Vocabulary, target: Target) -> Result<usize> {
    let n_learned = vocabulary.merges().len();
    let needed = vocabulary.len() - n_learned;
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
