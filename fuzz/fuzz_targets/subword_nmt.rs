//! Codes of subword-nmt, 0.1 and 0.2.
//!
//! Any bytes give codes or an error.

#![no_main]

use bytepair_formats::subword_nmt;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let _ = subword_nmt::read(file, None);
});
