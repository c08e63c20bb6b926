//! The project's own format, `.bytepair`: every tokenizer, whole.
//!
//! One JSON object, with one token and one merge on each line, so that two tokenizers can be compared
//! by `diff`. The same tokenizer gives the same bytes. A token is a string where it is plain text, an
//! object where it has a kind or is not UTF-8, and `null` for an id without a token. Reading checks
//! every id, and refuses fields, versions and Unicode tables that this version of the program lacks.
//!
//! [`fingerprint`] is the SHA-256 of what decides ids and text: all but the counts of the merges.
//!
//! Parts that are plain data are read and written by their own `serde` attributes; `records` has the others as they stand
//! on disk, both ways. The file of a tokenizer is made here: its fields one by one, lists with one entry on each line.
//!
//! Reading checks what the types of the schema cannot say: the version, the Unicode tables, and what added tokens, kinds and
//! steps have to be; `records` checks the tables. Of what can be said in several ways, one is the way of the format, so
//! that what is read is written as it was. A parser of the whole file says where it stopped, not in which field; so the
//! fields of a file that is refused are read one by one once more. Left out: whether the parts fit each other, which
//! [`Tokenizer::new`] checks. Linear in the file, which is held in memory once.

mod records;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::records::{File, RoundRecord, StepRecord, TokenRecord, vocabulary};
use crate::{hexadecimal, json};
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, DecodeStep};
use bytepair::normalize::Normalizer;
use bytepair::pretokenize::PreTokenizer;
use bytepair::template::{OffsetRules, Padding, Template, Truncation};
use bytepair::units::Units;
use bytepair::vocabulary::{TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Parts, Result, Tokenizer};
use bytepair_split::unicode::UnicodeTables;

/// The name of the format in messages.
const FORMAT: &str = ".bytepair";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 2;

/// Why a field of earlier files is refused.
const SCAFFOLD: &str = "tokens that are merged through and never emitted are no longer supported; delete the field and \
                        these tokens are emitted, or remove them afterwards";

/// The content of a file for a tokenizer.
///
/// ```
/// use bytepair_formats::native;
/// # let mut counts = bytepair::count::PieceCounts::new();
/// # counts.add(b"low", 5, None)?;
/// # let dialect = bytepair::dialect::Dialect::named("gpt2").unwrap();
/// # let options = dialect.train_options(bytepair::train::Target::Merges(2), vec![]);
/// # let go_on = |_| Ok(std::ops::ControlFlow::Continue(()));
/// # let trained = bytepair::train::train(&counts, &dialect.units, &options, go_on)?;
/// # let tokenizer = dialect.tokenizer(trained, &options)?;
/// let file = native::write(&tokenizer);
/// let same = native::read(&file)?;
/// assert_eq!(native::fingerprint(&same), native::fingerprint(&tokenizer));
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn write(tokenizer: &Tokenizer) -> Vec<u8> {
    content(tokenizer, Tables::All)
}

/// The content of a file whose tokens and merges are kept elsewhere.
pub(crate) fn write_head(tokenizer: &Tokenizer) -> Vec<u8> {
    content(tokenizer, Tables::None)
}

/// A name for the content: two tokenizers have the same if they give the same ids and the same text.
///
/// The SHA-256, in hexadecimal, of the file without the counts of the merges.
pub fn fingerprint(tokenizer: &Tokenizer) -> String {
    hexadecimal(&Sha256::digest(content(tokenizer, Tables::WithoutCounts)))
}

/// Which of the long lists are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tables {
    All,
    WithoutCounts,
    None,
}

fn content(tokenizer: &Tokenizer, tables: Tables) -> Vec<u8> {
    let Parts {
        normalizer,
        pre_tokenizer,
        units,
        vocabulary,
        added,
        ignore_merges,
        dropout,
        template,
        truncation,
        padding,
        offsets,
        decode,
    } = tokenizer.parts();
    let empty = Vocabulary::new();
    let vocabulary = if tables == Tables::None { &empty } else { vocabulary.as_ref() };
    let mut out = Lines { bytes: Vec::from(b"{"), is_first: true };
    out.field("format", &"bytepair");
    out.field("version", &VERSION);
    out.field("unicode", &normalizer.unicode().version());
    out.list("normalizer", normalizer.steps().iter().map(StepRecord::from));
    out.list("rounds", pre_tokenizer.rounds().iter().map(RoundRecord::from));
    out.field("units", units);
    out.field("ignore_merges", ignore_merges);
    out.field("dropout", dropout);
    out.field("template", template);
    out.field("truncation", truncation);
    out.field("padding", padding);
    out.field("offsets", offsets);
    out.field("decode", decode);
    out.list("added_tokens", added.iter());
    let ids = 0..TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX);
    out.list("tokens", ids.map(|id| vocabulary.token(id).map(TokenRecord::from)));
    out.list(
        "merges",
        vocabulary.merges().iter().map(|merge| [merge.left, merge.right, merge.result]),
    );
    out.list("priorities", vocabulary.priorities().iter());
    let counts = if tables == Tables::All { vocabulary.merge_counts() } else { &[] };
    out.list("merge_counts", counts.iter());
    out.bytes.extend_from_slice(b"\n}\n");
    out.bytes
}

