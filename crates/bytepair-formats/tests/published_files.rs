//! Published tokenizer files give the ids that their publishers' own libraries give.
//!
//! The files and the vectors are not part of the repository; where they are missing, a note is printed
//! and nothing is tested.
#![expect(clippy::unwrap_used, clippy::print_stderr, clippy::expect_used, reason = "a test")]

use std::path::PathBuf;

use bytepair::split::{Flavour, Pattern, Stage, Unmatched, named};
use bytepair::{EncodeOptions, Specials, Tokenizer};
use bytepair_formats::{gpt2, huggingface, native, tiktoken};

/// Special tokens and their ids.
type NamedIds = &'static [(&'static str, u32)];

/// Where published files lie, if they are here.
fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !folder.is_dir() {
        eprintln!("no published files in {}: nothing is tested", folder.display());
        return None;
    }
    Some(folder)
}

fn file(name: &str) -> Option<Vec<u8>> {
    std::fs::read(shared()?.join("vocabularies").join(name)).ok()
}

/// Texts and ids of one file.
fn vectors(name: &str) -> Vec<(String, Vec<u32>)> {
    let lines =
        std::fs::read_to_string(shared().expect("asked before").join("vectors/ids.jsonl")).unwrap();
    let records =
        lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let own = records.filter(|record| record["vocabulary"] == name);
    own.map(|record| {
        let text = record["text"].as_str().unwrap().to_owned();
        (text, serde_json::from_value(record["ids"].clone()).unwrap())
    })
    .collect()
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let options = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
    tokenizer.encode(text.as_bytes(), options).unwrap()
}

fn check_vectors(name: &str, tokenizer: &Tokenizer, n_expected: usize) {
    let vectors = vectors(name);
    assert_eq!(vectors.len(), n_expected, "{name}");
    for (text, expected) in &vectors {
        assert_eq!(&ids(tokenizer, text), expected, "{name}: {text:?}");
    }
}

/// The same tokenizer after being written and read again gives the same ids.
fn check_round_trips(name: &str, tokenizer: &Tokenizer) {
    let copy = native::read(&native::write(tokenizer)).unwrap();
    assert_eq!(native::fingerprint(&copy), native::fingerprint(tokenizer), "{name}");
    let copy = huggingface::read(&huggingface::write(tokenizer).unwrap()).unwrap();
    for (text, _) in vectors("gpt2/tokenizer.json") {
        assert_eq!(ids(&copy, &text), ids(tokenizer, &text), "{name}: {text:?}");
    }
}

#[test]
fn tokenizer_json_files_give_the_published_ids() {
    let files = [
        ("gpt2", 188),
        ("gpt-neox-20b", 0),
        ("qwen3", 0),
        ("olmo-dolma2", 0),
        ("deepseek-v3", 141),
        ("mistral-nemo", 141),
        ("llama2-style", 141),
        ("minimind", 0),
        ("tiny-metaspace-nfkc", 141),
        ("clip", 141),
        ("tiny-wordpiece-prefix", 141),
    ];
    for (folder, n_vectors) in files {
        let name = format!("{folder}/tokenizer.json");
        let Some(file) = file(&name) else { continue };
        let tokenizer = huggingface::read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_vectors(&name, &tokenizer, n_vectors);
        check_round_trips(&name, &tokenizer);
    }
}

