//! What a model takes: special tokens around one text or two, cut to a length, filled up to a length.
//!
//! These settings say nothing about the ids of a text itself. They apply where a call asks for special
//! tokens (`add_special_tokens`).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// The order of special tokens and texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// For one text.
    pub single: Vec<TemplatePiece>,
    /// For two texts.
    pub pair: Vec<TemplatePiece>,
}

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "PieceRecord", into = "PieceRecord")]
pub enum TemplatePiece {
    /// The ids of a text.
    Text {
        /// Which of the two.
        which: Sequence,
        /// The type of all its ids.
        type_id: u32,
    },
    /// Special tokens.
    Special {
        /// Their ids.
        ids: Vec<TokenId>,
        /// Their type.
        type_id: u32,
        /// How they are shown, where a file names them otherwise than the vocabulary does; else empty.
        names: Vec<String>,
    },
}

/// A [`TemplatePiece`] as a file has it.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum PieceRecord {
    First {
        type_id: u32,
    },
    Second {
        type_id: u32,
    },
    Special {
        ids: Vec<TokenId>,
        type_id: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
}

impl From<TemplatePiece> for PieceRecord {
    fn from(piece: TemplatePiece) -> Self {
        match piece {
            TemplatePiece::Text { which: Sequence::First, type_id } => Self::First { type_id },
            TemplatePiece::Text { which: Sequence::Second, type_id } => Self::Second { type_id },
            TemplatePiece::Special { ids, type_id, names } => Self::Special { ids, type_id, names },
        }
    }
}

impl From<PieceRecord> for TemplatePiece {
    fn from(record: PieceRecord) -> Self {
        match record {
            PieceRecord::First { type_id } => Self::Text { which: Sequence::First, type_id },
            PieceRecord::Second { type_id } => Self::Text { which: Sequence::Second, type_id },
            PieceRecord::Special { ids, type_id, names } => Self::Special { ids, type_id, names },
        }
    }
}

/// Which text of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sequence {
    /// The first, or the only one.
    First,
    /// The second.
    Second,
}

impl TemplatePiece {
    /// Special tokens, named as in the vocabulary.
    pub fn special(ids: Vec<TokenId>, type_id: u32) -> Self {
        Self::Special { ids, type_id, names: Vec::new() }
    }
}

impl Default for Template {
    /// No special tokens; the ids of the second text have the type 1.
    fn default() -> Self {
        Self::around(&[], &[])
    }
}

impl Template {
    /// These ids before and after each text.
    pub fn around(before: &[TokenId], after: &[TokenId]) -> Self {
        let one = |which, type_id| {
            let special = |ids: &[TokenId]| {
                (!ids.is_empty()).then(|| TemplatePiece::special(ids.to_vec(), type_id))
            };
            let text = TemplatePiece::Text { which, type_id };
            [special(before), Some(text), special(after)].into_iter().flatten().collect()
        };
        let first: Vec<_> = one(Sequence::First, 0);
        let pair = first.iter().cloned().chain(one(Sequence::Second, 1)).collect();
        Self { single: first, pair }
    }

    /// The ids before and after a single text.
    pub fn sides(&self) -> (Vec<TokenId>, Vec<TokenId>) {
        let mut sides = (Vec::new(), Vec::new());
        let mut is_after = false;
        for piece in &self.single {
            match piece {
                TemplatePiece::Text { .. } => is_after = true,
                TemplatePiece::Special { ids, .. } if is_after => sides.1.extend_from_slice(ids),
                TemplatePiece::Special { ids, .. } => sides.0.extend_from_slice(ids),
            }
        }
        sides
    }

    /// The pieces for one text, or for two.
    pub fn pieces(&self, is_pair: bool) -> &[TemplatePiece] {
        if is_pair { &self.pair } else { &self.single }
    }

    /// The number of special tokens around one text, or around two.
    pub fn n_added(&self, is_pair: bool) -> usize {
        let lens = self.pieces(is_pair).iter().map(|piece| match piece {
            TemplatePiece::Text { .. } => 0,
            TemplatePiece::Special { ids, .. } => ids.len(),
        });
        lens.sum()
    }

