//! Dialects: every kind of byte-pair encoding is a choice of the same parts.
//!
//! A [`Dialect`] holds all that must be known before training: how text is normalized and split, what its units are,
//! which pair is merged first. The named ones are starting points; each field can be set. [`Dialect::tokenizer`] makes
//! a tokenizer of the result of training.

use std::collections::HashSet;
use std::sync::Arc;

use crate::added::AddedToken;
use crate::count::Preparation;
use crate::decode::{Decode, DecodeRules};
use crate::error::{Error, Result};
use crate::normalize::{NormalizeStep, Normalizer, UnicodeForm};
use crate::tokenizer::{Parts, Tokenizer};
use crate::train::{Target, Ties, TrainOptions, Trained};
use crate::units::{ByteIds, EndMark, EndMarkKind, Units};
use crate::vocabulary::{Token, TokenKind, Vocabulary};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage, Unmatched};

/// The parts of a tokenizer that are chosen before training.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// Changes of the text, in training and in encoding.
    pub normalize: Vec<NormalizeStep>,
    /// Changes of the text in training, if they differ.
    pub normalize_training: Option<Vec<NormalizeStep>>,
    /// How text is cut into pieces.
    pub split: Vec<Stage>,
    /// What a piece is made of.
    pub units: Units,
    /// Which of several pairs with equal counts is merged first.
    pub ties: Ties,
    /// Pairs that occur less often are not merged.
    pub min_count: i64,
    /// What is undone when ids become text.
    pub decode: DecodeRules,
}

/// Names of dialects whose pattern has a different name, with that name.
const MODEL_PATTERNS: [(&str, &str); 7] = [
    ("gpt2", "gpt2"),
    ("gpt4", "cl100k"),
    ("gpt4o", "o200k"),
    ("llama3", "llama3"),
    ("qwen", "qwen2"),
    ("deepseek-v3", "deepseek-v3"),
    ("tekken", "tekken"),
];

/// The dialects of papers, courses and older tools.
const OTHER_NAMES: [&str; 7] = [
    "letters-digits",
    "byte-stream",
    "sennrich",
    "subword-nmt",
    "jurafsky-martin",
    "unknown-token",
    "sentencepiece",
];

impl Dialect {
    /// The name of the dialect of SentencePiece's files.
    pub const MODEL: &'static str = "sentencepiece";

    /// The dialect with a name, if there is one; see [`Dialect::names`].
    pub fn named(name: &str) -> Option<Self> {
        if let Some((_, pattern)) = MODEL_PATTERNS.iter().find(|(dialect, _)| *dialect == name) {
            return Some(Self::bytes(ByteIds::Printable, bytepair_split::named(pattern)?));
        }
        let words = || bytepair_split::named("words").unwrap_or_default();
        Some(match name {
            "letters-digits" => Self {
                ties: Ties::FirstSeen,
                ..Self::bytes(ByteIds::Value, bytepair_split::named(name)?)
            },
            "byte-stream" => Self {
                ties: Ties::FirstSeen,
                min_count: 1,
                ..Self::bytes(ByteIds::Value, Vec::new())
            },
            "sennrich" => Self {
                ties: Ties::FirstSeen,
                ..Self::characters(Some(("</w>", EndMarkKind::Unit)), words())
            },
            "subword-nmt" => Self {
                ties: Ties::LargestText,
                ..Self::characters(
                    Some(("</w>", EndMarkKind::Suffix)),
                    bytepair_split::named(name)?,
                )
            },
            "jurafsky-martin" => Self {
                ties: Ties::FirstSeen,
                min_count: 1,
                normalize: vec![NormalizeStep::Lowercase],
                ..Self::characters(Some(("_", EndMarkKind::Unit)), words())
            },
            "unknown-token" => Self::unknown_token(),
            "sentencepiece" => Self::sentencepiece(),
            _ => return None,
        })
    }

