//! Pieces with scores to merges: the meaning of a SentencePiece vocabulary, and a list of merges that means the same.
//!
//! Two neighbours are merged whenever what they make is a piece, the highest score first, the leftmost of
//! equal ones. So a piece has a merge for each of its cuts whose sides are pieces, all of the same priority.
//! Single characters that are no pieces merge there too, and become unknown only in the end; a vocabulary
//! where that can happen is refused, as units outside the alphabet merge with nothing here.
//!
//! In sorted order a piece comes after those that it begins with, so one pass finds them for all pieces, and another
//! over the reversed texts finds those that it ends with. Takes time linear in the text of the pieces, and sorting
//! them.
//!
//! Formats that list merges in order cannot say that the leftmost of several goes first, and need not:
//! **at most one cut of a piece ever happens.** Take a stretch of a text whose ends no merge has crossed so far. The merges
//! inside it were, one after the other, those of the stretch alone, since the best of all is the best of those inside. So two
//! neighbours are what their joined text, alone, becomes just before its last merge. That is one pair for each text, and
//! [`live_merges`] leaves the other cuts out.
//!
//! The remaining merges of different pieces may still share a priority. Then their order in the list must not matter: no
//! piece of such a group may be part of a merge that is not after the group, and of two merges that overlap (`a b c`, with
//! `ab` and `bc` of one priority) the left one must come first. Otherwise the vocabulary is refused.
//!
//! One kind of group builds on itself and occurs in published models: all repeats of a character, such as two to sixteen
//! spaces. In a run of the character the leftmost pair goes first, so there are finished tokens, one growing token, and
//! single characters. The last finished token may take in the growing one, the growing one may take in a character, or the
//! next two characters may begin a token: in this order by place, and also by the length of the result. So the longest are
//! listed first. Other merges may make longer repeats if they come after the group, whose own merges have no such part: when
//! one happens, the group has no merge left, and what it makes is no part of one.
//!
//! The list costs for each token the square of its length.

use std::collections::{HashMap, HashSet};

use crate::{inexpressible, quoted};
use bytepair::normalize::SPACE_SYMBOL;
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair_split::{Behaviour, Flavour, Pattern, Stage, first_begins};

/// A piece that takes part in merging.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'p> {
    pub(crate) id: TokenId,
    pub(crate) text: &'p str,
    pub(crate) score: f32,
}

/// Appends the merges of these pieces, which are different from each other.
///
/// # Errors
/// If a piece could be made of a character that is no piece.
pub(crate) fn push_merges(
    format: &'static str,
    vocabulary: &mut Vocabulary,
    pieces: &[Scored<'_>],
) -> Result<()> {
    let texts: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
    let reversed: Vec<Vec<u8>> = texts.iter().map(|text| text.bytes().rev().collect()).collect();
    let (beginnings, endings) = (longest_beginnings(&texts), longest_beginnings(&reversed));
    let mut order: Vec<_> = (0..pieces.len()).collect();
    order.retain(|&place| !is_one_character(pieces[place].text));
    order.sort_by(|&one, &other| {
        let (one, other) = (pieces[one], pieces[other]);
        other.score.total_cmp(&one.score).then(one.id.cmp(&other.id))
    });
    let (mut priority, mut last_score) = (0, None);
    for place in order {
        let piece = &pieces[place];
        if last_score.is_some_and(|score| score > piece.score) {
            priority += 1;
        }
        last_score = Some(piece.score);
        let len = |character: Option<char>| character.map_or(0, char::len_utf8);
        let lefts = parts(pieces, &beginnings, place, len(piece.text.chars().next()));
        let rights = parts(pieces, &endings, place, len(piece.text.chars().next_back()));
        let mut rights = rights.into_iter().peekable();
        for (left_len, left) in lefts.into_iter().rev() {
            let wanted = piece.text.len() - left_len;
            while rights.next_if(|(len, _)| *len > wanted).is_some() {}
            let Some((_, right)) = rights.next_if(|(len, _)| *len == wanted) else { continue };
            let (Some(left_id), Some(right_id)) = (left, right) else {
                let (left_text, right_text) = piece.text.split_at(left_len);
                let unit = left.map_or(left_text, |_| right_text);
                let problem = format!("it is made of {unit:?}, which is not a piece");
                return Err(Error::format(format, format!("piece {}", piece.id), problem));
            };
            let merge = Merge { left: left_id, right: right_id, result: piece.id };
            vocabulary.push_merge_with_priority(merge, priority);
        }
    }
    Ok(())
}

/// Where the text is cut before merging: between parts of it that no piece spans.
///
/// Neighbouring unknown characters that become one must stay together too, so `▁` has to be known.
pub(crate) fn cut_stages<'p, P: Iterator<Item = &'p str>>(
    pieces: impl Fn() -> P,
    fuses_unknown: bool,
) -> Vec<Stage> {
    if fuses_unknown && !pieces().any(|text| text == SPACE_SYMBOL) {
        return Vec::new();
    }
    let spans_cut = |text: &str, before_is_space: bool| {
        let is_space = || text.chars().map(|character| SPACE_SYMBOL.starts_with(character));
        is_space().zip(is_space().skip(1)).any(|pair| pair == (before_is_space, !before_is_space))
    };
    if !pieces().any(|text| spans_cut(text, false)) {
        return SPACE_SYMBOL.chars().map(first_begins).collect();
    }
    if pieces().any(|text| spans_cut(text, true)) {
        return Vec::new();
    }
    let pattern = Pattern { source: "[^▁]*▁+|[^▁]+".to_owned(), flavour: Flavour::Rust };
    vec![Stage { pattern, behaviour: Behaviour::Isolated, invert: false }]
}

fn is_one_character(text: &str) -> bool {
    text.chars().nth(1).is_none()
}

/// A part that a piece begins or ends with: its length, and its id unless it is a character that is no piece.
type Part = (usize, Option<TokenId>);

/// By place of a text: the place of the longest other text that it begins with.
fn longest_beginnings(texts: &[impl AsRef<[u8]>]) -> Vec<Option<usize>> {
    // The first eight bytes are compared as a number of the same order.
    let key = |text: &[u8]| {
        let mut key = [0; 8];
        key.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
        u64::from_be_bytes(key)
    };
    let text = |place: usize| texts[place].as_ref();
    let mut order: Vec<_> = (0..texts.len()).map(|place| (key(text(place)), place)).collect();
    order.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| text(one.1).cmp(text(other.1)))
    });
    let mut longest = vec![None; texts.len()];
    let mut open: Vec<usize> = Vec::new();
    for (_, place) in order {
        while open.pop_if(|part| !text(place).starts_with(text(*part))).is_some() {}
        longest[place] = open.last().copied();
        open.push(place);
    }
    longest
}

