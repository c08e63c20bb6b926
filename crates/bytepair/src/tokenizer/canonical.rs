//! Ids that a model sampled: whether they are those that their text encodes to, and what follows them.
//!
//! A row of ids is cut at special tokens. The stretches between them are text: a model that spells a special token did not
//! choose it, so its text is encoded without special tokens. A stretch is *canonical* if its text has its ids, as the
//! text stands in the row: after a special token, no text begins. A decoder may strip a space at the beginning, which a
//! normalizer puts there; so if the decoded text has other ids, the text with that space counts, too.
//!
//! Whole rows are encoded again, since no proof is shorter: a token is right only if no other merge comes first
//! anywhere in its piece. Workers remember pieces, so this costs about twice what encoding the text takes.
//!
//! Text that follows a row costs a look back to the last place that no continuation changes ([`Tokenizer::heal`]),
//! however long the row is:
//!
//! ```text
//! ids that stay | ids after the last proven cut | text
//!                 └──────── encoded as one ────────┘
//! ```
//!
//! If the ids after the cut are canonical, the result is the encoding of everything. If not, they stay up to the last
//! place where one of them ends, a token of the new encoding ends, too, and both have the same bytes before it.
//!
//! Left out: unknown tokens, whose text is not known, and decoders in which tokens have no bytes of their own.

use super::token_bytes::{Tail, TokenBytes, TokenClass};
use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::added::Specials;
use crate::error::{Error, ErrorKind, Result};
use crate::patch::{Patch, common_prefix};
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// How many ids are looked at first for a place that no continuation changes.
const LOOK_BACK: usize = if crate::SMALL { 2 } else { 64 };

/// Ids between special tokens.
struct Stretch<'i> {
    /// Where they begin in the row.
    start: usize,
    own: &'i [TokenId],
    /// The ids of their text.
    canonical: Result<Vec<TokenId>>,
}

impl Tokenizer {
    /// The ids that the text of a row of ids has, and the row's special tokens.
    ///
    /// # Errors
    /// If an id is not in the vocabulary or is the unknown token, if the text of the ids cannot be encoded, or if tokens
    /// have no bytes of their own.
    pub fn canonicalize(&self, ids: &[TokenId], added_tokens: AddedTokens) -> Result<Vec<TokenId>> {
        let mut row = Vec::with_capacity(ids.len());
        for Stretch { start, own, canonical } in self.stretches(ids, added_tokens)? {
            row.extend(canonical?);
            row.extend(ids.get(start + own.len()));
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
        added_tokens: AddedTokens,
    ) -> Result<Option<usize>> {
        for Stretch { start, own, canonical } in self.stretches(ids, added_tokens)? {
            let n_same = match canonical {
                Ok(canonical) if canonical == own => continue,
                Ok(canonical) => common_prefix(own, &canonical),
                Err(error) => match error.kind() {
                    // The bytes of the ids are no text of the dialect.
                    ErrorKind::NotUtf8 { .. } | ErrorKind::UnknownUnit { .. } => 0,
                    _ => return Err(error),
                },
            };
            return Ok(Some(start + n_same));
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
        let table = self.token_bytes()?;
        let place = Segment { is_first: ids.is_empty(), is_last: true, ..Segment::inner(text) };
        let call = self.call(options)?;
        call.check_disallowed(place)?;
        let (mut text_end, mut from_special) = (text.len(), Vec::new());
        // Text without special tokens may have no ids where it stands alone.
        if !matches!(options.allowed_special, Specials::None) {
            let mut alone = call.trace(place, 0)?;
            let is_special = |&id: &TokenId| table.class(id) == TokenClass::Special;
            let n_text = alone.ids.iter().position(is_special).unwrap_or(alone.ids.len());
            text_end = alone.offsets.get(n_text).map_or(text.len(), |offset| offset.0);
            from_special = alone.ids.split_off(n_text);
        }
        let mut patch = Patch { keep: ids.len(), ..Patch::default() };
        if text_end > 0 {
            patch = self.splice_text(ids, &text[..text_end], options.added_tokens)?;
        }
        patch.ids.extend(from_special);
        Ok(patch)
    }

    /// [`Self::splice`] of text without special tokens.
    fn splice_text(
        &self,
        ids: &[TokenId],
        text: &[u8],
        added_tokens: AddedTokens,
    ) -> Result<Patch> {
        let table = self.token_bytes()?;
        let is_border = |&id: &TokenId| is_border(table.class(id), added_tokens);
        let n_stable = self.n_stable(ids)?;
        let border = ids[n_stable..].iter().rposition(is_border);
        let n_kept = border.map_or(n_stable, |index| n_stable + index + 1);
        let (kept, open) = ids.split_at(n_kept);
        let place = Segment {
            is_first: kept.is_empty(),
            is_last: true,
            is_rest: kept.last().is_some_and(|id| !is_border(id)),
            text: &[],
        };
        let (old, canonical) = self.read(open, place, added_tokens)?;
        let whole = [&old.bytes[old.text_start..old.text_end], text].concat();
        let new = self.call(plain(added_tokens))?;
        let new = new.ids_of_stretch(Segment { text: &whole, ..place })?;
        if canonical.is_ok_and(|canonical| canonical == open) {
            return Ok(Patch::at_end(n_kept, open, &new));
        }
        let (n_old, n_new) = last_common_end(table, &old, &new);
        Ok(Patch { keep: n_kept + n_old, ids: new[n_new..].to_vec(), keep_after: 0 })
    }

    /// How many ids stay whatever follows. Looks only as far back as it must.
    fn n_stable(&self, ids: &[TokenId]) -> Result<usize> {
        let mut n_seen = LOOK_BACK;
        loop {
            let from = ids.len().saturating_sub(n_seen);
            let n_kept = self.heal(&ids[from..])?.n_kept;
            // Decoders may treat the first id of a row specially, but not what a proven place follows.
            if from == 0 || n_kept >= 2 {
                return Ok(from + n_kept);
            }
            n_seen *= 2;
        }
    }

    /// The stretches between special tokens; also between other added tokens if none is found in text.
    fn stretches<'a>(
        &'a self,
        ids: &'a [TokenId],
        added_tokens: AddedTokens,
    ) -> Result<impl Iterator<Item = Stretch<'a>>> {
        let table = self.token_bytes()?;
        for (index, &id) in ids.iter().enumerate() {
            match table.class(id) {
                TokenClass::None => drop(self.parts.vocabulary.expect_token(id)?),
                TokenClass::Unknown => return Err(unknown_text(index)),
                _ => {}
            }
        }
        let mut next = 0;
        let stretches = ids.split(move |&id| is_border(table.class(id), added_tokens));
        Ok(stretches.map(move |own| {
            let start = next;
            next += own.len() + 1;
            let place = Segment { is_first: start == 0, is_last: true, ..Segment::inner(&[]) };
            let read = self.read(own, place, added_tokens);
            Stretch { start, own, canonical: read.and_then(|(_, canonical)| canonical) }
        }))
    }

