//! Registers of 16 bytes in WebAssembly, built with `simd128`.
//!
//! The loops are in [`super::loops`].
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::wasm32::{
    i8x16_bitmask, i8x16_eq, i8x16_sub_sat, u8x16_splat, u8x16_swizzle, u64x2_splat, v128,
    v128_and, v128_load, v128_store, v128_xor,
};

use super::loops::{MAX_REGISTERS, vectors};
use crate::windows::tables::WORD;

vectors! {
    /// Stands for a core that is built with `simd128`.
    struct Simd128 needs "simd128", which true;
    4 registers of v128;

    fn load(bytes: &[u8; WORD], part: usize) -> v128 {
        let place: &[u8; 16] = &bytes.as_chunks().0[part];
        // SAFETY: the array has the 16 bytes that are read, which need no alignment.
        unsafe { v128_load(place.as_ptr().cast()) }
    }

    fn store(bytes: &mut [u8; WORD], part: usize, register: v128) {
        let place: &mut [u8; 16] = &mut bytes.as_chunks_mut().0[part];
        // SAFETY: the array has the 16 bytes that are written, which need no alignment.
        unsafe { v128_store(place.as_mut_ptr().cast(), register) }
    }

    fn fill(bytes: u64) -> v128 {
        u64x2_splat(bytes)
    }

    fn and(one: v128, other: v128) -> v128 {
        v128_and(one, other)
    }

    fn xor(one: v128, other: v128) -> v128 {
        v128_xor(one, other)
    }

    fn equal(one: v128, other: v128) -> v128 {
        i8x16_eq(one, other)
    }

    fn shuffle(bytes: v128, places: v128) -> v128 {
        u8x16_swizzle(bytes, places)
    }

    fn minus_16(bytes: v128) -> v128 {
        i8x16_sub_sat(bytes, u8x16_splat(16))
    }

    fn bits(word: [v128; MAX_REGISTERS]) -> u64 {
        let mut bits = 0;
        for register in word.into_iter().rev() {
            bits = bits << 16 | u64::from(i8x16_bitmask(register));
        }
        bits
    }
}
