//! The whole pipeline: text to ids and back.
//!
//! A [`Tokenizer`] is its [`Parts`], compiled. It never changes: methods that look like changes give a
//! new one. Caches of encoded pieces lie beside it and show in nothing but time. Any number of threads
//! may use one tokenizer; a process that was forked may go on using it.

mod adding;
mod learned;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::added::{AddedToken, Finder, Matcher, Part, Specials};
use crate::batch::{self, Batch};
use crate::decode::{Decode, Decoder};
use crate::encode::{Dropout, Dropping, Encoder, PieceCache, Scratch};
use crate::encoding::{Encoding, Row, Traced};
use crate::error::{Error, ErrorKind, Result};
use crate::format::published_name;
use crate::normalize::{Normalizer, growth};
use crate::piece_key::{part_key, piece_key};
use crate::pool::Pool;
use crate::pretokenize::PreTokenizer;
use crate::split::{Segment, Splitter};
use crate::template::{OffsetRules, Padding, Sequence, Side, Template, TemplatePiece, Truncation};
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

pub use words::WordsOrPair;

/// Everything that a tokenizer is.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Changes the text before it is split.
    pub normalizer: Normalizer,
    /// Cuts each segment of the normalized text into pieces.
    pub pre_tokenizer: PreTokenizer,
    /// Cuts pieces into symbols.
    pub units: Units,
    /// Ids, tokens and merges.
    pub vocabulary: Arc<Vocabulary>,
    /// Tokens that are found by their content. All are in the vocabulary.
    pub added: Vec<AddedToken>,
    /// Whether a piece that is a token as a whole is that token, whatever the merges would give.
    pub ignore_merges: bool,
    /// How likely a merge is skipped where a call asks for that; a hint of its file, without effect else.
    pub dropout: Option<f64>,
    /// Special tokens put around a text on request.
    pub template: Template,
    /// How the ids of a text are cut to a length on request.
    pub truncation: Option<Truncation>,
    /// How the ids of a text are filled up to a length on request.
    pub padding: Option<Padding>,
    /// How spans of tokens are reported.
    pub offsets: OffsetRules,
    /// How ids become text.
    pub decode: Decode,
}

impl Parts {
    /// A tokenizer of units and a vocabulary: no change of the text, which is one piece, and nothing else.
    pub fn new(units: Units, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            normalizer: Normalizer::default(),
            pre_tokenizer: PreTokenizer::from(Splitter::whole()),
            units,
            vocabulary,
            added: Vec::new(),
            ignore_merges: false,
            dropout: None,
            template: Template::default(),
            truncation: None,
            padding: None,
            offsets: OffsetRules::default(),
            decode: Decode::default(),
        }
    }
}

/// How special tokens are treated in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EncodeOptions<'n> {
    /// Special tokens that are recognised in the text.
    pub allowed_special: Specials<'n>,
    /// Special tokens that are an error in the text, unless allowed.
    pub disallowed_special: Specials<'n>,
    /// Whether the template is applied.
    pub add_special_tokens: bool,
    /// Whether truncation and padding are applied; as a rule they are where the template is.
    pub fit_length: Option<bool>,
    /// Leaves out merges by chance.
    pub dropout: Option<Dropout>,
}

/// A compiled tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    parts: Parts,
    encoder: Arc<Encoder>,
    decoder: Arc<Decoder>,
    /// For calls that allow no special token.
    ordinary: Matcher,
    /// For calls that allow all of them.
    all_special: Matcher,
    workers: Pool<Worker>,
}

/// What one thread needs to encode.
pub(crate) struct Worker {
    scratch: Scratch,
    cache: PieceCache,
}

fn new_worker() -> Worker {
    Worker { scratch: Scratch::default(), cache: PieceCache::new() }
}

/// Replacements that could make a text longer than this many times take all memory, and are refused.
const MAX_GROWTH: f64 = 65_536.0;

