//! Codes of fastBPE.
//!
//! Any bytes give codes or an error.

#![no_main]

use bytepair_formats::fastbpe;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let _ = fastbpe::read(file, None);
});
