//! Words of raw text beside the text that is normalized as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::Classes;
use crate::added::AddedToken;
use crate::normalize::{NormalizeStep, SentencePiece, SentencePieceRules, UnicodeForm};
use crate::pretokenize::{PreTokenizer, Round};
use crate::test_support::{added_token, normalizer, pattern, prepend, replace};
use crate::tokenizer::tests::in_stretches;
use crate::tokenizer::{EncodeOptions, Parts, Tokenizer};
use crate::units::{Missing, Units};
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Splitter, Stage, Unmatched};

/// What vocabularies may have; texts have more.
const CHARACTERS: [&str; 10] = ["▁", "a", "b", ".", "-", "中", "\n", "c", "1", "2"];

/// Some characters, and tokens made of them and of one another.
fn vocabulary(n_characters: usize, has_bytes: bool, picks: &[(u8, u8)]) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    vocabulary.push(Token { kind: TokenKind::Unknown, bytes: b"<unk>" }).unwrap();
    if has_bytes {
        for byte in 0..=255 {
            vocabulary.push(Token { kind: TokenKind::Byte, bytes: &[byte] }).unwrap();
        }
    }
    let first = vocabulary.len();
    for character in &CHARACTERS[..n_characters] {
        vocabulary.push(Token::plain(character.as_bytes())).unwrap();
    }
    for &(left, right) in picks {
        let n = vocabulary.len() - first;
        let id = |pick: u8| TokenId::try_from(first + usize::from(pick) % n).unwrap();
        drop(vocabulary.push_merge(id(left), id(right)));
    }
    vocabulary
}

/// When a text is changed, and what cuts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    First,
    /// And then cut where the character is that no text has any more.
    FirstAndCut,
    Late,
    /// And then cut before each `▁`.
    LateAndCut,
    /// By the step of SentencePiece.
    Own,
    /// And then cut before the first `▁` of several.
    OwnAndCut,
}

const WAYS: [Way; 6] =
    [Way::First, Way::FirstAndCut, Way::Late, Way::LateAndCut, Way::Own, Way::OwnAndCut];

/// To which all that is said in `steps` happens, and something else before it.
fn parts(
    before: Vec<NormalizeStep>,
    (vocabulary, units): (Vocabulary, Units),
    steps: Vec<NormalizeStep>,
    way: Way,
) -> Parts {
    let parts = Parts::new(units, Arc::new(vocabulary));
    let pattern = |source| pattern(source, Flavour::Rust);
    let stage = match way {
        Way::First | Way::Late | Way::Own => None,
        Way::FirstAndCut => {
            let behaviour = Behaviour::MergedWithPrevious;
            Some(Stage { pattern: pattern(r"\x{20}"), behaviour, invert: false })
        }
        Way::OwnAndCut => Some(Stage::matches(pattern("▁*[^▁]+|▁+"), Unmatched::Keep)),
        Way::LateAndCut => {
            let words = pattern(r"\x{2581}?[^\x{2581}]+|\x{2581}");
            Some(Stage::matches(words, Unmatched::Keep))
        }
    };
    let stages = stage.into_iter().collect();
    let splitter = Splitter::new(stages, &UnicodeTables::latest()).unwrap();
    if matches!(way, Way::Own | Way::OwnAndCut) {
        let rules = SentencePieceRules {
            adds_space: steps.len() > 1,
            escapes_spaces: true,
            ..SentencePieceRules::default()
        };
        let step = NormalizeStep::SentencePiece(SentencePiece::new(rules).unwrap());
        let normalizer = normalizer([before, vec![step]].concat());
        return Parts { normalizer, pre_tokenizer: splitter.into(), ..parts };
    }
    if matches!(way, Way::First | Way::FirstAndCut) {
        let normalizer = normalizer([before, steps].concat());
        return Parts { normalizer, pre_tokenizer: splitter.into(), ..parts };
    }
    let round = Round { change: normalizer(steps), splitter };
    let pre_tokenizer = PreTokenizer::new(vec![round]);
    Parts { normalizer: normalizer(before), pre_tokenizer, ..parts }
}

