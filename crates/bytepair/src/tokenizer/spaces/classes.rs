//! Which characters a vocabulary keeps apart: signs from letters, and some from all others.
//!
//! Vocabularies that were learned script by script have no token of both letters and signs, and often none of a digit or a
//! line end with anything else. So a word ends before a sign, which makes words of texts as frequent as those of a split
//! pattern. Costs a pass over the pairs that tokens join for each round in which a sign turns out to be a letter.

use std::collections::{BTreeSet, HashSet};

/// What stands alone where no token joins it to another character.
const ALONE: &str = "0123456789\n\r\t";

/// What is known of characters. All others are letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes {
    /// What no token joins to a letter.
    pub(super) signs: BTreeSet<char>,
    /// What no token joins to anything but itself.
    pub(super) alone: BTreeSet<char>,
    /// What is joined to a space behind it.
    pub(super) before_spaces: BTreeSet<char>,
}

impl Classes {
    /// Those of the pairs that tokens join.
    pub(super) fn new(joined: &HashSet<(char, char)>, spaces: [char; 2]) -> Self {
        let is_space = |character: char| spaces.contains(&character);
        let pairs = || joined.iter().copied().filter(|(left, right)| left != right);
        let mut alone: BTreeSet<char> = ALONE.chars().filter(|&one| !is_space(one)).collect();
        for (left, right) in pairs() {
            alone.remove(&left);
            alone.remove(&right);
        }
        let before_spaces = pairs().filter(|&(left, right)| is_space(right) && !is_space(left));
        let before_spaces = before_spaces.map(|(left, _)| left).collect();
        let words = || pairs().filter(|&(left, right)| !is_space(left) && !is_space(right));
        let is_sign = |character: &char| !character.is_alphabetic() && !alone.contains(character);
        let mut signs: BTreeSet<char> =
            words().flat_map(<[char; 2]>::from).filter(is_sign).collect();
        signs.extend(('!'..='~').filter(|sign| is_sign(sign) && !is_space(*sign)));
        loop {
            let mixed =
                words().filter(|(left, right)| signs.contains(left) != signs.contains(right));
            let letters: HashSet<char> = mixed.flat_map(<[char; 2]>::from).collect();
            if letters.is_empty() {
                return Self { signs, alone, before_spaces };
            }
            signs.retain(|sign| !letters.contains(sign));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_what_is_joined_to_no_letter_also_by_way_of_other_signs() {
        let pairs = [('a', 'b'), ('.', ','), ('\'', 's'), ('"', '\''), ('▁', '('), ('1', '▁')];
        let Classes { signs, alone, before_spaces } = Classes::new(&pairs.into(), [' ', '▁']);
        assert!(['.', ',', '('].iter().all(|sign| signs.contains(sign)));
        assert!(['\'', '"', 'a', '2', '\n'].iter().all(|other| !signs.contains(other)));
        assert!(alone.contains(&'2') && alone.contains(&'\n') && !alone.contains(&'1'));
        assert_eq!(before_spaces, BTreeSet::from(['1']));
    }
}
