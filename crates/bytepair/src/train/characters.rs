//! Which characters get ids where there are more than a vocabulary has room for.
//!
//! The most frequent ones stay; of equally frequent ones those of smaller code points. A character that is left out
//! stands between its neighbours as an unknown one does in encoding: no pair reaches over it. Counting takes a pass
//! over the distinct pieces and 8 MiB, and nothing where nothing is limited.

use crate::count::PieceCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::units::Units;

/// How many of the characters stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CharacterLimits {
    /// As few of the most frequent characters as make up this share of all occurrences, a fraction.
    pub coverage: Option<(u64, u64)>,
    /// At most so many characters.
    pub most: Option<usize>,
}

/// What was left out of an alphabet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of characters.
    pub n_characters: usize,
    /// How often they occur.
    pub n_occurrences: i64,
    /// How often all characters occur, these among them.
    pub n_total: i64,
}

impl CharacterLimits {
    /// Refuses limits that nothing keeps to, or that have no meaning for these units.
    ///
    /// # Errors
    /// Where units are bytes, where training goes on from an alphabet, or where no character would stay.
    pub fn check(&self, units: &Units, is_continued: bool) -> Result<()> {
        let given = [
            ("character_coverage", self.coverage.is_some()),
            ("max_alphabet", self.most.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|&(_, is_given)| is_given) else {
            return Ok(());
        };
        if units.is_bytes() {
            let problem = "has no meaning where units are bytes, which are all in the alphabet; \
                           use a dialect of characters";
            return Err(Error::option(name, problem));
        }
        if is_continued {
            let problem = "the alphabet comes from the resumed tokenizer; leave this option out";
            return Err(Error::option(name, problem));
        }
        if self.coverage.is_some_and(|(part, whole)| part == 0 || part > whole) {
            return Err(Error::option("character_coverage", "must be above 0, and at most 1"));
        }
        if self.most == Some(0) {
            return Err(Error::option("max_alphabet", "must be at least 1"));
        }
        Ok(())
    }

    /// The characters that stay, in the order of their code points, and what is left out; `None` where all stay.
    ///
    /// # Errors
    /// Where a piece is not UTF-8; the offset is that in the piece.
    pub(super) fn kept(&self, counts: &PieceCounts) -> Result<Option<(Vec<char>, LeftOut)>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut by_frequency = frequencies(counts)?;
        let n_total = by_frequency.iter().fold(0_i64, |sum, (_, n)| sum.saturating_add(*n));
        // Sorting is stable: of equals the smaller code point stays first.
        by_frequency.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let n_kept = self.n_kept(&by_frequency, n_total);
        let left_out = &by_frequency[n_kept..];
        let left_out = LeftOut {
            n_characters: left_out.len(),
            n_occurrences: left_out.iter().fold(0, |sum, (_, n)| n.saturating_add(sum)),
            n_total,
        };
        by_frequency.truncate(n_kept);
        let mut kept: Vec<_> = by_frequency.into_iter().map(|(character, _)| character).collect();
        kept.sort_unstable();
        Ok(Some((kept, left_out)))
    }

    fn n_kept(&self, by_frequency: &[(char, i64)], n_total: i64) -> usize {
        let most = self.most.unwrap_or(usize::MAX).min(by_frequency.len());
        let Some((part, whole)) = self.coverage else { return most };
        let wanted = i128::from(part) * i128::from(n_total);
        let mut n_covered = 0_i128;
        for (place, (_, n)) in by_frequency.iter().enumerate() {
            if place == most || n_covered * i128::from(whole) >= wanted {
                return place;
            }
            n_covered += i128::from(*n);
        }
        most
    }
}

/// The characters of all pieces, in the order of their code points, with how often each occurs.
fn frequencies(counts: &PieceCounts) -> Result<Vec<(char, i64)>> {
    let mut by_code_point = vec![0_i64; char::MAX as usize + 1];
    for (piece, count, _) in counts.iter() {
        let text = std::str::from_utf8(piece)
            .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 })?;
        for character in text.chars() {
            let sum = &mut by_code_point[character as usize];
            *sum = sum.saturating_add(count);
        }
    }
    let characters =
        ('\0'..=char::MAX).map(|character| (character, by_code_point[character as usize]));
    Ok(characters.filter(|&(_, n)| n > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(pieces: &[(String, i64)]) -> PieceCounts {
        let mut counts = PieceCounts::new();
        for (piece, count) in pieces {
            counts.add(piece.as_bytes(), *count, None).unwrap();
        }
        counts
    }

    proptest! {
        #[test]
        fn as_few_characters_stay_as_cover_the_share(
            pieces in prop::collection::vec(("[a-fß日]{1,4}", 1..9_i64), 1..8),
            part in 1..=40_u64,
            most in prop::option::of(1..9_usize),
        ) {
            let limits = CharacterLimits { coverage: Some((part, 40)), most };
            let counts = counts(&pieces);
            let (kept, left_out) = limits.kept(&counts).unwrap().unwrap();
            let n = |character: char| -> i64 {
                let of = |piece: &str| piece.chars().filter(|&c| c == character).count();
                pieces.iter().map(|(piece, n)| i64::try_from(of(piece)).unwrap() * n).sum()
            };
            let all: std::collections::BTreeSet<_> = pieces.iter().flat_map(|(piece, _)| piece.chars()).collect();
            let rank = |c: char| (std::cmp::Reverse(n(c)), c);
            let total: i64 = all.iter().map(|&c| n(c)).sum();
            prop_assert_eq!(left_out.n_total, total);
            // The definition: a character stays if those before it do not cover the share, and there is room.
            let stays = |&c: &char| {
                let before: Vec<_> = all.iter().filter(|&&other| rank(other) < rank(c)).collect();
                let covered: i64 = before.iter().map(|&&c| n(c)).sum();
                covered * 40 < total * i64::try_from(part).unwrap() && most.is_none_or(|most| before.len() < most)
            };
            let expected: Vec<_> = all.iter().copied().filter(stays).collect();
            prop_assert_eq!(&kept, &expected);
            prop_assert_eq!(left_out.n_characters, all.len() - kept.len());
            let kept_total: i64 = kept.iter().map(|&c| n(c)).sum();
            prop_assert_eq!(left_out.n_occurrences, total - kept_total);
        }
    }

    #[test]
    fn limits_that_have_no_meaning_are_refused_by_name() {
        let check = |coverage, most, units: &Units, is_continued| {
            let limits = CharacterLimits { coverage, most };
            limits.check(units, is_continued).map_err(|error| error.to_string())
        };
        let characters = Units::characters();
        let bytes = Units::bytes(crate::units::ByteIds::Value);
        assert!(check(None, None, &bytes, true).is_ok());
        assert!(check(Some((1, 1)), Some(1), &characters, false).is_ok());
        for (coverage, most, units, is_continued, name) in [
            (Some((1, 2)), None, &bytes, false, "character_coverage"),
            (None, Some(3), &bytes, false, "max_alphabet"),
            (None, Some(3), &characters, true, "max_alphabet"),
            (Some((0, 2)), None, &characters, false, "character_coverage"),
            (Some((3, 2)), None, &characters, false, "character_coverage"),
            (None, Some(0), &characters, false, "max_alphabet"),
        ] {
            let error = check(coverage, most, units, is_continued).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }
}
