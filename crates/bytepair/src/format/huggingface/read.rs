//! A `tokenizer.json` to our parts.
//!
//! Each part is read on its own, so that an error names it. What touches ids is either taken over
//! exactly or refused; fields for offsets and pairs of texts are read and have no effect. Ids of added
//! tokens are computed as the library computes them, and refused where the file says otherwise.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::schema::{
    self, Added, Decoder, File, Model, ModelType, Piece, PostProcessor, PreTokenizer,
};
use super::{BYTE_LEVEL_PATTERN, END_OF_WORD, FORMAT, RESERVED, WORD, prefix_pattern};
use crate::added::AddedToken;
use crate::decode::DecodeRules;
use crate::error::{Error, Result};
use crate::format::names::bytes_of_printable;
use crate::format::{check_id_range, json, quoted};
use crate::normalize::{NormalizeStep, Normalizer, UnicodeForm};
use crate::split::{Flavour, Pattern, Splitter, Stage, Unmatched};
use crate::tokenizer::{Parts, Template, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Unit, Units, byte_order};
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or has a part that is not understood or has no equal here.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file: File<'_> =
        serde_json::from_slice(file).map_err(|error| json::problem(FORMAT, "the file", &error))?;
    check_header(&file)?;
    let model = model(file.model)?;
    let added: Vec<Added> = part("added_tokens", file.added_tokens)?.unwrap_or_default();
    let normalizing = normalizing(part("normalizer", file.normalizer)?)?;
    let cutting = cutting(part("pre_tokenizer", file.pre_tokenizer)?)?;
    let units = units(&model, &normalizing, &cutting)?;
    let (vocabulary, added) = vocabulary(&model, &units, &added)?;
    let decode = decode(part("decoder", file.decoder)?, &units)?;
    let template = template(part("post_processor", file.post_processor)?, Template::default())?;
    let added = added_for(&normalizing, &cutting, &units, added)?;
    let unicode = UnicodeTables::latest();
    let steps = [normalizing.steps, cutting.steps].concat();
    let ignore_merges = model.ignore_merges == Some(true);
    check_ignore_merges(ignore_merges, &units, &vocabulary)?;
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        splitter: Splitter::new(cutting.stages, &unicode)?,
        units: Units { unit: unit(&units, &vocabulary), ..units },
        vocabulary: Arc::new(vocabulary),
        added,
        ignore_merges,
        template,
        decode,
    })
}