    /// The ids of all its special tokens.
    pub fn special_ids(&self) -> impl Iterator<Item = TokenId> {
        self.single.iter().chain(&self.pair).flat_map(|piece| match piece {
            TemplatePiece::Text { .. } => Vec::new(),
            TemplatePiece::Special { ids, .. } => ids.clone(),
        })
    }

    /// The ids of special tokens that have names, with those.
    pub fn named_ids(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.single.iter().chain(&self.pair).flat_map(|piece| match piece {
            TemplatePiece::Text { .. } => Vec::new(),
            TemplatePiece::Special { ids, names, .. } => {
                ids.iter().copied().zip(names.iter().map(String::as_str)).collect()
            }
        })
    }

    /// Leaves out names that are those of the vocabulary.
    pub fn leave_out_names(&mut self, name: impl Fn(TokenId) -> String) {
        for piece in self.single.iter_mut().chain(&mut self.pair) {
            if let TemplatePiece::Special { ids, names, .. } = piece
                && ids.iter().map(|&id| name(id)).eq(names.iter().cloned())
            {
                names.clear();
            }
        }
    }

    /// Refuses an order without a text, a second text in the order for one, and a number of names other than that of
    /// ids.
    pub(crate) fn check(&self) -> Result<()> {
        let has = |pieces: &[TemplatePiece], wanted: Sequence| {
            pieces
                .iter()
                .any(|piece| matches!(piece, TemplatePiece::Text { which, .. } if *which == wanted))
        };
        let [has_one, has_other] =
            [Sequence::First, Sequence::Second].map(|which| has(&self.single, which));
        if has_other {
            return Err(Error::option("template", "of one text has the second of two"));
        }
        if !has_one || !has(&self.pair, Sequence::First) && !has(&self.pair, Sequence::Second) {
            return Err(Error::option(
                "template",
                "has no text, so that every text would be the same",
            ));
        }
        self.check_names()
    }

    fn check_names(&self) -> Result<()> {
        let fits = |piece: &TemplatePiece| match piece {
            TemplatePiece::Text { .. } => true,
            TemplatePiece::Special { ids, names, .. } => {
                names.is_empty() || names.len() == ids.len()
            }
        };
        match self.single.iter().chain(&self.pair).all(fits) {
            true => Ok(()),
            false => Err(Error::option("template", "does not have one name for each id")),
        }
    }
}

/// Which end of the ids is cut off or filled up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    #[default]
    Right,
}

/// How ids are cut to a length.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncation {
    /// The most ids of an encoding, special tokens included.
    pub max_length: usize,
    /// How many ids neighbouring overflowing parts share.
    pub stride: usize,
    /// Which text of a pair is cut.
    pub strategy: TruncationStrategy,
    /// Which end is cut off.
    pub side: Side,
}

impl Truncation {
    /// How many ids are left of one text, or of two, where `n_added` special tokens come to them.
    ///
    /// # Errors
    /// Where the special tokens alone are too many, the text that is to be cut is not there or too short, or
    /// neighbouring parts would have to share all their ids.
    pub(crate) fn lens(
        &self,
        n_first: usize,
        n_second: Option<usize>,
        n_added: usize,
    ) -> Result<(usize, usize)> {
        let lens = (n_first, n_second.unwrap_or_default());
        let max_len = self.max_length.checked_sub(n_added).ok_or_else(|| {
            let problem = format!(
                "max_length is {}, but there are {n_added} special tokens",
                self.max_length
            );
            Error::option("truncation", problem)
        })?;
        if lens.0 + lens.1 <= max_len {
            return Ok(lens);
        }
        let left = self.left(lens, n_second.is_some(), max_len)?;
        for (len, left) in [(lens.0, left.0), (lens.1, left.1)] {
            if 0 < left && left < len && left <= self.stride {
                let stride = self.stride;
                let problem = format!(
                    "stride is {stride}, but only {left} ids of the text are left to share"
                );
                return Err(Error::option("truncation", problem));
            }
        }
        Ok(left)
    }

