//! What the cache remembers, and for how long; that rows find what single look-ups find.

use super::*;
use crate::hash::hash_bytes;
use crate::piece::Starts;
use proptest::prelude::*;

impl PieceCache {
    /// A cache that hardly holds anything.
    pub(crate) fn tiny() -> Self {
        Self::with_bounds(2, 8, 512)
    }
}

fn append(cache: &PieceCache, piece: &[u8]) -> Option<Vec<TokenId>> {
    let mut ids = vec![7];
    let is_here = cache.append(Query::new(piece, 0..piece.len())?, &mut ids);
    is_here.then(|| ids.split_off(1))
}

fn insert(cache: &mut PieceCache, piece: &[u8], ids: &[TokenId]) {
    if let Some(query) = Query::new(piece, 0..piece.len()) {
        cache.insert(query, ids);
    }
}

/// Ids that no other piece has, as many as its hash says, some of them as large as any, and some all the same.
#[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
fn ids_of(piece: &[u8]) -> Vec<TokenId> {
    let hash = hash_bytes(piece, 0);
    let n_ids = hash % 24;
    let mask = if hash >> 8 & 1 > 0 { (1 << 17) - 1 } else { TokenId::MAX };
    let step = if hash >> 9 & 3 > 0 { 3 } else { 0 };
    let id = |index: u64| hash.rotate_right(step * index as u32) as TokenId & mask;
    (0..n_ids).map(id).collect()
}

proptest! {
    #[test]
    fn a_cache_of_any_size_gives_a_piece_its_own_ids_or_none(
        pieces in prop::collection::vec(prop_oneof!["[ab]{1,20}", "[ab]{0,7}a{1,300}", "a{4090,4100}", "[a-z]{0,18}"], 1..200),
    ) {
        for mut cache in [PieceCache::tiny(), PieceCache::default()] {
            for piece in pieces.iter().map(String::as_bytes) {
                let ids = ids_of(piece);
                match append(&cache, piece) {
                    Some(found) => prop_assert_eq!(found, ids),
                    None => insert(&mut cache, piece, &ids),
                }
            }
        }
    }

    #[test]
    fn known_pieces_in_a_row_are_those_found_one_by_one(
        words in prop::collection::vec("[a-d]{1,3}|[ab]{14,18}|[a-z]{60,70}|é|[a\n]{0,8}[ -]{0,3} {8,14}| {50,200}b?", 1..400),
        known in 0..400_usize,
        n_behind in 0..200_usize,
        from in 0..70_usize,
    ) {
        let mut cache = PieceCache::default();
        for word in &words[..known.min(words.len())] {
            insert(&mut cache, word.as_bytes(), &ids_of(word.as_bytes()));
        }
        // Some places away from the beginning and the end of the text, which keys read beyond pieces.
        let text = ["x".repeat(from), words.concat(), "y".repeat(n_behind)].concat();
        let block = from..text.len() - n_behind;
        let mut bits = vec![0_u64; block.len() / 64 + 1];
        words.iter().fold(0, |place, word| { bits[place / 64] |= 1 << (place % 64); place + word.len() });
        let starts = Starts::new(&bits, block.clone());
        let (mut ids, mut misses) = (vec![7; 3], Vec::new());
        let text = text.as_bytes();
        let mut pending = Pending { text, words: starts.words() };
        let mut output = Known { ids: &mut ids, misses: &mut misses };
        while cache.append_known(&mut pending, &mut output) {}
        let mut expected = vec![7; 3];
        let mut left = misses.iter().peekable();
        for piece in starts.words().flat_map(Word::pieces) {
            let is_known = append(&cache, &text[piece.clone()]);
            if let Some(miss) = left.next_if(|miss| miss.piece == piece) {
                prop_assert_eq!(miss.n_before, expected.len());
                prop_assert!(is_known.is_none() || !text[piece].is_ascii());
            } else {
                expected.extend(is_known.unwrap());
            }
        }
        prop_assert!(left.next().is_none());
        prop_assert_eq!(ids, expected);
    }
}

