//! The merges that can happen, of a vocabulary where every cut of a token is one.
//!
//! SentencePiece joins any two neighbours whose joined text is a piece: a piece has a merge for each of its cuts, all of
//! one priority, and of several that could happen next the leftmost does. Formats that list merges in order cannot
//! say that, and need not: **at most one cut of a piece ever happens.** Take a stretch of a text whose ends no merge
//! has crossed so far. The merges inside it were, one after the other, those of the stretch alone, since the best of all
//! is the best of those inside. So two neighbours are what their joined text, alone, becomes just before its last merge.
//! That is one pair for each text, and the other cuts can be left out.
//!
//! The remaining merges of different pieces may still share a priority. Then their order in the list must not matter: no
//! piece of such a group may be part of a merge that is not after the group, and of two merges that overlap (`a b c`, with
//! `ab` and `bc` of one priority) the left one must come first. Otherwise the vocabulary is refused.
//!
//! One kind of group builds on itself and occurs in published models: all repeats of a character, such as two to sixteen
//! spaces. In a run of the character the leftmost pair goes first, so there are finished tokens, one growing token, and
//! single characters. The last finished token may take in the growing one, the growing one may take in a character, or the
//! next two characters may begin a token: in this order by place, and also by the length of the result. So the longest are
//! listed first. Other merges may make longer repeats if they come behind the group, whose own merges have no such part: when
//! one happens, the group has no merge left, and what it makes is no part of one.
//!
//! Costs for each token the square of its length.

use std::collections::{HashMap, HashSet};

use super::quoted;
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// The most pairs of merges of one priority that are looked at.
const MAX_PAIRS: usize = 1 << 20;

/// The merges that can happen, in an order that gives the same tokens as the priorities of the vocabulary.
///
/// # Errors
/// Where there is no such order; the message says why.
pub(super) fn live_merges(vocabulary: &Vocabulary) -> Result<Vec<Merge>, String> {
    let rules = Rules::new(vocabulary)?;
    let mut live: Vec<(u32, Merge)> = vocabulary
        .iter()
        .filter(|(_, token)| matches!(token.kind, TokenKind::Text(_)))
        .filter_map(|(id, token)| rules.last_merge(id, token))
        .collect();
    live.sort_by_key(|(priority, merge)| (*priority, merge.result));
    let mut ordered = Vec::with_capacity(live.len());
    for group in live.chunk_by(|one, other| one.0 == other.0) {
        match group {
            [(_, merge)] => ordered.push(*merge),
            _ => ordered.extend(rules.in_order(group, &live)?),
        }
    }
    Ok(ordered)
}

struct Rules<'v> {
    vocabulary: &'v Vocabulary,
    by_pair: HashMap<(TokenId, TokenId), (u32, TokenId)>,
}

