//! The published encodings whose files hold only ranks: their patterns and special tokens.
//!
//! This module holds what the publisher's program adds to a file of ranks, and how to recognise the file: by its number
//! of lines, its last line, and the SHA-256 of all lines. A part of such a file is refused, and so is a file with changed
//! lines. If several encodings share a file, the one with its file name is meant, or the one that has the special tokens
//! of the settings beside it. If neither decides, the caller does. Left out: the special tokens that these programs put
//! around a text on request, and the pieces into which some of them cut very long texts (400,000 characters) beforehand.
//!
//! The data of each encoding is in `published.json`; patterns and tokens are facts about those models. Special tokens are
//! listed there as rows of consecutive ids from `first` on: `names` separated by spaces, or the `numbers` from one up to
//! but not including another, each in the place of `{}`, or Whisper's `times`, 50 for each second. Recognising a file
//! takes a few passes over it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr_iter};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::tiktoken;
use crate::hexadecimal;
use bytepair::Tokenizer;
use bytepair::units::{ByteIds, byte_order};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};
use bytepair_split::{Flavour, Pattern, Stage, Unmatched};

/// The first line of every published file.
const FIRST_LINE: &[u8] = b"IQ== 0";

/// A published encoding.
#[derive(Debug, Deserialize)]
struct Encoding {
    /// Its name.
    name: String,
    /// The name of its file, among the known files.
    file: String,
    /// The name of a pattern, or a pattern.
    pattern: String,
    /// Special tokens. If several have the same id, the first is its name.
    special_tokens: Vec<Specials>,
}

/// How a file is recognised.
#[derive(Debug, Deserialize)]
struct KnownFile {
    n_tokens: usize,
    last_line: String,
    /// The SHA-256 of the lines, each with a line feed at its end, in hexadecimal digits.
    sha256: String,
    /// Other lines, at increasing distances between their ranks, which identify a file that was cut off. Empty if they
    /// are not known here.
    lines: Vec<String>,
}

/// Special tokens with consecutive ids.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Specials {
    Names { first: TokenId, form: String, names: String },
    Numbers { first: TokenId, form: String, numbers: [usize; 2] },
    Times { first: TokenId, times: usize },
}

#[derive(Debug, Default, Deserialize)]
struct Published {
    files: HashMap<String, KnownFile>,
    encodings: Vec<Encoding>,
}

static PUBLISHED: LazyLock<Published> =
    LazyLock::new(|| serde_json::from_str(include_str!("published.json")).unwrap_or_default());

fn encodings() -> impl Iterator<Item = &'static Encoding> {
    PUBLISHED.encodings.iter()
}

/// Every name that [`read`] knows.
///
/// ```
/// assert!(bytepair_formats::encodings::names().any(|name| name == "o200k_harmony"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    encodings().map(|encoding| encoding.name.as_str())
}

/// The names of the published encodings that a file of ranks may belong to: none, one, or several if they share the file.
///
/// `file_name` is the name of the file without its extension, and may be empty. A file with the name of an encoding
/// belongs to that encoding. `renamed` are the special tokens of settings beside the file, as for [`read`]. If some
/// encodings have all of these tokens, the file belongs to one of them. Encodings that do not differ with these tokens
/// count as one.
#[must_use]
pub fn recognise(file: &[u8], file_name: &str, renamed: &[(TokenId, String)]) -> Vec<&'static str> {
    let candidates: Vec<_> = encodings().filter(|encoding| encoding.is_in(file)).collect();
    if let Some(named) = candidates.iter().find(|encoding| encoding.name == file_name) {
        return vec![&named.name];
    }
    let has_all = |encoding: &&&Encoding| {
        let own: HashMap<_, _> =
            encoding.special_tokens().into_iter().map(|(content, id)| (id, content)).collect();
        renamed.iter().all(|(id, content)| own.get(id) == Some(content))
    };
    let with_all: Vec<_> = candidates.iter().filter(has_all).copied().collect();
    let candidates = if with_all.is_empty() { candidates } else { with_all };
    let mut found: Vec<&Encoding> = Vec::new();
    for encoding in candidates {
        let is_same = |other: &&Encoding| {
            other.pattern == encoding.pattern && other.renamed(renamed) == encoding.renamed(renamed)
        };
        if !found.iter().any(is_same) {
            found.push(encoding);
        }
    }
    found.into_iter().map(|encoding| encoding.name.as_str()).collect()
}

