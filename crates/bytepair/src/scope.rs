//! Tokens that occur in no text without certain characters.
//!
//! A scope is a set of characters. Some byte sequences are part of valid UTF-8 only within one of these characters:
//! the character itself, or a part of it that no other character has at that place. `E0 A4` begins characters of
//! Devanagari and no others. A token is *of the scope* if it contains such a sequence. So a text that contains none
//! has no token of the scope, which is true of every valid text without these characters. Invalid UTF-8 has such a
//! token only if it contains a fragment of such a character.
//!
//! Any token built on a token of the scope is of the scope too. Two tokens that are not may form one that is: `E0` and `A4`.
//!
//! The shortest such sequences are at most four bytes long ([`MAX_LEN`]): a character, some of its first bytes, or
//! some of its later bytes up to its end, followed by one byte of the next character. So whether two tokens outside
//! the scope form one of the scope is decided by three bytes on either side of their boundary.
//!
//! Building a scope takes 20 ms and 70 KB, and each candidate takes a search in its ranges. Without a scope, there is
//! no cost.

use std::ops::RangeInclusive;

use bytepair_split::unicode::merged;

use crate::error::{Error, Result};

/// The most bytes of a sequence that must be looked at to decide whether it occurs only within characters of a scope.
const MAX_LEN: usize = 4;
/// The most bytes of a token that can be part of such a sequence together with a neighbour.
const EDGE_LEN: usize = MAX_LEN - 1;
/// The most bytes of a character that follow its first.
const MAX_INSIDE_LEN: usize = 3;

/// A set of characters, and the bytes that occur only in these.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Ascending and not adjacent.
    ranges: Vec<RangeInclusive<char>>,
    /// Bytes that continue a character outside the scope.
    inside_others: Tails,
    /// Bytes that end a character outside the scope.
    ending_others: Tails,
}

/// A set of sequences of one to three bytes that continue a character.
#[derive(Clone, Debug)]
struct Tails([Vec<u64>; MAX_INSIDE_LEN]);

impl Tails {
    fn new() -> Self {
        Self([1, 64, 64 * 64].map(|n_words| vec![0; n_words]))
    }

    /// The index of bytes: six bits of each.
    fn place(bytes: &[u8]) -> (usize, u64) {
        let (&last, others) = bytes.split_last().unwrap_or((&0, &[]));
        let word = others.iter().fold(0, |word, byte| word << 6 | usize::from(byte & 0x3F));
        (word, 1 << (last & 0x3F))
    }

    fn insert(&mut self, bytes: &[u8]) {
        let (word, bit) = Self::place(bytes);
        self.0[bytes.len() - 1][word] |= bit;
    }

    fn contains(&self, bytes: &[u8]) -> bool {
        let (word, bit) = Self::place(bytes);
        self.0[bytes.len() - 1][word] & bit != 0
    }
}

impl Scope {
    /// The scope of these characters, in any order.
    ///
    /// # Errors
    /// If there are none.
    pub fn new(ranges: Vec<RangeInclusive<char>>) -> Result<Self> {
        let ranges = merged(ranges);
        if ranges.is_empty() {
            return Err(Error::option("scope", "has no character"));
        }
        let (mut inside_others, mut ending_others) = (Tails::new(), Tails::new());
        let mut scope = ranges.iter().peekable();
        for character in '\u{80}'..=char::MAX {
            while scope.next_if(|range| *range.end() < character).is_some() {}
            if scope.peek().is_some_and(|range| range.contains(&character)) {
                continue;
            }
            let (mut buffer, n_first) = ([0; MAX_LEN], 1);
            let tail = &character.encode_utf8(&mut buffer).as_bytes()[n_first..];
            for start in 0..tail.len() {
                ending_others.insert(&tail[start..]);
                (start..tail.len()).for_each(|end| inside_others.insert(&tail[start..=end]));
            }
        }
        Ok(Self { ranges, inside_others, ending_others })
    }

    /// Whether a character is one of them.
    pub fn contains(&self, character: char) -> bool {
        self.contains_all(character, character)
    }

    fn contains_all(&self, first: char, last: char) -> bool {
        let place = self.ranges.partition_point(|range| *range.end() < first);
        let range = self.ranges.get(place);
        range.is_some_and(|range| *range.start() <= first && last <= *range.end())
    }

    /// Whether bytes contain a sequence that is part of valid UTF-8 only within a character of the scope.
    pub fn has_part_in(&self, bytes: &[u8]) -> bool {
        (0..bytes.len()).any(|start| self.is_part_at(&bytes[start..]))
    }

