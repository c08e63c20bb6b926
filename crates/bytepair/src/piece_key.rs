//! A short piece as one number: the key of the counting table and of the encoder's cache.
//!
//! A piece of 1 to 15 bytes fits a 128-bit word together with its length, so that two pieces are
//! compared by one comparison and hashed by one multiplication. No key is 0.

use crate::hash::fold;

/// Longest piece that has a key, in bytes.
pub(crate) const MAX_KEY_LEN: usize = 15;

/// The key of the piece `text[start..end]`, if it is short enough and not empty.
///
/// Takes constant time: reads 16 bytes at once where the text has them.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the length is at most 15")]
pub(crate) fn piece_key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let len = end - start;
    if len.wrapping_sub(1) >= MAX_KEY_LEN {
        return None;
    }
    let length_byte = (len as u128) << 120;
    let mut bytes = [0; 16];
    if let Some(window) = text.get(start..start + 16) {
        bytes.copy_from_slice(window);
        return Some(u128::from_le_bytes(bytes) & ((1 << (len as u32 * 8)) - 1) | length_byte);
    }
    bytes[..len].copy_from_slice(&text[start..end]);
    Some(u128::from_le_bytes(bytes) | length_byte)
}

/// The key of a part of a piece, where it must not be taken for the piece that looks the same.
#[inline]
pub(crate) fn part_key(key: u128) -> u128 {
    key | 1 << 127
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
