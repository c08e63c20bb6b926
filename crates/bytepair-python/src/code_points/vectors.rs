//! The UTF-8 of code points by blocks of 64, with AVX-512 (VBMI, VBMI2).
//!
//! ```text
//! for each 16 blocks of the text:
//!     for each block:
//!         all ASCII:                       narrow it to bytes
//!         at most two bytes a character:   twice: spread 32 characters, keep the bytes that count
//!         else:                            four times: spread 16 characters, keep the bytes that count
//!         write these behind those of the blocks before, in a buffer
//!     append the buffer to the text
//! ```
//!
//! A block of ASCII is narrowed to bytes. Others are written with room for the most bytes that a character of the block
//! may take: in each lane its last byte stands last and those before it in front, each six bits further up. All bytes
//! but that of an ASCII character have their highest bit set, and so has every byte of a pattern that says which of
//! them count: it gives the bits that are added, and the bytes that are kept when the lanes are put together by one
//! instruction. They are put together in a register: written to memory so, they would take a hundred cycles on some
//! processors. Each store writes a whole vector, but only its first bytes count: the next one writes over the others, and
//! the buffer is longer than its blocks by one vector.
//!
//! Cost: about 3 cycles for a block of ASCII, 8 for 32 characters of at most two bytes, 10 for 16 others.
#![expect(
    unsafe_code,
    reason = "vector instructions; text in other letters than ASCII has its UTF-8 in a tenth of the time"
)]

use std::arch::x86_64::{
    __m256i, __m512i, _mm_storeu_si128, _mm256_loadu_si256, _mm512_and_si512,
    _mm512_cmpeq_epi16_mask, _mm512_cmpeq_epi32_mask, _mm512_cmpge_epu16_mask,
    _mm512_cmpge_epu32_mask, _mm512_cmpgt_epu32_mask, _mm512_cmplt_epu16_mask,
    _mm512_cmplt_epu32_mask, _mm512_cvtepi32_epi8, _mm512_cvtepu8_epi16, _mm512_cvtepu16_epi32,
    _mm512_loadu_si512, _mm512_mask_mov_epi16, _mm512_mask_mov_epi32, _mm512_mask_slli_epi16,
    _mm512_mask_slli_epi32, _mm512_maskz_compress_epi8, _mm512_movepi8_mask,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_ternarylogic_epi64,
    _mm512_test_epi16_mask, _mm512_test_epi32_mask,
};

use super::CodePoints;

/// Characters in a block.
const BLOCK_LEN: usize = 64;

/// The bytes of a vector.
const VECTOR_LEN: usize = 64;

/// What a block may write: four bytes for each character, and what the last step writes behind.
const ROOM: usize = 4 * BLOCK_LEN + VECTOR_LEN;

/// Of three values: the bits of the first where the second has them, and those of the third.
const AND_OR: i32 = 0b1110_1010;

/// Blocks that are written to the buffer before it is appended.
const N_BLOCKS: usize = 16;

/// The bytes of the buffer.
const BUFFER_LEN: usize = N_BLOCKS * 4 * BLOCK_LEN + VECTOR_LEN;

/// Whether the processor has the instructions, and they may be used.
pub(super) fn are_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt")
        && bytepair::split::instructions() == "avx512"
}

