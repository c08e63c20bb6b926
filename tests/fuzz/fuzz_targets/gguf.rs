//! A GGUF file with the vocabulary of a model.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::gguf;

libfuzzer_sys::fuzz_target!(|file: &[u8]| bytepair_fuzz::use_if_read(gguf::read(std::io::Cursor::new(file))));
