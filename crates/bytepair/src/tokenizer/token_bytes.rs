//! The bytes of text that each token stands for, and healing: which ids at the end of a prompt are open again.
//!
//! The bytes of a token are what it adds to the decoded text when other tokens stand before and after it. So the bytes
//! of all tokens, concatenated, are the decoded text, apart from its ends: decoders may strip spaces at the beginning,
//! and write no space for an end mark at the end. Special and unknown tokens have no bytes.
//!
//! Decoding rules say what a token adds. A chain of steps is run on the token between two others, which no step
//! changes. A chain in which tokens affect one another is refused. Costs a pass over the tokens of a vocabulary.
//!
//! Healing moves back to the last place where two ids meet and a cut is proven (`cutting`). The proof looks at the
//! characters next to the place, so a part of the text suffices for it. Costs a pass over the ids after the last
//! special token.

use std::sync::Arc;

use super::canonical::unknown_text;
use super::{DecodeStream, Parts, Tokenizer};
use crate::decode::chain::Compiled;
use crate::decode::rules::replaced;
use crate::decode::{Decode, DecodeChain, DecodeErrors, DecodeStep};
use crate::error::{Error, Result};
use crate::normalize::SPACE_SYMBOL;
use crate::vocabulary::{Token, TokenId, TokenKind};

/// What a token stands for. The numbers are those of `bytepair.serving.KINDS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    /// Text, made by merges.
    Text,
    /// One byte of a character that the alphabet lacks.
    Byte,
    /// The content of an added token that is not special.
    Added,
    /// No text: a special token.
    Special,
    /// Text that is not known: the unknown token.
    Unknown,
    /// Nothing: an id without a token.
    None,
}

impl TokenClass {
    /// Whether tokens of this class stand for text that is known.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Byte | Self::Added)
    }
}

/// The bytes of text of all tokens.
#[derive(Clone, Debug, Default)]
pub struct TokenBytes {
    /// The bytes of all tokens, in the order of their ids.
    pub bytes: Vec<u8>,
    /// By id: where its bytes begin in `bytes`. The last offset is the length of `bytes`.
    pub offsets: Vec<usize>,
    /// By id.
    pub classes: Vec<TokenClass>,
}

impl TokenBytes {
    /// What a token stands for.
    pub fn class(&self, id: TokenId) -> TokenClass {
        self.classes.get(id as usize).copied().unwrap_or(TokenClass::None)
    }

    /// The bytes of a token; none for an id outside the vocabulary.
    pub fn get(&self, id: TokenId) -> &[u8] {
        match self.offsets.get(id as usize..).unwrap_or(&[]) {
            [start, end, ..] => &self.bytes[*start..*end],
            _ => &[],
        }
    }
}

/// A prompt whose last tokens are open again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Healed {
    /// How many ids stay, whatever follows.
    pub n_kept: usize,
    /// The bytes of the other ids, which the next ids have to begin with.
    pub rest: Vec<u8>,
}

/// What a token stands for if it is not an added one.
fn class(token: Option<Token<'_>>, decode: &Decode) -> TokenClass {
    let Some(token) = token else { return TokenClass::None };
    match (token.kind, decode) {
        (TokenKind::Unknown, _) => TokenClass::Unknown,
        (TokenKind::Byte, _) => TokenClass::Byte,
        (TokenKind::Added, Decode::SentencePiece(rules)) if rules.is_control(token.bytes) => {
            TokenClass::Special
        }
        _ => TokenClass::Text,
    }
}
/// How many ids, besides those of spaces, show what decoding leaves out at an end of a text.
const N_AT_ENDS: usize = if crate::SMALL { 2 } else { 12 };

/// A token that no step of a chain changes.
const NEIGHBOUR: &[u8] = b"\x01";

/// What a chain writes for tokens that follow a neighbour.
fn after_neighbour(chain: &Arc<Compiled>, mut tokens: Vec<Vec<u8>>) -> Result<Vec<u8>> {
    tokens.insert(0, NEIGHBOUR.to_vec());
    let text = chain.text(tokens, DecodeErrors::Keep)?;
    text.strip_prefix(NEIGHBOUR).map(<[u8]>::to_vec).ok_or_else(depends_on_others)
}

