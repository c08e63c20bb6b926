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
//! on disk, both ways. `read` makes a tokenizer of a file. The file of a tokenizer is made here: its fields one by one, lists
//! with one entry on each line. Linear in the file, which is held in memory once.

mod read;
mod records;

use serde::Serialize;
use sha2::{Digest, Sha256};

pub use self::read::read;
pub(crate) use self::read::read_head;
use self::records::{RoundRecord, StepRecord, TokenRecord};
use crate::hexadecimal;
use bytepair::vocabulary::{TokenId, Vocabulary};
use bytepair::{Parts, Tokenizer};

/// The name of the format in messages.
const FORMAT: &str = ".bytepair";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 2;

/// The content of a file for a tokenizer.
///
/// ```
/// use bytepair_formats::native;
/// # let mut counts = bytepair::PieceCounts::new();
/// # counts.add(b"low", 5, None)?;
/// # let dialect = bytepair::Dialect::named("gpt2").unwrap();
/// # let options = dialect.train_options(bytepair::Target::Merges(2), vec![]);
/// # let go_on = |_| Ok(std::ops::ControlFlow::Continue(()));
/// # let trained = bytepair::train(&counts, &dialect.units, &options, go_on)?;
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
