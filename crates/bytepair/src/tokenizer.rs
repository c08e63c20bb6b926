//! The whole pipeline: text to ids and back.
//!
//! A [`Tokenizer`] is its [`Parts`], compiled. It never changes: methods that look like changes give a
//! new one. Caches of encoded pieces lie beside it and show in nothing but time. Any number of threads
//! may use one tokenizer; a process that was forked may go on using it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::added::{AddedToken, Finder, Matcher, Part, Specials};
use crate::batch::{self, Batch};
use crate::decode::{DecodeErrors, DecodeRules, Joiner, Utf8Buffer};
use crate::encode::{Encoder, PieceCache, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::normalize::Normalizer;
use crate::piece_key::piece_key;
use crate::pool::Pool;
use crate::split::{Segment, Splitter};
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// Everything that a tokenizer is.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Changes the text before it is split.
    pub normalizer: Normalizer,
    /// Cuts the text into pieces.
    pub splitter: Splitter,
    /// Cuts pieces into symbols.
    pub units: Units,
    /// Ids, tokens and merges.
    pub vocabulary: Arc<Vocabulary>,
    /// Tokens that are found by their content. All are in the vocabulary.
    pub added: Vec<AddedToken>,
    /// Whether a piece that is a token as a whole is that token, whatever the merges would give.
    pub ignore_merges: bool,
    /// Ids put around a text on request.
    pub template: Template,
    /// What is undone when ids become text.
    pub decode: DecodeRules,
}

/// Ids put before and after a text where special tokens are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Template {
    /// Put before the text.
    pub before: Vec<TokenId>,
    /// Put after the text.
    pub after: Vec<TokenId>,
}

/// How special tokens are treated in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodeOptions<'n> {
    /// Special tokens that are recognised in the text.
    pub allowed_special: Specials<'n>,
    /// Special tokens that are an error in the text, unless allowed.
    pub disallowed_special: Specials<'n>,
    /// Whether the template is applied.
    pub add_special_tokens: bool,
}

/// A compiled tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    parts: Parts,
    encoder: Encoder,
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

impl Tokenizer {
    /// Compiles the parts.
    ///
    /// # Errors
    /// Where an added token is not in the vocabulary.
    pub fn new(parts: Parts) -> Result<Self> {
        parts.units.check()?;
        for token in &parts.added {
            parts.vocabulary.expect_token(token.id)?;
        }
        for &id in parts.template.before.iter().chain(&parts.template.after) {
            parts.vocabulary.expect_token(id)?;
        }
        Ok(Self {
            encoder: Encoder::new(Arc::clone(&parts.vocabulary), &parts.units, parts.ignore_merges),
            ordinary: Matcher::new(&parts.added, &parts.normalizer, Specials::None)?,
            all_special: Matcher::new(&parts.added, &parts.normalizer, Specials::All)?,
            workers: Pool::new(|| Worker { scratch: Scratch::default(), cache: PieceCache::new() }),
            parts,
        })
    }

