//! What a model receives: special tokens around one text or two, truncated and padded.
//!
//! These settings do not affect the ids of a text itself. They apply if a call asks for special tokens
//! (`add_special_tokens`).

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
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TemplatePiece {
    /// The ids of the first text, or of the only one.
    First {
        /// The type of all its ids.
        type_id: u32,
    },
    /// The ids of the second text.
    Second {
        /// The type of all its ids.
        type_id: u32,
    },
    /// Special tokens.
    Special {
        /// Their ids.
        ids: Vec<TokenId>,
        /// Their type.
        type_id: u32,
        /// Their names, if a file names them differently from the vocabulary; otherwise empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
}

impl TemplatePiece {
    /// The index of its text among the two, and the type of the ids; `None` for special tokens.
    pub(crate) fn text(&self) -> Option<(usize, u32)> {
        match self {
            Self::First { type_id } => Some((0, *type_id)),
            Self::Second { type_id } => Some((1, *type_id)),
            Self::Special { .. } => None,
        }
    }

    /// Special tokens, named as in the vocabulary.
    pub fn special(ids: Vec<TokenId>, type_id: u32) -> Self {
        Self::Special { ids, type_id, names: Vec::new() }
    }
}

impl Default for Template {
    /// No special tokens. The ids of the second text have the type 1.
    fn default() -> Self {
        Self::around(&[], &[])
    }
}

impl Template {
    /// These ids before and after each text.
    pub fn around(before: &[TokenId], after: &[TokenId]) -> Self {
        let one = |text, type_id| {
            let special = |ids: &[TokenId]| {
                (!ids.is_empty()).then(|| TemplatePiece::special(ids.to_vec(), type_id))
            };
            [special(before), Some(text), special(after)].into_iter().flatten().collect()
        };
        let first: Vec<_> = one(TemplatePiece::First { type_id: 0 }, 0);
        let pair =
            first.iter().cloned().chain(one(TemplatePiece::Second { type_id: 1 }, 1)).collect();
        Self { single: first, pair }
    }

    /// The pieces for one text, or for two.
    pub fn pieces(&self, is_pair: bool) -> &[TemplatePiece] {
        if is_pair { &self.pair } else { &self.single }
    }

    /// The ids of its special tokens, in their runs, with their names.
    fn specials(&self) -> impl Iterator<Item = (&[TokenId], &[String])> {
        self.single.iter().chain(&self.pair).filter_map(|piece| match piece {
            TemplatePiece::Special { ids, names, .. } => Some((&ids[..], &names[..])),
            _ => None,
        })
    }

    /// The ids of all its special tokens.
    pub fn special_ids(&self) -> impl Iterator<Item = TokenId> {
        self.specials().flat_map(|(ids, _)| ids.iter().copied())
    }

    /// The same, to be changed.
    pub(crate) fn ids_mut(&mut self) -> impl Iterator<Item = &mut TokenId> {
        self.single.iter_mut().chain(&mut self.pair).flat_map(|piece| match piece {
            TemplatePiece::Special { ids, .. } => ids.as_mut_slice(),
            _ => &mut [],
        })
    }

    /// The ids of special tokens that have names, with these names.
    pub fn named_ids(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.specials()
            .flat_map(|(ids, names)| ids.iter().copied().zip(names.iter().map(String::as_str)))
    }

    /// Removes names that are the same as in the vocabulary.
    pub fn leave_out_names(&mut self, name: impl Fn(TokenId) -> String) {
        for piece in self.single.iter_mut().chain(&mut self.pair) {
            if let TemplatePiece::Special { ids, names, .. } = piece
                && ids.iter().map(|&id| name(id)).eq(names.iter().cloned())
            {
                names.clear();
            }
        }
    }

    /// Refuses an order without a text, a second text in the order for one, and names whose number differs from that
    /// of the ids.
    pub(crate) fn check(&self) -> Result<()> {
        let refused = |problem: &str| Err(Error::option("template", problem));
        let [single, pair] = [&self.single, &self.pair].map(|pieces| Contents::of(pieces).copies);
        if single.1 > 0 {
            return refused("of one text has the second of two");
        }
        if single.0 == 0 || pair == (0, 0) {
            return refused("has no text, so that every text would be the same");
        }
        match self.specials().all(|(ids, names)| names.is_empty() || names.len() == ids.len()) {
            true => Ok(()),
            false => refused("does not have one name for each id"),
        }
    }
}

/// Which end of the ids is truncated or padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    #[default]
    Right,
}