/// Reads the tokenizer of a file of ranks, with the pattern and the special tokens of a named encoding.
///
/// `renamed` are the special tokens of some ids, if the publisher keeps them in a separate file.
///
/// # Errors
/// If no encoding has the name, or the file is not that of the encoding, and as [`tiktoken::read`].
pub fn read(file: &[u8], name: &str, renamed: &[(TokenId, String)]) -> Result<Tokenizer> {
    let Some(encoding) = encodings().find(|encoding| encoding.name == name) else {
        let known: Vec<_> = names().collect();
        let problem = format!("{name:?} is not known; known are {}", known.join(", "));
        return Err(Error::option("encoding", problem));
    };
    if !encoding.is_in(file) {
        check_whole(file, name, false)?;
        let problem = format!("not the {} ranks of {name}", encoding.known().n_tokens);
        return Err(Error::format(tiktoken::FORMAT, "the file", problem));
    }
    tiktoken::read(file, encoding.split(), &encoding.renamed(renamed))
}

/// Refuses a part of a published file, or a changed one.
///
/// A part is recognised by known lines. A part shorter than the 256 bytes with which every published file begins is
/// recognised by those bytes. `file_name` is the name of the file without its extension, and may be empty; it decides if
/// published files begin alike. A vocabulary trained by somebody else may begin like a published one for a few lines, so
/// more lines have to be equal if the caller says how the ranks are split (`has_split`).
///
/// # Errors
/// If lines are missing at the end, at the beginning or within; without `has_split`, also if lines were changed.
pub fn check_whole(file: &[u8], file_name: &str, has_split: bool) -> Result<()> {
    let part = Part::new(file);
    if encodings().any(|encoding| encoding.is_in(file)) || part.lines.is_empty() {
        return Ok(());
    }
    let seems_whole = |encoding: &&Encoding| encoding.known().has_ends_of(file);
    if let Some(like) = encodings().find(seems_whole) {
        if has_split {
            return Ok(());
        }
        let problem = format!(
            "has as many ranks as {}, and the same last one, but others differ: it was changed; fetch it again, \
             or give the split pattern to load these ranks as they are",
            like.name
        );
        return Err(Error::format(tiktoken::FORMAT, "the file", problem));
    }
    let is_named = |encoding: &&Encoding| encoding.name == file_name;
    let is_of = |encoding: &&Encoding| {
        let is_chance = has_split && !is_named(encoding);
        let n_wanted = if is_chance { N_LINES_NO_CHANCE } else { 1 };
        part.is_of(encoding.known(), n_wanted)
    };
    let of: Vec<_> = encodings().filter(is_of).collect();
    let by_name = match of.is_empty() && part.is_of_bytes() {
        true => encodings().find(is_named),
        false => of.iter().copied().find(is_named),
    };
    let mut of = by_name.map_or(of, |encoding| vec![encoding]);
    of.dedup_by_key(|encoding| &encoding.file);
    let whole: Vec<_> = of
        .iter()
        .map(|encoding| format!("the {} ranks of {}", encoding.known().n_tokens, encoding.name))
        .collect();
    let whole = match whole.is_empty() {
        true if part.is_of_bytes() && part.n_whole() < 256 => {
            "the 256 bytes with which every published file begins".to_owned()
        }
        true => return Ok(()),
        false => whole.join(" or "),
    };
    let problem = format!(
        "holds {} of {whole}: it was cut off; fetch it again, or give the split pattern to load these ranks as \
         they are",
        part.n_whole()
    );
    Err(Error::format(tiktoken::FORMAT, "the file", problem))
}

/// This many equal lines, which cover the first 65 merges, are no coincidence.
const N_LINES_NO_CHANCE: usize = 8;

/// The rest of a file, line by line.
struct Part<'f> {
    lines: Vec<&'f [u8]>,
    /// The rank of the first complete line.
    first_rank: usize,
    is_last_broken: bool,
}

impl<'f> Part<'f> {
    fn new(file: &'f [u8]) -> Self {
        let file = without_mark(file);
        let lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        if let [first, second, ..] = lines.as_slice() {
            let is_broken = match (rank(first), rank(second)) {
                (Some(0), _) => *first != FIRST_LINE,
                (Some(rank), Some(second)) => rank + 1 != second || !has_token(first),
                (rank, _) => rank.is_none(),
            };
            if is_broken {
                lines.remove(0);
            }
        }
        let first_rank = lines.first().and_then(|line| rank(line)).unwrap_or(0);
        let is_last_broken = !file.ends_with(b"\n")
            && lines.last().is_some_and(|line| rank(line) != Some(first_rank + lines.len() - 1));
        Self { lines, first_rank, is_last_broken }
    }

