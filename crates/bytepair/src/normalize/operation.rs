//! The operations that steps consist of. Each changes a text in two ways that agree.
//!
//! `apply` gives the changed text, or `None` if nothing changes; `align` changes an aligned text. A step of several
//! rules (BERT's, Nmt) is several operations, with one pass each.
//!
//! A [`CharacterRule`] changes one character at a time, which becomes none, one or several. Which characters are marks
//! or controls depends on the library that is followed, so the tables decide. An ASCII text that such a rule does not
//! change costs only a check.

use std::ops::Range;
use std::sync::OnceLock;

use super::aligned::{Aligned, Change, Symbol, symbols};
use super::charsmap::{for_each_part, push_changes};
use super::{
    BertRules, CharsMap, NormalizeStep, SentencePiece, TextPattern, UnicodeForm, map_valid,
};
use crate::error::Result;
use crate::memory::{ask, ask_to_grow};
use crate::segment::Segment;
use crate::units;
use bytepair_split::unicode::{TextClass, UnicodeTables};

/// One pass over a text.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Characters(CharacterRule),
    Form(UnicodeForm),
    Replace { from: String, to: String },
    ReplaceMatches { pattern: TextPattern, to: String },
    Prepend { text: String, only_first: bool, unless_there: bool },
    Strip { left: bool, right: bool },
    ByteChars,
    CharBytes,
    Precompiled(CharsMap),
    SentencePiece(SentencePiece),
}

/// The operations of a step, in order.
pub(super) fn of_step(step: &NormalizeStep) -> Vec<Operation> {
    use Operation::Characters;
    let step = match step.clone() {
        NormalizeStep::Bert(rules) => return of_bert(rules),
        NormalizeStep::Nmt => {
            let rules = [CharacterRule::DropNmtControls, CharacterRule::SpaceForNmt];
            return rules.map(Characters).to_vec();
        }
        NormalizeStep::Lowercase => Characters(CharacterRule::Lowercase),
        NormalizeStep::StripAccents => Characters(CharacterRule::Drop(TextClass::Mark)),
        NormalizeStep::Form(form) => Operation::Form(form),
        NormalizeStep::Replace { from, to } => Operation::Replace { from, to },
        NormalizeStep::ReplaceMatches { pattern, to } => Operation::ReplaceMatches { pattern, to },
        NormalizeStep::Prepend { text, only_first, unless_there } => {
            Operation::Prepend { text, only_first, unless_there }
        }
        NormalizeStep::Strip { left, right } => Operation::Strip { left, right },
        NormalizeStep::ByteChars => Operation::ByteChars,
        NormalizeStep::CharBytes => Operation::CharBytes,
        NormalizeStep::Precompiled(map) => Operation::Precompiled(map),
        NormalizeStep::SentencePiece(step) => Operation::SentencePiece(step),
    };
    vec![step]
}

fn of_bert(rules: BertRules) -> Vec<Operation> {
    use Operation::{Characters, Form};
    let clean = [CharacterRule::DropBertControls, CharacterRule::SpaceForWhite].map(Characters);
    let strip_marks = Characters(CharacterRule::Drop(TextClass::NonspacingMark));
    let strips_accents = rules.strip_accents.unwrap_or(rules.lowercase);
    let chosen = [
        (rules.clean_text, clean.to_vec()),
        (rules.handle_chinese_chars, vec![Characters(CharacterRule::SurroundIdeographs)]),
        (strips_accents, vec![Form(UnicodeForm::Nfd), strip_marks]),
        (rules.lowercase, vec![Characters(CharacterRule::Lowercase)]),
    ];
    chosen.into_iter().filter(|(is_chosen, _)| *is_chosen).flat_map(|(_, rules)| rules).collect()
}

