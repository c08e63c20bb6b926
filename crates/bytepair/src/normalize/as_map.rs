//! Steps of a normalizer as a character map; SentencePiece takes the longest key of the map at each place.
//!
//! Steps that change each character on its own are a map as they stand. A Unicode form also joins marks to the character
//! before them and puts them in order, any number of them, which no finite map does. To find what a map can hold, texts
//! that a form changes as a whole are taken, the short ones first: a text becomes a key if the keys so far would change it
//! in another way. Longer keys do not affect shorter texts, so each text is right from then on.
//!
//! The texts are: every character; a character with what joins it, in every spelling (`ａ` with U+0301, `é` with U+0323);
//! Hangul of two or three parts; characters composed of three or more, with their marks in every order; marks of one script
//! that change places; letters with two marks, one of which joins them. So a text is right if its characters have no more
//! than one mark each, and mostly if they have more; if a form takes characters apart, their own marks count. Building
//! takes about a second.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose, decompose_compatible};

use super::{BertRules, CharsMap, NormalizeStep, Normalizer, UnicodeForm};
use crate::error::Result;
use crate::segment::Segment;

/// A map, and how it differs from the steps.
#[derive(Clone, Debug)]
pub struct StepsAsMap {
    /// `None` where the steps change nothing.
    pub map: Option<CharsMap>,
    /// A text with several marks that the steps change in another way, if there is any; empty where none was found.
    pub odd_marks: Option<String>,
    /// Whether a character is left out, so that nothing remains of a text of this character.
    pub leaves_out: Option<char>,
    /// Whether a space is in the place of a character.
    pub makes_spaces: bool,
    /// Whether the character NUL is changed, which no key can have.
    pub changes_nul: bool,
}

/// Classes of marks whose order in the text often is another: points of Hebrew and Arabic.
const POINTS: std::ops::RangeInclusive<u8> = 10..=35;

/// Whether a step changes each character on its own, or puts text in a Unicode form.
pub fn is_map(step: &NormalizeStep) -> bool {
    match step {
        NormalizeStep::Lowercase
        | NormalizeStep::Form(_)
        | NormalizeStep::StripAccents
        | NormalizeStep::Bert(_)
        | NormalizeStep::Nmt => true,
        NormalizeStep::Replace { from, .. } => from.chars().count() == 1,
        NormalizeStep::Prepend { .. }
        | NormalizeStep::ReplaceMatches { .. }
        | NormalizeStep::Strip { .. }
        | NormalizeStep::ByteChars
        | NormalizeStep::CharBytes
        | NormalizeStep::Precompiled(_)
        | NormalizeStep::SentencePiece(_) => false,
    }
}

/// The Unicode form that a step puts text in.
fn form(step: &NormalizeStep) -> Option<UnicodeForm> {
    match step {
        NormalizeStep::Form(form) => Some(*form),
        NormalizeStep::Bert(BertRules { strip_accents, lowercase, .. }) => {
            strip_accents.unwrap_or(*lowercase).then_some(UnicodeForm::Nfd)
        }
        _ => None,
    }
}

/// The map of steps that `is_map` holds for. The character `except` is left alone.
///
/// # Errors
/// Where a map does not hold so many keys.
pub fn as_map(steps: &Normalizer, except: Option<char>) -> Result<StepsAsMap> {
    let single = changed_characters(steps).into_iter();
    let mut keys: HashMap<String, String> = single
        .filter(|(character, _)| Some(*character) != except)
        .map(|(character, new)| (character.to_string(), new))
        .collect();
    let mut odd_marks = None;
    if steps.steps().iter().any(|step| form(step).is_some()) {
        let joined = Joined::new(steps);
        for text in joined.texts() {
            let new = changed(steps, &text);
            if by_keys(&keys, &text) != new {
                keys.insert(text, new);
            }
        }
        odd_marks = joined.difference(steps, &keys);
    }
    let keys = BTreeMap::from_iter(keys);
    let left_out = keys.iter().find(|(_, replacement)| replacement.is_empty());
    Ok(StepsAsMap {
        map: (!keys.is_empty()).then(|| CharsMap::of_keys(&keys)).transpose()?,
        makes_spaces: keys.values().any(|replacement| replacement.contains(' ')),
        odd_marks,
        leaves_out: left_out.and_then(|(key, _)| key.chars().next()),
        changes_nul: changed(steps, "\0") != "\0",
    })
}

