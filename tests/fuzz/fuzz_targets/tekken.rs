//! A `tekken.json`.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::tekken;

libfuzzer_sys::fuzz_target!(|file: &[u8]| bytepair_fuzz::use_if_read(tekken::read(file)));
