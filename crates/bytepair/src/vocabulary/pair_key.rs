//! A pair of token ids as one number, and its hash.
//!
//! Two hashes: one that is the same in every process, for tables that files hold, and one by a factor, for tables that take
//! in whatever comes (see [`HashKey::factor`](crate::hash::HashKey::factor)). Each is one multiplication, and good in
//! its high bits.

use crate::vocabulary::TokenId;

/// The key of a pair: `left` in the high half, so that keys sort as pairs do.
pub(crate) fn pair_key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The pair of a key.
#[expect(clippy::cast_possible_truncation, reason = "each half of the key is an id")]
pub(crate) fn pair_of(key: u64) -> (TokenId, TokenId) {
    ((key >> 32) as TokenId, key as TokenId)
}

/// A hash of the key of a pair that is the same in every process.
#[inline]
pub(crate) fn pair_hash(key: u64) -> u64 {
    pair_hash_by(0x9E37_79B9_7F4A_7C15, key)
}

/// A hash of the key of a pair by an odd factor, which may be that of the process.
#[inline]
pub(crate) fn pair_hash_by(factor: u64, key: u64) -> u64 {
    (key ^ key >> 29).wrapping_mul(factor)
}
