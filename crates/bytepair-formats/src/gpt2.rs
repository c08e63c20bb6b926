//! GPT-2's pair of files: `vocab.json` with the ids and `merges.txt` with the merges.
//!
//! The pair can express only one pipeline: bytes, a pattern, no normalizer, and `<|endoftext|>` as the one special token.
//! Tokens are written with one printable character for each byte (`Ġthe`). A tokenizer with any other part is not
//! written, nor is one with another pattern than GPT-2's, which most programs that read the files assume. The first line
//! of `merges.txt` names the pattern; those programs ignore it. Takes time linear in the size of the files.

use std::collections::HashMap;
use std::sync::Arc;

use super::assembly::{NumberedMerge, PATTERN_NAME, check_made, numbered_merges};
use super::json::{self, Entries};
use super::{check_bare, check_id_range, inexpressible, quoted, require};
use bytepair::added::AddedToken;
use bytepair::decode::Decode;
use bytepair::template::Template;
use bytepair::units::{ByteIds, Missing, Units, bytes_of_printable, printable_name};
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Splitter, Stage};

/// The name of the format in messages.
const FORMAT: &str = "vocab.json and merges.txt";

/// GPT-2's only special token.
pub(super) const END_OF_TEXT: &str = "<|endoftext|>";

/// Spellings of GPT-2's pattern. Both engines read each in the same way, except for the first, which is Rust's.
const SPELLINGS: [&str; 4] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    super::huggingface::BYTE_LEVEL_PATTERN,
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++\z|\s+(?!\S)|\s",
];

/// The files of one tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpt2Files {
    /// The tokens and their ids.
    pub vocab_json: Vec<u8>,
    /// The merges, in order.
    pub merges_txt: Vec<u8>,
}

/// Reads the tokenizer of the two files, split by GPT-2's pattern.
///
/// # Errors
/// If a file is damaged, a merge names a token that the vocabulary lacks, or a token has no merge.
pub fn read(vocab_json: &[u8], merges_txt: &[u8]) -> Result<Tokenizer> {
    read_split(vocab_json, merges_txt, bytepair_split::named("gpt2").unwrap_or_default())
}

/// Reads the tokenizer of the two files, split by these stages.
///
/// # Errors
/// As [`read`], and if a pattern is not understood.
pub fn read_split(vocab_json: &[u8], merges_txt: &[u8], stages: Vec<Stage>) -> Result<Tokenizer> {
    let Entries(entries) = json::parse(FORMAT, "vocab.json", vocab_json)?;
    check_id_range(FORMAT, entries.iter().map(|(_, id)| *id), entries.len())?;
    let mut vocabulary = Vocabulary::new();
    for (name, id) in &entries {
        insert(&mut vocabulary, name, *id)?;
    }
    let ids: HashMap<&str, TokenId> =
        entries.iter().map(|(name, id)| (name.as_ref(), *id)).collect();
    if ids.len() < entries.len() {
        return Err(Error::format(FORMAT, "vocab.json", "a token appears twice"));
    }
    let numbered = numbered_merges(FORMAT, merges_txt)?;
    let merges = merges(&numbered, &ids)?;
    let names = entries.iter().map(|(name, _)| name.as_ref());
    check_made(FORMAT, names, &numbered, "", |_| false)?;
    for merge in merges {
        vocabulary.push_merge_to(merge);
    }
    let unicode = UnicodeTables::latest();
    let end_of_text = ids.get(END_OF_TEXT).map(|&id| AddedToken {
        id,
        content: END_OF_TEXT.to_owned(),
        special: true,
        in_model: true,
        ..AddedToken::default()
    });
    Tokenizer::new(Parts {
        pre_tokenizer: Splitter::new(stages, &unicode)?.into(),
        added: end_of_text.into_iter().collect(),
        ..Parts::new(units(&vocabulary), Arc::new(vocabulary))
    })
}

/// Writes the two files of a tokenizer.
///
/// # Errors
/// If the tokenizer differs from GPT-2's pipeline. The error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Gpt2Files> {
    let parts = tokenizer.parts();
    check_pipeline(parts)?;
    let names = names(&parts.vocabulary)?;
    let entries: serde_json::Map<String, serde_json::Value> =
        names.iter().map(|(id, name)| (name.clone(), (*id).into())).collect();
    if entries.len() < names.len() {
        return refuse("two ids for one token");
    }
    let name = |id: TokenId| {
        names.binary_search_by_key(&id, |entry| entry.0).map(|index| names[index].1.as_str())
    };
    let mut merges_txt = format!("#version: 0.2{PATTERN_NAME}gpt2\n");
    for merge in parts.vocabulary.merges() {
        let (Ok(left), Ok(right)) = (name(merge.left), name(merge.right)) else { continue };
        if name(merge.result) != Ok(&format!("{left}{right}")) {
            return refuse(format!("a merge of {left:?} and {right:?} into another token"));
        }
        merges_txt.extend([left, " ", right, "\n"]);
    }
    let vocab_json = serde_json::Value::Object(entries).to_string().into_bytes();
    Ok(Gpt2Files { vocab_json, merges_txt: merges_txt.into_bytes() })
}

