//! Text as a sequence of symbols: UTF-8 characters, and single bytes that belong to none.
//!
//! Which symbol starts at a byte depends only on the bytes from there on, and every byte that is not a continuation byte
//! starts a symbol. So decoding forwards and backwards agree, and a text can be cut between any two symbols without
//! changing either.

/// The code of a byte that belongs to no character: one past the last code point.
pub(crate) const INVALID: u32 = 0x11_0000;

/// The code point of the symbol that starts at `offset`, or [`INVALID`], and its length in bytes.
#[inline]
pub(crate) fn code_at(text: &[u8], offset: usize) -> (u32, usize) {
    let rest = &text[offset..];
    rest.first_chunk().and_then(|&four| short_code(four)).unwrap_or_else(|| first_code(rest))
}

/// The code point of the first symbol, whatever its length, or [`INVALID`]; and its length in bytes.
#[inline(never)]
fn first_code(rest: &[u8]) -> (u32, usize) {
    let first = rest[..rest.len().min(4)].utf8_chunks().next();
    let character = first.and_then(|chunk| chunk.valid().chars().next());
    character.map_or((INVALID, 1), |character| (u32::from(character), character.len_utf8()))
}

/// Characters of two and three bytes, the common ones outside ASCII, each tested in one go.
#[inline]
fn short_code(bytes: [u8; 4]) -> Option<(u32, usize)> {
    let word = u32::from_be_bytes(bytes);
    if word & 0xF0C0_C000 == 0xE080_8000 {
        let code = word >> 12 & 0xF000 | word >> 10 & 0x0FC0 | word >> 8 & 0x003F;
        return (code >= 0x800 && code & 0xF800 != 0xD800).then_some((code, 3));
    }
    let code = word >> 18 & 0x07C0 | word >> 16 & 0x003F;
    (word & 0xE0C0_0000 == 0xC080_0000 && code >= 0x80).then_some((code, 2))
}

/// The length of the symbol that ends at `offset`, which must be a symbol boundary after the start of the text.
pub(crate) fn length_before(text: &[u8], offset: usize) -> usize {
    let nearest = offset.saturating_sub(4);
    let start = (nearest..offset).rev().find(|&start| !is_continuation(text[start]));
    match start {
        Some(start) if start + code_at(text, start).1 == offset => offset - start,
        _ => 1,
    }
}

/// The first symbol boundary at or after `offset`.
pub(crate) fn boundary_at_or_after(text: &[u8], offset: usize) -> usize {
    let start = offset.saturating_sub(3);
    let Some(first) = (start..offset).find(|&at| !is_continuation(text[at])) else {
        // Three continuation bytes before, or the start of the text: a character can straddle this offset only if it
        // starts within them.
        return offset;
    };
    let mut at = first;
    while at < offset {
        at += code_at(text, at).1;
    }
    at
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boundaries(text: &[u8]) -> Vec<usize> {
        let mut at = 0;
        let mut all = vec![0];
        while at < text.len() {
            at += code_at(text, at).1;
            all.push(at);
        }
        all
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            any::<u8>(),
            Just(0xE2),
            Just(0x80),
            Just(0xF0),
            Just(0x9F),
            Just(0xED),
            Just(b'a')
        ];
        prop::collection::vec(byte, 0..24)
    }

    proptest! {
        #[test]
        fn characters_are_those_of_the_standard_library(text in bytes()) {
            let mut expected = Vec::new();
            for chunk in text.utf8_chunks() {
                expected.extend(chunk.valid().chars().map(u32::from));
                expected.extend(chunk.invalid().iter().map(|_| INVALID));
            }
            let starts = boundaries(&text);
            let found: Vec<_> = starts[..starts.len() - 1].iter().map(|&at| code_at(&text, at).0).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn backward_decoding_finds_the_same_boundaries(text in bytes()) {
            let all = boundaries(&text);
            for pair in all.windows(2) {
                prop_assert_eq!(length_before(&text, pair[1]), pair[1] - pair[0]);
            }
            for offset in 0..=text.len() {
                let next = all.iter().copied().find(|&boundary| boundary >= offset);
                prop_assert_eq!(Some(boundary_at_or_after(&text, offset)), next);
            }
        }
    }
}
