//! The full result of encoding: ids with the origin of each, truncated and padded.
//!
//! Everything but the ids costs more than the ids do, so it is computed only on request: texts are traced through each
//! change (`trace`), and offsets become characters at the end (`editing`). Ids that are cut off are kept as further
//! encodings. The rules are those of the library that reads `tokenizer.json`, except that overflowing parts have the
//! types that the template says, and no overflowing parts of their own.
//!
//! If two texts both overflow, there is an encoding for each pair of parts; in all other cases costs are linear. Parts
//! that would take much more memory than their text, because they share nearly all ids or are such pairs, are refused.

mod editing;
mod trace;

use std::ops::Range;

pub(crate) use self::editing::Characters;
use self::editing::is_continuation;
pub(crate) use self::trace::Traced;
use crate::error::{Error, Result};
use crate::memory::ask_to_grow;
use crate::template::{OffsetRules, Padding, Side, Truncation};
use crate::vocabulary::TokenId;

/// One text or two, encoded. All lists except the last two have one entry per id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The ids.
    pub ids: Vec<TokenId>,
    /// The type of each id, from the template.
    pub type_ids: Vec<u32>,
    /// The range of the text that each id stands for, in bytes.
    pub offsets: Vec<(usize, usize)>,
    /// Whether an id belongs to no text but to the template or the padding.
    pub special_tokens_mask: Vec<bool>,
    /// Whether an id is real, not padding.
    pub attention_mask: Vec<bool>,
    /// The index of the piece of the text that an id belongs to; an added token is a piece.
    pub word_ids: Vec<Option<u32>>,
    /// The index of the text that an id belongs to: 0 or 1.
    pub sequence_ids: Vec<Option<u8>>,
    /// The text of tokens that is written differently in the vocabulary, with their indices: added tokens with the
    /// white space that belongs to them, or after normalization.
    pub found_as: Vec<(usize, String)>,
    /// The overflowing parts.
    pub overflowing: Vec<Self>,
}

impl Encoding {
    /// The approximate memory of all fields of one id, in bytes.
    pub(crate) const LEN_OF_ID: usize = 40;

    /// Special tokens, which belong to no text.
    pub(crate) fn special(ids: &[TokenId], type_id: u32) -> Self {
        let n_ids = ids.len();
        Self {
            ids: ids.to_vec(),
            type_ids: vec![type_id; n_ids],
            offsets: vec![(0, 0); n_ids],
            special_tokens_mask: vec![true; n_ids],
            attention_mask: vec![true; n_ids],
            word_ids: vec![None; n_ids],
            sequence_ids: vec![None; n_ids],
            found_as: Vec::new(),
            overflowing: Vec::new(),
        }
    }

    /// Appends an encoding. Each overflowing part here is combined with each one there.
    pub(crate) fn join(&mut self, next: &Self) {
        let with = |part: &Self, next: &Self| {
            let mut joined = part.without_overflowing();
            joined.append(next);
            joined
        };
        let mut overflowing = Vec::new();
        for part in &self.overflowing {
            overflowing.push(with(part, next));
            overflowing.extend(next.overflowing.iter().map(|other| with(part, other)));
        }
        overflowing.extend(next.overflowing.iter().map(|other| with(self, other)));
        self.append(next);
        self.overflowing = overflowing;
    }

    /// Pads this and all overflowing parts to a length. The padding is shown as the vocabulary names its id, or by the
    /// given name.
    pub(crate) fn pad(&mut self, padding: &Padding, own_name: Option<&str>, len: usize) {
        self.overflowing.iter_mut().for_each(|part| part.pad(padding, own_name, len));
        let n_missing = len.saturating_sub(self.ids.len());
        let mut filling = Self::special(&vec![padding.id; n_missing], padding.type_id);
        filling.attention_mask.fill(false);
        if let Some(name) = own_name {
            filling.found_as = (0..n_missing).map(|index| (index, name.to_owned())).collect();
        }
        match padding.side {
            Side::Right => self.append(&filling),
            Side::Left => {
                filling.append(self);
                filling.overflowing = std::mem::take(&mut self.overflowing);
                *self = filling;
            }
        }
    }

