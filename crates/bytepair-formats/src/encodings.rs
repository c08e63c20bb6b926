//! The published encodings whose files hold ranks alone: their patterns and special tokens.
//!
//! A file of ranks says neither. What its publisher's program adds stands here, and how the file is
//! recognised: by the number of its lines and by the last of them, which hold for one published file. A part of
//! such a file is refused. Where several encodings share a file, its name decides, or the caller. Left out: the special tokens around a
//! text, which these programs put there on request alone, and the pieces into which some of them cut very
//! long texts (400,000 characters) beforehand.
//!
//! Patterns are facts about those models. Recognising a file costs one pass over it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr_iter;

use super::tiktoken;
use bytepair::Tokenizer;
use bytepair::units::{ByteIds, byte_order};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};
use bytepair_split::{Flavour, Pattern, Stage, Unmatched};

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
    /// Other lines, by which a file that was cut off is known. Empty where they are not known here.
    lines: &'static [&'static str],
}

/// The first line of every published file.
const FIRST_LINE: &[u8] = b"IQ== 0";

/// Lines of published files whose ranks lie ever further apart, so that a part of a file is known too.
const GPT2_LINES: &[&str] = &[
    "IHQ= 256",
    "IGE= 257",
    "aGU= 258",
    "cmU= 260",
    "IHM= 264",
    "YW4= 272",
    "IGQ= 288",
    "aW0= 320",
    "IHNl 384",
    "IGFk 512",
    "IERl 1024",
    "IGFsbW9zdA== 2048",
    "IGJhc2lj 4096",
    "IEhhdmU= 8192",
    "IG5lcnZl 16384",
    "IG1vdGhlcmJvYXJk 32768",
];

const CL100K_LINES: &[&str] = &[
    "ICA= 256",
    "ICAgIA== 257",
    "aW4= 258",
    "ICAgICAgICA= 260",
    "IGE= 264",
    "IGM= 272",
    "ZXM= 288",
    "ICg= 320",
    "IGU= 384",
    "Ogo= 512",
    "ICYm 1024",
    "dGFibGU= 2048",
    "IGRlc2NyaXB0aW9u 4096",
    "5aQ= 8192",
    "Q3I= 16384",
    "Q2hhbmdlTGlzdGVuZXI= 32768",
    "IGxheg== 65536",
];

const O200K_LINES: &[&str] = &[
    "ICA= 256",
    "ICAgIA== 257",
    "aW4= 258",
    "IHQ= 260",
    "cmU= 264",
    "IGQ= 272",
    "YXM= 288",
    "2Kc= 320",
    "b3c= 384",
    "ZXJl 512",
    "5pc= 1024",
    "INC2 2048",
    "YW5rcw== 4096",
    "Lkxpc3Q= 8192",
    "aWNodGU= 16384",
    "IHRlbXBvcmFkYQ== 32768",
    "IGF0b2k= 65536",
    "IOGDk+GDlOGDng== 131072",
];

const WHISPER_LINES: &[&str] = &[
    "IHQ= 256",
    "IGE= 257",
    "IHRo 258",
    "ZXI= 260",
    "IHRoZQ== 264",
    "IGI= 272",
    "IHk= 288",
    "YXk= 320",
    "Y2U= 384",
    "IHNvbWU= 512",
    "YXRlcw== 1024",
    "IEV2ZXJ5 2048",
    "IHBlcnNwZWN0 4096",
    "ZWt0 8192",
    "eWNo 16384",
    "IFJhYmJp 32768",
];

const R50K: KnownFile = known_file(50_256, "IGdhemVk 50255", GPT2_LINES);
const P50K: KnownFile =
    known_file(50_280, "ICAgICAgICAgICAgICAgICAgICAgICAgIA== 50280", GPT2_LINES);
const CL100K: KnownFile = known_file(100_256, "IENvbnZleW9y 100255", CL100K_LINES);
const O200K: KnownFile = known_file(199_998, "IGNvY29z 199997", O200K_LINES);
const LLAMA3: KnownFile = known_file(128_000, "6ZSm 127999", &[]);
const LLAMA4: KnownFile = known_file(200_000, "KGdl 199999", &[]);
const QWEN: KnownFile = known_file(151_643, "4r2X 151642", &[]);
const KIMI: KnownFile = known_file(163_584, "6Ieq5Li75oCn 163583", &[]);
const WHISPER: KnownFile = known_file(50_257, "= 50256", WHISPER_LINES);

const fn known_file(
    n_tokens: TokenId,
    last_line: &'static str,
    lines: &'static [&'static str],
) -> KnownFile {
    KnownFile { n_tokens, last_line, lines }
}

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
/// assert!(bytepair_formats::encodings::names().any(|name| name == "o200k_harmony"));
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
        check_whole(file, name, false)?;
        let problem = format!("not the {} ranks of {name}", encoding.file.n_tokens);
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

