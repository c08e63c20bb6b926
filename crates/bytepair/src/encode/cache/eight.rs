//! Known pieces eight at a time, with AVX-512.
//!
//! The places where pieces start in 64 bytes of text become a row of numbers by one instruction. From there eight
//! pieces are one step: their bytes are picked out of a window of 128 bytes that stays in registers, cut to
//! their lengths and hashed side by side; their slots are fetched together, the keys compared, and the ids
//! written close together. What is not at home in the table or beside becomes a hole. The definition is the loop
//! over single pieces in [`super::PieceCache`].
//!
//! Cost: about 12 cycles a piece, as long as no step waits for the one before.
#![expect(
    unsafe_code,
    reason = "vector instructions; known pieces are found in two thirds of the time"
)]

use std::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm512_add_epi8, _mm512_and_si512, _mm512_cmpeq_epi64_mask,
    _mm512_cmple_epu64_mask, _mm512_cmplt_epu8_mask, _mm512_cmpneq_epi32_mask,
    _mm512_i64gather_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_mask_blend_epi64,
    _mm512_maskz_compress_epi8, _mm512_maskz_compress_epi32, _mm512_maskz_permutex2var_epi8,
    _mm512_movepi32_mask, _mm512_mullo_epi64, _mm512_or_si512, _mm512_permutex2var_epi64,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_slli_epi64, _mm512_srl_epi64, _mm512_storeu_si512, _mm512_sub_epi8,
    _mm512_xor_si512, _pdep_u32, _pdep_u64,
};
use std::ops::Range;

use super::holes::Hole;
use super::starts::{Starts, WORD_LEN, Word};
use super::table::{FACTORS, Slot, Table};
use super::{ABSENT, MAX_IDS, MORE};
use crate::piece_key::MAX_KEY_LEN;
use crate::vocabulary::TokenId;

/// Pieces in a step.
const STEP_LEN: u32 = 8;

/// The window of text in registers.
const WINDOW_LEN: usize = 2 * WORD_LEN;

/// Ids that a vector holds.
const VECTOR_IDS: usize = 16;

/// Words of 64 bits in a slot: two of the key, two of the value.
const SLOT_WORDS: i64 = (size_of::<Slot>() / size_of::<i64>()).cast_signed() as i64;