/// How ids are truncated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncation {
    /// The most ids of an encoding, including special tokens.
    pub max_length: usize,
    /// How many ids adjacent overflowing parts share.
    pub stride: usize,
    /// Which text of a pair is cut.
    pub strategy: TruncationStrategy,
    /// Which end is cut off.
    pub side: Side,
}

/// The contents of the pieces of a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The number of special tokens.
    pub(crate) n_added: usize,
    /// How often the first text occurs, and the second.
    pub(crate) copies: (usize, usize),
}

impl Contents {
    /// Counts pieces.
    pub(crate) fn of<'p>(pieces: impl IntoIterator<Item = &'p TemplatePiece>) -> Self {
        let mut contents = Self::default();
        for piece in pieces {
            match piece {
                TemplatePiece::Special { ids, .. } => contents.n_added += ids.len(),
                TemplatePiece::First { .. } => contents.copies.0 += 1,
                TemplatePiece::Second { .. } => contents.copies.1 += 1,
            }
        }
        contents
    }

    /// The number of ids if the texts have this many.
    pub(crate) fn n_ids(&self, (first, second): (usize, usize)) -> usize {
        let n_firsts = first.saturating_mul(self.copies.0);
        let n_seconds = second.saturating_mul(self.copies.1);
        n_firsts.saturating_add(n_seconds).saturating_add(self.n_added)
    }
}

impl Truncation {
    /// How many ids are left of one text, or of two, so that a template with these contents has at most `max_length`
    /// ids. Each copy of a text has the same ids. A text that the template leaves out counts as if it occurred once,
    /// as in the library that reads `tokenizer.json`.
    ///
    /// # Errors
    /// If the special tokens alone are too many, if the text to be cut is missing or too short, or if adjacent parts
    /// would share all their ids.
    pub(crate) fn lens(
        &self,
        n_first: usize,
        n_second: Option<usize>,
        contents: Contents,
    ) -> Result<(usize, usize)> {
        let lens = (n_first, n_second.unwrap_or_default());
        let n_added = contents.n_added;
        let copies = (contents.copies.0.max(1), contents.copies.1.max(1));
        let texts = Contents { n_added: 0, copies };
        let Self { max_length, stride, .. } = *self;
        let Some(max_len) = max_length.checked_sub(n_added) else {
            let problem =
                format!("max_length is {max_length}, but there are {n_added} special tokens");
            return Err(Error::option("truncation", problem));
        };
        if texts.n_ids(lens) <= max_len {
            return Ok(lens);
        }
        let left = self.left(lens, copies, n_second.is_some(), max_len)?;
        for (len, left) in [(lens.0, left.0), (lens.1, left.1)] {
            if 0 < left && left < len && left <= stride {
                let problem = format!(
                    "stride is {stride}, but only {left} ids of the text are left to share"
                );
                return Err(Error::option("truncation", problem));
            }
        }
        Ok(left)
    }

    /// How many ids of each text are left if the texts are too long.
    fn left(
        &self,
        lens: (usize, usize),
        copies: (usize, usize),
        is_pair: bool,
        max_len: usize,
    ) -> Result<(usize, usize)> {
        let refused = |problem: &str| Err(Error::option("truncation", problem));
        // How many ids are left of one text if the other stays whole.
        let rest = |n_copies: usize, other_len: usize, n_others| {
            max_len.saturating_sub(other_len.saturating_mul(n_others)) / n_copies
        };
        match self.strategy {
            _ if max_len == 0 => Ok((0, 0)),
            TruncationStrategy::LongestFirst if is_pair => Ok(longest_first(lens, copies, max_len)),
            TruncationStrategy::LongestFirst => Ok((max_len / copies.0, 0)),
            TruncationStrategy::OnlyFirst => match rest(copies.0, lens.1, copies.1) {
                0 => refused("the first text is too short to cut it to max_length"),
                first => Ok((first, lens.1)),
            },
            TruncationStrategy::OnlySecond if !is_pair => {
                refused("the second text is to be cut, but there is none")
            }
            TruncationStrategy::OnlySecond => match rest(copies.1, lens.0, copies.0) {
                0 => refused("the second text is too short to cut it to max_length"),
                second => Ok((lens.0, second)),
            },
        }
    }
}

