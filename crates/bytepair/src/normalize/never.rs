//! Texts that no normalized text contains.
//!
//! Some steps do not change their own results, nor any part of them: Unicode forms, lower case, replacing one character by
//! another. So a text that such a step changes is in no result of it. BERT's rules are such a step but for the spaces that they
//! put around ideographs: they are taken without these spaces. Left out: other steps, for which nothing is claimed,
//! and steps before such a step, unless it only replaces spaces by `▁`, which forms and lower case do not affect.

use super::{BertRules, NormalizeStep, Normalizer};
use crate::error::Result;
use crate::segment::Segment;

impl Normalizer {
    /// The steps that never give a text that they change, each alone.
    pub(crate) fn closed_steps(&self) -> Vec<Self> {
        let mut steps = Vec::new();
        for step in self.steps.iter().rev() {
            let Some(closed) = closed(step) else { break };
            steps.push(Self::new(vec![closed], self.unicode));
            if !is_spaces(step) {
                break;
            }
        }
        steps
    }

    /// Whether a text is another once it is normalized.
    ///
    /// # Errors
    /// As for [`Self::normalize`].
    pub(crate) fn changes(&self, text: &[u8]) -> Result<bool> {
        Ok(*self.normalize(Segment::whole(text))? != *text)
    }
}

/// Whether steps only put `▁` in the place of spaces, and either in front; at the end they may put characters in the place
/// of bytes, and the bytes back.
pub(crate) fn add_spaces_only(steps: &[&NormalizeStep]) -> bool {
    let steps = match steps {
        [before @ .., NormalizeStep::ByteChars, NormalizeStep::CharBytes] => before,
        _ => steps,
    };
    steps.iter().all(|step| match step {
        NormalizeStep::Prepend { text, .. } => text == " " || text == "▁",
        step => is_spaces(step),
    })
}

/// A step that leaves all that the given one gives as it is, and every part of it: usually the step itself.
fn closed(step: &NormalizeStep) -> Option<NormalizeStep> {
    match step {
        NormalizeStep::Lowercase | NormalizeStep::Form(_) | NormalizeStep::StripAccents => {
            Some(step.clone())
        }
        NormalizeStep::Replace { from, to } => {
            (from.chars().count() == 1 && !to.contains(from)).then(|| step.clone())
        }
        NormalizeStep::Bert(rules) => {
            Some(NormalizeStep::Bert(BertRules { handle_chinese_chars: false, ..*rules }))
        }
        _ => None,
    }
}

/// Whether a step puts `▁` in the place of spaces.
fn is_spaces(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Replace { from, to } if from == " " && to == "▁")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::UnicodeForm;
    use crate::test_support::{normalizer, replace};

    proptest! {
        #[test]
        fn every_part_of_a_normalized_text_is_left_as_it_is(
            text in "([a-cAİΣé ▁ﬁ각]|e\u{301}|\u{308}\u{301}|\u{1100}\u{1161}|\\PC){0,9}",
            (start, end) in (0..30_usize, 0..30_usize),
        ) {
            let spaces = || replace(" ", "▁");
            let forms = [UnicodeForm::Nfc, UnicodeForm::Nfd, UnicodeForm::Nfkc, UnicodeForm::Nfkd];
            let mut all = vec![vec![NormalizeStep::Lowercase], vec![NormalizeStep::StripAccents]];
            all.extend(forms.map(|form| vec![NormalizeStep::Form(form)]));
            all.extend(forms.map(|form| vec![NormalizeStep::Form(form), spaces()]));
            all.push(vec![NormalizeStep::Lowercase, spaces()]);
            for (strip_accents, lowercase) in [(None, true), (Some(false), true), (Some(true), false)] {
                let (clean_text, handle_chinese_chars) = (true, true);
                let rules = BertRules { clean_text, handle_chinese_chars, strip_accents, lowercase };
                all.push(vec![NormalizeStep::Bert(rules)]);
            }
            for steps in all {
                let normalizer = normalizer(steps);
                let whole = normalizer.normalize(Segment::whole(text.as_bytes())).unwrap();
                let whole = String::from_utf8(whole.into_owned()).unwrap();
                let part: String = whole.chars().skip(start).take(end).collect();
                for step in normalizer.closed_steps() {
                    prop_assert!(!step.changes(part.as_bytes()).unwrap());
                }
            }
        }
    }

    #[test]
    fn a_step_is_asked_only_where_nothing_behind_it_could_give_the_text() {
        let spaces = || replace(" ", "▁");
        let form = || NormalizeStep::Form(UnicodeForm::Nfkc);
        let strip = || NormalizeStep::Strip { left: true, right: true };
        for (steps, n_closed) in [
            (vec![form(), spaces()], 2),
            (vec![spaces(), form()], 1),
            (vec![form(), strip()], 0),
            (vec![strip(), form()], 1),
            (vec![form(), NormalizeStep::Lowercase, spaces()], 2),
        ] {
            let normalizer = normalizer(steps);
            assert_eq!(normalizer.closed_steps().len(), n_closed);
        }
    }
}
