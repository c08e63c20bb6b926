//! Small models, written here and read again. Parity with `sentencepiece` itself is tested from Python.

use proptest::prelude::*;

use super::model::{BPE, Model, Normalizer, Piece, PieceKind, Trainer};
use super::{read, write};
use bytepair::ErrorKind;
use bytepair::{EncodeOptions, Tokenizer};

fn piece(text: &str, score: f32, kind: PieceKind) -> Piece {
    Piece { text: text.to_owned(), score, kind }
}

fn model(normal: &[(&str, f32)]) -> Model {
    let mut pieces = vec![
        piece("<unk>", 0.0, PieceKind::Unknown),
        piece("<s>", 0.0, PieceKind::Control),
        piece("<sep>", 0.0, PieceKind::UserDefined),
    ];
    pieces.extend(normal.iter().map(|(text, score)| piece(text, *score, PieceKind::Normal)));
    let trainer = Trainer { model_type: BPE, ..Trainer::default() };
    Model { pieces, trainer, normalizer: Normalizer::default() }
}

const NORMAL: [(&str, f32); 9] = [
    ("ab", -1.0),
    ("ba", -1.0),
    ("▁a", -2.0),
    ("aba", -3.0),
    ("▁ab", -4.0),
    ("▁", -9.0),
    ("a", -10.0),
    ("b", -11.0),
    ("é", -12.0),
];

fn tokenizer(model: &Model) -> Tokenizer {
    read(&model.to_bytes()).unwrap()
}

fn tokens(tokenizer: &Tokenizer, text: &[u8]) -> Vec<String> {
    let tokens = tokenizer.tokenize(text, EncodeOptions::default()).unwrap();
    tokens.into_iter().map(|token| String::from_utf8(token).unwrap()).collect()
}

#[test]
fn a_special_token_of_ones_own_cannot_be_written() {
    let tokenizer = tokenizer(&model(&NORMAL));
    let more = tokenizer.with_special_tokens(&[("<end>".to_owned(), None)]).unwrap();
    assert!(matches!(write(&more).unwrap_err().kind(), ErrorKind::Inexpressible { .. }));
}

#[test]
fn what_would_give_wrong_ids_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Model)| {
        let mut model = model(&NORMAL);
        change(&mut model);
        read(&model.to_bytes()).unwrap_err().to_string()
    };
    let push = |text: &'static str, kind| {
        move |model: &mut Model| model.pieces.push(piece(text, -20.0, kind))
    };
    assert!(refused(&|model| model.trainer.model_type = 1).contains("Unigram"));
    assert!(refused(&push("ac", PieceKind::Normal)).contains("not a piece"));
    assert!(refused(&push("bb", PieceKind::Unused)).contains("UNUSED"));
    assert!(refused(&push("ab", PieceKind::Control)).contains("twice"));
    assert!(refused(&push("<u>", PieceKind::Unknown)).contains("more than one"));
    assert!(refused(&push("<0x41>", PieceKind::Byte)).contains("byte_fallback"));
    assert!(refused(&push("", PieceKind::Normal)).contains("empty"));
    assert!(refused(&push("%", PieceKind::Control)).contains("control"));
    assert!(refused(&|model| model.trainer.byte_fallback = true).contains("every byte"));
    assert!(refused(&|model| model.pieces[4].score = f32::NAN).contains("score"));
    assert!(refused(&|model| model.normalizer.charsmap = vec![9, 9, 9]).contains("charsmap"));
    assert!(refused(&|model| drop(model.pieces.remove(0))).contains("UNKNOWN"));
}

proptest! {
    #[test]
    fn cutting_before_spaces_changes_no_ids(text in "[ab x▁]{0,40}") {
        let cut = tokenizer(&model(&NORMAL));
        let mut crossing = model(&NORMAL);
        // A piece that no text has keeps the text whole.
        crossing.pieces.push(piece("b▁", -1000.0, PieceKind::Normal));
        crossing.pieces.push(piece("▁b", -1001.0, PieceKind::Normal));
        let whole = tokenizer(&crossing);
        let spaced = text.replace("b ", "x ").replace("b▁", "x▁").replace(" b", " x").replace("▁b", "▁x");
        let expected = whole.encode_ordinary(spaced.as_bytes()).unwrap();
        if !spaced.starts_with('b') {
            prop_assert_eq!(cut.encode_ordinary(spaced.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn merging_by_score_is_what_its_definition_gives(
        scores in prop::collection::vec(0_u8..4, 12),
        text in "[ab]{0,70}",
    ) {
        let texts = ["ab", "ba", "aa", "bb", "aba", "bab", "abab", "aab", "baa", "bba", "abb", "aaaa"];
        let mut normal: Vec<_> =
            texts.iter().zip(&scores).map(|(text, score)| (*text, f32::from(*score))).collect();
        normal.extend([("a", -1.0), ("b", -1.0)]);
        let mut model = model(&normal);
        model.normalizer.adds_dummy_prefix = false;
        prop_assert_eq!(tokens(&tokenizer(&model), text.as_bytes()), by_definition(&normal, &text));
    }
}

/// Merges the neighbours whose text is the piece of the highest score, the leftmost of several.
fn by_definition(pieces: &[(&str, f32)], text: &str) -> Vec<String> {
    let mut symbols: Vec<String> = text.chars().map(String::from).collect();
    let score = |pair: &[String]| {
        let joined = pair.concat();
        pieces.iter().find(|piece| piece.0 == joined).map(|piece| piece.1)
    };
    loop {
        let mut best: Option<(f32, usize)> = None;
        for (place, pair) in symbols.windows(2).enumerate() {
            if let Some(found) = score(pair).filter(|found| best.is_none_or(|best| *found > best.0))
            {
                best = Some((found, place));
            }
        }
        let Some((_, place)) = best else { return symbols };
        let joined = symbols[place..place + 2].concat();
        symbols.splice(place..place + 2, [joined]);
    }
}