    /// Whether such a sequence begins here.
    fn is_part_at(&self, bytes: &[u8]) -> bool {
        let Some(&first) = bytes.first() else { return false };
        let is_inside = |byte: &&u8| **byte & 0xC0 == 0x80;
        if is_inside(&&first) {
            let n_inside = bytes.iter().take(MAX_INSIDE_LEN).take_while(is_inside).count();
            return (1..=n_inside).any(|len| self.is_tail_of_scope(&bytes[..len], &bytes[len..]));
        }
        let Some(len) = len_by_first(first) else { return false };
        let n_inside = bytes[1..].iter().take(len - 1).take_while(is_inside).count();
        (1..=n_inside + 1).any(|n_known| self.is_beginning_of_scope(&bytes[..n_known], len))
    }

    /// Whether only characters of the scope continue with these bytes or, if another character follows, end with them.
    fn is_tail_of_scope(&self, tail: &[u8], rest: &[u8]) -> bool {
        let is_end = rest.first().is_some_and(|&next| len_by_first(next).is_some());
        !self.inside_others.contains(tail) || is_end && !self.ending_others.contains(tail)
    }

    /// Whether only characters of the scope, of `len` bytes each, begin with these bytes.
    fn is_beginning_of_scope(&self, bytes: &[u8], len: usize) -> bool {
        let (first, others) = (u32::from(bytes[0]), &bytes[1..]);
        let payload = if len == 1 { first } else { first & (0x7F >> len) };
        let known = others.iter().fold(payload, |code, byte| code << 6 | u32::from(byte & 0x3F));
        let n_bits = 6 * (len - bytes.len());
        let (low, high) = (known << n_bits, (known << n_bits) | ((1 << n_bits) - 1));
        let low = low.max([0, 0x80, 0x800, 0x1_0000][len - 1]);
        let high = high.min(u32::from(char::MAX));
        // Bytes that begin surrogates may begin the characters before them; the characters after them have another
        // first byte.
        let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
        let ends = (char::from_u32(low), char::from_u32(high));
        matches!(ends, (Some(low), Some(high)) if low <= high && self.contains_all(low, high))
    }
}

/// The length of a character by its first byte; `None` for bytes that begin no character.
fn len_by_first(byte: u8) -> Option<usize> {
    match byte {
        0..=0x7F => Some(1),
        0xC2..=0xDF => Some(2),
        0xE0..=0xEF => Some(3),
        0xF0..=0xF4 => Some(4),
        _ => None,
    }
}

/// Decides whether a token and a neighbour together are of the scope.
#[derive(Clone, Copy, Default)]
pub(crate) struct Edges {
    is_of_scope: bool,
    first: [u8; EDGE_LEN],
    n_first: u8,
    last: [u8; EDGE_LEN],
    n_last: u8,
}

impl Edges {
    pub(crate) fn of(bytes: &[u8], scope: &Scope) -> Self {
        let len = bytes.len().min(EDGE_LEN);
        let (mut first, mut last) = ([0; EDGE_LEN], [0; EDGE_LEN]);
        first[..len].copy_from_slice(&bytes[..len]);
        last[..len].copy_from_slice(&bytes[bytes.len() - len..]);
        let len = [0, 1, 2, 3][len];
        let is_of_scope = scope.has_part_in(bytes);
        Self { is_of_scope, first, n_first: len, last, n_last: len }
    }

    pub(crate) fn is_of_scope(&self) -> bool {
        self.is_of_scope
    }

    /// Whether a token and the next one together are of the scope.
    pub(crate) fn joins(&self, right: &Self, scope: &Scope) -> bool {
        if self.is_of_scope || right.is_of_scope {
            return true;
        }
        let (n_last, n_first) = (usize::from(self.n_last), usize::from(right.n_first));
        let mut seam = [0; 2 * EDGE_LEN];
        seam[..n_last].copy_from_slice(&self.last[..n_last]);
        seam[n_last..n_last + n_first].copy_from_slice(&right.first[..n_first]);
        scope.has_part_in(&seam[..n_last + n_first])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};

    use bytepair_split::unicode::UnicodeTables;
    use proptest::prelude::*;

    use super::*;