    /// Appends ids, without overflowing parts.
    pub(crate) fn append(&mut self, next: &Self) {
        let n_before = self.ids.len();
        let moved = |(index, found): &(usize, String)| (n_before + index, found.clone());
        self.found_as.extend(next.found_as.iter().map(moved));
        self.ids.extend_from_slice(&next.ids);
        self.type_ids.extend_from_slice(&next.type_ids);
        self.offsets.extend_from_slice(&next.offsets);
        self.special_tokens_mask.extend_from_slice(&next.special_tokens_mask);
        self.attention_mask.extend_from_slice(&next.attention_mask);
        self.word_ids.extend_from_slice(&next.word_ids);
        self.sequence_ids.extend_from_slice(&next.sequence_ids);
    }

    fn without_overflowing(&self) -> Self {
        let mut copy = Self::default();
        copy.append(self);
        copy
    }
}

/// The ids of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) ids: Vec<TokenId>,
    /// The span of text of each id, including white space.
    pub(crate) offsets: Vec<(usize, usize)>,
    /// The index of the piece of each id.
    pub(crate) words: Vec<u32>,
    /// How many characters of white space each token begins and ends with; empty if spans are not trimmed.
    spaces: Vec<(usize, usize)>,
    /// By index: the text of a token, if it is written differently in the vocabulary.
    found_as: Vec<(usize, String)>,
    n_words: u32,
}

impl Row {
    /// Returns an error if there is no memory for this many more ids.
    pub(crate) fn ask_for_room(&self, n_more: usize) -> Result<()> {
        ask_to_grow(&self.ids, n_more)?;
        ask_to_grow(&self.offsets, n_more)?;
        ask_to_grow(&self.words, n_more)
    }

    /// Begins the next piece.
    pub(crate) fn begin_word(&mut self) {
        self.n_words = self.n_words.saturating_add(1);
    }

    /// Adds a token of the piece. `written` is called if spans are trimmed.
    pub(crate) fn push(
        &mut self,
        id: TokenId,
        offsets: (usize, usize),
        rules: OffsetRules,
        written: impl FnOnce() -> String,
    ) {
        self.ids.push(id);
        self.offsets.push(offsets);
        self.words.push(self.n_words.saturating_sub(1));
        if rules.trim {
            self.spaces.push(spaces(&written()));
        }
    }

    /// Adds a word that was encoded by itself; its spans are counted from its beginning.
    pub(crate) fn push_word(&mut self, mut encoding: Encoding, word: &[u8], in_characters: bool) {
        if in_characters {
            encoding.to_characters(word, None);
        }
        self.begin_word();
        let (n_before, n_ids) = (self.ids.len(), encoding.ids.len());
        let found = encoding.found_as.into_iter();
        self.found_as.extend(found.map(|(index, text)| (n_before + index, text)));
        self.words.extend(std::iter::repeat_n(self.n_words.saturating_sub(1), n_ids));
        self.ids.append(&mut encoding.ids);
        self.offsets.append(&mut encoding.offsets);
    }

    /// Sets the text of the last token.
    pub(crate) fn found_as(&mut self, text: String) {
        self.found_as.push((self.ids.len() - 1, text));
    }

    /// The encoding of at most `max_len` ids, with the rest as overflowing parts.
    pub(crate) fn into_encoding(
        self,
        (text, which): (&[u8], u8),
        rules: OffsetRules,
        max_len: usize,
        truncation: Option<&Truncation>,
    ) -> Encoding {
        // The number of parts was checked before.
        let part = |range| self.part(range, text, which, rules);
        let Some(truncation) = truncation.filter(|_| max_len < self.ids.len()) else {
            return part(0..self.ids.len());
        };
        if max_len == 0 {
            return Encoding { overflowing: vec![part(0..self.ids.len())], ..Encoding::default() };
        }
        let mut parts = windows(self.ids.len(), max_len, truncation).into_iter().map(part);
        let mut first = parts.next().unwrap_or_default();
        first.overflowing = parts.collect();
        first
    }