/// The parts on one side of a piece, the longest first; the last is a character of `character_len` bytes.
fn parts(
    pieces: &[Scored<'_>],
    longest: &[Option<usize>],
    place: usize,
    character_len: usize,
) -> Vec<Part> {
    let inner = std::iter::successors(longest[place], |&place| longest[place]);
    let part = |place: usize| (pieces[place].text.len(), Some(pieces[place].id));
    let mut parts: Vec<Part> = inner.map(part).collect();
    if parts.last().is_none_or(|(len, _)| *len > character_len) {
        parts.push((character_len, None));
    }
    parts
}

/// The most pairs of merges of one priority that are looked at.
const MAX_PAIRS: usize = 1 << 20;

/// The merges that can happen, in an order that gives the same tokens as the priorities of the vocabulary.
///
/// # Errors
/// If there is no such order; the message says why.
pub(crate) fn live_merges(format: &'static str, vocabulary: &Vocabulary) -> Result<Vec<Merge>> {
    let rules = Rules::new(format, vocabulary)?;
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
    format: &'static str,
    vocabulary: &'v Vocabulary,
    by_pair: HashMap<(TokenId, TokenId), (u32, TokenId)>,
}

impl<'v> Rules<'v> {
    fn new(format: &'static str, vocabulary: &'v Vocabulary) -> Result<Self> {
        let mut by_pair = HashMap::with_capacity(vocabulary.n_merges());
        let priorities = vocabulary.priorities();
        for (place, merge) in (0..).zip(vocabulary.merges()) {
            let priority = priorities.get(place as usize).copied().unwrap_or(place);
            let bytes = |id| vocabulary.token(id).map_or(&[][..], |token| token.bytes);
            let joined = [bytes(merge.left), bytes(merge.right)].concat();
            if joined != bytes(merge.result) {
                let part = format!(
                    "a merge that gives {} instead of {}",
                    quoted(bytes(merge.result)),
                    quoted(&joined)
                );
                return Err(inexpressible(format, part));
            }
            by_pair.insert((merge.left, merge.right), (priority, merge.result));
        }
        Ok(Self { format, vocabulary, by_pair })
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
    fn in_order(&self, group: &[(u32, Merge)], live: &[(u32, Merge)]) -> Result<Vec<Merge>> {
        let priority = group[0].0;
        let made: HashSet<TokenId> = group.iter().map(|(_, merge)| merge.result).collect();
        let are_repeats = self.are_all_repeats(group, live);
        let goes_on = live.iter().take_while(|(other, _)| *other <= priority).find(|(_, merge)| {
            let is_known = are_repeats && made.contains(&merge.result);
            !is_known && (made.contains(&merge.left) || made.contains(&merge.right))
        });
        if let Some((_, merge)) = goes_on {
            let part = format!(
                "the merge of {} and {}, which does not come after those that make its parts",
                self.name(merge.left),
                self.name(merge.right)
            );
            return Err(inexpressible(self.format, part));
        }
        if are_repeats {
            let mut merges: Vec<Merge> = group.iter().map(|(_, merge)| *merge).collect();
            merges.sort_by_key(|merge| std::cmp::Reverse(self.bytes(merge.result).len()));
            return Ok(merges);
        }
        // By merge: those that must come after it, and how many must come before it.
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
            Some(place) => Err(inexpressible(
                self.format,
                format!(
                    "merges of one priority that compete, such as that into {}: of two, the leftmost in the text goes first",
                    self.name(group[place].1.result)
                ),
            )),
        }
    }

    /// Pairs of merges that compete for a token in some text, the one on the left first.
    fn competing(&self, group: &[(u32, Merge)]) -> Result<Vec<(usize, usize)>> {
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
            return Err(inexpressible(self.format, "too many merges of one priority"));
        }
        pairs.retain(|&(place, other)| {
            let (merge, next) = (group[place].1, group[other].1);
            self.can_stand_so([merge.left, merge.right, next.right])
        });
        Ok(pairs)
    }

    /// Whether these merges make the repeats of a character of each other alone, and all other merges that make such
    /// repeats come after them.
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
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use bytepair::units::Units;
    use bytepair::{Parts, Tokenizer};

    /// Merges by trying every cut, or the piece that is made of a character that is none.
    fn naive(pieces: &[Scored<'_>]) -> std::result::Result<Vec<Merge>, TokenId> {
        let ids: HashMap<_, _> = pieces.iter().map(|piece| (piece.text, piece.id)).collect();
        let mut order: Vec<_> = pieces.iter().collect();
        order.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        let mut merges = Vec::new();
        for piece in order {
            for place in piece.text.char_indices().skip(1).map(|(place, _)| place) {
                let (left, right) = piece.text.split_at(place);
                let is_unit = |text: &str| ids.contains_key(text) || is_one_character(text);
                let merge = |left, right| Merge { left, right, result: piece.id };
                match (ids.get(left), ids.get(right)) {
                    (Some(&left), Some(&right)) => merges.push(merge(left, right)),
                    _ if is_unit(left) && is_unit(right) => return Err(piece.id),
                    _ => (),
                }
            }
        }
        Ok(merges)
    }

    proptest! {
        #[test]
        fn merges_are_those_of_every_cut(
            texts in prop::collection::btree_set("[abé▁]{1,5}|a{1,9}", 1..40),
            shuffle in any::<[u8; 8]>(),
            has_characters in prop::bool::weighted(0.8),
        ) {
            let mut texts: BTreeSet<String> = texts;
            if has_characters {
                texts.extend(["a", "b", "é", "▁"].map(str::to_owned));
            }
            let mut texts: Vec<_> = texts.into_iter().collect();
            let key = |place: usize| u64::from(shuffle[place % 8]) * place as u64 % 7;
            let mut keyed: Vec<_> = texts.drain(..).enumerate().collect();
            keyed.sort_by_key(|(place, _)| key(*place));
            let mut vocabulary = Vocabulary::new();
            let mut pieces = Vec::new();
            for (id, (place, text)) in (0..).zip(&keyed) {
                vocabulary.insert(id, Token::plain(text.as_bytes())).unwrap();
                let score = f32::from(shuffle[place % 8] % 5);
                pieces.push(Scored { id, text, score });
            }
            let pushed = push_merges("a model", &mut vocabulary, &pieces);
            match naive(&pieces) {
                Ok(merges) => prop_assert_eq!(vocabulary.merges(), merges),
                Err(id) => {
                    let part = format!("piece {id}");
                    prop_assert!(pushed.unwrap_err().to_string().contains(&part));
                }
            }
        }
    }

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

    /// Pieces with scores; or repeats of one score, with longer ones and perhaps another piece after them.
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
            let found = live_merges("a format", &scored);
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
        let merges = live_merges("a format", &vocabulary).unwrap();
        let last = merges.last().map(|merge| (merge.left, merge.right, merge.result));
        assert_eq!(last, Some((8, 8, 9)));
    }

    #[test]
    fn a_piece_keeps_the_cut_that_its_own_text_has() {
        let pieces =
            [("aa", 0), ("aaa", 1), ("ab", 2)].map(|(text, score)| (text.to_owned(), score));
        let vocabulary = vocabulary(&pieces);
        let merges = live_merges("a format", &vocabulary).unwrap();
        let pairs: Vec<_> = merges.iter().map(|merge| (merge.left, merge.right)).collect();
        assert_eq!(pairs, [(0, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn merges_whose_order_shows_are_refused() {
        let pieces = [("ab", 0), ("ba", 0)].map(|(text, score)| (text.to_owned(), score));
        assert!(
            live_merges("a format", &vocabulary(&pieces))
                .unwrap_err()
                .to_string()
                .contains("compete")
        );
        let chained = [("ab", 0), ("abb", 0)].map(|(text, score)| (text.to_owned(), score));
        assert!(
            live_merges("a format", &vocabulary(&chained))
                .unwrap_err()
                .to_string()
                .contains("come after")
        );
    }
}
