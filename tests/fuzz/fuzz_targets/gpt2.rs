//! `vocab.json` and `merges.txt`, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::gpt2;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let (first, second) = bytepair_fuzz::cut(files);
    bytepair_fuzz::use_if_read(gpt2::read(first, second));
});
