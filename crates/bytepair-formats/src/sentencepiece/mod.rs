//! SentencePiece's `.model` files of the type BPE.
//!
//! A tokenizer that is read gives the ids, pieces, spans and text that `sentencepiece` gives with its
//! defaults. Text may be any bytes: those that are no UTF-8 become U+FFFD. SentencePiece never finds control
//! symbols (`<s>`) and the unknown token in a text, so they are special tokens, which a call has to allow; it puts none
//! around a text unless asked, so the template is empty. User-defined symbols are always found, in the normalized
//! text, and merge with nothing. Pieces merge by score (`merges`); where no piece has a space after something else, the text is
//! cut before spaces first, which changes nothing and is quicker.
//!
//! Refused by name: models of other types, a denormalizer, pieces that are switched off (`UNUSED`) and of
//! more than one character, pieces made of characters that are no pieces. The self-test in a file is not run.

pub(crate) mod merges;
mod model;
mod write;

pub(crate) use self::model::{PieceKind, begins_one};
pub use self::write::write;

use std::collections::HashSet;
use std::sync::Arc;

use self::merges::{Scored, cut_stages, push_merges};
use self::model::{BPE, Model, Piece};
use crate::byte_of_name;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, LeadingSpaces, SentencePieceDecode};
use bytepair::for_formats::byte_of;
use bytepair::normalize::{CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules};
use bytepair::units::Units;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Splitter, Stage};

/// The name of the format in messages.
const FORMAT: &str = "SentencePiece model";

/// The tokenizer of a model file.
///
/// # Errors
/// If the file is damaged, its type is not BPE, or it asks for something that is not supported.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let model = Model::parse(file)?;
    check_type(&model)?;
    check_pieces(&model)?;
    let pieces = model.pieces.iter().map(|piece| (piece.kind, piece.text.as_str(), piece.score));
    let unicode = UnicodeTables::latest();
    let step = NormalizeStep::SentencePiece(SentencePiece::new(rules(&model)?)?);
    let unknown = pieces_of(&model, PieceKind::Unknown).next().map(|(_, piece)| piece.text.clone());
    let units = Units {
        unknown,
        fuse_unknown: !model.trainer.byte_fallback,
        byte_fallback: model.trainer.byte_fallback,
        ..Units::characters()
    };
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(vec![step], unicode),
        pre_tokenizer: Splitter::new(stages(&model), &unicode)?.into(),
        added: added(&model),
        decode: Decode::SentencePiece(decode(&model)),
        ..Parts::new(units, Arc::new(vocabulary(FORMAT, pieces)?))
    })
}

fn check_type(model: &Model) -> Result<()> {
    let name = match model.trainer.model_type {
        BPE => return Ok(()),
        1 => "Unigram",
        3 => "word",
        4 => "character",
        _ => "unknown",
    };
    let problem = format!("it is a model of the type {name}; only BPE is supported");
    Err(Error::format(FORMAT, "model_type", problem))
}

fn check_pieces(model: &Model) -> Result<()> {
    let mut texts = HashSet::new();
    let mut bytes = HashSet::new();
    for (id, piece) in (0_u32..).zip(&model.pieces) {
        let problem = |problem: &str| {
            Err(Error::format(FORMAT, format!("piece {id}, {:?}", piece.text), problem))
        };
        let is_one_character = piece.text.chars().nth(1).is_none();
        match piece.kind {
            _ if !texts.insert(piece.text.as_str()) => return problem("it appears twice"),
            PieceKind::Control if is_one_character => {
                return problem("a control symbol of one character stops encoding");
            }
            PieceKind::Unused if !is_one_character => {
                return problem("pieces of the type UNUSED are not supported");
            }
            PieceKind::UserDefined if piece.text.contains('\0') => {
                return problem("a user-defined symbol with a NUL in it");
            }
            PieceKind::Byte => match byte_of_name(&piece.text) {
                Some(byte) if model.trainer.byte_fallback => drop(bytes.insert(byte)),
                Some(_) => return problem("a byte, but byte_fallback is off"),
                None => return problem("it does not name a byte"),
            },
            _ => {}
        }
    }
    let missing = |problem| Err(Error::format(FORMAT, "the pieces", problem));
    match pieces_of(model, PieceKind::Unknown).count() {
        0 => missing("no piece has the type UNKNOWN"),
        1 if model.trainer.byte_fallback && bytes.len() < 256 => {
            missing("byte_fallback is on, but not every byte has a piece")
        }
        1 => Ok(()),
        _ => missing("more than one piece has the type UNKNOWN"),
    }
}