impl Operation {
    /// The changed text; `None` if nothing changes. Only a pattern can fail.
    pub(super) fn apply(
        &self,
        text: &[u8],
        place: Segment<'_>,
        unicode: UnicodeTables,
    ) -> Result<Option<Vec<u8>>> {
        Ok(match self {
            Self::Characters(rule) => apply_rule(*rule, text, unicode),
            Self::Form(form) => form.apply(text, unicode),
            Self::Replace { from, to } => replace(text, occurrences(text, from), to)?,
            Self::ReplaceMatches { pattern, to } => replace(text, pattern.matches(text)?, to)?,
            Self::Prepend { text: prefix, .. } => {
                self.prepends(text, place).then(|| [prefix.as_bytes(), text].concat())
            }
            Self::Strip { left, right } => {
                let kept = stripped(text, *left, *right);
                (kept.len() < text.len()).then(|| text[kept].to_vec())
            }
            Self::ByteChars => {
                let characters = text.iter().map(|&byte| byte_character(byte));
                Some(characters.collect::<String>().into_bytes())
            }
            Self::CharBytes => {
                let mut bytes = Vec::with_capacity(text.len());
                symbols(text).for_each(|symbol| spelled_byte(symbol).push_to(&mut bytes));
                Some(bytes)
            }
            Self::Precompiled(map) => Some(precompiled(map, text)?),
            Self::SentencePiece(step) => Some(step.normalize(Segment { text, ..place })?),
        })
    }

    /// Changes an aligned text.
    pub(super) fn align(
        &self,
        aligned: &mut Aligned,
        place: Segment<'_>,
        unicode: UnicodeTables,
    ) -> Result<()> {
        match self {
            Self::Characters(rule) => align_rule(*rule, aligned, unicode),
            Self::Form(form) => form.align(aligned, unicode),
            Self::Replace { from, to } => {
                let ranges: Vec<_> = occurrences(&aligned.text, from).collect();
                aligned.replace(ranges, to);
            }
            Self::ReplaceMatches { pattern, to } => {
                aligned.replace(pattern.matches(&aligned.text)?, to);
            }
            Self::Prepend { text: prefix, .. } => {
                if self.prepends(&aligned.text, place) {
                    aligned.prepend(prefix);
                }
            }
            Self::Strip { left, right } => {
                let kept = stripped(&aligned.text, *left, *right);
                aligned.text = aligned.text[kept.clone()].to_vec();
                aligned.spans = aligned.spans[kept].to_vec();
            }
            Self::ByteChars => align_byte_characters(aligned),
            Self::CharBytes => {
                let changes: Vec<_> =
                    symbols(&aligned.text).map(|symbol| (spelled_byte(symbol), 0)).collect();
                aligned.change(&changes, 0);
            }
            Self::Precompiled(map) => align_precompiled(map, aligned),
            Self::SentencePiece(step) => {
                let (text, spans) =
                    step.normalize_aligned(Segment { text: &aligned.text, ..place })?;
                let change = Aligned { text, spans };
                *aligned = aligned.followed_by(0, &change);
            }
        }
        Ok(())
    }

    /// Whether a text can be cut between a character and two others, and changed in two parts. Replaces each by what it
    /// becomes, or by `None` if that is not known.
    pub(super) fn can_cut_between(
        &self,
        beside: &mut [Option<Vec<u8>>; 3],
        unicode: UnicodeTables,
    ) -> bool {
        match self {
            Self::Prepend { .. } => self.is_by_character(),
            _ if self.is_by_character() => {
                beside.iter_mut().for_each(|side| self.change_alone(side, unicode));
                true
            }
            Self::Form(form) => {
                let joins_nothing = |side: &Option<Vec<u8>>| {
                    let text = side.as_deref().and_then(|side| str::from_utf8(side).ok());
                    let mut characters = text.unwrap_or_default().chars().peekable();
                    characters.peek().is_some()
                        && characters.all(|character| form.joins_nothing_before(character))
                };
                let [last_stays, is_cut, next_stays] = [0, 1, 2].map(|n| joins_nothing(&beside[n]));
                // A mark that follows may be joined to a character.
                beside[0].take_if(|_| !last_stays);
                beside[1].take_if(|_| form.composes() && !next_stays);
                beside[2].take_if(|_| form.composes());
                is_cut
            }
            Self::ReplaceMatches { pattern, .. } => {
                let [Some(last), Some(first), _] = beside else { return false };
                let is_cut = !last.is_empty()
                    && !first.is_empty()
                    && pattern.can_cut(&[last.as_slice(), first].concat(), last.len());
                *beside = [None, None, None];
                is_cut
            }
            _ => false,
        }
    }