/// Refuses a tokenizer because of a part.
fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

/// Whether the stages are one of the known spellings of GPT-2's pattern.
pub(super) fn is_gpt2_split(stages: &[Stage]) -> bool {
    let [Stage { pattern, .. }] = stages else { return false };
    match SPELLINGS.iter().position(|spelling| *spelling == pattern.source) {
        Some(0) => pattern.flavour == Flavour::Rust,
        place => place.is_some(),
    }
}

/// The units, which are bytes. A byte without a token is left out of the ids, as in the libraries that read the pair.
fn units(vocabulary: &Vocabulary) -> Units {
    let is_complete = (0..=255).all(|byte| vocabulary.id(Token::plain(&[byte])).is_some());
    let missing = if is_complete { Missing::Error } else { Missing::Drop };
    Units { missing, ..Units::bytes(ByteIds::Printable) }
}

fn insert(vocabulary: &mut Vocabulary, name: &str, id: TokenId) -> Result<()> {
    let kind = if name == END_OF_TEXT { TokenKind::Added } else { TokenKind::PLAIN };
    let bytes = bytes_of_printable(name);
    let not_bytes = || {
        Error::format(
            FORMAT,
            format!("the token {name:?}"),
            "has characters that stand for no byte",
        )
    };
    let taken = |_| Error::format(FORMAT, format!("the id {id}"), "belongs to two tokens");
    vocabulary.insert(id, Token { kind, bytes: &bytes.ok_or_else(not_bytes)? }).map_err(taken)
}

/// The merges as ids. An error if a merge names a token without an id.
fn merges(numbered: &[NumberedMerge<'_>], ids: &HashMap<&str, TokenId>) -> Result<Vec<Merge>> {
    let merge = |&NumberedMerge { line, left, right }: &NumberedMerge<'_>| {
        let id = |name: &str| {
            let missing = || {
                let problem = format!("the token {} is not in vocab.json", quoted(name.as_bytes()));
                Error::format(FORMAT, format!("line {line} of merges.txt"), problem)
            };
            ids.get(name).copied().ok_or_else(missing)
        };
        Ok(Merge { left: id(left)?, right: id(right)?, result: id(&format!("{left}{right}"))? })
    };
    numbered.iter().map(merge).collect()
}

fn check_pipeline(parts: &Parts) -> Result<()> {
    check_bare(FORMAT, parts)?;
    let bytes = Units { unit: parts.units.unit, ..units(&parts.vocabulary) };
    let splitter = parts.pre_tokenizer.only_splitter();
    let checks = [
        (parts.units.is_bytes() && parts.units == bytes, "units other than plain bytes"),
        (parts.normalizer.steps().is_empty(), "a normalizer"),
        (
            splitter.is_some_and(|splitter| is_gpt2_split(splitter.stages())),
            "a split pattern other than that of the dialect gpt2 (a name that ends in .json can)",
        ),
        (!parts.ignore_merges, "pieces that are tokens without being merged (ignore_merges)"),
        (parts.template == Template::default(), "the special tokens that are put around a text"),
        (parts.decode == Decode::default(), "the rules of decoding"),
    ];
    require(FORMAT, &checks)?;
    match parts.added.iter().find(|token| token.content != END_OF_TEXT || !token.special) {
        Some(token) => refuse(format!("the added token {:?}", token.content)),
        None => Ok(()),
    }
}

/// The ids and names, in the order of the ids.
fn names(vocabulary: &Vocabulary) -> Result<Vec<(TokenId, String)>> {
    vocabulary
        .iter()
        .map(|(id, token)| match token.kind {
            TokenKind::PLAIN if token.bytes != END_OF_TEXT.as_bytes() => {
                Ok((id, printable_name(token.bytes)))
            }
            TokenKind::Added if token.bytes == END_OF_TEXT.as_bytes() => {
                Ok((id, END_OF_TEXT.to_owned()))
            }
            _ => refuse(format!("the token {id}, {}", quoted(token.bytes))),
        })
        .collect()
}
