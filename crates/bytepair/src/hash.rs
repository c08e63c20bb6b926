//! One fixed hash of bytes for every table of the crate.
//!
//! Folds 16 bytes at a time by one wide multiplication. It is not keyed: tables that hold text of
//! unknown origin must not let the order or the speed of a hash decide anything but time.

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const ODD: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiplies two words and folds the 128-bit product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves of the product are used")]
pub(crate) fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left ^ SEED) * u128::from(right ^ ODD);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of `bytes`, begun from `seed`.
#[inline]
pub(crate) fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(ODD);
    let mut chunks = bytes.chunks_exact(16);
    for chunk in &mut chunks {
        hash = fold(word(&chunk[..8]) ^ hash, word(&chunk[8..]));
    }
    let rest = chunks.remainder();
    let (low, high) = rest.split_at(rest.len().min(8));
    fold(word(low) ^ hash, word(high))
}

/// Up to eight bytes as a little-endian word.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(padded)
}
