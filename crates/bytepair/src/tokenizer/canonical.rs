//! Ids that a model sampled: whether they are those that their text encodes to, and what follows them.
//!
//! A row of ids is cut at special tokens. The stretches between them are text: a model that spells a special token did not
//! choose it, so its text is encoded without special tokens. A stretch is *canonical* if its text has its ids, as the
//! text stands in the row: after a special token, no text begins. A decoder may strip a space at the beginning, which a
//! normalizer puts there; so if the decoded text has other ids, the text with that space counts, too.
//!
//! Whole rows are decoded and encoded by stretches; pieces that a worker remembers are only looked up. Text that follows
//! a row costs a look back to the last place that no continuation changes ([`Tokenizer::heal`]), however long the row is:
//!
//! ```text
//! ids that stay | ids after the last proven cut | text
//!                 └──────── encoded as one ────────┘
//! ```
//!
//! If the ids after the cut are canonical, the result is the encoding of everything. If not, they stay up to the last
//! place where one of them ends and a token of the new encoding ends, too.
//!
//! Left out: unknown tokens, whose text is not known, and decoders in which tokens have no bytes of their own.

use std::ops::Range;

use super::token_bytes::TokenClass;
use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::added::Specials;
use crate::error::{Error, ErrorKind, Result};
use crate::patch::Patch;
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// How many ids are looked at first for a place that no continuation changes.
const LOOK_BACK: usize = if crate::SMALL { 2 } else { 64 };

/// How many ids show what decoding leaves out at an end of a text.
const N_AT_ENDS: usize = 12;

/// The bytes of ids, and where the decoded text begins in them.
struct Text {
    bytes: Vec<u8>,
    start: usize,
}

/// Where text stands in a row.
#[derive(Clone, Copy)]
struct Place {
    /// Whether nothing precedes it.
    is_first: bool,
    /// Whether it follows a cut that changes nothing.
    is_rest: bool,
}

impl Place {
    fn segment(self, text: &[u8]) -> Segment<'_> {
        Segment { text, is_first: self.is_first, is_last: true, is_rest: self.is_rest }
    }
}

impl Tokenizer {
    /// The ids that the text of a row of ids has, and the row's special tokens. Of the options, only those about added
    /// tokens that are not special are used.
    ///
    /// # Errors
    /// If an id is not in the vocabulary or is the unknown token, if the text of the ids cannot be encoded, or if tokens
    /// have no bytes of their own.
    pub fn canonicalize(
        &self,
        ids: &[TokenId],
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let (mut row, mut n_done) = (Vec::with_capacity(ids.len()), 0);
        for stretch in self.stretches(ids, options.added_tokens)? {
            row.extend_from_slice(&ids[n_done..stretch.start]);
            n_done = stretch.end;
            row.extend(self.canonical_stretch(ids, stretch, options)?);
        }
        Ok(row)
    }

    /// The index of the first id that is not as in [`Self::canonicalize`].
    ///
    /// # Errors
    /// If an id is not in the vocabulary or is the unknown token, or if tokens have no bytes of their own.
    pub fn first_noncanonical(
        &self,
        ids: &[TokenId],
        options: EncodeOptions<'_>,
    ) -> Result<Option<usize>> {
        for stretch in self.stretches(ids, options.added_tokens)? {
            let Range { start, .. } = stretch;
            let own = &ids[stretch.clone()];
            let canonical = match self.canonical_stretch(ids, stretch, options) {
                Ok(canonical) => canonical,
                // The ids have no text.
                Err(error) if is_no_text(&error) => return Ok(Some(start)),
                Err(error) => return Err(error),
            };
            if canonical != own {
                let n_same = own.iter().zip(&canonical).take_while(|(a, b)| a == b).count();
                return Ok(Some(start + n_same));
            }
        }
        Ok(None)
    }

