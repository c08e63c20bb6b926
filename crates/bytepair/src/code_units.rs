//! Texts as rows of numbers of characters, and their UTF-8.
//!
//! Some languages hold a text as its characters' numbers, each in as many bytes as the largest of them needs, and make
//! UTF-8 of it when asked. That may take as long as encoding does, and keeps the text twice. So a call that encodes
//! takes such a text as it is: its UTF-8 is made by the thread that encodes it, when it is its turn, in memory that is
//! used again for the next. Here is the definition, a character at a time; [`vectors`] does the same by blocks.
//!
//! Cost: about a nanosecond a byte by the definition, a tenth of that with vectors.

#[cfg(target_arch = "x86_64")]
mod vectors;

use crate::error::{ErrorKind, Result};

/// The numbers of a text's characters, one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeUnits<'t> {
    /// Numbers below 256.
    Latin1(&'t [u8]),
    /// Numbers below 65,536. They are whole characters: a surrogate is none.
    Ucs2(&'t [u16]),
    /// All numbers.
    Ucs4(&'t [u32]),
}

/// A text to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'t> {
    /// As it is encoded.
    Bytes(&'t [u8]),
    /// Whose UTF-8 is encoded.
    Units(CodeUnits<'t>),
}

impl Text<'_> {
    /// How many bytes it has at least.
    pub fn least_len(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Units(units) => units.n_units(),
        }
    }

    /// Prefetches the beginning of the text that is encoded next: the processor sees by itself how reading goes on, but
    /// not where it begins.
    pub(crate) fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Bytes(bytes) | Self::Units(CodeUnits::Latin1(bytes)) => {
                vectors::prefetch_units(bytes);
            }
            Self::Units(CodeUnits::Ucs2(units)) => vectors::prefetch_units(units),
            Self::Units(CodeUnits::Ucs4(units)) => vectors::prefetch_units(units),
        }
    }

    /// How many bytes it has, hardly ever more: by that it is dealt to threads.
    pub fn expected_len(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Units(units) => units.expected_len(),
        }
    }
}

impl CodeUnits<'_> {
    /// Takes the first `n` characters away, or all.
    pub(crate) fn take_first(&mut self, n: usize) -> Self {
        let n = n.min(self.n_units());
        let (first, rest) = match *self {
            Self::Latin1(units) => (Self::Latin1(&units[..n]), Self::Latin1(&units[n..])),
            Self::Ucs2(units) => (Self::Ucs2(&units[..n]), Self::Ucs2(&units[n..])),
            Self::Ucs4(units) => (Self::Ucs4(&units[..n]), Self::Ucs4(&units[n..])),
        };
        *self = rest;
        first
    }

    /// Whether this processor makes UTF-8 of them in less time than the text takes to be read.
    pub fn are_quick() -> bool {
        #[cfg(target_arch = "x86_64")]
        return vectors::are_here();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The number of characters.
    fn n_units(self) -> usize {
        match self {
            Self::Latin1(units) => units.len(),
            Self::Ucs2(units) => units.len(),
            Self::Ucs4(units) => units.len(),
        }
    }

    /// Nobody knows without a look at all of them: few of those of one byte take two, and of two bytes they may be
    /// English with a dash or all Chinese.
    fn expected_len(self) -> usize {
        match self {
            Self::Latin1(units) => units.len() + units.len() / 16,
            Self::Ucs2(_) | Self::Ucs4(_) => 3 * self.n_units(),
        }
    }

    /// The UTF-8 of the characters, in memory that was used before: what lies behind it there is of no text.
    ///
    /// # Errors
    /// Where a number is no character's.
    pub(crate) fn utf8_in(self, memory: &mut Vec<u8>) -> Result<&[u8]> {
        #[cfg(target_arch = "x86_64")]
        if vectors::are_here()
            && let Some(len) = vectors::write(self, memory)
        {
            return Ok(&memory[..len]);
        }
        // Where the vectors met a number that is no character's, this says which.
        match self {
            Self::Latin1(units) => one_by_one(units, memory),
            Self::Ucs2(units) => one_by_one(units, memory),
            Self::Ucs4(units) => one_by_one(units, memory),
        }
    }
}