fn check_growth(parts: &Parts) -> Result<()> {
    let rounds = parts.pre_tokenizer.rounds().iter().flat_map(|round| round.change.growths());
    let encoding: Vec<_> = parts.normalizer.growths().chain(rounds).collect();
    let decoding: Vec<_> = match &parts.decode {
        Decode::Chain(chain) => chain.growths().collect(),
        Decode::Rules(_) | Decode::SentencePiece(_) => Vec::new(),
    };
    for (name, steps) in [("normalizer", encoding), ("decoder", decoding)] {
        if growth(&steps) > MAX_GROWTH {
            let problem = format!("its replacements could make a text {MAX_GROWTH} times longer");
            return Err(Error::option(name, problem));
        }
    }
    Ok(())
}

impl Tokenizer {
    /// Compiles the parts.
    ///
    /// # Errors
    /// Where an added token is not in the vocabulary, or is a whole piece although no token is.
    pub fn new(parts: Parts) -> Result<Self> {
        parts.units.check()?;
        for token in &parts.added {
            parts.vocabulary.expect_token(token.id)?;
            if token.whole_piece && !parts.ignore_merges {
                return Err(is_never_whole(token));
            }
        }
        for id in parts.template.special_ids() {
            parts.vocabulary.expect_token(id)?;
        }
        if let Some(padding) = &parts.padding {
            padding.check()?;
        }
        check_growth(&parts)?;
        let vocabulary = Arc::clone(&parts.vocabulary);
        Ok(Self {
            encoder: Arc::new(Encoder::new(vocabulary, &parts.units, parts.ignore_merges)),
            decoder: Arc::new(Decoder::new(&parts)?),
            ordinary: Matcher::new(
                &parts.added,
                (&parts.normalizer, &parts.units),
                Specials::None,
            )?,
            all_special: Matcher::new(
                &parts.added,
                (&parts.normalizer, &parts.units),
                Specials::All,
            )?,
            workers: Pool::new(new_worker),
            parts,
        })
    }

    /// What this tokenizer is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// Where a special token stands in the text that is not allowed, a unit is not in the vocabulary and
    /// nothing stands for it, the text is not UTF-8 but has to be, or the split pattern gives up.
    pub fn encode(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<TokenId>> {
        let mut ids = Vec::new();
        self.call(options)?.encode(text, 0, &mut ids)?;
        Ok(ids)
    }

    /// A text, or two, with all that is known of each id.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`]; and where the texts cannot be cut as the truncation says.
    pub fn encode_full(
        &self,
        text: &[u8],
        pair: Option<&[u8]>,
        options: EncodeOptions<'_>,
    ) -> Result<Encoding> {
        self.call(options)?.encode_full(text, pair, 0)
    }

    /// The same for many texts, filled up to the length of the longest if the padding says so.
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
        let encodings = batch::map(&lens, n_threads, |index| {
            call.encode_full(texts[index].0, texts[index].1, index as u64)
        })?;
        Ok(call.filled_up(encodings))
    }

    /// The ids of a text in which every special token is plain text.
    pub fn encode_ordinary(&self, text: &[u8]) -> Result<Vec<TokenId>> {
        self.encode(text, EncodeOptions::default())
    }

