//! The symbols of a piece as ids, and what becomes of those that the vocabulary lacks.
//!
//! A unit outside the alphabet becomes the tokens of the bytes that it is written with, marks included,
//! where the vocabulary has all of them; else the unknown token; else nothing or an error. An unknown token
//! is held back until a unit of the alphabet follows, so the bytes of a later unit may stand before it: this is
//! what the library that reads `tokenizer.json` does, and it shows only where some byte tokens are missing.
//!
//! Takes one table look-up for a byte or an ASCII character, one hash look-up for another character.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::units::{END_MARK, EndMarkKind, Missing, Units, published_name};
use crate::vocabulary::{Form, Token, TokenId, TokenKind, Vocabulary};

/// Resolves units against a vocabulary.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    units: Units,
    vocabulary: Arc<Vocabulary>,
    /// By form and byte: the id of the text token of that one byte, or `NO_ID`.
    of_byte: [[TokenId; 256]; 4],
    /// Whether every symbol is a byte without marks, and whether each of them has an id.
    are_bytes: bool,
    is_complete: bool,
    /// By byte: the id of the byte token, or `NO_ID`.
    fallback: [TokenId; 256],
    unknown: Option<TokenId>,
}

/// A token with the bytes of the piece that it stands for.
type Spanned = (TokenId, Range<usize>);

/// Stands for a missing token. No token has this id.
const NO_ID: TokenId = TokenId::MAX;

impl Symbols {
    pub(crate) fn new(units: &Units, vocabulary: &Arc<Vocabulary>) -> Self {
        let forms = [(false, false), (true, false), (false, true), (true, true)];
        let forms = forms.map(|(continues, ends)| TokenKind::Text(Form::new(continues, ends)));
        let ids = vocabulary.ids_of_bytes(&[&forms[..], &[TokenKind::Byte]].concat());
        let of_byte = [ids[0], ids[1], ids[2], ids[3]];
        let are_bytes = units.is_bytes() && !units.has_marks();
        Self {
            units: units.clone(),
            vocabulary: Arc::clone(vocabulary),
            are_bytes,
            is_complete: are_bytes && !of_byte[0].contains(&NO_ID),
            of_byte,
            fallback: if units.byte_fallback { ids[4] } else { [NO_ID; 256] },
            unknown: units.unknown.as_ref().and_then(|name| unknown(units, vocabulary, name)),
        }
    }

    /// What a unit is.
    pub(in crate::encode) fn units(&self) -> &Units {
        &self.units
    }

    /// The unknown token.
    pub(in crate::encode) fn unknown(&self) -> Option<TokenId> {
        self.unknown
    }

    /// Whether every symbol is a byte without marks. Some bytes may be none, as those that no UTF-8 has.
    pub(in crate::encode) fn are_bytes(&self) -> bool {
        self.are_bytes
    }

    /// Whether every byte of a text is a symbol of its own.
    #[inline]
    pub(in crate::encode) fn are_bytes_of(&self, text: &[u8]) -> bool {
        self.is_complete || self.are_bytes && text.iter().all(|&byte| self.of_byte(byte) != NO_ID)
    }

    /// The id of a byte that is a symbol of its own.
    #[inline]
    pub(in crate::encode) fn of_byte(&self, byte: u8) -> TokenId {
        self.of_byte[0][usize::from(byte)]
    }

    /// Whether bytes stand for every character that is not in the vocabulary.
    pub(in crate::encode) fn has_all_bytes(&self) -> bool {
        !self.fallback.contains(&NO_ID)
    }

    /// Whether every byte is in the vocabulary in each form that it may have in a piece.
    pub(in crate::encode) fn has_every_byte(&self) -> bool {
        let has_prefix = self.units.continuing_prefix.is_some();
        let has_suffix = self.units.end_mark_kind() == Some(EndMarkKind::Suffix);
        let occurs = |form: &usize| (form & 1 == 0 || has_prefix) && (form & 2 == 0 || has_suffix);
        (0..4).filter(occurs).all(|form| !self.of_byte[form].contains(&NO_ID))
    }

    /// Whether no piece ends with a mark that is a symbol of its own and not in the vocabulary.
    pub(in crate::encode) fn has_mark(&self) -> bool {
        self.units.end_mark_kind() != Some(EndMarkKind::Unit) || self.is_known(END_MARK)
    }

    /// Whether there may be units that nothing stands for.
    pub(in crate::encode) fn may_miss(&self) -> bool {
        let has_all = match self.units.is_bytes() {
            true => self.has_every_byte(),
            false => self.units.byte_fallback && self.has_all_bytes(),
        };
        self.unknown.is_none() && !(has_all && self.has_mark())
    }

    /// Whether some token may stand for units that are not in the vocabulary.
    pub(in crate::encode) fn has_stand_in(&self) -> bool {
        self.unknown.is_some() || self.fallback.iter().any(|&id| id != NO_ID)
    }

    /// Whether a piece of several units may lack its first one, and its last one or the mark after it, because it is left out.
    pub(in crate::encode) fn drops_at_ends(&self) -> (bool, bool) {
        if self.has_stand_in() || self.units.missing == Missing::Error {
            return (false, false);
        }
        let lacks = |form: usize| !self.units.is_bytes() || self.of_byte[form].contains(&NO_ID);
        let last = usize::from(self.units.continuing_prefix.is_some());
        let drops_last = match self.units.end_mark_kind() {
            Some(EndMarkKind::Suffix) => lacks(last | 2),
            Some(EndMarkKind::Unit) => !self.has_mark(),
            None => lacks(last),
        };
        (lacks(0), drops_last)
    }