    /// Scopes with cuts of every kind: a whole block, single characters, characters of four bytes, all of a first byte.
    static SCOPES: LazyLock<Vec<Scope>> = LazyLock::new(|| {
        let script = |name| UnicodeTables::latest().property(name).unwrap();
        let sets = [
            script("Devanagari"),
            script("Arabic"),
            vec!['é'..='é', '\u{3C0}'..='\u{3FF}', 'z'..='z'],
            vec!['\u{1F600}'..='\u{1F64F}', '\u{800}'..='\u{FFF}', '\u{10FFF0}'..=char::MAX],
            vec!['\u{D000}'..='\u{D7FF}', '\u{F0000}'..=char::MAX, '\u{80}'..='\u{BF}'],
            vec!['\0'..='\u{2FFFF}', '\u{30040}'..='\u{BFFFF}'],
        ];
        sets.into_iter().map(|ranges| Scope::new(ranges).unwrap()).collect()
    });

    /// By the definition: whether a sequence of the bytes is in some valid text, and in none of other characters.
    fn has_part_in(scope: usize, bytes: &[u8]) -> bool {
        let ends = |start| (start..=bytes.len()).map(move |end| &bytes[start..end]);
        let mut parts = (0..=bytes.len()).flat_map(ends);
        parts.any(|part| occurs(part, usize::MAX) && !occurs(part, scope))
    }

    /// Whether bytes are in a text of characters outside a scope.
    fn occurs(bytes: &[u8], scope: usize) -> bool {
        let n_tail = bytes.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        let (tail, rest) = bytes.split_at(n_tail);
        if rest.is_empty() {
            return tail.is_empty() || is_cut_of_some(tail, Cut::Inside, scope);
        }
        let chunk = rest.utf8_chunks().next().unwrap();
        let beginning = &rest[chunk.valid().len()..];
        (tail.is_empty() || is_cut_of_some(tail, Cut::End, scope))
            && chunk.valid().chars().all(|c| is_other(c, scope))
            && (beginning.is_empty() || is_cut_of_some(beginning, Cut::Beginning, scope))
    }

    fn is_other(character: char, scope: usize) -> bool {
        let scope = SCOPES.get(scope);
        scope.is_none_or(|scope| !scope.ranges.iter().any(|range| range.contains(&character)))
    }

    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    enum Cut {
        Beginning,
        Inside,
        End,
    }

    /// Whether some character outside the scope has this part, without its first byte or without its last one.
    fn is_cut_of_some(bytes: &[u8], cut: Cut, scope: usize) -> bool {
        type Known = HashMap<(Vec<u8>, Cut, usize), bool>;
        static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
        if bytes.len() > 3 {
            return false;
        }
        let key = (bytes.to_vec(), cut, scope);
        if let Some(&found) = KNOWN.lock().unwrap().get(&key) {
            return found;
        }
        let is_cut = |character: char| {
            let mut buffer = [0; 4];
            let whole = character.encode_utf8(&mut buffer).as_bytes();
            match cut {
                Cut::Beginning => whole.len() > bytes.len() && whole.starts_with(bytes),
                Cut::Inside => whole[1..].windows(bytes.len()).any(|part| part == bytes),
                Cut::End => whole[1..].ends_with(bytes),
            }
        };
        let found = ('\0'..=char::MAX).any(|c| is_other(c, scope) && is_cut(c));
        KNOWN.lock().unwrap().insert(key, found);
        found
    }

    const BYTES: [u8; 18] = [
        0x61, 0x7A, 0x80, 0xA4, 0xA9, 0xBF, 0xC3, 0xC1, 0xCF, 0xD9, 0xE0, 0xED, 0xEF, 0xF0, 0xF3,
        0xF4, 0xFF, 0x9F,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
        #[test]
        fn bytes_are_of_a_scope_as_the_definition_says(
            bytes in prop::collection::vec(prop::sample::select(&BYTES[..]), 0..7),
            cut in 0..7_usize,
        ) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            for (place, scope) in SCOPES.iter().enumerate() {
                let expected = has_part_in(place, &bytes);
                prop_assert_eq!(scope.has_part_in(&bytes), expected, "{} {:x?}", place, bytes);
                let (left, right) = (Edges::of(left, scope), Edges::of(right, scope));
                prop_assert_eq!(left.joins(&right, scope), expected, "{} {:x?}", place, bytes);
            }
        }

        #[test]
        fn a_text_without_the_characters_has_no_part_of_the_scope(text in "[a-zé\u{370}-\u{400}नम\u{964}ا\u{D7FF}😀\u{FFFFF}]{0,9}") {
            for scope in SCOPES.iter() {
                let holds = text.chars().any(|character| scope.contains(character));
                prop_assert_eq!(scope.has_part_in(text.as_bytes()), holds);
            }
        }
    }
}
