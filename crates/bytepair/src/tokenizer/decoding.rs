//! Ids to text, with the parts of a tokenizer: all at once, or token by token as a stream.
//!
//! How tokens become text is in [`decode`](crate::decode). This module handles the added tokens, which may be skipped,
//! and the names that a decoder chain receives.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Parts, Tokenizer};
use crate::decode::chain::Compiled;
use crate::decode::rules::{Joiner, PieceJoiner};
use crate::decode::stream::ChainStream;
use crate::decode::{Decode, DecodeErrors, DecodeRules, Utf8Buffer, into_text};
use crate::error::Result;
use crate::memory::{ask, ask_to_grow, reserve_exact};
use crate::segment::Segment;
use crate::units::published_name;
use crate::vocabulary::{TokenId, TokenKind};

/// What decoding needs besides the parts.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// Ids to leave out if a call skips special tokens.
    skipped: HashSet<TokenId>,
    pub(super) chain: Option<Arc<Compiled>>,
    /// For a chain: added tokens that it receives in another form, their normalized one.
    written: HashMap<TokenId, Vec<u8>>,
}

impl Decoder {
    /// # Errors
    /// If a pattern of a chain does not compile.
    pub(crate) fn new(parts: &Parts) -> Result<Self> {
        let special = parts.added.iter().filter(|token| token.special);
        let chain = match &parts.decode {
            Decode::Chain(chain) => chain.clone(),
            Decode::Rules(_) | Decode::SentencePiece(_) => {
                let unknown =
                    parts.vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::Unknown);
                let skipped = special.map(|token| token.id);
                let skipped = skipped.chain(unknown.map(|(id, _)| id)).collect();
                return Ok(Self { skipped, chain: None, written: HashMap::new() });
            }
        };
        let contents: HashSet<&[u8]> = special.map(|token| token.content.as_bytes()).collect();
        let mut written = HashMap::new();
        let mut skipped = HashSet::new();
        for token in &parts.added {
            let form = match token.normalized {
                true => normal_form(parts, &token.content)?,
                false => token.content.clone().into_bytes(),
            };
            if contents.contains(form.as_slice()) {
                skipped.insert(token.id);
            }
            written.insert(token.id, form);
        }
        Ok(Self { skipped, chain: Some(Arc::new(Compiled::new(chain)?)), written })
    }

    fn skips(&self, id: TokenId, skip_special_tokens: bool) -> bool {
        skip_special_tokens && self.skipped.contains(&id)
    }

    /// A token as its file writes it.
    pub(super) fn written(&self, parts: &Parts, id: TokenId) -> Result<Vec<u8>> {
        if let Some(written) = self.written.get(&id) {
            return Ok(written.clone());
        }
        let token = parts.vocabulary.expect_token(id)?;
        Ok(published_name(&parts.units, token).into_bytes())
    }
}

/// The memory that a token of a chain takes besides its bytes while it waits for the next step.
const WRITTEN_LEN: usize = 64;

/// Tokens with more bytes are rare, and add up quickly.
const LONG_TOKEN: usize = 256;

/// How much longer than its bytes a token may be written, because of spaces for its marks.
const MAX_ADDED: usize = 8;

/// An added token in the form in which it is looked for in normalized text.
///
/// Published files normalize it like a text. SentencePiece puts its space only before texts.
fn normal_form(parts: &Parts, content: &str) -> Result<Vec<u8>> {
    let is_text = !parts.normalizer.is_sentencepiece();
    let segment = Segment {
        text: content.as_bytes(),
        is_first: is_text,
        is_last: is_text,
        is_rest: !is_text,
    };
    parts.normalizer.normalize(segment).map(std::borrow::Cow::into_owned)
}