    /// The names of all dialects.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MODEL_PATTERNS.iter().map(|(name, _)| *name).chain(OTHER_NAMES)
    }

    /// The processing of training text before its pieces are counted.
    pub fn preparation(&self, special_tokens: &[String]) -> Result<Preparation> {
        self.units.check_training()?;
        let unicode = UnicodeTables::latest();
        let steps = self.normalize_training.as_ref().unwrap_or(&self.normalize).clone();
        Ok(Preparation {
            as_encoded: None,
            splitter: Splitter::new(self.split.clone(), &unicode)?,
            normalizer: Normalizer::new(steps, unicode),
            special_tokens: special_tokens.to_vec(),
            separator: None,
            requires_utf8: !self.units.is_bytes(),
        })
    }

    /// The dialect of a tokenizer, as far as a tokenizer determines one.
    ///
    /// A tokenizer does not say which pair is merged first and how often one must occur. These are taken from the
    /// named dialect with the same parts ([`Dialect::name`]), or from published models if there is none.
    ///
    /// # Errors
    /// If its pieces are cut in rounds with changes between them, which training does not support.
    pub fn of(tokenizer: &Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
        let (steps, splitter) = one_round(parts)?;
        let decode = match &parts.decode {
            Decode::Rules(rules) => rules.clone(),
            Decode::Chain(_) | Decode::SentencePiece(_) => DecodeRules::default(),
        };
        let dialect = Self {
            normalize: steps,
            units: parts.units.clone(),
            decode,
            ..Self::bytes(ByteIds::Printable, splitter.stages().to_vec())
        };
        Ok(match dialect.order_of().and_then(Self::named) {
            Some(Self { ties, min_count, .. }) => Self { ties, min_count, ..dialect },
            None => dialect,
        })
    }

    /// The name of the dialect in whose merge order training continues from these parts, if it is known.
    pub fn order_of(&self) -> Option<&'static str> {
        self.name().or_else(|| self.is_model().then_some(Self::MODEL))
    }

    /// Whether text is normalized as a SentencePiece file says. Then training continues in the order of its dialect.
    pub fn is_model(&self) -> bool {
        self.normalize.iter().any(|step| matches!(step, NormalizeStep::SentencePiece(_)))
    }

    /// The name of the dialect that changes, cuts and represents text like this one, if there is one. A dialect whose
    /// patterns are written the same way is preferred to one that only cuts alike.
    pub fn name(&self) -> Option<&'static str> {
        let find = |is_same: &dyn Fn(&Self) -> bool| {
            Self::names().find(|name| Self::named(name).is_some_and(|dialect| is_same(&dialect)))
        };
        let is_alike = |dialect: &Self| dialect.difference(self).is_none();
        find(&|dialect| dialect.split == self.split && is_alike(dialect))
            .or_else(|| find(&is_alike))
    }

    /// The option name of the first part in which two dialects differ, among the parts that a tokenizer has.
    ///
    /// Files may write a pattern differently, give a byte another id, or leave out missing parts. So patterns are
    /// compared by how they cut text, and units by the symbols that they make of a piece.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.normalize != other.normalize {
            return Some("normalize");
        }
        if let Some(part) = units_difference(&self.units, &other.units) {
            return Some(part);
        }
        (!bytepair_split::cuts_alike(&self.split, &other.split)).then_some("pattern")
    }

    /// The processing of training text from which a tokenizer of this dialect learns more. The tokenizer cuts it as in
    /// encoding, unless training has normalizer steps of its own. `special_tokens` are found too.
    ///
    /// # Errors
    /// As for [`Dialect::of`].
    pub fn preparation_for(
        &self,
        tokenizer: &Arc<Tokenizer>,
        special_tokens: &[String],
    ) -> Result<Preparation> {
        self.units.check()?;
        let Parts { normalizer, added, .. } = tokenizer.parts();
        let (_, splitter) = one_round(tokenizer.parts())?;
        let mut known = HashSet::new();
        let names = added.iter().map(|token| &token.content).chain(special_tokens);
        let names: Vec<_> = names.filter(|name| known.insert(*name)).cloned().collect();
        let steps = self.normalize_training.clone();
        let as_encoded = steps.is_none().then(|| Tokenizer::cutting_texts(tokenizer, &names));
        Ok(Preparation {
            as_encoded: as_encoded.transpose()?,
            splitter,
            normalizer: Normalizer::new(steps.unwrap_or_default(), normalizer.unicode()),
            special_tokens: names,
            separator: None,
            requires_utf8: !self.units.is_bytes(),
        })
    }

    /// The options for training in this dialect up to `target`.
    pub fn train_options(&self, target: Target, special_tokens: Vec<String>) -> TrainOptions {
        let (min_count, ties) = (self.min_count, self.ties);
        TrainOptions { min_count, ties, special_tokens, ..TrainOptions::new(target) }
    }

    /// The tokenizer trained in this dialect without earlier merges. With earlier merges, use
    /// [`Tokenizer::with_learned`] of the earlier tokenizer.
    pub fn tokenizer(&self, trained: Trained, options: &TrainOptions) -> Result<Tokenizer> {
        self.tokenizer_of(trained.vocabulary, &options.special_tokens)
    }

    /// A tokenizer of merges of tokens as they are written, and of the symbols that these need. Training can go on from
    /// it with other ids. `counts` says how often each pair occurred, or is empty.
    ///
    /// # Errors
    /// If a part is neither a symbol nor made by an earlier merge, or two merges make the same token.
    pub fn tokenizer_of_merges(
        &self,
        merges: &[[&[u8]; 2]],
        counts: Vec<i64>,
    ) -> Result<Tokenizer> {
        let mut vocabulary = Vocabulary::new();
        for (number, written) in (1..).zip(merges) {
            let shown = written.map(String::from_utf8_lossy);
            let refused = |problem: &str| {
                let problem =
                    format!("merge {number}, {:?} and {:?}, {problem}", shown[0], shown[1]);
                Err(Error::option("initial_merges", problem))
            };
            let parts = written.map(|written| self.units.parse(written));
            let is_ready =
                |part: Token<'_>| self.units.is_symbol(part) || vocabulary.id(part).is_some();
            if !parts.into_iter().all(is_ready) {
                return refused("has a part that is neither a symbol nor made by an earlier merge");
            }
            let [left, right] = parts.map(|part| vocabulary.push(part));
            let n_tokens = vocabulary.len();
            vocabulary.push_merge(left?, right?)?;
            if vocabulary.len() == n_tokens {
                return refused("makes a token that an earlier merge makes");
            }
        }
        if counts.len() == merges.len() {
            vocabulary.set_merge_counts(counts);
        }
        self.tokenizer_of(vocabulary, &[])
    }

    /// This dialect with another pattern, to learn tokens that reach beyond words.
    ///
    /// # Errors
    /// If the dialect drops text between pieces or marks the ends of words: such a token would not stand for its text.
    pub fn beyond_words(&self, split: Vec<Stage>) -> Result<Self> {
        let drops =
            self.split.iter().chain(&split).any(|stage| stage.behaviour == Behaviour::Removed);
        if drops || self.units.has_marks() {
            let what = if drops { "drops what stands between words" } else { "marks words" };
            let problem = format!("the dialect {what}; use one that keeps spaces, such as gpt4o");
            return Err(Error::option("superwords", problem));
        }
        Ok(Self { split, ..self.clone() })
    }

    /// Whether a tokenizer cuts text where this dialect does.
    ///
    /// # Errors
    /// As for [`Dialect::of`].
    pub fn cuts_like(&self, tokenizer: &Tokenizer) -> Result<bool> {
        Ok(bytepair_split::cuts_alike(&self.split, &Self::of(tokenizer)?.split))
    }

    /// A tokenizer with the pattern of this dialect; all else stays.
    ///
    /// # Errors
    /// If the pattern is not valid.
    pub fn with_pattern(&self, tokenizer: &Tokenizer) -> Result<Tokenizer> {
        let splitter = Splitter::new(self.split.clone(), &UnicodeTables::latest())?;
        let parts = tokenizer.parts().clone();
        Tokenizer::unprepared(Parts { pre_tokenizer: splitter.into(), ..parts })
    }

    /// A tokenizer of this dialect with the alphabet and the merges of another that was trained at once, without the
    /// unknown and the special tokens, which come last.
    ///
    /// # Errors
    /// If the pattern is not valid.
    pub fn without_names(&self, tokenizer: &Tokenizer) -> Result<Tokenizer> {
        let learned = &tokenizer.parts().vocabulary;
        let is_name = |kind| matches!(kind, TokenKind::Unknown | TokenKind::Added);
        let mut vocabulary = Vocabulary::new();
        for (_, token) in learned.iter().filter(|(_, token)| !is_name(token.kind)) {
            vocabulary.push(token)?;
        }
        learned.merges().iter().for_each(|&merge| vocabulary.push_merge_to(merge));
        vocabulary.set_merge_counts(learned.merge_counts().to_vec());
        self.tokenizer_of(vocabulary, &[])
    }

    fn tokenizer_of(&self, vocabulary: Vocabulary, special: &[String]) -> Result<Tokenizer> {
        let unicode = UnicodeTables::latest();
        let is_unknown = |name: &&String| self.units.unknown.as_ref() == Some(*name);
        let names = special.iter().filter(|name| !is_unknown(name));
        let added = names.filter_map(|name| {
            let token = Token { kind: TokenKind::Added, bytes: name.as_bytes() };
            let id = vocabulary.id(token)?;
            Some(AddedToken { id, content: name.clone(), special: true, ..AddedToken::default() })
        });
        // Many tokenizers are only saved, and never encode here.
        Tokenizer::unprepared(Parts {
            pre_tokenizer: Splitter::new(self.split.clone(), &unicode)?.into(),
            normalizer: Normalizer::new(self.normalize.clone(), unicode),
            added: added.collect(),
            decode: Decode::Rules(self.decode.clone()),
            ..Parts::new(self.units.clone(), Arc::new(vocabulary))
        })
    }

    fn bytes(byte_ids: ByteIds, split: Vec<Stage>) -> Self {
        Self {
            normalize: Vec::new(),
            normalize_training: None,
            split,
            units: Units::bytes(byte_ids),
            ties: Ties::SmallestIds,
            min_count: 2,
            decode: DecodeRules::default(),
        }
    }

    fn characters(end_mark: Option<(&str, EndMarkKind)>, split: Vec<Stage>) -> Self {
        let end_mark = end_mark.map(|(text, kind)| EndMark { text: text.to_owned(), kind });
        Self {
            units: Units { end_mark, ..Units::characters() },
            ..Self::bytes(ByteIds::Value, split)
        }
    }

    fn unknown_token() -> Self {
        let split = bytepair_split::named("word-punctuation").unwrap_or_default();
        let mut dialect =
            Self { ties: Ties::FirstSeen, min_count: 1, ..Self::characters(None, split) };
        dialect.units.unknown = Some("[UNK]".to_owned());
        dialect
    }

    fn sentencepiece() -> Self {
        let space = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let (from, to) = space(" ", "▁");
        let pattern =
            Pattern { source: r"▁?[^\s▁]+|▁|\s".to_owned(), flavour: Flavour::Oniguruma };
        let stage = Stage::matches(pattern, Unmatched::Keep);
        let mut dialect = Self {
            normalize: vec![
                NormalizeStep::Form(UnicodeForm::Nfkc),
                NormalizeStep::Replace { from, to },
            ],
            decode: DecodeRules {
                replacements: vec![space("▁", " ")],
                n_leading_spaces: 0,
                ..DecodeRules::default()
            },
            ..Self::characters(None, vec![stage])
        };
        dialect.units.byte_fallback = true;
        dialect
    }
}

/// The changes of a text, and the splitter that cuts it afterwards.
///
/// # Errors
/// If pieces are changed between two cuts.
fn one_round(parts: &Parts) -> Result<(Vec<NormalizeStep>, Splitter)> {
    let steps = parts.normalizer.steps();
    match parts.pre_tokenizer.rounds() {
        [] => Ok((steps.to_vec(), Splitter::whole())),
        [round] => {
            let steps = steps.iter().chain(round.change.steps()).cloned();
            Ok((steps.collect(), round.splitter.clone()))
        }
        _ => {
            let problem = "changes text between two cuts, which training does not do";
            Err(Error::option("resume", problem))
        }
    }
}

/// The option in which two units differ in the symbols that they make of a piece.
fn units_difference(one: &Units, other: &Units) -> Option<&'static str> {
    let parts = [
        ("unit", one.is_bytes() == other.is_bytes()),
        ("end_mark", one.end_mark == other.end_mark),
        ("continuing_prefix", one.continuing_prefix == other.continuing_prefix),
        ("unknown_token", one.unknown == other.unknown),
        ("byte_fallback", one.byte_fallback == other.byte_fallback),
    ];
    parts.into_iter().find(|(_, is_equal)| !is_equal).map(|(name, _)| name)
}