    /// What this tokenizer is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// Where a special token stands in the text that is not allowed, a unit is not in the vocabulary and
    /// nothing stands for it, the text is not UTF-8 but has to be, or the split pattern gives up.
    pub fn encode(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<TokenId>> {
        let mut ids = Vec::new();
        self.call(options)?.encode(text, &mut ids)?;
        Ok(ids)
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
        batch::encode(texts, n_threads, |text, ids| call.encode(text, ids))
    }

    /// The pieces of a text, normalized, special tokens taken as plain text.
    pub fn split(&self, text: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.check_utf8(text)?;
        let segment = Segment { text, is_first: true, is_last: true };
        let normalized = self.parts.normalizer.normalize(segment);
        let mut pieces = Vec::new();
        self.parts.splitter.for_each_piece(&normalized, |piece| {
            pieces.push(normalized[piece].to_vec());
            Ok(())
        })?;
        Ok(pieces)
    }

    /// The tokens of a text as they are written; units outside the alphabet appear as themselves.
    pub fn tokenize(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<Vec<u8>>> {
        let call = self.call(options)?;
        let (mut ids, mut strangers) = (Vec::new(), Vec::new());
        let n_ids = self.parts.vocabulary.len();
        call.for_each_part(text, &mut ids, |text, piece, ids, worker| {
            self.encoder.encode_or(&text[piece], &mut worker.scratch, ids, |symbol| {
                strangers.push(self.parts.units.written(symbol).into_owned());
                Ok(TokenId::try_from(n_ids + strangers.len() - 1).unwrap_or(TokenId::MAX))
            })
        })?;
        let written = |id: TokenId| match self.parts.vocabulary.token(id) {
            Some(token) => self.parts.units.written(token).into_owned(),
            None => strangers[id as usize - n_ids].clone(),
        };
        Ok(ids.into_iter().map(written).collect())
    }

    /// The bytes of tokens, one after the other. End marks have none.
    ///
    /// # Errors
    /// Where an id is not in the vocabulary.
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for &id in ids {
            bytes.extend_from_slice(self.parts.vocabulary.expect_token(id)?.bytes);
        }
        Ok(bytes)
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// Where an id is not in the vocabulary, or the bytes are not UTF-8 and `errors` is strict.
    pub fn decode(
        &self,
        ids: &[TokenId],
        errors: DecodeErrors,
        skip_special_tokens: bool,
    ) -> Result<String> {
        let mut stream = DecodeStream::new(errors, skip_special_tokens);
        for &id in ids {
            stream.join(self, id)?;
        }
        stream.buffer.take(true)
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
                normalized: false,
            });
        }
        parts.vocabulary = Arc::new(vocabulary);
        Self::new(parts)
    }

    /// Fixes what holds for all texts of a call.
    fn call(&self, options: EncodeOptions<'_>) -> Result<Call<'_>> {
        let parts = &self.parts;
        let matcher = match options.allowed_special {
            Specials::None => Cow::Borrowed(&self.ordinary),
            Specials::All => Cow::Borrowed(&self.all_special),
            only @ Specials::Only(_) => {
                Cow::Owned(Matcher::new(&parts.added, &parts.normalizer, only)?)
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
        })
    }

    fn check_utf8(&self, text: &[u8]) -> Result<()> {
        if self.parts.units.is_bytes() {
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

/// One call of `encode` or `encode_batch`.
struct Call<'c> {
    tokenizer: &'c Tokenizer,
    matcher: Cow<'c, Matcher>,
    disallowed: Finder,
    add_special_tokens: bool,
}

impl Call<'_> {
    /// Appends the ids of a text.
    fn encode(&self, text: &[u8], ids: &mut Vec<TokenId>) -> Result<()> {
        let Template { before, after } = &self.tokenizer.parts.template;
        if self.add_special_tokens {
            ids.extend_from_slice(before);
        }
        self.encode_text(text, ids)?;
        if self.add_special_tokens {
            ids.extend_from_slice(after);
        }
        Ok(())
    }

    fn encode_text(&self, text: &[u8], ids: &mut Vec<TokenId>) -> Result<()> {
        let encoder = &self.tokenizer.encoder;
        self.for_each_part(text, ids, |text, piece, ids, worker| {
            encode_cached(encoder, text, piece, ids, worker)
        })
    }

    /// Appends added tokens where they stand, and calls `encode_piece` for each piece in between.
    fn for_each_part(
        &self,
        text: &[u8],
        ids: &mut Vec<TokenId>,
        mut encode_piece: impl FnMut(&[u8], Range<usize>, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        self.tokenizer.check_utf8(text)?;
        self.check_disallowed(text)?;
        self.tokenizer.workers.with(|worker| {
            self.matcher.cut_raw(text, |part| match part {
                Part::Token(id) => {
                    ids.push(id);
                    Ok(())
                }
                Part::Text(range) => {
                    let is_last = range.end == text.len();
                    let is_first = range.start == 0;
                    let segment = Segment { text: &text[range], is_first, is_last };
                    self.for_each_piece(segment, ids, worker, &mut encode_piece)
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
        encode_piece: &mut impl FnMut(&[u8], Range<usize>, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let normalized = parts.normalizer.normalize(segment);
        self.matcher.cut_normalized(&normalized, |part| match part {
            Part::Token(id) => {
                ids.push(id);
                Ok(())
            }
            Part::Text(range) => {
                let text = &normalized[range];
                parts.splitter.for_each_piece(text, |piece| encode_piece(text, piece, ids, worker))
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
        return encoder.encode(&text[piece], &mut worker.scratch, ids);
    };
    if worker.cache.append(key, ids) {
        return Ok(());
    }
    let n_before = ids.len();
    encoder.encode(&text[piece], &mut worker.scratch, ids)?;
    worker.cache.insert(key, &ids[n_before..]);
    Ok(())
}

/// Ids in, text out, never half a character. At the end it has given what [`Tokenizer::decode`] gives.
#[derive(Clone, Debug)]
pub struct DecodeStream {
    joiner: Joiner,
    buffer: Utf8Buffer,
    skip_special_tokens: bool,
}

impl DecodeStream {
    /// A stream at its beginning.
    pub fn new(errors: DecodeErrors, skip_special_tokens: bool) -> Self {
        Self { joiner: Joiner::default(), buffer: Utf8Buffer::new(errors), skip_special_tokens }
    }

    /// The text that is complete with one more token; often empty.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: TokenId) -> Result<String> {
        self.join(tokenizer, id)?;
        self.buffer.take(false)
    }

    /// What is left when no token follows.
    pub fn finish(&mut self) -> Result<String> {
        self.joiner = Joiner::default();
        self.buffer.take(true)
    }

    fn join(&mut self, tokenizer: &Tokenizer, id: TokenId) -> Result<()> {
        let parts = &tokenizer.parts;
        let token = parts.vocabulary.expect_token(id)?;
        let is_special = |added: &AddedToken| added.id == id && added.special;
        let skip = self.skip_special_tokens
            && (token.kind == TokenKind::Unknown
                || token.kind == TokenKind::Added && parts.added.iter().any(is_special));
        if !skip {
            self.joiner.push(token, &parts.decode, self.buffer.bytes_mut());
        }
        Ok(())
    }
}