    /// The number of ids of a text.
    pub fn count(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<usize> {
        self.encode(text, options).map(|ids| ids.len())
    }

    /// The ids of many texts, on `n_threads` threads.
    ///
    /// # Errors
    /// As for one text; the error says which one.
    pub fn encode_batch(
        &self,
        texts: &[&[u8]],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Batch> {
        let call = self.call(options)?;
        let batch = batch::encode(texts, n_threads, |index, ids| {
            call.encode(texts[index], index as u64, ids)
        })?;
        Ok(match call.padding() {
            Some(padding) => batch.padded(padding, padding.len(batch.longest())),
            None => batch,
        })
    }

    /// The pieces of a text, normalized, special tokens taken as plain text.
    pub fn split(&self, text: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.check_utf8(text)?;
        let segment = Segment { text, is_first: true, is_last: true };
        let normalized = self.parts.normalizer.normalize(segment)?;
        let segment = Segment { text: &normalized, ..segment };
        let mut pieces = Vec::new();
        self.parts.pre_tokenizer.for_each_piece(segment, |text, piece| {
            pieces.push(text[piece].to_vec());
            Ok(())
        })?;
        Ok(pieces)
    }

    /// The tokens of a text as they are written; units outside the alphabet and added tokens appear as they
    /// stand in the text.
    pub fn tokenize(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<Vec<u8>>> {
        let call = self.call(options)?;
        let (mut ids, mut strangers) = (Vec::new(), Vec::new());
        let n_ids = self.parts.vocabulary.len();
        let stranger = |n_strangers| TokenId::try_from(n_ids + n_strangers).unwrap_or(TokenId::MAX);
        call.for_each_part(text, &mut ids, |text, part, ids, worker| match part {
            Part::Token(_, place) => {
                ids.push(stranger(strangers.len()));
                strangers.push(text[place].to_vec());
                Ok(())
            }
            Part::Text(piece) => {
                if let Some(id) = call.matcher.whole_piece(&text[piece.clone()]) {
                    return push(id, ids);
                }
                self.encoder.encode_or(&text[piece], &mut worker.scratch, ids, |symbol| {
                    strangers.push(self.parts.units.written(symbol).into_owned());
                    Ok(stranger(strangers.len() - 1))
                })
            }
        })?;
        let written = |id: TokenId| match self.parts.vocabulary.token(id) {
            Some(token) => self.parts.units.written(token).into_owned(),
            None => strangers[id as usize - n_ids].clone(),
        };
        Ok(ids.into_iter().map(written).collect())
    }

    /// The id of the token that is written so, marks included.
    ///
    /// Where a token of the text and another kind of token are written alike, the one of the text is found.
    pub fn id_of_written(&self, written: &[u8]) -> Option<TokenId> {
        let vocabulary = &self.parts.vocabulary;
        let plain = [TokenKind::PLAIN, TokenKind::Added, TokenKind::Unknown];
        let found =
            plain.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes: written }));
        let byte = || {
            let digits =
                std::str::from_utf8(written.strip_prefix(b"<0x")?.strip_suffix(b">")?).ok()?;
            let value = u8::from_str_radix(digits, 16).ok()?;
            vocabulary.id(Token { kind: TokenKind::Byte, bytes: &[value] })
        };
        found.or_else(|| vocabulary.id(self.parts.units.parse(written))).or_else(byte)
    }