    /// Whether a symbol is in the vocabulary.
    pub(in crate::encode) fn is_known(&self, symbol: Token<'_>) -> bool {
        self.id(symbol) != NO_ID
    }

    /// Appends the ids of the symbols of a piece; `stranger` gives an id to those that nothing in the
    /// vocabulary stands for.
    pub(crate) fn push_ids<'p>(
        &self,
        piece: &'p [u8],
        ids: &mut Vec<TokenId>,
        stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        if self.are_bytes_of(piece) {
            ids.extend(piece.iter().map(|&byte| self.of_byte[0][usize::from(byte)]));
            return Ok(());
        }
        self.for_each(piece, stranger, |id, _| ids.push(id))
    }

    /// Calls `push` with the id of each symbol and the bytes of the piece that it stands for.
    ///
    /// A byte token stands for one byte of a character, or for none if it is of a mark; an unknown token for
    /// all that was fused into it.
    pub(in crate::encode) fn for_each<'p>(
        &self,
        piece: &'p [u8],
        mut stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
        mut push: impl FnMut(TokenId, Range<usize>),
    ) -> Result<()> {
        let mut result = Ok(());
        let mut waiting = None;
        self.units.for_each_symbol_at(piece, |start, symbol| {
            let range = start..start + symbol.bytes.len();
            let id = self.id(symbol);
            if id != NO_ID {
                waiting.take().into_iter().for_each(|(unknown, range)| push(unknown, range));
                push(id, range);
            } else if self.push_bytes(symbol, start, &mut push) {
            } else if let Some(unknown) = self.unknown {
                let before = self.hold_back(&mut waiting, (unknown, range));
                before.into_iter().for_each(|(unknown, range)| push(unknown, range));
            } else if self.units.missing == Missing::Error && result.is_ok() {
                result = stranger(symbol).map(|id| push(id, range));
            }
        })?;
        waiting.into_iter().for_each(|(unknown, range)| push(unknown, range));
        result
    }

    /// Lets an unknown token wait, or fuses it with the one that does; gives the one that need not wait longer.
    fn hold_back(&self, waiting: &mut Option<Spanned>, unknown: Spanned) -> Option<Spanned> {
        match waiting {
            Some((_, fused)) if self.units.fuse_unknown => {
                fused.end = unknown.1.end;
                None
            }
            _ => waiting.replace(unknown),
        }
    }

    /// Gives the byte tokens of a symbol, if the vocabulary has all of them. A mark of its own has none.
    fn push_bytes(
        &self,
        symbol: Token<'_>,
        start: usize,
        push: &mut impl FnMut(TokenId, Range<usize>),
    ) -> bool {
        if !self.units.byte_fallback || symbol.bytes.is_empty() {
            return false;
        }
        let (written, unit) = self.written(symbol);
        if written.iter().any(|&byte| self.fallback[usize::from(byte)] == NO_ID) {
            return false;
        }
        // Of a byte that is written as a character of two, the last one stands for it.
        let n_before = |place: usize| match self.units.is_bytes() {
            true => usize::from(place >= unit.end),
            false => place.clamp(unit.start, unit.end) - unit.start,
        };
        for (place, byte) in written.into_iter().enumerate() {
            let span = start + n_before(place)..start + n_before(place + 1);
            push(self.fallback[usize::from(byte)], span);
        }
        true
    }

    /// The bytes that a symbol is written with in files, and where among them the unit is.
    fn written(&self, symbol: Token<'_>) -> (Vec<u8>, Range<usize>) {
        let TokenKind::Text(form) = symbol.kind else { return Default::default() };
        let prefix = self.units.continuing_prefix.as_ref().filter(|_| form.continues());
        let mark = self.units.end_mark.as_ref().filter(|_| form.ends());
        let written = published_name(&self.units, symbol).into_bytes();
        let end = written.len() - mark.map_or(0, |mark| mark.text.len());
        (written, prefix.map_or(0, String::len)..end)
    }

    #[inline]
    fn id(&self, symbol: Token<'_>) -> TokenId {
        match (symbol.kind, symbol.bytes) {
            (TokenKind::Text(form), &[byte]) => {
                let form = usize::from(form.continues()) | usize::from(form.ends()) << 1;
                self.of_byte[form][usize::from(byte)]
            }
            _ => self.vocabulary.id(symbol).unwrap_or(NO_ID),
        }
    }
}

/// The token of this name: one that is nothing else, or one of the text that is written so.
fn unknown(units: &Units, vocabulary: &Vocabulary, name: &str) -> Option<TokenId> {
    let bytes = name.as_bytes();
    let kinds = [TokenKind::Unknown, TokenKind::Added];
    let named = kinds.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes }));
    let text = || {
        let text = units.text_of_name(name)?;
        let plain = vocabulary.id(Token::plain(&text));
        let marked = || units.readings(&text).into_iter().flatten();
        plain.or_else(|| marked().find_map(|token| vocabulary.id(token)))
    };
    named.or_else(text)
}