/// A character that no form takes apart, joins or moves.
const APART: char = '0';

/// The characters that steps change, NUL aside, with what they become.
///
/// Most blocks of characters are left as they are, which one look at all of them shows: with `APART` behind each, none is
/// changed together with another one.
fn changed_characters(steps: &Normalizer) -> HashMap<char, String> {
    let apart = APART.to_string();
    let stays = |step: &NormalizeStep| {
        changed(&Normalizer::new(vec![step.clone()], steps.unicode()), &apart) == apart
    };
    let has_apart = steps.steps().iter().all(stays);
    let all: Vec<char> = ('\u{1}'..=char::MAX).collect();
    let is_left = |block: &&[char]| {
        let text: String = block.iter().flat_map(|&character| [character, APART]).collect();
        has_apart && changed(steps, &text) == text
    };
    let blocks = all.chunks(128).filter(|block| !is_left(block));
    let changes = blocks.flatten().map(|character| {
        let text = character.to_string();
        (*character, changed(steps, &text), text)
    });
    changes
        .filter(|(_, new, text)| new != text)
        .map(|(character, new, _)| (character, new))
        .collect()
}

fn changed(steps: &Normalizer, text: &str) -> String {
    // Steps of one character and of forms do not fail.
    let changed = steps.normalize(Segment::inner(text.as_bytes())).unwrap_or_default();
    String::from_utf8_lossy(&changed).into_owned()
}

/// What the longest keys make of a text.
fn by_keys(keys: &HashMap<String, String>, text: &str) -> String {
    let mut new = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut ends =
            rest.char_indices().map(|(place, character)| place + character.len_utf8()).rev();
        let found = ends.find_map(|end| Some((end, keys.get(&rest[..end])?.as_str())));
        let (end, replacement) = found.unwrap_or((first.len_utf8(), &rest[..first.len_utf8()]));
        new.push_str(replacement);
        rest = &rest[end..];
    }
    new
}

/// Characters by what they become before a form joins them.
struct Joined {
    /// By the character that they end with, decomposed and composed again: what ends so.
    heads: HashMap<char, Vec<char>>,
    /// By the character that they begin with: what joins one before.
    tails: HashMap<char, Vec<char>>,
    /// The pairs that are composed, with what they are composed to.
    pairs: BTreeMap<(char, char), char>,
    /// Characters that begin with a mark, with its class.
    marks: Vec<(char, u8)>,
    /// Characters that end with a mark which stays one.
    marked: Vec<(char, u8)>,
}