    fn part(&self, range: Range<usize>, text: &[u8], which: u8, rules: OffsetRules) -> Encoding {
        let n_ids = range.len();
        let mut offsets = self.offsets[range.clone()].to_vec();
        if rules.trim {
            let spaces = &self.spaces[range.clone()];
            for (index, (offsets, &spaces)) in offsets.iter_mut().zip(spaces).enumerate() {
                let is_first = rules.prefix_space && (index == 0 || offsets.0 == 0);
                *offsets = trimmed(*offsets, spaces, is_first, text);
            }
        }
        Encoding {
            ids: self.ids[range.clone()].to_vec(),
            type_ids: vec![0; n_ids],
            offsets,
            special_tokens_mask: vec![false; n_ids],
            attention_mask: vec![true; n_ids],
            word_ids: self.words[range.clone()].iter().map(|&word| Some(word)).collect(),
            sequence_ids: vec![Some(which); n_ids],
            found_as: self.found_within(range),
            overflowing: Vec::new(),
        }
    }

    /// The texts of tokens in a range, by index in the range.
    fn found_within(&self, range: Range<usize>) -> Vec<(usize, String)> {
        let found = self.found_as.iter().filter(|(index, _)| range.contains(index));
        found.map(|(index, text)| (index - range.start, text.clone())).collect()
    }
}

/// The number of parts when a row of ids is cut to a length.
pub(crate) fn n_windows(len: usize, max_len: usize, truncation: &Truncation) -> usize {
    match len.checked_sub(max_len) {
        None | Some(0) => 1,
        Some(_) if max_len == 0 => 2,
        Some(rest) => 1 + rest.div_ceil(max_len.saturating_sub(truncation.stride).max(1)),
    }
}

/// Refuses parts that share so many ids that they take much more memory than the text; each part has `part_len` ids.
pub(crate) fn check_windows(n_parts: usize, part_len: usize, n_ids: usize) -> Result<()> {
    let most = n_ids.saturating_mul(MAX_SHARE).max(MIN_SHARED);
    if n_parts.saturating_mul(part_len) <= most {
        return Ok(());
    }
    let problem = format!(
        "{n_ids} ids would be cut into {n_parts} parts of {part_len} ids, in all more than {most} ids; \
         lower stride, or cut the text into documents first"
    );
    Err(Error::option("truncation", problem))
}

/// How often each id may occur in the parts of an overflowing text, on average.
const MAX_SHARE: usize = 64;

/// This many ids of all parts are always allowed: about 300 MB.
const MIN_SHARED: usize = 1 << 23;

/// The parts of a row of ids that is too long; the first part is the one that is kept.
fn windows(len: usize, max_len: usize, truncation: &Truncation) -> Vec<Range<usize>> {
    let step = max_len.saturating_sub(truncation.stride).max(1);
    let n_steps = (len - max_len).div_ceil(step);
    let starts = (0..=n_steps).map(|index| index * step);
    match truncation.side {
        Side::Right => starts.map(|start| start..(start + max_len).min(len)).collect(),
        Side::Left => {
            starts.map(|n_cut| (len - n_cut).saturating_sub(max_len)..len - n_cut).collect()
        }
    }
}

/// How many characters of white space a token begins and ends with.
fn spaces(written: &str) -> (usize, usize) {
    let is_space = |character: &char| *character == 'Ġ' || character.is_whitespace();
    (
        written.chars().take_while(is_space).count(),
        written.chars().rev().take_while(is_space).count(),
    )
}

