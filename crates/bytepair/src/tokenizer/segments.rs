//! A text in segments, each encoded on its own, with a choice of the added tokens that are found in each.
//!
//! A chat consists of the text of its template, whose control tokens are found, and of messages, in which they are
//! text. No token crosses the border of two segments, so the ids are those of the segments, one after the other.
//! Ids cost what encoding each segment costs, and one copy of them. Spans of ids cost as much as in a full encoding, and
//! a copy of the text.

use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::added::Specials;
use crate::batch;
use crate::encoding::Characters;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::ask_to_grow;
use crate::vocabulary::TokenId;

/// A part of a text that is encoded on its own.
#[derive(Clone, Copy, Debug)]
pub struct TextSegment<'t> {
    /// The text.
    pub text: &'t [u8],
    /// The added tokens that are found in it, special or not. All others are text.
    pub found: Specials<'t>,
}

/// The ids of all segments of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentIds {
    /// The ids.
    pub ids: Vec<TokenId>,
    /// Where the ids of each segment end.
    pub ends: Vec<usize>,
    /// The span of each id in the joined text, in characters, if it was asked for.
    pub offsets: Option<Vec<(usize, usize)>>,
}

impl Tokenizer {
    /// The ids of segments, one segment after the other.
    ///
    /// # Errors
    /// As for [`Self::encode`], or if there is no added token of a name; the error says in which segment.
    pub fn encode_segments<'t>(
        &self,
        segments: impl Iterator<Item = TextSegment<'t>> + Clone,
        with_offsets: bool,
    ) -> Result<SegmentIds> {
        let offsets = with_offsets.then(Vec::new);
        let mut encoded = SegmentIds { offsets, ..SegmentIds::default() };
        let mut start = 0;
        for (index, segment) in segments.clone().enumerate() {
            let appended = self.append_segment(&segment, start, &mut encoded);
            appended.map_err(|error| Error::from(ErrorKind::InSegment { index, error }))?;
            encoded.ends.push(encoded.ids.len());
            start += segment.text.len();
        }
        if let Some(offsets) = &mut encoded.offsets {
            // A character may lie in two segments.
            let joined = segments.map(|segment| segment.text).collect::<Vec<_>>().concat();
            let characters = Characters::new(&joined);
            offsets.iter_mut().for_each(|span| *span = characters.span(*span));
        }
        Ok(encoded)
    }

    /// The ids of many texts in segments, on `n_threads` threads.
    ///
    /// # Errors
    /// As for one text; the error also says in which text.
    pub fn encode_segments_batch(
        &self,
        texts: &[Vec<TextSegment<'_>>],
        with_offsets: bool,
        n_threads: usize,
    ) -> Result<Vec<SegmentIds>> {
        let len = |text: &Vec<TextSegment<'_>>| text.iter().map(|segment| segment.text.len()).sum();
        let lens: Vec<_> = texts.iter().map(len).collect();
        let encode = |index: usize, _: &mut [()]| {
            self.encode_segments(texts[index].iter().copied(), with_offsets)
        };
        batch::map(&lens, &mut vec![(); batch::n_useful(&lens, n_threads)], false, encode)
    }

    /// Appends the ids of a segment that begins at this byte of the joined text, with their spans of bytes in that text.
    fn append_segment(
        &self,
        segment: &TextSegment<'_>,
        start: usize,
        encoded: &mut SegmentIds,
    ) -> Result<()> {
        let only;
        let (tokenizer, allowed_special) = match segment.found {
            Specials::None => (self.of(AddedTokens::Text), Specials::None),
            Specials::All => (self, Specials::All),
            Specials::Only(names) => {
                only = self.finding_only(names)?;
                (&*only, Specials::None)
            }
        };
        let options = EncodeOptions { allowed_special, ..EncodeOptions::default() };
        let SegmentIds { ids, offsets, .. } = encoded;
        let Some(offsets) = offsets else {
            return tokenizer.with_ids(segment.text, options, |found| {
                ask_to_grow(ids, found.len())?;
                ids.extend_from_slice(found);
                Ok(())
            })?;
        };
        let found = tokenizer.encode_full(segment.text, None, options)?;
        ids.extend(found.ids);
        offsets.extend(found.offsets.iter().map(|span| (start + span.0, start + span.1)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::Parts;
    use crate::tokenizer::tests::{message, text, tokenizers};

    /// The ids of a segment by a new tokenizer that has only the added tokens to find.
    fn naive(tokenizer: &Tokenizer, segment: &TextSegment<'_>) -> Result<Vec<TokenId>> {
        let mut parts: Parts = tokenizer.parts().clone();
        parts.added.retain(|token| match segment.found {
            Specials::None => false,
            Specials::All => true,
            Specials::Only(names) => names.contains(&token.content),
        });
        let options = EncodeOptions { allowed_special: Specials::All, ..EncodeOptions::default() };
        Tokenizer::new(parts)?.encode(segment.text, options)
    }

    /// Segments of text and of contents of added tokens, and which of these are found.
    fn segments() -> impl Strategy<Value = Vec<(Vec<u8>, u8, Vec<bool>)>> {
        let text = prop_oneof![3 => text(), 1 => Just(b"low".repeat(1000))];
        prop::collection::vec((text, 0..3_u8, any::<Vec<bool>>()), 0..5)
    }

    proptest! {
        #[test]
        fn segments_have_the_ids_of_tokenizers_with_only_the_tokens_to_find(
            which: prop::sample::Index,
            drawn in segments(),
        ) {
            let tokenizer = which.get(tokenizers());
            let added = &tokenizer.parts().added;
            let names: Vec<Vec<_>> = drawn.iter().map(|(_, _, picks)| {
                let picked = added.iter().zip(picks).filter(|(_, is_picked)| **is_picked);
                picked.map(|(token, _)| token.content.clone()).collect()
            }).collect();
            let segments = drawn.iter().zip(&names).map(|((text, kind, _), names)| {
                let found = [Specials::None, Specials::All, Specials::Only(names)];
                TextSegment { text, found: found[usize::from(*kind)] }
            });
            let segments: Vec<_> = segments.collect();
            let mut expected = SegmentIds::default();
            let encode = |(index, segment)| {
                let failed = |error| Error::from(ErrorKind::InSegment { index, error });
                expected.ids.extend(naive(tokenizer, segment).map_err(failed)?);
                expected.ends.push(expected.ids.len());
                Ok(())
            };
            let encoded = segments.iter().enumerate().try_for_each(encode);
            let expected = message(encoded.map(|()| expected));
            let found = tokenizer.encode_segments(segments.iter().copied(), false);
            prop_assert_eq!(&message(found), &expected);
            let with_spans = tokenizer.encode_segments(segments.iter().copied(), true);
            let joined = segments.iter().map(|segment| segment.text).collect::<Vec<_>>().concat();
            let n_characters = String::from_utf8_lossy(&joined).chars().count();
            let without = with_spans.map(|found| {
                let offsets = found.offsets.unwrap();
                assert_eq!(offsets.len(), found.ids.len());
                assert!(offsets.iter().all(|span| span.0 <= span.1 && span.1 <= n_characters));
                SegmentIds { offsets: None, ..found }
            });
            prop_assert_eq!(message(without), expected.clone());
            let batch = tokenizer.encode_segments_batch(&[segments.clone(), segments], false, 2);
            let batch = batch.map(|mut batch| batch.pop().unwrap());
            prop_assert_eq!(batch.ok(), expected.ok());
        }
    }
}
