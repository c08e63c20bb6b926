//! The published encodings whose files hold ranks alone: their patterns and special tokens.
//!
//! A file of ranks says neither. What its publisher's program adds stands here, and how the file is
//! recognised: by the number of its lines and by the last of them, which hold for one published file. Where
//! several encodings share a file, its name decides, or the caller. Left out: the special tokens around a
//! text, which these programs put there on request alone, and the pieces into which some of them cut very
//! long texts (400,000 characters) beforehand.
//!
//! Patterns are facts about those models. Recognising a file costs one pass over it.

use memchr::memchr_iter;

use super::tiktoken;
use crate::error::{Error, Result};
use crate::split::{self, Flavour, Pattern, Stage, Unmatched};
use crate::tokenizer::Tokenizer;
use crate::vocabulary::TokenId;

/// A published encoding.
#[derive(Debug)]
struct Encoding {
    /// The name under which it is known.
    name: &'static str,
    /// Names of files, without their endings, that mean it.
    file_names: &'static [&'static str],
    file: KnownFile,
    pattern: &'static str,
    /// Special tokens with their ids, for a file of this many tokens.
    special_tokens: fn(TokenId) -> Vec<(String, TokenId)>,
}

/// How a file is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownFile {
    n_tokens: TokenId,
    last_line: &'static str,
}

const R50K: KnownFile = KnownFile { n_tokens: 50_256, last_line: "IGdhemVk 50255" };
const P50K: KnownFile =
    KnownFile { n_tokens: 50_280, last_line: "ICAgICAgICAgICAgICAgICAgICAgICAgIA== 50280" };
const CL100K: KnownFile = KnownFile { n_tokens: 100_256, last_line: "IENvbnZleW9y 100255" };
const O200K: KnownFile = KnownFile { n_tokens: 199_998, last_line: "IGNvY29z 199997" };
const LLAMA3: KnownFile = KnownFile { n_tokens: 128_000, last_line: "6ZSm 127999" };
const LLAMA4: KnownFile = KnownFile { n_tokens: 200_000, last_line: "KGdl 199999" };
const QWEN: KnownFile = KnownFile { n_tokens: 151_643, last_line: "4r2X 151642" };
const KIMI: KnownFile = KnownFile { n_tokens: 163_584, last_line: "6Ieq5Li75oCn 163583" };
const WHISPER: KnownFile = KnownFile { n_tokens: 50_257, last_line: "= 50256" };

/// Qwen's pattern, as its program for files of ranks has it.
const QWEN_PATTERN: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Kimi's pattern.
const KIMI_PATTERN: &str = concat!(
    r"[\p{Han}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Of several with one file, the first is meant where the name of the file says nothing.
const ENCODINGS: &[Encoding] = &[
    Encoding {
        name: "r50k_base",
        file_names: &["r50k_base"],
        file: R50K,
        pattern: "gpt2",
        special_tokens: |_| fixed(&[("<|endoftext|>", 50_256)]),
    },
    Encoding {
        name: "whisper_gpt2",
        file_names: &["gpt2"],
        file: R50K,
        pattern: "gpt2",
        special_tokens: |n_tokens| whisper(n_tokens, 99),
    },
    Encoding {
        name: "p50k_base",
        file_names: &["p50k_base"],
        file: P50K,
        pattern: "gpt2",
        special_tokens: |_| fixed(&[("<|endoftext|>", 50_256)]),
    },
    Encoding {
        name: "p50k_edit",
        file_names: &["p50k_edit"],
        file: P50K,
        pattern: "gpt2",
        special_tokens: |_| {
            fixed(&[
                ("<|endoftext|>", 50_256),
                ("<|fim_prefix|>", 50_281),
                ("<|fim_middle|>", 50_282),
                ("<|fim_suffix|>", 50_283),
            ])
        },
    },
    Encoding {
        name: "cl100k_base",
        file_names: &["cl100k_base"],
        file: CL100K,
        pattern: "cl100k",
        special_tokens: |_| {
            fixed(&[
                ("<|endoftext|>", 100_257),
                ("<|fim_prefix|>", 100_258),
                ("<|fim_middle|>", 100_259),
                ("<|fim_suffix|>", 100_260),
                ("<|endofprompt|>", 100_276),
            ])
        },
    },
    Encoding {
        name: "o200k_base",
        file_names: &["o200k_base"],
        file: O200K,
        pattern: "o200k",
        special_tokens: |_| fixed(&[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)]),
    },
    Encoding {
        name: "o200k_harmony",
        file_names: &["o200k_harmony"],
        file: O200K,
        pattern: "o200k",
        special_tokens: |_| harmony(),
    },
    Encoding {
        name: "llama3",
        file_names: &["llama3"],
        file: LLAMA3,
        pattern: "llama3",
        special_tokens: |n_tokens| llama(n_tokens, &LLAMA3_SPECIALS, 5),
    },
    Encoding {
        name: "llama3.1",
        file_names: &["llama3.1"],
        file: LLAMA3,
        pattern: "llama3",
        special_tokens: |n_tokens| llama(n_tokens, &LLAMA31_SPECIALS, 3),
    },
    Encoding {
        name: "llama4",
        file_names: &["llama4"],
        file: LLAMA4,
        pattern: "o200k",
        special_tokens: llama4,
    },
    Encoding {
        name: "qwen",
        file_names: &["qwen"],
        file: QWEN,
        pattern: QWEN_PATTERN,
        special_tokens: qwen,
    },
    Encoding {
        name: "kimi_k2",
        file_names: &["kimi_k2", "tiktoken"],
        file: KIMI,
        pattern: KIMI_PATTERN,
        special_tokens: kimi,
    },
    Encoding {
        name: "whisper_multilingual",
        file_names: &["multilingual"],
        file: WHISPER,
        pattern: "gpt2",
        special_tokens: |n_tokens| whisper(n_tokens, 99),
    },
    Encoding {
        name: "whisper_multilingual_v3",
        file_names: &["multilingual_v3"],
        file: WHISPER,
        pattern: "gpt2",
        special_tokens: |n_tokens| whisper(n_tokens, 100),
    },
];