impl Joined {
    fn new(steps: &Normalizer) -> Self {
        let pairs = pairs();
        let seconds: BTreeSet<char> = pairs.keys().map(|pair| pair.1).collect();
        let firsts: BTreeSet<char> = pairs.keys().map(|pair| pair.0).collect();
        let before = changed_characters(&before_form(steps));
        let mut joined = Self {
            heads: HashMap::new(),
            tails: HashMap::new(),
            pairs,
            marks: Vec::new(),
            marked: Vec::new(),
        };
        for character in '\u{1}'..=char::MAX {
            let mut parts = Vec::new();
            match before.get(&character) {
                Some(text) => text
                    .chars()
                    .for_each(|part| decompose_compatible(part, |part| parts.push(part))),
                None => decompose_compatible(character, |part| parts.push(part)),
            }
            let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else { continue };
            let (class, last_class) =
                (canonical_combining_class(first), canonical_combining_class(last));
            if parts == [character]
                && class == 0
                && !seconds.contains(&character)
                && !firsts.contains(&character)
            {
                continue;
            }
            if seconds.contains(&first) {
                joined.tails.entry(first).or_default().push(character);
            }
            if class > 0 {
                joined.marks.push((character, class));
            }
            let starter = parts.iter().rposition(|&part| canonical_combining_class(part) == 0);
            let Some(starter) = starter else { continue };
            // A mark that follows may belong before the last ones, and join what stands before these.
            let beginnings = (starter + 1..=parts.len()).map(|end| nfc(&parts[starter..end]));
            let mut ends: Vec<char> = beginnings.filter(|text| text.len() == 1).flatten().collect();
            // A syllable of Hangul takes in one more part.
            ends.extend(nfc(&parts).last().filter(|&&end| canonical_combining_class(end) == 0));
            ends.sort_unstable();
            ends.dedup();
            for end in ends.into_iter().filter(|end| firsts.contains(end)) {
                joined.heads.entry(end).or_default().push(character);
            }
            if last_class > 0 && nfc(&parts[starter..]).len() > 1 {
                joined.marked.push((character, last_class));
            }
        }
        joined
    }

    /// Texts that a form may change as a whole, the short ones first.
    fn texts(&self) -> Vec<String> {
        let mut texts: Vec<Vec<char>> = Vec::new();
        for &(first, second) in self.pairs.keys() {
            let (heads, tails) = (of(&self.heads, first), of(&self.tails, second));
            texts.extend(
                heads.iter().flat_map(|&one| tails.iter().map(move |&other| vec![one, other])),
            );
        }
        self.push_syllables(&mut texts);
        self.push_composed(&mut texts);
        self.push_marks(&mut texts);
        self.push_beside_marks(&mut texts);
        texts.sort_unstable_by(|one, other| {
            one.len().cmp(&other.len()).then_with(|| one.cmp(other))
        });
        texts.dedup();
        texts.into_iter().map(String::from_iter).collect()
    }

    /// Hangul of three parts.
    fn push_syllables(&self, texts: &mut Vec<Vec<char>>) {
        let heads = ('\u{1100}'..='\u{1112}').flat_map(|part| of(&self.heads, part));
        let heads: Vec<char> = heads.copied().collect();
        let tails = |parts: std::ops::RangeInclusive<char>| -> Vec<char> {
            parts.flat_map(|part| of(&self.tails, part)).copied().collect()
        };
        let (vowels, ends) = (tails('\u{1161}'..='\u{1175}'), tails('\u{11A8}'..='\u{11C2}'));
        for &head in &heads {
            for &vowel in &vowels {
                texts.extend(ends.iter().map(|&end| vec![head, vowel, end]));
            }
        }
    }

    /// What is composed of three characters or more, with its marks in every order and spelling.
    fn push_composed(&self, texts: &mut Vec<Vec<char>>) {
        let composed = self.pairs.values().filter(|whole| !('가'..='힣').contains(*whole));
        for whole in composed {
            let parts: Vec<char> = std::iter::once(*whole).nfd().collect();
            if parts.len() < 3 {
                continue;
            }
            for order in orders(&parts[1..]) {
                let mut spelled: Vec<Vec<char>> = vec![of(&self.heads, parts[0]).to_vec()];
                spelled.extend(order.iter().map(|&mark| of(&self.tails, mark).to_vec()));
                texts.extend(product(&spelled));
            }
        }
    }

    /// Marks of one script that change places.
    fn push_marks(&self, texts: &mut Vec<Vec<char>>) {
        let by_script = self.marks.chunk_by(|one, other| script(one.0) == script(other.0));
        for marks in by_script {
            for &(one, class) in marks {
                let lower = marks.iter().filter(|mark| mark.1 < class);
                texts.extend(lower.map(|mark| vec![one, mark.0]));
            }
            let points: Vec<char> =
                marks.iter().filter(|mark| POINTS.contains(&mark.1)).map(|mark| mark.0).collect();
            texts.extend(product(&[points.clone(), points.clone(), points]));
        }
        for &(marked, class) in &self.marked {
            let lower = self.marks.iter().filter(|mark| mark.1 < class);
            texts.extend(lower.map(|mark| vec![marked, mark.0]));
        }
    }