fn problem(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

fn part<'f, T: Deserialize<'f>>(name: &str, value: Option<&'f RawValue>) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    serde_json::from_str(value.get()).map_err(|error| json::problem(FORMAT, name, &error))
}

fn check_header(file: &File<'_>) -> Result<()> {
    if let Some(version) = file.version.as_ref().filter(|version| *version != "1.0") {
        return Err(problem(
            "version",
            format!("{version:?} is not the version 1.0 that is understood"),
        ));
    }
    for (name, value) in [("truncation", file.truncation), ("padding", file.padding)] {
        if value.is_some_and(|value| value.get() != "null") {
            return Err(problem(
                name,
                "not supported; set it to null, and cut or pad the ids yourself",
            ));
        }
    }
    Ok(())
}

fn model(value: &RawValue) -> Result<Model> {
    let ModelType { name } = part("model", Some(value))?.unwrap_or(ModelType { name: None });
    if let Some(name) = name.filter(|name| name != "BPE") {
        return Err(problem("model.type", format!("{name:?} is no byte-pair encoding")));
    }
    let model: Option<Model> = part("model", Some(value))?;
    let model = model.ok_or_else(|| problem("model", "missing"))?;
    if model.dropout.is_some_and(|dropout| dropout != 0.0) {
        return Err(problem("model.dropout", "not supported: ids would depend on chance"));
    }
    Ok(model)
}

/// What a normalizer does.
struct Normalizing {
    steps: Vec<NormalizeStep>,
    /// A mark that is put at the end of each word of `\S+`.
    end_mark: Option<String>,
}

fn normalizing(normalizer: Option<schema::Normalizer>) -> Result<Normalizing> {
    let mut flat = Vec::new();
    normalizer.into_iter().for_each(|normalizer| flatten_normalizer(normalizer, &mut flat));
    let end_mark = end_mark(&flat);
    flat.truncate(flat.len() - if end_mark.is_some() { 2 } else { 0 });
    let steps = flat.into_iter().map(normalize_step).collect::<Result<_>>()?;
    Ok(Normalizing { steps, end_mark })
}

fn flatten_normalizer(normalizer: schema::Normalizer, flat: &mut Vec<schema::Normalizer>) {
    match normalizer {
        schema::Normalizer::Sequence { normalizers } => {
            normalizers.into_iter().for_each(|normalizer| flatten_normalizer(normalizer, flat));
        }
        other => flat.push(other),
    }
}

/// The mark, where the last two steps are those that `write` puts there for one.
fn end_mark(steps: &[schema::Normalizer]) -> Option<String> {
    use schema::{Normalizer::Replace, Pattern::Regex, Pattern::String};
    let [
        ..,
        Replace { pattern: String(mark), content: reserved },
        Replace { pattern: Regex(place), content },
    ] = steps
    else {
        return None;
    };
    let is_mark = reserved == RESERVED
        && place == END_OF_WORD
        && content == mark
        && mark.chars().count() == 1;
    is_mark.then(|| mark.clone())
}

fn normalize_step(normalizer: schema::Normalizer) -> Result<NormalizeStep> {
    use schema::Normalizer as Step;
    Ok(match normalizer {
        Step::Lowercase {} => NormalizeStep::Lowercase,
        Step::Nfc {} => NormalizeStep::Form(UnicodeForm::Nfc),
        Step::Nfd {} => NormalizeStep::Form(UnicodeForm::Nfd),
        Step::Nfkc {} => NormalizeStep::Form(UnicodeForm::Nfkc),
        Step::Nfkd {} => NormalizeStep::Form(UnicodeForm::Nfkd),
        Step::Replace { pattern: schema::Pattern::String(from), content } if !from.is_empty() => {
            NormalizeStep::Replace { from, to: content }
        }
        Step::Replace { .. } => {
            return Err(problem(
                "normalizer.Replace.pattern",
                "only a plain string is supported, no regular expression",
            ));
        }
        Step::Prepend { prepend } => {
            NormalizeStep::Prepend { text: prepend, only_first: false, unless_there: false }
        }
        Step::Sequence { .. } => {
            return Err(problem("normalizer", "a sequence in a place where none can be"));
        }
    })
}

/// What a pre-tokenizer does.
#[derive(Default)]
struct Cutting {
    /// Changes of the text, after those of the normalizer.
    steps: Vec<NormalizeStep>,
    stages: Vec<Stage>,
    is_byte_level: bool,
}

fn cutting(pre_tokenizer: Option<PreTokenizer>) -> Result<Cutting> {
    let mut cutting = Cutting::default();
    if let Some(pre_tokenizer) = pre_tokenizer {
        cutting.push(pre_tokenizer)?;
    }
    Ok(cutting)
}

impl Cutting {
    fn push(&mut self, pre_tokenizer: PreTokenizer) -> Result<()> {
        if self.is_byte_level {
            return Err(problem("pre_tokenizer", "ByteLevel is not the last of the sequence"));
        }
        match pre_tokenizer {
            PreTokenizer::Sequence { pretokenizers } => {
                return pretokenizers.into_iter().try_for_each(|inside| self.push(inside));
            }
            PreTokenizer::Split { pattern, behavior, invert } => {
                let unmatched = unmatched(&behavior, invert)?;
                self.stage(source(pattern), Flavour::Oniguruma, unmatched);
            }
            PreTokenizer::ByteLevel(byte_level) => return self.push_byte_level(&byte_level),
            PreTokenizer::Metaspace(metaspace) => return self.push_metaspace(&metaspace),
            PreTokenizer::Whitespace {} => {
                self.stage(r"\w+|[^\w\s]+".to_owned(), Flavour::Rust, Unmatched::Drop)
            }
            PreTokenizer::WhitespaceSplit {} => {
                self.stage(WORD.to_owned(), Flavour::Rust, Unmatched::Drop)
            }
            PreTokenizer::Digits { individual_digits } => {
                let source = if individual_digits { r"\p{N}" } else { r"\p{N}+" };
                self.stage(source.to_owned(), Flavour::Rust, Unmatched::Keep);
            }
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                let source = format!(r"[^\x{{{:X}}}]+", u32::from(delimiter));
                self.stage(source, Flavour::Rust, Unmatched::Drop);
            }
        }
        Ok(())
    }

    fn stage(&mut self, source: String, flavour: Flavour, unmatched: Unmatched) {
        self.stages.push(Stage { pattern: Pattern { source, flavour }, unmatched });
    }

    fn push_byte_level(&mut self, byte_level: &schema::ByteLevel) -> Result<()> {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false)?;
        }
        if byte_level.use_regex {
            self.stage(BYTE_LEVEL_PATTERN.to_owned(), Flavour::Oniguruma, Unmatched::Keep);
        }
        Ok(())
    }

    fn push_metaspace(&mut self, metaspace: &schema::Metaspace) -> Result<()> {
        let replacement = metaspace.replacement.to_string();
        let is_first = self.stages.is_empty();
        if !is_first {
            return Err(problem(
                "pre_tokenizer.Metaspace",
                "only supported as the first of a sequence",
            ));
        }
        self.steps.push(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        match metaspace.scheme()? {
            "never" => {}
            scheme => self.prepend(replacement.clone(), scheme == "first")?,
        }
        if metaspace.split != Some(false) {
            let class = format!(r"\x{{{:X}}}", u32::from(metaspace.replacement));
            self.stage(format!("{class}?[^{class}]+|{class}"), Flavour::Rust, Unmatched::Keep);
        }
        Ok(())
    }

    fn prepend(&mut self, text: String, only_first: bool) -> Result<()> {
        if !self.stages.is_empty() {
            return Err(problem(
                "pre_tokenizer",
                "a prefix space is only supported before all splits",
            ));
        }
        self.steps.push(NormalizeStep::Prepend { text, only_first, unless_there: true });
        Ok(())
    }
}

