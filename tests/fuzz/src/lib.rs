//! What the targets share: texts, and what is done with a tokenizer that was loaded.

use bytepair_formats::{compiled, native};
use bytepair::{DecodeStream, EncodeOptions, Tokenizer};
use bytepair::added::Specials;
use bytepair::decode::DecodeErrors;
use bytepair::vocabulary::TokenId;

/// Texts of all kinds, most of them short, so that a round stays quick.
const TEXTS: [&[u8]; 7] = [
    b"",
    b"a b  c\n\n d'll 123 <s>",
    "日本 é e\u{301} 👍🏽 \u{0}".as_bytes(),
    "▁Ġ<0x41></w> aaaaaaaa".as_bytes(),
    "  \t<|end|><mask> \u{FFFD}İß \u{FDFA}".as_bytes(),
    b"\xFFa\xE2\x96",
    &[b'a'; N_LONG],
];

/// More symbols than are merged by scanning.
const N_LONG: usize = 99;

/// Files larger than this are not written and read again.
const MAX_WRITTEN: usize = 1 << 16;

/// Cuts bytes apart at the first NUL.
pub fn cut(files: &[u8]) -> (&[u8], &[u8]) {
    let place = files.iter().position(|&byte| byte == 0).unwrap_or(files.len());
    (&files[..place], files.get(place + 1..).unwrap_or_default())
}

/// Uses a tokenizer if one was read.
pub fn use_if_read<E>(found: Result<Tokenizer, E>) {
    if let Ok(tokenizer) = found {
        use_it(&tokenizer);
    }
}

/// Encodes and decodes in every way, and writes: errors are fine, panics and disagreements are not.
fn use_it(tokenizer: &Tokenizer) {
    let plain = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
    let special = EncodeOptions { add_special_tokens: true, fit_length: Some(false), ..plain };
    for text in TEXTS {
        for options in [plain, special] {
            let ids = tokenizer.encode(text, options);
            let full = tokenizer.encode_full(text, None, options);
            assert_eq!(ids.is_ok(), full.is_ok());
            let (Ok(ids), Ok(full)) = (ids, full) else { continue };
            assert_eq!(ids, full.ids);
            decode(tokenizer, &ids);
        }
        let _ = tokenizer.encode_full(text, Some(b"x y"), special);
        let _ = tokenizer.split(text);
        let _ = tokenizer.tokenize(text, plain);
    }
    write(tokenizer);
}

/// All at once, and a token at a time.
fn decode(tokenizer: &Tokenizer, ids: &[TokenId]) {
    let _ = tokenizer.decode_bytes(ids);
    let whole = tokenizer.decode(ids, DecodeErrors::Replace, false).expect("the ids are known");
    let mut stream = DecodeStream::new(DecodeErrors::Replace, false);
    let mut parts = String::new();
    for &id in ids {
        parts.push_str(&stream.push(tokenizer, id).expect("the id is known"));
    }
    parts.push_str(&stream.finish().expect("nothing is strict"));
    assert_eq!(parts, whole);
}

/// What was read can be written in our own formats, and they say the same.
fn write(tokenizer: &Tokenizer) {
    let file = native::write(tokenizer);
    if file.len() > MAX_WRITTEN {
        return;
    }
    let again = native::read(&file).expect("we wrote it");
    assert_eq!(native::write(&again), file);
    let file = compiled::write(tokenizer).expect("a native file could be written");
    compiled::read(&file).expect("we wrote it");
}
