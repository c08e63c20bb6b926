//! Pieces counted eight at a time, with AVX-512.
//!
//! A [`PieceRow`] of pieces is made ready first, with their keys, and their places in the table are prefetched: so the
//! table may be larger than the processor's caches, and no small one stands before it. Then eight are one step: those
//! that stand where their search begins, as nearly all do, are found together and counted one after the other. The
//! others are looked for by the definition, the loop over single pieces in [`super::table`].
//!
//! Cost: about 14 cycles for each piece that is known.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting and counting take a fifth less time"
)]

use std::ops::Range;

use super::runs::Total;
use super::table::{Short, Tables};
use crate::piece::key::piece_key;
use crate::piece::row::{PieceRow, STEP_LEN};
use crate::piece::starts::Starts;

/// Counts pieces of a text, each as often as the total says, whose place is that of the text.
pub(super) fn add(tables: &mut Tables, (text, starts): (&[u8], &Starts<'_>), text_total: Total) {
    // SAFETY: callers ask for it only where [`crate::piece::row::is_here`] found these instructions.
    unsafe { add_words(tables, (text, starts), text_total) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn add_words(tables: &mut Tables, (text, starts): (&[u8], &Starts<'_>), text_total: Total) {
    let mut row = PieceRow::default();
    for word in starts.words() {
        row.push(tables.short.places(), (text, word));
        if row.is_full() {
            add_row(tables, (text, &row), text_total);
            row.clear();
        }
    }
    add_row(tables, (text, &row), text_total);
}

#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2,popcnt")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a bit for each lane")]
fn add_row(tables: &mut Tables, (text, row): (&[u8], &PieceRow), text_total: Total) {
    for number in (0..row.len()).step_by(STEP_LEN) {
        let asked = ((1_u32 << (row.len() - number).min(STEP_LEN)) - 1) as u8;
        let found = row.find(tables.short.places(), number);
        let (known, places) = (found.known & asked, row.homes(number));
        let slots = tables.short.places_mut();
        if known == u8::MAX {
            places.into_iter().for_each(|place| slots[place].value.add(text_total.count));
            continue;
        }
        lanes(known).for_each(|lane| slots[places[lane]].value.add(text_total.count));
        let unknown = lanes(asked & !known).map(|lane| row.piece(number + lane));
        unknown.for_each(|piece| add_one(tables, (text, piece), text_total));
    }
}

/// Counts a piece by the definition.
#[inline]
fn add_one(tables: &mut Tables, (text, piece): (&[u8], Range<usize>), text_total: Total) {
    let first = text_total.first.wrapping_add(piece.start as u64);
    let total = Total { first, ..text_total };
    match piece_key(text, piece.start, piece.end) {
        Some(key) => tables.add_short(&[Short { key, value: total }]),
        None => tables.add_long(&text[piece], total),
    }
}

/// The numbers of the bits that are set.
#[inline]
fn lanes(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        lane
    })
}
