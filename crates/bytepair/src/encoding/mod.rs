//! The whole result of encoding: ids with where each came from, cut to a length and filled up.
//!
//! Everything but the ids costs more than the ids do, so it is made only on request: texts are traced
//! through each change (`trace`), and offsets become characters at the end (`editing`). What is cut off
//! is kept as further encodings. The rules are those of the library that reads `tokenizer.json`, but that
//! overflowing parts have the types that the template says, and no overflowing parts of their own.
//!
//! Two texts that both overflow give an encoding for each pair of parts; otherwise costs are linear. Parts that would
//! take much more memory than their text, since they share nearly all ids or are such pairs, are refused.

mod editing;
mod row;
mod trace;

pub(crate) use row::{Row, check_windows, n_windows};
pub(crate) use trace::Traced;

use crate::template::{Padding, Side};
use crate::vocabulary::TokenId;

/// One text or two, encoded. All lists but the last two have one entry for each id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The ids.
    pub ids: Vec<TokenId>,
    /// The type of each id, by the template.
    pub type_ids: Vec<u32>,
    /// What each id stands for in its text: where that begins and ends, in bytes.
    pub offsets: Vec<(usize, usize)>,
    /// Whether an id belongs to no text: it is of the template or of the padding.
    pub special_tokens_mask: Vec<bool>,
    /// Whether an id counts: it is no padding.
    pub attention_mask: Vec<bool>,
    /// The piece of its text that an id belongs to; an added token is a piece.
    pub word_ids: Vec<Option<u32>>,
    /// The text that an id belongs to: 0 or 1.
    pub sequence_ids: Vec<Option<u8>>,
    /// How tokens stand in their text that are written otherwise in the vocabulary, with their places among
    /// the ids: added tokens with the white space that belongs to them, or after normalizing.
    pub found_as: Vec<(usize, String)>,
    /// What did not fit.
    pub overflowing: Vec<Self>,
}

impl Encoding {
    /// About what is known of an id takes, in bytes.
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

    /// Appends what follows. Each part that overflows here is followed by each there.
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

    /// Fills this up to a length, and all that overflows. The padding is shown as the vocabulary names its id,
    /// or by a name of its own.
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

    /// Appends ids, to all of which a type is given.
    pub(crate) fn append_as(&mut self, next: &Self, type_id: u32) {
        let n_before = self.ids.len();
        self.append(next);
        self.type_ids[n_before..].fill(type_id);
    }

    /// Appends ids, without what overflows.
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