    /// Whether a text can be cut at some places and changed in two parts.
    pub(super) fn can_be_cut(&self) -> bool {
        match self {
            Self::Form(_) => true,
            Self::ReplaceMatches { pattern, .. } => pattern.has_cuts(),
            _ => self.is_by_character(),
        }
    }

    /// Whether every character is changed independently of its neighbours, or a text is put in front.
    /// [`Self::CharBytes`] is not of this kind: bytes that it makes of several characters may form one character.
    pub(super) fn is_by_character(&self) -> bool {
        match self {
            Self::Characters(_) | Self::ByteChars => true,
            Self::Replace { from, .. } => from.chars().count() == 1,
            Self::Prepend { text, unless_there, .. } => !unless_there || text.chars().count() == 1,
            _ => false,
        }
    }

    /// Replaces a character by what it becomes on its own.
    fn change_alone(&self, side: &mut Option<Vec<u8>>, unicode: UnicodeTables) {
        let Some(text) = side else { return };
        let place = Segment { is_rest: true, ..Segment::inner(text) };
        match self.apply(text, place, unicode) {
            Ok(Some(changed)) => *text = changed,
            Ok(None) => {}
            Err(_) => *side = None,
        }
    }

    fn prepends(&self, text: &[u8], place: Segment<'_>) -> bool {
        let Self::Prepend { text: prefix, only_first, unless_there } = self else { return false };
        let is_there = *unless_there && text.starts_with(prefix.as_bytes());
        let is_meant = !place.is_rest && (place.is_first || !only_first);
        is_meant && !text.is_empty() && !is_there
    }
}

fn apply_rule(rule: CharacterRule, text: &[u8], unicode: UnicodeTables) -> Option<Vec<u8>> {
    if text.is_ascii() {
        if !rule.changes_ascii(text) {
            return None;
        }
        if rule == CharacterRule::Lowercase {
            return Some(text.to_ascii_lowercase());
        }
    }
    Some(map_valid(text, |valid, out| {
        valid.chars().for_each(|character| rule.apply(character, unicode, |new| out.push(new)));
    }))
}

fn align_rule(rule: CharacterRule, aligned: &mut Aligned, unicode: UnicodeTables) {
    let mut changes: Vec<Change> = Vec::with_capacity(aligned.text.len());
    let mut n_removed = 0;
    for symbol in symbols(&aligned.text) {
        let n_before = changes.len();
        let mut push = |new| changes.push((new, isize::from(changes.len() > n_before)));
        match symbol.character() {
            None => push(symbol),
            Some(character) => rule.apply(character, unicode, |new| push(Symbol::Character(new))),
        }
        if changes.len() > n_before {
            continue;
        }
        match changes.last_mut() {
            None => n_removed += 1,
            Some((_, change)) => *change -= 1,
        }
    }
    aligned.change(&changes, n_removed);
}

fn align_byte_characters(aligned: &mut Aligned) {
    let mut changes = Vec::with_capacity(aligned.text.len());
    let mut buffer = [0; 4];
    for symbol in symbols(&aligned.text) {
        let bytes = match symbol {
            Symbol::Byte(byte) => &[byte][..],
            Symbol::Character(character) => character.encode_utf8(&mut buffer).as_bytes(),
        };
        let new = bytes.iter().map(|&byte| Symbol::Character(byte_character(byte)));
        changes.extend(new.enumerate().map(|(index, new)| (new, isize::from(index > 0))));
    }
    aligned.change(&changes, 0);
}

