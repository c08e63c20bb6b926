//! The error type of the crate.
//!
//! An [`Error`] is a box around an [`ErrorKind`]. A kind holds values (an offset, an id, a limit) instead of prose:
//! the message is made when the error is shown, and a caller can act on the values.

use std::fmt;

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was refused. Small: one pointer.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The values of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A pattern that is invalid, or takes too many steps.
    Split(bytepair_split::Error),
    /// Text that is not UTF-8, for a dialect of characters.
    NotUtf8 {
        /// The offset of the first invalid byte in the text.
        offset: u64,
    },
    /// A unit outside the alphabet, with no unknown token and no byte fallback.
    UnknownUnit {
        /// The unit, marks written out.
        unit: String,
    },
    /// Decoded bytes that are not UTF-8, although they have to be.
    DecodedNotUtf8 {
        /// Their offset in the decoded text, in bytes.
        offset: usize,
    },
    /// A text of a batch that failed.
    InBatch {
        /// The index of the text in the batch.
        index: usize,
        /// Its error.
        error: Error,
    },
    /// A segment of a text that failed.
    InSegment {
        /// The index of the segment.
        index: usize,
        /// Its error.
        error: Error,
    },
    /// A special token in a text that does not allow it.
    DisallowedSpecial {
        /// The token.
        token: String,
        /// Whether it is special; other added tokens are disallowed only by name.
        is_special: bool,
        /// Its offset in the text, in bytes.
        offset: usize,
    },
    /// A name that is not a special token of this tokenizer, and, where one may be named, no other added token.
    NotSpecial {
        /// The name.
        name: String,
    },
    /// An id that has no token.
    UnknownId {
        /// The id.
        id: u64,
        /// The number of ids of the vocabulary.
        n_ids: usize,
    },
    /// A second token for one id.
    IdTaken {
        /// The id.
        id: u32,
    },
    /// More tokens than 32-bit ids.
    TooManyTokens,
    /// More tokens, or symbols of a piece, than a table can hold.
    TooLarge {
        /// The problem, as a sentence.
        problem: String,
    },
    /// A vocabulary size that leaves no room for the required tokens.
    VocabularyTooSmall {
        /// The requested size.
        requested: usize,
        /// The number of alphabet, unknown and special tokens.
        needed: usize,
        /// Whether rare characters could be left out of the alphabet.
        may_leave_out: bool,
    },
    /// Nothing to learn from.
    EmptyCorpus,
    /// A count, or a sum of counts, that is out of range.
    Count {
        /// The problem, as a sentence.
        problem: String,
    },
    /// Out of memory.
    OutOfMemory {
        /// How many bytes were requested.
        n_bytes: usize,
    },
    /// A part of a text that cannot be cut and is longer than a limit allows.
    PartTooLong {
        /// Its offset in the text, in bytes.
        offset: u64,
        /// Its first bytes.
        beginning: Vec<u8>,
        /// The longest length allowed, in bytes.
        most: usize,
        /// How to avoid it, as a phrase.
        way_out: &'static str,
    },
    /// A tie rule that needs to know where pieces occur, with counts that do not say so.
    FirstUnknown,
    /// An option that is not consistent with the others.
    Option {
        /// The name of the option.
        name: &'static str,
        /// The problem, as a phrase.
        problem: String,
    },
    /// A file that is damaged, or has content that is not understood.
    Format {
        /// The name of the format.
        format: &'static str,
        /// The part of the file: a field, a line.
        part: String,
        /// The problem, as a phrase.
        problem: String,
    },
    /// A tokenizer with a part that a format cannot express.
    Inexpressible {
        /// The name of the format.
        format: &'static str,
        /// The part of the tokenizer.
        part: String,
    },
    /// Reading failed.
    Read(std::io::Error),
    /// The caller asked to stop.
    Interrupted,
}

/// [`i64::MAX`], as messages show it.
pub(crate) const LARGEST_COUNT: &str = "9,223,372,036,854,775,807 (63 bits)";

impl Error {
    /// The values of this error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// A count of a piece that is negative, or larger than [`i64::MAX`].
    pub fn count_of(piece: &[u8], count: impl fmt::Display) -> Self {
        let (piece, count) = (String::from_utf8_lossy(piece), count.to_string());
        let rule = match count.starts_with('-') {
            true => "; a count must not be negative".to_owned(),
            false => format!(", more than {LARGEST_COUNT}"),
        };
        let problem = format!("the count of the piece {piece:?} is {count}{rule}");
        ErrorKind::Count { problem }.into()
    }

    /// Counts of a piece that add up to more than [`i64::MAX`].
    pub(crate) fn sum_of(piece: &[u8]) -> Self {
        let piece = String::from_utf8_lossy(piece);
        let problem =
            format!("the count of the piece {piece:?} adds up to more than {LARGEST_COUNT}");
        ErrorKind::Count { problem }.into()
    }

    /// This error with its offsets increased by this many bytes, for a text that begins later.
    pub(crate) fn moved_by(mut self, n_bytes: u64) -> Self {
        match &mut *self.0 {
            ErrorKind::NotUtf8 { offset } | ErrorKind::PartTooLong { offset, .. } => {
                *offset += n_bytes;
            }
            ErrorKind::DisallowedSpecial { offset, .. } => {
                *offset = offset.saturating_add(usize::try_from(n_bytes).unwrap_or(usize::MAX));
            }
            ErrorKind::Split(error) => *error = error.clone().moved_by(n_bytes),
            _ => {}
        }
        self
    }

