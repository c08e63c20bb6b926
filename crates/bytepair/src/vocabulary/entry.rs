//! Where the bytes of a token lie and what kind it is, in 8 bytes.
//!
//! There is one for each id, and a tokenizer that is loaded touches all of them: three words each took more time
//! than what they say. Left out: vocabularies of more than 4 GiB, tokens of more than 512 MiB.

use std::ops::Range;

use super::{Form, TokenKind};
use crate::error::{ErrorKind, Result};

/// An entry of the vocabulary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    start: u32,
    len_and_kind: u32,
}

/// The entries of tokens whose bytes stand one after the other.
#[derive(Debug)]
pub struct Entries {
    pub(super) entries: Vec<Entry>,
    pub(super) n_bytes: usize,
}

/// Bits of the code of a kind.
const KIND_BITS: u32 = 3;

/// One more than the largest code of a kind.
pub(super) const N_KINDS: usize = 1 << KIND_BITS;

/// The code of an id without a token, the largest of all.
const HOLE: u8 = 7;

impl Entry {
    /// An id without a token.
    pub(super) const HOLE: Self = Self { start: 0, len_and_kind: HOLE as u32 };

    /// The entry of a token whose bytes lie there.
    ///
    /// # Errors
    /// Where they are too many, or begin too far behind.
    pub(super) fn new(start: usize, len: usize, kind: TokenKind) -> Result<Self> {
        let entry = || {
            let len = u32::try_from(len).ok().filter(|len| len >> (u32::BITS - KIND_BITS) == 0)?;
            let len_and_kind = len << KIND_BITS | u32::from(kind.code());
            Some(Self { start: u32::try_from(start).ok()?, len_and_kind })
        };
        entry().ok_or_else(|| ErrorKind::VocabularyTooLarge.into())
    }

    /// Where its bytes lie.
    #[inline]
    pub(super) fn place(self) -> Range<usize> {
        let (start, len) = (self.start as usize, self.len_and_kind >> KIND_BITS);
        start..start + len as usize
    }

    #[inline]
    pub(super) fn kind(self) -> TokenKind {
        TokenKind::of_code(self.code())
    }

    #[inline]
    pub(super) fn code(self) -> u8 {
        (self.len_and_kind & ((1 << KIND_BITS) - 1)) as u8
    }

    #[inline]
    pub(super) fn is_hole(self) -> bool {
        self.code() == HOLE
    }
}

impl Entries {
    /// None, with room for so many.
    pub fn with_capacity(n_tokens: usize) -> Self {
        Self { entries: Vec::with_capacity(n_tokens), n_bytes: 0 }
    }

    /// How many bytes all tokens have.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Appends a token, or an id without one.
    ///
    /// # Errors
    /// Where there are too many bytes or tokens.
    pub fn push(&mut self, kind: TokenKind, len: usize) -> Result<()> {
        u32::try_from(self.entries.len()).map_err(|_| ErrorKind::TooManyTokens)?;
        self.entries.push(Entry::new(self.n_bytes, len, kind)?);
        self.n_bytes += len;
        Ok(())
    }
}

impl TokenKind {
    /// The number of a kind, less than 8.
    #[inline]
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Text(form) => u8::from(form.continues()) | u8::from(form.ends()) << 1,
            Self::Byte => 4,
            Self::Unknown => 5,
            Self::Added => 6,
            Self::Hole => HOLE,
        }
    }

    /// The kind of a number; that of a hole for all that are none.
    #[inline]
    pub(crate) fn of_code(code: u8) -> Self {
        match code {
            0..4 => Self::Text(Form::new(code & 1 > 0, code & 2 > 0)),
            4 => Self::Byte,
            5 => Self::Unknown,
            6 => Self::Added,
            _ => Self::Hole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_gives_back_what_it_was_made_of_or_is_refused() {
        for kind in (0..=HOLE).map(TokenKind::of_code) {
            let longest = (1 << 29) - 1;
            for (start, len) in [(0, 0), (7, 1), (u32::MAX as usize - longest, longest)] {
                let entry = Entry::new(start, len, kind).unwrap();
                assert_eq!((entry.place(), entry.kind()), (start..start + len, kind));
                assert_eq!(entry.is_hole(), kind == TokenKind::Hole);
            }
            assert!(Entry::new(0, 1 << 29, kind).is_err());
            if let Ok(behind) = usize::try_from(1_u64 << 32) {
                assert!(Entry::new(behind, 0, kind).is_err());
            }
        }
    }
}
