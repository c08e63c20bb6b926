//! Joins two vocabularies: the first stays as it is, and the tokens of the second are added by the rule of two.
//!
//! The tokens of the second are added in the order of its merges, then those that no merge makes. They are taken as text:
//! bytes or characters, with the marks of the first vocabulary and its character for a space. Added tokens, the unknown
//! token and byte-fallback tokens of the second are left out, and so are tokens that the
//! normalizer of the first always changes or its pattern always cuts.
//! Each token is encoded once.

use std::borrow::Cow;
use std::collections::HashSet;

use super::strings::{Extension, Outcome, StringReport, Wanted};
use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Form, TokenId, TokenKind};

/// How the other tokenizer writes a space, and how this one does.
struct Spaces {
    from: String,
    to: String,
}

impl Spaces {
    fn new(from: &Tokenizer, to: &Tokenizer) -> Option<Self> {
        let written = |tokenizer: &Tokenizer| {
            let spelling = tokenizer.spelling().filter(|spelling| spelling.from == b' ');
            spelling.map_or(' ', |spelling| spelling.to).to_string()
        };
        let spaces = Self { from: written(from), to: written(to) };
        (spaces.from != spaces.to).then_some(spaces)
    }

    fn translate<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.replace(&self.from, &self.to).into_bytes().into(),
            Err(_) => bytes.into(),
        }
    }
}

impl Tokenizer {
    /// This tokenizer with those tokens of another that can be added, and a report for each id of the other; `None`
    /// for ids whose tokens are not text.
    ///
    /// # Errors
    /// Where one of the two marks the start or the end of words and the other does not.
    pub fn merge_with(
        &self,
        other: &Self,
        may_help: bool,
    ) -> Result<(Self, Vec<Option<StringReport>>)> {
        let marks = |tokenizer: &Self| {
            let units = &tokenizer.parts().units;
            (units.end_mark.is_some(), units.continuing_prefix.is_some())
        };
        if marks(self) != marks(other) {
            let problem = "only one of the two has an end mark or a continuing prefix, so that \
                           tokens of the one are no tokens of the other";
            return Err(Error::option("other", problem));
        }
        let spaces = Spaces::new(other, self);
        let vocabulary = &other.parts().vocabulary;
        let texts: Vec<_> = in_order(other)
            .into_iter()
            .filter_map(|id| {
                let token = vocabulary.token(id)?;
                let TokenKind::Text(form) = token.kind else { return None };
                let bytes = spaces.as_ref().map(|spaces| spaces.translate(token.bytes));
                Some((id, form, bytes.unwrap_or(token.bytes.into())))
            })
            .collect();
        let is_text = |bytes: &[u8]| !bytes.is_empty() && std::str::from_utf8(bytes).is_ok();
        let asked = texts.iter().filter(|(.., bytes)| is_text(bytes));
        let asked: Vec<_> = asked.map(|(id, _, bytes)| (*id, &**bytes)).collect();
        let bytes: Vec<_> = asked.iter().map(|(_, bytes)| *bytes).collect();
        let ids_of = |never: Vec<bool>| -> HashSet<TokenId> {
            let found = asked.iter().zip(never).filter(|(_, never)| *never);
            found.map(|((id, _), _)| *id).collect()
        };
        let changed = ids_of(self.never_normalized(&bytes)?);
        let cut = ids_of(self.never_held(&bytes));
        let mut extension = Extension::new(self)?;
        let mut reports = vec![None; vocabulary.len()];
        for (id, form, bytes) in &texts {
            let report = match id {
                id if changed.contains(id) => StringReport::refused(Outcome::Changed),
                id if cut.contains(id) => StringReport::refused(Outcome::Cut),
                _ => self.add_token(&mut extension, (*form, bytes), may_help)?,
            };
            reports[*id as usize] = Some(report);
        }
        Ok((extension.finish()?, reports))
    }

    fn add_token(
        &self,
        extension: &mut Extension<'_>,
        (form, bytes): (Form, &[u8]),
        may_help: bool,
    ) -> Result<StringReport> {
        let units = self.encoder().units_of(form, bytes).unwrap_or_default();
        if units.is_empty() || !extension.are_text_of(&units, bytes) {
            return Ok(StringReport::refused(Outcome::OutsideAlphabet));
        }
        // A token of the other one need not be a piece, and it gets a merge in any case.
        extension.add(&Wanted { units: &units, bytes, is_piece: false }, may_help)
    }
}

/// The ids of a tokenizer in the order of its merges, then the others.
fn in_order(tokenizer: &Tokenizer) -> Vec<TokenId> {
    let vocabulary = &tokenizer.parts().vocabulary;
    let (merges, priorities) = (vocabulary.merges(), vocabulary.priorities());
    let mut places: Vec<_> = (0..merges.len()).collect();
    places.sort_by_key(|&place| priorities.get(place).copied());
    let made = places.into_iter().map(|place| merges[place].result);
    let mut seen = vec![false; vocabulary.len()];
    let all = made.chain(vocabulary.iter().map(|(id, _)| id));
    all.filter(|&id| !std::mem::replace(&mut seen[id as usize], true)).collect()
}
