//! Moves of bits and letters, where bytes inside of characters are left out or come in again.
//!
//! x86 moves the bits of a word apart by one instruction, `pdep`. Without it, inner bits are inserted one by one.
//!
//! A word of `inner` bits tells which of 64 bytes are inside of a character.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "instructions; text that is not ASCII is split in three quarters of the time"
    )
)]

use std::sync::LazyLock;

use crate::windows::tables::WORD;

/// From bits for symbols to bits for bytes; with the instructions if they are fast here and may be used.
pub(super) fn spread(words: &mut [u64], inner: &[u64], may_use_instructions: bool) {
    #[cfg(target_arch = "x86_64")]
    if may_use_instructions && x86::are_fast() {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::spread(words, inner) };
    }
    let _ = may_use_instructions;
    spread_by(words, inner, spread_word);
}

/// From bits for bytes to bits for symbols.
#[inline]
pub(super) fn gather(words: &mut [u64], inner: &[u64]) {
    let mut n_symbols = 0;
    for (index, &inner) in inner.iter().enumerate().take(words.len()) {
        // Each word is read before it is written: symbols do not come later than their bytes.
        let mut left = std::mem::take(&mut words[index]) & !inner;
        while left != 0 {
            let below = (left & left.wrapping_neg()) - 1;
            let symbol = n_symbols + (below & !inner).count_ones() as usize;
            words[symbol / WORD] |= 1 << (symbol % WORD);
            left &= left - 1;
        }
        n_symbols += inner.count_zeros() as usize;
    }
}

/// From bits for symbols to bits for bytes, by a way to move those of one word.
#[inline]
fn spread_by(words: &mut [u64], inner: &[u64], moved: impl Fn(u64, u64) -> u64) {
    let n_words = words.len().min(inner.len());
    let n_symbols = |inner: &u64| inner.count_zeros() as usize;
    let mut symbol: usize = inner[..n_words].iter().map(n_symbols).sum();
    // Each word is read before it is written: symbols do not come later than their bytes.
    for index in (0..n_words).rev() {
        symbol -= n_symbols(&inner[index]);
        let word = word_at(words, symbol);
        words[index] = if inner[index] == 0 { word } else { moved(word, inner[index]) };
    }
}

/// 64 bits from one on.
#[inline]
fn word_at(words: &[u64], bit: usize) -> u64 {
    let (index, shift) = (bit / WORD, bit % WORD);
    let low = words.get(index).copied().unwrap_or(0);
    let high = words.get(index + 1).copied().unwrap_or(0);
    low >> shift | (high << 1) << (WORD - 1 - shift)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, _pdep_u64};
    use std::sync::OnceLock;

    use super::spread_by;

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
        spread_by(words, inner, |bits, inner| _pdep_u64(bits, !inner));
    }
}

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
fn spread_word(mut word: u64, inner: u64) -> u64 {
    let mut left = inner;
    while left != 0 {
        let below = (left & left.wrapping_neg()) - 1;
        word = word & below | (word & !below) << 1;
        left &= left - 1;
    }
    word
}