/// A span without the white space at its ends. The first token may begin with a space that the tokenizer put there.
fn trimmed(
    (mut start, mut end): (usize, usize),
    (mut n_leading, n_trailing): (usize, usize),
    is_first: bool,
    text: &[u8],
) -> (usize, usize) {
    if is_first && n_leading == 1 {
        n_leading = 0;
    }
    for _ in 0..n_leading {
        start += len_after(text, start);
    }
    start = start.min(end);
    let mut trimmed_end = end;
    for _ in 0..n_trailing {
        if trimmed_end == 0 {
            return (start, end);
        }
        trimmed_end -= len_before(text, trimmed_end);
    }
    end = trimmed_end.max(start);
    (start, end)
}

/// The length of the character that begins at a place, 1 after the end.
fn len_after(text: &[u8], offset: usize) -> usize {
    let rest = text.get(offset + 1..).unwrap_or_default();
    1 + rest.iter().take_while(|&&byte| is_continuation(byte)).count()
}

/// The length of the character that ends at a place.
fn len_before(text: &[u8], offset: usize) -> usize {
    let before = &text[..offset];
    let n_continuing = before.iter().rev().take_while(|&&byte| is_continuation(byte)).count();
    (n_continuing + 1).min(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::TruncationStrategy;
    use proptest::prelude::*;

    /// The parts by the definition of the rule: from start to start, until one reaches the end.
    fn slow_windows(len: usize, max_len: usize, stride: usize, side: Side) -> Vec<Range<usize>> {
        let mut windows = Vec::new();
        for n_cut in (0..len).step_by(max_len - stride) {
            let window = match side {
                Side::Right => n_cut..len.min(n_cut + max_len),
                Side::Left => (len - n_cut).saturating_sub(max_len)..len - n_cut,
            };
            let is_last = if side == Side::Right { window.end == len } else { window.start == 0 };
            windows.push(window);
            if is_last {
                break;
            }
        }
        windows
    }

    proptest! {
        #[test]
        fn parts_go_on_until_one_reaches_the_end(
            len in 2..60_usize, max_len in 1..20_usize, stride in 0..20_usize, is_left: bool,
        ) {
            prop_assume!(max_len < len && stride < max_len);
            let side = if is_left { Side::Left } else { Side::Right };
            let strategy = TruncationStrategy::LongestFirst;
            let truncation = Truncation { max_length: max_len, stride, strategy, side };
            let found = windows(len, max_len, &truncation);
            prop_assert_eq!(found.len(), n_windows(len, max_len, &truncation));
            prop_assert_eq!(found, slow_windows(len, max_len, stride, side));
        }
    }

    #[test]
    fn parts_that_share_nearly_all_ids_are_refused_where_there_are_many() {
        // An id of each kind of part takes 37 bytes; it is not unusual that 512 parts share 500 ids.
        for (n_parts, part_len, n_ids) in
            [(1, 1 << 30, 1 << 30), (16_000, 512, 200_000), (9_000, 900, 10)]
        {
            assert!(check_windows(n_parts, part_len, n_ids).is_ok());
        }
        let error = check_windows(119_001, 1000, 120_000).unwrap_err().to_string();
        assert!(
            error.starts_with("truncation: 120000 ids would be cut into 119001 parts"),
            "{error}"
        );
        assert!(check_windows(usize::MAX, 2, 120_000).is_err());
    }

    #[test]
    fn white_space_at_the_ends_of_a_token_is_no_part_of_its_span() {
        let text = "\u{3000}a ".as_bytes();
        assert_eq!(trimmed((0, 5), (1, 1), false, text), (3, 4));
        assert_eq!(trimmed((0, 5), (1, 1), true, text), (0, 4));
        assert_eq!(trimmed((4, 5), (1, 1), false, text), (5, 5));
        assert_eq!(trimmed((0, 0), (1, 1), false, b""), (0, 0));
    }
}
