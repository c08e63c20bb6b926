//! Tokens that no text is ever encoded with.
//!
//! *Unmade* tokens are those that merging their own units does not give. Training leaves none; vocabularies from elsewhere
//! may have some, which occur as whole pieces at most.
//!
//! *Unplaced* tokens are made by merges, but occur in no piece. Where units carry marks, a token may need a neighbour: one
//! that continues a piece cannot begin it, and one without the end mark cannot end it. Tokens stand side by side in a
//! piece exactly if all neighbours do as pairs. So the search goes from a token to its neighbours, and on from these,
//! until one may begin or end a piece. What stands for units outside the alphabet separates tokens as no merge does:
//! if there is such a stand-in, every token has a place. Where units are left out, the first or the last unit of a
//! piece may be one of these, so more tokens may stand at its ends.
//!
//! The proofs are in `docs/explanation/reachability.md`. Takes an encoding for each token, and another one where a token
//! needs a neighbour and the first that is tried does; one for each pair of tokens in the worst case.

use std::collections::{HashMap, HashSet};

use super::{Encoder, Scratch};
use crate::error::Result;
use crate::units::{END_MARK, EndMarkKind};
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind};

/// The two sides of a token.
#[derive(Clone, Copy)]
enum Side {
    Before,
    Behind,
}

/// A token of text, where it may stand, and whether it is the end mark alone.
#[derive(Clone, Copy)]
struct Placed {
    id: TokenId,
    form: Form,
    is_mark: bool,
}

/// A choice of tokens.
type Rule<'r> = &'r dyn Fn(&Placed) -> bool;

/// What is known of one side of tokens.
struct Search<'e> {
    encoder: &'e Encoder,
    side: Side,
    /// Tokens that may stand there, those first that need no more neighbours on that side.
    neighbours: Vec<TokenId>,
    /// Whether tokens have a way to the end of a piece on that side.
    known: HashMap<TokenId, bool>,
    scratch: Scratch,
}

impl Encoder {
    /// The ids of these tokens, in order.
    pub fn unmade(&self) -> Vec<TokenId> {
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

    /// The units of a token of text, marks included; `None` if one is not in the vocabulary, and for other tokens.
    pub(crate) fn units_of_token(&self, id: TokenId) -> Option<Vec<TokenId>> {
        match self.vocabulary.token(id)? {
            Token { kind: TokenKind::Text(form), bytes } => self.units_of(form, bytes),
            _ => None,
        }
    }

    /// What symbols are merged to.
    ///
    /// # Errors
    /// If there are too many for the memory.
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
        self.merged(&ids, scratch).is_ok_and(|merged| merged == [id])
    }

    /// The units that a token is made of; `None` if one is not in the vocabulary.
    pub(crate) fn units_of(&self, form: Form, bytes: &[u8]) -> Option<Vec<TokenId>> {
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
            let form = Form::new(
                has_prefix && (start > 0 || form.continues()),
                has_suffix && form.ends() && end == bytes.len(),
            );
            let bytes = &bytes[std::mem::replace(&mut start, end)..end];
            self.vocabulary.id(Token { kind: TokenKind::Text(form), bytes })
        };
        let mut ids: Vec<_> = ends.into_iter().map(unit).collect::<Option<_>>()?;
        if form.ends() && !has_suffix {
            ids.push(self.vocabulary.id(crate::units::END_MARK)?);
        }
        Some(ids)
    }

    /// Those among tokens that merges make.
    pub(crate) fn unplaced(&self, unmade: &[TokenId]) -> Vec<TokenId> {
        if !self.symbols.units().has_marks() || self.parts_anything() {
            return Vec::new();
        }
        let unmade: HashSet<_> = unmade.iter().copied().collect();
        let made: Vec<_> = self.texts().filter(|token| !unmade.contains(&token.id)).collect();
        let [mut before, mut behind] = Search::of_both_sides(self, &made);
        let mut has_place = |id| before.reaches(id) && behind.reaches(id);
        made.iter().map(|token| token.id).filter(|&id| !has_place(id)).collect()
    }

    fn texts(&self) -> impl Iterator<Item = Placed> {
        self.vocabulary.iter().filter_map(|(id, token)| match token.kind {
            TokenKind::Text(form) => Some(Placed { id, form, is_mark: token == END_MARK }),
            _ => None,
        })
    }

    /// Whether something may stand on both sides of a token that no merge joins with it. Where that is not sure it is
    /// assumed.
    fn parts_anything(&self) -> bool {
        let symbols = &self.symbols;
        let has_strangers = !(symbols.units().is_bytes() && symbols.has_every_byte());
        (has_strangers || !symbols.has_mark()) && symbols.has_stand_in()
    }
}

