//! Tokens that merges make and that stand in no piece.
//!
//! Where units carry marks, a token may need a neighbour: one that continues a piece cannot begin it, and one without the
//! end mark cannot end it. Tokens stand side by side in a piece exactly if all neighbours do as pairs (proof in
//! `docs/explanation/reachability.md`), so the search goes from a token to its neighbours, and on from these, until one
//! may begin or end a piece. What stands for units outside the alphabet parts tokens as no merge does: where there is such
//! a stand-in, every token has a place.
//!
//! Costs an encoding for each token that needs a neighbour, where the first that is tried does; one for each pair in the
//! worst case.

use std::collections::{HashMap, HashSet};

use super::{Encoder, Scratch};
use crate::units::{END_MARK, Missing};
use crate::vocabulary::{Form, TokenId, TokenKind};

/// The two sides of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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

/// What is known of the sides of tokens.
struct Search<'e> {
    encoder: &'e Encoder,
    /// Tokens that may stand there, those first that need no more neighbours on that side.
    neighbours: HashMap<Side, Vec<TokenId>>,
    /// Whether tokens have a way to the end of a piece on a side.
    known: HashMap<(TokenId, Side), bool>,
    scratch: Scratch,
}

impl Encoder {
    /// Those among tokens that merges make.
    pub(crate) fn unplaced(&self, unmade: &[TokenId]) -> Vec<TokenId> {
        if !self.needs_neighbours() || self.parts_anything() {
            return Vec::new();
        }
        let unmade: HashSet<_> = unmade.iter().copied().collect();
        let made: Vec<_> = self.texts().filter(|token| !unmade.contains(&token.id)).collect();
        let mut search = Search::new(self, &made);
        made.into_iter().map(|token| token.id).filter(|&id| !search.has_place(id)).collect()
    }

    fn texts(&self) -> impl Iterator<Item = Placed> {
        self.vocabulary.iter().filter_map(|(id, token)| match token.kind {
            TokenKind::Text(form) => Some(Placed { id, form, is_mark: token == END_MARK }),
            _ => None,
        })
    }

    fn needs_neighbours(&self) -> bool {
        let units = self.symbols.units();
        units.continuing_prefix.is_some() || units.end_mark.is_some()
    }

    /// Whether something may stand on both sides of a token that no merge joins with it, or nothing at all. Where that
    /// is not sure it is assumed.
    fn parts_anything(&self) -> bool {
        let units = self.symbols.units();
        let has_strangers = !(units.is_bytes() && self.symbols.has_every_byte());
        let is_parted = units.byte_fallback
            || self.symbols.unknown().is_some()
            || units.missing == Missing::Drop;
        has_strangers && is_parted
    }
}

impl<'e> Search<'e> {
    fn new(encoder: &'e Encoder, made: &[Placed]) -> Self {
        let units = encoder.symbols.units();
        let (has_prefix, has_mark) = (units.continuing_prefix.is_some(), units.end_mark.is_some());
        let begins = |token: &Placed| !(has_prefix && token.form.continues || token.is_mark);
        let ends = |token: &Placed| !has_mark || token.form.ends;
        let goes_on = |token: &Placed| !(has_mark && token.form.ends);
        let continues = |token: &Placed| !has_prefix || token.form.continues || token.is_mark;
        let sides: [(Side, Rule<'_>, Rule<'_>); 2] =
            [(Side::Before, &begins, &goes_on), (Side::Behind, &ends, &continues)];
        let (mut neighbours, mut known) = (HashMap::new(), HashMap::new());
        for (side, is_outer, may_stand) in sides {
            let outer = made.iter().filter(|token| is_outer(token));
            known.extend(outer.map(|token| ((token.id, side), true)));
            let mut all: Vec<_> = made.iter().filter(|token| may_stand(token)).collect();
            all.sort_by_key(|token| !is_outer(token));
            neighbours.insert(side, all.into_iter().map(|token| token.id).collect());
        }
        Self { encoder, neighbours, known, scratch: Scratch::default() }
    }

    fn has_place(&mut self, id: TokenId) -> bool {
        self.reaches(id, Side::Before) && self.reaches(id, Side::Behind)
    }

    /// Whether tokens can follow a token on one side so that the last of them is the first or last of a piece.
    fn reaches(&mut self, id: TokenId, side: Side) -> bool {
        if let Some(&known) = self.known.get(&(id, side)) {
            return known;
        }
        let mut seen = HashSet::from([id]);
        let mut waiting = vec![id];
        while let Some(next) = waiting.pop() {
            if self.visit(next, side, &mut seen, &mut waiting) {
                self.known.insert((id, side), true);
                return true;
            }
        }
        // Nothing that was seen leads to an end.
        self.known.extend(seen.into_iter().map(|id| ((id, side), false)));
        false
    }

    /// Looks at the neighbours of a token: whether one reaches the end; others wait for their turn.
    fn visit(
        &mut self,
        id: TokenId,
        side: Side,
        seen: &mut HashSet<TokenId>,
        waiting: &mut Vec<TokenId>,
    ) -> bool {
        let neighbours = self.neighbours.remove(&side).unwrap_or_default();
        let found = neighbours.iter().any(|&neighbour| {
            if seen.contains(&neighbour) || !self.stand_together(id, neighbour, side) {
                return false;
            }
            if let Some(&known) = self.known.get(&(neighbour, side)) {
                return known;
            }
            seen.insert(neighbour);
            waiting.push(neighbour);
            false
        });
        self.neighbours.insert(side, neighbours);
        found
    }

    /// Whether the units of both are merged to the two tokens.
    fn stand_together(&mut self, id: TokenId, neighbour: TokenId, side: Side) -> bool {
        let pair = match side {
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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::encode::naive;
    use crate::units::{EndMark, EndMarkKind, Units};
    use crate::vocabulary::{Token, Vocabulary};

    #[test]
    fn a_token_has_no_place_exactly_if_no_piece_has_it() {
        let mut vocabulary = Vocabulary::new();
        let a = vocabulary.push(Token::plain(b"a")).unwrap();
        let last = vocabulary.push(Token { kind: TokenKind::ENDING, bytes: b"a" }).unwrap();
        let two = vocabulary.push_merge(a, a).unwrap();
        vocabulary.push_merge(two, two).unwrap();
        vocabulary.push_merge(two, a).unwrap();
        vocabulary.push_merge(two, last).unwrap();
        let end_mark = EndMark { text: "_".to_owned(), kind: EndMarkKind::Suffix };
        let units = Units { end_mark: Some(end_mark), ..Units::characters() };
        let occurring: HashSet<_> = (0..20)
            .flat_map(|n_before| {
                let row = [vec![a; n_before], vec![last]].concat();
                naive::merge(&vocabulary, row)
            })
            .collect();
        let vocabulary = Arc::new(vocabulary);
        let encoder = Encoder::new(Arc::clone(&vocabulary), &units, false);
        let unplaced = encoder.unplaced(&encoder.unmade());
        let missing = vocabulary.iter().map(|(id, _)| id).filter(|id| !occurring.contains(id));
        assert_eq!(unplaced, missing.collect::<Vec<_>>());
        assert_eq!(unplaced, [two]);

        let unknown = Units { unknown: Some("?".to_owned()), ..units.clone() };
        let mut with_unknown = (*vocabulary).clone();
        with_unknown.push(Token { kind: TokenKind::Unknown, bytes: b"?" }).unwrap();
        let encoder = Encoder::new(Arc::new(with_unknown), &unknown, false);
        assert!(encoder.unplaced(&encoder.unmade()).is_empty());
    }
}
