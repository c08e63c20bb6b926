//! Pieces that are a token as a whole, whatever merges would make of them.
//!
//! Some tokenizers ignore merges for a piece that is in the vocabulary. The piece is looked up as it stands, so it may
//! also spell out a mark (`low</w>`), a byte token (`<0x41>`) or the unknown token. It cannot spell an added token:
//! these are cut out of the text before, or are text. The exception are added tokens of one repeated character, which
//! a splitter may cut out as pieces ([`Repeated`]).
//!
//! Costs one look-up by hash for a piece, and more where marks or names may be spelled out.

use std::collections::HashMap;

use super::Encoder;
use crate::units::{EndMarkKind, Units};
use crate::vocabulary::{Form, Token, TokenId, TokenKind, Vocabulary};

/// How many pieces are prefetched at once at most.
pub(crate) const N_PREFETCHED: usize = 16;

/// What a whole piece may be besides a plain token.
#[derive(Clone, Debug)]
pub(super) struct WholePieces {
    /// Whether the end mark, a unit of its own, belongs to the piece.
    has_end_mark: bool,
    /// Whether tokens carry marks, which a text may spell out.
    has_marks: bool,
    /// Byte tokens and the unknown token, by the text that spells their names.
    names: HashMap<Vec<u8>, TokenId>,
}

/// Tokens of one ASCII character, from a least number of times on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeated {
    pub(crate) byte: u8,
    /// How often the first one has it, once at least, and the ids of that one and each longer one.
    pub(crate) least: usize,
    pub(crate) ids: Vec<TokenId>,
}

impl Repeated {
    /// How often the longest has it.
    pub(crate) fn most(&self) -> usize {
        self.least + self.ids.len() - 1
    }

    /// The token that a piece is.
    #[inline]
    pub(crate) fn token(&self, piece: &[u8]) -> Option<TokenId> {
        let id = self.ids.get(piece.len().checked_sub(self.least)?)?;
        piece.iter().all(|&byte| byte == self.byte).then_some(*id)
    }
}

impl Encoder {
    /// Whether a piece may have other ids as a whole than as a part of another.
    pub(crate) fn takes_whole_pieces(&self) -> bool {
        self.whole_pieces.is_some()
    }

    /// The length of the longest piece that may be a token as a whole, in bytes.
    pub(crate) fn longest_whole(&self) -> usize {
        if self.whole_pieces.is_none() && self.repeated.is_empty() {
            return 0;
        }
        let units = self.symbols.units();
        let n_mark = units.end_mark.as_ref().map_or(0, |mark| mark.text.len());
        let n_prefix = units.continuing_prefix.as_ref().map_or(0, String::len);
        let longest = self.vocabulary.iter().map(|(_, token)| token.bytes.len()).max();
        longest.unwrap_or(0) + n_mark + n_prefix
    }

    /// The token that a piece is as a whole: an added one, or any where merges are ignored for such pieces.
    #[inline]
    pub(crate) fn whole_token(&self, piece: &[u8]) -> Option<TokenId> {
        if let Some(id) = self.repeated.iter().find_map(|repeated| repeated.token(piece)) {
            return Some(id);
        }
        let whole_pieces = self.whole_pieces.as_ref()?;
        let id = self.vocabulary.id(whole_pieces.token(piece));
        let id = id.or_else(|| self.spelled_token(whole_pieces, piece));
        id.filter(|id| self.never_whole.is_empty() || !self.never_whole.contains(id))
    }

    /// Prefetches what tells whether pieces are tokens, for up to [`N_PREFETCHED`] of them: one alone waits for memory
    /// four times.
    pub(crate) fn prefetch_whole_tokens<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) {
        let Some(whole_pieces) = &self.whole_pieces else { return };
        let mut ids = [None; N_PREFETCHED];
        for (id, piece) in ids.iter_mut().zip(pieces) {
            *id = self.vocabulary.likely_id(whole_pieces.token(piece));
        }
        ids.into_iter().flatten().for_each(|id| self.vocabulary.prefetch(id));
        ids.into_iter().flatten().for_each(|id| self.vocabulary.prefetch_bytes(id));
    }

    /// The token whose marks or name the piece spells out.
    fn spelled_token(&self, whole_pieces: &WholePieces, piece: &[u8]) -> Option<TokenId> {
        let marked = match whole_pieces.has_marks {
            true => self.symbols.units().readings(piece),
            false => [None; 4],
        };
        let marked = marked.into_iter().rev().flatten().find_map(|token| self.vocabulary.id(token));
        match whole_pieces.names.is_empty() {
            true => marked,
            false => marked.or_else(|| whole_pieces.names.get(piece).copied()),
        }
    }
}

impl WholePieces {
    /// What a piece is as a whole.
    #[inline]
    fn token<'p>(&self, piece: &'p [u8]) -> Token<'p> {
        let form = Form::new(false, self.has_end_mark);
        Token { kind: TokenKind::Text(form), bytes: piece }
    }

    /// Added tokens are left out: where they are not cut out of the text, they are plain text.
    pub(super) fn new(units: &Units, vocabulary: &Vocabulary) -> Self {
        let has_end_mark = units.end_mark_kind() == Some(EndMarkKind::Unit);
        let is_name = |token: Token<'_>| matches!(token.kind, TokenKind::Byte | TokenKind::Unknown);
        let named = vocabulary.iter().filter(|&(_, token)| is_name(token) && !has_end_mark);
        let spelled = |(id, token)| {
            let name = units.written(token);
            Some((units.text_of_name(std::str::from_utf8(&name).ok()?)?.into_owned(), id))
        };
        Self {
            has_end_mark,
            has_marks: !has_end_mark && units.has_marks(),
            names: named.filter_map(spelled).collect(),
        }
    }
}
