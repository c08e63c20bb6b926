//! A short piece as one number: the key of the counting table and of the encoder's cache.
//!
//! A piece of 1 to 15 bytes fits a 128-bit word together with its length, so that two pieces are
//! compared by one comparison and hashed by one multiplication. No key is 0.

use crate::hash::fold;

/// Longest piece that has a key, in bytes.
pub(crate) const MAX_KEY_LEN: usize = 15;

/// Stands where there is no key. No piece has it.
pub(crate) const NO_KEY: u128 = u128::MAX;

/// What the lower and the upper half of a key are multiplied by, for [`high_hash`].
pub(crate) const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

/// A slot of a table by key: two of them are a line of the processor's cache, and none lies in two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))] // read by `piece_row`
pub(crate) struct Keyed<V> {
    /// 0 where the slot is free.
    pub(crate) key: u128,
    pub(crate) value: V,
}

/// In the key of a slot: its value is of another kind. No key that is asked for has this bit.
pub(crate) const MARK: u128 = 1 << 126;

/// How pieces are looked for in a table of such slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// By the definition.
    OneByOne,
    /// By rows of them (`piece_row`).
    #[cfg(target_arch = "x86_64")]
    Eight,
}

impl Kernel {
    /// The fastest that this processor has.
    pub(crate) fn fast() -> Self {
        #[cfg(target_arch = "x86_64")]
        if crate::piece_row::is_here() {
            return Self::Eight;
        }
        Self::OneByOne
    }
}

/// By length: the bytes of a key that are the piece.
const PIECE_BYTES: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 0;
    while len < masks.len() {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The key of the piece `text[start..end]`, if it is short enough and not empty.
#[inline]
pub(crate) fn piece_key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    if start >= end {
        return None;
    }
    Some(key_or_none(text, start, end)).filter(|&key| key != NO_KEY)
}

/// The same for a piece that is not empty, [`NO_KEY`] if it is too long.
///
/// Takes constant time: reads 16 bytes at once where the text has them.
#[inline]
pub(crate) fn key_or_none(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    let window = match text.get(start..).and_then(<[_]>::first_chunk) {
        Some(window) => u128::from_le_bytes(*window),
        None => last_bytes(text, start),
    };
    let piece = window & PIECE_BYTES[len % 16];
    if len > MAX_KEY_LEN { NO_KEY } else { piece | (len as u128) << 120 }
}

/// The bytes from `start` on, fewer than 16, filled up with zeros.
#[cold]
fn last_bytes(text: &[u8], start: usize) -> u128 {
    if let Some(window) = text.last_chunk() {
        return u128::from_le_bytes(*window) >> (8 * (start + 16 - text.len()));
    }
    few_bytes(&text[start..])
}

/// Fewer than 16 bytes, filled up with zeros: by two words, which may overlap, as copying them takes a call.
fn few_bytes(bytes: &[u8]) -> u128 {
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let high = u128::from(u64::from_le_bytes(*high)) << (8 * (bytes.len() - 8));
        return u128::from(u64::from_le_bytes(*low)) | high;
    }
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let high = u128::from(u32::from_le_bytes(*high)) << (8 * (bytes.len() - 4));
        return u128::from(u32::from_le_bytes(*low)) | high;
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte))
}

/// The piece of a key: 16 bytes, of which the first `len` are the piece.
#[inline]
pub(crate) fn piece_of_key(key: u128) -> ([u8; 16], usize) {
    let bytes = key.to_le_bytes();
    (bytes, bytes[MAX_KEY_LEN].into())
}

/// A hash of a key, good in all its bits.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves of the key are used; a hash is masked"
)]
pub(crate) fn key_hash(key: u128) -> usize {
    fold(key as u64, (key >> 64) as u64) as usize
}

/// A hash of a key, good in its high bits alone, that vectors can take too.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves of the key are used")]
pub(crate) fn high_hash(key: u128) -> u64 {
    let [low, high] = [key as u64, (key >> 64) as u64];
    low.wrapping_mul(FACTORS[0]) ^ high.wrapping_mul(FACTORS[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_key_gives_its_piece_back(text: Vec<u8>, start: usize, len: usize) {
            let start = start % (text.len() + 1);
            let end = start + len % (text.len() - start + 1);
            match piece_key(&text, start, end) {
                Some(key) => {
                    let (bytes, len) = piece_of_key(key);
                    proptest::prop_assert_eq!(&bytes[..len], &text[start..end]);
                }
                None => proptest::prop_assert!(start == end || end - start > MAX_KEY_LEN),
            }
        }
    }
}
