//! `Dialect`: a named choice of parts, with changes to single parts.

use std::sync::Arc;

use bytepair::dialect::Dialect as CoreDialect;
use bytepair::normalize::{NormalizeStep, SPACE_SYMBOL, UnicodeForm};
use bytepair::split::{Flavour, Pattern, Stage, Unmatched};
use bytepair::train::{CharacterLimits, Ties};
use bytepair::units::{ByteIds, EndMark, EndMarkKind, Unit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{Text, extract, name_of, named, number, value_of};
use crate::error::{OrRaise, argument, raise};
use crate::tokenizer::CoreTokenizer;

/// The parts of a tokenizer that are chosen before training.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Dialect(pub(crate) CoreDialect);

#[pymethods]
impl Dialect {
    #[new]
    #[pyo3(signature = (name, **changes))]
    fn new(name: &Bound<'_, PyAny>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let dialect = named_dialect(&extract::<String>("dialect", name)?)?;
        changed(dialect, changes).map(Self)
    }

    /// Return the dialect with which to resume training from a tokenizer.
    // The name and the changes supply what the tokenizer does not hold, and must not contradict it. Without a name, the
    // changes apply to the default dialect if it makes such a tokenizer, else to the parts of the tokenizer.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, name, **changes))]
    fn of(
        tokenizer: PyRef<'_, CoreTokenizer>,
        name: Option<String>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let own = CoreDialect::of(&tokenizer.0).or_raise()?;
        let has = |part| changes.map_or(Ok(false), |changes| changes.contains(part));
        let own_changed = changed(own.clone(), changes)?;
        if let Some(part) = contradiction(&own, &own_changed, has)? {
            return Err(is_another(part));
        }
        // A SentencePiece model normalizes by its own rules, not by the steps of the dialect of that name.
        let is_of_model = |name: &&String| own.is_model() && *name == CoreDialect::MODEL;
        let dialect = if let Some(name) = name.as_ref().filter(|name| !is_of_model(name)) {
            let mut dialect = changed(named_dialect(name)?, changes)?;
            // Published tokenizers of a dialect may normalize text, which the name of the dialect does not say.
            if dialect.normalize.is_empty() && !has("normalize")? && !has("lowercase")? {
                dialect.normalize.clone_from(&own.normalize);
            }
            if let Some(part) = dialect.difference(&own) {
                return Err(is_another(part));
            }
            dialect
        } else {
            let default = changed(named_dialect(DEFAULT)?, changes)?;
            match default.difference(&own) {
                None => default,
                Some(_) if has("ties")? || own.order_of().is_some() => own_changed,
                Some(_) => return Err(ties_unknown()),
            }
        };
        // Training turns a piece into the same units as the tokenizer.
        Ok(Self(CoreDialect { units: own.units, ..dialect }))
    }

    /// Return a tokenizer with these merges of tokens, written with their marks; ``counts`` has how often each pair occurred.
    #[pyo3(signature = (merges, counts=Vec::new()), text_signature = "($self, merges, counts=())")]
    fn tokenizer_of_merges(
        &self,
        merges: Vec<(Text, Text)>,
        counts: Vec<i64>,
    ) -> PyResult<CoreTokenizer> {
        let merges: Vec<_> =
            merges.iter().map(|(left, right)| [left.bytes(), right.bytes()]).collect();
        let tokenizer = self.0.tokenizer_of_merges(&merges, counts).or_raise()?;
        Ok(CoreTokenizer(Arc::new(tokenizer)))
    }

    /// Return this dialect with another pattern, to learn tokens that reach beyond words.
    fn beyond_words(&self, pattern: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.0.beyond_words(stages(pattern)?).or_raise().map(Self)
    }

    /// Whether a tokenizer cuts text where this dialect does.
    fn cuts_like(&self, tokenizer: PyRef<'_, CoreTokenizer>) -> PyResult<bool> {
        self.0.cuts_like(&tokenizer.0).or_raise()
    }

    /// Return a tokenizer with the pattern of this dialect; all else stays.
    fn with_pattern(&self, tokenizer: PyRef<'_, CoreTokenizer>) -> PyResult<CoreTokenizer> {
        let tokenizer = self.0.with_pattern(&tokenizer.0).or_raise()?;
        Ok(CoreTokenizer(Arc::new(tokenizer)))
    }

    /// Return a tokenizer of this dialect with the alphabet and the merges of another, without unknown and special tokens.
    fn without_names(&self, tokenizer: PyRef<'_, CoreTokenizer>) -> PyResult<CoreTokenizer> {
        let tokenizer = self.0.without_names(&tokenizer.0).or_raise()?;
        Ok(CoreTokenizer(Arc::new(tokenizer)))
    }

    /// The rule that chooses between equally frequent pairs.
    #[getter]
    fn ties(&self) -> &'static str {
        name_of(&TIES, self.0.ties)
    }

    /// Refuse limits of the alphabet that do not apply to this dialect.
    fn check_characters(&self, limits: (Option<(u64, u64)>, Option<usize>)) -> PyResult<()> {
        let (coverage, most) = limits;
        CharacterLimits { coverage, most }.check(&self.0.units, false).or_raise()
    }

    /// What replaces characters without an id: ``"bytes"``, the unknown token, or ``None``.
    #[getter]
    fn stand_in(&self) -> Option<String> {
        let units = &self.0.units;
        if units.byte_fallback { Some("bytes".to_owned()) } else { units.unknown.clone() }
    }

    /// The number of ids of bytes: 256, or 0 where units are characters.
    #[getter]
    fn n_bytes(&self) -> usize {
        if self.0.units.is_bytes() { 256 } else { 0 }
    }

    /// How often a pair must occur to be merged.
    #[getter]
    fn min_count(&self) -> i64 {
        self.0.min_count
    }

    /// Return the dialect that always normalizes text as this one does in training.
    fn as_in_training(&self) -> Self {
        let mut dialect = self.0.clone();
        if let Some(steps) = dialect.normalize_training.take() {
            dialect.normalize = steps;
        }
        Self(dialect)
    }
}

