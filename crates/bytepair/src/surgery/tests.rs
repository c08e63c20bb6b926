//! The guarantees over small random vocabularies of all dialects, each beside a definition that rebuilds everything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::added::AddedToken;
use crate::count::PieceCounts;
use crate::template::{Padding, Side, Template};
use crate::test_support::{added_token, bytes_vocabulary};
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::{ByteIds, EndMark, EndMarkKind, Units, published_name};
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

fn any_units() -> impl Strategy<Value = Units> {
    let marked = |kind| Units {
        end_mark: Some(EndMark { text: "$".to_owned(), kind }),
        ..Units::characters()
    };
    let unknown = Some("[UNK]".to_owned());
    let prefix = Some("##".to_owned());
    prop::sample::select(vec![
        Units::bytes(ByteIds::Value),
        Units::characters(),
        Units { unknown: unknown.clone(), fuse_unknown: true, ..Units::characters() },
        Units { byte_fallback: true, unknown, ..Units::characters() },
        marked(EndMarkKind::Unit),
        marked(EndMarkKind::Suffix),
        Units { continuing_prefix: prefix.clone(), ..Units::characters() },
        Units { continuing_prefix: prefix, ..marked(EndMarkKind::Suffix) },
    ])
}

/// The alphabet of `a`, `b` and `é` in all forms, and what stands for other units.
fn alphabet(units: &Units) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    let mut push = |kind, bytes: &[u8]| {
        vocabulary.push(Token { kind, bytes }).unwrap();
    };
    let letters: &[&[u8]] = match units.is_bytes() {
        true => &[b"a", b"b", &[0xC3], &[0xA9]],
        false => &[b"a", b"b", "é".as_bytes()],
    };
    for bytes in letters {
        for (continues, ends) in [(false, false), (true, false), (false, true), (true, true)] {
            let fits = (!continues || units.continuing_prefix.is_some())
                && (!ends || units.end_mark_kind() == Some(EndMarkKind::Suffix));
            if fits {
                push(TokenKind::Text(Form::new(continues, ends)), bytes);
            }
        }
    }
    if units.end_mark_kind() == Some(EndMarkKind::Unit) {
        push(TokenKind::ENDING, b"");
    }
    if units.byte_fallback {
        (0..=255).for_each(|byte| push(TokenKind::Byte, &[byte]));
    }
    if let Some(unknown) = &units.unknown {
        push(TokenKind::Unknown, unknown.as_bytes());
    }
    vocabulary
}

#[derive(Clone, Debug)]
struct Plan {
    units: Units,
    picks: Vec<(u16, u16)>,
    swaps: Vec<(u16, u16)>,
    priorities: Vec<u32>,
    ignore_merges: bool,
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let picks = prop::collection::vec(any::<(u16, u16)>(), 0..14);
    let swaps = prop::collection::vec(any::<(u16, u16)>(), 0..3);
    let priorities = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(0..5_u32, 1..4)];
    (any_units(), picks, swaps, priorities, prop::bool::weighted(0.3)).prop_map(
        |(units, picks, swaps, priorities, ignore_merges)| Plan {
            units,
            picks,
            swaps,
            priorities,
            ignore_merges,
        },
    )
}