    /// How a row of ids changes when text follows it. Special tokens that the options allow are found in that text only.
    ///
    /// # Errors
    /// If the text cannot be encoded, or as for [`Self::canonicalize`], for the ids after the last place that no
    /// continuation changes.
    pub fn splice(
        &self,
        ids: &[TokenId],
        text: &[u8],
        options: EncodeOptions<'_>,
    ) -> Result<Patch> {
        let plain = EncodeOptions {
            allowed_special: Specials::None,
            disallowed_special: Specials::None,
            ..options
        };
        let inner = Place { is_first: ids.is_empty(), is_rest: false };
        let alone = self.call(options)?.trace(inner.segment(text), 0)?;
        let table = self.token_bytes()?;
        let is_special = |id: &TokenId| table.class(*id) == TokenClass::Special;
        let n_text = alone.ids.iter().position(is_special).unwrap_or(alone.ids.len());
        let text_end = alone.offsets.get(n_text).map_or(text.len(), |offset| offset.0);
        let mut patch = self.splice_text(ids, &text[..text_end], plain)?;
        patch.ids.extend_from_slice(&alone.ids[n_text..]);
        Ok(patch)
    }

    /// [`Self::splice`] of text without special tokens.
    fn splice_text(
        &self,
        ids: &[TokenId],
        text: &[u8],
        options: EncodeOptions<'_>,
    ) -> Result<Patch> {
        if text.is_empty() {
            return Ok(Patch { keep: ids.len(), ..Patch::default() });
        }
        let (n_kept, rest) = self.open_end(ids)?;
        let open = &ids[n_kept..];
        let table = self.token_bytes()?;
        let is_begun = n_kept > 0;
        let follows_special = is_begun && table.class(ids[n_kept - 1]) == TokenClass::Special;
        let place = Place { is_first: !is_begun, is_rest: is_begun && !follows_special };
        let (rest, is_canonical) = self.text_of(open, &rest, place, options)?;
        let whole = [&rest, text].concat();
        let row = self.call(options)?.trace(place.segment(&whole), 0)?;
        if is_canonical {
            let n_same = open.iter().zip(&row.ids).take_while(|(a, b)| a == b).count();
            return Ok(Patch {
                keep: n_kept + n_same,
                ids: row.ids[n_same..].to_vec(),
                keep_after: 0,
            });
        }
        // Where each open id ends in the text. A stripped space is before it.
        let n_bytes: usize = open.iter().map(|&id| table.get(id).len()).sum();
        let n_stripped = n_bytes.saturating_sub(rest.len());
        let ends = open.iter().scan(0, |end, &id| {
            *end += table.get(id).len();
            Some(end.saturating_sub(n_stripped))
        });
        let mut ends: Vec<usize> = std::iter::once(0).chain(ends).collect();
        // The first id of the new row that begins at a place.
        let begins_at = |place: usize| {
            let first = row.offsets.iter().position(|offset| offset.0 >= place)?;
            let ends_before = row.offsets[..first].iter().all(|offset| offset.1 <= place);
            (row.offsets[first].0 == place && ends_before).then_some(first)
        };
        while let Some(end) = ends.pop() {
            if let Some(first) = begins_at(end) {
                return Ok(Patch {
                    keep: n_kept + ends.len(),
                    ids: row.ids[first..].to_vec(),
                    keep_after: 0,
                });
            }
        }
        Ok(Patch { keep: n_kept, ids: row.ids, keep_after: 0 })
    }

    /// How many ids stay whatever follows, and the bytes of the others. Looks only as far back as it must.
    fn open_end(&self, ids: &[TokenId]) -> Result<(usize, Vec<u8>)> {
        let mut n_seen = LOOK_BACK;
        loop {
            let from = ids.len().saturating_sub(n_seen);
            let healed = self.heal(&ids[from..])?;
            // Decoders may treat the first id of a row specially, but not what a proven place follows.
            if from == 0 || healed.n_kept >= 2 {
                return Ok((from + healed.n_kept, healed.rest));
            }
            n_seen *= 2;
        }
    }

