//! The symbols that a pattern can tell apart.
//!
//! The sets of a pattern divide the code points into classes: two characters are in one class if they are in the same
//! sets. No part of the pattern can tell two characters of a class apart, so a matcher that reads classes is exact. The
//! invalid byte and the end of the text are symbols of their own.
//!
//! Real patterns have 5 to 20 classes; more than 254 are refused.
//! Cost: one look-up per ASCII character, two dependent ones for any other; about 20 KB per pattern.

use std::collections::BTreeMap;

use crate::parser::tree::CharSet;
use crate::symbol::{INVALID, code_at};

/// The most symbols, the end of the text included, that fit the tables.
const MAX_SYMBOLS: usize = 256;

const BLOCK_BITS: u32 = 7;
const BLOCK: usize = 1 << BLOCK_BITS;

/// A set of symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SymbolSet([u64; MAX_SYMBOLS / 64]);

impl SymbolSet {
    pub(crate) fn insert(&mut self, symbol: u8) {
        self.0[usize::from(symbol >> 6)] |= 1 << (symbol & 63);
    }

    #[inline]
    pub(crate) fn contains(&self, symbol: u8) -> bool {
        self.0[usize::from(symbol >> 6)] >> (symbol & 63) & 1 == 1
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] & other.0[index]))
    }

    /// The symbols that are not in this set. Symbols past the alphabet are in it too, and never looked up.
    pub(crate) fn negated(&self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// Maps code points to classes.
#[derive(Clone)]
pub(crate) struct Alphabet {
    ascii: [u8; 128],
    /// For each block of 128 code points, where its classes start in `classes`.
    blocks: Vec<u32>,
    classes: Vec<u8>,
    /// One code point of each class; the last is [`INVALID`].
    members: Vec<u32>,
}

impl Alphabet {
    /// The coarsest alphabet for these sets; `None` if it has too many symbols.
    pub(crate) fn new(sets: &[CharSet]) -> Option<Self> {
        let intervals = intervals(sets);
        let mut members = Vec::new();
        let mut class_of: BTreeMap<&[u64], u8> = BTreeMap::new();
        let mut runs = Vec::with_capacity(intervals.len());
        for (start, signature) in &intervals {
            let next = members.len();
            let class = *class_of.entry(signature.as_slice()).or_insert_with(|| {
                members.push(*start);
                u8::try_from(next).unwrap_or(u8::MAX)
            });
            if members.len() > MAX_SYMBOLS - 2 {
                return None;
            }
            runs.push((*start, class));
        }
        members.push(INVALID);
        let (blocks, classes) = two_level(&runs);
        let ascii = std::array::from_fn(|code| classes[blocks[0] as usize + code]);
        Some(Self { ascii, blocks, classes, members })
    }

    /// The number of classes, with the invalid byte and without the end of the text.
    pub(crate) fn n_classes(&self) -> usize {
        self.members.len()
    }

    /// The symbol for the end of the text.
    pub(crate) fn end(&self) -> u8 {
        u8::try_from(self.members.len()).unwrap_or(u8::MAX)
    }

    /// Every symbol except the end of the text.
    pub(crate) fn classes(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.end()
    }

    pub(crate) fn ascii(&self) -> &[u8; 128] {
        &self.ascii
    }

    pub(crate) fn mask(&self, set: &CharSet) -> SymbolSet {
        let mut mask = SymbolSet::default();
        for class in self.classes() {
            let member = self.members[usize::from(class)];
            let is_in =
                char::from_u32(member).map_or(set.invalid, |character| set.contains(character));
            if is_in {
                mask.insert(class);
            }
        }
        mask
    }

    pub(crate) fn end_mask(&self) -> SymbolSet {
        let mut mask = SymbolSet::default();
        mask.insert(self.end());
        mask
    }

    /// The class of the symbol that starts at `offset`, and its length in bytes.
    #[inline]
    pub(crate) fn class_at(&self, text: &[u8], offset: usize) -> (u8, usize) {
        let byte = text[offset];
        if byte < 0x80 {
            return (self.ascii[usize::from(byte)], 1);
        }
        let (code, length) = code_at(text, offset);
        (self.class_of(code), length)
    }

    /// The class of the symbol at `offset` and its length; the end of the text has length 0.
    #[inline]
    pub(crate) fn symbol_at(&self, text: &[u8], offset: usize) -> (u8, usize) {
        if offset < text.len() { self.class_at(text, offset) } else { (self.end(), 0) }
    }

    #[inline]
    pub(crate) fn class_of(&self, code: u32) -> u8 {
        self.classes[self.place_of(code)]
    }

    /// The classes of blocks of 128 characters; equal blocks are stored once.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.classes
    }

    /// The index of a character's class in [`Self::stored`].
    #[inline]
    pub(crate) fn place_of(&self, code: u32) -> usize {
        let block = self.blocks[(code >> BLOCK_BITS) as usize] as usize;
        block + (code as usize & (BLOCK - 1))
    }
}

