//! Takes characters of a text, as many at a time as begin in 64 bytes of text, with AVX-512 (VBMI, VBMI2).
//!
//! ```text
//! until the piece ends or 63 characters are taken:
//!     find the bytes that begin characters in the next 64 bytes, and the first byte that is out of place
//!     for each sixteen characters up to there:
//!         pick four bytes of each, and put their code points together
//!         store places, lengths and code points; stop at the first that is none
//!     if none was taken: take one by the definition
//! ```
//!
//! *Invariant*: what is stored behind the last character that counts means nothing; the next step overwrites it, and there
//! is always room for it.
//!
//! Bits say where characters begin, by their first byte, and which bytes have to follow these. Up to the first place where
//! another byte stands, all is as UTF-8 has it, but for three bytes that say what two say, or half of a character. The
//! places where characters begin become a row of numbers by one instruction. Then sixteen are one step: four bytes of each
//! are picked out of the text and put together by the number of those that count, and those three bytes are seen. What
//! else may come, characters of four bytes among it, is left to the definition, [`Sequence::take_one`].
//!
//! Cost: about 4 cycles for a character, where the definition takes 7.
#![expect(
    unsafe_code,
    reason = "vector instructions; with those of `neighbours` and `characters` new Chinese takes a tenth less time"
)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi512_si128,
    _mm512_castsi512_si256, _mm512_cmpeq_epi32_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmplt_epu32_mask, _mm512_cvtepu8_epi32, _mm512_cvtepu32_epi64,
    _mm512_extracti64x4_epi64, _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8, _mm512_or_si512,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_set4_epi32, _mm512_shuffle_epi8, _mm512_slli_epi32, _mm512_srli_epi32, _pdep_u64,
    _pext_u64,
};
use std::ops::Range;

use super::{MAX_CHARACTERS, Pieces, Place, ROOM, Sequence};
use crate::piece::row::numbers;
use crate::piece::vectors::{VECTOR_LEN, load, store};

/// Characters in a step.
const STEP_LEN: usize = 16;

const _: () = assert!(ROOM >= MAX_CHARACTERS + STEP_LEN && size_of::<usize>() == 8);

/// The first byte of a character of four bytes, or none of any.
const FIRST_OF_FOUR: u8 = 0xF0;

/// A window of text, and the characters that begin in it, a bit for each by its first byte: all of one byte to three, and
/// those of two and of three.
#[derive(Clone, Copy)]
struct Window {
    bytes: __m512i,
    begins: u64,
    two: u64,
    three: u64,
    /// The first place where another byte stands than has to, or 64. What the others say from there on means nothing.
    end: u32,
}

/// What [`Sequence::take`] does. Call only where [`crate::piece::vectors::are_here`].
pub(super) fn take(sequence: &mut Sequence, pieces: Pieces<'_>, from: Place) -> bool {
    debug_assert!(crate::piece::vectors::are_here(), "vectors that the processor lacks");
    // SAFETY: callers come here only where `vectors::are_here` found these instructions.
    unsafe { take_windows(sequence, pieces, from) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn take_windows(sequence: &mut Sequence, pieces: Pieces<'_>, from: Place) -> bool {
    sequence.take_by(pieces, from, |sequence, text, piece| {
        let is_long = text[piece.start] >= FIRST_OF_FOUR;
        match if is_long { 0 } else { take_window(sequence, text, piece.clone()) } {
            0 => sequence.take_one(text, piece),
            n_bytes => piece.start + n_bytes,
        }
    })
}

/// Takes characters of at most three bytes at the beginning of a piece; returns how many bytes all have, 0 where the
/// first is left to the definition.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "numbers in a window, a bit for each lane")]
fn take_window(sequence: &mut Sequence, text: &[u8], piece: Range<usize>) -> usize {
    let window = window(text, piece.clone());
    let (n_whole, n_bytes) = window.whole();
    let n_wanted = n_whole.min(MAX_CHARACTERS - sequence.len);
    let starts = _mm512_maskz_compress_epi8(window.begins, numbers());
    let [two, three] = [window.two, window.three].map(|some| _pext_u64(some, window.begins));
    let mut n_done = 0;
    while n_done < n_wanted {
        let lanes = _mm512_add_epi8(numbers(), _mm512_set1_epi8((n_done as u8).cast_signed()));
        let starts = _mm512_castsi512_si128(_mm512_permutexvar_epi8(lanes, starts));
        let starts = _mm512_cvtepu8_epi32(starts);
        let lens = [two, three].map(|some| (some >> n_done) as u16);
        let (codes, none) = codes(window.bytes, starts, lens);
        sequence.store((codes, lens), (piece.start, starts));
        let n_good = none.trailing_zeros().min((n_wanted - n_done) as u32) as usize;
        sequence.len += n_good;
        n_done += n_good;
        if n_good < STEP_LEN {
            break;
        }
    }
    match n_done == n_whole {
        true => n_bytes,
        // Where the next one begins.
        false => _pdep_u64(1 << n_done, window.begins).trailing_zeros() as usize,
    }
}

/// The window from the beginning of a piece on.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn window(text: &[u8], piece: Range<usize>) -> Window {
    let bytes = first_bytes(&text[piece.start..]);
    let here = u64::MAX >> (VECTOR_LEN - piece.len().min(VECTOR_LEN));
    let from =
        |least: u8| here & _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(least.cast_signed()));
    // Bytes from 0x80 to 0xBF follow others, and 0xC0 and 0xC1 are nowhere.
    let [high, first, of_two, of_three, of_four] =
        [0x80, 0xC0, 0xC2, 0xE0, FIRST_OF_FOUR].map(from);
    let (two, three) = (of_two & !of_three, of_three & !of_four);
    let to_follow = (two | three) << 1 | three << 2;
    let wrong = to_follow ^ (high & !first) | first & !of_two | of_four;
    let begins = here & !high | two | three;
    Window { bytes, begins, two, three, end: wrong.trailing_zeros() }
}

