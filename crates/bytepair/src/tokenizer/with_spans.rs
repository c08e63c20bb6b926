//! A text, or two, with everything that is known of each id.
//!
//! The ids are those of `call`, each with the span of text that it stands for. The cache is not used, since it holds
//! no spans. Takes time linear in the text, besides splitting and encoding.
//!
//! A text may be given as words. Each word is encoded as a text of its own: normalized, prefixed and split by itself.
//! The ids of all words then form one text, which is truncated, templated and padded like any other; each id has the
//! index of its word, and spans are counted from the beginning of the word. Costs what the words cost.

use std::ops::Range;

use super::call::Call;
use super::walk::{Depth, Met};
use super::{EncodeOptions, Tokenizer};
use crate::batch;
use crate::encode::{Dropout, Scratch};
use crate::encoding::{Encoding, Row, Traced, check_windows, n_windows};
use crate::error::Result;
use crate::memory::ask;
use crate::segment::Segment;
use crate::template::{Contents, OffsetRules, Padding, TemplatePiece, Truncation};
use crate::units::published_name;
use crate::vocabulary::{Token, TokenId, TokenKind};

/// Which of a call's texts is encoded; seeds of dropout depend on it.
const SECOND: u64 = 1 << 63;

impl Tokenizer {
    /// A text, or two, with everything that is known of each id.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`]; and if the texts cannot be truncated as requested.
    pub fn encode_full(
        &self,
        text: &[u8],
        pair: Option<&[u8]>,
        options: EncodeOptions<'_>,
    ) -> Result<Encoding> {
        self.call(options)?.encode_full(text, pair, 0)
    }

    /// Many texts or pairs, with everything that is known of each id, padded to the longest if the padding says so.
    ///
    /// # Errors
    /// As for one text; the error says which one.
    pub fn encode_full_batch(
        &self,
        texts: &[(&[u8], Option<&[u8]>)],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<Encoding>> {
        let call = self.call(options)?;
        let len = |(text, pair): &(&[u8], Option<&[u8]>)| text.len() + pair.map_or(0, <[_]>::len);
        let lens: Vec<_> = texts.iter().map(len).collect();
        let encodings = batch::map(&lens, &mut vec![(); n_threads.max(1)], false, |index, _| {
            call.encode_full(texts[index].0, texts[index].1, index as u64)
        })?;
        Ok(call.filled_up(encodings))
    }

    /// How a token is written in published files.
    fn written(&self, id: TokenId) -> String {
        let token = self.parts.vocabulary.token(id);
        token.map(|token| published_name(&self.parts.units, token)).unwrap_or_default()
    }

    /// The unknown token if the text that it stands for is shown in its place, as SentencePiece does. The library that
    /// reads `tokenizer.json` shows the token.
    pub(super) fn unknown_shown_as_text(&self) -> Option<TokenId> {
        let is_sentencepiece = self.parts.normalizer.is_sentencepiece();
        let name = self.parts.units.unknown.as_deref().filter(|_| is_sentencepiece)?;
        self.parts.vocabulary.id(Token { kind: TokenKind::Unknown, bytes: name.as_bytes() })
    }
}

impl Call<'_> {
    /// A text, or two, with everything that is known of each id.
    fn encode_full(&self, text: &[u8], pair: Option<&[u8]>, index: u64) -> Result<Encoding> {
        let trace = |text, index| self.trace(Segment::whole(text), index);
        let first = trace(text, index)?;
        let second = pair.map(|pair| trace(pair, index ^ SECOND)).transpose()?.zip(pair);
        self.assembled((first, text), second, self.tokenizer.parts.offsets)
    }

    /// Two texts, encoded, truncated, arranged by the template and padded.
    pub(super) fn assembled(
        &self,
        (first, text): (Row, &[u8]),
        second: Option<(Row, &[u8])>,
        rules: OffsetRules,
    ) -> Result<Encoding> {
        let n_second = second.as_ref().map(|(row, _)| row.ids.len());
        let contents = self.contents(second.is_some());
        let truncation = self.truncation();
        let all = (first.ids.len(), n_second.unwrap_or_default());
        let mut lens = all;
        if let Some(truncation) = truncation {
            lens = truncation.lens(all.0, n_second, contents)?;
            self.check_parts(truncation, contents, all, lens)?;
        }
        // Parts share ids, unless that was refused; each is copied once more.
        let n_ids = contents.n_ids(all);
        ask(Encoding::LEN_OF_ID.saturating_mul(2).saturating_mul(n_ids))?;
        let first = first.into_encoding((text, 0), rules, lens.0, truncation);
        let second =
            second.map(|(row, pair)| row.into_encoding((pair, 1), rules, lens.1, truncation));
        let mut encoding = self.arranged(&first, second.as_ref());
        if let Some(padding) = self.padding() {
            let len = padding.len(encoding.ids.len());
            encoding.pad(padding, self.own_name(padding), len);
        }
        Ok(encoding)
    }