impl schema::Metaspace {
    fn scheme(&self) -> Result<&str> {
        match (self.prepend_scheme.as_str(), self.add_prefix_space) {
            ("never", _) => Ok("never"),
            (scheme @ ("always" | "first"), None | Some(true)) => Ok(scheme),
            (scheme, _) => Err(problem(
                "Metaspace.prepend_scheme",
                format!("{scheme:?} is not understood here"),
            )),
        }
    }
}

fn unmatched(behavior: &str, invert: bool) -> Result<Unmatched> {
    match (behavior, invert) {
        ("Isolated", _) => Ok(Unmatched::Keep),
        ("Removed", true) => Ok(Unmatched::Drop),
        _ => Err(problem(
            "pre_tokenizer.Split.behavior",
            format!(
                "{behavior:?} with invert={invert} is not supported; Isolated, and Removed with invert=true are"
            ),
        )),
    }
}

fn source(pattern: schema::Pattern) -> String {
    match pattern {
        schema::Pattern::Regex(source) => source,
        schema::Pattern::String(text) => {
            text.chars().map(|character| format!(r"\x{{{:X}}}", u32::from(character))).collect()
        }
    }
}

fn units(model: &Model, normalizing: &Normalizing, cutting: &Cutting) -> Result<Units> {
    let suffix = model.end_of_word_suffix.clone().filter(|suffix| !suffix.is_empty());
    let prefix = model.continuing_subword_prefix.clone().filter(|prefix| !prefix.is_empty());
    let unit = if cutting.is_byte_level { Unit::Byte(ByteIds::Printable) } else { Unit::Character };
    let byte_fallback = model.byte_fallback == Some(true);
    let has_mark = suffix.is_some() || prefix.is_some() || normalizing.end_mark.is_some();
    if has_mark && (cutting.is_byte_level || byte_fallback) {
        let part = if suffix.is_some() {
            "model.end_of_word_suffix"
        } else {
            "model.continuing_subword_prefix"
        };
        return Err(problem(part, "not supported together with bytes"));
    }
    if cutting.is_byte_level && byte_fallback {
        return Err(problem("model.byte_fallback", "not supported together with ByteLevel"));
    }
    if normalizing.end_mark.is_some() && (suffix.is_some() || !is_words(&cutting.stages)) {
        return Err(problem(
            "normalizer.Replace.pattern",
            "an end of words that are not those of the pre-tokenizer",
        ));
    }
    let mark = |kind| move |text| EndMark { text, kind };
    let unit_mark = normalizing.end_mark.clone().map(mark(EndMarkKind::Unit));
    Ok(Units {
        unit,
        end_mark: unit_mark.or_else(|| suffix.map(mark(EndMarkKind::Suffix))),
        continuing_prefix: prefix,
        unknown: model.unk_token.clone(),
        fuse_unknown: model.fuse_unk == Some(true),
        byte_fallback,
    })
}

