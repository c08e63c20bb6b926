//! Search by beginnings beside the automaton alone, and the cost of many tokens and long ones.

use proptest::prelude::*;

use super::*;
use crate::dictionary::Occurrence;

fn token(id: TokenId, content: &str) -> AddedToken {
    AddedToken { id, ..crate::test_support::added_token(content) }
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