/// Whether the processor has the instructions.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Appends the ids of the pieces that are at home in the table or beside; the others become holes.
pub(super) fn append(
    table: &Table,
    (text, starts): (&[u8], &Starts<'_>),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    // SAFETY: callers ask for it only where `is_here` found these instructions.
    unsafe { append_words(table, (text, starts), ids, holes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn append_words(
    table: &Table,
    (text, starts): (&[u8], &Starts<'_>),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    for word in starts.words() {
        // Room for all that the word can give, and for a vector of which nothing counts.
        ids.reserve(WORD_LEN * MAX_IDS + VECTOR_IDS);
        append_word(table, (text, word), ids, holes);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "numbers of places in a window, and of lanes")]
fn append_word(
    table: &Table,
    (text, word): (&[u8], Word),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    let window = window(text, word.start);
    let n_starts = word.bits.count_ones();
    // Places and lengths as bytes. A length that fits none is cut, and still too long for a key.
    let end = (word.end - word.start).min(255) as u8;
    let places = _mm512_maskz_compress_epi8(word.bits, numbers());
    let ends = _mm512_maskz_compress_epi8(word.bits & (word.bits - 1), numbers());
    let ends = _mm512_mask_blend_epi8(1 << (n_starts - 1), ends, splat(end));
    let lens = _mm512_sub_epi8(ends, places);
    let mut n_done = 0;
    while n_done < n_starts {
        let lanes = _mm512_add_epi8(lane_numbers(), splat(n_done as u8));
        let (places, lens) =
            (_mm512_permutexvar_epi8(lanes, places), _mm512_permutexvar_epi8(lanes, lens));
        let keys = keys(window, (places, lens));
        let asked = ((1_u32 << (n_starts - n_done).min(STEP_LEN)) - 1) as u8;
        let short = _mm512_cmple_epu64_mask(lens, splat(MAX_KEY_LEN as u8)) & asked;
        let mut found = find(table, keys);
        // The next step does not wait for the slots of this one, as long as it goes as expected.
        if found.known & short == asked {
            found.known = asked;
            write(table, &found, ids);
        } else {
            look_beside(table, keys, &mut found);
            found.known &= short;
            let n_before = ids.len();
            let written = write(table, &found, ids);
            push_holes(word, n_done, (asked & !found.known, n_before, written), holes);
        }
        n_done += STEP_LEN;
    }
}

/// Notes the pieces of a step that were not found.
#[target_feature(enable = "bmi1,bmi2,popcnt")]
fn push_holes(
    word: Word,
    n_done: u32,
    (unknown, n_before, written): (u8, usize, Written),
    holes: &mut Vec<Hole>,
) {
    let mut left = unknown;
    while left != 0 {
        let lane = left.trailing_zeros();
        left &= left - 1;
        let n_before = n_before + written.n_before(lane);
        holes.push(Hole { piece: piece(word, n_done + lane), n_before });
    }
}

/// The piece of this number among those of a word.
#[target_feature(enable = "bmi1,bmi2")]
fn piece(word: Word, number: u32) -> Range<usize> {
    let place = |number: u32| {
        let bit = _pdep_u64(1_u64.checked_shl(number).unwrap_or(0), word.bits);
        (bit != 0).then(|| word.start + bit.trailing_zeros() as usize)
    };
    place(number).unwrap_or(word.end)..place(number + 1).unwrap_or(word.end)
}

/// Eight slots by their keys.
struct Found {
    /// A bit for each key that has one.
    known: u8,
    /// Where each slot is in the table, in words of 64 bits.
    places: __m512i,
}

/// The lower and upper halves of the keys of eight pieces. Each byte of a lane says where its piece starts in the
/// window, or how long it is.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn keys([near, far]: [__m512i; 2], (places, lens): (__m512i, __m512i)) -> [__m512i; 2] {
    let eight = splat(8);
    let low = _mm512_cmplt_epu8_mask(byte_numbers(), lens);
    let high = _mm512_cmplt_epu8_mask(_mm512_add_epi8(byte_numbers(), eight), lens);
    let places = _mm512_add_epi8(places, byte_numbers());
    let low = _mm512_maskz_permutex2var_epi8(low, near, places, far);
    let places = _mm512_add_epi8(places, eight);
    let high = _mm512_maskz_permutex2var_epi8(high, near, places, far);
    [low, _mm512_or_si512(high, _mm512_slli_epi64::<56>(lens))]
}

/// The slots where keys belong.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn find(table: &Table, keys: [__m512i; 2]) -> Found {
    let (_, shift) = table.slots();
    let [low, high] = [0, 1].map(|half| {
        let factor = _mm512_set1_epi64(FACTORS[half].cast_signed());
        _mm512_mullo_epi64(keys[half], factor)
    });
    let hash = _mm512_xor_si512(low, high);
    let places = _mm512_srl_epi64(hash, _mm_cvtsi32_si128(shift.cast_signed()));
    let places = _mm512_slli_epi64::<{ SLOT_WORDS.ilog2() }>(places);
    Found { known: compare(table, keys, places), places }
}

/// Looks for keys that are not at home in the other slot of the line.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn look_beside(table: &Table, keys: [__m512i; 2], found: &mut Found) {
    let places = _mm512_xor_si512(found.places, _mm512_set1_epi64(SLOT_WORDS));
    let known = compare(table, keys, places);
    found.places = _mm512_mask_blend_epi64(known, found.places, places);
    found.known |= known;
}

/// Which slots have these keys.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn compare(table: &Table, [low, high]: [__m512i; 2], places: __m512i) -> u8 {
    _mm512_cmpeq_epi64_mask(slot_words(table, places, 0), low)
        & _mm512_cmpeq_epi64_mask(slot_words(table, places, 1), high)
}

/// One word of each of eight slots: the lower or upper half of its key, or of its value.
#[target_feature(enable = "avx512f")]
#[inline]
fn slot_words(table: &Table, places: __m512i, word: usize) -> __m512i {
    let words = table.slots().0.as_ptr().cast::<i64>().wrapping_add(word);
    // SAFETY: places come from hashes shifted to the number of a slot, of which there are a power of two, or are
    // the other slot of its line; a slot has four words.
    unsafe { _mm512_i64gather_epi64::<8>(places, words) }
}