/// A vocabulary of the alphabet, a token that no merge makes, merges in any order, and two added tokens.
fn tokenizer(plan: &Plan) -> Tokenizer {
    let units = &plan.units;
    let mut grown = alphabet(units);
    let special = grown.push(Token { kind: TokenKind::Added, bytes: b"<s>" }).unwrap();
    let word = grown.push(Token { kind: TokenKind::Added, bytes: b"<w>" }).unwrap();
    grown.insert(word + 2, Token::plain(b"aabb")).unwrap();
    let texts = |vocabulary: &Vocabulary| -> Vec<(TokenId, Form)> {
        let form = |(id, token): (TokenId, Token<'_>)| match token.kind {
            TokenKind::Text(form) => Some((id, form)),
            _ => None,
        };
        vocabulary.iter().filter_map(form).collect()
    };
    for &(left, right) in &plan.picks {
        let texts = texts(&grown);
        let lefts: Vec<_> = texts.iter().filter(|(_, form)| !form.ends()).collect();
        let has_prefix = units.continuing_prefix.is_some();
        let is_right = |(_, form): &&(TokenId, Form)| !has_prefix || form.continues();
        let rights: Vec<_> = texts.iter().filter(is_right).collect();
        let left = lefts[usize::from(left) % lefts.len()].0;
        let right = rights[usize::from(right) % rights.len()].0;
        let is_new = !grown.merges().iter().any(|merge| (merge.left, merge.right) == (left, right));
        if is_new && grown.merged(left, right).unwrap().1.len() <= 9 {
            grown.push_merge(left, right).unwrap();
        }
    }
    let mut merges = grown.merges().to_vec();
    let n_merges = merges.len();
    for &(one, other) in plan.swaps.iter().filter(|_| n_merges > 0) {
        merges.swap(usize::from(one) % n_merges, usize::from(other) % n_merges);
    }
    grown.set_merges(Vec::new());
    for (place, merge) in merges.into_iter().enumerate() {
        match plan.priorities.as_slice() {
            [] => grown.push_merge_to(merge),
            some => grown.push_merge_with_priority(merge, some[place % some.len()]),
        }
    }
    let added = |id, content, special| AddedToken { id, special, ..added_token(content) };
    let padding = Padding {
        length: None,
        multiple_of: None,
        side: Side::Right,
        id: special,
        type_id: 0,
        token: "<s>".to_owned(),
    };
    Tokenizer::new(Parts {
        added: vec![added(special, "<s>", true), added(word, "<w>", false)],
        ignore_merges: plan.ignore_merges,
        template: Template::around(&[special], &[]),
        padding: Some(padding),
        ..Parts::new(plan.units.clone(), Arc::new(grown))
    })
    .unwrap()
}

/// Whether a token may carry a mark that a piece does not.
fn has_forms(units: &Units) -> bool {
    units.continuing_prefix.is_some() || units.end_mark_kind() == Some(EndMarkKind::Suffix)
}

