//! Parts against whole pieces, for vocabularies of characters and of bytes.

use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::encode::by_parts::{Block, Pieces, Place};
use crate::encode::{Encoder, Scratch, naive};
use crate::test_support::{bytes_vocabulary, texts_vocabulary};
use crate::units::ByteIds;

/// Bytes of the letters, and bytes between which a character is one or none.
const EDGES: [u8; 24] = [
    0, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xA9, 0xB8, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xDF,
    0xE0, 0xE4, 0xEC, 0xED, 0xEF, 0xF0, 0xF4, 0xFF,
];

const LETTERS: [&str; 8] = ["a", "é", "中", "▁", "😀", "ー", "\u{7FF}", "\u{FFFF}"];

/// Tokens that are made of these symbols, pair by pair.
fn grown(mut vocabulary: Vocabulary, symbols: &[TokenId], picks: &[(u16, u16)]) -> Vocabulary {
    let mut parts = symbols.to_vec();
    for &(left, right) in picks.iter().filter(|_| !symbols.is_empty()) {
        let pick = |place: u16| usize::from(place) % parts.len();
        let (left, right) = (parts[pick(left)], parts[pick(right)]);
        if vocabulary.merged(left, right).unwrap().1.len() <= 24 {
            parts.push(vocabulary.push_merge(left, right).unwrap());
        }
    }
    vocabulary
}

fn of_characters(known: &[bool], fallback: &[u8], picks: &[(u16, u16)]) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    vocabulary.push(Token { kind: TokenKind::Unknown, bytes: b"?" }).unwrap();
    let mut push = |kind, bytes: &[u8]| vocabulary.push(Token { kind, bytes }).unwrap();
    let letters = LETTERS.iter().zip(known).filter(|(_, known)| **known);
    let symbols: Vec<_> =
        letters.map(|(letter, _)| push(TokenKind::PLAIN, letter.as_bytes())).collect();
    for &byte in fallback {
        push(TokenKind::Byte, &[byte]);
    }
    grown(vocabulary, &symbols, picks)
}

/// All bytes but some. In place of each of these there is the token of two of it.
fn of_bytes(missing: &[u8], picks: &[(u16, u16)]) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    for byte in 0..=255 {
        let len = if missing.contains(&byte) { 2 } else { 1 };
        vocabulary.push(Token::plain(&[byte, byte][..len])).unwrap();
    }
    vocabulary.push(Token { kind: TokenKind::Unknown, bytes: b"?" }).unwrap();
    let bytes = LETTERS.concat().into_bytes();
    let known = bytes.into_iter().filter(|byte| !missing.contains(byte));
    let symbols: Vec<_> = known.map(TokenId::from).collect();
    grown(vocabulary, &symbols, picks)
}

fn units([unknown, fuse_unknown, byte_fallback, drop]: [bool; 4]) -> Units {
    Units {
        unknown: unknown.then(|| "?".to_owned()),
        fuse_unknown,
        byte_fallback,
        missing: if drop { Missing::Drop } else { Missing::Error },
        ..Units::characters()
    }
}

/// The ids of a piece by the definition, and of its parts one after the other, with the number of parts.
fn both(encoder: &Encoder, piece: &[u8]) -> (Option<Vec<TokenId>>, Option<Vec<TokenId>>, usize) {
    let mut symbols = Vec::new();
    let stranger = |symbol| encoder.unknown_unit(symbol);
    let whole = encoder.symbols.push_ids(piece, &mut symbols, stranger);
    let whole = whole.ok().map(|()| naive::merge(&encoder.vocabulary, symbols));
    let (mut ids, mut n_parts, mut scratch) = (Vec::new(), 0, Scratch::default());
    let parts = encoder.parts(piece).try_for_each(|part| {
        n_parts += 1;
        encoder.encode_part(&piece[part], &mut scratch, &mut ids)
    });
    (whole, parts.ok().map(|()| ids), n_parts)
}