    /// Whether this is a part of a known file: it is shorter or cut off, and it ends with the last line of that file or
    /// contains at least `n_wanted` of the known lines, all of them equal.
    fn is_of(&self, known: &KnownFile, n_wanted: usize) -> bool {
        let n_known = known.n_tokens;
        if self.lines.len() > n_known || (self.lines.len() == n_known && !self.is_last_broken) {
            return false;
        }
        let has_end = self.lines.last() == Some(&known.last_line.as_bytes());
        let found = known.lines.iter().filter_map(|line| {
            let place = rank(line.as_bytes())?.checked_sub(self.first_rank)?;
            let is_whole = place + usize::from(self.is_last_broken) < self.lines.len();
            is_whole.then(|| self.lines[place] == line.as_bytes())
        });
        let found: Vec<_> = found.collect();
        has_end || (found.len() >= n_wanted && found.iter().all(|is_same| *is_same))
    }

    /// Whether these are the first of the single bytes, in the order of published files.
    fn is_of_bytes(&self) -> bool {
        let order = byte_order(ByteIds::Printable);
        let line = |(rank, byte): (usize, u8)| format!("{} {rank}", STANDARD.encode([byte]));
        let expected = (0..).zip(order).map(line);
        let found = &self.lines[..self.n_whole()];
        (1..=256).contains(&found.len())
            && found.iter().zip(expected).all(|(line, expected)| *line == expected.as_bytes())
    }

    fn n_whole(&self) -> usize {
        self.lines.len() - usize::from(self.is_last_broken)
    }
}

/// A file without the byte order mark that some editors put before it.
fn without_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(b"\xef\xbb\xbf".as_slice()).unwrap_or(file)
}

/// A file in the form in which it is published: without a byte order mark, and with a line feed alone at the end of every
/// line.
fn plain_lines(file: &[u8]) -> Cow<'_, [u8]> {
    let file = without_mark(file);
    if file.ends_with(b"\n") && !file.ends_with(b"\n\n") && memchr(b'\r', file).is_none() {
        return Cow::Borrowed(file);
    }
    let lines = file.trim_ascii_end().split(|&byte| byte == b'\n');
    Cow::Owned(lines.flat_map(|line| [line.trim_ascii_end(), b"\n"]).flatten().copied().collect())
}

/// Whether a line begins with a token in base64.
fn has_token(line: &[u8]) -> bool {
    let encoded = line.split(|&byte| byte == b' ').next().unwrap_or_default();
    STANDARD.decode(encoded).is_ok_and(|token| !token.is_empty())
}

/// The rank of a line.
fn rank(line: &[u8]) -> Option<usize> {
    let place = line.iter().position(|&byte| byte == b' ')?;
    std::str::from_utf8(&line[place + 1..]).ok()?.parse().ok()
}

impl Encoding {
    /// Its special tokens with their ids.
    fn special_tokens(&self) -> Vec<(String, TokenId)> {
        self.special_tokens.iter().flat_map(Specials::tokens).collect()
    }

    /// Its special tokens, with some of them renamed.
    fn renamed(&self, renamed: &[(TokenId, String)]) -> Vec<(String, TokenId)> {
        let mut special_tokens = self.special_tokens();
        for (content, id) in &mut special_tokens {
            if let Some((_, other)) = renamed.iter().find(|(renamed_id, _)| renamed_id == id) {
                content.clone_from(other);
            }
        }
        special_tokens
    }

    fn known(&self) -> &'static KnownFile {
        &PUBLISHED.files[&self.file]
    }

    /// Whether its file is this one.
    fn is_in(&self, file: &[u8]) -> bool {
        self.known().is_this(file)
    }

    fn split(&self) -> Vec<Stage> {
        bytepair_split::named(&self.pattern).unwrap_or_else(|| {
            let pattern = Pattern { source: self.pattern.clone(), flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        })
    }
}

