//! What is found of added tokens, and what belongs to them.

use proptest::prelude::*;

use super::*;
use crate::dictionary::Occurrence;

fn token(id: TokenId, content: &str) -> AddedToken {
    AddedToken { id, ..crate::test_support::added_token(content) }
}

fn matcher(tokens: &[AddedToken], pieces_are_text: bool) -> Matcher {
    let (normalizer, units) = (&Normalizer::default(), &Units::characters());
    let matched = MatchedText { normalizer, units, pieces_are_text };
    Matcher::new(tokens, matched, Specials::All).unwrap()
}

/// The parts of a text: what stands for each token, and text in brackets.
fn cut(tokens: &[AddedToken], text: &str) -> Vec<String> {
    let matcher = matcher(tokens, false);
    let mut parts = Vec::new();
    let visit = |part| {
        parts.push(match part {
            Part::Token(id, place) => format!("{id}={}", &text[place]),
            Part::Text(place) => format!("[{}]", &text[place]),
        });
        Ok(())
    };
    matcher.raw.cut(text.as_bytes(), visit).unwrap();
    parts
}

proptest! {
    #[test]
    fn whole_pieces_that_are_left_out_never_come(
        contents in proptest::collection::btree_set("[ab ]{1,3}", 1..5),
        properties in proptest::collection::vec(any::<[bool; 3]>(), 5),
        some_are_words in any::<bool>(),
        text in "[abc ]{0,30}",
    ) {
        let tokens = (0..).zip(contents).zip(properties).map(|((id, content), [normalized, strips, is_word])| {
            let (lstrip, rstrip) = (strips && normalized, strips);
            let single_word = some_are_words && is_word;
            AddedToken { normalized, lstrip, rstrip, single_word, whole_piece: true, ..token(id, &content) }
        });
        let tokens: Vec<_> = tokens.collect();
        let [matcher, all] = [true, false].map(|are_text| matcher(&tokens, are_text));
        let mut segments = Vec::new();
        matcher.raw.cut(text.as_bytes(), |part| match part {
            Part::Token(..) => Ok(()),
            Part::Text(place) => {
                let text = &text.as_bytes()[place];
                matcher.normalized.cut(text, |part| {
                    if let Part::Text(place) = part {
                        segments.push(&text[place]);
                    }
                    Ok(())
                })
            }
        }).unwrap();
        for segment in segments {
            for (start, end) in (0..segment.len()).flat_map(|start| (start..=segment.len()).map(move |end| (start, end))) {
                let piece = &segment[start..end];
                prop_assert_eq!(matcher.whole_piece(piece), all.whole_piece(piece));
            }
        }
    }
}

#[test]
fn whole_pieces_are_left_out_where_no_token_must_be_a_word() {
    for single_word in [false, true] {
        let tokens = [AddedToken { single_word, whole_piece: true, ..token(1, "ab") }];
        assert_eq!(matcher(&tokens, true).has_whole_pieces(), single_word);
    }
}

#[test]
fn a_single_word_has_no_word_character_beside_it() {
    let word = AddedToken { single_word: true, ..token(1, "ab") };
    let tokens = [word, token(2, "b_c")];
    for beside in ["c", "é", "_", "1", "\u{301}", "\u{200D}"] {
        let parts = [format!("[ab{beside} ]"), "1=ab".to_owned()];
        assert_eq!(cut(&tokens, &format!("ab{beside} ab")), parts);
    }
    for beside in ["-", "²", " ", "€"] {
        assert_eq!(
            cut(&tokens, &format!("ab{beside}")),
            ["1=ab".to_owned(), format!("[{beside}]")]
        );
    }
    // Nothing is looked for where a single word was none.
    assert_eq!(cut(&tokens, "ab_c b_c"), ["[ab_c ]", "2=b_c"]);
}

#[test]
fn the_white_space_of_a_long_run_is_counted_once() {
    let text = " ".repeat(1 << 20);
    for (lstrip, rstrip) in [(true, false), (false, true)] {
        let space = AddedToken { lstrip, rstrip, ..token(1, " ") };
        let mut places = Vec::new();
        let visit = |part| {
            let Part::Token(_, place) = part else { return Ok(()) };
            places.push(place);
            Ok(())
        };
        matcher(&[space], false).raw.cut(text.as_bytes(), visit).unwrap();
        let end = |start| if rstrip { text.len() } else { start + 1 };
        assert!(places.into_iter().eq((0..text.len()).map(|start| start..end(start))));
    }
}

fn all(search: &Search, text: &str) -> Vec<Occurrence> {
    search.find_iter(text.as_bytes()).collect()
}

proptest! {
    #[test]
    fn tokens_found_by_their_beginnings_are_those_that_the_automaton_finds(
        tokens in prop::collection::btree_set("[<|｜>][a｜|]{1,5}", 1..6),
        parts in prop::collection::vec("[<|｜>a中，]{1,8}| {1,40}", 0..30),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let list: Vec<_> = tokens.iter().cloned().collect();
        let picked = picks.iter().map(|pick| pick.get(&list).clone());
        let picked = picked.chain(std::iter::repeat(String::new()));
        let text: String = parts.into_iter().zip(picked).flat_map(|two| [two.0, two.1]).collect();
        let mut search = Search::new(&list).unwrap();
        let by_beginnings = all(&search, &text);
        search.beginnings = None;
        prop_assert_eq!(by_beginnings, all(&search, &text));
    }
}

#[test]
fn tokens_are_found_behind_any_number_of_beginnings() {
    let run = "-".repeat(70);
    let search = Search::new(&[run.clone(), "<a>".to_owned()]).unwrap();
    for n_before in 0..40 {
        let before = format!("{}\n", "-".repeat(69)).repeat(n_before);
        let text = format!("{before}<a>{before}{run}");
        let second = before.len() + 3;
        let places = [before.len()..second, second + before.len()..text.len()];
        let found = all(&search, &text).into_iter().map(|found| found.place);
        assert_eq!(found.collect::<Vec<_>>(), places);
    }
}

/// A number of tokens and a length that only a linear construction and search are done with.
#[test]
fn many_tokens_and_long_ones_are_found() {
    let contents: Vec<_> = (0..50_000).map(|number| format!("new_{number}")).collect();
    let long = "a".repeat(1_000_000);
    let contents: Vec<_> =
        contents.into_iter().chain([format!("{long}b"), "a".to_owned()]).collect();
    let tokens: Vec<_> = (0..).zip(&contents).map(|(id, content)| token(id, content)).collect();
    let patterns = || tokens.iter().map(|token| (Cow::Borrowed(token.content.as_bytes()), token));
    let finder = Finder::new(patterns()).unwrap();
    let text = format!("new_49999new_5 {long}");
    let mut ids = Vec::new();
    let visit = |part| {
        if let Part::Token(id, _) = part {
            ids.push(id);
        }
        Ok(())
    };
    finder.cut(text.as_bytes(), visit).unwrap();
    assert_eq!(ids[..2], [49_999, 5]);
    assert_eq!(ids[2..], vec![50_001; 1_000_000]);
    assert_eq!(finder.find(format!(" {long}b").as_bytes()), Some((50_000, 1)));
}