/// The default dialect of training.
const DEFAULT: &str = "gpt4o";

/// The first part of a tokenizer that the changes contradict.
fn contradiction(
    own: &CoreDialect,
    changed: &CoreDialect,
    has: impl Fn(&'static str) -> PyResult<bool>,
) -> PyResult<Option<&'static str>> {
    if has("byte_ids")? && own.units.unit != changed.units.unit {
        return Ok(Some("byte_ids"));
    }
    if has("fuse_unknown")? && own.units.fuse_unknown != changed.units.fuse_unknown {
        return Ok(Some("fuse_unknown"));
    }
    Ok(changed.difference(own))
}

fn is_another(part: &str) -> PyErr {
    let message = format!(
        "{}: the tokenizer has another {} than the dialect and the options say; leave out what the \
         tokenizer holds, or give what it was trained with",
        argument("resume"),
        argument(part)
    );
    raise("TrainingError", message)
}

fn ties_unknown() -> PyErr {
    let message = format!(
        "{}: the tokenizer has the parts of no named dialect, and does not say which of several equally \
         frequent pairs is merged first; give {} or {} as in its training",
        argument("resume"),
        argument("dialect"),
        argument("ties")
    );
    raise("TrainingError", message)
}

fn named_dialect(name: &str) -> PyResult<CoreDialect> {
    CoreDialect::named(name).ok_or_else(|| {
        let names: Vec<_> = CoreDialect::names().collect();
        let known = names.join(", ");
        raise("TokenizerError", format!("unknown dialect {name:?}; known are {known}"))
    })
}

/// A dialect with changes to single parts.
fn changed(mut dialect: CoreDialect, changes: Option<&Bound<'_, PyDict>>) -> PyResult<CoreDialect> {
    let Some(changes) = changes else { return Ok(dialect) };
    for is_later in [false, true] {
        for (part, value) in changes {
            let part: String = part.extract()?;
            if LATER.contains(&part.as_str()) == is_later {
                let set = set(&mut dialect, &part, &value);
                set.map_err(|error| named(value.py(), &part, error))?;
            }
        }
    }
    Ok(dialect)
}

