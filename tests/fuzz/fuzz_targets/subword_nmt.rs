//! Codes of subword-nmt, 0.1 and 0.2.
//!
//! Any bytes give codes or an error.

#![no_main]

use bytepair_formats::codes;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let _ = codes::read_subword_nmt(file, None);
});
