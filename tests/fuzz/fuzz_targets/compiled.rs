//! A tokenizer as it lies in memory.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::compiled;

libfuzzer_sys::fuzz_target!(|file: &[u8]| bytepair_fuzz::use_if_read(compiled::read(file)));
