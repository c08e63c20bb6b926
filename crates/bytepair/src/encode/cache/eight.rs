//! Known pieces eight at a time, with AVX-512.
//!
//! A [`Row`] of pieces is made ready first, with their keys and where they belong in the table. Then eight are one
//! step: their slots are fetched together, the keys compared, and the ids written close together. Between them come
//! the ids of pieces that stand elsewhere in the cache; what it does not know becomes a hole. The definition is the
//! loop over single pieces in [`super::PieceCache`].
//!
//! Cost: about 10 cycles a piece, as long as no step waits for the one before.
#![expect(
    unsafe_code,
    reason = "vector instructions; known pieces are found in two thirds of the time"
)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpneq_epi32_mask, _mm512_maskz_compress_epi32,
    _mm512_movepi32_mask, _mm512_permutex2var_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_storeu_si512, _pdep_u32,
};

use super::holes::Hole;
use super::{ABSENT, MAX_IDS, MORE, PieceCache};
use crate::piece_row::{Found, Row, STEP_LEN};
use crate::piece_starts::Word;
use crate::vocabulary::TokenId;

/// Ids that a vector holds.
const VECTOR_IDS: usize = 16;

/// Appends the ids of the pieces that the cache knows; the others become holes. Stops after a row with a short one among
/// these; says whether it did.
pub(super) fn append(
    cache: &PieceCache,
    row: &mut Row,
    (text, words): (&[u8], &mut impl Iterator<Item = Word>),
    (ids, holes): (&mut Vec<TokenId>, &mut Vec<Hole>),
) -> bool {
    // SAFETY: callers ask for it only where [`crate::piece_row::is_here`] found these instructions.
    unsafe { append_words(cache, row, (text, words), (ids, holes)) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn append_words(
    cache: &PieceCache,
    row: &mut Row,
    (text, words): (&[u8], &mut impl Iterator<Item = Word>),
    (ids, holes): (&mut Vec<TokenId>, &mut Vec<Hole>),
) -> bool {
    row.clear();
    for word in words {
        let long = row.push(cache.short.slots(), (text, word));
        if long != 0 {
            row.name_runs(cache.short.slots(), (text, word), long);
        }
        if row.is_full() {
            let n_before = holes.len();
            append_row(cache, (text, row), ids, holes);
            if holes[n_before..].iter().any(Hole::is_short) {
                return true;
            }
            row.clear();
        }
    }
    append_row(cache, (text, row), ids, holes);
    false
}

/// Looks the pieces of a row up.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,bmi1,bmi2,popcnt")]
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
        let slots = cache.short.slots();
        let mut found = row.find(slots, number);
        // The next step does not wait for the slots of this one, as long as it goes as expected.
        if found.known & asked == asked {
            StepIds::of(&found, asked).write(u32::MAX, ids);
            continue;
        }
        let has_key = asked & !row.long(number);
        let mut absent = 0;
        if has_key & !(found.known | found.marked) != 0 {
            row.look_beside(slots, number, &mut found);
            // A key that had no room in its line would stand in a later one, and this one had no free slot then.
            absent = has_key & found.free & !(found.known | found.marked);
        }
        append_apart(cache, (text, row, number), (&found, asked, absent), (ids, holes));
    }
}

/// Appends the ids of a step of which not all are known at once, and notes those that are not known at all.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,bmi1,bmi2,popcnt")]
#[inline]
fn append_apart(
    cache: &PieceCache,
    (text, row, number): (&[u8], &Row, usize),
    (found, asked, absent): (&Found, u8, u8),
    (ids, holes): (&mut Vec<TokenId>, &mut Vec<Hole>),
) {
    let step = StepIds::of(found, asked);
    let mut left = asked & !found.known;
    let mut written = 0;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let before = (1 << (lane * step.lane_ids)) - 1;
        step.write(before & !written, ids);
        written = before;
        if absent >> lane & 1 > 0
            || !append_one(cache, (text, row, number + lane), (found, lane), ids)
        {
            holes.push(Hole { piece: row.piece(number + lane), n_before: ids.len() });
        }
        ids.reserve(STEP_LEN * MAX_IDS + VECTOR_IDS);
    }
    step.write(!written, ids);
}

/// Appends the ids of a piece that is not known at once, if they stand elsewhere in the cache.
#[target_feature(enable = "avx512f,avx512bw,bmi1")]
#[inline]
fn append_one(
    cache: &PieceCache,
    (text, row, number): (&[u8], &Row, usize),
    (found, lane): (&Found, usize),
    ids: &mut Vec<TokenId>,
) -> bool {
    if found.marked >> lane & 1 > 0 {
        return cache.append_marked(found.value(lane), ids);
    }
    if row.is_long(number) {
        return cache.append_ascii(&text[row.piece(number)], ids);
    }
    cache.short.get(row.key(number)).is_some_and(|slot| cache.append_slot(slot, ids))
}

/// The ids of the known slots of a step.
struct StepIds {
    vectors: [__m512i; 2],
    /// A bit for each id of a known slot, absent ones included.
    known: u32,
    /// Ids for each slot.
    lane_ids: usize,
}

impl StepIds {
    #[target_feature(enable = "avx512f,avx512dq,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of a mask")]
    fn of(found: &Found, asked: u8) -> Self {
        let ([some, more], slots) = (found.values, found.known & asked);
        let known = _pdep_u32(slots.into(), 0x5555);
        let has_more = _mm512_movepi32_mask(_mm512_and_si512(some, _mm512_set1_epi64(MORE.into())));
        if known as u16 & has_more == 0 {
            return Self { vectors: [some; 2], known: known * 0b11, lane_ids: 2 };
        }
        let some = _mm512_and_si512(some, _mm512_set1_epi64(!i64::from(MORE)));
        let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        let vectors = [
            _mm512_permutex2var_epi64(some, first, more),
            _mm512_permutex2var_epi64(some, second, more),
        ];
        let known = _pdep_u32(slots.into(), 0x1111_1111) * 0b1111;
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
