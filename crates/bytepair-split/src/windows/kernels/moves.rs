//! Moves of bits and letters, where bytes inside of characters are left out or come in again.
//!
//! Some processors move bits apart or together by one instruction, `pdep` and `pext` of x86. On others they move in six
//! rounds: in round *i*, all bits whose distance has the binary digit *i* move by 2^*i*.
//!
//! A word of `inner` bits tells which of 64 bytes are inside of a character. The definitions are in [`super::portable`].

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "instructions; text that is not ASCII is split in three quarters of the time"
    )
)]

use std::sync::LazyLock;

use super::portable;

/// From bits for symbols to bits for bytes; with the instructions if they are fast here and may be used.
pub(super) fn spread(words: &mut [u64], inner: &[u64], may_use_instructions: bool) {
    #[cfg(target_arch = "x86_64")]
    if may_use_instructions && x86::are_fast() {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::spread(words, inner) };
    }
    let _ = may_use_instructions;
    portable::spread(words, inner, spread_word);
}

/// From bits for bytes to bits for symbols; with the instructions if they are fast here and may be used.
pub(super) fn gather(words: &mut [u64], inner: &[u64], may_use_instructions: bool) {
    #[cfg(target_arch = "x86_64")]
    if may_use_instructions && x86::are_fast() {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::gather(words, inner) };
    }
    let _ = may_use_instructions;
    portable::gather(words, inner, gather_word);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, _pdep_u64, _pext_u64};
    use std::sync::OnceLock;

    use super::portable;

    /// Whether the processor has the instructions and takes some cycles for each. AMD's before Zen 3 take hundreds.
    pub(super) fn are_fast() -> bool {
        static ARE_FAST: OnceLock<bool> = OnceLock::new();
        *ARE_FAST.get_or_init(|| {
            let is_amd = __cpuid(0).ebx == u32::from_le_bytes(*b"Auth");
            let signature = __cpuid(1).eax;
            let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
            is_x86_feature_detected!("bmi2") && !(is_amd && family < 0x19)
        })
    }

    #[target_feature(enable = "bmi2")]
    pub(super) fn spread(words: &mut [u64], inner: &[u64]) {
        portable::spread(words, inner, |bits, inner| _pdep_u64(bits, !inner));
    }

    #[target_feature(enable = "bmi2")]
    pub(super) fn gather(words: &mut [u64], inner: &[u64]) {
        portable::gather(words, inner, |bits, inner| _pext_u64(bits, !inner));
    }
}

/// So many inner bits are inserted one by one sooner than in rounds.
const FEW: u32 = 8;

/// Letters that are packed by one entry of [`PACKED`].
pub(super) const N_PACKED: usize = 8;

/// For eight bits that tell which of eight bytes are inner: the numbers of the others, then zeros.
pub(super) static PACKED: LazyLock<[[u8; N_PACKED]; 256]> = LazyLock::new(|| {
    std::array::from_fn(|inner| {
        let mut places = [0; N_PACKED];
        let others = (0..8).filter(|place| inner >> place & 1 == 0);
        places.iter_mut().zip(others).for_each(|(place, other)| *place = other);
        places
    })
});

/// Moves bit `i` to the place of the `i`-th byte that is not inner.
#[inline]
fn spread_word(word: u64, inner: u64) -> u64 {
    let mut word = word;
    if inner.count_ones() <= FEW {
        let mut left = inner;
        while left != 0 {
            let below = (left & left.wrapping_neg()) - 1;
            word = word & below | (word & !below) << 1;
            left &= left - 1;
        }
        return word;
    }
    for (digit, movers) in movers(inner).into_iter().enumerate().rev() {
        word = word & !movers | word << (1 << digit) & movers;
    }
    word & !inner
}

/// Moves the bit of the `i`-th byte that is not inner to place `i`.
#[inline]
fn gather_word(word: u64, inner: u64) -> u64 {
    let mut word = word & !inner;
    for (digit, movers) in movers(inner).into_iter().enumerate() {
        let moving = word & movers;
        word = word ^ moving | moving >> (1 << digit);
    }
    word
}

/// For each round, which bits move down in it, where they are then, when inner bits are left out.
#[inline]
fn movers(inner: u64) -> [u64; 6] {
    let mut kept = !inner;
    // The number of inner bits below each bit; a round looks at the lowest digit of this number.
    let mut counted = inner << 1;
    let mut rounds = [0; 6];
    for (digit, movers) in rounds.iter_mut().enumerate() {
        let is_odd = parities(counted);
        *movers = is_odd & kept;
        kept = kept ^ *movers | *movers >> (1 << digit);
        counted &= !is_odd;
    }
    rounds
}

/// At each place, whether the number of bits up to it is odd.
#[inline]
fn parities(bits: u64) -> u64 {
    (0..6).fold(bits, |bits, digit| bits ^ bits << (1 << digit))
}
