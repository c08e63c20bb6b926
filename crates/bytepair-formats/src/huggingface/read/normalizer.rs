//! The normalizer of a `tokenizer.json`: a list of steps, and perhaps the mark at the end of words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::huggingface::schema::{Normalizer, Pattern, Placed};
use crate::huggingface::{END_OF_WORD, RESERVED};
use bytepair::Result;
use bytepair::normalize::{CharsMap, NormalizeStep, TextPattern};
use bytepair_split::Flavour;
use bytepair_split::unicode::UnicodeTables;

/// What a normalizer does.
pub(super) struct Normalizing {
    pub(super) steps: Vec<NormalizeStep>,
    /// A mark that is put at the end of each word of `\S+`.
    pub(super) end_mark: Option<String>,
}

pub(super) fn normalizing(row: Option<Vec<Placed<Normalizer>>>) -> Result<Normalizing> {
    let mut row = row.unwrap_or_default();
    let end_mark = end_mark(&row);
    row.truncate(row.len() - if end_mark.is_some() { 2 } else { 0 });
    let steps = row.iter().map(normalize_step).collect::<Result<_>>()?;
    Ok(Normalizing { steps, end_mark })
}

/// The mark, where the last two steps are those that `write` puts there for one.
fn end_mark(row: &[Placed<Normalizer>]) -> Option<String> {
    use Normalizer::Replace;
    use Pattern::{Regex, String};
    let [.., Placed { is: reserving, .. }, Placed { is: marking, .. }] = row else { return None };
    let Replace { pattern: String(mark), content: reserved } = reserving else { return None };
    let Replace { pattern: Regex(place), content } = marking else { return None };
    let is_mark = reserved == RESERVED
        && place == END_OF_WORD
        && content == mark
        && mark.chars().count() == 1;
    is_mark.then(|| mark.clone())
}

fn normalize_step(step: &Placed<Normalizer>) -> Result<NormalizeStep> {
    Ok(match &step.is {
        Normalizer::Lowercase => NormalizeStep::Lowercase,
        Normalizer::Form(form) => NormalizeStep::Form(*form),
        Normalizer::Replace { pattern, content } => replace(step, pattern, content)?,
        Normalizer::Prepend(text) => {
            NormalizeStep::Prepend { text: text.clone(), only_first: false, unless_there: false }
        }
        Normalizer::Strip { left, right } => NormalizeStep::Strip { left: *left, right: *right },
        Normalizer::StripAccents => NormalizeStep::StripAccents,
        Normalizer::Bert(rules) => NormalizeStep::Bert(*rules),
        Normalizer::Nmt => NormalizeStep::Nmt,
        Normalizer::ByteLevel => NormalizeStep::ByteChars,
        Normalizer::Precompiled(charsmap) => {
            let problem = |what: String| step.problem("precompiled_charsmap", what);
            let data =
                STANDARD.decode(charsmap).map_err(|_| problem("is not base64".to_owned()))?;
            let map = CharsMap::parse(&data).map_err(|error| problem(error.to_string()))?;
            NormalizeStep::Precompiled(map)
        }
    })
}

fn replace(step: &Placed<Normalizer>, pattern: &Pattern, content: &str) -> Result<NormalizeStep> {
    let to = content.to_owned();
    match pattern {
        Pattern::String(from) if from.is_empty() => {
            Err(step.problem("pattern", "the empty text, which would match everywhere"))
        }
        Pattern::String(from) => Ok(NormalizeStep::Replace { from: from.clone(), to }),
        Pattern::Regex(source) => {
            let pattern =
                bytepair_split::Pattern { source: source.clone(), flavour: Flavour::Oniguruma };
            let pattern = TextPattern::new(pattern, &UnicodeTables::latest())
                .map_err(|error| step.problem("pattern", error.to_string()))?;
            Ok(NormalizeStep::ReplaceMatches { pattern, to })
        }
    }
}