/// The definition.
fn one_by_one<'m, U: Copy + Into<u32>>(units: &[U], memory: &'m mut Vec<u8>) -> Result<&'m [u8]> {
    memory.clear();
    for (place, &unit) in units.iter().enumerate() {
        let Some(character) = char::from_u32(unit.into()) else {
            return Err(ErrorKind::NoCharacter { number: unit.into(), place }.into());
        };
        memory.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first and last numbers of each length in UTF-8, and those around surrogates.
    const ENDS: [u32; 14] = [
        0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x1_0000, 0x1F600,
        0x10_FFFF,
    ];

    /// Numbers that are no character's.
    const WRONG: [u32; 6] = [0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x11_0000, u32::MAX];

    /// Both ways agree, whatever the memory held before.
    fn check(units: CodeUnits<'_>, memory: &mut Vec<u8>) {
        let mut plain = Vec::new();
        let expected = match units {
            CodeUnits::Latin1(units) => one_by_one(units, &mut plain),
            CodeUnits::Ucs2(units) => one_by_one(units, &mut plain),
            CodeUnits::Ucs4(units) => one_by_one(units, &mut plain),
        };
        let found = units.utf8_in(memory);
        assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{units:?}");
        let messages =
            [found.err(), expected.err()].map(|error| error.map(|error| error.to_string()));
        assert_eq!(messages[0], messages[1]);
    }

    /// Numbers in all widths that hold them.
    fn check_widths(numbers: &[u32], memory: &mut Vec<u8>) {
        check(CodeUnits::Ucs4(numbers), memory);
        if let Some(units) = narrowed::<u16>(numbers) {
            check(CodeUnits::Ucs2(&units), memory);
        }
        if let Some(units) = narrowed::<u8>(numbers) {
            check(CodeUnits::Latin1(&units), memory);
        }
    }

    fn narrowed<U: TryFrom<u32>>(numbers: &[u32]) -> Option<Vec<U>> {
        numbers.iter().map(|&number| U::try_from(number).ok()).collect()
    }

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![
            8 => 0..0x80_u32,
            3 => 0..0x100_u32,
            3 => 0..0x800_u32,
            3 => prop::sample::select(&ENDS[..]),
            2 => 0x800..0xD800_u32,
            1 => 0xE000..0x11_0000_u32,
        ]
    }

    proptest! {
        #[test]
        fn vectors_give_what_the_definition_gives(
            kinds in prop::collection::vec((0..5_usize, prop::collection::vec(number(), 0..150)), 0..8),
            wrong in prop::option::weighted(0.2, (any::<prop::sample::Index>(), prop::sample::select(&WRONG[..]))),
        ) {
            // Stretches of one width each, so that all ways through a block are met.
            let most = [0x7F, 0xFF, 0x7FF, 0xFFFF, 0x10_FFFF];
            let stretch = |(kind, numbers): (usize, Vec<u32>)| {
                numbers.into_iter().map(move |number| number.min(most[kind]))
            };
            let mut numbers: Vec<u32> = kinds.into_iter().flat_map(stretch).collect();
            if let Some((place, wrong)) = wrong && !numbers.is_empty() {
                let place = place.index(numbers.len());
                numbers[place] = wrong;
            }
            check_widths(&numbers, &mut vec![7; 40]);
        }
    }

    #[test]
    fn every_length_and_every_end_at_every_place() {
        let mut memory = Vec::new();
        for filler in [0x61, 0xE9, 0x3B1, 0x4E00, 0x1F600] {
            for len in 0..200 {
                check_widths(&vec![filler; len], &mut memory);
            }
            let odd = |place| ENDS.into_iter().chain(WRONG).map(move |odd| (place, odd));
            for (place, odd) in (0..130).flat_map(odd) {
                let mut numbers = vec![filler; 130];
                numbers[place] = odd;
                check_widths(&numbers, &mut memory);
            }
        }
    }

    #[test]
    fn every_character_is_itself() {
        let all: Vec<char> = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
        let numbers: Vec<u32> = all.iter().map(|&character| character.into()).collect();
        let text: String = all.iter().collect();
        let mut memory = Vec::new();
        assert!(CodeUnits::Ucs4(&numbers).utf8_in(&mut memory).unwrap() == text.as_bytes());
    }

    #[test]
    fn a_number_that_is_no_characters_is_named_with_its_place() {
        let error = CodeUnits::Ucs2(&[0x61, 0xD800]).utf8_in(&mut Vec::new()).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::NoCharacter { number: 0xD800, place: 1 }),
            "{error}"
        );
    }
}
