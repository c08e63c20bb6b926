//! A tokenizer as it lies in memory.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::compiled;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    if let Ok(tokenizer) = compiled::read(file) {
        bytepair_fuzz::use_it(&tokenizer);
    }
});