impl Specials {
    /// The tokens with their ids.
    fn tokens(&self) -> Vec<(String, TokenId)> {
        let (first, names): (_, Vec<String>) = match self {
            Self::Names { first, form, names } => {
                (first, names.split_whitespace().map(|name| form.replace("{}", name)).collect())
            }
            Self::Numbers { first, form, numbers: [start, end] } => {
                let named = |number: usize| form.replace("{}", &number.to_string());
                (first, (*start..*end).map(named).collect())
            }
            Self::Times { first, times } => {
                let named = |step| format!("<|{}.{:02}|>", step / 50, step % 50 * 2);
                (first, (0..*times).map(named).collect())
            }
        };
        names.into_iter().zip(*first..).collect()
    }
}

impl KnownFile {
    fn is_this(&self, file: &[u8]) -> bool {
        self.has_ends_of(file) && hexadecimal(&Sha256::digest(plain_lines(file))) == self.sha256
    }

    /// Whether a file has the same number of lines as this one, and the same last line.
    fn has_ends_of(&self, file: &[u8]) -> bool {
        let file = file.trim_ascii_end();
        let last_line = file.rsplit(|&byte| byte == b'\n').next();
        let first_line = file.split(|&byte| byte == b'\n').next();
        last_line == Some(self.last_line.as_bytes())
            && first_line.is_some_and(|line| has_token(without_mark(line)))
            && memchr_iter(b'\n', file).count() + 1 == self.n_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> std::collections::HashMap<String, TokenId> {
        let encoding = encodings().find(|encoding| encoding.name == name).unwrap();
        encoding.special_tokens().into_iter().collect()
    }

    #[test]
    fn special_tokens_have_the_ids_of_their_publishers() {
        for (name, content, id) in [
            ("o200k_harmony", "<|call|>", 200_012),
            ("o200k_harmony", "<|endofprompt|>", 200_018),
            ("o200k_harmony", "<|reserved_201087|>", 201_087),
            ("llama3", "<|eot_id|>", 128_009),
            ("llama3", "<|reserved_special_token_250|>", 128_255),
            ("llama3.1", "<|python_tag|>", 128_010),
            ("llama3.1", "<|reserved_special_token_247|>", 128_255),
            ("llama4", "<|text_post_train_reserved_special_token_68|>", 200_079),
            ("llama4", "<|vision_reserved_special_token_1047|>", 201_133),
            ("llama4", "<|reasoning_thinking_end|>", 201_143),
            ("llama4", "<|reserved_special_token_903|>", 202_047),
            ("qwen", "<|extra_204|>", 151_850),
            ("kimi_k2", "<|reserved_token_163589|>", 163_589),
            ("kimi_k2", "[PAD]", 163_839),
            ("kimi_k3", "<|end_of_msg|>", 163_586),
            ("kimi_k3", "<|reserved_token_163837|>", 163_837),
            ("whisper_multilingual", "<|transcribe|>", 50_359),
            ("whisper_multilingual", "<|0.00|>", 50_364),
            ("whisper_multilingual", "<|30.00|>", 51_864),
            ("whisper_multilingual_v3", "<|yue|>", 50_358),
            ("whisper_gpt2", "<|0.02|>", 50_364),
        ] {
            assert_eq!(ids(name).get(content), Some(&id), "{name} {content}");
        }
    }

    #[test]
    fn no_encoding_says_a_content_twice_or_takes_the_id_of_a_rank() {
        assert_eq!(encodings().count(), 15);
        for encoding in encodings() {
            let tokens = encoding.special_tokens();
            let n_tokens = TokenId::try_from(encoding.known().n_tokens).unwrap();
            let all: std::collections::BTreeMap<_, _> = tokens.iter().cloned().collect();
            assert_eq!(all.len(), tokens.len(), "{}", encoding.name);
            assert!(all.values().all(|id| *id >= n_tokens || *id == 50_256));
        }
    }

    fn published_lines(name: &str) -> Vec<String> {
        let encoding = encodings().find(|encoding| encoding.name == name).unwrap();
        encoding.known().lines.clone()
    }

    #[test]
    fn a_file_is_recognised_by_what_it_holds() {
        // The lines of r50k that are known here are in p50k too, but r50k is no part of p50k.
        let known = &published_lines("r50k_base");
        let filling = "IQ== 0\n".repeat(50_255 - known.len());
        let changed = format!("{}\n{filling}IGdhemVk 50255\n", known.join("\n"));
        assert!(recognise(changed.as_bytes(), "r50k_base", &[]).is_empty());
        let error = check_whole(changed.as_bytes(), "", false).unwrap_err().to_string();
        assert!(error.contains("others differ"), "{error}");
        check_whole(changed.as_bytes(), "", true).unwrap();
    }
}