    /// The text of ids at a place, and the ids of that text.
    fn read(
        &self,
        own: &[TokenId],
        place: Segment<'_>,
        added_tokens: AddedTokens,
    ) -> Result<(Tail, Result<Vec<TokenId>>)> {
        let mut text = self.tail(self.token_bytes()?, own)?;
        let (mut start, other) = match place {
            Segment { is_rest: true, .. } => (0, 0),
            Segment { is_first: true, .. } => (text.text_start, 0),
            _ => (0, text.text_start),
        };
        let call = self.call(plain(added_tokens))?;
        let ids_from = |start: usize| {
            call.ids_of_stretch(Segment { text: &text.bytes[start..text.text_end], ..place })
        };
        let is_own = |ids: &Result<Vec<TokenId>>| ids.as_ref().is_ok_and(|ids| ids == own);
        let mut ids = ids_from(start);
        if start != other && !is_own(&ids) {
            let again = ids_from(other);
            if is_own(&again) {
                (start, ids) = (other, again);
            }
        }
        text.text_start = start;
        Ok((text, ids))
    }

    /// The text of a row without special and unknown tokens, as decoding gives it, and where each id ends in it.
    ///
    /// # Errors
    /// If an id is not in the vocabulary, or if tokens have no bytes of their own.
    pub fn text_and_ends(&self, ids: &[TokenId]) -> Result<(Vec<u8>, Vec<usize>)> {
        let table = self.token_bytes()?;
        ids.iter().try_for_each(|&id| self.parts.vocabulary.expect_token(id).map(drop))?;
        let Tail { bytes, ends, text_start, text_end } = self.tail(table, ids)?;
        let ends = ends.iter().map(|&end| end.clamp(text_start, text_end) - text_start).collect();
        Ok((bytes[text_start..text_end].to_vec(), ends))
    }
}

/// How many ids of an old row and of a new one are before the last place where both have an end, and the same bytes
/// before it.
fn last_common_end(table: &TokenBytes, old: &Tail, new: &[TokenId]) -> (usize, usize) {
    let (mut bytes, mut ends) = (Vec::new(), vec![0]);
    for &id in new {
        bytes.extend_from_slice(table.get(id));
        ends.push(bytes.len());
    }
    let n_bytes = common_prefix(&old.bytes, &bytes);
    let common = old.ends.iter().enumerate().rev().find_map(|(index, end)| {
        // Tokens without bytes follow the first of equal ends.
        let n_new = ends.partition_point(|other| other < end);
        (*end <= n_bytes && ends.get(n_new) == Some(end)).then_some((index + 1, n_new))
    });
    common.unwrap_or_default()
}

/// Whether a token ends a stretch of text.
fn is_border(class: TokenClass, added_tokens: AddedTokens) -> bool {
    match class {
        TokenClass::Special => true,
        TokenClass::Added => added_tokens == AddedTokens::Text,
        _ => false,
    }
}

fn plain(added_tokens: AddedTokens) -> EncodeOptions<'static> {
    EncodeOptions { added_tokens, ..EncodeOptions::default() }
}

pub(super) fn unknown_text(index: usize) -> Error {
    let problem = format!(
        "the text of the unknown token at index {index} is not known; encode the original text instead"
    );
    Error::option("ids", problem)
}