/// A JSON object that is written field by field.
struct Lines {
    bytes: Vec<u8>,
    is_first: bool,
}

impl Lines {
    fn name(&mut self, name: &str) {
        let separator = if std::mem::take(&mut self.is_first) { "" } else { "," };
        self.bytes.extend_from_slice(format!("{separator}\n\"{name}\": ").as_bytes());
    }

    fn value(&mut self, value: &impl Serialize) {
        // Writing to memory cannot fail, and none of the records has keys that are no strings.
        let _ = serde_json::to_writer(&mut self.bytes, value);
    }

    fn field(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        self.value(value);
    }

    fn list<T: Serialize>(&mut self, name: &str, values: impl Iterator<Item = T>) {
        self.name(name);
        self.bytes.push(b'[');
        let mut separator = "\n";
        for value in values {
            self.bytes.extend_from_slice(separator.as_bytes());
            self.value(&value);
            separator = ",\n";
        }
        self.bytes.push(b']');
    }
}

/// The tokenizer of a file.
///
/// # Errors
/// If the file is damaged, or holds what this version does not know.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file = parse("the file", file)?;
    let vocabulary = vocabulary(&file)?;
    assemble(file, vocabulary)
}

/// The tokenizer of a file whose tokens and merges are kept elsewhere.
pub(crate) fn read_head(head: &[u8], vocabulary: Vocabulary) -> Result<Tokenizer> {
    let head = parse("the head", head)?;
    match head.tokens.is_empty()
        && head.merges.is_empty()
        && head.priorities.is_empty()
        && head.merge_counts.is_empty()
    {
        true => assemble(head, vocabulary),
        false => Err(Error::format(FORMAT, "tokens", "appear twice")),
    }
}

fn parse(what: &str, file: &[u8]) -> Result<File> {
    json::parse(FORMAT, what, file).map_err(|error| bad_field(file).unwrap_or(error))
}

fn assemble(file: File, vocabulary: Vocabulary) -> Result<Tokenizer> {
    if file.format != "bytepair" {
        return Err(Error::format(FORMAT, "format", format!("not bytepair but {:?}", file.format)));
    }
    if file.version != VERSION {
        let problem = format!("version {} is not supported, only {VERSION}", file.version);
        return Err(Error::format(FORMAT, "version", problem));
    }
    let unicode = UnicodeTables::of_version(&file.unicode).ok_or_else(|| {
        Error::format(FORMAT, "unicode", format!("no tables for {}", file.unicode))
    })?;
    let n_cutting = file.rounds.iter().map(RoundRecord::n_steps).sum();
    json::check_steps(FORMAT, "normalizer", file.normalizer.len())?;
    json::check_steps(FORMAT, "rounds", file.rounds.len().max(n_cutting))?;
    json::check_steps(FORMAT, "decode", steps(&file.decode).len())?;
    let given = [
        ("normalizer", value(&file.normalizer)),
        ("rounds", value(&file.rounds)),
        ("units", value(&file.units)),
        ("template", value(&file.template)),
        ("decode", value(&file.decode)),
    ];
    check_added(&file.added_tokens)?;
    check_kinds(&file.units, &vocabulary)?;
    let steps = file.normalizer.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
    let round = |record: RoundRecord| record.into_round(unicode);
    let tokenizer = Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        pre_tokenizer: PreTokenizer::new(
            file.rounds.into_iter().map(round).collect::<Result<_>>()?,
        ),
        units: file.units,
        vocabulary: Arc::new(vocabulary),
        added: file.added_tokens,
        ignore_merges: file.ignore_merges,
        dropout: file.dropout,
        template: file.template,
        truncation: file.truncation,
        padding: file.padding,
        offsets: file.offsets,
        decode: sorted(file.decode),
    })
    .map_err(|error| Error::format(FORMAT, "the tokenizer", error.to_string()))?;
    let same =
        given.iter().zip(written(tokenizer.parts())).find(|((_, given), again)| given != again);
    match same {
        Some(((part, _), _)) => {
            Err(Error::format(FORMAT, *part, "is not in the form in which the format has it"))
        }
        None => Ok(tokenizer),
    }
}

