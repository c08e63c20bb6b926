//! Which tokens may be learned: a pair whose token would exceed a limit, or is there already, is never merged.
//!
//! A token is there already only in a vocabulary from elsewhere, where no merge makes it (`Vocabulary` of training:
//! see "No token is learned twice"). It keeps its id and stays what it is.
//!
//! Costs a look at two small records for each pair that is asked about, and nothing without limits. Where there are
//! tokens that no merge makes, the texts of all tokens are kept, and a pair as long as one of them is written down.

use std::collections::HashSet;

use crate::count::n_characters;
use crate::vocabulary::{Token, TokenId, TokenKind, merged_kind};

/// What every learned token must keep to. The alphabet is not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenLimits {
    /// The most bytes that a token may have, marks left out.
    pub max_bytes: Option<u32>,
    /// The most characters that a token may have, marks left out.
    pub max_characters: Option<u32>,
    /// Whether a token is either made of whole characters or a part of one character. Says nothing where
    /// units are characters.
    pub whole_characters: bool,
}

/// Decides whether a pair may be merged.
pub(super) struct Veto {
    limits: TokenLimits,
    /// By token id. Empty where nothing is limited.
    shapes: Vec<Shape>,
    taken: Option<Taken>,
}

/// Tokens that must not be learned, since they are there.
struct Taken {
    tokens: HashSet<(TokenKind, Vec<u8>)>,
    /// By length in bytes: whether one of them has it.
    is_length: Vec<bool>,
    /// By token id.
    texts: Vec<(TokenKind, Vec<u8>)>,
}

/// What the limits need to know of a token.
#[derive(Clone, Copy)]
struct Shape {
    n_bytes: u32,
    n_characters: u32,
    extent: Extent,
}

/// What part of characters a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    /// Characters, or bytes that are no part of any.
    Whole,
    /// The beginning of a character, so many bytes of which are missing.
    Beginning { missing: u32 },
    /// So many bytes that continue a character, without its first.
    Inside { len: u32 },
}

/// The most bytes of a character that follow its first.
const MAX_INSIDE_LEN: u32 = 3;

impl Veto {
    pub(super) fn new(limits: TokenLimits) -> Self {
        Self { limits, shapes: Vec::new(), taken: None }
    }

    /// One that also refuses to learn these tokens.
    pub(super) fn with_taken<'t>(self, taken: impl Iterator<Item = Token<'t>>) -> Self {
        let tokens: HashSet<_> = taken.map(|token| (token.kind, token.bytes.to_vec())).collect();
        let most = tokens.iter().map(|(_, bytes)| bytes.len()).max();
        let Some(most) = most else { return Self { taken: None, ..self } };
        let mut is_length = vec![false; most + 1];
        tokens.iter().for_each(|(_, bytes)| is_length[bytes.len()] = true);
        Self { taken: Some(Taken { tokens, is_length, texts: Vec::new() }), ..self }
    }

    /// Takes note of a token; ids come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, token: Token<'_>) {
        if self.is_idle() {
            return;
        }
        let bytes = token.bytes;
        if let Some(taken) = &mut self.taken {
            taken.texts.resize(id as usize + 1, (TokenKind::Hole, Vec::new()));
            taken.texts[id as usize] = (token.kind, bytes.to_vec());
        }
        let saturated = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let n_characters = u32::try_from(n_characters(bytes)).unwrap_or(u32::MAX);
        let extent = match self.limits.whole_characters {
            true => Extent::of(bytes),
            false => Extent::Whole,
        };
        let shape = Shape { n_bytes: saturated(bytes.len()), n_characters, extent };
        self.shapes.resize(id as usize + 1, shape);
        self.shapes[id as usize] = shape;
    }

    /// Whether a pair may be merged.
    pub(super) fn allows(&self, left: TokenId, right: TokenId) -> bool {
        if self.is_idle() {
            return true;
        }
        if self.taken.as_ref().is_some_and(|taken| taken.has(left, right)) {
            return false;
        }
        let (left, right) = (self.shapes[left as usize], self.shapes[right as usize]);
        let fits = |most: Option<u32>, one: u32, other: u32| {
            most.is_none_or(|most| one.saturating_add(other) <= most)
        };
        fits(self.limits.max_bytes, left.n_bytes, right.n_bytes)
            && fits(self.limits.max_characters, left.n_characters, right.n_characters)
            && left.extent.joins(right.extent).is_some()
    }

    /// Whether the token of a pair may have neighbours that neither part of it may be merged with.
    ///
    /// So it is where the parts of a character become one, and it may be so wherever a token is there already: it
    /// keeps its parts apart, but not these from what they are merged with. Lengths never free a pair.
    pub(super) fn frees(&self, left: TokenId, right: TokenId) -> bool {
        if self.is_idle() {
            return false;
        }
        if self.taken.is_some() {
            return true;
        }
        let (left, right) = (self.shapes[left as usize], self.shapes[right as usize]);
        left.extent != Extent::Whole && left.extent.joins(right.extent) == Some(Extent::Whole)
    }

    /// Whether every token is allowed.
    pub(super) fn is_idle(&self) -> bool {
        self.limits == TokenLimits::default() && self.taken.is_none()
    }
}

