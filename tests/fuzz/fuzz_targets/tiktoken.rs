//! The two files of `.tiktoken`, ranks and sidecar, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::tiktoken;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let cut = files.iter().position(|&byte| byte == 0).unwrap_or(files.len());
    let (first, second) = (&files[..cut], files.get(cut + 1..).unwrap_or_default());
    if let Ok(tokenizer) = tiktoken::read_with_sidecar(first, second) {
        bytepair_fuzz::use_it(&tokenizer);
    }
});
