//! Small files, written here. Parity with the tokenizers that files are made from is tested from Python.

use std::io::{Cursor, Seek, Write};

use super::read;
use bytepair::Result;
use bytepair::Tokenizer;

/// The key-values of a file, as bytes.
#[derive(Clone, Default)]
struct File {
    n_keys: u64,
    bytes: Vec<u8>,
}

impl File {
    fn key(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.n_keys += 1;
        self.bytes.extend(text(key));
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend_from_slice(value);
        self
    }

    fn text(self, key: &str, value: &str) -> Self {
        self.key(key, 8, &text(value))
    }

    fn texts(self, key: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|value| text(value)).collect::<Vec<_>>();
        self.array(key, 8, &values)
    }

    fn array(self, key: &str, kind: u32, values: &[Vec<u8>]) -> Self {
        let length = (values.len() as u64).to_le_bytes();
        let value = [kind.to_le_bytes().as_slice(), &length, &values.concat()].concat();
        self.key(key, 9, &value)
    }

    fn bytes(&self) -> Vec<u8> {
        let head = [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &0_u64.to_le_bytes()].concat();
        [head.as_slice(), &self.n_keys.to_le_bytes(), &self.bytes].concat()
    }

    fn read(&self) -> Result<Tokenizer> {
        read(Cursor::new(self.bytes()))
    }
}

fn text(text: &str) -> Vec<u8> {
    [(text.len() as u64).to_le_bytes().as_slice(), text.as_bytes()].concat()
}

fn types(types: &[i32]) -> Vec<Vec<u8>> {
    types.iter().map(|kind| kind.to_le_bytes().to_vec()).collect()
}

fn scoring(n_bytes: u32) -> File {
    let names: Vec<_> = (0..n_bytes).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut texts: Vec<_> = ["<unk>", "<s>", "▁", "a", "b", "▁a", "ab"].to_vec();
    texts.extend(names.iter().map(String::as_str));
    let kinds = [[2, 3, 1, 1, 1, 1, 1].as_slice(), &vec![6; names.len()]].concat();
    let scores: Vec<_> =
        (0_u16..).zip(&texts).map(|(id, _)| (-f32::from(id)).to_le_bytes().to_vec()).collect();
    File::default()
        .text("tokenizer.ggml.model", "llama")
        .texts("tokenizer.ggml.tokens", &texts)
        .array("tokenizer.ggml.token_type", 5, &types(&kinds))
        .array("tokenizer.ggml.scores", 6, &scores)
        .key("tokenizer.ggml.bos_token_id", 4, &1_u32.to_le_bytes())
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = |file: &File| file.read().unwrap_err().to_string();
    for name in ["bert", "t5", "rwkv", "plamo2"] {
        let file = File::default()
            .text("tokenizer.ggml.model", name)
            .texts("tokenizer.ggml.tokens", &["a"]);
        assert!(refused(&file).contains(name));
    }
    let unknown = File::default()
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "no-such")
        .texts("tokenizer.ggml.tokens", &["a"]);
    assert!(refused(&unknown).contains("no-such"));
    assert!(refused(&scoring(255)).contains("255 of the 256"));
    assert!(
        refused(&scoring(256).key("tokenizer.ggml.add_eos_token", 7, &[1]))
            .contains("eos_token_id")
    );
    let twice = scoring(256).text("tokenizer.ggml.model", "llama");
    assert!(refused(&twice).contains("twice"));
    assert!(refused(&File::default()).contains("tokenizer.ggml.tokens"));
    let deep = File::default().key("general.x", 9, &9_u32.to_le_bytes().repeat(3).repeat(1000));
    assert!(deep.read().is_err());
}

/// A file of these bytes and a terabyte after them that no disk holds: it reads as zeros.
fn with_hole(bytes: &[u8]) -> std::fs::File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(1 << 40).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn values_of_any_key_that_are_nothing_but_a_hole_are_refused() {
    let number = |number: u64| number.to_le_bytes().to_vec();
    let of_kind = |kind: u32, length| [kind.to_le_bytes().to_vec(), number(length)].concat();
    for (key, kind, value, problem) in [
        ("tokenizer.ggml.model", 8, number(1 << 38), "a text of"),
        ("tokenizer.ggml.tokens", 9, of_kind(8, 1 << 35), "an array of"),
        ("tokenizer.ggml.scores", 9, of_kind(6, 1 << 36), "an array of"),
        ("other.text", 8, number(1 << 38), "a text of"),
        ("other.texts", 9, of_kind(8, 1 << 36), "an array of"),
        ("other.numbers", 9, of_kind(10, 1 << 61), "an array of"),
    ] {
        let file = with_hole(&File::default().key(key, kind, &value).bytes());
        let error = read(std::io::BufReader::new(file)).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(problem), "{error}");
    }
}
