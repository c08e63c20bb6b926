//! The two files of `.tiktoken`, ranks and sidecar, cut apart at the first NUL.
//!
//! Any bytes give a tokenizer or an error; a tokenizer that loads can be used.

#![no_main]

use bytepair_formats::tiktoken;

libfuzzer_sys::fuzz_target!(|files: &[u8]| {
    let (first, second) = bytepair_fuzz::cut(files);
    bytepair_fuzz::use_if_read(tiktoken::read_with_sidecar(first, second));
});