fn is_words(stages: &[Stage]) -> bool {
    matches!(stages, [Stage { pattern, unmatched: Unmatched::Drop }] if pattern.source == WORD)
}

/// Tokens, merges and added tokens.
fn vocabulary(
    model: &Model,
    units: &Units,
    listed: &[Added],
) -> Result<(Vocabulary, Vec<AddedToken>)> {
    let entries = &model.vocab.0;
    let n_tokens = entries.len() + listed.len();
    check_id_range(FORMAT, entries.iter().map(|(_, id)| *id), n_tokens)?;
    let ids: HashMap<&str, TokenId> =
        entries.iter().map(|(name, id)| (name.as_str(), *id)).collect();
    if ids.len() < entries.len() {
        return Err(problem("model.vocab", "a token stands there twice"));
    }
    let merges = merges(model, units, &ids)?;
    let mut kinds = Kinds { units, is_added: HashSet::new(), is_merged: HashSet::new() };
    kinds.is_added.extend(listed.iter().map(|token| token.content.as_str()));
    kinds.is_merged.extend(merges.iter().flat_map(|merge| [merge.left, merge.right, merge.result]));
    let mut vocabulary = Vocabulary::new();
    for (name, id) in entries {
        let (kind, bytes) = kinds.token(name, *id)?;
        insert(&mut vocabulary, *id, Token { kind, bytes: &bytes })?;
    }
    merges.into_iter().for_each(|merge| vocabulary.push_merge_to(merge));
    check_unknown(model, &ids, &vocabulary, units)?;
    let added = added(&mut vocabulary, &ids, listed)?;
    Ok((vocabulary, added))
}

fn insert(vocabulary: &mut Vocabulary, id: TokenId, token: Token<'_>) -> Result<()> {
    let taken = |_| problem("model.vocab", format!("the id {id} belongs to two tokens"));
    vocabulary.insert(id, token).map_err(taken)
}

fn merges(model: &Model, units: &Units, ids: &HashMap<&str, TokenId>) -> Result<Vec<Merge>> {
    let prefix = units.continuing_prefix.as_deref().unwrap_or("");
    let named = |merge: &json::MergeNames| {
        format!("{} {}", quoted(merge.0.as_bytes()), quoted(merge.1.as_bytes()))
    };
    let merged = |(rank, merge): (usize, &json::MergeNames)| {
        let rest = merge.1.strip_prefix(prefix).ok_or_else(|| {
            problem(
                &format!("merge {rank}, {}", named(merge)),
                "its right part lacks the continuing prefix",
            )
        })?;
        let id = |name: &str| {
            let missing = || {
                let missing =
                    format!("the token {} is not in the vocabulary", quoted(name.as_bytes()));
                problem(&format!("merge {rank}, {}", named(merge)), missing)
            };
            ids.get(name).copied().ok_or_else(missing)
        };
        let result = id(&format!("{}{rest}", merge.0))?;
        Ok(Merge { left: id(&merge.0)?, right: id(&merge.1)?, result })
    };
    model.merges.iter().enumerate().map(merged).collect()
}

