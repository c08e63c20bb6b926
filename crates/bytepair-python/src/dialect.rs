//! `Dialect`: a named choice of parts, with changes by hand.

use bytepair::split::{Flavour, Pattern, Stage, Unmatched};
use bytepair::{
    ByteIds, CharacterLimits, EndMark, EndMarkKind, NormalizeStep, Ties, UnicodeForm, Unit, Units,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{extract, named, number};
use crate::error::{raise, to_python};
use crate::tokenizer::CoreTokenizer;

/// The parts of a tokenizer that are chosen before training.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Dialect(pub(crate) bytepair::Dialect);

#[pymethods]
impl Dialect {
    #[new]
    #[pyo3(signature = (name, **changes))]
    fn new(name: &Bound<'_, PyAny>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let py = name.py();
        let mut dialect = named_dialect(&extract::<String>("dialect", name)?)?;
        if let Some(changes) = changes {
            change(py, &mut dialect, changes)?;
        }
        Ok(Self(dialect))
    }

    /// Give the dialect to go on with from a tokenizer.
    // The name and the changes say what a tokenizer does not hold, and must not contradict it. Changes without a name
    // are those of the default dialect, if that makes such a tokenizer, else of the one that has its parts.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, name, **changes))]
    fn of(
        py: Python<'_>,
        tokenizer: PyRef<'_, CoreTokenizer>,
        name: Option<String>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let own = bytepair::Dialect::of(&tokenizer.0).map_err(|error| to_python(&error))?;
        let changed = |mut dialect: bytepair::Dialect| -> PyResult<_> {
            changes.map_or(Ok(()), |changes| change(py, &mut dialect, changes))?;
            Ok(dialect)
        };
        let has = |part| changes.map_or(Ok(false), |changes| changes.contains(part));
        if let Some(part) = contradiction(&own, &changed(own.clone())?, has)? {
            return Err(is_another(part));
        }
        // A model has its own rules instead of the steps of its dialect.
        let is_of_model = |name: &&String| own.is_model() && *name == bytepair::Dialect::MODEL;
        let dialect = if let Some(name) = name.as_ref().filter(|name| !is_of_model(name)) {
            let mut dialect = changed(named_dialect(name)?)?;
            // Published tokenizers of a dialect may normalize text; the name of the dialect does not say.
            if dialect.normalize.is_empty() && !has("normalize")? && !has("lowercase")? {
                dialect.normalize.clone_from(&own.normalize);
            }
            if let Some(part) = dialect.difference(&own) {
                return Err(is_another(part));
            }
            dialect
        } else {
            let default = changed(named_dialect(DEFAULT)?)?;
            match default.difference(&own) {
                None => default,
                Some(_) if has("ties")? || own.order_of().is_some() => changed(own.clone())?,
                Some(_) => return Err(ties_unknown()),
            }
        };
        // What the tokenizer makes of a piece is what training makes of it.
        Ok(Self(bytepair::Dialect { units: own.units, ..dialect }))
    }

    /// Which pair goes first among equals.
    #[getter]
    fn ties(&self) -> &'static str {
        match self.0.ties {
            Ties::SmallestIds => "smallest_ids",
            Ties::FirstSeen => "first_seen",
            Ties::LargestText => "largest_text",
        }
    }

    /// Refuse limits of the alphabet that have no meaning in this dialect.
    fn check_characters(
        &self,
        limits: (Option<(u64, u64)>, Option<usize>),
        is_continued: bool,
    ) -> PyResult<()> {
        let (coverage, most) = limits;
        let limits = CharacterLimits { coverage, most };
        limits.check(&self.0.units, is_continued).map_err(|error| to_python(&error))
    }

    /// What stands for characters without an id: ``"bytes"``, a token, or nothing.
    #[getter]
    fn stand_in(&self) -> Option<String> {
        let units = &self.0.units;
        if units.byte_fallback { Some("bytes".to_owned()) } else { units.unknown.clone() }
    }

    /// How often a pair must occur.
    #[getter]
    fn min_count(&self) -> i64 {
        self.0.min_count
    }

    /// Give the dialect that always changes text as this one does in training.
    fn as_in_training(&self) -> Self {
        let mut dialect = self.0.clone();
        if let Some(steps) = dialect.normalize_training.take() {
            dialect.normalize = steps;
        }
        Self(dialect)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The dialect of training that names none.
const DEFAULT: &str = "gpt4o";

/// The first part of a tokenizer that changes by hand contradict.
fn contradiction(
    own: &bytepair::Dialect,
    changed: &bytepair::Dialect,
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
        "resume: the tokenizer has another {part} than the dialect and the options say; leave out what the \
         tokenizer holds, or give what it was trained with"
    );
    raise("TrainingError", message)
}

fn ties_unknown() -> PyErr {
    let message = "resume: the tokenizer has the parts of no named dialect, and does not say which of several \
                   equally frequent pairs is merged first; give dialect= or ties= as in its training";
    raise("TrainingError", message.to_owned())
}

fn named_dialect(name: &str) -> PyResult<bytepair::Dialect> {
    bytepair::Dialect::named(name).ok_or_else(|| {
        let names: Vec<_> = bytepair::Dialect::names().collect();
        let known = names.join(", ");
        raise("TokenizerError", format!("unknown dialect {name:?}; known are {known}"))
    })
}

/// Sets parts of a dialect by hand.
fn change(
    py: Python<'_>,
    dialect: &mut bytepair::Dialect,
    changes: &Bound<'_, PyDict>,
) -> PyResult<()> {
    for (name, change) in CHANGES {
        if let Some(value) = changes.get_item(name)? {
            change(dialect, &value).map_err(|error| named(py, name, error))?;
        }
    }
    let is_known = |name: &String| CHANGES.iter().any(|(known, _)| known == name);
    let names = changes.keys().extract::<Vec<String>>()?;
    match names.into_iter().find(|name| !is_known(name)) {
        Some(name) => Err(raise("TokenizerError", format!("a dialect has no part {name:?}"))),
        None => Ok(()),
    }
}

/// Sets one part of a dialect.
type Change = fn(&mut bytepair::Dialect, &Bound<'_, PyAny>) -> PyResult<()>;

/// The parts that can be set, in the order in which they are: a pattern before what becomes of the rest.
const CHANGES: [(&str, Change); 15] = [
    ("unit", |dialect, value| set_unit(&mut dialect.units, &value.extract::<String>()?)),
    ("byte_ids", |dialect, value| {
        dialect.units.unit = Unit::Byte(byte_ids(&value.extract::<String>()?)?);
        Ok(())
    }),
    ("pattern", set_pattern),
    ("pattern_flavour", |dialect, value| {
        let flavour = flavour(&value.extract::<String>()?)?;
        dialect.split.iter_mut().for_each(|stage| stage.pattern.flavour = flavour);
        Ok(())
    }),
    ("unmatched", |dialect, value| {
        let unmatched = unmatched(&value.extract::<String>()?)?;
        for stage in &mut dialect.split {
            *stage = Stage::matches(stage.pattern.clone(), unmatched);
        }
        Ok(())
    }),
    ("normalize", set_normalize),
    ("lowercase", set_lowercase),
    ("end_mark", |dialect, value| {
        let kind = dialect.units.end_mark_kind().unwrap_or(EndMarkKind::Unit);
        let text = value.extract::<Option<String>>()?.filter(|text| !text.is_empty());
        dialect.units.end_mark = text.map(|text| EndMark { text, kind });
        Ok(())
    }),
    ("end_mark_kind", |dialect, value| {
        let kind = end_mark_kind(&value.extract::<String>()?)?;
        dialect.units.end_mark.iter_mut().for_each(|mark| mark.kind = kind);
        Ok(())
    }),
    ("continuing_prefix", |dialect, value| {
        let prefix = value.extract::<Option<String>>()?.filter(|prefix| !prefix.is_empty());
        dialect.units.continuing_prefix = prefix;
        Ok(())
    }),
    ("unknown_token", |dialect, value| {
        let name = value.extract::<Option<String>>()?;
        if name.as_ref().is_some_and(String::is_empty) {
            return Err(raise("TokenizerError", "unknown_token is empty".to_owned()));
        }
        dialect.units.unknown = name;
        Ok(())
    }),
    ("fuse_unknown", |dialect, value| {
        value.extract().map(|fuse| dialect.units.fuse_unknown = fuse)
    }),
    ("byte_fallback", |dialect, value| {
        value.extract().map(|fallback| dialect.units.byte_fallback = fallback)
    }),
    ("ties", |dialect, value| ties(&value.extract::<String>()?).map(|ties| dialect.ties = ties)),
    ("min_count", |dialect, value| {
        number("min_count", value).map(|count| dialect.min_count = count)
    }),
];

fn set_unit(units: &mut Units, name: &str) -> PyResult<()> {
    units.unit = match (name, units.unit) {
        ("character", _) => Unit::Character,
        ("byte", Unit::Character) => Unit::Byte(ByteIds::Printable),
        ("byte", unit) => unit,
        _ => return Err(choice("unit", name, &["byte", "character"])),
    };
    Ok(())
}

/// Lower case has an option of its own: it stays as it is.
fn set_normalize(dialect: &mut bytepair::Dialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let lowers = dialect.normalize.contains(&NormalizeStep::Lowercase);
    dialect.normalize = steps(value)?;
    if lowers && !dialect.normalize.contains(&NormalizeStep::Lowercase) {
        dialect.normalize.insert(0, NormalizeStep::Lowercase);
    }
    Ok(())
}

/// `True` and `"always"`: in training and encoding; `"training"`: there alone; `False`: never.
fn set_lowercase(dialect: &mut bytepair::Dialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let when = match value.extract::<bool>() {
        Ok(true) => "always".to_owned(),
        Ok(false) => "never".to_owned(),
        Err(_) => value.extract::<String>()?,
    };
    dialect.normalize.retain(|step| *step != NormalizeStep::Lowercase);
    let rest = dialect.normalize.clone();
    let lowered = || std::iter::once(NormalizeStep::Lowercase).chain(rest.clone()).collect();
    (dialect.normalize, dialect.normalize_training) = match when.as_str() {
        "always" => (lowered(), None),
        "training" => (rest.clone(), Some(lowered())),
        "never" => (rest.clone(), None),
        other => return Err(choice("lowercase", other, &["always", "training", "never"])),
    };
    Ok(())
}

fn set_pattern(dialect: &mut bytepair::Dialect, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if !value.is_none() {
        dialect.split = stages(value)?;
    }
    Ok(())
}

/// A pattern, the name of one, or a list of either: one stage each.
fn stages(value: &Bound<'_, PyAny>) -> PyResult<Vec<Stage>> {
    let sources = match value.is_instance_of::<PyString>() {
        true => {
            Some(value.extract::<String>()?).into_iter().filter(|one| !one.is_empty()).collect()
        }
        false => value.extract::<Vec<String>>()?,
    };
    let stages = sources.into_iter().flat_map(|source| {
        let own = |source| {
            let pattern = Pattern { source, flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        };
        bytepair::split::named(&source).unwrap_or_else(|| own(source))
    });
    Ok(stages.collect())
}

/// `"nfc"`, `"nfd"`, `"nfkc"`, `"nfkd"`, `"lowercase"`, `("replace", from, to)`, `("prepend", text)` before the
/// text, `("prepend_each", text)` before each segment between added tokens.
fn steps(value: &Bound<'_, PyAny>) -> PyResult<Vec<NormalizeStep>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![step(&[value.extract()?])?]);
    }
    value.try_iter()?.map(|item| step(&words(&item?)?)).collect()
}

fn words(item: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match item.is_instance_of::<PyString>() {
        true => Ok(vec![item.extract()?]),
        false => item.extract(),
    }
}

fn step(words: &[String]) -> PyResult<NormalizeStep> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words[..] {
        ["nfc"] => NormalizeStep::Form(UnicodeForm::Nfc),
        ["nfd"] => NormalizeStep::Form(UnicodeForm::Nfd),
        ["nfkc"] => NormalizeStep::Form(UnicodeForm::Nfkc),
        ["nfkd"] => NormalizeStep::Form(UnicodeForm::Nfkd),
        ["lowercase"] => NormalizeStep::Lowercase,
        ["replace", from, to] if !from.is_empty() => {
            NormalizeStep::Replace { from: from.to_owned(), to: to.to_owned() }
        }
        ["prepend", text] => prepend(text, true),
        ["prepend_each", text] => prepend(text, false),
        _ => {
            let known = [
                "nfc",
                "nfd",
                "nfkc",
                "nfkd",
                "lowercase",
                "(replace, from, to)",
                "(prepend, text)",
                "(prepend_each, text)",
            ];
            return Err(choice("normalize", &words.join(", "), &known));
        }
    })
}