impl Taken {
    /// Whether the token of a pair is one of them.
    fn has(&self, left: TokenId, right: TokenId) -> bool {
        let (left, right) = (&self.texts[left as usize], &self.texts[right as usize]);
        let length = left.1.len() + right.1.len();
        self.is_length.get(length) == Some(&true)
            && self.tokens.contains(&(
                merged_kind(left.0, right.0),
                [left.1.as_slice(), right.1.as_slice()].concat(),
            ))
    }
}

impl Extent {
    /// What a token of these bytes is, if it may be one.
    fn of(bytes: &[u8]) -> Self {
        let joined = |left: Self, right: Self| left.joins(right).unwrap_or(Self::Whole);
        bytes.iter().map(|&byte| Self::of_byte(byte)).reduce(joined).unwrap_or(Self::Whole)
    }

    fn of_byte(byte: u8) -> Self {
        match byte {
            0x80..=0xBF => Self::Inside { len: 1 },
            0xC2..=0xDF => Self::Beginning { missing: 1 },
            0xE0..=0xEF => Self::Beginning { missing: 2 },
            0xF0..=0xF4 => Self::Beginning { missing: 3 },
            _ => Self::Whole,
        }
    }

    /// What two neighbours are together; `None` where that is more than a part of one character and not whole
    /// ones.
    fn joins(self, right: Self) -> Option<Self> {
        match (self, right) {
            (Self::Whole, Self::Whole) => Some(Self::Whole),
            (Self::Beginning { missing }, Self::Inside { len }) if len < missing => {
                Some(Self::Beginning { missing: missing - len })
            }
            (Self::Beginning { missing }, Self::Inside { len }) if len == missing => {
                Some(Self::Whole)
            }
            (Self::Inside { len: first }, Self::Inside { len: last })
                if first + last <= MAX_INSIDE_LEN =>
            {
                Some(Self::Inside { len: first + last })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn veto(limits: TokenLimits, tokens: &[&[u8]]) -> Veto {
        let mut veto = Veto::new(limits);
        (0..).zip(tokens).for_each(|(id, token)| veto.learn(id, Token::plain(token)));
        veto
    }

    #[test]
    fn lengths_are_those_of_the_whole_token() {
        let tokens: [&[u8]; 2] = [b"abc", "é".as_bytes()];
        let bytes = veto(TokenLimits { max_bytes: Some(5), ..TokenLimits::default() }, &tokens);
        assert!(bytes.allows(0, 1) && !bytes.allows(0, 0));
        let characters =
            veto(TokenLimits { max_characters: Some(4), ..TokenLimits::default() }, &tokens);
        assert!(characters.allows(0, 1) && !characters.allows(0, 0));
    }

    #[test]
    fn a_token_is_whole_characters_or_a_part_of_one() {
        let tokens: [&[u8]; 6] = [b"a", b"\xe6", b"\x97", b"\xa5", b"\xe6\x97", "日".as_bytes()];
        let limits = TokenLimits { whole_characters: true, ..TokenLimits::default() };
        let veto = veto(limits, &tokens);
        let allowed = [(0, 0), (0, 5), (1, 2), (2, 3), (4, 3), (5, 0), (5, 5)];
        let refused = [(0, 1), (2, 0), (3, 1), (0, 4), (5, 1), (1, 1), (4, 1), (3, 5)];
        assert!(allowed.iter().all(|&(left, right)| veto.allows(left, right)));
        assert!(refused.iter().all(|&(left, right)| !veto.allows(left, right)));
        assert!(veto.frees(4, 3) && !veto.frees(1, 2) && !veto.frees(0, 0));
    }
}