    /// How many ids of each text are left if the texts are too long.
    fn left(&self, lens: (usize, usize), is_pair: bool, max_len: usize) -> Result<(usize, usize)> {
        let too_short = |which: &str| {
            Error::option(
                "truncation",
                format!("the {which} text is too short to cut it to max_length"),
            )
        };
        match self.strategy {
            _ if max_len == 0 => Ok((0, 0)),
            TruncationStrategy::LongestFirst if is_pair => Ok(longest_first(lens, max_len)),
            TruncationStrategy::LongestFirst => Ok((max_len, 0)),
            TruncationStrategy::OnlyFirst if lens.1 < max_len => Ok((max_len - lens.1, lens.1)),
            TruncationStrategy::OnlyFirst => Err(too_short("first")),
            TruncationStrategy::OnlySecond if !is_pair => {
                Err(Error::option("truncation", "the second text is to be cut, but there is none"))
            }
            TruncationStrategy::OnlySecond if lens.0 < max_len => Ok((lens.0, max_len - lens.0)),
            TruncationStrategy::OnlySecond => Err(too_short("second")),
        }
    }
}

/// Cuts the longer text until both fit, or both in half.
fn longest_first((first, second): (usize, usize), max_len: usize) -> (usize, usize) {
    let shorter = first.min(second);
    let (short, long) = match max_len.checked_sub(shorter) {
        Some(rest) if rest >= shorter => (shorter, rest),
        _ => (max_len / 2, max_len - max_len / 2),
    };
    if first > second { (long, short) } else { (short, long) }
}

/// Paddings beyond this many ids are taken for mistakes: each id takes memory.
const MAX_PADDING: usize = 1 << 20;

impl Padding {
    /// Refuses lengths that no model has.
    ///
    /// # Errors
    /// Where it is longer than that.
    pub fn check(&self) -> Result<()> {
        match self.length.max(self.multiple_of) {
            Some(len) if len > MAX_PADDING => {
                Err(Error::option("padding", format!("{len} ids are more than {MAX_PADDING}")))
            }
            _ => Ok(()),
        }
    }

    /// Fills the ids from a place on up to a length.
    pub(crate) fn fill(&self, len: usize, start: usize, ids: &mut Vec<TokenId>) {
        let n_missing = len.saturating_sub(ids.len() - start);
        ids.resize(ids.len() + n_missing, self.id);
        if self.side == Side::Left {
            ids[start..].rotate_right(n_missing);
        }
    }

    /// The length that an encoding is filled up to, where the longest has `longest` ids.
    pub(crate) fn len(&self, longest: usize) -> usize {
        let len = self.length.unwrap_or(longest);
        match self.multiple_of {
            Some(multiple) if multiple > 0 => len.checked_next_multiple_of(multiple).unwrap_or(len),
            _ => len,
        }
    }
}

/// Which text of a pair is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TruncationStrategy {
    /// The longer one first.
    #[default]
    LongestFirst,
    /// Only the first.
    OnlyFirst,
    /// Only the second.
    OnlySecond,
}

/// How ids are filled up to a length.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// The length, or that of the longest of a batch.
    pub length: Option<usize>,
    /// The length is rounded up to a multiple of this.
    pub multiple_of: Option<usize>,
    /// Which end is filled up.
    pub side: Side,
    /// The id that fills up.
    pub id: TokenId,
    /// Its type.
    pub type_id: u32,
    /// How it is written.
    pub token: String,
}

/// The lengths of one call, which stand in for those of the tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths<'l> {
    /// How ids are cut to a length; not at all if `None`.
    pub truncation: Option<&'l Truncation>,
    /// How ids are filled up to a length; not at all if `None`.
    pub padding: Option<&'l Padding>,
}

/// How spans of tokens are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OffsetRules {
    /// Whether white space at the ends of a token is no part of its span.
    pub trim: bool,
    /// Whether a space is put in front of texts, which the first span never had.
    pub prefix_space: bool,
}