#[test]
fn a_short_miss_stops_rows_after_some_hundred_pieces_and_a_long_one_does_not() {
    let long = "é".repeat(20);
    let mut cache = PieceCache::default();
    insert(&mut cache, b"known", &[1]);
    for (unknown, stops) in [("new", true), (&long, false)] {
        let mut pieces = vec!["known"; 10_000];
        pieces[500] = unknown;
        let text = pieces.concat();
        let mut bits = vec![0_u64; text.len() / 64 + 1];
        pieces.iter().fold(0, |place, piece| {
            bits[place / 64] |= 1 << (place % 64);
            place + piece.len()
        });
        let starts = Starts::new(&bits, 0..text.len());
        let (mut ids, mut misses) = (Vec::new(), Vec::new());
        let mut pending = Pending { text: text.as_bytes(), words: starts.words() };
        let mut known = Known { ids: &mut ids, misses: &mut misses };
        assert_eq!(cache.append_known(&mut pending, &mut known), stops);
        assert_eq!(misses.len(), 1, "{unknown}");
        assert_eq!(ids.len() < 2000, stops, "{unknown}");
    }
}

#[test]
fn a_frequent_key_gets_its_home_and_none_is_lost() {
    let mut table = Table::new(512, 512);
    let keys = (0..300_u32).map(|number| {
        let piece = format!("{number:x}");
        key_or_none(piece.as_bytes(), 0, piece.len())
    });
    let keys: Vec<_> = keys.collect();
    let id = |key: u128| TokenId::try_from(key % 1000).unwrap();
    let slot = |key: u128| Slot::packed(key, &[id(key), id(key / 1000)]).unwrap();
    keys.iter().for_each(|&key| table.insert(slot(key)));
    let is_home =
        |table: &Table, key: u128| table.get_near(key, table.prefetched_home(key)).is_some();
    let elsewhere: Vec<_> = keys.iter().filter(|&&key| !is_home(&table, key)).copied().collect();
    assert!(elsewhere.len() > 20);
    for key in elsewhere {
        for _ in 0..40 {
            if is_home(&table, key) {
                break;
            }
            assert_eq!(table.get_elsewhere(key).map(|slot| slot.value), Some(slot(key).value));
        }
        assert!(is_home(&table, key));
        for &key in &keys {
            let found = table.get(key).map(|found| (found.key, found.value));
            assert_eq!(found, Some((slot(key).key, slot(key).value)));
        }
    }
}

#[test]
fn a_cache_that_has_no_more_places_begins_anew() {
    let mut cache = PieceCache::default();
    let piece = b"xy".repeat(50);
    insert(&mut cache, &piece, &[1; 100]);
    assert!(append(&cache, &piece).is_some());
    cache.ring.use_up();
    insert(&mut cache, b"short", &[5]);
    assert!(append(&cache, &piece).is_none());
    insert(&mut cache, &piece, &[2; 100]);
    assert_eq!(append(&cache, &piece), Some(vec![2; 100]));
}

#[test]
fn pieces_that_come_again_stay_while_there_is_room() {
    let mut cache = PieceCache::default();
    let pieces: Vec<_> =
        (0..100_000).map(|number| format!("{number:0>width$}", width = 6 + number % 20)).collect();
    for _ in 0..4 {
        for piece in &pieces {
            let piece = piece.as_bytes();
            insert(&mut cache, piece, &ids_of(piece));
        }
    }
    let mut n_lost = 0;
    for piece in pieces.iter().map(String::as_bytes) {
        match append(&cache, piece) {
            Some(found) => assert_eq!(found, ids_of(piece)),
            None => n_lost += 1,
        }
    }
    assert!(n_lost < pieces.len() / 10, "{n_lost}");
}
