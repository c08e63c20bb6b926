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

use std::collections::HashSet;
use std::sync::Arc;

use super::{DecodeStream, Tokenizer};
use crate::decode::chain::Compiled;
use crate::decode::rules::replaced;
use crate::decode::{Decode, DecodeChain, DecodeErrors, DecodeStep};
use crate::error::{Error, Result};
use crate::normalize::SPACE_SYMBOL;
use crate::vocabulary::{TokenId, TokenKind};

/// What a token stands for.
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

/// How many ids, besides those of spaces, show what decoding leaves out at an end of a text.
const N_AT_ENDS: usize = if crate::SMALL { 2 } else { 12 };

/// A token that no step of a chain changes.
const NEIGHBOUR: &[u8] = b"\x01";

/// Finds what tokens add to a text.
struct TokenReader<'t> {
    tokenizer: &'t Tokenizer,
    special: HashSet<TokenId>,
    added: HashSet<TokenId>,
    /// For a chain: what it writes for a token that follows another one.
    next: Option<(Arc<Compiled>, Vec<u8>)>,
}

impl<'t> TokenReader<'t> {
    /// # Errors
    /// If the bytes of a token depend on other tokens.
    fn new(tokenizer: &'t Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
        let (special, added): (Vec<_>, Vec<_>) =
            parts.added.iter().partition(|token| token.special);
        let next = tokenizer.decoder.chain.as_ref().map(|chain| {
            check_local(&chain.chain)?;
            let both = chain.text(vec![NEIGHBOUR.to_vec(); 2], DecodeErrors::Keep)?;
            let next = both.strip_prefix(NEIGHBOUR).ok_or_else(depends_on_others)?;
            Ok::<_, Error>((Arc::clone(chain), next.to_vec()))
        });
        Ok(Self {
            special: special.iter().map(|token| token.id).collect(),
            added: added.iter().map(|token| token.id).collect(),
            next: next.transpose()?,
            tokenizer,
        })
    }

    fn class(&self, id: TokenId) -> TokenClass {
        let parts = self.tokenizer.parts();
        let Some(token) = parts.vocabulary.token(id) else { return TokenClass::None };
        let is_control = matches!(&parts.decode, Decode::SentencePiece(rules)
            if token.kind == TokenKind::Added && rules.is_control(token.bytes));
        match token.kind {
            _ if is_control || self.special.contains(&id) => TokenClass::Special,
            TokenKind::Unknown => TokenClass::Unknown,
            _ if self.added.contains(&id) => TokenClass::Added,
            TokenKind::Byte => TokenClass::Byte,
            _ => TokenClass::Text,
        }
    }

    /// The bytes of a token that stands for text.
    fn bytes(&self, id: TokenId) -> Result<Vec<u8>> {
        let parts = self.tokenizer.parts();
        let token = parts.vocabulary.expect_token(id)?;
        match &parts.decode {
            Decode::Rules(rules) => {
                let TokenKind::Text(form) = token.kind else { return Ok(token.bytes.to_vec()) };
                let changes = rules.replacements.iter();
                let text = token.bytes.to_vec();
                let mut text = changes.fold(text, |text, (from, to)| replaced(&text, from, to));
                text.extend(form.ends().then_some(b' '));
                Ok(text)
            }
            Decode::SentencePiece(_) if token.kind == TokenKind::Byte => Ok(token.bytes.to_vec()),
            Decode::SentencePiece(_) => Ok(replaced(token.bytes, SPACE_SYMBOL, " ")),
            Decode::Chain(_) => self.bytes_by_chain(id),
        }
    }

    fn bytes_by_chain(&self, id: TokenId) -> Result<Vec<u8>> {
        let Some((chain, next)) = &self.next else { return Ok(Vec::new()) };
        let written = self.tokenizer.decoder.written(self.tokenizer.parts(), id)?;
        let row = vec![NEIGHBOUR.to_vec(), written, NEIGHBOUR.to_vec()];
        let text = chain.text(row, DecodeErrors::Keep)?;
        let bytes = text.strip_prefix(NEIGHBOUR).and_then(|text| text.strip_suffix(&**next));
        bytes.map(<[u8]>::to_vec).ok_or_else(depends_on_others)
    }
}

/// Refuses a chain in which a token affects what another one becomes.
///
/// Runs of byte tokens and the joined text go through later steps as a whole, so these may only strip the ends of the
/// text and replace single characters.
fn check_local(chain: &DecodeChain) -> Result<()> {
    let joins = |step: &DecodeStep| {
        matches!(step, DecodeStep::Fuse | DecodeStep::ByteLevel | DecodeStep::ByteFallback)
    };
    let (mut is_run, mut is_joined) = (false, false);
    for step in &chain.steps {
        let is_local = match step {
            DecodeStep::Ctc { .. } => false,
            DecodeStep::Fuse | DecodeStep::Metaspace { .. } => true,
            DecodeStep::ByteLevel | DecodeStep::ByteFallback => !is_joined,
            DecodeStep::Strip { .. } => is_joined || !is_run,
            DecodeStep::Replace { from, .. } => !is_run || from.chars().count() == 1,
            _ => !is_run,
        };
        if !is_local {
            return Err(depends_on_others());
        }
        is_run |= joins(step);
        is_joined |= joins(step) && *step != DecodeStep::ByteFallback;
    }
    match is_run && !is_joined && !chain.separator.is_empty() {
        true => Err(depends_on_others()),
        false => Ok(()),
    }
}

fn depends_on_others() -> Error {
    let problem = "what a token becomes depends on its neighbours, so a token has no bytes of its own; \
                   decode whole rows of ids";
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
        let table = self.made_token_bytes()?;
        Ok(self.token_bytes.get_or_init(|| table))
    }

    fn made_token_bytes(&self) -> Result<TokenBytes> {
        let reader = TokenReader::new(self)?;
        let mut table = TokenBytes { offsets: vec![0], ..TokenBytes::default() };
        for id in (0..).take(self.parts.vocabulary.len()) {
            let class = reader.class(id);
            if class.is_text() {
                table.bytes.extend_from_slice(&reader.bytes(id)?);
            }
            table.offsets.push(table.bytes.len());
            table.classes.push(class);
        }
        Ok(table)
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
        for &id in ids {
            self.parts.vocabulary.expect_token(id)?;
        }
        let border = ids.iter().rposition(|&id| !table.class(id).is_text());
        let first = border.map_or(0, |index| index + 1);
        let tail = self.tail(table, &ids[first..])?;
        if let Some(n_ids) = self.n_settled(&tail) {
            let rest = tail.bytes[tail.ends[n_ids - 1]..tail.text_end].to_vec();
            return Ok(Healed { n_kept: first + n_ids, rest });
        }
        match border.filter(|&index| table.class(ids[index]) == TokenClass::Unknown) {
            Some(index) => {
                let problem = format!(
                    "the text of the unknown token at index {index} is not known, and nothing proves that it stays; \
                     encode the text of the prompt instead"
                );
                Err(Error::option("ids", problem))
            }
            None => Ok(Healed { n_kept: first, rest: tail.bytes[..tail.text_end].to_vec() }),
        }
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

    /// The number of ids before the last place of a tail that is a proven cut and a border of ids.
    fn n_settled(&self, tail: &Tail) -> Option<usize> {
        let text = tail.bytes.get(tail.text_start..tail.text_end)?;
        let mut range = 0..text.len();
        while let Some(place) = self.last_cut(text, range) {
            if let Ok(index) = tail.ends.binary_search(&(tail.text_start + place)) {
                return Some(index + 1);
            }
            range = 0..place;
        }
        None
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