impl Tokenizer {
    /// The bytes of tokens, concatenated. An end mark is a space before the next token.
    ///
    /// Decoding rules are not applied; a chain is, and bytes that are not UTF-8 stay.
    ///
    /// # Errors
    /// If an id is not in the vocabulary.
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>> {
        if let Some(chain) = &self.decoder.chain {
            return chain.text(self.written_tokens(ids, false)?, DecodeErrors::Keep);
        }
        let (mut joiner, rules) = (Joiner::default(), DecodeRules::default());
        let mut bytes = Vec::new();
        reserve_exact(&mut bytes, ids.len() * 4)?;
        for &id in ids {
            let token = self.parts().vocabulary.expect_token(id)?;
            ask_to_grow(&bytes, token.bytes.len() + MAX_ADDED)?;
            joiner.push_alone(token, &rules, &mut bytes);
        }
        Ok(bytes)
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// If an id is not in the vocabulary, or the bytes are not UTF-8 and `errors` is strict.
    pub fn decode(
        &self,
        ids: &[TokenId],
        errors: DecodeErrors,
        skip_special_tokens: bool,
    ) -> Result<String> {
        if let Some(chain) = &self.decoder.chain {
            let tokens = self.written_tokens(ids, skip_special_tokens)?;
            let bytes = chain.text(tokens, errors)?;
            return Ok(into_text(bytes));
        }
        let mut stream = DecodeStream::new(errors, skip_special_tokens);
        for &id in ids {
            stream.join(self, id)?;
        }
        stream.finish().map(into_text)
    }

    fn written_tokens(&self, ids: &[TokenId], skip_special_tokens: bool) -> Result<Vec<Vec<u8>>> {
        let decoder = &self.decoder;
        let kept = ids.iter().filter(|&&id| !decoder.skips(id, skip_special_tokens));
        ask(ids.len().saturating_mul(WRITTEN_LEN))?;
        let mut n_bytes = 0;
        let tokens = kept.map(|&id| {
            let token = decoder.written(self.parts(), id)?;
            n_bytes += token.len();
            // Some steps copy all of it.
            if token.len() > LONG_TOKEN {
                ask(2 * n_bytes)?;
            }
            Ok(token)
        });
        tokens.collect()
    }
}

/// Turns ids into text, never splitting a character. In total it gives what [`Tokenizer::decode`] gives.
///
/// Text is never taken back once it is given out. A chain may hold back text that a later token can change.
#[derive(Clone, Debug)]
pub struct DecodeStream {
    joiner: Joiner,
    sentencepiece: PieceJoiner,
    buffer: Utf8Buffer,
    chain: Option<ChainStream>,
    errors: DecodeErrors,
    skip_special_tokens: bool,
}

impl DecodeStream {
    /// A new stream.
    pub fn new(errors: DecodeErrors, skip_special_tokens: bool) -> Self {
        Self {
            joiner: Joiner::default(),
            sentencepiece: PieceJoiner::default(),
            buffer: Utf8Buffer::new(errors),
            chain: None,
            errors,
            skip_special_tokens,
        }
    }

    /// The text that is complete after one more token; often empty. It is UTF-8 unless errors are kept.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: TokenId) -> Result<Vec<u8>> {
        let decoder = &tokenizer.decoder;
        if let Some(compiled) = &decoder.chain {
            let written = decoder.written(tokenizer.parts(), id)?;
            if decoder.skips(id, self.skip_special_tokens) {
                return Ok(Vec::new());
            }
            let begin = || ChainStream::new(Arc::clone(compiled), self.errors);
            return self.chain.get_or_insert_with(begin).push(written);
        }
        self.join(tokenizer, id)?;
        self.buffer.take(false)
    }

    /// The remaining text, when no token follows.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        if let Some(chain) = self.chain.take() {
            return chain.finish();
        }
        self.joiner.finish(&mut self.buffer)?;
        self.joiner = Joiner::default();
        std::mem::take(&mut self.sentencepiece).finish(self.buffer.bytes_mut());
        self.buffer.take(true)
    }

    fn join(&mut self, tokenizer: &Tokenizer, id: TokenId) -> Result<()> {
        let parts = tokenizer.parts();
        let token = parts.vocabulary.expect_token(id)?;
        if tokenizer.decoder.skips(id, self.skip_special_tokens) {
            return Ok(());
        }
        ask_to_grow(self.buffer.bytes_mut(), token.bytes.len() + MAX_ADDED)?;
        match &parts.decode {
            Decode::Rules(rules) => self.joiner.push(token, rules, &mut self.buffer)?,
            Decode::SentencePiece(_)
                if self.errors == DecodeErrors::Keep && token.kind == TokenKind::Byte =>
            {
                self.sentencepiece.write(token.bytes, self.buffer.bytes_mut());
            }
            Decode::SentencePiece(rules) => {
                self.sentencepiece.push(token, rules, self.buffer.bytes_mut());
            }
            Decode::Chain(_) => {}
        }
        Ok(())
    }
}