    /// A tokenizer with more special tokens. Those that are there already stay as they are.
    ///
    /// # Errors
    /// Where an id is taken by another token.
    pub fn with_special_tokens(&self, tokens: &[(String, Option<TokenId>)]) -> Result<Self> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        for (content, wanted) in tokens {
            let unknown = Token { kind: TokenKind::Unknown, bytes: content.as_bytes() };
            if vocabulary.id(unknown).is_some_and(|id| wanted.is_none_or(|wanted| wanted == id)) {
                continue;
            }
            if let Some(known) = parts.added.iter().find(|token| token.content == *content) {
                match wanted.is_none_or(|id| id == known.id) {
                    true => continue,
                    false => return Err(has_other_id(known)),
                }
            }
            check_new_special(content, *wanted, vocabulary.len())?;
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            let id = match *wanted {
                Some(id) => vocabulary.insert(id, token).map(|()| id)?,
                None => vocabulary.push(token)?,
            };
            parts.added.push(AddedToken {
                id,
                content: content.clone(),
                special: true,
                ..AddedToken::default()
            });
        }
        parts.vocabulary = Arc::new(vocabulary);
        Self::new(parts)
    }

    /// The same tokenizer with another template, truncation and padding.
    ///
    /// # Errors
    /// Where a special token is not in the vocabulary, or a length makes no sense.
    pub fn with_lengths(
        &self,
        template: Template,
        truncation: Option<Truncation>,
        padding: Option<Padding>,
    ) -> Result<Self> {
        for id in template.special_ids() {
            self.parts.vocabulary.expect_token(id)?;
        }
        if let Some(padding) = &padding {
            padding.check()?;
        }
        Ok(Self {
            parts: Parts { template, truncation, padding, ..self.parts.clone() },
            encoder: Arc::clone(&self.encoder),
            decoder: Arc::clone(&self.decoder),
            ordinary: self.ordinary.clone(),
            all_special: self.all_special.clone(),
            workers: Pool::new(new_worker),
        })
    }

    /// Fixes what holds for all texts of a call.
    fn call(&self, options: EncodeOptions<'_>) -> Result<Call<'_>> {
        if let Some(dropout) = &options.dropout {
            dropout.check()?;
        }
        let parts = &self.parts;
        let matcher = match options.allowed_special {
            Specials::None => Cow::Borrowed(&self.ordinary),
            Specials::All => Cow::Borrowed(&self.all_special),
            only @ Specials::Only(_) => {
                Cow::Owned(Matcher::new(&parts.added, (&parts.normalizer, &parts.units), only)?)
            }
        };
        let disallowed = match options.disallowed_special {
            Specials::None => Finder::default(),
            names => Matcher::disallowed(&parts.added, options.allowed_special, names)?,
        };
        Ok(Call {
            tokenizer: self,
            matcher,
            disallowed,
            add_special_tokens: options.add_special_tokens,
            fits_length: options.fit_length.unwrap_or(options.add_special_tokens),
            dropout: options.dropout,
        })
    }

    /// How a token is written in published files.
    fn written(&self, id: TokenId) -> String {
        let token = self.parts.vocabulary.token(id);
        token.map(|token| published_name(&self.parts.units, token)).unwrap_or_default()
    }

    fn check_utf8(&self, text: &[u8]) -> Result<()> {
        if self.parts.units.is_bytes() || self.parts.normalizer.is_sentencepiece() {
            return Ok(());
        }
        let checked = std::str::from_utf8(text);
        checked
            .map(drop)
            .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 }.into())
    }
}

/// An id this far behind the last one is taken for a mistake: each id between takes memory.
const MAX_HOLES: usize = 1 << 20;

fn is_never_whole(token: &AddedToken) -> Error {
    let problem = format!("{:?} is a whole piece, but merges are not ignored", token.content);
    Error::option("whole_piece", problem)
}

fn has_other_id(known: &AddedToken) -> Error {
    Error::option("special_tokens", format!("{:?} has the id {} already", known.content, known.id))
}

fn check_new_special(content: &str, wanted: Option<TokenId>, n_ids: usize) -> Result<()> {
    if content.is_empty() {
        return Err(Error::option("special_tokens", "an empty text stands everywhere"));
    }
    match wanted {
        Some(id) if id as usize > n_ids + MAX_HOLES => {
            let problem =
                format!("{content:?}: the id {id} is far beyond the {n_ids} that there are");
            Err(Error::option("special_tokens", problem))
        }
        _ => Ok(()),
    }
}

/// One call of `encode` or another method that encodes.
struct Call<'c> {
    tokenizer: &'c Tokenizer,
    matcher: Cow<'c, Matcher>,
    disallowed: Finder,
    add_special_tokens: bool,
    fits_length: bool,
    dropout: Option<Dropout>,
}

/// Which of a call's texts is encoded: seeds of dropout differ by it.
const SECOND: u64 = 1 << 63;

