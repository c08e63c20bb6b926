//! GPT-1's vocabulary and merges, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::pair;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let (first, second) = bytepair_fuzz::cut(files);
    bytepair_fuzz::use_if_read(pair::read_gpt1(first, second));
});
