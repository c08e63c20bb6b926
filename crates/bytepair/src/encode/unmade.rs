//! Tokens of text that merging their own units does not give.
//!
//! Training leaves none. Vocabularies from elsewhere may have some: they are only found as whole pieces, or never
//! (proof in `docs/explanation/reachability.md`). Costs what encoding each token takes.

use std::collections::{HashMap, HashSet};

use super::{Encoder, Scratch};
use crate::error::Result;
use crate::units::EndMarkKind;
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind};

impl Encoder {
    /// The ids of these tokens, in order.
    pub(crate) fn unmade(&self) -> Vec<TokenId> {
        let mut scratch = Scratch::default();
        let texts = self.vocabulary.iter().filter_map(|(id, token)| match token.kind {
            TokenKind::Text(form) => Some((id, form, token.bytes)),
            _ => None,
        });
        texts
            .filter(|(id, form, bytes)| !self.makes(*id, *form, bytes, &mut scratch))
            .map(|(id, ..)| id)
            .collect()
    }

    /// The units of a token of text, marks included; `None` where one is not in the vocabulary, and for other tokens.
    pub(crate) fn units_of_token(&self, id: TokenId) -> Option<Vec<TokenId>> {
        match self.vocabulary.token(id)? {
            Token { kind: TokenKind::Text(form), bytes } => self.units_of(form, bytes),
            _ => None,
        }
    }

    /// What symbols are merged to.
    ///
    /// # Errors
    /// Where there are too many for the memory.
    pub(crate) fn merged(&self, ids: &[TokenId], scratch: &mut Scratch) -> Result<Vec<TokenId>> {
        scratch.ids.clear();
        scratch.ids.extend_from_slice(ids);
        let mut merged = Vec::new();
        self.merge_symbols(scratch, &mut merged)?;
        Ok(merged)
    }

    /// Tokens that merges make of what is no text, such as byte tokens or the unknown token: they may occur without the
    /// units of their own text. Hardly any vocabulary has one.
    pub(crate) fn made_of_others(&self) -> HashSet<TokenId> {
        let is_text = |id: TokenId| {
            let token = self.vocabulary.token(id);
            token.is_some_and(|token| matches!(token.kind, TokenKind::Text(_)))
        };
        let parts = || {
            let both = |merge: &Merge| [(merge.left, merge.result), (merge.right, merge.result)];
            self.vocabulary.merges().iter().flat_map(both)
        };
        let mut results = HashMap::<TokenId, Vec<TokenId>>::new();
        parts().for_each(|(part, result)| results.entry(part).or_default().push(result));
        let mut waiting: Vec<_> =
            parts().map(|(part, _)| part).filter(|&id| !is_text(id)).collect();
        let mut found = HashSet::new();
        while let Some(part) = waiting.pop() {
            let made = results.remove(&part).unwrap_or_default();
            waiting.extend(made.into_iter().filter(|&result| found.insert(result)));
        }
        found
    }

    /// Whether the units of a token are merged to it, and to it alone.
    fn makes(&self, id: TokenId, form: Form, bytes: &[u8], scratch: &mut Scratch) -> bool {
        let Some(ids) = self.units_of(form, bytes) else { return false };
        if let [unit] = ids[..] {
            return unit == id;
        }
        scratch.ids = ids;
        let mut merged = Vec::with_capacity(1);
        self.merge_symbols(scratch, &mut merged).is_ok() && merged == [id]
    }

    /// The units that a token is made of; `None` where one is not in the vocabulary.
    fn units_of(&self, form: Form, bytes: &[u8]) -> Option<Vec<TokenId>> {
        let units = self.symbols.units();
        let ends: Vec<usize> = if units.is_bytes() {
            (1..=bytes.len()).collect()
        } else {
            let text = std::str::from_utf8(bytes).ok()?;
            text.char_indices().map(|(start, unit)| start + unit.len_utf8()).collect()
        };
        let has_prefix = units.continuing_prefix.is_some();
        let has_suffix = units.end_mark_kind() == Some(EndMarkKind::Suffix);
        let mut start = 0;
        let unit = |end: usize| {
            let form = Form {
                continues: has_prefix && (start > 0 || form.continues),
                ends: has_suffix && form.ends && end == bytes.len(),
            };
            let bytes = &bytes[std::mem::replace(&mut start, end)..end];
            self.vocabulary.id(Token { kind: TokenKind::Text(form), bytes })
        };
        let mut ids: Vec<_> = ends.into_iter().map(unit).collect::<Option<_>>()?;
        if form.ends && !has_suffix {
            ids.push(self.vocabulary.id(crate::units::END_MARK)?);
        }
        Some(ids)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::units::{ByteIds, Units};
    use crate::vocabulary::Vocabulary;

    #[test]
    fn a_token_that_other_merges_come_before_is_not_made() {
        let mut vocabulary = Vocabulary::new();
        let [a, b, c] =
            ["a", "b", "c"].map(|unit| vocabulary.push(Token::plain(unit.as_bytes())).unwrap());
        let bc = vocabulary.push_merge(b, c).unwrap();
        let ab = vocabulary.push_merge(a, b).unwrap();
        let abc = vocabulary.push_merge(ab, c).unwrap();
        let cab = vocabulary.push(Token::plain(b"cab")).unwrap();
        let units = Units::bytes(ByteIds::Printable);
        let encoder = Encoder::new(Arc::new(vocabulary), &units, true);
        assert_eq!(encoder.unmade(), [abc, cab]);
        let _ = bc;
    }
}