    /// Refuses parts of two texts, cut from the first lengths to the second, if they take too much memory.
    fn check_parts(
        &self,
        truncation: &Truncation,
        contents: Contents,
        from: (usize, usize),
        to: (usize, usize),
    ) -> Result<()> {
        let n_parts_of = |from, to, n_copies: usize| match n_copies {
            0 => 1,
            _ => n_windows(from, to, truncation),
        };
        let n_firsts = n_parts_of(from.0, to.0, contents.copies.0);
        let n_parts = n_firsts.saturating_mul(n_parts_of(from.1, to.1, contents.copies.1));
        let most = truncation.max_length;
        let part_len = self.padding().map_or(most, |padding| padding.len(most).max(most));
        if n_parts > 1 {
            check_windows(n_parts, part_len, from.0 + from.1)?;
        }
        Ok(())
    }

    /// Pads encodings to one length, if the padding says so.
    pub(super) fn filled_up(&self, mut encodings: Vec<Encoding>) -> Vec<Encoding> {
        if let Some(padding) = self.padding() {
            let longest = encodings.iter().map(|encoding| encoding.ids.len()).max();
            let len = padding.len(longest.unwrap_or_default());
            let name = self.own_name(padding);
            encodings.iter_mut().for_each(|encoding| encoding.pad(padding, name, len));
        }
        encodings
    }

    /// How padding is shown, if the vocabulary names its id otherwise.
    fn own_name<'p>(&self, padding: &'p Padding) -> Option<&'p str> {
        let name = padding.token.as_str();
        (self.tokenizer.written(padding.id) != name).then_some(name)
    }

    /// The texts and special tokens in the order of the template. Overflowing parts are arranged alike: each part of a
    /// text, in all places of the text, with each part of the other one. The text that stands first varies slowest.
    fn arranged(&self, first: &Encoding, second: Option<&Encoding>) -> Encoding {
        let pieces: Vec<_> = self.pieces(second.is_some()).collect();
        let parts = [parts_of(first), second.map(parts_of).unwrap_or_default()];
        let arrange = |places: [usize; 2]| {
            let part = |text: usize| parts[text].get(places[text]).copied();
            in_order(&pieces, [part(0), part(1)])
        };
        let texts = pieces.iter().filter_map(|piece| piece.text());
        let texts: Vec<_> = texts.map(|(place, _)| place).collect();
        let n_parts = |place: usize| if texts.contains(&place) { parts[place].len() } else { 1 };
        let slow = texts.first().copied().unwrap_or_default();
        let (n_slow, n_fast) = (n_parts(slow), n_parts(1 - slow).max(1));
        let of_slow = (1..n_slow).flat_map(|part| (0..n_fast).map(move |other| (part, other)));
        let rest = of_slow.chain((1..n_fast).map(|other| (0, other)));
        let mut encoding = arrange([0, 0]);
        encoding.overflowing = rest
            .map(|(part, other)| arrange(if slow == 0 { [part, other] } else { [other, part] }))
            .collect();
        encoding
    }

    /// The ids of the text with this `index` in the batch, each with its origin; or those of a part between cuts that
    /// change nothing.
    pub(super) fn trace(&self, text: Segment<'_>, index: u64) -> Result<Row> {
        let (mut row, mut dropping) = (Row::default(), self.dropping(index));
        self.tokenizer.workers.with(|worker| {
            let scratch = &mut worker.scratch;
            self.walk(&Traced::of(text), Depth::Piece, |met| match met {
                Met::Token { id, text, place, .. } => {
                    self.push_added(id, text, place, &mut row);
                    Ok(())
                }
                Met::Segment { .. } => Ok(()),
                Met::Text { text, place } => {
                    let tokens =
                        self.traced_piece(&text.text[place.clone()], &mut dropping, scratch)?;
                    row.ask_for_room(tokens.len())?;
                    self.push_piece(tokens, text, place.start, &mut row);
                    Ok(())
                }
            })
        })?;
        Ok(row)
    }

    /// The tokens of a piece, each with the bytes that it stands for.
    fn traced_piece(
        &self,
        piece: &[u8],
        dropping: &mut Option<Dropout>,
        scratch: &mut Scratch,
    ) -> Result<Vec<(TokenId, Range<usize>)>> {
        let whole = self.matcher.whole_piece(piece).filter(|_| dropping.is_none());
        if let Some(id) = whole {
            return Ok(vec![(id, 0..piece.len())]);
        }
        let mut tokens = Vec::new();
        self.tokenizer.encoder().encode_spans(piece, dropping.as_mut(), scratch, &mut tokens)?;
        Ok(tokens)
    }

    /// Adds the tokens of a piece, whose spans are offset by a place of the text.
    fn push_piece(
        &self,
        tokens: Vec<(TokenId, Range<usize>)>,
        text: &Traced<'_>,
        start: usize,
        row: &mut Row,
    ) {
        row.begin_word();
        let unknown = self.tokenizer.unknown_shown_as_text();
        for (id, place) in tokens {
            let place = start + place.start..start + place.end;
            let span = text.span(place.clone());
            row.push(id, span, self.tokenizer.parts.offsets, || self.tokenizer.written(id));
            if unknown == Some(id) {
                row.found_as(String::from_utf8_lossy(&text.text[place]).into_owned());
            }
        }
    }

    /// Adds an added token, with the white space that belongs to it.
    fn push_added(&self, id: TokenId, text: &Traced<'_>, place: Range<usize>, row: &mut Row) {
        let rules = self.tokenizer.parts.offsets;
        row.begin_word();
        let found = &text.text[place.clone()];
        let found_text = || String::from_utf8_lossy(found).into_owned();
        row.push(id, text.span(place), rules, found_text);
        if self.tokenizer.parts.vocabulary.token(id).is_none_or(|token| token.bytes != found) {
            row.found_as(found_text());
        }
    }
}

