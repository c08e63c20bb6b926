//! A split pattern and a text, cut apart at the first NUL.
//!
//! Any pattern compiles or is refused in both flavours; the pieces of a text are the text, and cutting
//! never takes more steps than the limit allows.

#![no_main]

use bytepair::split::{Flavour, Pattern, Splitter, Stage, Unmatched};
use bytepair::unicode::UnicodeTables;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let cut = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    let text = input.get(cut + 1..).unwrap_or_default();
    let Ok(source) = std::str::from_utf8(&input[..cut]) else { return };
    for flavour in [Flavour::Rust, Flavour::Oniguruma] {
        let pattern = Pattern { source: source.into(), flavour };
        let stage = Stage::matches(pattern, Unmatched::Keep);
        let Ok(splitter) = Splitter::new(vec![stage], &UnicodeTables::latest()) else { continue };
        if let Ok(pieces) = splitter.pieces(text) {
            assert_eq!(pieces.concat(), text);
        }
    }
});