/// The parts of pieces that follow each other in a text, taken block by block, and which of them are the first of a
/// piece. What is said of neighbours is looked at too.
fn taken(encoder: &Encoder, text: &[u8], pieces: &[Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let (mut block, mut parts) = (Block::default(), Vec::new());
    let mut from = Place { piece: 0, at: 0 };
    while from.piece < pieces.len() {
        let cuts = encoder.cuts().unwrap();
        let known = (cuts, &encoder.symbols);
        let Some(next) = block.take(known, Pieces { text, places: pieces }, from, |_| ()) else {
            let piece = &pieces[from.piece];
            let start = from.at.max(piece.start);
            let end = cuts.end(&text[..piece.end], start, &encoder.symbols);
            assert!(String::from_utf8_lossy(&text[start..end]).chars().count() >= 63);
            parts.push((start..end, start == piece.start));
            from = Place { piece: from.piece + usize::from(end == piece.end), at: end };
            continue;
        };
        let n_characters = block.codes().len();
        let starts = (0..n_characters).filter(|number| block.part_starts >> number & 1 > 0);
        let starts: Vec<_> = starts.chain([n_characters]).collect();
        for part in starts.windows(2) {
            let is_first = block.piece_starts >> part[0] & 1 > 0;
            parts.push((block.range(part[0]..part[1]), is_first));
        }
        for number in 1..n_characters {
            let codes = [block.codes()[number - 1], block.codes()[number]];
            let is_apart = block.apart >> number & 1 > 0;
            assert_eq!(is_apart, cuts.are_apart(codes[0], codes[1]));
        }
        from = next;
    }
    parts
}

/// The same by the definition.
fn expected(encoder: &Encoder, text: &[u8], pieces: &[Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let parts_of = |piece: &Range<usize>| {
        let parts: Vec<_> = encoder.parts(&text[piece.clone()]).collect();
        let start = piece.start;
        parts.into_iter().map(move |part| (start + part.start..start + part.end, part.start == 0))
    };
    pieces.iter().flat_map(parts_of).collect()
}

/// A text cut into pieces at some places, every fifth of which is left out.
fn pieces(text: &[u8], places: &[prop::sample::Index]) -> Vec<Range<usize>> {
    let mut ends: Vec<_> = places.iter().map(|place| place.index(text.len())).collect();
    ends.extend([0, text.len()]);
    ends.sort_unstable();
    ends.dedup();
    let all = ends.windows(2).map(|pair| pair[0]..pair[1]).enumerate();
    all.filter(|(number, _)| number % 5 != 3).map(|(_, piece)| piece).collect()
}

proptest! {
    #[test]
    fn parts_of_characters_give_the_ids_of_the_piece(
        known in prop::collection::vec(prop::bool::weighted(0.8), LETTERS.len()),
        fallback in prop_oneof![Just(vec![]), Just((0..=255).collect()), Just(vec![0xC3, 0xA9, b'b'])],
        picks in prop::collection::vec(any::<(u16, u16)>(), 0..20),
        flags in any::<[bool; 4]>(),
        piece in "[abé中▁😀文ー\u{7FF}\u{FFFF}]{1,80}|[abé中▁😀文]{1,300}",
        places: Vec<prop::sample::Index>,
    ) {
        let units = units(flags);
        let vocabulary = of_characters(&known, &fallback, &picks);
        let encoder = Encoder::new(Arc::new(vocabulary), &units, false);
        let (whole, parts, _) = both(&encoder, piece.as_bytes());
        prop_assert_eq!(parts, whole);
        let places: Vec<_> = pieces(piece.as_bytes(), &places)
            .into_iter()
            .filter(|place| [place.start, place.end].iter().all(|&at| piece.is_char_boundary(at)))
            .collect();
        if encoder.cuts().is_some() {
            let expected = expected(&encoder, piece.as_bytes(), &places);
            prop_assert_eq!(&taken(&encoder, piece.as_bytes(), &places), &expected);
        }
    }

    #[test]
    fn parts_of_bytes_give_the_ids_of_the_piece_which_is_whole_if_the_vocabulary_lacks_some(
        picks in prop::collection::vec(any::<(u16, u16)>(), 0..60),
        missing in prop_oneof![
            Just(vec![]),
            prop::collection::vec(prop::sample::select(vec![0xFF, 0xF0, 0xA9, 0xB8, b'b']), 1..3),
        ],
        flags in any::<[bool; 4]>(),
        texts in prop::collection::vec("[aé中▁文]{1,40}|[abé中▁😀文]{1,40}|[abé中▁😀文ー\u{7FF}\u{800}\u{FFFF}]{1,300}", 1..4),
        noise in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&EDGES[..])), 0..6),
        places: Vec<prop::sample::Index>,
    ) {
        let units = units(flags);
        let units = Units { unit: Units::bytes(ByteIds::Value).unit, ..units };
        let encoder = Encoder::new(Arc::new(of_bytes(&missing, &picks)), &units, false);
        let mut scratch = Scratch::default();
        for text in texts {
            let mut piece = text.into_bytes();
            for (place, byte) in &noise {
                let place = place.index(piece.len());
                piece[place] = *byte;
            }
            let (whole, parts, _) = both(&encoder, &piece);
            prop_assert_eq!(&parts, &whole);
            let mut ids_of = |piece: &[u8]| {
                let mut ids = Vec::new();
                encoder.encode(piece, &mut scratch, &mut ids).ok().map(|()| ids)
            };
            prop_assert_eq!(&ids_of(&piece), &whole);
            for place in (1..piece.len()).filter(|&place| encoder.is_cut(&piece, place)) {
                let [before, behind] = [&piece[..place], &piece[place..]].map(&mut ids_of);
                prop_assert_eq!(&before.zip(behind).map(|(before, behind)| [before, behind].concat()), &whole);
            }
            prop_assert!(encoder.cuts().is_some() || !missing.is_empty());
            if missing.is_empty() {
                let places = pieces(&piece, &places);
                let (found, expected) = (taken(&encoder, &piece, &places), expected(&encoder, &piece, &places));
                let n_bytes = |parts: &[(Range<usize>, bool)]| parts.iter().map(|part| part.0.len()).sum::<usize>();
                prop_assert_eq!(n_bytes(&found), n_bytes(&expected));
                // Other sequences of bytes have their parts too, but these are not said to be the same.
                let is_usual = noise.iter().all(|(_, byte)| b"\xC3\xA9\xE4\xB8\xAD\xF0a\xFF".contains(byte));
                prop_assert!(!is_usual || found == expected, "{:?} {:?}", found, expected);
            }
        }
    }
}