/// Refuses a part of a published file.
///
/// It is known by lines of it, or, where it is shorter than the 256 bytes with which every published file begins,
/// by these. `file_name` is the name of the file without its ending; it decides where published files begin
/// alike, and may be empty. Vocabularies that somebody trained may begin like a published one for a few lines:
/// where the caller says how the ranks are split (`has_split`), more lines have to be the same.
///
/// # Errors
/// Where lines are missing, at the end, at the beginning or within.
pub fn check_whole(file: &[u8], file_name: &str, has_split: bool) -> Result<()> {
    let part = Part::new(file);
    if ENCODINGS.iter().any(|encoding| encoding.file.is_this(file)) || part.lines.is_empty() {
        return Ok(());
    }
    let is_named = |encoding: &&Encoding| {
        encoding.name == file_name || encoding.file_names.contains(&file_name)
    };
    let is_of = |encoding: &&Encoding| {
        let is_chance = has_split && !is_named(encoding);
        part.is_of(encoding.file, if is_chance { N_LINES_NO_CHANCE } else { 1 })
    };
    let of: Vec<_> = ENCODINGS.iter().filter(is_of).collect();
    let by_name = match of.is_empty() && part.is_of_bytes() {
        true => ENCODINGS.iter().find(is_named),
        false => of.iter().copied().find(is_named),
    };
    let mut of = by_name.map_or(of, |encoding| vec![encoding]);
    of.dedup_by_key(|encoding| encoding.file);
    let whole: Vec<_> = of
        .iter()
        .map(|encoding| format!("the {} ranks of {}", encoding.file.n_tokens, encoding.name))
        .collect();
    let whole = match whole.is_empty() {
        true if part.is_of_bytes() && part.n_whole() < 256 => {
            "the 256 bytes with which every published file begins".to_owned()
        }
        true => return Ok(()),
        false => whole.join(" or "),
    };
    let problem = format!(
        "holds {} of {whole}: it was cut off; fetch it again, or give pattern= to load these ranks as \
         they are",
        part.n_whole()
    );
    Err(Error::format(tiktoken::FORMAT, "the file", problem))
}

/// So many of the known lines (the first 65 merges, that is) are not the same by chance.
const N_LINES_NO_CHANCE: usize = 8;

/// What is left of a file, line by line.
struct Part<'f> {
    lines: Vec<&'f [u8]>,
    /// The rank of the first line that is whole.
    first_rank: usize,
    is_last_broken: bool,
}

impl<'f> Part<'f> {
    fn new(file: &'f [u8]) -> Self {
        let file = without_mark(file);
        let lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        if let [first, second, ..] = lines.as_slice() {
            let is_broken = match (rank(first), rank(second)) {
                (Some(0), _) => *first != FIRST_LINE,
                (Some(rank), Some(second)) => rank + 1 != second || !has_token(first),
                (rank, _) => rank.is_none(),
            };
            if is_broken {
                lines.remove(0);
            }
        }
        let first_rank = lines.first().and_then(|line| rank(line)).unwrap_or(0);
        let is_last_broken = !file.ends_with(b"\n")
            && lines.last().is_some_and(|line| rank(line) != Some(first_rank + lines.len() - 1));
        Self { lines, first_rank, is_last_broken }
    }

    /// Whether all that is known of a file's lines is there or cut off, and enough of it there.
    fn is_of(&self, known: KnownFile, n_wanted: usize) -> bool {
        let n_known = known.n_tokens as usize;
        if self.lines.len() > n_known || (self.lines.len() == n_known && !self.is_last_broken) {
            return false;
        }
        let has_end = self.lines.last() == Some(&known.last_line.as_bytes());
        let found = known.lines.iter().filter_map(|line| {
            let place = rank(line.as_bytes())?.checked_sub(self.first_rank)?;
            let is_whole = place + usize::from(self.is_last_broken) < self.lines.len();
            is_whole.then(|| self.lines[place] == line.as_bytes())
        });
        let found: Vec<_> = found.collect();
        has_end || (found.len() >= n_wanted && found.iter().all(|is_same| *is_same))
    }

    /// Whether these are the first of the single bytes, in the order of published files.
    fn is_of_bytes(&self) -> bool {
        let order = byte_order(ByteIds::Printable);
        let line = |(rank, byte): (usize, u8)| format!("{} {rank}", STANDARD.encode([byte]));
        let expected = (0..).zip(order).map(line);
        let found = &self.lines[..self.n_whole()];
        (1..=256).contains(&found.len())
            && found.iter().zip(expected).all(|(line, expected)| *line == expected.as_bytes())
    }

    fn n_whole(&self) -> usize {
        self.lines.len() - usize::from(self.is_last_broken)
    }
}

/// A file without the byte order mark that some editors put before it.
fn without_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(b"\xef\xbb\xbf".as_slice()).unwrap_or(file)
}

/// Whether a line begins with a token in base64.
fn has_token(line: &[u8]) -> bool {
    let encoded = line.split(|&byte| byte == b' ').next().unwrap_or_default();
    STANDARD.decode(encoded).is_ok_and(|token| !token.is_empty())
}

/// The rank of a line.
fn rank(line: &[u8]) -> Option<usize> {
    let place = line.iter().position(|&byte| byte == b' ')?;
    std::str::from_utf8(&line[place + 1..]).ok()?.parse().ok()
}

impl Encoding {
    fn split(&self) -> Vec<Stage> {
        bytepair_split::named(self.pattern).unwrap_or_else(|| {
            let pattern = Pattern { source: self.pattern.to_owned(), flavour: Flavour::Rust };
            vec![Stage::matches(pattern, Unmatched::Keep)]
        })
    }
}

impl KnownFile {
    fn is_this(self, file: &[u8]) -> bool {
        let file = file.trim_ascii_end();
        let last_line = file.rsplit(|&byte| byte == b'\n').next();
        let first_line = file.split(|&byte| byte == b'\n').next();
        last_line == Some(self.last_line.as_bytes())
            && first_line.is_some_and(|line| has_token(without_mark(line)))
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
        assert!(error.contains("holds 1 of the 100256 ranks of cl100k_base"), "{error}");
        let error = read(b"YQ== 0\n", "cl100k_base", &[]).unwrap_err().to_string();
        assert!(error.contains("not the 100256 ranks of cl100k_base"), "{error}");
    }
}
