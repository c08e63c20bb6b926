//! The normalizer of a `tokenizer.json`: a list of steps, and perhaps the mark at the end of words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{check_steps, problem};
use crate::error::Result;
use crate::format::huggingface::schema::{Normalizer, Pattern};
use crate::format::huggingface::{END_OF_WORD, RESERVED};
use crate::normalize::{BertRules, CharsMap, NormalizeStep, TextPattern, UnicodeForm};
use crate::split::{self, Flavour};
use crate::unicode::UnicodeTables;

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
    check_steps("normalizer", flat.len())?;
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
        Step::Replace { pattern, content } => replace(pattern, content)?,
        Step::Prepend { prepend } => {
            NormalizeStep::Prepend { text: prepend, only_first: false, unless_there: false }
        }
        Step::Strip { strip_left, strip_right } => {
            NormalizeStep::Strip { left: strip_left, right: strip_right }
        }
        Step::StripAccents {} => NormalizeStep::StripAccents,
        Step::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
            NormalizeStep::Bert(BertRules {
                clean_text,
                handle_chinese_chars,
                strip_accents,
                lowercase,
            })
        }
        Step::Nmt {} => NormalizeStep::Nmt,
        Step::ByteLevel {} => NormalizeStep::ByteChars,
        Step::Precompiled { precompiled_charsmap } => precompiled(precompiled_charsmap)?,
        Step::Sequence { .. } => {
            return Err(problem("normalizer", "a sequence in a place where none can be"));
        }
    })
}

fn replace(pattern: Pattern, content: String) -> Result<NormalizeStep> {
    let field = "normalizer.Replace.pattern";
    match pattern {
        Pattern::String(from) if from.is_empty() => {
            Err(problem(field, "the empty text, which stands everywhere"))
        }
        Pattern::String(from) => Ok(NormalizeStep::Replace { from, to: content }),
        Pattern::Regex(source) => {
            let pattern = split::Pattern { source, flavour: Flavour::Oniguruma };
            let pattern = TextPattern::new(pattern, &UnicodeTables::latest())
                .map_err(|error| problem(field, error.to_string()))?;
            Ok(NormalizeStep::ReplaceMatches { pattern, to: content })
        }
    }
}

fn precompiled(charsmap: Option<String>) -> Result<NormalizeStep> {
    let field = "normalizer.Precompiled.precompiled_charsmap";
    let text = charsmap.unwrap_or_default();
    let data = STANDARD.decode(text).map_err(|_| problem(field, "is not base64"))?;
    let map = CharsMap::parse(&data).map_err(|error| problem(field, error.to_string()))?;
    Ok(NormalizeStep::Precompiled(map))
}