/// Which ids of the lanes of a step were written.
#[derive(Clone, Copy)]
struct Written {
    /// A bit for each id that a lane can have.
    ids: u32,
    lane_ids: u32,
}

impl Written {
    /// Ids of the lanes before this one.
    fn n_before(self, lane: u32) -> usize {
        (self.ids & ((1 << (lane * self.lane_ids)) - 1)).count_ones() as usize
    }
}

/// Appends the ids of those slots that are known.
#[target_feature(enable = "avx512f,avx512dq,bmi2,popcnt")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves of a mask")]
fn write(table: &Table, found: &Found, ids: &mut Vec<TokenId>) -> Written {
    let some = slot_words(table, found.places, 2);
    let known = _pdep_u32(found.known.into(), 0x5555);
    let has_more = _mm512_movepi32_mask(_mm512_and_si512(some, _mm512_set1_epi64(MORE.into())));
    if known as u16 & has_more == 0 {
        let written = write_some(some, (known * 0b11) as u16, ids);
        return Written { ids: written.into(), lane_ids: 2 };
    }
    let some = _mm512_and_si512(some, _mm512_set1_epi64(!i64::from(MORE)));
    let more = slot_words(table, found.places, 3);
    let first = _mm512_permutex2var_epi64(some, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), more);
    let second =
        _mm512_permutex2var_epi64(some, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), more);
    let known = _pdep_u32(found.known.into(), 0x1111_1111) * 0b1111;
    let first = write_some(first, known as u16, ids);
    let second = write_some(second, (known >> 16) as u16, ids);
    Written { ids: u32::from(first) | u32::from(second) << 16, lane_ids: 4 }
}

/// Appends those ids of a vector that are wanted and not absent; returns which.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn write_some(vector: __m512i, wanted: u16, ids: &mut Vec<TokenId>) -> u16 {
    let absent = _mm512_set1_epi32(ABSENT.cast_signed());
    let written = wanted & _mm512_cmpneq_epi32_mask(vector, absent);
    let vector = _mm512_maskz_compress_epi32(written, vector);
    debug_assert!(ids.capacity() - ids.len() >= VECTOR_IDS, "there is room for a vector");
    let len = ids.len();
    // SAFETY: `append_words` made room for all that a word of starts can give, and a vector more.
    let end = unsafe { ids.as_mut_ptr().add(len) };
    // SAFETY: as before; ids need no alignment.
    unsafe { _mm512_storeu_si512(end.cast(), vector) };
    // SAFETY: so many ids have just been written.
    unsafe { ids.set_len(len + written.count_ones() as usize) };
    written
}

/// The text from a place on, with zeros behind its end.
#[target_feature(enable = "avx512f")]
#[inline]
fn window(text: &[u8], start: usize) -> [__m512i; 2] {
    if let Some(window) = text.get(start..).and_then(|rest| rest.first_chunk()) {
        return load(window);
    }
    let mut window = [0; WINDOW_LEN];
    let rest = text.get(start..).unwrap_or_default();
    window[..rest.len()].copy_from_slice(rest);
    load(&window)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(window: &[u8; WINDOW_LEN]) -> [__m512i; 2] {
    let (halves, _) = window.as_chunks::<WORD_LEN>();
    [bytes(&halves[0]), bytes(&halves[1])]
}

/// The number of each byte.
#[target_feature(enable = "avx512f")]
#[inline]
fn numbers() -> __m512i {
    bytes(const { &numbered(1, 64) })
}

/// The number of each byte in its lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn byte_numbers() -> __m512i {
    bytes(const { &numbered(1, 8) })
}

/// The number of the lane of each byte.
#[target_feature(enable = "avx512f")]
#[inline]
fn lane_numbers() -> __m512i {
    bytes(const { &numbered(8, 8) })
}

/// `place / step % n` for each place.
#[expect(clippy::cast_possible_truncation, reason = "less than 64")]
const fn numbered(step: usize, n: usize) -> [u8; WORD_LEN] {
    let mut numbers = [0; WORD_LEN];
    let mut place = 0;
    while place < WORD_LEN {
        numbers[place] = (place / step % n) as u8;
        place += 1;
    }
    numbers
}

#[target_feature(enable = "avx512f")]
#[inline]
fn bytes(bytes: &[u8; WORD_LEN]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read, which need no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