/// Parts that refine another part, such as the flavour of a pattern, and are set after it.
const LATER: [&str; 5] = ["byte_ids", "pattern_flavour", "unmatched", "lowercase", "end_mark_kind"];

const BYTE_IDS: [(&str, ByteIds); 2] =
    [("printable", ByteIds::Printable), ("value", ByteIds::Value)];
const FLAVOURS: [(&str, Flavour); 2] = [("rust", Flavour::Rust), ("oniguruma", Flavour::Oniguruma)];
const UNMATCHED: [(&str, Unmatched); 2] = [("keep", Unmatched::Keep), ("drop", Unmatched::Drop)];
const MARK_KINDS: [(&str, EndMarkKind); 2] =
    [("unit", EndMarkKind::Unit), ("suffix", EndMarkKind::Suffix)];
const TIES: [(&str, Ties); 3] = [
    ("smallest_ids", Ties::SmallestIds),
    ("first_seen", Ties::FirstSeen),
    ("largest_text", Ties::LargestText),
];
const FORMS: [(&str, UnicodeForm); 4] = [
    ("nfc", UnicodeForm::Nfc),
    ("nfd", UnicodeForm::Nfd),
    ("nfkc", UnicodeForm::Nfkc),
    ("nfkd", UnicodeForm::Nfkd),
];

/// Sets one part of a dialect.
fn set(dialect: &mut CoreDialect, part: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let (units, split) = (&mut dialect.units, &mut dialect.split);
    match part {
        "unit" => units.unit = unit(units.unit, value)?,
        "byte_ids" => units.unit = Unit::Byte(value_of(part, value.extract()?, &BYTE_IDS)?),
        "pattern" if value.is_none() => {}
        "pattern" => *split = stages(value)?,
        "pattern_flavour" => {
            let flavour = value_of(part, value.extract()?, &FLAVOURS)?;
            split.iter_mut().for_each(|stage| stage.pattern.flavour = flavour);
        }
        "unmatched" => {
            let rest = value_of(part, value.extract()?, &UNMATCHED)?;
            let matches = |stage: &mut Stage| *stage = Stage::matches(stage.pattern.clone(), rest);
            split.iter_mut().for_each(matches);
        }
        "normalize" => set_normalize(dialect, value)?,
        "lowercase" => set_lowercase(dialect, value)?,
        "end_mark" => {
            let kind = units.end_mark_kind().unwrap_or(EndMarkKind::Unit);
            units.end_mark = not_empty(value)?.map(|text| EndMark { text, kind });
        }
        "end_mark_kind" => {
            let kind = value_of(part, value.extract()?, &MARK_KINDS)?;
            units.end_mark.iter_mut().for_each(|mark| mark.kind = kind);
        }
        "continuing_prefix" => units.continuing_prefix = not_empty(value)?,
        "unknown_token" => units.unknown = unknown_token(value)?,
        "fuse_unknown" => units.fuse_unknown = value.extract()?,
        "byte_fallback" => units.byte_fallback = value.extract()?,
        "ties" => dialect.ties = value_of(part, value.extract()?, &TIES)?,
        "min_count" => dialect.min_count = number(part, value)?,
        _ => return Err(raise("TokenizerError", format!("a dialect has no part {part:?}"))),
    }
    Ok(())
}

fn not_empty(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(value.extract::<Option<String>>()?.filter(|text| !text.is_empty()))
}

fn unknown_token(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let name = value.extract::<Option<String>>()?;
    if name.as_ref().is_some_and(String::is_empty) {
        return Err(raise("TokenizerError", format!("{} is empty", argument("unknown_token"))));
    }
    Ok(name)
}

/// The option `unit`. If the dialect has bytes already, they keep their ids.
fn unit(own: Unit, value: &Bound<'_, PyAny>) -> PyResult<Unit> {
    let byte = if own == Unit::Character { Unit::Byte(ByteIds::Printable) } else { own };
    value_of("unit", value.extract()?, &[("byte", byte), ("character", Unit::Character)])
}

