//! Which format a file is of, told by what it holds.
//!
//! Left out: what names of files say, and files that belong together. Looks at the first bytes and lines; only of a JSON
//! object that none of its first keys gives away, the whole is searched once.

use crate::codes::codes_format;
use crate::compiled;

/// So much of a file is looked at for its first keys.
const FIRST_KEYS_LEN: usize = 4096;

/// So much of a file shows whether its second line begins anew.
const FIRST_LINES_LEN: usize = 1 << 16;

/// Keys that only a `tokenizer.json` has, and has at its beginning: its vocabulary need not be searched.
const HUGGINGFACE_KEYS: [&[u8]; 3] = [b"\"truncation\"", b"\"padding\"", b"\"added_tokens\""];

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
        return None; // a SentencePiece model begins with a line feed, too
    }
    if text.trim_ascii_start().starts_with(b"{") {
        return json_format(file);
    }
    if compiled::is_compiled(file) {
        return Some("compiled");
    }
    match file {
        [0x1F, 0x8B, ..] => return Some("clip"),
        [b'G', b'G', b'U', b'F', ..] => return Some("gguf"),
        [b'\n', ..] => return Some("sentencepiece"),
        _ => {}
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"\"").unwrap_or(line) == b"bpe_simple_vocab_16e6.txt#version: 0.2" {
        true => Some("clip"),
        false if is_rank(line) => Some("tiktoken"),
        false => codes_format(file),
    }
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

/// Whether a line is a token in Base64 and its rank. Some published files have `=` for the empty token.
fn is_rank(line: &[u8]) -> bool {
    let Some(space) = line.iter().position(|&byte| byte == b' ') else { return false };
    let (token, rank) = (&line[..space], &line[space + 1..]);
    let letters = token.strip_suffix(b"==").or_else(|| token.strip_suffix(b"=")).unwrap_or(token);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_base64 =
        !token.is_empty() && token.len().is_multiple_of(4) && letters.iter().all(is_letter);
    (token == b"=" || is_base64) && !rank.is_empty() && rank.iter().all(u8::is_ascii_digit)
}