#[test]
fn a_text_is_cut_where_no_merge_joins() {
    let mut vocabulary = texts_vocabulary(&["a", "▁", "b"]);
    let [a, space, b] = [0, 1, 2];
    vocabulary.push_merge(space, a).unwrap();
    vocabulary.push_merge(a, b).unwrap();
    vocabulary.push_merge(space, space).unwrap();
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::characters(), false);
    let piece = "▁ab▁▁aba▁b";
    let parts: Vec<_> = encoder.parts(piece.as_bytes()).map(|part| &piece[part]).collect();
    assert_eq!(parts, ["▁ab", "▁▁ab", "a", "▁", "b"]);
}

#[test]
fn parts_of_characters_keep_characters_together() {
    let mut vocabulary = bytes_vocabulary();
    // The last byte of 中 with the first two of 文: a token that is no character.
    let tail = vocabulary.push_merge(0xE6, 0x96).unwrap();
    vocabulary.push_merge(0xAD, tail).unwrap();
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::bytes(ByteIds::Value), false);
    let n_parts = |piece: &str| both(&encoder, piece.as_bytes()).2;
    assert_eq!(["中文", "文中", "中中", "a文", "éé"].map(n_parts), [1, 2, 2, 2, 2]);
}

#[test]
fn a_vocabulary_without_proof_is_not_cut() {
    let mut vocabulary = texts_vocabulary(&["a", "b", "c"]);
    vocabulary.push_merge_to(crate::vocabulary::Merge { left: 0, right: 1, result: 2 });
    vocabulary.push_merge_to(crate::vocabulary::Merge { left: 2, right: 2, result: 2 });
    let encoder = Encoder::new(Arc::new(vocabulary), &Units::characters(), false);
    let (whole, parts, n_parts) = both(&encoder, b"abab");
    assert_eq!((parts, n_parts), (whole, 1));
}