/// Appends the UTF-8 of code points; `None` where a number is no character's, or where the instructions are not
/// [here](are_here).
pub(super) fn append(code_points: CodePoints<'_>, utf8: &mut Vec<u8>) -> Option<()> {
    if !are_here() {
        return None;
    }
    // SAFETY: these instructions were found.
    unsafe { append_points(code_points, utf8) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn append_points(code_points: CodePoints<'_>, utf8: &mut Vec<u8>) -> Option<()> {
    match code_points {
        CodePoints::Latin1(numbers) => {
            append_blocks(numbers, utf8, |block, out| Some(write_latin1(block, out)))
        }
        CodePoints::Ucs2(numbers) => {
            append_blocks(numbers, utf8, |block, out| write_ucs2(block, out))
        }
        CodePoints::Ucs4(numbers) => {
            append_blocks(numbers, utf8, |block, out| write_ucs4(block, out))
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn append_blocks<U: Copy + Default>(
    numbers: &[U],
    utf8: &mut Vec<u8>,
    write: impl Fn(&[U; BLOCK_LEN], &mut [u8; ROOM]) -> Option<usize>,
) -> Option<()> {
    let mut buffer = [0; BUFFER_LEN];
    for numbers in numbers.chunks(N_BLOCKS * BLOCK_LEN) {
        let (blocks, rest) = numbers.as_chunks();
        let mut len = 0;
        for block in blocks {
            len += write(block, buffer[len..].first_chunk_mut()?)?;
        }
        if !rest.is_empty() {
            // What fills the last block up is ASCII, a byte each.
            let mut last = [U::default(); BLOCK_LEN];
            last[..rest.len()].copy_from_slice(rest);
            len += write(&last, buffer[len..].first_chunk_mut()?)? - (BLOCK_LEN - rest.len());
        }
        utf8.extend_from_slice(&buffer[..len]);
    }
    Some(())
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn write_latin1(block: &[u8; BLOCK_LEN], out: &mut [u8; ROOM]) -> usize {
    let characters = load(block);
    if _mm512_movepi8_mask(characters) == 0 {
        store(out, 0, characters);
        return BLOCK_LEN;
    }
    let (halves, _) = block.as_chunks::<32>();
    halves
        .iter()
        .fold(0, |len, half| len + write_short(_mm512_cvtepu8_epi16(load_half(half)), out, len))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn write_ucs2(block: &[u16; BLOCK_LEN], out: &mut [u8; ROOM]) -> Option<usize> {
    let (halves, _) = block.as_chunks::<32>();
    let characters = [load(&halves[0]), load(&halves[1])];
    let any = _mm512_or_si512(characters[0], characters[1]);
    let has = |bits: u16| _mm512_test_epi16_mask(any, _mm512_set1_epi16(bits.cast_signed())) != 0;
    if !has(0xFF80) {
        let every_other = load(const { &even_numbers() });
        let narrow = _mm512_permutex2var_epi8(characters[0], every_other, characters[1]);
        store(out, 0, narrow);
        return Some(BLOCK_LEN);
    }
    if !has(0xF800) {
        let len = write_short(characters[0], out, 0);
        return Some(len + write_short(characters[1], out, len));
    }
    let surrogates = |characters| {
        let high = _mm512_and_si512(characters, _mm512_set1_epi16(0xF800_u16.cast_signed()));
        _mm512_cmpeq_epi16_mask(high, _mm512_set1_epi16(0xD800_u16.cast_signed()))
    };
    if surrogates(characters[0]) | surrogates(characters[1]) != 0 {
        return None;
    }
    let (quarters, _) = block.as_chunks::<16>();
    let len = quarters.iter().fold(0, |len, quarter| {
        len + write_long(_mm512_cvtepu16_epi32(load_half(quarter)), out, len)
    });
    Some(len)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn write_ucs4(block: &[u32; BLOCK_LEN], out: &mut [u8; ROOM]) -> Option<usize> {
    let (quarters, _) = block.as_chunks::<16>();
    let characters =
        [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])];
    let any = _mm512_or_si512(
        _mm512_or_si512(characters[0], characters[1]),
        _mm512_or_si512(characters[2], characters[3]),
    );
    if _mm512_test_epi32_mask(any, _mm512_set1_epi32(!0x7F)) == 0 {
        for (quarter, characters) in characters.into_iter().enumerate() {
            store_narrow(out, 16 * quarter, characters);
        }
        return Some(BLOCK_LEN);
    }
    let (mut len, mut wrong) = (0, 0);
    for characters in characters {
        let high = _mm512_and_si512(characters, _mm512_set1_epi32(!0x7FF));
        wrong |= _mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(0xD800));
        wrong |= _mm512_cmpgt_epu32_mask(characters, _mm512_set1_epi32(0x10_FFFF));
        len += write_long(characters, out, len);
    }
    (wrong == 0).then_some(len)
}

/// Writes 32 characters of at most two bytes behind the first `len` bytes; gives the length of what it wrote.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn write_short(characters: __m512i, out: &mut [u8; ROOM], len: usize) -> usize {
    let first_of_two = _mm512_set1_epi16(0x80);
    let ascii = _mm512_cmplt_epu16_mask(characters, first_of_two);
    let two = _mm512_cmpge_epu16_mask(characters, first_of_two);
    let last = _mm512_set1_epi16(0x8000_u16.cast_signed());
    let pattern = _mm512_mask_mov_epi16(last, two, _mm512_set1_epi16(0x80C0_u16.cast_signed()));
    // In each lane, from its lowest byte on: from the sixth bit on, from the lowest.
    let places = _mm512_set1_epi64(0x3036_2026_1016_0006);
    let bits = _mm512_multishift_epi64_epi8(places, characters);
    let bytes = _mm512_ternarylogic_epi64::<AND_OR>(bits, _mm512_set1_epi16(0x3FFF), pattern);
    let bytes = _mm512_mask_slli_epi16::<8>(bytes, ascii, characters);
    write_kept(bytes, pattern, out, len)
}

/// Writes 16 characters of any length behind the first `len` bytes; gives the length of what it wrote.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
fn write_long(characters: __m512i, out: &mut [u8; ROOM], len: usize) -> usize {
    let number = |number: u32| _mm512_set1_epi32(number.cast_signed());
    let ascii = _mm512_cmplt_epu32_mask(characters, number(0x80));
    let from = |first| _mm512_cmpge_epu32_mask(characters, number(first));
    let pattern = number(0x8000_0000);
    let pattern = _mm512_mask_mov_epi32(pattern, from(0x80), number(0x80C0_0000));
    let pattern = _mm512_mask_mov_epi32(pattern, from(0x800), number(0x8080_E000));
    let pattern = _mm512_mask_mov_epi32(pattern, from(0x1_0000), number(0x8080_80F0));
    // In each lane, from its lowest byte on: from the 18th bit on, from the 12th, the sixth, the lowest.
    let places = _mm512_set1_epi64(0x2026_2C32_0006_0C12);
    let bits = _mm512_multishift_epi64_epi8(places, characters);
    let bytes = _mm512_ternarylogic_epi64::<AND_OR>(bits, number(0x3F3F_3F3F), pattern);
    let bytes = _mm512_mask_slli_epi32::<24>(bytes, ascii, characters);
    write_kept(bytes, pattern, out, len)
}

/// Writes the bytes whose patterns have their highest bit set.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
#[inline]
fn write_kept(bytes: __m512i, pattern: __m512i, out: &mut [u8; ROOM], len: usize) -> usize {
    let kept = _mm512_movepi8_mask(pattern);
    store(out, len, _mm512_maskz_compress_epi8(kept, bytes));
    kept.count_ones() as usize
}

/// The numbers of the lower bytes of 64 numbers of 16 bits.
#[expect(clippy::cast_possible_truncation, reason = "less than 128")]
const fn even_numbers() -> [u8; VECTOR_LEN] {
    let mut numbers = [0; VECTOR_LEN];
    let mut place = 0;
    while place < VECTOR_LEN {
        numbers[place] = 2 * place as u8;
        place += 1;
    }
    numbers
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load<T, const N: usize>(units: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == VECTOR_LEN) };
    // SAFETY: the array has the 64 bytes that are read, which need no alignment.
    unsafe { _mm512_loadu_si512(units.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_half<T, const N: usize>(units: &[T; N]) -> __m256i {
    const { assert!(2 * size_of::<[T; N]>() == VECTOR_LEN) };
    // SAFETY: the array has the 32 bytes that are read, which need no alignment.
    unsafe { _mm256_loadu_si256(units.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(out: &mut [u8; ROOM], place: usize, value: __m512i) {
    let out = &mut out[place..place + VECTOR_LEN];
    // SAFETY: 64 bytes are what is written; it needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), value) };
}

/// Stores the lowest byte of each of 16 numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn store_narrow(out: &mut [u8; ROOM], place: usize, value: __m512i) {
    let (out, narrow) = (&mut out[place..place + 16], _mm512_cvtepi32_epi8(value));
    // SAFETY: 16 bytes are what is written; it needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), narrow) };
}
