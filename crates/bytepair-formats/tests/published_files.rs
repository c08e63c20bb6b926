//! Published tokenizer files keep their ids in other formats. That these ids are the publishers' is tested from Python.
//!
//! The files are not part of the repository; where they are missing, a note is printed and nothing is tested.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use std::path::Path;

use bytepair::split::named;
use bytepair::{EncodeOptions, Specials, Tokenizer};
use bytepair_formats::{gpt2, huggingface, native, tiktoken};

const FOLDERS: &str = "gpt2 gpt-neox-20b qwen3 olmo-dolma2 deepseek-v3 mistral-nemo llama2-style minimind \
                       tiny-metaspace-nfkc clip tiny-wordpiece-prefix";

fn file(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vocabularies");
    let file = std::fs::read(folder.join(name)).ok();
    if file.is_none() {
        eprintln!("no published file {name}: nothing is tested");
    }
    file
}

fn ids(tokenizer: &Tokenizer) -> Vec<u32> {
    let text = "It's the  year 2024:\n\n été, 中文字。 🦊 x_y <|endoftext|> low</w> <s>\t\u{301}";
    let options = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
    tokenizer.encode(text.as_bytes(), options).unwrap()
}

fn check_round_trips(name: &str, tokenizer: &Tokenizer) {
    let copy = native::read(&native::write(tokenizer)).unwrap();
    assert_eq!(native::fingerprint(&copy), native::fingerprint(tokenizer), "{name}");
    let copy = huggingface::read(&huggingface::write(tokenizer).unwrap()).unwrap();
    assert_eq!(ids(&copy), ids(tokenizer), "{name}");
}

#[test]
#[ignore = "slow: large files"]
fn published_files_keep_their_ids_in_other_formats() {
    for name in FOLDERS.split(' ') {
        let Some(file) = file(&format!("{name}/tokenizer.json")) else { continue };
        check_round_trips(name, &huggingface::read(&file).unwrap());
    }
    let end = |id| vec![("<|endoftext|>".to_owned(), id)];
    for (name, pattern, specials) in [
        ("tiktoken/p50k_base.tiktoken", "gpt2", end(50256)),
        ("tiktoken/cl100k_base.tiktoken", "cl100k", end(100_257)),
        ("tiktoken/o200k_base.tiktoken", "o200k", end(199_999)),
    ] {
        let Some(file) = file(name) else { continue };
        let tokenizer = tiktoken::read(&file, named(pattern).unwrap(), &specials).unwrap();
        check_round_trips(name, &tokenizer);
        let written = tiktoken::write(&tokenizer).unwrap();
        assert!(written.ranks == file, "{name}");
        let sidecar = tiktoken::read_sidecar(&written.sidecar).unwrap();
        assert_eq!(sidecar.special_tokens, specials, "{name}");
    }
}

#[test]
#[ignore = "slow: large files"]
fn the_two_files_of_gpt2_are_its_tokenizer_json_and_can_be_ranks() {
    let files = ["gpt2/vocab.json", "gpt2/merges.txt", "gpt2/tokenizer.json"].map(file);
    let [Some(vocab), Some(merges), Some(json)] = files else { return };
    let (pair, tokenizer) =
        (gpt2::read(&vocab, &merges).unwrap(), huggingface::read(&json).unwrap());
    assert_eq!(ids(&pair), ids(&tokenizer));
    let written = gpt2::write(&pair).unwrap();
    let copy = gpt2::read(&written.vocab_json, &written.merges_txt).unwrap();
    assert_eq!(native::fingerprint(&copy), native::fingerprint(&pair));
    let written = tiktoken::write(&tokenizer).unwrap();
    let sidecar = tiktoken::read_sidecar(&written.sidecar).unwrap();
    let copy = tiktoken::read(&written.ranks, sidecar.split, &sidecar.special_tokens).unwrap();
    assert_eq!(ids(&copy), ids(&tokenizer));
    let Some(file) = file("olmo-dolma2/tokenizer.json") else { return };
    let error = tiktoken::write(&huggingface::read(&file).unwrap()).unwrap_err().to_string();
    assert!(error.contains("not special"), "{error}");
}