impl<'c> Call<'c> {
    fn truncation(&self) -> Option<&'c Truncation> {
        self.tokenizer.parts.truncation.as_ref().filter(|_| self.fits_length)
    }

    fn padding(&self) -> Option<&'c Padding> {
        self.tokenizer.parts.padding.as_ref().filter(|_| self.fits_length)
    }

    fn dropping(&self, index: u64) -> Option<Dropping> {
        let with_seed =
            |dropout: Dropout| Dropout { seed: dropout.seed.wrapping_add(index), ..dropout };
        self.dropout.map(|dropout| with_seed(dropout).start())
    }

    fn n_added(&self, is_pair: bool) -> usize {
        if self.add_special_tokens { self.tokenizer.parts.template.n_added(is_pair) } else { 0 }
    }

    /// Appends the ids of a text, whose place in a batch is `index`.
    fn encode(&self, text: &[u8], index: u64, ids: &mut Vec<TokenId>) -> Result<()> {
        let encode_text = |ids: &mut Vec<TokenId>| match self.truncation() {
            None => self.encode_text(text, index, ids),
            Some(truncation) => {
                let n_before = ids.len();
                self.encode_text(text, index, ids)?;
                let n_ids = ids.len() - n_before;
                let (left, _) = truncation.lens(n_ids, None, self.n_added(false))?;
                let first = if truncation.side == Side::Left { n_before } else { n_before + left };
                ids.drain(first..first + (n_ids - left));
                Ok(())
            }
        };
        if !self.add_special_tokens && !self.fits_length {
            return encode_text(ids);
        }
        let n_before = ids.len();
        for piece in &self.tokenizer.parts.template.single {
            match piece {
                TemplatePiece::Special { ids: special, .. } if self.add_special_tokens => {
                    ids.extend_from_slice(special);
                }
                TemplatePiece::Special { .. } => {}
                TemplatePiece::Text { .. } => encode_text(ids)?,
            }
        }
        if let Some(padding) = self.padding() {
            padding.fill(padding.len(ids.len() - n_before), n_before, ids);
        }
        Ok(())
    }

    fn encode_text(&self, text: &[u8], index: u64, ids: &mut Vec<TokenId>) -> Result<()> {
        let encoder = &self.tokenizer.encoder;
        match self.dropping(index) {
            None => self.for_each_part(text, ids, |text, part, ids, worker| match part {
                Part::Token(id, _) => push(id, ids),
                Part::Text(piece) => match self.matcher.whole_piece(&text[piece.clone()]) {
                    Some(id) => push(id, ids),
                    None => encode_cached(encoder, text, piece, ids, worker),
                },
            }),
            Some(mut dropping) => {
                self.for_each_part(text, ids, |text, part, ids, worker| match part {
                    Part::Token(id, _) => push(id, ids),
                    Part::Text(piece) => encoder.encode_dropout(
                        &text[piece],
                        &mut dropping,
                        &mut worker.scratch,
                        ids,
                    ),
                })
            }
        }
    }

    /// A text, or two, with all that is known of each id.
    fn encode_full(&self, text: &[u8], pair: Option<&[u8]>, index: u64) -> Result<Encoding> {
        let first = self.trace(text, index)?;
        let second = pair.map(|pair| self.trace(pair, index ^ SECOND)).transpose()?.zip(pair);
        self.assembled((first, text), second, self.tokenizer.parts.offsets)
    }

    /// Two texts that are encoded, cut to a length, arranged and filled up.
    fn assembled(
        &self,
        (first, text): (Row, &[u8]),
        second: Option<(Row, &[u8])>,
        rules: OffsetRules,
    ) -> Result<Encoding> {
        let n_second = second.as_ref().map(|(row, _)| row.ids.len());
        let truncation = self.truncation();
        let lens = match truncation {
            Some(truncation) => {
                truncation.lens(first.ids.len(), n_second, self.n_added(second.is_some()))?
            }
            None => (first.ids.len(), n_second.unwrap_or_default()),
        };
        let first = first.into_encoding((text, 0), rules, lens.0, truncation);
        let second =
            second.map(|(row, pair)| row.into_encoding((pair, 1), rules, lens.1, truncation));
        let mut encoding = self.arranged(&first, second.as_ref());
        if let Some(padding) = self.padding() {
            encoding.pad(padding, padding.len(encoding.ids.len()));
        }
        Ok(encoding)
    }

    /// Encodings of one length, if the padding says so.
    fn filled_up(&self, mut encodings: Vec<Encoding>) -> Vec<Encoding> {
        if let Some(padding) = self.padding() {
            let longest = encodings.iter().map(|encoding| encoding.ids.len()).max();
            let len = padding.len(longest.unwrap_or_default());
            encodings.iter_mut().for_each(|encoding| encoding.pad(padding, len));
        }
        encodings
    }

    /// The texts and special tokens in the order of the template.
    fn arranged(&self, first: &Encoding, second: Option<&Encoding>) -> Encoding {
        let mut encoding = Encoding::default();
        for piece in self.tokenizer.parts.template.pieces(second.is_some()) {
            match piece {
                TemplatePiece::Special { ids, type_id } if self.add_special_tokens => {
                    encoding.join(&Encoding::special(ids, *type_id));
                }
                TemplatePiece::Special { .. } => {}
                TemplatePiece::Text { which, type_id } => {
                    let text = match which {
                        Sequence::First => Some(first),
                        Sequence::Second => second,
                    };
                    text.into_iter()
                        .for_each(|text| encoding.join(&text.clone().with_type(*type_id)));
                }
            }
        }
        encoding
    }

    /// The ids of a text with where each came from.
    fn trace(&self, text: &[u8], index: u64) -> Result<Row> {
        self.tokenizer.check_utf8(text)?;
        self.check_disallowed(text)?;
        let mut dropping = self.dropping(index);
        let (whole, mut row) = (Traced::original(text), Row::default());
        self.tokenizer.workers.with(|worker| {
            self.matcher.cut_raw(text, |part| match part {
                Part::Token(id, place) => {
                    self.push_added(id, &whole, place, &mut row);
                    Ok(())
                }
                Part::Text(range) => {
                    self.trace_segment(&whole.part(range), &mut dropping, worker, &mut row)
                }
            })
        })?;
        Ok(row)
    }

    /// The same for a segment between added tokens of the text as it was given.
    fn trace_segment(
        &self,
        segment: &Traced<'_>,
        dropping: &mut Option<Dropping>,
        worker: &mut Worker,
        row: &mut Row,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let normalized = segment.changed(&parts.normalizer)?;
        let mut tokens = Vec::new();
        self.matcher.cut_normalized(&normalized.text, |part| {
            let range = match part {
                Part::Token(id, place) => {
                    self.push_added(id, &normalized, place, row);
                    return Ok(());
                }
                Part::Text(range) => range,
            };
            parts.pre_tokenizer.for_each_traced(&normalized.part(range), &mut |text, piece| {
                let (encoder, scratch) = (&self.tokenizer.encoder, &mut worker.scratch);
                let bytes = &text.text[piece.clone()];
                let whole = self.matcher.whole_piece(bytes).filter(|_| dropping.is_none());
                match whole {
                    Some(id) => tokens.push((id, 0..bytes.len())),
                    None => encoder.encode_spans(bytes, dropping.as_mut(), scratch, &mut tokens)?,
                }
                self.push_piece(&mut tokens, text, piece.start, row);
                Ok(())
            })
        })
    }

    /// Adds the tokens of a piece, whose spans begin at a place of the text.
    fn push_piece(
        &self,
        tokens: &mut Vec<(TokenId, Range<usize>)>,
        text: &Traced<'_>,
        start: usize,
        row: &mut Row,
    ) {
        row.begin_word();
        for (id, place) in tokens.drain(..) {
            let span = text.span(start + place.start..start + place.end);
            row.push(id, span, self.tokenizer.parts.offsets, || self.tokenizer.written(id));
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

    /// Calls `encode_part` for each added token and each piece in between.
    fn for_each_part(
        &self,
        text: &[u8],
        ids: &mut Vec<TokenId>,
        mut encode_part: impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        self.tokenizer.check_utf8(text)?;
        self.check_disallowed(text)?;
        self.tokenizer.workers.with(|worker| {
            self.matcher.cut_raw(text, |part| match part {
                token @ Part::Token(..) => encode_part(text, token, ids, worker),
                Part::Text(range) => {
                    let is_last = range.end == text.len();
                    let is_first = range.start == 0;
                    let segment = Segment { text: &text[range], is_first, is_last };
                    self.for_each_piece(segment, ids, worker, &mut encode_part)
                }
            })
        })
    }

    /// The same for a segment between added tokens of the text as it was given.
    fn for_each_piece(
        &self,
        segment: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
        encode_part: &mut impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let normalized = parts.normalizer.normalize(segment)?;
        if self.needs_tracing(segment, &normalized) {
            return self.for_each_traced_piece(segment, ids, worker, encode_part);
        }
        self.matcher.cut_normalized(&normalized, |part| match part {
            token @ Part::Token(..) => encode_part(&normalized, token, ids, worker),
            Part::Text(range) => {
                let is_first = segment.is_first && range.start == 0;
                let is_last = segment.is_last && range.end == normalized.len();
                let segment = Segment { text: &normalized[range], is_first, is_last };
                parts.pre_tokenizer.for_each_piece(segment, |text, piece| {
                    encode_part(text, Part::Text(piece), ids, worker)
                })
            }
        })
    }

    /// Whether pieces must know where they came from: what the first character became is treated in its own
    /// way, also where it is several pieces, or where white space was taken away before it.
    fn needs_tracing(&self, segment: Segment<'_>, normalized: &[u8]) -> bool {
        let pre_tokenizer = &self.tokenizer.parts.pre_tokenizer;
        let is_changed = || normalized != segment.text;
        segment.is_first
            && pre_tokenizer.asks_for_the_first()
            && (pre_tokenizer.asks_late() || is_changed())
    }

    /// The same as `for_each_piece` for the first segment, whose pieces know where they came from.
    fn for_each_traced_piece(
        &self,
        segment: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
        encode_part: &mut impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let beginning = Traced::beginning(segment.text, segment.is_last);
        let normalized = beginning.changed(&parts.normalizer)?;
        self.matcher.cut_normalized(&normalized.text, |part| match part {
            token @ Part::Token(..) => encode_part(&normalized.text, token, ids, worker),
            Part::Text(range) => {
                parts.pre_tokenizer.for_each_traced(&normalized.part(range), &mut |text, piece| {
                    encode_part(&text.text, Part::Text(piece), ids, worker)
                })
            }
        })
    }

    fn check_disallowed(&self, text: &[u8]) -> Result<()> {
        let Some((id, offset)) = self.disallowed.find(text) else { return Ok(()) };
        let token = self.tokenizer.parts.vocabulary.expect_token(id)?;
        let token = String::from_utf8_lossy(token.bytes).into_owned();
        Err(ErrorKind::DisallowedSpecial { token, offset }.into())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside calls that can fail")]
fn push(id: TokenId, ids: &mut Vec<TokenId>) -> Result<()> {
    ids.push(id);
    Ok(())
}

/// Appends the ids of one piece, from the cache if it is there.
#[inline]
fn encode_cached(
    encoder: &Encoder,
    text: &[u8],
    piece: Range<usize>,
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let Some(key) = piece_key(text, piece.start, piece.end) else {
        return encode_long(encoder, &text[piece], ids, worker);
    };
    if worker.cache.append(key, ids) {
        return Ok(());
    }
    let n_before = ids.len();
    encoder.encode(&text[piece], &mut worker.scratch, ids)?;
    worker.cache.insert(key, &ids[n_before..]);
    Ok(())
}

/// Appends the ids of a piece that is too long for the cache, part by part.
fn encode_long(
    encoder: &Encoder,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let Worker { scratch, cache } = worker;
    let is_other = encoder.takes_whole_pieces();
    encoder.for_each_part(piece, ids, |part, ids| {
        let Some(key) = piece_key(piece, part.start, part.end) else {
            return encoder.encode_part(&piece[part], scratch, ids);
        };
        let key = if is_other { part_key(key) } else { key };
        if cache.append(key, ids) {
            return Ok(());
        }
        let n_before = ids.len();
        encoder.encode_part(&piece[part], scratch, ids)?;
        cache.insert(key, &ids[n_before..]);
        Ok(())
    })
}
