//! A text in segments, each encoded on its own, with a choice of the added tokens that are found in each.
//!
//! A chat consists of the text of its template, whose control tokens are found, and of messages, in which they are
//! text. No token crosses the border of two segments, so the ids are those of the segments, one after the other.
//! Spans of ids cost as much as in a full encoding, and a copy of the text.

use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::added::Specials;
use crate::batch::{self, BYTES_PER_ID};
use crate::encoding::Encoding;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::huge_pages::reserve;
use crate::vocabulary::TokenId;

/// The ids of a longer segment are not copied from memory that calls reuse.
const MAX_COPIED_LEN: usize = 2048;

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
    pub fn encode_segments(
        &self,
        segments: &[TextSegment<'_>],
        with_offsets: bool,
    ) -> Result<SegmentIds> {
        let mut encoded = SegmentIds::default();
        let mut spans = Vec::new();
        encoded.ends.reserve_exact(segments.len());
        let mut start = 0;
        for (index, segment) in segments.iter().enumerate() {
            let appended = match with_offsets {
                true => self.append_with_spans(segment, start, &mut encoded.ids, &mut spans),
                false => self.append_segment(segment, &mut encoded.ids),
            };
            appended.map_err(|error| Error::from(ErrorKind::InSegment { index, error }))?;
            encoded.ends.push(encoded.ids.len());
            start += segment.text.len();
        }
        encoded.offsets = with_offsets.then(|| in_characters(spans, segments));
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
        let mut threads = vec![(); batch::n_useful(&lens, n_threads)];
        let encode = |index: usize, _: &mut [()]| self.encode_segments(&texts[index], with_offsets);
        batch::map(&lens, &mut threads, false, encode)
    }

    fn append_segment(&self, segment: &TextSegment<'_>, ids: &mut Vec<TokenId>) -> Result<()> {
        segment.with_call(self, |tokenizer, options| {
            if segment.text.len() <= MAX_COPIED_LEN {
                let append = |found: &[TokenId]| ids.extend_from_slice(found);
                return tokenizer.with_ids(segment.text, options, append);
            }
            let call = tokenizer.call(options)?;
            reserve(ids, segment.text.len() / BYTES_PER_ID + 1);
            let worker = |workers: &mut [_]| call.encode(segment.text, 0, ids, workers);
            call.tokenizer.with_workers(1, worker)
        })
    }

    /// Appends the ids of a segment, and the spans of bytes that they stand for in the joined text.
    fn append_with_spans(
        &self,
        segment: &TextSegment<'_>,
        start: usize,
        ids: &mut Vec<TokenId>,
        spans: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let encode = |tokenizer: &Self, options: EncodeOptions<'_>| {
            tokenizer.encode_full(segment.text, None, options)
        };
        let encoding = segment.with_call(self, encode)?;
        ids.extend(encoding.ids);
        spans.extend(encoding.offsets.iter().map(|span| (start + span.0, start + span.1)));
        Ok(())
    }
}

impl TextSegment<'_> {
    /// Calls `encode` with the tokenizer and the options that find the tokens of this segment.
    fn with_call<R>(
        &self,
        tokenizer: &Tokenizer,
        encode: impl FnOnce(&Tokenizer, EncodeOptions<'_>) -> Result<R>,
    ) -> Result<R> {
        let plain = EncodeOptions::default();
        match self.found {
            Specials::None => {
                encode(tokenizer, EncodeOptions { added_tokens: AddedTokens::Text, ..plain })
            }
            all @ Specials::All => {
                encode(tokenizer, EncodeOptions { allowed_special: all, ..plain })
            }
            Specials::Only(names) => encode(&*tokenizer.finding_only(names)?, plain),
        }
    }
}

/// Spans of bytes of the joined text as spans of characters. A character may lie in two segments.
fn in_characters(spans: Vec<(usize, usize)>, segments: &[TextSegment<'_>]) -> Vec<(usize, usize)> {
    let joined = segments.iter().map(|segment| segment.text).collect::<Vec<_>>().concat();
    let sequence_ids = vec![Some(0); spans.len()];
    let mut encoding = Encoding { offsets: spans, sequence_ids, ..Encoding::default() };
    encoding.to_characters(&joined, None);
    encoding.offsets
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
        let text = prop_oneof![3 => text(), 1 => Just(b"low".repeat(MAX_COPIED_LEN / 3 + 1))];
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
            let found = tokenizer.encode_segments(&segments, false);
            prop_assert_eq!(&message(found), &expected);
            let with_spans = tokenizer.encode_segments(&segments, true);
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