/// The fields that can be said in several ways, as they are written.
fn written(parts: &Parts) -> [Value; 5] {
    let Parts { normalizer, pre_tokenizer, units, template, decode, .. } = parts;
    [
        value(&normalizer.steps().iter().map(StepRecord::from).collect::<Vec<_>>()),
        value(&pre_tokenizer.rounds().iter().map(RoundRecord::from).collect::<Vec<_>>()),
        value(units),
        value(template),
        value(decode),
    ]
}

/// A record as a value; none of them has keys that are no strings.
fn value(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

/// Refuses an added token without content, which would stand everywhere, and contents that appear twice. Two tokens may have
/// one id.
fn check_added(tokens: &[AddedToken]) -> Result<()> {
    let mut contents = HashSet::new();
    for AddedToken { id, content, .. } in tokens {
        if content.is_empty() {
            return Err(Error::format(FORMAT, format!("added token {id}"), "has no content"));
        }
        if !contents.insert(content.as_str()) {
            return Err(Error::format(
                FORMAT,
                format!("added_tokens, {content:?}"),
                "appears twice",
            ));
        }
    }
    Ok(())
}

/// Refuses tokens with marks that the units do not have.
fn check_kinds(units: &Units, vocabulary: &Vocabulary) -> Result<()> {
    let (has_prefix, has_mark) = (units.continuing_prefix.is_some(), units.end_mark.is_some());
    if has_prefix && has_mark {
        return Ok(());
    }
    for (id, token) in vocabulary.iter() {
        let TokenKind::Text(form) = token.kind else { continue };
        let missing = match (form.continues() && !has_prefix, form.ends() && !has_mark) {
            (true, _) => "continues a piece, but units have no continuing_prefix",
            (_, true) => "ends a piece, but units have no end_mark",
            (false, false) => continue,
        };
        return Err(Error::format(FORMAT, format!("tokens, kind of token {id}"), missing));
    }
    Ok(())
}

fn steps(decode: &Decode) -> &[DecodeStep] {
    match decode {
        Decode::Chain(chain) => &chain.steps,
        Decode::Rules(_) | Decode::SentencePiece(_) => &[],
    }
}

/// Sorts what has no order.
fn sorted(mut decode: Decode) -> Decode {
    if let Decode::SentencePiece(rules) = &mut decode {
        rules.controls.sort();
    }
    decode
}

/// The error of the first field whose value is not what it should be. Fields that are missing, unknown, or there twice the
/// parser names itself.
fn bad_field(file: &[u8]) -> Option<Error> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(file) else { return None };
    fields.into_iter().find_map(|(name, value)| {
        let problem = problem(&name, value)?;
        Some(Error::format(FORMAT, name, problem.to_string()))
    })
}

fn problem(name: &str, value: Value) -> Option<serde_json::Error> {
    match name {
        "format" | "unicode" => problem_of::<String>(value),
        "version" => problem_of::<u32>(value),
        "normalizer" => problem_of::<Vec<StepRecord>>(value),
        "rounds" => problem_of::<Vec<RoundRecord>>(value),
        "units" => problem_of::<Units>(value),
        "ignore_merges" => problem_of::<bool>(value),
        "scaffold" => Some(serde::de::Error::custom(SCAFFOLD)),
        "dropout" => problem_of::<Option<f64>>(value),
        "template" => problem_of::<Template>(value),
        "truncation" => problem_of::<Option<Truncation>>(value),
        "padding" => problem_of::<Option<Padding>>(value),
        "offsets" => problem_of::<OffsetRules>(value),
        "decode" => problem_of::<Decode>(value),
        "added_tokens" => problem_of::<Vec<AddedToken>>(value),
        "tokens" => problem_of::<Vec<Option<TokenRecord>>>(value),
        "merges" => problem_of::<Vec<[TokenId; 3]>>(value),
        "priorities" => problem_of::<Vec<u32>>(value),
        "merge_counts" => problem_of::<Vec<i64>>(value),
        _ => None,
    }
}

fn problem_of<T: DeserializeOwned>(value: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(value).err()
}