/// Llama 3's special tokens up to the rest that is reserved.
const LLAMA3_SPECIALS: [&str; 10] = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|reserved_special_token_2|>",
    "<|reserved_special_token_3|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|reserved_special_token_4|>",
    "<|eot_id|>",
];

/// Those of Llama 3.1 and later.
const LLAMA31_SPECIALS: [&str; 11] = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|reserved_special_token_2|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
];

/// How many ids Llama 4's program reserves.
const N_LLAMA4_SPECIALS: usize = 2048;

/// How many special tokens Llama 3 reserves in all.
const N_LLAMA_SPECIALS: usize = 256;

/// Kimi K2's special tokens, by their distance from the first; the others are reserved.
const KIMI_SPECIALS: [(TokenId, &str); 17] = [
    (0, "[BOS]"),
    (1, "[EOS]"),
    (2, "<|im_end|>"),
    (3, "<|im_user|>"),
    (4, "<|im_assistant|>"),
    (6, "<|start_header_id|>"),
    (7, "<|end_header_id|>"),
    (9, "[EOT]"),
    (10, "<|im_system|>"),
    (11, "<|tool_calls_section_begin|>"),
    (12, "<|tool_calls_section_end|>"),
    (13, "<|tool_call_begin|>"),
    (14, "<|tool_call_argument_begin|>"),
    (15, "<|tool_call_end|>"),
    (17, "<|im_middle|>"),
    (254, "[UNK]"),
    (255, "[PAD]"),
];

/// How many ids Kimi K2's program reserves.
const N_KIMI_SPECIALS: TokenId = 258;

/// Whisper's languages, in the order of their ids.
const WHISPER_LANGUAGES: &str = "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el \
    ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn \
    bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo \
    tl mg as tt haw ln ha ba jw su yue";

/// Every name that [`read`] knows.
///
/// ```
/// assert!(bytepair::format::encodings::names().any(|name| name == "o200k_harmony"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    ENCODINGS.iter().map(|encoding| encoding.name)
}

/// The name of the published encoding that a file of ranks belongs to.
///
/// `file_name` is the name of the file without its ending; it decides where encodings share a file, and may
/// be empty.
pub fn recognise(file: &[u8], file_name: &str) -> Option<&'static str> {
    let candidates: Vec<_> =
        ENCODINGS.iter().filter(|encoding| encoding.file.is_this(file)).collect();
    let named = candidates.iter().find(|encoding| encoding.file_names.contains(&file_name));
    named.or(candidates.first()).map(|encoding| encoding.name)
}