/// The code points from 0 to [`INVALID`], cut wherever a set starts or ends: the first code point of each interval, and the
/// sets that contain it as bits. Surrogates are not characters; they belong to the interval before them.
fn intervals(sets: &[CharSet]) -> Vec<(u32, Vec<u64>)> {
    let mut cuts: Vec<(u32, usize)> = vec![];
    for (index, set) in sets.iter().enumerate() {
        for range in set.characters.iter() {
            cuts.push((u32::from(range.start()), index));
            let after = u32::from(range.end()) + 1;
            cuts.push((if after == 0xD800 { 0xE000 } else { after }, index));
        }
    }
    cuts.sort_unstable();
    let mut signature = vec![0_u64; sets.len().div_ceil(64)];
    let mut intervals = vec![(0, signature.clone())];
    for (code, index) in cuts {
        signature[index / 64] ^= 1 << (index % 64);
        match intervals.last_mut() {
            Some(last) if last.0 == code => last.1.clone_from(&signature),
            _ if code < INVALID => intervals.push((code, signature.clone())),
            _ => {}
        }
    }
    intervals
}

/// Classes of blocks of code points; equal blocks are stored once. The last block holds the invalid byte.
fn two_level(runs: &[(u32, u8)]) -> (Vec<u32>, Vec<u8>) {
    let invalid = runs.iter().map(|run| run.1).max().unwrap_or(0) + 1;
    let mut known: BTreeMap<[u8; BLOCK], u32> = BTreeMap::new();
    let mut blocks = Vec::new();
    let mut classes = Vec::new();
    // Most blocks lie in one run: by class, the offset of its block.
    let mut uniform = [None; MAX_SYMBOLS];
    let mut run = 0;
    for start in (0..=INVALID).step_by(BLOCK) {
        let end = start + (1 << BLOCK_BITS);
        while runs.get(run + 1).is_some_and(|next| next.0 <= start) {
            run += 1;
        }
        let class = usize::from(runs[run].1);
        let is_uniform = end <= INVALID && runs.get(run + 1).is_none_or(|next| next.0 >= end);
        if is_uniform && let Some(place) = uniform[class] {
            blocks.push(place);
            continue;
        }
        let mut block = [invalid; BLOCK];
        for (code, class) in (start..INVALID).zip(&mut block) {
            while runs.get(run + 1).is_some_and(|next| next.0 <= code) {
                run += 1;
            }
            *class = runs[run].1;
        }
        let place = *known.entry(block).or_insert_with(|| {
            classes.extend_from_slice(&block);
            u32::try_from(classes.len() - BLOCK).unwrap_or(u32::MAX)
        });
        if is_uniform {
            uniform[class] = Some(place);
        }
        blocks.push(place);
    }
    (blocks, classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unicode::UnicodeTables;

    #[test]
    fn every_set_is_a_union_of_classes() {
        let unicode = UnicodeTables::latest();
        let names = ["L", "N", "White_Space", "Han", "Lu", "Alphabetic"];
        let mut sets: Vec<_> = names
            .iter()
            .map(|name| CharSet::from_ranges(&unicode.property(name).unwrap()))
            .collect();
        sets.push(CharSet::single('x').negated());
        let alphabet = Alphabet::new(&sets).unwrap();
        for set in &sets {
            let mask = alphabet.mask(set);
            let differs = |&character: &char| {
                mask.contains(alphabet.class_of(u32::from(character))) != set.contains(character)
            };
            assert_eq!(('\0'..='\u{33FFF}').find(differs), None);
            assert_eq!(mask.contains(alphabet.end() - 1), set.invalid);
        }
        assert_eq!(alphabet.class_of(INVALID), alphabet.end() - 1);
    }

    #[test]
    fn too_many_classes_are_refused() {
        let sets: Vec<_> = ('一'..='龥').take(300).map(CharSet::single).collect();
        assert!(Alphabet::new(&sets[..250]).is_some());
        assert!(Alphabet::new(&sets).is_none());
    }
}