/// What decides the kind of a token.
struct Kinds<'m> {
    units: &'m Units,
    is_added: HashSet<&'m str>,
    is_merged: HashSet<TokenId>,
}

impl Kinds<'_> {
    fn token(&self, name: &str, id: TokenId) -> Result<(TokenKind, Vec<u8>)> {
        let is_text = self.is_merged.contains(&id) || name.chars().nth(1).is_none();
        let own = || name.as_bytes().to_vec();
        if !is_text && self.units.unknown.as_deref() == Some(name) {
            return Ok((TokenKind::Unknown, own()));
        }
        if !is_text && self.is_added.contains(name) {
            return Ok((TokenKind::Added, own()));
        }
        if self.units.is_bytes() {
            let bytes = bytes_of_printable(name).filter(|bytes| !bytes.is_empty());
            let not_bytes =
                || problem(&format!("the token {name:?}"), "has characters that stand for no byte");
            return bytes.map(|bytes| (TokenKind::PLAIN, bytes)).ok_or_else(not_bytes);
        }
        if name.is_empty() {
            return Err(problem("model.vocab", "a token without text"));
        }
        if let Some(byte) = byte_of_name(name).filter(|_| self.units.byte_fallback) {
            return Ok((TokenKind::Byte, vec![byte]));
        }
        let token = self.units.parse(name.as_bytes());
        let is_unit_mark = self.units.end_mark_kind() == Some(EndMarkKind::Unit);
        if token.bytes.is_empty() && !is_unit_mark {
            return Ok((TokenKind::PLAIN, own()));
        }
        Ok((token.kind, token.bytes.to_vec()))
    }
}

/// The byte of a token such as `<0x41>`.
fn byte_of_name(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_written_so = digits.len() == 2
        && !digits.bytes().any(|digit| digit.is_ascii_lowercase() || digit == b'+');
    u8::from_str_radix(digits, 16).ok().filter(|_| is_written_so)
}

fn check_unknown(
    model: &Model,
    ids: &HashMap<&str, TokenId>,
    vocabulary: &Vocabulary,
    units: &Units,
) -> Result<()> {
    let Some(name) = model.unk_token.as_deref() else { return Ok(()) };
    let kinds = [TokenKind::Unknown, TokenKind::Added, TokenKind::PLAIN];
    let found =
        kinds.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes: name.as_bytes() }));
    if found != ids.get(name).copied() {
        return Err(problem("model.unk_token", "a token that carries marks, or is no plain text"));
    }
    let n_bytes = vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::Byte).count();
    if units.byte_fallback && !matches!(n_bytes, 0 | 256) {
        return Err(problem(
            "model.byte_fallback",
            format!("{n_bytes} of the 256 bytes are in the vocabulary"),
        ));
    }
    Ok(())
}

/// The added tokens; those that are not in the vocabulary get the next ids, as in the library.
fn added(
    vocabulary: &mut Vocabulary,
    ids: &HashMap<&str, TokenId>,
    listed: &[Added],
) -> Result<Vec<AddedToken>> {
    let mut added: Vec<AddedToken> = Vec::with_capacity(listed.len());
    let mut seen = HashSet::new();
    let mut next_id = TokenId::try_from(ids.len()).unwrap_or(TokenId::MAX);
    for token in listed {
        let name = format!("the added token {}", quoted(token.content.as_bytes()));
        check_added(&name, token)?;
        let id = ids.get(token.content.as_str()).copied().unwrap_or(next_id);
        if id != token.id {
            return Err(problem(
                &name,
                format!("its id is {} in added_tokens, but it gets {id}", token.id),
            ));
        }
        if !seen.insert(token.content.as_str()) {
            return Err(problem(&name, "stands there twice"));
        }
        if !ids.contains_key(token.content.as_str()) {
            insert(
                vocabulary,
                id,
                Token { kind: TokenKind::Added, bytes: token.content.as_bytes() },
            )?;
            next_id += 1;
        }
        let Added { content, special, normalized, .. } = token;
        added.push(AddedToken {
            id,
            content: content.clone(),
            special: *special,
            normalized: *normalized,
        });
    }
    Ok(added)
}

