//! `vocab.json` and `merges.txt`, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::gpt2;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let cut = files.iter().position(|&byte| byte == 0).unwrap_or(files.len());
    let (first, second) = (&files[..cut], files.get(cut + 1..).unwrap_or_default());
    if let Ok(tokenizer) = gpt2::read(first, second) {
        bytepair_fuzz::use_it(&tokenizer);
    }
});
