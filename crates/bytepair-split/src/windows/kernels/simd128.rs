//! Registers of 16 bytes in WebAssembly, built with `simd128`.
//!
//! The loops are in [`super::loops`].
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::wasm32::{
    i8x16_bitmask, i8x16_eq, i8x16_sub_sat, u8x16_swizzle, u64x2_splat, v128, v128_and, v128_xor,
};

use super::loops::{MAX_REGISTERS, vectors};
use crate::windows::tables::WORD;

vectors! {
    /// Stands for a core that is built with `simd128`.
    struct Simd128 called "simd128" needs "simd128", which true;
    4 registers of v128;
    and is v128_and,
    xor is v128_xor,
    equal is i8x16_eq,
    shuffle is u8x16_swizzle,
    minus is i8x16_sub_sat;

    fn fill(bytes: u64) -> v128 {
        u64x2_splat(bytes)
    }

    fn bits(word: [v128; MAX_REGISTERS]) -> u64 {
        let mut bits = 0;
        for register in word.into_iter().rev() {
            bits = bits << 16 | u64::from(i8x16_bitmask(register));
        }
        bits
    }
}
