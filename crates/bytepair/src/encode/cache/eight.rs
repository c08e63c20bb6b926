//! Known pieces eight at a time, with AVX-512.
//!
//! A [`Row`] of pieces is made ready first, with their keys and where they belong in the table. Then eight are one
//! step: their slots are fetched together, the keys compared, and the ids written close together. Between them come
//! the ids of pieces that stand elsewhere in the cache; what it does not know becomes a hole. The definition is the
//! loop over single pieces in [`super::PieceCache`].
//!
//! Cost: about 12 cycles a piece, as long as no step waits for the one before.
#![expect(
    unsafe_code,
    reason = "vector instructions; known pieces are found in two thirds of the time"
)]

mod row;

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmpneq_epi32_mask,
    _mm512_i64gather_epi64, _mm512_mask_blend_epi64, _mm512_maskz_compress_epi32,
    _mm512_movepi32_mask, _mm512_permutex2var_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_slli_epi64, _mm512_storeu_si512, _mm512_xor_si512, _pdep_u32,
};

use self::row::Row;
use super::holes::Hole;
use super::starts::Starts;
use super::table::{Slot, Table};
use super::{ABSENT, MAX_IDS, MORE, PieceCache};
use crate::vocabulary::TokenId;

/// Pieces in a step.
const STEP_LEN: usize = 8;

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

/// Appends the ids of the pieces that the cache knows; the others become holes.
pub(super) fn append(
    cache: &PieceCache,
    (text, starts): (&[u8], &Starts<'_>),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    // SAFETY: callers ask for it only where `is_here` found these instructions.
    unsafe { append_words(cache, (text, starts), ids, holes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn append_words(
    cache: &PieceCache,
    (text, starts): (&[u8], &Starts<'_>),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    let mut row = Row::new();
    for word in starts.words() {
        row.push(&cache.short, (text, word));
        if row.is_full() {
            append_row(cache, (text, &row), ids, holes);
            row.clear();
        }
    }
    append_row(cache, (text, &row), ids, holes);
}

/// Looks the pieces of a row up.
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2,popcnt")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a bit for each lane")]
fn append_row(
    cache: &PieceCache,
    (text, row): (&[u8], &Row),
    ids: &mut Vec<TokenId>,
    holes: &mut Vec<Hole>,
) {
    for number in (0..row.len()).step_by(STEP_LEN) {
        // Room for all ids of the slots of a step, and for a vector of which nothing counts.
        ids.reserve(STEP_LEN * MAX_IDS + VECTOR_IDS);
        let asked = ((1_u32 << (row.len() - number).min(STEP_LEN)) - 1) as u8;
        let mut found = find(&cache.short, row, number);
        // The next step does not wait for the slots of this one, as long as it goes as expected.
        if found.known & asked != asked {
            look_beside(&cache.short, row, number, &mut found);
        }
        found.known &= asked;
        let step = StepIds::of(&cache.short, &found);
        if found.known == asked {
            step.write(u32::MAX, ids);
        } else {
            append_apart(cache, (text, row, number), (step, asked & !found.known), (ids, holes));
        }
    }
}

/// Appends the ids of a step, and between them those of the pieces that are `left`, or notes these.
#[target_feature(enable = "avx512f,bmi1,popcnt")]
#[inline]
fn append_apart(
    cache: &PieceCache,
    (text, row, number): (&[u8], &Row, usize),
    (step, mut left): (StepIds, u8),
    (ids, holes): (&mut Vec<TokenId>, &mut Vec<Hole>),
) {
    let mut written = 0;
    while left != 0 {
        let lane = left.trailing_zeros();
        left &= left - 1;
        let before = (1 << (lane * step.lane_ids)) - 1;
        step.write(before & !written, ids);
        written = before;
        let piece = row.piece(number + lane as usize);
        if !cache.append_at_once(text, piece.clone(), ids) {
            holes.push(Hole { piece, n_before: ids.len() });
        }
        ids.reserve(STEP_LEN * MAX_IDS + VECTOR_IDS);
    }
    step.write(!written, ids);
}

/// Eight slots by their keys.
struct Found {
    /// A bit for each key that has one.
    known: u8,
    /// Where each slot is in the table, in words of 64 bits.
    places: __m512i,
}

/// The slots where keys belong.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn find(table: &Table, row: &Row, number: usize) -> Found {
    let (keys, homes) = row.step(number);
    let places = _mm512_slli_epi64::<{ SLOT_WORDS.ilog2() }>(homes);
    Found { known: compare(table, keys, places), places }
}

/// Looks for keys that are not at home in the other slot of the line.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn look_beside(table: &Table, row: &Row, number: usize, found: &mut Found) {
    let (keys, _) = row.step(number);
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

/// The ids of the known slots of a step.
struct StepIds {
    vectors: [__m512i; 2],
    /// A bit for each id of a known slot, absent ones included.
    known: u32,
    /// Ids for each slot.
    lane_ids: u32,
}

impl StepIds {
    #[target_feature(enable = "avx512f,avx512dq,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of a mask")]
    fn of(table: &Table, found: &Found) -> Self {
        let some = slot_words(table, found.places, 2);
        let known = _pdep_u32(found.known.into(), 0x5555);
        let has_more = _mm512_movepi32_mask(_mm512_and_si512(some, _mm512_set1_epi64(MORE.into())));
        if known as u16 & has_more == 0 {
            return Self { vectors: [some; 2], known: known * 0b11, lane_ids: 2 };
        }
        let some = _mm512_and_si512(some, _mm512_set1_epi64(!i64::from(MORE)));
        let more = slot_words(table, found.places, 3);
        let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        let vectors = [first, second].map(|order| _mm512_permutex2var_epi64(some, order, more));
        let known = _pdep_u32(found.known.into(), 0x1111_1111) * 0b1111;
        Self { vectors, known, lane_ids: 4 }
    }

    /// Appends those of some ids that are known and not absent.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of a mask")]
    fn write(&self, wanted: u32, ids: &mut Vec<TokenId>) {
        let wanted = self.known & wanted;
        write_some(self.vectors[0], wanted as u16, ids);
        if self.lane_ids > 2 {
            write_some(self.vectors[1], (wanted >> 16) as u16, ids);
        }
    }
}

/// Appends those ids of a vector that are wanted and not absent.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn write_some(vector: __m512i, wanted: u16, ids: &mut Vec<TokenId>) {
    let absent = _mm512_set1_epi32(ABSENT.cast_signed());
    let written = wanted & _mm512_cmpneq_epi32_mask(vector, absent);
    let vector = _mm512_maskz_compress_epi32(written, vector);
    debug_assert!(ids.capacity() - ids.len() >= VECTOR_IDS, "there is room for a vector");
    let len = ids.len();
    // SAFETY: `append_row` and `append_apart` made room for all that the slots of a step can give, and a vector more.
    let end = unsafe { ids.as_mut_ptr().add(len) };
    // SAFETY: as before; ids need no alignment.
    unsafe { _mm512_storeu_si512(end.cast(), vector) };
    // SAFETY: so many ids have just been written.
    unsafe { ids.set_len(len + written.count_ones() as usize) };
}
