//! Lookup of eight pieces at a time, with AVX-512.
//!
//! A [`PieceRow`] first collects some hundred pieces: their keys, and the homes of these in the table, which are
//! prefetched. Then eight pieces are one step:
//!
//! ```text
//! for each eight pieces of the row:
//!     read their homes, and compare the keys of the eight slots with those of the pieces
//!     if all eight are known and have their ids in their slots:      nearly always
//!         write all ids, and next to each other those that count     (compress)
//!         next step
//!     look into the slots beside the homes
//!     for each piece that is not known by now, in order:
//!         write the ids of the pieces before it
//!         if it is elsewhere in the cache: write its ids, else note a miss
//!     write the ids of the pieces behind the last of these
//! ```
//!
//! *Invariant*: `ids` has the ids of all known pieces before the next one, and nothing else. A vector is always appended
//! whole, and what does not count is cut off again: its ids that count come first in it.
//!
//! *Why one branch for all eight*: the processor guesses it, nearly always rightly, and goes on to the next step
//! while the slots of this one are on their way from memory. Counting how many are known and moving on by as many
//! would wait for them, and takes twice as long.
//!
//! The definition is the loop over single pieces in [`super::PieceCache`]. *Cost*: about 10 cycles for a known piece.
#![expect(
    unsafe_code,
    reason = "vector instructions; known pieces are found in two thirds of the time"
)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpneq_epi32_mask, _mm512_maskz_compress_epi32,
    _mm512_movepi32_mask, _mm512_permutex2var_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _pdep_u32,
};

use super::table::{ABSENT, MORE};
use super::{Known, Miss, Pending, PieceCache};
use crate::piece::Word;
use crate::piece::row::{EightSlots, PieceRow, STEP_LEN};
use crate::piece::vectors::{Vectors, store};
use crate::vocabulary::TokenId;

/// Ids that a vector holds.
const VECTOR_IDS: usize = 16;

/// Appends the ids of the pieces that the cache knows, and notes the others as misses. Stops after a row with a
/// short piece among these; returns whether it did.
pub(super) fn append(
    _: Vectors,
    cache: &mut PieceCache,
    row: &mut PieceRow,
    pending: &mut Pending<'_, impl Iterator<Item = Word>>,
    known: &mut Known<'_>,
) -> bool {
    // SAFETY: whoever has `Vectors` has a processor with these instructions.
    unsafe { append_words(cache, row, pending, known) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn append_words(
    cache: &mut PieceCache,
    row: &mut PieceRow,
    pending: &mut Pending<'_, impl Iterator<Item = Word>>,
    known: &mut Known<'_>,
) -> bool {
    let text = pending.text;
    row.clear();
    for word in pending.words.by_ref() {
        let long = row.push(cache.table.slots(), (text, word));
        if long != 0 {
            row.name_runs(cache.table.slots(), (text, word), long);
        }
        if row.is_full() {
            let n_before = known.misses.len();
            RowLookup { cache, row, text }.append(known);
            if known.misses[n_before..].iter().any(Miss::is_short) {
                return true;
            }
            row.clear();
        }
    }
    RowLookup { cache, row, text }.append(known);
    false
}

/// The lookup of the pieces of a row.
struct RowLookup<'l> {
    cache: &'l mut PieceCache,
    row: &'l PieceRow,
    text: &'l [u8],
}

/// Eight pieces of a row, and what was found of them.
struct Step {
    /// The number of the first piece in its row.
    number: usize,
    /// A bit for each lane that has a piece.
    in_use: u8,
    /// A bit for each piece that is nowhere in the table.
    absent: u8,
    found: EightSlots,
}

impl RowLookup<'_> {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,bmi1,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a bit for each lane")]
    fn append(mut self, known: &mut Known<'_>) {
        for number in (0..self.row.len()).step_by(STEP_LEN) {
            let in_use = ((1_u32 << (self.row.len() - number).min(STEP_LEN)) - 1) as u8;
            let found = self.row.find(self.cache.table.slots(), number);
            if found.known & in_use == in_use {
                StepIds::of(&found, in_use).write(u32::MAX, known.ids);
                continue;
            }
            let mut step = Step { number, in_use, absent: 0, found };
            self.look_beside(&mut step);
            self.append_apart(&step, known);
        }
    }

    /// Looks for pieces that are not in their homes in the slots beside these.
    #[target_feature(enable = "avx512f,avx512dq,bmi1")]
    #[inline]
    fn look_beside(&mut self, step: &mut Step) {
        let &mut Step { number, in_use, ref mut found, .. } = step;
        let has_key = in_use & !self.row.long(number);
        if has_key & !(found.known | found.marked) == 0 {
            return;
        }
        let beside = in_use & self.row.look_beside(self.cache.table.slots(), number, found);
        if beside != 0 {
            let home = self.row.homes(number)[beside.trailing_zeros() as usize];
            self.cache.table.note_elsewhere(home, home ^ 1);
        }
        // A search ends at a bucket with a free slot.
        step.absent = has_key & found.free & !(found.known | found.marked);
    }

    /// Appends the ids of a step with pieces that are not known or do not have their ids in their slots.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,bmi1,bmi2,popcnt")]
    #[inline]
    fn append_apart(&mut self, step: &Step, known: &mut Known<'_>) {
        let ids = StepIds::of(&step.found, step.in_use);
        let mut left = step.in_use & !step.found.known;
        let mut written = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let before = (1 << (lane * ids.lane_ids)) - 1;
            ids.write(before & !written, known.ids);
            written = before;
            if step.absent >> lane & 1 > 0 || !self.append_one(step, lane, known.ids) {
                let piece = self.row.piece(step.number + lane);
                known.misses.push(Miss { piece, n_before: known.ids.len() });
            }
        }
        ids.write(!written, known.ids);
    }

    /// Appends the ids of a piece that are not in its home nor beside it, if they are elsewhere in the cache.
    #[target_feature(enable = "avx512f,avx512bw,bmi1")]
    #[inline]
    fn append_one(&mut self, step: &Step, lane: usize, ids: &mut Vec<TokenId>) -> bool {
        let number = step.number + lane;
        if step.found.marked >> lane & 1 > 0 {
            return self.cache.append_marked(step.found.value(lane), ids);
        }
        if self.row.is_long(number) {
            return self.cache.append_ascii(&self.text[self.row.piece(number)], ids);
        }
        let slot = self.cache.table.get_elsewhere(self.row.key(number));
        slot.is_some_and(|slot| self.cache.append_slot(slot, ids))
    }
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
    /// Two ids for each slot in one vector, or where one of the slots has more, four in two vectors.
    #[target_feature(enable = "avx512f,avx512dq,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of a mask")]
    fn of(found: &EightSlots, in_use: u8) -> Self {
        let ([some, more], slots) = (found.values, found.known & in_use);
        let known = _pdep_u32(slots.into(), 0x5555);
        let has_more = _mm512_movepi32_mask(_mm512_and_si512(some, _mm512_set1_epi64(MORE.into())));
        if known as u16 & has_more == 0 {
            return Self { vectors: [some; 2], known: known * 0b11, lane_ids: 2 };
        }
        let some = _mm512_and_si512(some, _mm512_set1_epi64(!i64::from(MORE)));
        // The halves of the values in turn: lane 0 of the first, lane 0 of the second, lane 1 of the first, …
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
    let mut row = [0; VECTOR_IDS];
    store(vector, &mut row);
    // All sixteen are appended, whatever their number, for which nothing then waits.
    ids.extend_from_slice(&row);
    ids.truncate(ids.len() - VECTOR_IDS + written.count_ones() as usize);
}