/// As a message where it is an error.
fn ids(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<TokenId>, String> {
    let found = tokenizer.encode(text, EncodeOptions::default());
    found.map_err(|error| error.to_string())
}

/// By the normalized text as a whole.
fn slow_ids(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<TokenId>, String> {
    let found = tokenizer.encode_full(text, None, EncodeOptions::default());
    found.map(|found| found.ids).map_err(|error| error.to_string())
}

proptest! {
    #[test]
    fn words_of_a_raw_text_have_the_ids_of_the_normalized_text(
        picks in prop::collection::vec(any::<(u8, u8)>(), 0..12),
        n_characters in 2..=CHARACTERS.len(),
        way in prop::sample::select(&WAYS[..]),
        [has_bytes, has_unknown, fuses, drops, prepends_late, ignore_merges]: [bool; 6],
        prepends in prop::option::of((prop::sample::select(&["▁", " ", "a", "1"][..]), any::<(bool, bool)>())),
        before in prop::sample::select(vec![
            vec![],
            vec![NormalizeStep::Form(UnicodeForm::Nfkc), replace("c", "")],
            vec![replace("-", " "), NormalizeStep::Lowercase],
            vec![replace(".", "▁a ")],
            vec![prepend(" ", false, true)],
        ]),
        texts in prop::collection::vec("([ab.\\-中c]{1,6}|[ ▁]{1,3}|\n{1,3}|[12]{1,4}|[é☃]{1,2}|<t>|[ab ]{20,40}){0,30}", 1..5),
    ) {
        let mut vocabulary = vocabulary(n_characters, has_bytes, &picks);
        let id = vocabulary.push(Token { kind: TokenKind::Added, bytes: b"<t>" }).unwrap();
        let units = Units {
            unknown: has_unknown.then(|| "<unk>".to_owned()),
            fuse_unknown: fuses,
            byte_fallback: has_bytes,
            missing: if drops { Missing::Drop } else { Missing::Error },
            ..Units::characters()
        };
        let mut steps = vec![replace(" ", "▁")];
        if let Some((put, (only_first, unless_there))) = prepends {
            steps.insert(usize::from(prepends_late), prepend(put, only_first, unless_there));
        }
        let parts = parts(before, (vocabulary, units), steps, way);
        let mut parts = Parts { ignore_merges, ..parts };
        parts.added = vec![AddedToken { id, ..added_token("<t>") }];
        let tokenizer = Tokenizer::new(parts).unwrap();
        for (number, text) in texts.into_iter().enumerate() {
            let mut text = text.into_bytes();
            if number % 3 == 2 {
                text.push(0xFF);
            }
            let expected = slow_ids(&tokenizer, &text);
            prop_assert_eq!(ids(&tokenizer, &text), expected.clone());
            prop_assert_eq!(ids(&tokenizer, &text), expected.clone(), "known text");
            let options = EncodeOptions::default();
            let cut = in_stretches(&tokenizer, &text, options, (5, 2));
            prop_assert_eq!(cut.ok(), expected.ok());
        }
    }
}

/// A vocabulary of all characters, with merges of those at these places.
fn with_merges(merges: &[(u8, u8)], way: Way, change: impl FnOnce(&mut Parts)) -> Tokenizer {
    let steps = vec![prepend("▁", false, false), replace(" ", "▁")];
    let units = Units { byte_fallback: true, ..Units::characters() };
    let mut parts = parts(vec![], (vocabulary(CHARACTERS.len(), true, merges), units), steps, way);
    change(&mut parts);
    Tokenizer::new(parts).unwrap()
}

#[test]
fn texts_are_cut_into_words_where_that_is_proven() {
    // `▁a`, `ab`, `.▁` and `.▁a`.
    let merges = [(0, 1), (1, 2), (3, 0), (10, 1)];
    let words = |tokenizer: &Tokenizer, text: &str| {
        let pieces = tokenizer.word_splitter()?.pieces(text.as_bytes()).unwrap();
        let words = pieces.into_iter().map(|piece| String::from_utf8(piece.to_vec()).unwrap());
        Some(words.collect::<Vec<_>>().join("|"))
    };
    let plain = with_merges(&merges, Way::First, |_| {});
    let found = words(&plain, "ab  a▁b. c..\n\n a \n.");
    assert_eq!(found.as_deref(), Some("ab|  a|▁b. c..|\n\n| a| |\n|."));
    // `\n▁`.
    let joined = with_merges(&[(6, 0)], Way::First, |_| {});
    assert_eq!(words(&joined, "a b\n c.\na").as_deref(), Some("a| b\n c.\na"));
    // `▁a`, `ab` and `.-`.
    let apart = with_merges(&[(0, 1), (1, 2), (3, 4)], Way::First, |_| {});
    let found = words(&apart, "ab.-  a12▁.b\n1");
    assert_eq!(found.as_deref(), Some("ab|.-|  a|12|▁.|b|\n1"));
    let void = with_merges(&merges, Way::FirstAndCut, |_| {});
    assert_eq!(words(&void, "ab  a▁b"), words(&plain, "ab  a▁b"));
    let each = with_merges(&merges, Way::LateAndCut, |_| {});
    assert_eq!(words(&each, "ab  a.▁b\n c").as_deref(), Some("ab| | a|.|▁b|\n| c"));
    let is_cut =
        |change: fn(&mut Parts)| words(&with_merges(&merges, Way::First, change), "a b").is_some();
    assert!(is_cut(|_| {}));
    assert!(!is_cut(|parts| parts.ignore_merges = true));
    assert!(!is_cut(|parts| parts.normalizer = normalizer(vec![replace("a", "b")])));
    let lowers = |spells: NormalizeStep, place: usize| {
        let mut steps = vec![NormalizeStep::Lowercase];
        steps.insert(place, spells);
        with_merges(&merges, Way::First, |parts| parts.normalizer = normalizer(steps))
    };
    assert!(words(&lowers(replace(" ", "▁"), 1), "a b").is_some());
    assert!(words(&lowers(replace(" ", "▁"), 0), "a b").is_none());
    assert!(!is_cut(|parts| {
        parts.added = vec![AddedToken { normalized: true, ..added_token("<unk>") }];
    }));
}

#[test]
fn signs_are_what_is_joined_to_no_letter_also_by_way_of_other_signs() {
    let pairs = [('a', 'b'), ('.', ','), ('\'', 's'), ('"', '\''), ('▁', '('), ('1', '▁')];
    let Classes { signs, alone, before_spaces } = Classes::new(&pairs.into(), [' ', '▁']);
    assert!(['.', ',', '('].iter().all(|sign| signs.contains(sign)));
    assert!(['\'', '"', 'a', '2', '\n'].iter().all(|other| !signs.contains(other)));
    assert!(alone.contains(&'2') && alone.contains(&'\n') && !alone.contains(&'1'));
    assert_eq!(before_spaces, BTreeSet::from(['1']));
}
