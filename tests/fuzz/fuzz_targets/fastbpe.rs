//! Codes of fastBPE.
//!
//! Any bytes give codes or an error.

#![no_main]

use bytepair_formats::codes;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let _ = codes::read_fastbpe(file, None);
});