fn prepend(text: &str, only_first: bool) -> NormalizeStep {
    NormalizeStep::Prepend { text: text.to_owned(), only_first, unless_there: false }
}

fn byte_ids(name: &str) -> PyResult<ByteIds> {
    match name {
        "printable" => Ok(ByteIds::Printable),
        "value" => Ok(ByteIds::Value),
        _ => Err(choice("byte_ids", name, &["printable", "value"])),
    }
}

fn unmatched(name: &str) -> PyResult<Unmatched> {
    match name {
        "keep" => Ok(Unmatched::Keep),
        "drop" => Ok(Unmatched::Drop),
        _ => Err(choice("unmatched", name, &["keep", "drop"])),
    }
}

fn flavour(name: &str) -> PyResult<Flavour> {
    match name {
        "rust" => Ok(Flavour::Rust),
        "oniguruma" => Ok(Flavour::Oniguruma),
        _ => Err(choice("pattern_flavour", name, &["rust", "oniguruma"])),
    }
}

fn end_mark_kind(name: &str) -> PyResult<EndMarkKind> {
    match name {
        "unit" => Ok(EndMarkKind::Unit),
        "suffix" => Ok(EndMarkKind::Suffix),
        _ => Err(choice("end_mark_kind", name, &["unit", "suffix"])),
    }
}

fn ties(name: &str) -> PyResult<Ties> {
    match name {
        "smallest_ids" => Ok(Ties::SmallestIds),
        "first_seen" => Ok(Ties::FirstSeen),
        "largest_text" => Ok(Ties::LargestText),
        _ => Err(choice("ties", name, &["smallest_ids", "first_seen", "largest_text"])),
    }
}

fn choice(option: &str, found: &str, known: &[&str]) -> PyErr {
    raise("TokenizerError", format!("{option} must be one of {}, not {found:?}", known.join(", ")))
}

/// List the dialects by name.
///
/// >>> import bytepair
/// >>> "gpt4o" in bytepair.dialects()
/// True
#[pyfunction]
pub(crate) fn dialect_names() -> Vec<&'static str> {
    bytepair::Dialect::names().collect()
}

/// List the split patterns that have a name, for ``pattern=``.
///
/// >>> import bytepair
/// >>> "cl100k" in bytepair.patterns()
/// True
#[pyfunction]
pub(crate) fn pattern_names() -> Vec<String> {
    bytepair::split::names().map(str::to_owned).collect()
}
