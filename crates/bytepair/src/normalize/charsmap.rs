//! The character map that SentencePiece compiles into its models.
//!
//! It says which text replaces which: keys lie in a double array (a trie in one row of 32-bit units,
//! walked byte by byte), the texts after it, each ended by a NUL. Reading copies the map once and checks its sizes; a walk
//! that a damaged map would lead out of itself ends there. A look-up takes one step for each byte of the key.
//!
//! Two libraries look different things up. SentencePiece takes the longest key that a text begins with. Hugging Face's
//! `Precompiled` takes each grapheme cluster of less than six bytes, and each character of the others; of the keys that the
//! looked-up text begins with, the *shortest* replaces the whole of it ([`for_each_part`]).
//!
//! Layout of a unit: bit 31 marks a value (the other bits hold it), bits 0-7 are the label, bit 8 says
//! that a key ends here, bit 9 scales the offset in bits 10-30 by 256.

use std::fmt;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::Growth;
use super::aligned::{Change, Symbol};
use crate::error::{Error, Result};

/// Texts and what replaces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CharsMap(Arc<Map>);

#[derive(PartialEq, Eq, Hash)]
struct Map {
    units: Vec<u32>,
    /// The replacements, each ended by a NUL.
    texts: String,
}

impl fmt::Debug for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} units, {} bytes", self.units.len(), self.texts.len())
    }
}

/// How many keys that a text begins with SentencePiece keeps, the shortest ones.
const MAX_KEYS: usize = 32;

impl CharsMap {
    /// Reads the content of `precompiled_charsmap`.
    ///
    /// # Errors
    /// If the sizes in it do not fit its length, or the replacements are not UTF-8.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let problem = |problem: &str| Error::format("SentencePiece", PART, problem);
        let (size, rest) = data.split_first_chunk().ok_or_else(|| problem("too short"))?;
        let n_bytes = u32::from_le_bytes(*size) as usize;
        let (units, texts) = rest
            .split_at_checked(n_bytes)
            .filter(|(_, texts)| texts.is_empty() || texts.ends_with(&[0]))
            .ok_or_else(|| problem("cut off, or its sizes are wrong"))?;
        let (units, []) = units.as_chunks() else {
            return Err(problem("the size of its array is not a multiple of four"));
        };
        let texts = std::str::from_utf8(texts).map_err(|_| problem("its texts are not UTF-8"))?;
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Ok(Self(Arc::new(Map { units, texts: texts.to_owned() })))
    }

    /// How much longer a text can become.
    pub(super) fn growth(&self) -> Growth {
        let texts = &self.0.texts;
        Growth::any(texts.split('\0').map(str::len).max().unwrap_or(0), texts)
    }

    /// The content of `precompiled_charsmap` that gives this map.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Map { units, texts } = &*self.0;
        let n_bytes = u32::try_from(units.len() * 4).unwrap_or_default();
        let units = units.iter().flat_map(|unit| unit.to_le_bytes());
        n_bytes.to_le_bytes().into_iter().chain(units).chain(texts.bytes()).collect()
    }

    /// The longest key that a text begins with: its length in bytes, and what replaces it.
    #[inline]
    pub fn longest(&self, text: &[u8]) -> Option<(usize, &str)> {
        let mut longest = None;
        self.walk(text, |length, value| longest = Some((length, value)));
        let (length, value) = longest?;
        Some((length, self.replacement(value)?))
    }

    /// What replaces the shortest key that a text begins with, as Hugging Face's `Precompiled` looks it up.
    pub fn shortest(&self, text: &[u8]) -> Option<&str> {
        let mut shortest = None;
        self.walk(text, |_, value| shortest = shortest.or(Some(value)));
        self.replacement(shortest?)
    }

    /// Calls `visit` with the length and the value of each key that a text begins with, the shortest first.
    #[inline]
    fn walk(&self, text: &[u8], mut visit: impl FnMut(usize, u32)) {
        let units = &self.0.units;
        let Some(&root) = units.first() else { return };
        let mut place = offset(root);
        let mut n_keys = 0;
        for (&byte, length) in text.iter().zip(1..) {
            place ^= usize::from(byte);
            let Some(&unit) = units.get(place).filter(|&&unit| label(unit) == u32::from(byte))
            else {
                return;
            };
            place ^= offset(unit);
            if !ends_key(unit) {
                continue;
            }
            let Some(&value) = units.get(place) else { return };
            visit(length, value & !VALUE_BIT);
            n_keys += 1;
            if n_keys == MAX_KEYS {
                return;
            }
        }
    }

    /// Visits every two neighbouring bytes that some key has.
    pub(super) fn for_each_joined(&self, mut visit: impl FnMut(u8, u8)) {
        let units = &self.0.units;
        let Some(&root) = units.first() else { return };
        let mut is_seen = vec![false; units.len()];
        let mut open = vec![(offset(root), None)];
        while let Some((place, before)) = open.pop() {
            let bytes = (0..=u8::MAX).map(|byte| (byte, place ^ usize::from(byte)));
            let is_next = |&(byte, next): &(u8, usize)| {
                units.get(next).is_some_and(|&unit| label(unit) == u32::from(byte))
            };
            for (byte, next) in bytes.filter(is_next) {
                before.into_iter().for_each(|before| visit(before, byte));
                // In a damaged map a unit may have several parents; what follows it is the same.
                let was_seen = std::mem::replace(&mut is_seen[next], true);
                open.extend((!was_seen).then(|| (next ^ offset(units[next]), Some(byte))));
            }
        }
    }

    fn replacement(&self, value: u32) -> Option<&str> {
        let rest = self.0.texts.get(value as usize..)?;
        rest.split('\0').next()
    }
}

