//! Which format a file is of, told by what it holds.
//!
//! A vocabulary and its merges can be two files; [`half_of_pair`] finds one that came without the other. Left out: what other
//! names of files say. Looks at the first bytes and lines. The whole file is searched once if it is a JSON object that none
//! of its first keys gives away, or merges in which no word ends.

use crate::codes::{END_OF_WORD, codes_format};
use crate::{compiled, sentencepiece, tiktoken};

/// How much of a file is searched for its first keys.
const FIRST_KEYS_LEN: usize = 4096;

/// How much of a file shows whether its second line begins another object.
const FIRST_LINES_LEN: usize = 1 << 16;

/// Keys that only a `tokenizer.json` has, and has at its beginning: its vocabulary need not be searched.
const HUGGINGFACE_KEYS: [&[u8]; 3] = [b"\"truncation\"", b"\"padding\"", b"\"added_tokens\""];

/// The names of vocabularies that need a file of merges, each with the name of that file.
pub const PAIRS: [(&str, &str); 3] = [
    ("vocab.json", "merges.txt"),
    ("encoder.json", "vocab.bpe"),
    ("encoder_bpe_40000.json", "vocab_40000.bpe"),
];

/// Marks that begin a token after a space: in GPT-2's letters for bytes, and in SentencePiece's characters.
const SPACES: [&str; 2] = ["\u{120}", "\u{2581}"];

/// The name of the format that a file is of; `None` if it is none of those known.
///
/// Names are those of the modules here; what begins like a JSON object, and is nothing else, counts as `"huggingface"`.
///
/// ```
/// use bytepair_formats::recognise;
/// assert_eq!(recognise(br#"{"version": "1.0", "model": {}}"#), Some("huggingface"));
/// assert_eq!(recognise(b"IQ== 0\n"), Some("tiktoken"));
/// assert_eq!(recognise(b"l o 12\n"), Some("fastbpe"));
/// assert_eq!(recognise(b"Call me Ishmael."), None);
/// assert_eq!(recognise(b"\n"), None);
/// ```
pub fn recognise(file: &[u8]) -> Option<&'static str> {
    let text = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    if file.trim_ascii().is_empty() {
        return None;
    }
    if text.trim_ascii_start().starts_with(b"{") {
        return json_format(file);
    }
    if compiled::is_compiled(file) {
        return Some("compiled");
    }
    match file {
        [0x1F, 0x8B, ..] => return Some("clip"),
        // The version, of which there are few, in either order of bytes.
        [b'G', b'G', b'U', b'F', 1..=15, 0, ..] | [b'G', b'G', b'U', b'F', 0, 0, 0, ..] => {
            return Some("gguf");
        }
        _ if sentencepiece::begins_one(file) => return Some("sentencepiece"),
        _ => {}
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"\"").unwrap_or(line) == b"bpe_simple_vocab_16e6.txt#version: 0.2" {
        true => Some("clip"),
        false if tiktoken::entry(line).is_some() => Some("tiktoken"),
        false => codes_format(file).filter(|_| !is_merges_with_spaces(file)),
    }
}

/// Says what is missing if a file is half of a tokenizer; `None` for any other file.
///
/// A vocabulary is recognised by its content, and so are merges with tokens that begin with a space, such as GPT-2's. Other
/// merges look like codes of subword-nmt, which need no second file; they count as half of a tokenizer only if the file has
/// a name in [`PAIRS`].
///
/// ```
/// use bytepair_formats::half_of_pair;
/// let merges = "#version: 0.2\nl o\nĠ lo\n".as_bytes();
/// assert_eq!(half_of_pair("any.txt", merges).unwrap(), "holds merges without their ids, which are in vocab.json");
/// assert_eq!(half_of_pair("ids.json", b"{\"a\": 0}").unwrap(), "holds ids without their merges, which are in merges.txt");
/// let codes = b"#version: 0.2\nl o\nlo w</w>\n";
/// assert_eq!(half_of_pair("codes.txt", codes), None);
/// assert!(half_of_pair("merges.txt", codes).is_some());
/// ```
pub fn half_of_pair(name: &str, file: &[u8]) -> Option<String> {
    let named = PAIRS.iter().find(|(ids, merges)| name == *ids || name == *merges);
    let (ids, merges) = named.unwrap_or(&PAIRS[0]);
    if is_vocabulary(file) {
        return Some(format!("holds ids without their merges, which are in {merges}"));
    }
    if is_merges_with_spaces(file) {
        return Some(format!("holds merges without their ids, which are in {ids}"));
    }
    let has_name = named.is_some() && name == *merges;
    (has_name && codes_format(file).is_some()).then(|| {
        format!(
            "holds merges without their ids, which are in {ids} (codes of subword-nmt or fastBPE need another name)"
        )
    })
}

/// Whether a file holds merges with tokens that begin with a space, and without end-of-word marks, which codes have.
fn is_merges_with_spaces(file: &[u8]) -> bool {
    let begins_line = |space: &&str| {
        file.starts_with(space.as_bytes()) || holds(file, format!("\n{space}").as_bytes())
    };
    codes_format(file) == Some("subword-nmt")
        && SPACES.iter().any(begins_line)
        && !holds(file, END_OF_WORD.as_bytes())
}

/// Whether a file is a JSON object that begins with the id of a token.
fn is_vocabulary(file: &[u8]) -> bool {
    let text = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file).trim_ascii_start();
    let first = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let Some(key) = first.and_then(|text| text.strip_prefix(b"\"")) else { return false };
    let end = key_len(key);
    let value = key.get(end + 1..).unwrap_or_default().trim_ascii_start().strip_prefix(b":");
    let value = value.unwrap_or_default().trim_ascii_start();
    value.first().is_some_and(u8::is_ascii_digit) && json_format(file) == Some("huggingface")
}

/// The length of a JSON string up to the quote that ends it.
fn key_len(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let ends = |&byte: &u8| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    };
    text.iter().position(ends).unwrap_or(text.len())
}

/// The format of a JSON object; of several on lines of their own, which are a corpus, none.
fn json_format(file: &[u8]) -> Option<&'static str> {
    let start = |len: usize| &file[..file.len().min(len)];
    if holds(start(200), b"\"bytepair\"") {
        return Some("bytepair");
    }
    if HUGGINGFACE_KEYS.iter().any(|key| holds_key(start(FIRST_KEYS_LEN), key)) {
        return Some("huggingface");
    }
    if holds(file, b"\"default_num_special_tokens\"") {
        return Some("tekken");
    }
    let mut lines = start(FIRST_LINES_LEN).splitn(2, |&byte| byte == b'\n');
    let (line, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_lines =
        line.trim_ascii_end().ends_with(b"}") && rest.trim_ascii_start().starts_with(b"{");
    (!is_lines).then_some("huggingface")
}

fn holds(file: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(file, text).is_some()
}

/// Whether a key is there, which a colon follows.
fn holds_key(file: &[u8], key: &[u8]) -> bool {
    memchr::memmem::find_iter(file, key)
        .any(|place| file[place + key.len()..].trim_ascii_start().starts_with(b":"))
}