/// Sets the steps of normalizing. Lowercasing stays as it is, since it has its own option.
fn set_normalize(dialect: &mut CoreDialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let lowers = dialect.normalize.contains(&NormalizeStep::Lowercase);
    dialect.normalize = steps(value)?;
    if lowers && !dialect.normalize.contains(&NormalizeStep::Lowercase) {
        dialect.normalize.insert(0, NormalizeStep::Lowercase);
    }
    Ok(())
}

/// Sets when text is lowercased. `True` and `"always"`: in training and encoding; `"training"`: only there; `False` and
/// `"never"`: not at all.
fn set_lowercase(dialect: &mut CoreDialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let times = [("always", (true, false)), ("training", (false, true)), ("never", (false, false))];
    let (always, training) = match value.extract::<bool>() {
        Ok(always) => (always, false),
        Err(_) => value_of("lowercase", value.extract()?, &times)?,
    };
    dialect.normalize.retain(|step| *step != NormalizeStep::Lowercase);
    let lower = std::iter::once(NormalizeStep::Lowercase);
    let lowered: Vec<_> = lower.chain(dialect.normalize.iter().cloned()).collect();
    dialect.normalize_training = training.then(|| lowered.clone());
    if always {
        dialect.normalize = lowered;
    }
    Ok(())
}

/// The stages of a pattern, of the name of a pattern, or of a list of either. An empty pattern alone has no stage: it
/// never splits.
fn stages(value: &Bound<'_, PyAny>) -> PyResult<Vec<Stage>> {
    let mut sources = words(value)?;
    sources.retain(|source| !source.is_empty() || !value.is_instance_of::<PyString>());
    let stages = sources.into_iter().flat_map(|source| {
        bytepair::split::named(&source).unwrap_or_else(|| {
            let pattern = Pattern { source, flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        })
    });
    Ok(stages.collect())
}

/// The steps of the option `normalize`: `"nfc"`, `"nfd"`, `"nfkc"`, `"nfkd"`, `"lowercase"`, `"spaces"` (written as `▁`),
/// `("replace", from, to)`, `("prepend", text)` before the text, and `("prepend_each", text)` before each segment between
/// added tokens.
fn steps(value: &Bound<'_, PyAny>) -> PyResult<Vec<NormalizeStep>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![step(&[value.extract()?])?]);
    }
    value.try_iter()?.map(|item| step(&words(&item?)?)).collect()
}

/// One text, or a list of texts.
fn words(item: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match item.is_instance_of::<PyString>() {
        true => Ok(vec![item.extract()?]),
        false => item.extract(),
    }
}

fn step(words: &[String]) -> PyResult<NormalizeStep> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some((_, form)) = FORMS.iter().find(|(name, _)| words == [*name]) {
        return Ok(NormalizeStep::Form(*form));
    }
    Ok(match words[..] {
        ["lowercase"] => NormalizeStep::Lowercase,
        ["spaces"] => NormalizeStep::Replace { from: " ".to_owned(), to: SPACE_SYMBOL.to_owned() },
        ["replace", from, to] if !from.is_empty() => {
            NormalizeStep::Replace { from: from.to_owned(), to: to.to_owned() }
        }
        [kind @ ("prepend" | "prepend_each"), text] => NormalizeStep::Prepend {
            text: text.to_owned(),
            only_first: kind == "prepend",
            unless_there: false,
        },
        _ => {
            let found = words.join(", ");
            let message = format!("normalize must be one of {STEPS}, not {found:?}");
            return Err(raise("TokenizerError", message));
        }
    })
}

const STEPS: &str = "nfc, nfd, nfkc, nfkd, lowercase, spaces, (replace, from, to), (prepend, text), (prepend_each, text)";

/// Return the names of the dialects.
///
/// >>> import bytepair
/// >>> "gpt4o" in bytepair.dialects()
/// True
#[pyfunction]
pub(crate) fn dialect_names() -> Vec<&'static str> {
    CoreDialect::names().collect()
}

/// Return the names of the split patterns, for ``pattern=``.
///
/// >>> import bytepair
/// >>> "cl100k" in bytepair.patterns()
/// True
#[pyfunction]
pub(crate) fn pattern_names() -> Vec<String> {
    bytepair::split::names().map(str::to_owned).collect()
}
