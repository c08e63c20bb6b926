//! A short piece as one number: the key of the counting table and of the encoder's cache.
//!
//! A piece of 1 to 15 bytes fits a 128-bit word together with its length, so that two pieces are
//! compared by one comparison and hashed by one multiplication. No key is 0. In the cache so does a longer piece that ends
//! in one byte over and over, as indents and rules do: its first eight bytes and its length are all there is to it.

use crate::hash::fold;

/// Longest piece that has a key, in bytes.
pub(crate) const MAX_KEY_LEN: usize = 15;

/// Longest piece that ends in one byte over and over and has a key, in bytes.
pub(crate) const MAX_RUN_LEN: usize = 4096;

/// In a key: it is that of a longer piece. No short piece has this bit.
const RUN: u128 = 1 << 124;

/// Bytes of such a piece before those that are all like the next one.
pub(crate) const N_BEFORE_RUN: usize = 7;

/// Stands where there is no key. No piece has it, nor a slot with any kind: its length is that of no piece.
pub(crate) const NO_KEY: u128 = u128::MAX << 64;

/// What the lower and the upper half of a key are multiplied by, for [`high_hash`].
pub(crate) const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

/// A slot of a table by key: two of them are a line of the processor's cache, and none lies in two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Keyed<V> {
    /// 0 where the slot is free.
    pub(crate) key: u128,
    pub(crate) value: V,
}

/// Bits above those of a key, where a table may note the kind of a value. No key of a piece has one of them.
pub(crate) const KIND_SHIFT: u32 = 125;

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

/// The key of the piece `text[start..end]`, which is not empty; [`NO_KEY`] if it is too long.
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

/// The key of a piece that is too long for another one, if its bytes from the eighth on are all the same.
#[inline]
pub(crate) fn run_key(piece: &[u8]) -> Option<u128> {
    if !(MAX_KEY_LEN + 1..=MAX_RUN_LEN).contains(&piece.len()) {
        return None;
    }
    let (first, rest) = piece.split_first_chunk()?;
    let same = [first[N_BEFORE_RUN]; 8];
    let (eights, _) = rest.as_chunks();
    let is_run = rest.ends_with(&same) && eights.iter().all(|eight| *eight == same);
    is_run.then(|| key_of_run(*first, piece.len()))
}

/// The key of a piece that begins with these bytes and repeats the last of them to its end.
#[inline]
pub(crate) fn key_of_run(first: [u8; 8], len: usize) -> u128 {
    u128::from(u64::from_le_bytes(first)) | (len as u128) << 64 | RUN
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

/// The piece of a key: the first `len` of 16 bytes.
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

/// A hash of a key, good in its high bits alone.
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

        #[test]
        fn a_run_is_told_by_its_first_bytes_and_its_length(
            before in "[ab]{0,9}",
            n_same in 0..30_usize,
            behind in "[ab]?",
        ) {
            let piece = before + &"a".repeat(n_same) + &behind;
            let bytes = piece.as_bytes();
            let is_run = piece.len() > 15 && bytes[7..].iter().all(|&byte| byte == bytes[7]);
            let expected = is_run.then(|| (bytes[..8].to_vec(), piece.len()));
            let found = run_key(bytes).map(|key| {
                let bytes = key.to_le_bytes();
                (bytes[..8].to_vec(), usize::from(bytes[8]))
            });
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_run_has_the_key_of_a_short_piece() {
        for len in [16, 255, 256, MAX_RUN_LEN] {
            let piece = vec![0; len];
            assert!(
                run_key(&piece)
                    .is_some_and(|key| key >> 120 > MAX_KEY_LEN as u128 && key >> KIND_SHIFT == 0)
            );
        }
        assert!(run_key(&[0; MAX_RUN_LEN + 1]).is_none() && run_key(&[0; MAX_KEY_LEN]).is_none());
    }
}