/// The part of a file that messages name.
const PART: &str = "precompiled_charsmap";

const VALUE_BIT: u32 = 1 << 31;

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

/// The byte that leads to a unit; no byte where the unit is a value.
fn label(unit: u32) -> u32 {
    unit & (VALUE_BIT | 0xFF)
}

fn ends_key(unit: u32) -> bool {
    unit & (1 << 8) != 0
}

/// Clusters of this length, in bytes, and longer ones are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// Calls `visit` with each part of a text and what replaces it, in order.
pub(super) fn for_each_part<'t>(
    map: &'t CharsMap,
    text: &'t str,
    mut visit: impl FnMut(&'t str, Option<&'t str>),
) {
    for cluster in text.graphemes(true) {
        let whole = (cluster.len() < LONG_CLUSTER).then(|| map.shortest(cluster.as_bytes()));
        if let Some(Some(replacement)) = whole {
            visit(cluster, Some(replacement));
            continue;
        }
        for part in cluster.split_inclusive(|_| true) {
            visit(part, map.shortest(part.as_bytes()));
        }
    }
}

/// The changes that put a replacement in the place of a part.
///
/// What is longer adds its last characters; what is shorter lets the last character before the rest of the
/// text skip the others, also where that character stands before an empty replacement. At the beginning of
/// a text nothing does, and later spans lag: that is how the library counts.
pub(super) fn push_changes(changes: &mut Vec<Change>, part: &str, replacement: &str) {
    let n_before = part.chars().count();
    let n_after = replacement.chars().count();
    let added = |index: usize| isize::from(index >= n_before);
    let new = replacement.chars().enumerate();
    changes.extend(new.map(|(index, character)| (Symbol::Character(character), added(index))));
    if let Some((_, change)) = changes.last_mut().filter(|_| n_after < n_before) {
        *change -= (n_before - n_after).cast_signed();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lays a map of keys out as a double array: every node gets a block of 256 units of its own.
    pub(crate) fn build(rules: &[(&str, &str)]) -> Vec<u8> {
        let mut texts = Vec::new();
        let mut nodes = vec![(Vec::<u8>::new(), None)];
        for (key, replacement) in rules {
            let prefixes = (1..=key.len()).map(|end| &key.as_bytes()[..end]);
            let missing = |prefix: &&[u8]| nodes.iter().all(|(node, _)| node != prefix);
            let missing: Vec<_> = prefixes.filter(missing).collect();
            nodes.extend(missing.into_iter().map(|prefix| (prefix.to_vec(), None)));
            let node = nodes.iter_mut().find(|(node, _)| node == key.as_bytes()).unwrap();
            node.1 = Some(u32::try_from(texts.len()).unwrap());
            texts.extend_from_slice(replacement.as_bytes());
            texts.push(0);
        }
        // The root lies in unit 0, so its block is the first; a block's unit 0 holds the value of its node.
        let mut units = vec![0_u32; (nodes.len() + 1) * 256];
        let block = |index: usize| (index + 1) * 256;
        for (index, (node, value)) in nodes.iter().enumerate() {
            let (own, label) = match node.split_last() {
                None => (0, 0),
                Some((&last, parent)) => {
                    let parent = nodes.iter().position(|(other, _)| other == parent).unwrap();
                    (block(parent) ^ usize::from(last), u32::from(last))
                }
            };
            // The offset is relative: it leads from a unit to the block of its node.
            let distance = u32::try_from(own ^ block(index)).unwrap();
            units[own] = label | u32::from(value.is_some()) << 8 | distance << 10;
            if let Some(value) = value {
                units[block(index)] = VALUE_BIT | value;
            }
        }
        let n_bytes = u32::try_from(units.len() * 4).unwrap();
        let units = units.iter().flat_map(|unit| unit.to_le_bytes());
        n_bytes.to_le_bytes().into_iter().chain(units).chain(texts).collect()
    }

    const RULES: [(&str, &str); 5] =
        [("a", "b"), ("ab", ""), ("abcd", "xyz"), ("é", "e\u{301}"), ("ﬁ", "fi")];

    #[test]
    fn the_longest_key_wins() {
        let map = CharsMap::parse(&build(&RULES)).unwrap();
        assert_eq!(map.longest(b"abcx"), Some((2, "")));
        assert_eq!(map.longest(b"abcdx"), Some((4, "xyz")));
        assert_eq!(map.longest("éa".as_bytes()), Some((2, "e\u{301}")));
        assert_eq!(map.longest(b"b"), None);
        assert_eq!(map.longest(b""), None);
    }

    #[test]
    fn neighbours_in_keys_are_joined() {
        let map = CharsMap::parse(&build(&RULES)).unwrap();
        let mut joined = Vec::new();
        map.for_each_joined(|before, after| joined.push((before, after)));
        // Units of zeros look like the byte NUL, also to a look-up.
        joined.retain(|&(before, after)| before > 0 && after > 0);
        joined.sort_unstable();
        let (e, fi) = ("é".as_bytes(), "ﬁ".as_bytes());
        let mut expected = vec![
            (b'a', b'b'),
            (b'b', b'c'),
            (b'c', b'd'),
            (e[0], e[1]),
            (fi[0], fi[1]),
            (fi[1], fi[2]),
        ];
        expected.sort_unstable();
        assert_eq!(joined, expected);
    }

    #[test]
    fn a_map_is_written_as_it_was_read() {
        let bytes = build(&RULES);
        assert_eq!(CharsMap::parse(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let bytes = build(&RULES);
        assert!(CharsMap::parse(&[]).is_err());
        assert!(CharsMap::parse(&[255; 4]).is_err());
        assert!(CharsMap::parse(&bytes[..bytes.len() - 1]).is_err());
        assert!(CharsMap::parse(&[6, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0]).is_err());
        assert!(CharsMap::parse(b"\x04\0\0\0\0\0\0\0\xFF\0").is_err());
    }

    proptest! {
        #[test]
        fn no_content_leads_a_walk_out_of_the_map(
            units in prop::collection::vec(any::<u32>(), 0..40),
            text: Vec<u8>,
        ) {
            let n_bytes = u32::try_from(units.len() * 4).unwrap().to_le_bytes();
            let units = units.iter().flat_map(|unit| unit.to_le_bytes());
            let data: Vec<u8> = n_bytes.into_iter().chain(units).chain(*b"ab\0c\0").collect();
            let map = CharsMap::parse(&data).unwrap();
            let longest = map.longest(&text);
            prop_assert!(longest.is_none_or(|(length, _)| length <= text.len()));
            map.shortest(&text);
            map.for_each_joined(|_, _| ());
        }
    }
}