#[test]
fn files_of_other_models_are_refused_by_name() {
    let files = [
        ("not-bpe/bert-wordpiece.json", "not a byte-pair encoding"),
        ("not-bpe/xlnet-unigram.json", "not a byte-pair encoding"),
    ];
    for (name, part) in files {
        let Some(file) = file(name) else { continue };
        let error = huggingface::read(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
}

#[test]
fn the_two_files_of_gpt2_give_the_published_ids() {
    let (Some(vocab), Some(merges)) = (file("gpt2/vocab.json"), file("gpt2/merges.txt")) else {
        return;
    };
    let tokenizer = gpt2::read(&vocab, &merges).unwrap();
    check_vectors("gpt2/tokenizer.json", &tokenizer, 188);
    assert_eq!(ids(&tokenizer, "This is a sample sentence."), [1212, 318, 257, 6291, 6827, 13]);
    let written = gpt2::write(&tokenizer).unwrap();
    let copy = gpt2::read(&written.vocab_json, &written.merges_txt).unwrap();
    assert_eq!(native::fingerprint(&copy), native::fingerprint(&tokenizer));
}

#[test]
fn tiktoken_files_give_the_published_ids() {
    let whisper: NamedIds = &[("<|endoftext|>", 50257)];
    let gpt2: NamedIds = &[("<|endoftext|>", 50256)];
    let cl100k: NamedIds = &[
        ("<|endoftext|>", 100_257),
        ("<|fim_prefix|>", 100_258),
        ("<|fim_middle|>", 100_259),
        ("<|fim_suffix|>", 100_260),
        ("<|endofprompt|>", 100_276),
    ];
    let o200k: NamedIds = &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)];
    let files: [(&str, &str, NamedIds, usize); 5] = [
        ("tiktoken/r50k_base.tiktoken", "gpt2", gpt2, 64),
        ("tiktoken/p50k_base.tiktoken", "gpt2", gpt2, 204),
        ("tiktoken/cl100k_base.tiktoken", "cl100k", cl100k, 204),
        ("tiktoken/o200k_base.tiktoken", "o200k", o200k, 197),
        ("whisper/multilingual.tiktoken", "gpt2", whisper, 0),
    ];
    for (name, pattern, specials, n_vectors) in files {
        let Some(file) = file(name) else { continue };
        let specials: Vec<_> =
            specials.iter().map(|(token, id)| ((*token).to_owned(), *id)).collect();
        let tokenizer = tiktoken::read(&file, named(pattern).unwrap(), &specials)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        check_vectors(name, &tokenizer, n_vectors);
        check_round_trips(name, &tokenizer);
        let written = tiktoken::write(&tokenizer).unwrap();
        assert!(written.ranks == file, "{name}");
        let sidecar = tiktoken::read_sidecar(&written.sidecar).unwrap();
        assert_eq!(sidecar.special_tokens, specials, "{name}");
    }
}

#[test]
fn a_model_of_hugging_face_can_be_written_for_tiktoken() {
    let Some(file) = file("olmo-dolma2/tokenizer.json") else { return };
    let tokenizer = huggingface::read(&file).unwrap();
    let error = tiktoken::write(&tokenizer).unwrap_err().to_string();
    assert!(error.contains("not special"), "{error}");
    let Some(file) = self::file("gpt2/tokenizer.json") else { return };
    let tokenizer = huggingface::read(&file).unwrap();
    let written = tiktoken::write(&tokenizer).unwrap();
    let sidecar = tiktoken::read_sidecar(&written.sidecar).unwrap();
    let copy = tiktoken::read(&written.ranks, sidecar.split, &sidecar.special_tokens).unwrap();
    check_vectors("gpt2/tokenizer.json", &copy, 188);
}

#[test]
fn a_file_that_is_cut_off_or_changed_is_an_error_or_another_tokenizer_but_never_a_panic() {
    let Some(file) = file("tiny-metaspace-nfkc/tokenizer.json") else { return };
    for length in (0..file.len()).step_by(97) {
        assert!(huggingface::read(&file[..length]).is_err());
    }
    let pattern = Pattern { source: r"\S+".to_owned(), flavour: Flavour::Rust };
    let split = vec![Stage::matches(pattern, Unmatched::Drop)];
    for place in (0..file.len()).step_by(41) {
        for byte in [0, b'"', b'9', b'-', 0xFF] {
            let mut changed = file.clone();
            changed[place] = byte;
            let _ = huggingface::read(&changed);
            let _ = native::read(&changed);
            let _ = gpt2::read(&changed, &changed);
            let _ = tiktoken::read(&changed, split.clone(), &[]);
        }
    }
}

#[test]
fn clips_merges_become_its_published_tokenizer_json() {
    let (Some(packed), Some(published)) =
        (file("clip/bpe_simple_vocab_16e6.txt.gz"), file("clip/tokenizer.json"))
    else {
        return;
    };
    let made = bytepair_formats::clip::tokenizer_json(&packed).unwrap();
    let made: serde_json::Value = serde_json::from_slice(&made).unwrap();
    let mut published: serde_json::Value = serde_json::from_slice(&published).unwrap();
    for merge in published["model"]["merges"].as_array_mut().unwrap() {
        let parts: Vec<_> =
            merge.as_str().map(|line| line.split(' ').collect()).unwrap_or_default();
        if let [left, right] = parts.as_slice() {
            *merge = serde_json::json!([left, right]);
        }
    }
    for (part, value) in published.as_object().unwrap() {
        assert!(made[part] == *value, "{part}");
    }
}
