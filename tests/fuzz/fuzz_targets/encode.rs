//! Texts through one tokenizer of bytes.
//!
//! Any bytes encode, and decode to themselves; special tokens change nothing of that.

#![no_main]

use std::sync::LazyLock;

use bytepair::{EncodeOptions, Tokenizer};
use bytepair::added::Specials;
use bytepair_formats::huggingface;

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    huggingface::read(include_bytes!("../tokenizer.json")).expect("make_seeds.py wrote it")
});

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    for allowed_special in [Specials::None, Specials::All] {
        let options = EncodeOptions { allowed_special, ..EncodeOptions::default() };
        let ids = TOKENIZER.encode(text, options).expect("every byte has a token");
        assert_eq!(TOKENIZER.decode_bytes(&ids).expect("ids come from the encoder"), text);
    }
});
