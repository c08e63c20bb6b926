//! Registers of 16 bytes with NEON, which all 64-bit Arm processors have.
//!
//! The loops are in [`super::loops`].
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vandq_u8, vceqq_u8, vdupq_n_u8, vdupq_n_u64, veorq_u8,
    vgetq_lane_u64, vorrq_u8, vpaddq_u8, vqsubq_s8, vqtbl1q_u8, vqtbl4q_u8, vreinterpretq_s8_u8,
    vreinterpretq_u8_s8, vreinterpretq_u8_u64, vreinterpretq_u64_u8,
};

use super::loops::{MAX_REGISTERS, N_PARTS, vectors};
use crate::windows::tables::WORD;

vectors! {
    /// Stands for a processor with NEON.
    struct Neon called "neon" needs "neon", which true;
    4 registers of uint8x16_t;
    and is vandq_u8,
    xor is veorq_u8,
    equal is vceqq_u8,
    shuffle is vqtbl1q_u8;

    fn fill(bytes: u64) -> uint8x16_t {
        vreinterpretq_u8_u64(vdupq_n_u64(bytes))
    }

    fn minus(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        vreinterpretq_u8_s8(vqsubq_s8(vreinterpretq_s8_u8(one), vreinterpretq_s8_u8(other)))
    }

    fn look_up_ascii(tables: &[uint8x16_t; N_PARTS], bytes: uint8x16_t) -> uint8x16_t {
        // A look-up gives zero for what is not below 64.
        let low = uint8x16x4_t(tables[0], tables[1], tables[2], tables[3]);
        let high = uint8x16x4_t(tables[4], tables[5], tables[6], tables[7]);
        let low = vqtbl4q_u8(low, bytes);
        let high = vqtbl4q_u8(high, veorq_u8(bytes, vdupq_n_u8(64)));
        vorrq_u8(low, high)
    }

    fn bits(word: [uint8x16_t; MAX_REGISTERS]) -> u64 {
        let each = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        let mut masked = word;
        for register in &mut masked {
            *register = vandq_u8(*register, each);
        }
        // Neighbours are added three times, until each byte has the bits of eight.
        let low = vpaddq_u8(masked[0], masked[1]);
        let high = vpaddq_u8(masked[2], masked[3]);
        let all = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(all, all)))
    }
}