    /// Letters with two marks, one of which joins this letter and one others.
    fn push_beside_marks(&self, texts: &mut Vec<Vec<char>>) {
        for &(first, second) in self.pairs.keys() {
            if canonical_combining_class(second) == 0 {
                continue;
            }
            let others = self.marks.iter().filter(|mark| self.tails.contains_key(&mark.0));
            for &(mark, _) in others.filter(|mark| script(mark.0) == script(second)) {
                texts.push(vec![first, second, mark]);
                texts.push(vec![first, mark, second]);
            }
        }
    }

    /// A text that the steps change in another way than the keys, or an empty one if there may be such texts.
    fn difference(&self, steps: &Normalizer, keys: &HashMap<String, String>) -> Option<String> {
        let composes = composes(steps);
        let stays = |mark: &&(char, u8)| !changed(steps, &mark.0.to_string()).is_empty();
        let left: Vec<char> = self.marks.iter().filter(stays).map(|mark| mark.0).collect();
        if left.is_empty() && !composes {
            return None;
        }
        let known =
            ["a\u{316}\u{300}", "\u{301}\u{5B0}", "\u{301}\u{316}\u{327}"].map(str::to_owned);
        let others = left
            .iter()
            .flat_map(|&one| left.iter().map(move |&other| String::from_iter([one, other])));
        let mut texts = known.into_iter().chain(others);
        let found = texts.find(|text| changed(steps, text) != by_keys(keys, text));
        // Without composition there is nothing but the order of two marks.
        if composes { Some(found.unwrap_or_default()) } else { found }
    }
}

/// Whether marks may be joined to the characters before them.
fn composes(steps: &Normalizer) -> bool {
    let composes = |form| matches!(form, UnicodeForm::Nfc | UnicodeForm::Nfkc);
    steps.steps().iter().filter_map(form).any(composes)
}

/// The steps before the first form.
fn before_form(steps: &Normalizer) -> Normalizer {
    let before = steps.steps().iter().take_while(|step| form(step).is_none());
    Normalizer::new(before.cloned().collect(), steps.unicode())
}

/// The pairs of characters that are composed.
fn pairs() -> BTreeMap<(char, char), char> {
    let pairs = ('\u{80}'..=char::MAX).filter_map(|whole| {
        let parts: Vec<char> = std::iter::once(whole).nfd().collect();
        let (&last, before) = parts.split_last()?;
        let [first] = nfc(before)[..] else { return None };
        (compose(first, last) == Some(whole)).then_some(((first, last), whole))
    });
    pairs.collect()
}

fn nfc(characters: &[char]) -> Vec<char> {
    characters.iter().copied().nfc().collect()
}

fn of(map: &HashMap<char, Vec<char>>, key: char) -> &[char] {
    map.get(&key).map_or(&[], Vec::as_slice)
}

fn script(character: char) -> u32 {
    u32::from(character) / 128
}

/// All orders of a few characters.
fn orders(characters: &[char]) -> Vec<Vec<char>> {
    if characters.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..characters.len() {
        let mut others = characters.to_vec();
        let first = others.remove(place);
        all.extend(orders(&others).into_iter().map(|rest| [&[first][..], &rest].concat()));
    }
    all
}

/// Every choice of one character from each row.
fn product(rows: &[Vec<char>]) -> Vec<Vec<char>> {
    rows.iter().fold(vec![Vec::new()], |texts, row| {
        let longer =
            texts.iter().flat_map(|text| row.iter().map(move |&one| [&text[..], &[one]].concat()));
        longer.collect()
    })
}