impl<'v> Rules<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Result<Self, String> {
        let mut by_pair = HashMap::with_capacity(vocabulary.n_merges());
        let priorities = vocabulary.priorities();
        for (place, merge) in (0..).zip(vocabulary.merges()) {
            let priority = priorities.get(place as usize).copied().unwrap_or(place);
            let bytes = |id| vocabulary.token(id).map_or(&[][..], |token| token.bytes);
            let joined = [bytes(merge.left), bytes(merge.right)].concat();
            if joined != bytes(merge.result) {
                return Err(format!(
                    "a merge that gives {} instead of {}",
                    quoted(bytes(merge.result)),
                    quoted(&joined)
                ));
            }
            by_pair.insert((merge.left, merge.right), (priority, merge.result));
        }
        Ok(Self { vocabulary, by_pair })
    }

    /// The last merge of a token's own text, if that makes the token.
    fn last_merge(&self, id: TokenId, token: Token<'_>) -> Option<(u32, Merge)> {
        let [left, right] = *self.merged(token.bytes, 2)? else { return None };
        let &(priority, result) = self.by_pair.get(&(left, right))?;
        (result == id).then_some((priority, Merge { left, right, result }))
    }

    /// What a text, alone, becomes when `n_left` tokens are left of it; `None` if it stops before, or has fewer.
    fn merged(&self, text: &[u8], n_left: usize) -> Option<Vec<TokenId>> {
        let text = std::str::from_utf8(text).ok()?;
        let mut buffer = [0; 4];
        let unit =
            |unit: char| self.vocabulary.id(Token::plain(unit.encode_utf8(&mut buffer).as_bytes()));
        let mut tokens: Vec<TokenId> = text.chars().map(unit).collect::<Option<_>>()?;
        while tokens.len() > n_left {
            let pairs = tokens.windows(2).enumerate();
            let known = pairs.filter_map(|(place, pair)| {
                let (priority, result) = self.by_pair.get(&(pair[0], pair[1]))?;
                Some((*priority, place, *result))
            });
            let (_, place, result) = known.min()?;
            tokens[place] = result;
            tokens.remove(place + 1);
        }
        (tokens.len() == n_left).then_some(tokens)
    }

    /// Merges of one priority in an order that does not show.
    fn in_order(
        &self,
        group: &[(u32, Merge)],
        live: &[(u32, Merge)],
    ) -> Result<Vec<Merge>, String> {
        let priority = group[0].0;
        let made: HashSet<TokenId> = group.iter().map(|(_, merge)| merge.result).collect();
        let are_repeats = self.are_all_repeats(group, live);
        let goes_on = live.iter().take_while(|(other, _)| *other <= priority).find(|(_, merge)| {
            let is_known = are_repeats && made.contains(&merge.result);
            !is_known && (made.contains(&merge.left) || made.contains(&merge.right))
        });
        if let Some((_, merge)) = goes_on {
            return Err(format!(
                "the merge of {} and {}, which does not come behind those that make its parts",
                self.name(merge.left),
                self.name(merge.right)
            ));
        }
        if are_repeats {
            let mut merges: Vec<Merge> = group.iter().map(|(_, merge)| *merge).collect();
            merges.sort_by_key(|merge| std::cmp::Reverse(self.bytes(merge.result).len()));
            return Ok(merges);
        }
        // By merge: those that must stand behind it, and how many must stand before it.
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); group.len()];
        let mut n_before = vec![0_usize; group.len()];
        for (place, other) in self.competing(group)? {
            behind[place].push(other);
            n_before[other] += 1;
        }
        let mut free: Vec<usize> = (0..group.len()).filter(|&place| n_before[place] == 0).collect();
        let mut ordered = Vec::with_capacity(group.len());
        while let Some(place) = free.pop() {
            ordered.push(group[place].1);
            for &other in &behind[place] {
                n_before[other] -= 1;
                free.extend((n_before[other] == 0).then_some(other));
            }
        }
        match n_before.iter().position(|n_before| *n_before > 0) {
            None => Ok(ordered),
            Some(place) => Err(format!(
                "merges of one priority that compete, such as that into {}: of two, the leftmost in the text goes first",
                self.name(group[place].1.result)
            )),
        }
    }

    /// Pairs of merges that compete for a token in some text, the one on the left first.
    fn competing(&self, group: &[(u32, Merge)]) -> Result<Vec<(usize, usize)>, String> {
        let mut by_left: HashMap<TokenId, Vec<usize>> = HashMap::new();
        for (place, (_, merge)) in group.iter().enumerate() {
            by_left.entry(merge.left).or_default().push(place);
        }
        let behind = |place: usize| by_left.get(&group[place].1.right).into_iter().flatten();
        let mut pairs: Vec<(usize, usize)> = (0..group.len())
            .flat_map(|place| behind(place).map(move |&other| (place, other)))
            .filter(|(place, other)| place != other)
            .take(MAX_PAIRS + 1)
            .collect();
        if pairs.len() > MAX_PAIRS {
            return Err("too many merges of one priority".to_owned());
        }
        pairs.retain(|&(place, other)| {
            let (merge, next) = (group[place].1, group[other].1);
            self.can_stand_so([merge.left, merge.right, next.right])
        });
        Ok(pairs)
    }

    /// Whether these merges make the repeats of a character of each other alone, and all other merges that make such
    /// repeats come behind them.
    fn are_all_repeats(&self, group: &[(u32, Merge)], live: &[(u32, Merge)]) -> bool {
        let Some(repeated) = self.repeated(group[0].1.result) else { return false };
        let is_repeat = |merge: &Merge| self.repeated(merge.result) == Some(repeated);
        let mut repeats = live.iter().filter(|(_, merge)| is_repeat(merge));
        let first = repeats.next().map(|(priority, _)| *priority);
        let later: HashSet<TokenId> = repeats
            .filter(|(priority, _)| *priority > group[0].0)
            .map(|(_, merge)| merge.result)
            .collect();
        first == Some(group[0].0)
            && group.iter().all(|(_, merge)| {
                is_repeat(merge) && !later.contains(&merge.left) && !later.contains(&merge.right)
            })
    }

    /// The character that a token repeats.
    fn repeated(&self, id: TokenId) -> Option<char> {
        let mut characters = std::str::from_utf8(self.bytes(id)).ok()?.chars();
        let first = characters.next()?;
        characters.all(|character| character == first).then_some(first)
    }

    /// Whether tokens are ever neighbours before anything is merged across them.
    fn can_stand_so(&self, tokens: [TokenId; 3]) -> bool {
        let text = tokens.map(|id| self.bytes(id)).concat();
        self.merged(&text, tokens.len()).is_some_and(|merged| merged == tokens)
    }

    fn name(&self, id: TokenId) -> String {
        quoted(self.bytes(id))
    }

    fn bytes(&self, id: TokenId) -> &'v [u8] {
        self.vocabulary.token(id).map_or(&[], |token| token.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use bytepair::units::Units;
    use bytepair::{Parts, Tokenizer};

    /// A vocabulary of these pieces over two letters, with a merge for each cut.
    fn vocabulary(scores: &[(String, u32)]) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        for letter in ["a", "b"] {
            vocabulary.push(Token::plain(letter.as_bytes())).unwrap();
        }
        for (text, _) in scores {
            vocabulary.push(Token::plain(text.as_bytes())).unwrap();
        }
        for (text, score) in scores {
            let id = |text: &str| vocabulary.id(Token::plain(text.as_bytes()));
            let result = id(text).unwrap();
            let cuts = (1..text.len()).filter_map(|place| {
                let (left, right) = text.split_at(place);
                Some(Merge { left: id(left)?, right: id(right)?, result })
            });
            let cuts: Vec<_> = cuts.collect();
            cuts.into_iter().for_each(|merge| vocabulary.push_merge_with_priority(merge, *score));
        }
        vocabulary
    }

    fn tokenizer(vocabulary: Vocabulary) -> Tokenizer {
        Tokenizer::new(Parts::new(Units::characters(), Arc::new(vocabulary))).unwrap()
    }

    fn listed(vocabulary: &Vocabulary, merges: Vec<Merge>) -> Vocabulary {
        let mut listed = Vocabulary::new();
        for (id, token) in vocabulary.iter() {
            listed.insert(id, token).unwrap();
        }
        merges.into_iter().for_each(|merge| listed.push_merge_to(merge));
        listed
    }

    /// Pieces with scores; or repeats of one score, with longer ones and perhaps another piece behind them.
    fn scores() -> impl Strategy<Value = Vec<(String, u32)>> {
        let repeats = (
            prop::collection::btree_set(2_usize..10, 1..8),
            prop::collection::btree_map(2_usize..20, 6_u32..9, 0..4),
            any::<bool>(),
        );
        let repeats = repeats.prop_map(|(lengths, mut later, has_other)| {
            later.extend(lengths.into_iter().map(|length| (length, 5)));
            let repeats = later.into_iter().map(|(length, score)| ("a".repeat(length), score));
            repeats.chain(has_other.then(|| ("ab".to_owned(), 1))).collect::<Vec<_>>()
        });
        let any_pieces = prop::collection::btree_map("[ab]{2,5}", 0_u32..6, 1..9);
        prop_oneof![2 => any_pieces.prop_map(|pieces| pieces.into_iter().collect()), 1 => repeats]
    }

    proptest! {
        #[test]
        fn a_list_of_live_merges_gives_the_same_tokens(
            scores in scores(),
            texts in prop::collection::vec("[ab]{0,40}|(a{0,60}b?){0,3}", 6),
        ) {
            let scored = vocabulary(&scores);
            let found = live_merges(&scored);
            let is_usual = |(text, score): &(String, u32)| match text.contains('b') {
                true => (text.as_str(), *score) == ("ab", 1),
                false => *score == 5,
            };
            prop_assert!(found.is_ok() || !scores.iter().all(is_usual));
            let Ok(merges) = found else { return Ok(()) };
            let (ours, other) = (tokenizer(listed(&scored, merges)), tokenizer(scored));
            for text in texts {
                let text = text.as_bytes();
                prop_assert_eq!(ours.encode_ordinary(text).unwrap(), other.encode_ordinary(text).unwrap());
            }
        }
    }

    #[test]
    fn a_longer_repeat_behind_all_others_is_listed() {
        let mut pieces: Vec<_> = (2..=8).map(|length| ("a".repeat(length), 5)).collect();
        pieces.push(("a".repeat(16), 6));
        let vocabulary = vocabulary(&pieces);
        let merges = live_merges(&vocabulary).unwrap();
        let last = merges.last().map(|merge| (merge.left, merge.right, merge.result));
        assert_eq!(last, Some((8, 8, 9)));
    }

    #[test]
    fn a_piece_keeps_the_cut_that_its_own_text_has() {
        let pieces =
            [("aa", 0), ("aaa", 1), ("ab", 2)].map(|(text, score)| (text.to_owned(), score));
        let vocabulary = vocabulary(&pieces);
        let merges = live_merges(&vocabulary).unwrap();
        let pairs: Vec<_> = merges.iter().map(|merge| (merge.left, merge.right)).collect();
        assert_eq!(pairs, [(0, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn merges_whose_order_shows_are_refused() {
        let pieces = [("ab", 0), ("ba", 0)].map(|(text, score)| (text.to_owned(), score));
        assert!(live_merges(&vocabulary(&pieces)).unwrap_err().contains("compete"));
        let chained = [("ab", 0), ("abb", 0)].map(|(text, score)| (text.to_owned(), score));
        assert!(live_merges(&vocabulary(&chained)).unwrap_err().contains("behind"));
    }
}
