//! The hashes of the crate: a fixed one, and one with a random key for each process.
//!
//! Both fold 16 bytes at a time by one wide multiplication. Anyone who knows a hash can write texts with equal hashes,
//! and a table that puts any number of them into adjacent slots then searches all of them each time. So such a table
//! has a [`HashKey`], or takes one as soon as its searches become long. The fixed hash is for what must be the same in
//! every process, such as the contents of files, and for tables that look at only a few slots. Results do not depend on
//! either hash.
//!
//! The key of a pair of token ids is one number. It has two hashes: a fixed one for tables in files, and one by a
//! factor for tables of arbitrary input ([`HashKey::factor`]). Each is one multiplication, and only its high bits are
//! good.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const ODD: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiplies two words and folds the 128-bit product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves of the product are used")]
pub(crate) fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left ^ SEED) * u128::from(right ^ ODD);
    product as u64 ^ (product >> 64) as u64
}

/// The next of a row of random numbers, the same on all machines. Each changes the seed.
pub(crate) fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(SEED);
    fold(*seed, seed.rotate_left(32))
}

/// A random number below `n`, which is not 0.
#[expect(clippy::cast_possible_truncation, reason = "the product is below n")]
pub(crate) fn random_below(n: usize, seed: &mut u64) -> usize {
    ((u128::from(random(seed)) * n as u128) >> 64) as usize
}

/// A random number from 0 up to, but not including, 1: a multiple of 2⁻⁵³.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
pub(crate) fn random_part(seed: &mut u64) -> f64 {
    (random(seed) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The hash of `bytes`, starting from `seed`.
#[inline]
pub(crate) fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    HashKey { left: 0, right: 0 }.hash_bytes(bytes, seed)
}

/// The key of the hashes of a process, chosen at random on first use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashKey {
    left: u64,
    right: u64,
}

impl HashKey {
    /// The key of this process. Threads that come at the same time get the same key, and none waits.
    #[inline]
    pub(crate) fn of_process() -> Self {
        static SECRET: AtomicU64 = AtomicU64::new(0);
        let secret = match SECRET.load(Ordering::Relaxed) {
            0 => choose(&SECRET),
            secret => secret,
        };
        Self { left: secret, right: secret.rotate_left(32).wrapping_mul(SEED) }
    }

    /// An odd number, for hashes by one multiplication.
    pub(crate) fn factor(self) -> u64 {
        self.right | 1
    }

    /// The hash of two words.
    #[inline]
    pub(crate) fn fold(self, left: u64, right: u64) -> u64 {
        fold(left ^ self.left, right ^ self.right)
    }

    /// The hash of `bytes`, starting from `seed`.
    #[inline]
    pub(crate) fn hash_bytes(self, bytes: &[u8], seed: u64) -> u64 {
        let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(ODD);
        let mut chunks = bytes.chunks_exact(16);
        for chunk in &mut chunks {
            hash = self.fold(word(&chunk[..8]) ^ hash, word(&chunk[8..]));
        }
        let (low, high) = words(chunks.remainder());
        self.fold(low ^ hash, high)
    }
}

/// Chooses a number that is not 0, unless another thread has already chosen one.
#[cold]
fn choose(secret: &AtomicU64) -> u64 {
    let new = RandomState::new().hash_one(SEED).max(1);
    match secret.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => new,
        Err(there) => there,
    }
}

/// Up to 15 bytes as two words, which may overlap. Different bytes of the same length give different words.
#[inline]
fn words(bytes: &[u8]) -> (u64, u64) {
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
    }
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u32::from_le_bytes(*low).into(), u32::from_le_bytes(*high).into());
    }
    let [Some(first), Some(middle), Some(last)] =
        [0, bytes.len() / 2, bytes.len().wrapping_sub(1)].map(|place| bytes.get(place).copied())
    else {
        return (0, 0);
    };
    (u64::from(first) | u64::from(middle) << 8 | u64::from(last) << 16, 0)
}

/// Eight bytes as a little-endian word.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The key of a pair: `left` in the high half, so that keys sort as pairs do.
pub(crate) fn pair_key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The pair of a key.
#[expect(clippy::cast_possible_truncation, reason = "each half of the key is an id")]
pub(crate) fn pair_of(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// The hash of a pair's key that is the same in every process.
#[inline]
pub(crate) fn pair_hash(key: u64) -> u64 {
    pair_hash_by(0x9E37_79B9_7F4A_7C15, key)
}

/// The hash of a pair's key by an odd factor, which may be that of the process.
#[inline]
pub(crate) fn pair_hash_by(factor: u64, key: u64) -> u64 {
    (key ^ key >> 29).wrapping_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn bytes_that_differ_anywhere_have_different_hashes() {
        let mut seen = HashSet::new();
        for (len, bit) in (0..100).flat_map(|len| (0..=len * 8).map(move |bit| (len, bit))) {
            let mut bytes = vec![7; len + 1];
            bytes[bit / 8] ^= 1 << (bit % 8);
            // The last bit is in the byte that is not hashed.
            assert!(seen.insert(hash_bytes(&bytes[..len], 0)), "{len} {bit}");
        }
    }

    #[test]
    fn bytes_whose_fixed_hashes_are_the_same_have_different_hashes_by_a_key() {
        // A word that makes one factor of a fixed product zero.
        let bytes = |last: u64| [0_u64, ODD, last, ODD].map(u64::to_le_bytes).concat();
        let fixed: HashSet<_> = (0..100).map(|last| hash_bytes(&bytes(last), 0)).collect();
        assert_eq!(fixed.len(), 1);
        let key = HashKey::of_process();
        let keyed: HashSet<_> = (0..100).map(|last| key.hash_bytes(&bytes(last), 0)).collect();
        assert_eq!(keyed.len(), 100);
    }
}