fn with_vocabulary(tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Tokenizer {
    let vocabulary = Arc::new(vocabulary.clone());
    Tokenizer::new(Parts { vocabulary, ..tokenizer.parts().clone() }).unwrap()
}

/// The ids of a text, or nothing where it has none.
fn ids(tokenizer: &Tokenizer, text: &str) -> Option<Vec<TokenId>> {
    tokenizer.encode_ordinary(text.as_bytes()).ok()
}

/// Where the tokens of a text end, in bytes of tokens.
fn ends(tokenizer: &Tokenizer, ids: &[TokenId]) -> BTreeSet<usize> {
    let len = |id: &TokenId| tokenizer.parts().vocabulary.token(*id).unwrap().bytes.len();
    let lens = ids.iter().map(len);
    lens.scan(0, |end, len| {
        *end += len;
        Some(*end)
    })
    .collect()
}

fn unmade(tokenizer: &Tokenizer) -> HashSet<TokenId> {
    tokenizer.encoder().unmade().into_iter().collect()
}

/// Whether all of the first tokenizer is in the second as it was.
fn assert_extends(base: &Tokenizer, larger: &Tokenizer) {
    let (before, after) = (&base.parts().vocabulary, &larger.parts().vocabulary);
    for id in 0..u32::try_from(before.len()).unwrap() {
        assert_eq!(before.token(id), after.token(id));
    }
    let n_merges = before.n_merges();
    assert_eq!(before.merges(), &after.merges()[..n_merges]);
    if !before.priorities().is_empty() {
        assert_eq!(before.priorities(), &after.priorities()[..n_merges]);
        let highest = before.priorities().iter().max();
        assert!(after.priorities()[n_merges..].iter().all(|new| Some(new) > highest));
    }
    assert_eq!(&base.parts().added, &larger.parts().added);
    assert_eq!(&base.parts().template, &larger.parts().template);
    assert_eq!(&base.parts().padding, &larger.parts().padding);
}

/// Whether the second tokenizer only joins tokens that the first one gives.
fn assert_coarser(base: &Tokenizer, larger: &Tokenizer, text: &str) {
    let (Some(before), Some(after)) = (ids(base, text), ids(larger, text)) else {
        assert_eq!(ids(base, text).is_some(), ids(larger, text).is_some());
        return;
    };
    assert!(after.len() <= before.len());
    assert!(ends(larger, &after).is_subset(&ends(base, &before)), "{before:?} {after:?}");
}

/// The definition of the rule of two, without helpers: a tokenizer is made anew for each string.
fn extended_by_definition(base: &Tokenizer, texts: &[String]) -> Vocabulary {
    let mut vocabulary = (*base.parts().vocabulary).clone();
    for text in texts {
        let tokenizer = with_vocabulary(base, &vocabulary);
        let Some(ids) = ids(&tokenizer, text) else { continue };
        let all_text =
            ids.iter().all(|&id| matches!(vocabulary.token(id).unwrap().kind, TokenKind::Text(_)));
        if !all_text || ids.len() < 2 {
            continue;
        }
        let parts = base.parts();
        let (kind, _) = vocabulary.merged(ids[0], ids[ids.len() - 1]).unwrap();
        let token = Token { kind, bytes: text.as_bytes() };
        let name = published_name(&parts.units, token);
        let is_taken = vocabulary.id(token).is_none()
            && vocabulary.iter().any(|(_, other)| published_name(&parts.units, other) == name);
        if is_taken {
            continue;
        }
        let ends = parts.units.end_mark_kind() == Some(EndMarkKind::Unit);
        let whole = TokenKind::Text(Form::new(false, ends));
        match ids[..] {
            [left, right] => {
                let result = vocabulary.push(token).unwrap();
                let merge = Merge { left, right, result };
                match vocabulary.priorities().iter().max() {
                    None => vocabulary.push_merge_to(merge),
                    Some(&highest) => vocabulary.push_merge_with_priority(merge, highest + 1),
                }
            }
            _ if parts.ignore_merges && kind == whole => {
                vocabulary.push(token).unwrap();
            }
            _ => {}
        }
    }
    vocabulary
}

fn assert_same(one: &Vocabulary, other: &Vocabulary) {
    assert!(one.iter().eq(other.iter()));
    assert_eq!(one.merges(), other.merges());
    assert_eq!(one.priorities(), other.priorities());
}

/// Without these tokens and every merge that has one, by the definition; ids stay.
fn without_by_definition(base: &Tokenizer, goes: &HashSet<TokenId>) -> Tokenizer {
    let before = &base.parts().vocabulary;
    let mut vocabulary = Vocabulary::new();
    for (id, token) in before.iter().filter(|(id, _)| !goes.contains(id)) {
        vocabulary.insert(id, token).unwrap();
    }
    for (place, merge) in (0_u32..).zip(before.merges()) {
        if [merge.left, merge.right, merge.result].iter().all(|id| !goes.contains(id)) {
            let priority = before.priorities().get(place as usize).copied();
            vocabulary.push_merge_with_priority(*merge, priority.unwrap_or(place));
        }
    }
    let mut parts = base.parts().clone();
    parts.added.retain(|token| !goes.contains(&token.id));
    Tokenizer::new(Parts { vocabulary: Arc::new(vocabulary), ..parts }).unwrap()
}

/// Tokens that may go, chosen by numbers.
fn chosen(tokenizer: &Tokenizer, picks: &[u16]) -> Vec<TokenId> {
    let reasons = tokenizer.reasons_to_stay();
    let ids = tokenizer.parts().vocabulary.iter().map(|(id, _)| id);
    let free: Vec<_> = ids.filter(|&id| reasons[id as usize].is_none()).collect();
    let pick = |&pick: &u16| free.get(usize::from(pick) % free.len().max(1)).copied();
    picks.iter().filter_map(pick).collect()
}

fn mapped(id_map: &[Option<TokenId>], ids: Option<Vec<TokenId>>) -> Option<Vec<Option<TokenId>>> {
    Some(ids?.into_iter().map(|id| id_map[id as usize]).collect())
}

fn texts(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[abé]{1,5}|[abéx]{1,9}|(ab){1,4}", 0..most)
}

proptest! {
    #[test]
    fn an_extension_keeps_all_that_was_and_only_joins_tokens(
        plan in any_plan(),
        strings in texts(7),
        may_help: bool,
        seen in texts(20),
    ) {
        let base = tokenizer(&plan);
        let strings_given: Vec<_> = strings.iter().map(String::as_str).collect();
        let extended = base.extend_with_strings(&strings_given, may_help);
        if plan.ignore_merges && has_forms(&plan.units) {
            prop_assert!(extended.is_err());
            return Ok(());
        }
        let extended = extended.unwrap();
        let larger = &extended.tokenizer;
        assert_extends(&base, larger);
        let n_before = u32::try_from(base.parts().vocabulary.len()).unwrap();
        let (not_before, not_now) = (unmade(&base), unmade(larger));
        let mut new = HashSet::new();
        for (text, report) in strings.iter().zip(&extended.reports) {
            if let Some(id) = report.id {
                prop_assert_eq!(ids(larger, text), Some(vec![id]));
                let made: Vec<_> = match report.outcome {
                    Outcome::Added => report.helpers.iter().copied().chain([id]).collect(),
                    _ => vec![],
                };
                prop_assert!(made.iter().all(|id| !not_now.contains(id)));
                new.extend(made);
                new.insert(id);
            }
            new.extend(&report.helpers);
            prop_assert!(may_help || report.helpers.is_empty());
            let is_open = report.outcome == Outcome::NeedsHelpers;
            prop_assert!(!is_open || !may_help && report.parts.len() > 2);
        }
        let all_ids = larger.parts().vocabulary.iter().map(|(id, _)| id);
        prop_assert!(all_ids.filter(|&id| id >= n_before).all(|id| new.contains(&id)));
        let lost = not_now.iter().filter(|id| **id < n_before && !not_before.contains(id));
        prop_assert_eq!(lost.count(), 0);
        for text in strings.iter().chain(&seen) {
            assert_coarser(&base, larger, text);
        }
        if !may_help {
            assert_same(&larger.parts().vocabulary, &extended_by_definition(&base, &strings));
        }
        if base.parts().vocabulary.len() == larger.parts().vocabulary.len() && new.is_empty() {
            assert_same(&larger.parts().vocabulary, &base.parts().vocabulary);
        }
    }

    #[test]
    fn removal_takes_no_more_than_what_stands_on_it_and_harms_nothing_else(
        plan in any_plan(),
        picks in prop::collection::vec(any::<u16>(), 0..3),
        reroutes: bool,
        seen in texts(20),
    ) {
        let base = tokenizer(&plan);
        let asked = chosen(&base, &picks);
        let mode = if reroutes { Mode::Reroute } else { Mode::Cascade };
        let removed = base.without(&asked, mode, Numbering::Holes).unwrap();
        let goes: HashSet<_> = removed.removed.iter().copied().collect();
        prop_assert!(asked.iter().all(|id| goes.contains(id)));
        let (before, after) = (unmade(&base), unmade(&removed.tokenizer));
        prop_assert!(after.is_subset(&before));
        let cascade = base.built_on(&asked).unwrap();
        prop_assert!(goes.iter().all(|id| cascade.iter().any(|(found, _)| found == id)));
        for (id, token) in base.parts().vocabulary.iter() {
            let now = removed.tokenizer.parts().vocabulary.token(id);
            prop_assert_eq!(now, (!goes.contains(&id)).then_some(token));
        }
        for way in &removed.rerouted {
            prop_assert!(!goes.contains(&way.now.result));
            prop_assert_eq!(way.before.result, way.now.result);
            let parts = [way.now.left, way.now.right];
            prop_assert!(parts.iter().all(|id| !goes.contains(id)));
        }
        if removed.rerouted.is_empty() {
            // All that goes is no longer made, or was asked for: nothing goes in vain.
            let only_asked = asked.iter().copied().collect();
            let lost = unmade(&without_by_definition(&base, &only_asked));
            prop_assert!(lost.iter().all(|id| before.contains(id) || goes.contains(id)));
            let twin = without_by_definition(&base, &goes);
            for text in &seen {
                prop_assert_eq!(ids(&removed.tokenizer, text), ids(&twin, text));
            }
        }
    }

    #[test]
    fn every_part_gets_the_new_ids(
        plan in any_plan(),
        picks in prop::collection::vec(any::<u16>(), 0..3),
        seen in texts(20),
    ) {
        let base = tokenizer(&plan);
        let asked = chosen(&base, &picks);
        let holes = base.without(&asked, Mode::Cascade, Numbering::Holes).unwrap();
        let compact = base.without(&asked, Mode::Cascade, Numbering::Compact).unwrap();
        let reserved = base.without(&asked, Mode::Cascade, Numbering::Reserved).unwrap();
        let (old, new) = (&base.parts().vocabulary, &compact.tokenizer.parts().vocabulary);
        prop_assert_eq!(new.iter().count(), new.len());
        let kept = compact.id_map.iter().flatten().copied();
        prop_assert!(kept.eq(0..u32::try_from(new.len()).unwrap()));
        for (id, token) in old.iter() {
            let now = compact.id_map[id as usize];
            prop_assert_eq!(now.is_none(), compact.removed.contains(&id));
            prop_assert_eq!(now.and_then(|now| new.token(now)), now.map(|_| token));
            let kept = holes.id_map[id as usize];
            prop_assert!(kept.is_none_or(|kept| kept == id));
            prop_assert!(reserved.tokenizer.parts().vocabulary.token(id).is_some());
        }
        let special = compact.tokenizer.parts().added[0].clone();
        let is_special = |id: TokenId| id == special.id && special.content == "<s>";
        prop_assert!(compact.tokenizer.parts().template.special_ids().all(is_special));
        prop_assert!(is_special(compact.tokenizer.parts().padding.as_ref().unwrap().id));
        prop_assert_eq!(new.token(special.id).unwrap().bytes, b"<s>");
        for text in &seen {
            let expected = mapped(&compact.id_map, ids(&holes.tokenizer, text));
            let found = ids(&compact.tokenizer, text);
            prop_assert_eq!(found.map(|ids| ids.into_iter().map(Some).collect()), expected);
            prop_assert_eq!(ids(&reserved.tokenizer, text), ids(&holes.tokenizer, text));
        }
    }

    #[test]
    fn pruning_takes_the_rarest_leaf_by_counts_of_the_vocabulary_that_is_left(
        plan in any_plan(),
        n_gone in 0..9_usize,
        min_count in prop::option::of(0..4_i64),
        named in prop::option::of(prop::collection::vec(any::<bool>(), 40)),
        pieces in prop::collection::vec(("[abé]{1,9}", 1..5_i64), 0..9),
    ) {
        let base = tokenizer(&plan);
        let mut counts = PieceCounts::new();
        for (piece, count) in &pieces {
            counts.add(piece.as_bytes(), *count, None).unwrap();
        }
        let n_tokens = base.parts().vocabulary.iter().count();
        let to = (n_gone < 8 || min_count.is_none()).then(|| n_tokens - n_gone.min(n_tokens));
        let among = named.map(|named: Vec<bool>| named.repeat(base.parts().vocabulary.len() / 40 + 1));
        let goal = Goal { to, min_count, among: among.as_deref() };
        let expected = pruned_by_definition(&base, goal, &counts);
        let pruned = base.pruned(goal, &counts, Numbering::Holes);
        match expected {
            None => prop_assert!(pruned.is_err()),
            Some(expected) => {
                let pruned = pruned.unwrap();
                prop_assert_eq!(pruned.removed, expected);
                prop_assert!(unmade(&pruned.tokenizer).is_subset(&unmade(&base)));
            }
        }
    }

    #[test]
    fn a_second_vocabulary_extends_the_first(
        plan in any_plan(),
        other in any_plan(),
        may_help: bool,
        seen in texts(20),
    ) {
        let base = tokenizer(&plan);
        let other = tokenizer(&Plan { units: plan.units.clone(), ..other });
        let merged = base.merge_with(&other, may_help);
        if plan.ignore_merges && has_forms(&plan.units) {
            prop_assert!(merged.is_err());
            return Ok(());
        }
        let (larger, reports) = merged.unwrap();
        assert_extends(&base, &larger);
        let not_made = unmade(&larger);
        for (id, report) in (0_u32..).zip(&reports) {
            let token = other.parts().vocabulary.token(id);
            let is_text = token.is_some_and(|token| matches!(token.kind, TokenKind::Text(_)));
            prop_assert_eq!(report.is_some(), is_text);
            let Some((report, token)) = report.as_ref().zip(token) else { continue };
            if let Some(id) = report.id {
                prop_assert_eq!(larger.parts().vocabulary.token(id), Some(token));
                prop_assert!(!not_made.contains(&id));
            }
            let is_open = report.outcome == Outcome::NeedsHelpers;
            prop_assert!(report.id.is_some() || is_open && !may_help);
        }
        for text in &seen {
            assert_coarser(&base, &larger, text);
        }
    }
}

/// The tokens that go, each with its count then: after each one everything is made and counted again. `None` if too few may go.
fn pruned_by_definition(
    base: &Tokenizer,
    goal: Goal<'_>,
    counts: &PieceCounts,
) -> Option<Vec<(TokenId, i64)>> {
    let (ground, reasons) = (base.ground().unwrap(), base.reasons_to_stay());
    let mut goes = HashSet::new();
    let mut removed = Vec::new();
    let n_tokens = base.parts().vocabulary.iter().count();
    while n_tokens - removed.len() > goal.to.unwrap_or(0) {
        let tokenizer = without_by_definition(base, &goes);
        let mut n_uses = HashMap::<_, i64>::new();
        for (piece, count, _) in counts.iter() {
            let ids = tokenizer.encode_ordinary(piece).unwrap();
            ids.into_iter().for_each(|id| *n_uses.entry(id).or_default() += count);
        }
        let is_leaf = |id: &TokenId| {
            let may_go = goal.among.is_none_or(|among| among[*id as usize]);
            may_go
                && reasons[*id as usize].is_none()
                && base.parts().added.iter().all(|token| token.id != *id)
                && ground.above(*id).iter().all(|above| goes.contains(above))
        };
        let leaves = tokenizer.parts().vocabulary.iter().map(|(id, _)| id).filter(is_leaf);
        let key = |id: &TokenId| {
            let place = ground.parts(*id).iter().map(|(place, _)| *place).max();
            let n_uses = n_uses.get(id).copied().unwrap_or_default();
            (n_uses, u32::MAX - place.unwrap_or(u32::MAX), u32::MAX - id)
        };
        let Some(next) = leaves.min_by_key(key) else {
            return goal.to.is_none().then_some(removed);
        };
        let n_uses = n_uses.get(&next).copied().unwrap_or_default();
        if goal.min_count.is_some_and(|min_count| n_uses >= min_count) {
            break;
        }
        removed.push((next, n_uses));
        goes.insert(next);
    }
    Some(removed)
}

/// Bytes, and merges of these strings' pairs in turn.
fn of_bytes(merges: &[(&str, &str)]) -> Tokenizer {
    let mut vocabulary = bytes_vocabulary();
    for (left, right) in merges {
        let [left, right] = [left, right].map(|part| vocabulary.id(Token::plain(part.as_bytes())));
        vocabulary.push_merge(left.unwrap(), right.unwrap()).unwrap();
    }
    Tokenizer::new(Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary))).unwrap()
}

#[test]
fn a_descendant_goes_with_its_part_or_is_made_another_way() {
    // `abc` is `ab` and `c`; without `ab` it may be `a` and `bc`.
    let base = of_bytes(&[("a", "b"), ("ab", "c"), ("b", "c")]);
    let built_on = base.built_on(&[256]).unwrap();
    assert_eq!(built_on, [(256, vec![97, 98]), (257, vec![256, 99])]);
    let cascade = base.without(&[256], Mode::Cascade, Numbering::Compact).unwrap();
    assert_eq!(cascade.removed, [256, 257]);
    assert_eq!(cascade.tokenizer.encode_ordinary(b"abc").unwrap(), [97, 256]);
    let rerouted = base.without(&[256], Mode::Reroute, Numbering::Holes).unwrap();
    assert_eq!(rerouted.removed, [256]);
    let now = Merge { left: 97, right: 258, result: 257 };
    assert_eq!(rerouted.rerouted, [Rerouted { before: base.parts().vocabulary.merges()[1], now }]);
    assert_eq!(rerouted.tokenizer.encode_ordinary(b"abc").unwrap(), [257]);
}
