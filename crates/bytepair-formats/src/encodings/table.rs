//! The published encodings as data: how the file of each is known, its pattern and its special tokens.
//!
//! Patterns and tokens are facts about those models.

use std::ops::Range;

use Specials::{Names, Numbers, Times};

use bytepair::vocabulary::TokenId;

/// A published encoding.
#[derive(Debug)]
pub(super) struct Encoding {
    /// The name under which it is known.
    pub(super) name: &'static str,
    /// Names of files, without their endings, that mean it.
    pub(super) file_names: &'static [&'static str],
    pub(super) file: KnownFile,
    pub(super) pattern: &'static str,
    /// Special tokens. Of several with one id the first names it.
    pub(super) special_tokens: &'static [Specials],
}

/// How a file is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownFile {
    pub(super) n_tokens: TokenId,
    pub(super) last_line: &'static str,
    /// Other lines, by which a file that was cut off is known. Empty where they are not known here.
    pub(super) lines: &'static [&'static str],
}

/// Special tokens whose ids follow each other; the first has the id that is given.
#[derive(Debug)]
pub(super) enum Specials {
    /// These names, apart by spaces, each in the place of `{}`.
    Names(TokenId, &'static str, &'static str),
    /// These numbers, each in the place of `{}`.
    Numbers(TokenId, &'static str, Range<usize>),
    /// Whisper's times, from 0 to 30 seconds, 50 for each.
    Times(TokenId),
}

impl Specials {
    /// The tokens with their ids.
    pub(super) fn tokens(&self) -> Vec<(String, TokenId)> {
        match self {
            Names(first, form, names) => {
                let names = names.split_whitespace().map(|name| form.replace("{}", name));
                names.zip(*first..).collect()
            }
            Numbers(first, form, numbers) => {
                let names = numbers.clone().map(|number| form.replace("{}", &number.to_string()));
                names.zip(*first..).collect()
            }
            Times(first) => {
                let names = (0..1501).map(|step| format!("<|{}.{:02}|>", step / 50, step % 50 * 2));
                names.zip(*first..).collect()
            }
        }
    }
}

/// Of several with one file, the first is meant where the name of the file says nothing.
pub(super) const ENCODINGS: &[Encoding] = &[
    Encoding {
        name: "r50k_base",
        file_names: &["r50k_base"],
        file: R50K,
        pattern: "gpt2",
        special_tokens: &[Names(50_256, "<|{}|>", "endoftext")],
    },
    Encoding {
        name: "whisper_gpt2",
        file_names: &["gpt2"],
        file: R50K,
        pattern: "gpt2",
        special_tokens: WHISPER_GPT2,
    },
    Encoding {
        name: "p50k_base",
        file_names: &["p50k_base"],
        file: P50K,
        pattern: "gpt2",
        special_tokens: &[Names(50_256, "<|{}|>", "endoftext")],
    },
    Encoding {
        name: "p50k_edit",
        file_names: &["p50k_edit"],
        file: P50K,
        pattern: "gpt2",
        special_tokens: &[
            Names(50_256, "<|{}|>", "endoftext"),
            Names(50_281, "<|{}|>", "fim_prefix fim_middle fim_suffix"),
        ],
    },
    Encoding {
        name: "cl100k_base",
        file_names: &["cl100k_base"],
        file: CL100K,
        pattern: "cl100k",
        special_tokens: &[
            Names(100_257, "<|{}|>", "endoftext fim_prefix fim_middle fim_suffix"),
            Names(100_276, "<|{}|>", "endofprompt"),
        ],
    },
    Encoding {
        name: "o200k_base",
        file_names: &["o200k_base"],
        file: O200K,
        pattern: "o200k",
        special_tokens: &[
            Names(199_999, "<|{}|>", "endoftext"),
            Names(200_018, "<|{}|>", "endofprompt"),
        ],
    },
    Encoding {
        name: "o200k_harmony",
        file_names: &["o200k_harmony"],
        file: O200K,
        pattern: "o200k",
        special_tokens: HARMONY,
    },
    Encoding {
        name: "llama3",
        file_names: &["llama3"],
        file: LLAMA3,
        pattern: "llama3",
        special_tokens: LLAMA3_SPECIALS,
    },
    Encoding {
        name: "llama3.1",
        file_names: &["llama3.1"],
        file: LLAMA3,
        pattern: "llama3",
        special_tokens: LLAMA31_SPECIALS,
    },
    Encoding {
        name: "llama4",
        file_names: &["llama4"],
        file: LLAMA4,
        pattern: "o200k",
        special_tokens: LLAMA4_SPECIALS,
    },
    Encoding {
        name: "qwen",
        file_names: &["qwen"],
        file: QWEN,
        pattern: QWEN_PATTERN,
        special_tokens: &[
            Names(151_643, "<|{}|>", "endoftext im_start im_end"),
            Numbers(151_646, "<|extra_{}|>", 0..205),
        ],
    },
    Encoding {
        name: "kimi_k2",
        file_names: &["kimi_k2", "tiktoken"],
        file: KIMI,
        pattern: KIMI_PATTERN,
        special_tokens: KIMI_SPECIALS,
    },
    Encoding {
        name: "whisper_multilingual",
        file_names: &["multilingual"],
        file: WHISPER,
        pattern: "gpt2",
        special_tokens: WHISPER_MULTILINGUAL,
    },
    Encoding {
        name: "whisper_multilingual_v3",
        file_names: &["multilingual_v3"],
        file: WHISPER,
        pattern: "gpt2",
        special_tokens: WHISPER_MULTILINGUAL_V3,
    },
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

/// Those of the harmony format. The end of the prompt has an id that has a reserved name too.
const HARMONY: &[Specials] = &[
    Names(200_018, "<|{}|>", "endofprompt"),
    Names(199_998, "<|{}|>", "startoftext endoftext"),
    Numbers(200_000, "<|reserved_{}|>", 200_000..200_002),
    Names(200_002, "<|{}|>", "return constrain"),
    Numbers(200_004, "<|reserved_{}|>", 200_004..200_005),
    Names(200_005, "<|{}|>", "channel start end message"),
    Numbers(200_009, "<|reserved_{}|>", 200_009..200_012),
    Names(200_012, "<|{}|>", "call"),
    Numbers(200_013, "<|reserved_{}|>", 200_013..201_088),
];

/// Llama 3's.
const LLAMA3_SPECIALS: &[Specials] = &[
    Names(128_000, "<|{}|>", "begin_of_text end_of_text"),
    Numbers(128_002, "<|reserved_special_token_{}|>", 0..4),
    Names(128_006, "<|{}|>", "start_header_id end_header_id"),
    Numbers(128_008, "<|reserved_special_token_{}|>", 4..5),
    Names(128_009, "<|{}|>", "eot_id"),
    Numbers(128_010, "<|reserved_special_token_{}|>", 5..251),
];

/// Those of Llama 3.1 and later.
const LLAMA31_SPECIALS: &[Specials] = &[
    Names(128_000, "<|{}|>", "begin_of_text end_of_text"),
    Numbers(128_002, "<|reserved_special_token_{}|>", 0..2),
    Names(128_004, "<|{}|>", "finetune_right_pad_id"),
    Numbers(128_005, "<|reserved_special_token_{}|>", 2..3),
    Names(128_006, "<|{}|>", "start_header_id end_header_id eom_id eot_id python_tag"),
    Numbers(128_011, "<|reserved_special_token_{}|>", 3..248),
];

/// Llama 4's.
const LLAMA4_SPECIALS: &[Specials] = &[
    Names(200_000, "<|{}|>", "begin_of_text end_of_text fim_prefix fim_middle fim_suffix"),
    Names(200_005, "<|{}|>", "header_start header_end eom eot step"),
    Numbers(200_010, "<|text_post_train_reserved_special_token_{}|>", 0..6),
    Names(200_016, "<|{}|>", "python_start python_end finetune_right_pad"),
    Numbers(200_019, "<|text_post_train_reserved_special_token_{}|>", 8..69),
    Names(200_080, "<|{}|>", "image_start image_end"),
    Numbers(200_082, "<|vision_reserved_special_token_{}|>", 0..2),
    Names(200_084, "<|{}|>", "tile_x_separator tile_y_separator"),
    Numbers(200_086, "<|vision_reserved_special_token_{}|>", 2..6),
    Names(200_090, "<|{}|>", "image"),
    Numbers(200_091, "<|vision_reserved_special_token_{}|>", 6..7),
    Names(200_092, "<|{}|>", "patch"),
    Numbers(200_093, "<|vision_reserved_special_token_{}|>", 7..1048),
    Numbers(201_134, "<|reasoning_reserved_special_token_{}|>", 0..8),
    Names(201_142, "<|{}|>", "reasoning_thinking_start reasoning_thinking_end"),
    Numbers(201_144, "<|reserved_special_token_{}|>", 0..904),
];

/// Kimi K2's.
const KIMI_SPECIALS: &[Specials] = &[
    Names(163_584, "{}", "[BOS] [EOS] <|im_end|> <|im_user|> <|im_assistant|>"),
    Numbers(163_589, "<|reserved_token_{}|>", 163_589..163_590),
    Names(163_590, "<|{}|>", "start_header_id end_header_id"),
    Numbers(163_592, "<|reserved_token_{}|>", 163_592..163_593),
    Names(163_593, "{}", "[EOT]"),
    Names(163_594, "<|{}|>", "im_system tool_calls_section_begin tool_calls_section_end"),
    Names(163_597, "<|{}|>", "tool_call_begin tool_call_argument_begin tool_call_end"),
    Numbers(163_600, "<|reserved_token_{}|>", 163_600..163_601),
    Names(163_601, "<|{}|>", "im_middle"),
    Numbers(163_602, "<|reserved_token_{}|>", 163_602..163_838),
    Names(163_838, "{}", "[UNK] [PAD]"),
    Numbers(163_840, "<|reserved_token_{}|>", 163_840..163_842),
];

const WHISPER_GPT2: &[Specials] = &[
    Names(50_256, "<|{}|>", "endoftext startoftranscript"),
    Names(50_258, "<|{}|>", WHISPER_LANGUAGES),
    Names(50_357, "<|{}|>", WHISPER_TASKS),
    Times(50_363),
];

const WHISPER_MULTILINGUAL: &[Specials] = &[
    Names(50_257, "<|{}|>", "endoftext startoftranscript"),
    Names(50_259, "<|{}|>", WHISPER_LANGUAGES),
    Names(50_358, "<|{}|>", WHISPER_TASKS),
    Times(50_364),
];

const WHISPER_MULTILINGUAL_V3: &[Specials] = &[
    Names(50_257, "<|{}|>", "endoftext startoftranscript"),
    Names(50_259, "<|{}|>", WHISPER_LANGUAGES),
    Names(50_358, "<|{}|>", "yue"),
    Names(50_359, "<|{}|>", WHISPER_TASKS),
    Times(50_365),
];

/// Whisper's languages, in the order of their ids; the third version has Cantonese (`yue`) behind them.
const WHISPER_LANGUAGES: &str = "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el \
    ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn \
    bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo \
    tl mg as tt haw ln ha ba jw su";

/// What Whisper can do, in the order of their ids.
const WHISPER_TASKS: &str = "translate transcribe startoflm startofprev nospeech notimestamps";

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