fn check_added(name: &str, token: &Added) -> Result<()> {
    let flags =
        [("lstrip", token.lstrip), ("rstrip", token.rstrip), ("single_word", token.single_word)];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_set)| *is_set) {
        return Err(problem(name, format!("{flag} is not supported")));
    }
    if token.content.is_empty() {
        return Err(problem(name, "has no content"));
    }
    Ok(())
}

/// The added tokens, for a pipeline in which the pre-tokenizer changes the text before it is cut at them.
///
/// Steps of a pre-tokenizer stand behind that cut there and in front of it here. Without a normalizer
/// both cuts see the same text; then all tokens can be looked for in the first one.
fn added_for(
    normalizing: &Normalizing,
    cutting: &Cutting,
    units: &Units,
    mut added: Vec<AddedToken>,
) -> Result<Vec<AddedToken>> {
    let changes_late =
        !cutting.steps.is_empty() || units.end_mark_kind() == Some(EndMarkKind::Unit);
    if !changes_late || added.iter().all(|token| !token.normalized) {
        return Ok(added);
    }
    let is_plain = normalizing.steps.is_empty() && normalizing.end_mark.is_none();
    if !is_plain || added.iter().any(|token| !token.normalized) {
        return Err(problem(
            "added_tokens",
            "normalized=true is not supported together with a prefix or an end mark",
        ));
    }
    added.iter_mut().for_each(|token| token.normalized = false);
    Ok(added)
}

fn check_ignore_merges(ignore_merges: bool, units: &Units, vocabulary: &Vocabulary) -> Result<()> {
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    let has_bytes = || vocabulary.iter().any(|(_, token)| token.kind == TokenKind::Byte);
    if ignore_merges && (has_marks || has_bytes()) {
        return Err(problem(
            "model.ignore_merges",
            "not supported together with marks or byte fallback",
        ));
    }
    Ok(())
}

/// The unit, with the order in which the bytes stand.
fn unit(units: &Units, vocabulary: &Vocabulary) -> Unit {
    if !units.is_bytes() {
        return units.unit;
    }
    let mut by_value = (0..).zip(byte_order(ByteIds::Value));
    let is_by_value = by_value.all(|(id, byte)| vocabulary.id(Token::plain(&[byte])) == Some(id));
    Unit::Byte(if is_by_value { ByteIds::Value } else { ByteIds::Printable })
}

/// What a list of decoders undoes.
#[derive(Default)]
struct Undoing {
    rules: DecodeRules,
    is_byte_level: bool,
    has_bytes: bool,
    has_mark: bool,
    has_prefix: bool,
    is_fused: bool,
}

fn decode(decoder: Option<Decoder>, units: &Units) -> Result<DecodeRules> {
    let Some(decoder) = decoder else {
        return Err(problem(
            "decoder",
            "missing: the library would put a space between all tokens",
        ));
    };
    let mut undoing = Undoing::default();
    undoing.push(decoder, units)?;
    let is_whole = undoing.is_byte_level == units.is_bytes()
        && undoing.has_bytes == units.byte_fallback
        && undoing.has_mark == units.end_mark.is_some()
        && undoing.has_prefix == units.continuing_prefix.is_some();
    if !is_whole {
        return Err(problem("decoder", "does not undo what the model and the pre-tokenizer do"));
    }
    Ok(undoing.rules)
}

