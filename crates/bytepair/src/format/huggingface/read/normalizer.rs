//! The normalizer of a `tokenizer.json`: a list of steps, and perhaps the mark at the end of words.

use super::problem;
use crate::error::Result;
use crate::format::huggingface::schema::{Normalizer, Pattern};
use crate::format::huggingface::{END_OF_WORD, RESERVED};
use crate::normalize::{NormalizeStep, UnicodeForm};

/// What a normalizer does.
pub(super) struct Normalizing {
    pub(super) steps: Vec<NormalizeStep>,
    /// A mark that is put at the end of each word of `\S+`.
    pub(super) end_mark: Option<String>,
}

pub(super) fn normalizing(normalizer: Option<Normalizer>) -> Result<Normalizing> {
    let mut flat = Vec::new();
    if let Some(normalizer) = normalizer {
        flatten(normalizer, &mut flat);
    }
    let end_mark = end_mark(&flat);
    flat.truncate(flat.len() - if end_mark.is_some() { 2 } else { 0 });
    let steps = flat.into_iter().map(normalize_step).collect::<Result<_>>()?;
    Ok(Normalizing { steps, end_mark })
}

fn flatten(normalizer: Normalizer, flat: &mut Vec<Normalizer>) {
    match normalizer {
        Normalizer::Sequence { normalizers } => {
            for normalizer in normalizers {
                flatten(normalizer, flat);
            }
        }
        other => flat.push(other),
    }
}

/// The mark, where the last two steps are those that `write` puts there for one.
fn end_mark(steps: &[Normalizer]) -> Option<std::string::String> {
    use Normalizer::Replace;
    use Pattern::{Regex, String};
    let [
        ..,
        Replace { pattern: String(mark), content: reserved },
        Replace { pattern: Regex(place), content },
    ] = steps
    else {
        return None;
    };
    let is_mark = reserved == RESERVED
        && place == END_OF_WORD
        && content == mark
        && mark.chars().count() == 1;
    is_mark.then(|| mark.clone())
}

fn normalize_step(normalizer: Normalizer) -> Result<NormalizeStep> {
    use Normalizer as Step;
    Ok(match normalizer {
        Step::Lowercase {} => NormalizeStep::Lowercase,
        Step::Nfc {} => NormalizeStep::Form(UnicodeForm::Nfc),
        Step::Nfd {} => NormalizeStep::Form(UnicodeForm::Nfd),
        Step::Nfkc {} => NormalizeStep::Form(UnicodeForm::Nfkc),
        Step::Nfkd {} => NormalizeStep::Form(UnicodeForm::Nfkd),
        Step::Replace { pattern: Pattern::String(from), content } if !from.is_empty() => {
            NormalizeStep::Replace { from, to: content }
        }
        Step::Replace { .. } => {
            return Err(problem(
                "normalizer.Replace.pattern",
                "only a plain string is supported, no regular expression",
            ));
        }
        Step::Prepend { prepend } => {
            NormalizeStep::Prepend { text: prepend, only_first: false, unless_there: false }
        }
        Step::Sequence { .. } => {
            return Err(problem("normalizer", "a sequence in a place where none can be"));
        }
    })
}
