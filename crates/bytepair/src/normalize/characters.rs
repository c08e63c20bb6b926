//! Steps that look at one character alone: each becomes none, one or several.
//!
//! Which characters are marks or controls depends on the library that is followed, so the tables tell.
//! Left out: rules that look around (forms, replacing, clusters). One pass each; a text of ASCII that a
//! rule leaves as it is costs a look.

use bytepair_split::unicode::{TextClass, UnicodeTables};

/// What becomes of each character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterRule {
    /// Its lower case.
    Lowercase,
    /// Nothing if it belongs to a class.
    Drop(TextClass),
    /// Nothing if BERT takes it for a control, for NUL or for U+FFFD.
    DropBertControls,
    /// A space if it is white space.
    SpaceForWhite,
    /// Itself between two spaces if it is an ideograph.
    SurroundIdeographs,
    /// Nothing if it is one of the controls that Nmt names.
    DropNmtControls,
    /// A space if Nmt takes it for one.
    SpaceForNmt,
}

impl CharacterRule {
    pub(super) fn apply(self, character: char, unicode: UnicodeTables, mut emit: impl FnMut(char)) {
        let mut emit_unless = |is_dropped: bool| (!is_dropped).then(|| emit(character));
        match self {
            Self::Lowercase => unicode.lowercase(character).for_each(emit),
            Self::Drop(class) => drop(emit_unless(unicode.is_in(class, character))),
            Self::DropBertControls => drop(emit_unless(is_bert_control(character, unicode))),
            Self::DropNmtControls => drop(emit_unless(is_nmt_control(character))),
            Self::SpaceForWhite => emit(if character.is_whitespace() { ' ' } else { character }),
            Self::SpaceForNmt => emit(if is_nmt_space(character) { ' ' } else { character }),
            Self::SurroundIdeographs if is_ideograph(character) => {
                [' ', character, ' '].into_iter().for_each(emit);
            }
            Self::SurroundIdeographs => emit(character),
        }
    }

    /// Whether the rule changes a text of ASCII at all.
    pub(super) fn changes_ascii(self, text: &[u8]) -> bool {
        match self {
            Self::Lowercase => text.iter().any(u8::is_ascii_uppercase),
            Self::Drop(_) | Self::SurroundIdeographs => false,
            _ => text.iter().any(u8::is_ascii_control),
        }
    }
}

fn is_bert_control(character: char, unicode: UnicodeTables) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{FFFD}' => true,
        _ => unicode.is_in(TextClass::Other, character),
    }
}

/// The blocks that BERT calls Chinese; the gap before U+2B920 is its own.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B81F}' | '\u{2B920}'..='\u{2CEAF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{2F800}'..='\u{2FA1F}')
}

fn is_nmt_control(character: char) -> bool {
    matches!(character,
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}')
}

fn is_nmt_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{C}' | '\r' | '\u{1680}' | '\u{200B}'
            ..='\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{2581}' | '\u{FEFF}' | '\u{FFFD}'
    )
}
