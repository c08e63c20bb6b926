//! What the names of split patterns in GGUF files stand for.
//!
//! A name stands for the model that it was made for, and is read as that model's publisher reads it: with the
//! published pattern, in its flavour, and with Unicode composition where the publisher composes, which no file
//! says. Whether a piece that is a token is taken whole, and whether a text gets a mark at its beginning unless
//! the file says otherwise, are llama.cpp's own rules for a name. `default`, which is also meant where a file
//! has no name, is llama.cpp's own pattern.
//!
//! Left out: `falcon-h1`, whose published pattern is not known here.

use crate::assembly::Pipeline;

/// What a name of a split pattern means.
#[derive(Clone, Copy)]
pub(super) struct PreTokenizer {
    /// The names that llama.cpp knows it by.
    pub(super) names: &'static [&'static str],
    pub(super) split: Split,
    /// Whether the publisher's library composes characters first, which llama.cpp leaves out.
    pub(super) composes: bool,
    /// Whether a piece that is a token is taken whole.
    pub(super) ignore_merges: bool,
    /// Whether the beginning of a text is marked unless the file says otherwise.
    pub(super) marks_begin: bool,
}

/// How a text becomes pieces.
#[derive(Clone, Copy)]
pub(super) enum Split {
    /// By the stages of this name.
    Named(&'static str),
    /// By these patterns, one after the other.
    Patterns(&'static [&'static str]),
    /// By a row of cutters; the last ones see characters that stand for bytes.
    ByteCharacters(Pipeline),
}

/// Vocabularies that merge characters, though their kind is that of bytes.
pub(super) const OF_CHARACTERS: &[&str] =
    &["gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace"];

/// The rules where a name is not known and the pattern is given.
pub(super) const UNKNOWN_NAME: PreTokenizer = named(&[], "gpt2");

/// llama.cpp's pattern for files that name none.
const DEFAULT: &[&str] = &[
    r"[\p{P}\$\+<=>\^~\|]+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    r"\p{N}+",
    "[0-9][0-9][0-9]",
];

/// Qwen 2's without English contractions.
const UFAKZEKA: &[&str] = &[concat!(
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)];

/// The names whose rules are known here.
pub(super) const PRE_TOKENIZERS: &[PreTokenizer] = &[
    PreTokenizer { split: Split::Patterns(DEFAULT), ..named(&["default"], "") },
    named(
        &[
            "gpt-2",
            "phi-2",
            "jais",
            "mellum",
            "gigachat",
            "a.x-4.0",
            "exaone4",
            "trillion",
            "granite-docling",
            "roberta-bpe",
            "jina-v1-en",
            "jina-v2-code",
            "jina-es",
            "jina-de",
            "jina-v2-es",
            "jina-v2-de",
        ],
        "gpt2",
    ),
    composing(named(&["olmo", "mpt", "modern-bert"], "gpt2")),
    PreTokenizer {
        ignore_merges: true,
        marks_begin: true,
        ..named(
            &["llama3", "llama-v3", "llama-bpe", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"],
            "llama3",
        )
    },
    named(&["dbrx", "smaug-bpe", "glm4", "chatglm-bpe"], "llama3"),
    composing(named(&["qwen2", "deepseek-r1-qwen", "f2llmv2", "stablelm2", "hunyuan"], "qwen2")),
    named(&["kormo", "megrez", "solar-open", "grok-2"], "qwen2"),
    composing(named(&["qwen35"], "qwen3.5")),
    named(&["deepseek-llm"], "deepseek-llm"),
    named(&["deepseek-coder"], "deepseek-coder"),
    named(&["deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm"], "deepseek-v3"),
    named(&["spark2_5"], "spark"),
    ignoring_merges(named(&["youtu"], "youtu")),
    named(&["kimi-k2"], "kimi-k2"),
    named(&["superbpe"], "superbpe"),
    named(&["bloom", "poro-chat", "gpt3-finnish"], "bloom"),
    named(&["viking"], "viking"),
    named(&["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"], "o200k"),
    ignoring_merges(named(&["granite-embed-multi-97m"], "o200k")),
    named(&["tiny_aya", "cohere2moe"], "tiny-aya"),
    PreTokenizer { marks_begin: true, ..ignoring_merges(named(&["tekken"], "tekken")) },
    named(
        &["starcoder", "refact", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"],
        "starcoder",
    ),
    composing(named(&["command-r"], "starcoder")),
    PreTokenizer { marks_begin: true, ..named(&["chameleon"], "chameleon") },
    named(&["jais-2"], "jais2"),
    named(&["bailingmoe", "bailingmoe2", "llada-moe"], "bailingmoe"),
    named(&["seed-coder"], "seed-coder"),
    ignoring_merges(named(&["minicpm5"], "minicpm5")),
    named(&["laguna"], "laguna"),
    named(&["afmoe"], "afmoe"),
    named(&["exaone-moe"], "exaone-moe"),
    PreTokenizer { split: Split::Patterns(UFAKZEKA), ..named(&["ufakzeka"], "") },
    PreTokenizer {
        split: Split::ByteCharacters(Pipeline::Falcon { triples: true }),
        ..named(&["falcon"], "")
    },
    PreTokenizer {
        split: Split::ByteCharacters(Pipeline::Falcon { triples: false }),
        ..named(&["falcon3"], "")
    },
];

pub(super) fn pre_tokenizer(name: &str) -> Option<&'static PreTokenizer> {
    PRE_TOKENIZERS.iter().find(|pre| pre.names.contains(&name))
}

const fn named(names: &'static [&'static str], pattern: &'static str) -> PreTokenizer {
    let split = Split::Named(pattern);
    PreTokenizer { names, split, composes: false, ignore_merges: false, marks_begin: false }
}

const fn composing(pre: PreTokenizer) -> PreTokenizer {
    PreTokenizer { composes: true, ..pre }
}

const fn ignoring_merges(pre: PreTokenizer) -> PreTokenizer {
    PreTokenizer { ignore_merges: true, ..pre }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_thing_and_every_pattern_exists() {
        let mut names: Vec<_> = PRE_TOKENIZERS.iter().flat_map(|pre| pre.names).collect();
        let n_names = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), n_names);
        assert!(OF_CHARACTERS.iter().all(|name| pre_tokenizer(name).is_none()));
        for pre in PRE_TOKENIZERS {
            if let Split::Named(name) = pre.split {
                assert!(bytepair_split::named(name).is_some(), "{name}");
            }
        }
    }
}