impl<'e> Search<'e> {
    fn of_both_sides(encoder: &'e Encoder, made: &[Placed]) -> [Self; 2] {
        let units = encoder.symbols.units();
        let (has_prefix, has_mark) = (units.continuing_prefix.is_some(), units.end_mark.is_some());
        let (drops_first, drops_last) = encoder.symbols.drops_at_ends();
        let begins = |token: &Placed| {
            drops_first || !(has_prefix && token.form.continues() || token.is_mark)
        };
        let ends = |token: &Placed| drops_last || !has_mark || token.form.ends();
        let goes_on = |token: &Placed| !(has_mark && token.form.ends());
        let continues = |token: &Placed| !has_prefix || token.form.continues() || token.is_mark;
        let sides: [(Side, Rule<'_>, Rule<'_>); 2] =
            [(Side::Before, &begins, &goes_on), (Side::Behind, &ends, &continues)];
        sides.map(|(side, is_outer, may_stand)| {
            let outer = made.iter().filter(|token| is_outer(token));
            let mut all: Vec<_> = made.iter().filter(|token| may_stand(token)).collect();
            all.sort_by_key(|token| !is_outer(token));
            let neighbours = all.into_iter().map(|token| token.id).collect();
            let known = outer.map(|token| (token.id, true)).collect();
            Self { encoder, side, neighbours, known, scratch: Scratch::default() }
        })
    }

    /// Whether tokens can follow a token on this side so that the last of them is the first or last of a piece.
    fn reaches(&mut self, id: TokenId) -> bool {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let mut seen = HashSet::from([id]);
        let mut waiting = vec![id];
        while let Some(next) = waiting.pop() {
            if self.visit(next, &mut seen, &mut waiting) {
                self.known.insert(id, true);
                return true;
            }
        }
        // Nothing that was seen leads to an end.
        self.known.extend(seen.into_iter().map(|id| (id, false)));
        false
    }

    /// Looks at the neighbours of a token: whether one reaches the end; others wait for their turn.
    fn visit(
        &mut self,
        id: TokenId,
        seen: &mut HashSet<TokenId>,
        waiting: &mut Vec<TokenId>,
    ) -> bool {
        (0..self.neighbours.len()).any(|place| {
            let neighbour = self.neighbours[place];
            if seen.contains(&neighbour) || !self.stand_together(id, neighbour) {
                return false;
            }
            if let Some(&known) = self.known.get(&neighbour) {
                return known;
            }
            seen.insert(neighbour);
            waiting.push(neighbour);
            false
        })
    }

    /// Whether the units of both are merged to the two tokens.
    fn stand_together(&mut self, id: TokenId, neighbour: TokenId) -> bool {
        let pair = match self.side {
            Side::Before => [neighbour, id],
            Side::Behind => [id, neighbour],
        };
        let units = pair.map(|id| self.encoder.units_of_token(id));
        let [Some(mut left), Some(right)] = units else { return false };
        left.extend(right);
        self.encoder.merged(&left, &mut self.scratch).is_ok_and(|merged| merged == pair)
    }
}

#[cfg(test)]
mod tests;