impl Window {
    /// How many characters lie before the end, and how many bytes they have.
    #[inline]
    fn whole(&self) -> (usize, usize) {
        let begins =
            self.begins & u64::MAX.checked_shl(self.end).map_or(u64::MAX, |behind| !behind);
        let Some(last) = begins.checked_ilog2() else { return (0, 0) };
        let [two, three] = [self.two, self.three].map(|some| u32::from(some >> last & 1 > 0));
        let (n_begun, end) = (begins.count_ones() as usize, last + 1 + two + 2 * three);
        match end <= self.end {
            true => (n_begun, end as usize),
            false => (n_begun - 1, last as usize),
        }
    }
}

/// The codes of sixteen characters by where they begin, and which have two bytes and three; a bit for each that is none.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn codes(bytes: __m512i, starts: __m512i, [two, three]: [u16; 2]) -> (__m512i, u16) {
    let number = |number: u32| _mm512_set1_epi32(number.cast_signed());
    let same = _mm512_set4_epi32(0x0C0C_0C0C, 0x0808_0808, 0x0404_0404, 0);
    let places = _mm512_add_epi8(_mm512_shuffle_epi8(starts, same), number(0x0302_0100));
    let four = _mm512_permutexvar_epi8(places, bytes);
    // Six bits of each byte, but of the first as many as there are.
    let bits = |bits: u32| _mm512_and_si512(four, number(bits));
    let second = _mm512_srli_epi32::<8>(bits(0x3F00));
    let third = _mm512_srli_epi32::<16>(bits(0x3F_0000));
    let of_two = _mm512_or_si512(_mm512_slli_epi32::<6>(bits(0x1F)), second);
    let upper =
        _mm512_or_si512(_mm512_slli_epi32::<12>(bits(0x0F)), _mm512_slli_epi32::<6>(second));
    let codes = _mm512_mask_mov_epi32(bits(0x7F), two, of_two);
    let codes = _mm512_mask_mov_epi32(codes, three, _mm512_or_si512(upper, third));
    // Three bytes that say what two say are no character, nor are halves of one.
    let is_less = _mm512_cmplt_epu32_mask(codes, number(0x800));
    let is_half = _mm512_cmpeq_epi32_mask(_mm512_and_si512(codes, number(0xF800)), number(0xD800));
    (codes, three & (is_less | is_half))
}

impl Sequence {
    /// Stores sixteen characters behind those that count.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn store(
        &mut self,
        (codes, [two, three]): (__m512i, [u16; 2]),
        (place, starts): (usize, __m512i),
    ) {
        let number = self.len;
        store(codes, &mut self.codes[number..]);
        let place = _mm512_set1_epi64((place as u64).cast_signed());
        let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(starts));
        let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(starts));
        store(_mm512_add_epi64(low, place), &mut self.starts[number..]);
        store(_mm512_add_epi64(high, place), &mut self.starts[number + STEP_LEN / 2..]);
        let lens = _mm512_mask_mov_epi32(_mm512_set1_epi32(1), two, _mm512_set1_epi32(2));
        let lens = _mm512_mask_mov_epi32(lens, three, _mm512_set1_epi32(3));
        store(lens, &mut self.lens[number..]);
    }
}

/// The first bytes of a text, with zeros behind its end.
#[target_feature(enable = "avx512f")]
#[inline]
fn first_bytes(text: &[u8]) -> __m512i {
    if text.len() >= VECTOR_LEN {
        return load(text);
    }
    let mut first = [0_u8; VECTOR_LEN];
    first[..text.len()].copy_from_slice(text);
    load(&first)
}