/// Cuts the longer text until both fit, or both to the same length; the longer one gets the remainder.
fn longest_first(
    (first, second): (usize, usize),
    copies: (usize, usize),
    max_len: usize,
) -> (usize, usize) {
    let is_first_longer = first > second;
    let (shorter, longer) = if is_first_longer { (second, first) } else { (first, second) };
    let (n_shorts, n_longs) = if is_first_longer { (copies.1, copies.0) } else { copies };
    let short = shorter.min(max_len / n_shorts.saturating_add(n_longs));
    let long = longer.min((max_len - short * n_shorts) / n_longs);
    if is_first_longer { (long, short) } else { (short, long) }
}

/// Longer paddings are taken for mistakes, since each id takes memory.
const MAX_PADDING: usize = 1 << 20;

impl Padding {
    /// Refuses lengths that no model has.
    ///
    /// # Errors
    /// If the length, or the number that it is rounded up to a multiple of, is more than 1,048,576.
    pub fn check(&self) -> Result<()> {
        match self.length.max(self.multiple_of) {
            Some(len) if len > MAX_PADDING => {
                Err(Error::option("padding", format!("{len} ids are more than {MAX_PADDING}")))
            }
            _ => Ok(()),
        }
    }

    /// Pads the ids from an index on to a length.
    pub(crate) fn fill(&self, len: usize, start: usize, ids: &mut Vec<TokenId>) {
        let n_missing = len.saturating_sub(ids.len() - start);
        ids.resize(ids.len() + n_missing, self.id);
        if self.side == Side::Left {
            ids[start..].rotate_right(n_missing);
        }
    }

    /// The length to pad encodings to, if the longest has `longest` ids.
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

/// How ids are padded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// The length; without it, that of the longest of a batch.
    pub length: Option<usize>,
    /// The length is rounded up to a multiple of this.
    pub multiple_of: Option<usize>,
    /// Which end is padded.
    pub side: Side,
    /// The id of the padding token.
    pub id: TokenId,
    /// Its type.
    pub type_id: u32,
    /// Its name.
    pub token: String,
}

/// The lengths of one call, which replace those of the tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths<'l> {
    /// How ids are truncated; `None` if not at all.
    pub truncation: Option<&'l Truncation>,
    /// How ids are padded; `None` if not at all.
    pub padding: Option<&'l Padding>,
}

/// How spans of tokens are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OffsetRules {
    /// Whether spans exclude white space at the ends of a token.
    pub trim: bool,
    /// Whether a space is put before texts; the first span never includes it.
    pub prefix_space: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: both grow id by id up to the length of the shorter, then only the longer one.
    fn slow_longest_first(
        lens: (usize, usize),
        copies: (usize, usize),
        max_len: usize,
    ) -> (usize, usize) {
        let fits = |left: (usize, usize)| left.0 * copies.0 + left.1 * copies.1 <= max_len;
        let mut left = (0, 0);
        while left.0 < lens.0.min(lens.1) && fits((left.0 + 1, left.1 + 1)) {
            left = (left.0 + 1, left.1 + 1);
        }
        let more = if lens.0 > lens.1 { (1, 0) } else { (0, 1) };
        while left.0 + more.0 <= lens.0
            && left.1 + more.1 <= lens.1
            && fits((left.0 + more.0, left.1 + more.1))
        {
            left = (left.0 + more.0, left.1 + more.1);
        }
        left
    }

    proptest! {
        #[test]
        fn texts_of_a_pair_are_cut_to_fit_however_often_they_stand_in_the_template(
            lens in (0..20_usize, 0..20_usize),
            (copies, n_added) in ((0..4_usize, 0..4_usize), 0..4_usize),
            max_length in 0..60_usize,
            strategy in prop::sample::select(vec![
                TruncationStrategy::LongestFirst,
                TruncationStrategy::OnlyFirst,
                TruncationStrategy::OnlySecond,
            ]),
        ) {
            let truncation = Truncation { max_length, stride: 0, strategy, side: Side::Right };
            let contents = Contents { n_added, copies };
            let Ok(left) = truncation.lens(lens.0, Some(lens.1), contents) else { return Ok(()) };
            prop_assert!(left.0 <= lens.0 && left.1 <= lens.1);
            prop_assert!(contents.n_ids(left) <= max_length);
            if strategy == TruncationStrategy::LongestFirst {
                let copies = (copies.0.max(1), copies.1.max(1));
                let expected = slow_longest_first(lens, copies, max_length - n_added);
                prop_assert_eq!(left, expected);
            }
        }
    }
}