fn align_precompiled(map: &CharsMap, aligned: &mut Aligned) {
    let mut changes = Vec::with_capacity(aligned.text.len());
    for chunk in aligned.text.utf8_chunks() {
        for_each_part(map, chunk.valid(), |part, replacement| match replacement {
            Some(replacement) => push_changes(&mut changes, part, replacement),
            None => changes.extend(part.chars().map(|same| (Symbol::Character(same), 0))),
        });
        changes.extend(chunk.invalid().iter().map(|&byte| (Symbol::Byte(byte), 0)));
    }
    aligned.change(&changes, 0);
}

/// The occurrences of a text, from left to right, without overlap.
fn occurrences<'t>(text: &'t [u8], from: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let places = memchr::memmem::find_iter(text, from.as_bytes());
    places.map(|start| start..start + from.len())
}

fn replace(
    text: &[u8],
    ranges: impl IntoIterator<Item = Range<usize>>,
    to: &str,
) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let mut copied = 0;
    for range in ranges {
        ask_to_grow(&bytes, range.start - copied + to.len())?;
        bytes.extend_from_slice(&text[copied..range.start]);
        bytes.extend_from_slice(to.as_bytes());
        copied = range.end;
    }
    if copied == 0 {
        return Ok(None);
    }
    bytes.extend_from_slice(&text[copied..]);
    Ok(Some(bytes))
}

fn precompiled(map: &CharsMap, text: &[u8]) -> Result<Vec<u8>> {
    let mut room = Ok(());
    let bytes = map_valid(text, |valid, out| {
        for_each_part(map, valid, |part, new| {
            let new = new.unwrap_or(part);
            if room.is_ok() && out.capacity() - out.len() < new.len() {
                room = ask(2 * out.capacity());
            }
            if room.is_ok() {
                out.push_str(new);
            }
        });
    });
    room.map(|()| bytes)
}

/// The range without white space at the chosen ends.
fn stripped(text: &[u8], left: bool, right: bool) -> Range<usize> {
    let is_white = |symbol: &Symbol| symbol.character().is_some_and(char::is_whitespace);
    let length = |symbol: Symbol| symbol.character().map_or(1, char::len_utf8);
    let start = match left {
        true => symbols(text).take_while(is_white).map(length).sum(),
        false => 0,
    };
    let mut end = start;
    let mut place = start;
    for symbol in symbols(&text[start..]) {
        place += length(symbol);
        if !right || !is_white(&symbol) {
            end = place;
        }
    }
    start..end
}

/// The byte that a character stands for; other symbols are unchanged.
fn spelled_byte(symbol: Symbol) -> Symbol {
    let byte = symbol.character().and_then(units::byte_of_printable);
    byte.map_or(symbol, Symbol::Byte)
}

fn byte_character(byte: u8) -> char {
    static CHARACTERS: OnceLock<[char; 256]> = OnceLock::new();
    let by_value = |value: usize| u8::try_from(value).map_or('\0', units::printable);
    CHARACTERS.get_or_init(|| std::array::from_fn(by_value))[usize::from(byte)]
}

/// What becomes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterRule {
    /// Its lower case.
    Lowercase,
    /// Nothing if it belongs to a class.
    Drop(TextClass),
    /// Nothing if BERT treats it as a control, or it is NUL or U+FFFD.
    DropBertControls,
    /// A space if it is white space.
    SpaceForWhite,
    /// Itself between two spaces if it is an ideograph.
    SurroundIdeographs,
    /// Nothing if it is one of the controls that Nmt names.
    DropNmtControls,
    /// A space if Nmt treats it as one.
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

    /// Whether the rule changes an ASCII text.
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

/// The blocks that BERT calls Chinese, including its gap before U+2B920.
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