fn pieces_of(model: &Model, kind: PieceKind) -> impl Iterator<Item = (TokenId, &Piece)> {
    (0..).zip(&model.pieces).filter(move |(_, piece)| piece.kind == kind)
}

fn rules(model: &Model) -> Result<SentencePieceRules> {
    let spec = &model.normalizer;
    let characters = match spec.charsmap.as_slice() {
        [] => None,
        charsmap => Some(CharsMap::parse(charsmap)?),
    };
    Ok(SentencePieceRules {
        characters,
        verbatim: pieces_of(model, PieceKind::UserDefined)
            .map(|(_, piece)| piece.text.clone())
            .collect(),
        adds_space: spec.adds_dummy_prefix,
        removes_extra_spaces: spec.removes_extra_whitespaces,
        escapes_spaces: spec.escapes_whitespaces,
        space_is_suffix: model.trainer.space_is_suffix,
    })
}

fn stages(model: &Model) -> Vec<Stage> {
    let pieces = || pieces_of(model, PieceKind::Normal).map(|(_, piece)| piece.text.as_str());
    let fuses_unknown = !model.trainer.byte_fallback;
    cut_stages(pieces, fuses_unknown)
}

/// Control symbols and the unknown token, which are special, and user-defined symbols, which are always found in the
/// normalized text. One of these with a space in it never stands there once spaces became `▁`.
fn added(model: &Model) -> Vec<AddedToken> {
    let escapes = model.normalizer.escapes_whitespaces;
    let added = (0..).zip(&model.pieces).filter_map(|(id, piece)| {
        let is_symbol = piece.kind == PieceKind::UserDefined;
        let is_special = matches!(piece.kind, PieceKind::Control | PieceKind::Unknown);
        let is_found = is_special || is_symbol && !(escapes && piece.text.contains(' '));
        is_found.then(|| AddedToken {
            id,
            content: piece.text.clone(),
            special: is_special,
            normalized: is_symbol,
            in_model: true,
            ..AddedToken::default()
        })
    });
    added.collect()
}

fn decode(model: &Model) -> SentencePieceDecode {
    let spec = &model.normalizer;
    let mut controls: Vec<_> =
        pieces_of(model, PieceKind::Control).map(|(_, piece)| piece.text.clone()).collect();
    controls.sort();
    SentencePieceDecode {
        leading: match (spec.removes_extra_whitespaces, spec.adds_dummy_prefix) {
            (true, _) => LeadingSpaces::EachGoes,
            (false, true) => LeadingSpaces::OneGoes,
            (false, false) => LeadingSpaces::Stay,
        },
        unknown: model.trainer.unknown_surface.split('\0').next().unwrap_or("").to_owned(),
        controls,
    }
}

/// The vocabulary of pieces with their kinds, texts and scores, in the order of their ids, and their merges.
pub(crate) fn vocabulary<'p>(
    format: &'static str,
    pieces: impl Iterator<Item = (PieceKind, &'p str, f32)>,
) -> Result<Vocabulary> {
    let (mut vocabulary, mut scored) = (Vocabulary::new(), Vec::new());
    for (id, (kind, text, score)) in (0..).zip(pieces) {
        let byte = byte_of(text.as_bytes()).map(|byte| [byte]);
        let (kind, bytes) = match (kind, &byte) {
            (PieceKind::Byte, Some(byte)) => (TokenKind::Byte, byte.as_slice()),
            (PieceKind::Unknown, _) => (TokenKind::Unknown, text.as_bytes()),
            (PieceKind::Control | PieceKind::UserDefined, _) => (TokenKind::Added, text.as_bytes()),
            _ => {
                scored.push(Scored { id, text, score: score + 0.0 });
                (TokenKind::PLAIN, text.as_bytes())
            }
        };
        vocabulary.insert(id, Token { kind, bytes })?;
    }
    push_merges(format, &mut vocabulary, &scored)?;
    Ok(vocabulary)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::model::{BPE, Model, Normalizer, Piece, PieceKind, Trainer};
    use super::read;
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
            let pairs = symbols.windows(2).enumerate();
            let scored = pairs.filter_map(|(place, pair)| Some((score(pair)?, place)));
            let best = scored.reduce(|best, found| if found.0 > best.0 { found } else { best });
            let Some((_, place)) = best else { return symbols };
            let joined = symbols[place..place + 2].concat();
            symbols.splice(place..place + 2, [joined]);
        }
    }
}
