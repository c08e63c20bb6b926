//! Letters under `(?i)`.
//!
//! Sets are closed under the simple case folding of Unicode, one character to one. Oniguruma also folds
//! one character to several and back (`ß` and `ss`); a tree of sets cannot say that, so in its flavour
//! such letters are refused, also where several literals in a row make such a folding.
//! Cost: in the size of the set; per literal under `(?i)` in Oniguruma, the about hundred such foldings.

use std::ops::RangeInclusive;

use super::Parser;
use super::tree::{CharSet, Node};
use crate::error::Result;

impl Parser<'_> {
    pub(super) fn literal(&mut self, start: usize, character: char) -> Result<Node> {
        let set = self.fold(CharSet::single(character));
        if self.is_oniguruma && self.flags.ignore_case {
            self.folded.extend(self.unicode.lowercase(character));
            let folds = folds_to_several();
            if folds.iter().any(|(from, to)| set.contains(*from) || self.folded.ends_with(to)) {
                return Err(self.problem_at(
                    start,
                    "letters that fold to another number of letters under (?i)",
                ));
            }
        } else {
            self.folded.clear();
        }
        Ok(Node::Set(set))
    }

    pub(super) fn fold(&self, mut set: CharSet) -> CharSet {
        if self.flags.ignore_case {
            // Without its tables the fold would fail; the dependency is built with them.
            let _ = set.characters.try_case_fold_simple();
        }
        set
    }

    pub(super) fn check_class_folds(&self, start: usize, set: &CharSet) -> Result<()> {
        if !self.is_oniguruma || !self.flags.ignore_case {
            return Ok(());
        }
        if folds_to_several().iter().any(|(from, _)| set.contains(*from)) {
            return Err(self
                .problem_at(start, "a class of letters that fold to several letters under (?i)"));
        }
        Ok(())
    }
}

/// The characters whose case folding is several characters, with that folding. Oniguruma applies it
/// both ways, the Rust engines never. The standard library's mapping serves only to refuse.
fn folds_to_several() -> &'static [(char, String)] {
    static FOLDS: std::sync::OnceLock<Vec<(char, String)>> = std::sync::OnceLock::new();
    FOLDS.get_or_init(|| folds_among(WITH_FOLDS.into_iter().flatten()))
}

/// Where such characters are. Looking at all characters would take most of the time of loading a small tokenizer.
const WITH_FOLDS: [RangeInclusive<char>; 3] =
    ['\u{80}'..='\u{600}', '\u{1E00}'..='\u{1FFF}', '\u{FB00}'..='\u{FB20}'];

fn folds_among(characters: impl Iterator<Item = char>) -> Vec<(char, String)> {
    let several = |character: char| -> Option<(char, String)> {
        let folded: String = character.to_uppercase().flat_map(char::to_lowercase).collect();
        (folded.chars().count() > 1).then_some((character, folded))
    };
    let special = [('İ', "i\u{307}".to_owned()), ('ẞ', "ss".to_owned())];
    let is_special = |character: &char| special.iter().any(|(special, _)| special == character);
    let others = characters.filter(|character| !is_special(character));
    others.filter_map(several).chain(special.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_elsewhere_folds_to_several() {
        assert_eq!(folds_among('\u{80}'..=char::MAX), folds_to_several());
    }
}