/// Special tokens and parts of the texts, as the pieces of a template say.
fn in_order(pieces: &[&TemplatePiece], parts: [Option<&Encoding>; 2]) -> Encoding {
    let mut encoding = Encoding::default();
    for piece in pieces {
        if let TemplatePiece::Special { ids, type_id, names } = piece {
            let mut special = Encoding::special(ids, *type_id);
            special.found_as = names.iter().cloned().enumerate().collect();
            encoding.append(&special);
        } else if let Some((place, type_id)) = piece.text() {
            let n_before = encoding.ids.len();
            parts[place].into_iter().for_each(|part| encoding.append(part));
            encoding.type_ids[n_before..].fill(type_id);
        }
    }
    encoding
}

/// The part of a text that is kept, and each part that overflows.
fn parts_of(text: &Encoding) -> Vec<&Encoding> {
    std::iter::once(text).chain(&text.overflowing).collect()
}

/// The words of a text, and those of a second one, if any.
pub type WordsOrPair<'t> = (&'t [&'t [u8]], Option<&'t [&'t [u8]]>);

impl Tokenizer {
    /// Many texts given as words, or pairs of them, with everything that is known of each id.
    ///
    /// Spans are counted in characters if `in_characters`, otherwise in bytes.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode_full`]; the error says which text.
    pub fn encode_words_batch(
        &self,
        texts: &[WordsOrPair<'_>],
        in_characters: bool,
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<Encoding>> {
        let call = self.call(options)?;
        let n_bytes = |words: &[&[u8]]| words.iter().map(|word| word.len()).sum::<usize>();
        let lens: Vec<_> =
            texts.iter().map(|(words, pair)| n_bytes(words) + pair.map_or(0, n_bytes)).collect();
        let encodings = batch::map(&lens, &mut vec![(); n_threads.max(1)], false, |index, _| {
            let (words, pair) = texts[index];
            let first = call.trace_words(words, in_characters)?;
            let second = pair.map(|pair| call.trace_words(pair, in_characters)).transpose()?;
            let second = second.map(|row| (row, &[][..]));
            call.assembled((first, &[]), second, OffsetRules::default())
        })?;
        Ok(call.filled_up(encodings))
    }
}

impl Call<'_> {
    fn trace_words(&self, words: &[&[u8]], in_characters: bool) -> Result<Row> {
        let rules = self.tokenizer.parts.offsets;
        let mut row = Row::default();
        for (index, word) in words.iter().enumerate() {
            let found = self.trace(Segment::whole(word), index as u64)?;
            let found = found.into_encoding((word, 0), rules, usize::MAX, None);
            row.push_word(found, word, in_characters);
        }
        Ok(row)
    }
}
