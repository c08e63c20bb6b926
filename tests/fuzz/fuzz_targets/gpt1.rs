//! GPT-1's vocabulary and merges, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::pair;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let cut = files.iter().position(|&byte| byte == 0).unwrap_or(files.len());
    let (first, second) = (&files[..cut], files.get(cut + 1..).unwrap_or_default());
    if let Ok(tokenizer) = pair::read_gpt1(first, second) {
        bytepair_fuzz::use_it(&tokenizer);
    }
});