    /// A part of a text that is too long; some of its first bytes are shown.
    pub(crate) fn part_too_long(
        offset: u64,
        part: &[u8],
        most: usize,
        way_out: &'static str,
    ) -> Self {
        let beginning = part[..part.len().min(N_BEGINNING)].to_vec();
        ErrorKind::PartTooLong { offset, beginning, most, way_out }.into()
    }

    /// A file with content that is not understood.
    pub fn format(
        format: &'static str,
        part: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        ErrorKind::Format { format, part: part.into(), problem: problem.into() }.into()
    }

    /// An option that is not consistent with others.
    pub fn option(name: &'static str, problem: impl Into<String>) -> Self {
        ErrorKind::Option { name, problem: problem.into() }.into()
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl From<bytepair_split::Error> for Error {
    #[cold]
    fn from(error: bytepair_split::Error) -> Self {
        ErrorKind::Split(error).into()
    }
}

impl From<std::io::Error> for Error {
    #[cold]
    fn from(error: std::io::Error) -> Self {
        ErrorKind::Read(error).into()
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(formatter)
    }
}

impl fmt::Display for ErrorKind {
    #[expect(clippy::too_many_lines, reason = "one arm for each kind")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Split(error) => write!(f, "{error}"),
            Self::NotUtf8 { offset } => write!(
                f,
                "the text is not UTF-8 at byte {offset}; this tokenizer works on characters: \
                 convert the text to UTF-8, as iconv does, or use a byte-level tokenizer"
            ),
            Self::DecodedNotUtf8 { offset } => write!(
                f,
                "the tokens do not decode to UTF-8: byte {offset} of the text is invalid; use \
                 errors=\"replace\" or decode_bytes"
            ),
            Self::InBatch { index, error } => write!(f, "text {index} of the batch: {error}"),
            Self::InSegment { index, error } => write!(f, "segment {index}: {error}"),
            Self::UnknownUnit { unit } => write!(
                f,
                "{unit:?} is not in the alphabet and nothing stands for it, so the text has no ids; bytepair show and \
                 bytepair stats find such characters, bytepair segment passes them on if the file is codes of \
                 subword-nmt, and a tokenizer that is trained with an unknown token or with byte fallback encodes any text"
            ),
            Self::DisallowedSpecial { token, offset, is_special: false } => write!(
                f,
                "the text contains the added token {token:?} at byte {offset}; leave it out of disallowed_special \
                 to encode it as such, or pass added_tokens=\"text\" instead to encode it as plain text"
            ),
            Self::DisallowedSpecial { token, offset, is_special: true } => write!(
                f,
                "the text contains the special token {token:?} at byte {offset}; pass \
                 allowed_special={{{token:?}}} to encode it as such, or leave it out of disallowed_special \
                 to encode it as plain text"
            ),
            Self::NotSpecial { name } => {
                write!(f, "{name:?} is not a special token of this tokenizer")
            }
            Self::UnknownId { id, n_ids } => {
                write!(f, "no token has the id {id}; the vocabulary has {n_ids} ids, starting at 0")
            }
            Self::IdTaken { id } => write!(f, "two tokens have the id {id}"),
            Self::TooManyTokens => write!(f, "there are more tokens than 32-bit ids"),
            Self::VocabularyTooSmall { requested, needed, may_leave_out } => {
                let way_out = if *may_leave_out {
                    "; ask for more, or leave rare characters out by a character coverage, such as 0.9995 \
                     of the text, or by the size of the alphabet"
                } else {
                    ""
                };
                write!(
                    f,
                    "a vocabulary of {requested} ids is too small: the alphabet and the unknown and \
                     special tokens alone need {needed}{way_out}"
                )
            }
            Self::EmptyCorpus => {
                write!(f, "the corpus is empty: there is no text to learn from")
            }
            Self::Count { problem } | Self::TooLarge { problem } => write!(f, "{problem}"),
            Self::OutOfMemory { n_bytes } => {
                write!(f, "out of memory: there is no room for about {n_bytes} more bytes")
            }
            Self::PartTooLong { offset, beginning, most, way_out } => write!(
                f,
                "the text has no place to cut it in the {most} bytes from byte {offset} on, which begin \
                 {:?}, and so much is the most that is taken at once; {way_out}",
                String::from_utf8_lossy(beginning)
            ),
            Self::FirstUnknown => write!(
                f,
                "the tie rule first_seen needs to know where each piece first occurs, and these \
                 counts do not record it; choose another one"
            ),
            Self::Option { name, problem } => write!(f, "{name}: {problem}"),
            Self::Format { format, part, problem } => write!(f, "{format}: {part}: {problem}"),
            Self::Inexpressible { format, part } => write!(
                f,
                "{format} cannot express {part}; the .bytepair format holds every tokenizer"
            ),
            Self::Read(error) => write!(f, "{error}"),
            Self::Interrupted => write!(f, "interrupted"),
        }
    }
}

/// How many bytes are shown of a part that is too long.
const N_BEGINNING: usize = 24;