/// The tokenizer of a file of ranks, with pattern and special tokens of a named encoding.
///
/// `renamed` are the special tokens of some ids, where the publisher keeps them in a file of their own.
///
/// # Errors
/// Where no encoding has the name, or the file is not the one of this encoding; otherwise as
/// [`tiktoken::read`].
pub fn read(file: &[u8], name: &str, renamed: &[(TokenId, String)]) -> Result<Tokenizer> {
    let Some(encoding) = ENCODINGS.iter().find(|encoding| encoding.name == name) else {
        let known: Vec<_> = names().collect();
        let problem = format!("{name:?} is not known; known are {}", known.join(", "));
        return Err(Error::option("encoding", problem));
    };
    if !encoding.file.is_this(file) {
        let problem = format!("not the {} tokens of {name}", encoding.file.n_tokens);
        return Err(Error::format(tiktoken::FORMAT, "the file", problem));
    }
    let mut special_tokens = (encoding.special_tokens)(encoding.file.n_tokens);
    for (content, id) in &mut special_tokens {
        if let Some((_, other)) = renamed.iter().find(|(renamed_id, _)| renamed_id == id) {
            content.clone_from(other);
        }
    }
    tiktoken::read(file, encoding.split(), &special_tokens)
}

impl Encoding {
    fn split(&self) -> Vec<Stage> {
        split::named(self.pattern).unwrap_or_else(|| {
            let pattern = Pattern { source: self.pattern.to_owned(), flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        })
    }
}

impl KnownFile {
    fn is_this(self, file: &[u8]) -> bool {
        let file = file.trim_ascii_end();
        let last_line = file.rsplit(|&byte| byte == b'\n').next();
        last_line == Some(self.last_line.as_bytes())
            && memchr_iter(b'\n', file).count() + 1 == self.n_tokens as usize
    }
}

fn fixed(tokens: &[(&str, TokenId)]) -> Vec<(String, TokenId)> {
    tokens.iter().map(|(content, id)| ((*content).to_owned(), *id)).collect()
}

/// Tokens with ids in a row.
fn row(first_id: TokenId, contents: impl Iterator<Item = String>) -> Vec<(String, TokenId)> {
    contents.zip(first_id..).collect()
}

fn harmony() -> Vec<(String, TokenId)> {
    let named = [
        (199_998, "<|startoftext|>"),
        (199_999, "<|endoftext|>"),
        (200_002, "<|return|>"),
        (200_003, "<|constrain|>"),
        (200_005, "<|channel|>"),
        (200_006, "<|start|>"),
        (200_007, "<|end|>"),
        (200_008, "<|message|>"),
        (200_012, "<|call|>"),
    ];
    let content = |id: TokenId| match named.iter().find(|(named_id, _)| *named_id == id) {
        Some((_, content)) => (*content).to_owned(),
        None => format!("<|reserved_{id}|>"),
    };
    let mut tokens = vec![("<|endofprompt|>".to_owned(), 200_018)];
    tokens.extend(row(199_998, (199_998..201_088).map(content)));
    tokens
}

fn llama(n_tokens: TokenId, first: &[&str], n_named: usize) -> Vec<(String, TokenId)> {
    let reserved = |number: usize| format!("<|reserved_special_token_{number}|>");
    let n_reserved = N_LLAMA_SPECIALS - first.len();
    let first = first.iter().map(|content| (*content).to_owned());
    row(n_tokens, first.chain((n_named..n_named + n_reserved).map(reserved)))
}

fn llama4(n_tokens: TokenId) -> Vec<(String, TokenId)> {
    let listed = |names: &str| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let reserved = |kind: &str, numbers: std::ops::Range<usize>| {
        numbers.map(|number| format!("{kind}reserved_special_token_{number}")).collect::<Vec<_>>()
    };
    let mut names = [
        listed("begin_of_text end_of_text fim_prefix fim_middle fim_suffix"),
        listed("header_start header_end eom eot step"),
        reserved("text_post_train_", 0..6),
        listed("python_start python_end finetune_right_pad"),
        reserved("text_post_train_", 8..69),
        listed("image_start image_end"),
        reserved("vision_", 0..2),
        listed("tile_x_separator tile_y_separator"),
        reserved("vision_", 2..6),
        listed("image"),
        reserved("vision_", 6..7),
        listed("patch"),
        reserved("vision_", 7..1048),
        reserved("reasoning_", 0..8),
        listed("reasoning_thinking_start reasoning_thinking_end"),
    ]
    .concat();
    names.extend(reserved("", 0..N_LLAMA4_SPECIALS - names.len()));
    row(n_tokens, names.into_iter().map(|name| format!("<|{name}|>")))
}

fn qwen(n_tokens: TokenId) -> Vec<(String, TokenId)> {
    let first = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(str::to_owned);
    let extra = (0..205).map(|number| format!("<|extra_{number}|>"));
    row(n_tokens, first.into_iter().chain(extra))
}

fn kimi(n_tokens: TokenId) -> Vec<(String, TokenId)> {
    let content = |id: TokenId| {
        let named = KIMI_SPECIALS.iter().find(|(distance, _)| n_tokens + distance == id);
        named.map_or_else(|| format!("<|reserved_token_{id}|>"), |(_, name)| (*name).to_owned())
    };
    row(n_tokens, (n_tokens..n_tokens + N_KIMI_SPECIALS).map(content))
}

fn whisper(n_tokens: TokenId, n_languages: usize) -> Vec<(String, TokenId)> {
    let first = ["endoftext", "startoftranscript"].map(str::to_owned);
    let languages = WHISPER_LANGUAGES.split_whitespace().take(n_languages).map(str::to_owned);
    let tasks = ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
        .map(str::to_owned);
    let times = (0..1501).map(|step| format!("{}.{:02}", step / 50, step % 50 * 2));
    let names = first.into_iter().chain(languages).chain(tasks).chain(times);
    row(n_tokens, names.map(|name| format!("<|{name}|>")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> std::collections::HashMap<String, TokenId> {
        let encoding = ENCODINGS.iter().find(|encoding| encoding.name == name).unwrap();
        (encoding.special_tokens)(encoding.file.n_tokens).into_iter().collect()
    }

    #[test]
    fn special_tokens_have_the_ids_of_their_publishers() {
        for (name, content, id) in [
            ("o200k_harmony", "<|call|>", 200_012),
            ("o200k_harmony", "<|endofprompt|>", 200_018),
            ("o200k_harmony", "<|reserved_201087|>", 201_087),
            ("llama3", "<|eot_id|>", 128_009),
            ("llama3", "<|reserved_special_token_250|>", 128_255),
            ("llama3.1", "<|python_tag|>", 128_010),
            ("llama3.1", "<|reserved_special_token_247|>", 128_255),
            ("llama4", "<|text_post_train_reserved_special_token_68|>", 200_079),
            ("llama4", "<|vision_reserved_special_token_1047|>", 201_133),
            ("llama4", "<|reasoning_thinking_end|>", 201_143),
            ("llama4", "<|reserved_special_token_903|>", 202_047),
            ("qwen", "<|extra_204|>", 151_850),
            ("kimi_k2", "<|reserved_token_163589|>", 163_589),
            ("kimi_k2", "[PAD]", 163_839),
            ("whisper_multilingual", "<|transcribe|>", 50_359),
            ("whisper_multilingual", "<|0.00|>", 50_364),
            ("whisper_multilingual", "<|30.00|>", 51_864),
            ("whisper_multilingual_v3", "<|yue|>", 50_358),
            ("whisper_gpt2", "<|0.02|>", 50_364),
        ] {
            assert_eq!(ids(name).get(content), Some(&id), "{name} {content}");
        }
    }

    #[test]
    fn no_encoding_says_a_content_twice_or_takes_the_id_of_a_rank() {
        for encoding in ENCODINGS {
            let tokens = (encoding.special_tokens)(encoding.file.n_tokens);
            let all: std::collections::BTreeMap<_, _> = tokens.iter().cloned().collect();
            assert_eq!(all.len(), tokens.len(), "{}", encoding.name);
            assert!(all.values().all(|id| *id >= encoding.file.n_tokens || *id == 50_256));
        }
    }

    #[test]
    fn a_file_is_recognised_by_what_it_holds() {
        assert_eq!(recognise(b"IQ== 0\nIg== 1\n", "cl100k_base"), None);
        assert_eq!(recognise(b"", "gpt2"), None);
        let error = read(b"IQ== 0\n", "cl100k_base", &[]).unwrap_err().to_string();
        assert!(error.contains("100256 tokens of cl100k_base"), "{error}");
    }
}