impl Undoing {
    fn push(&mut self, decoder: Decoder, units: &Units) -> Result<()> {
        match decoder {
            Decoder::Sequence { decoders } => {
                return decoders.into_iter().try_for_each(|decoder| self.push(decoder, units));
            }
            Decoder::ByteLevel(_) => self.is_byte_level = true,
            Decoder::Suffix { suffix } if mark_of(units) == Some(&suffix) => self.has_mark = true,
            Decoder::Suffix { .. } => {
                return Err(problem("decoder.BPEDecoder", "its suffix is not the model's"));
            }
            Decoder::Metaspace(metaspace) => {
                self.rules.replacements.push((metaspace.replacement.to_string(), " ".to_owned()));
                self.rules.n_leading_spaces = usize::from(metaspace.scheme()? != "never");
            }
            Decoder::Replace { pattern, content } => {
                return self.push_replace(pattern, content, units);
            }
            Decoder::ByteFallback {} => self.has_bytes = true,
            Decoder::Fuse {} => self.is_fused = true,
            Decoder::Strip { content: ' ', start, stop }
                if self.is_fused && stop == usize::from(self.has_mark) =>
            {
                self.rules.n_leading_spaces = start;
            }
            Decoder::Strip { .. } => {
                return Err(problem("decoder.Strip", "only spaces at the ends of the whole text"));
            }
        }
        Ok(())
    }

    fn push_replace(
        &mut self,
        pattern: schema::Pattern,
        content: String,
        units: &Units,
    ) -> Result<()> {
        match pattern {
            schema::Pattern::String(from) if mark_of(units) == Some(&from) && content == " " => {
                self.has_mark = true
            }
            schema::Pattern::String(from) if !from.is_empty() => {
                self.rules.replacements.push((from, content))
            }
            schema::Pattern::Regex(source)
                if content.is_empty()
                    && units.continuing_prefix.as_deref().map(prefix_pattern)
                        == Some(source.clone()) =>
            {
                self.has_prefix = true;
            }
            _ => {
                return Err(problem(
                    "decoder.Replace",
                    "a regular expression that is not understood",
                ));
            }
        }
        Ok(())
    }
}

fn mark_of(units: &Units) -> Option<&String> {
    units.end_mark.as_ref().map(|mark| &mark.text)
}

fn template(processor: Option<PostProcessor>, known: Template) -> Result<Template> {
    let Some(processor) = processor else { return Ok(known) };
    let is_second = known != Template::default();
    let template = match processor {
        PostProcessor::ByteLevel(_) => return Ok(known),
        PostProcessor::Sequence { processors } => {
            return processors
                .into_iter()
                .try_fold(known, |known, processor| template(Some(processor), known));
        }
        PostProcessor::RobertaProcessing { sep, cls, .. }
        | PostProcessor::BertProcessing { sep, cls } => {
            Template { before: vec![cls.1], after: vec![sep.1] }
        }
        PostProcessor::TemplateProcessing { single, special_tokens, .. } => {
            template_of(single, |name| special_tokens.get(name).map(|token| token.ids.clone()))?
        }
    };
    if is_second {
        return Err(problem("post_processor", "two templates"));
    }
    Ok(template)
}

fn template_of(pieces: Vec<Piece>, ids: impl Fn(&str) -> Option<Vec<TokenId>>) -> Result<Template> {
    let mut template = Template::default();
    let mut is_after = false;
    for piece in pieces {
        match piece {
            Piece::Sequence { id, .. } if id == "A" && !is_after => is_after = true,
            Piece::Sequence { .. } => {
                return Err(problem("post_processor.single", "not one sequence A"));
            }
            Piece::SpecialToken { id, .. } => {
                let missing =
                    || problem("post_processor.special_tokens", format!("{id:?} is missing"));
                let ids = ids(&id).ok_or_else(missing)?;
                let side = if is_after { &mut template.after } else { &mut template.before };
                side.extend(ids);
            }
        }
    }
    if !is_after {
        return Err(problem("post_processor.single", "not one sequence A"));
    }
    Ok(template)
}