/// Whether no token affects what another one becomes.
///
/// Runs of byte tokens and the joined text go through later steps as a whole, so these may only strip the ends of the
/// text and replace single characters.
fn is_local(chain: &DecodeChain) -> bool {
    let (mut is_local, mut is_run, mut is_joined) = (true, false, false);
    for step in &chain.steps {
        let is_local_step = match step {
            DecodeStep::Ctc { .. } => false,
            DecodeStep::Fuse | DecodeStep::Metaspace { .. } => true,
            DecodeStep::ByteLevel | DecodeStep::ByteFallback => !is_joined,
            DecodeStep::Strip { .. } => is_joined || !is_run,
            DecodeStep::Replace { from, .. } => !is_run || from.chars().count() == 1,
            _ => !is_run,
        };
        is_local &= is_local_step;
        is_joined |= matches!(step, DecodeStep::Fuse | DecodeStep::ByteLevel);
        is_run |= is_joined || *step == DecodeStep::ByteFallback;
    }
    is_local && (!is_run || is_joined || chain.separator.is_empty())
}

fn depends_on_others() -> Error {
    let problem = "what a token becomes depends on its neighbours; decode whole rows of ids";
    Error::option("decoder", problem)
}

impl Tokenizer {
    /// The bytes of text of all tokens, made once.
    ///
    /// # Errors
    /// If the decoder is a chain of steps in which the bytes of a token depend on its neighbours.
    pub fn token_bytes(&self) -> Result<&TokenBytes> {
        if let Some(table) = self.token_bytes.get() {
            return Ok(table);
        }
        let mut next = Vec::new();
        if let Some(chain) = &self.decoder.chain {
            if !is_local(&chain.chain) {
                return Err(depends_on_others());
            }
            next = after_neighbour(chain, vec![NEIGHBOUR.to_vec()])?;
        }
        let (mut bytes, mut offsets, classes) = (Vec::new(), vec![0], self.token_classes());
        for (id, class) in (0..).zip(&classes) {
            if class.is_text() {
                bytes.extend(self.bytes_between(id, &next)?);
            }
            offsets.push(bytes.len());
        }
        Ok(self.token_bytes.get_or_init(|| TokenBytes { bytes, offsets, classes }))
    }

    /// What a token adds between two neighbours. A chain writes the second one as `next`.
    fn bytes_between(&self, id: TokenId, next: &[u8]) -> Result<Vec<u8>> {
        let token = self.parts.vocabulary.expect_token(id)?;
        let bytes = token.bytes.to_vec();
        Ok(match (&self.parts.decode, token.kind) {
            (Decode::Chain(_), _) => self.bytes_by_chain(id, next)?,
            (Decode::Rules(rules), TokenKind::Text(form)) => {
                let changes = rules.replacements.iter();
                let mut text = changes.fold(bytes, |text, (from, to)| replaced(&text, from, to));
                text.extend(form.ends().then_some(b' '));
                text
            }
            (Decode::Rules(_), _) | (_, TokenKind::Byte) => bytes,
            (Decode::SentencePiece(_), _) => replaced(&bytes, SPACE_SYMBOL, " "),
        })
    }

    fn bytes_by_chain(&self, id: TokenId, next: &[u8]) -> Result<Vec<u8>> {
        let Some(chain) = &self.decoder.chain else { return Ok(Vec::new()) };
        let written = self.decoder.written(&self.parts, id)?;
        let text = after_neighbour(chain, vec![written, NEIGHBOUR.to_vec()])?;
        text.strip_suffix(next).map(<[u8]>::to_vec).ok_or_else(depends_on_others)
    }

    fn token_classes(&self) -> Vec<TokenClass> {
        let Parts { vocabulary, decode, added, .. } = &self.parts;
        let ids = (0..).take(vocabulary.len());
        let mut classes: Vec<_> = ids.map(|id| class(vocabulary.token(id), decode)).collect();
        for token in added {
            match classes.get_mut(token.id as usize) {
                Some(TokenClass::None) | None => {}
                Some(class) if token.special => *class = TokenClass::Special,
                Some(class @ (TokenClass::Text | TokenClass::Byte)) => *class = TokenClass::Added,
                Some(_) => {}
            }
        }
        classes
    }