    /// The stretches of text between special tokens; also between other added tokens if none is found in text.
    fn stretches(&self, ids: &[TokenId], found: AddedTokens) -> Result<Vec<Range<usize>>> {
        let table = self.token_bytes()?;
        let (mut stretches, mut start) = (Vec::new(), 0);
        for (index, &id) in ids.iter().enumerate() {
            match table.class(id) {
                TokenClass::Text | TokenClass::Byte => continue,
                TokenClass::Added if found == AddedTokens::Find => continue,
                TokenClass::None => drop(self.parts.vocabulary.expect_token(id)?),
                TokenClass::Unknown => return Err(unknown_text(index)),
                TokenClass::Added | TokenClass::Special => {}
            }
            stretches.push(start..index);
            start = index + 1;
        }
        stretches.push(start..ids.len());
        Ok(stretches)
    }

    /// The ids of the text of a stretch.
    fn canonical_stretch(
        &self,
        ids: &[TokenId],
        stretch: Range<usize>,
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let place = Place { is_first: stretch.start == 0, is_rest: false };
        let own = &ids[stretch];
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let Text { bytes, start } = self.text(own)?;
        let mut row = self.encoded_at(&bytes[start..], place, options)?;
        if row != own && start > 0 {
            let with_space = self.encoded_at(&bytes, place, options)?;
            if with_space == own || !place.is_first {
                row = with_space;
            }
        }
        Ok(row)
    }

    /// The text of ids with these bytes, and whether the ids are those of the text.
    fn text_of(
        &self,
        ids: &[TokenId],
        bytes: &[u8],
        place: Place,
        options: EncodeOptions<'_>,
    ) -> Result<(Vec<u8>, bool)> {
        let has_ids =
            |text: &[u8]| self.encoded_at(text, place, options).is_ok_and(|row| row == ids);
        let stripped = bytes.strip_prefix(b" ").filter(|_| !place.is_rest);
        if has_ids(bytes) {
            return Ok((bytes.to_vec(), true));
        }
        if let Some(text) = stripped.filter(|text| has_ids(text)) {
            return Ok((text.to_vec(), true));
        }
        if place.is_first {
            let Text { bytes, start } = self.text(ids)?;
            return Ok((bytes[start..].to_vec(), false));
        }
        Ok((bytes.to_vec(), false))
    }

    /// The text of ids. What decoding leaves out at its ends shows at the first and the last few.
    fn text(&self, ids: &[TokenId]) -> Result<Text> {
        let table = self.token_bytes()?;
        let is_text = |ids: &&[TokenId]| {
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| table.get(id)).copied().collect();
            str::from_utf8(&bytes).is_ok()
        };
        let most = ids.len().min(N_AT_ENDS);
        let first = (0..=most).rev().map(|n| &ids[..n]).find(is_text).unwrap_or_default();
        let last =
            (0..=most).rev().map(|n| &ids[ids.len() - n..]).find(is_text).unwrap_or_default();
        let (first, last) = (self.tail(table, first)?, self.tail(table, last)?);
        let mut bytes: Vec<u8> = ids.iter().flat_map(|&id| table.get(id)).copied().collect();
        bytes.truncate(bytes.len() - (last.bytes.len() - last.text_end));
        let is_space = bytes.iter().take(first.text_start).all(|&byte| byte == b' ');
        Ok(Text { start: if is_space { first.text_start.min(bytes.len()) } else { 0 }, bytes })
    }

    fn encoded_at(
        &self,
        text: &[u8],
        place: Place,
        options: EncodeOptions<'_>,
    ) -> Result<Vec<TokenId>> {
        let call = self.call(options)?;
        let mut ids = Vec::new();
        call.tokenizer
            .workers
            .with(|worker| call.encode_stretch(place.segment(text), &mut ids, worker))?;
        Ok(ids)
    }
}

fn is_no_text(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotUtf8 { .. } | ErrorKind::UnknownUnit { .. })
}

pub(super) fn unknown_text(index: usize) -> Error {
    let problem = format!(
        "the text of the unknown token at index {index} is not known; encode the original text instead"
    );
    Error::option("ids", problem)
}