    /// Which ids of a prompt stay, whatever text follows, and the bytes of the others.
    ///
    /// If the decoded text has these ids, the ids of every text that begins with it begin with those that stay. No special
    /// token is opened again.
    ///
    /// # Errors
    /// If an id is not in the vocabulary, if the last ids are next to an unknown token, whose text is not known, or as
    /// for [`Self::token_bytes`].
    pub fn heal(&self, ids: &[TokenId]) -> Result<Healed> {
        let table = self.token_bytes()?;
        ids.iter().try_for_each(|&id| self.parts.vocabulary.expect_token(id).map(drop))?;
        let border = ids.iter().rposition(|&id| !table.class(id).is_text());
        let first = border.map_or(0, |index| index + 1);
        let tail = self.tail(table, &ids[first..])?;
        let n_settled = self.n_settled(&tail);
        let unknown = border.filter(|&index| table.class(ids[index]) == TokenClass::Unknown);
        if let (0, Some(index)) = (n_settled, unknown) {
            return Err(unknown_text(index));
        }
        let start = tail.ends[..n_settled].last().copied().unwrap_or(0);
        Ok(Healed { n_kept: first + n_settled, rest: tail.bytes[start..tail.text_end].to_vec() })
    }

    /// The text of ids without special tokens. What decoding leaves out at its ends is found by decoding the first and the
    /// last ids.
    pub(super) fn tail(&self, table: &TokenBytes, ids: &[TokenId]) -> Result<Tail> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for &id in ids {
            bytes.extend_from_slice(table.get(id));
            ends.push(bytes.len());
        }
        let has_text = |&id: &TokenId| table.get(id).iter().any(|&byte| byte != b' ');
        let n_before = ids.iter().position(has_text).unwrap_or(ids.len());
        let n_after = ids.iter().rev().position(has_text).unwrap_or(ids.len());
        let first = &ids[..ids.len().min(n_before + N_AT_ENDS)];
        let last = &ids[ids.len().saturating_sub(n_after + N_AT_ENDS)..];
        let (text_start, _) = self.left_out(table, first)?;
        let (_, n_left_out) = self.left_out(table, last)?;
        let text_end = text_start.max(bytes.len() - n_left_out);
        Ok(Tail { bytes, ends, text_start, text_end })
    }

    /// How many bytes of a row decoding leaves out at the beginning, and how many at the end.
    fn left_out(&self, table: &TokenBytes, ids: &[TokenId]) -> Result<(usize, usize)> {
        let bytes: Vec<u8> = ids.iter().flat_map(|&id| table.get(id)).copied().collect();
        let (mut stream, mut text) = (DecodeStream::new(DecodeErrors::Keep, true), Vec::new());
        for &id in ids {
            text.extend(stream.push(self, id)?);
        }
        text.extend(stream.finish()?);
        let n_left_out = bytes.len().saturating_sub(text.len());
        let mut starts = (0..=n_left_out).rev();
        if let Some(start) = starts.find(|&start| bytes[start..].starts_with(&text)) {
            return Ok((start, n_left_out - start));
        }
        // Bytes that are no text are decoded otherwise. Only spaces at the beginning are left out.
        let n_spaces = bytes.iter().take_while(|&&byte| byte == b' ').count();
        Ok((n_left_out.min(n_spaces), 0))
    }

    /// The number of ids before the last border of ids in a tail that is a proven cut; 0 if there is none.
    fn n_settled(&self, tail: &Tail) -> usize {
        let text = tail.bytes.get(tail.text_start..tail.text_end).unwrap_or_default();
        let is_cut = |end: &&usize| {
            let place = end.checked_sub(tail.text_start);
            place.is_some_and(|place| self.last_cut(text, place..place + 1).is_some())
        };
        let settled = tail.ends.iter().rfind(is_cut);
        settled.map_or(0, |end| tail.ends.partition_point(|other| other < end) + 1)
    }
}

/// The bytes of a row of ids.
pub(super) struct Tail {
    pub(super) bytes: Vec<u8>,
    /// By id: where its bytes end.
    pub(super) ends: Vec<usize>,
    /// Where the part begins that certainly occurs in the text.
    pub(super) text_start: usize,
    pub(super) text_end: usize,
}
