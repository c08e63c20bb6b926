//! What one thread needs to encode, and the ids of a piece through its cache.
//!
//! A piece that the cache does not know goes through it part by part if it is long, cut where no merge crosses; one of
//! ASCII only if it is longer still. The cache never shows in a result. One look-up for a piece that is known; else
//! what the encoder takes.

use std::ops::Range;

use super::blocks::Filling;
use super::board::Seat;
use super::recent::RecentTexts;
use crate::encode::{Block, Encoder, Few, Name, Part, PieceCache, Scratch, Whole};
use crate::error::Result;
use crate::fresh_pages::Ahead;
use crate::piece_key::MAX_KEY_LEN;
use crate::split::Boundaries;
use crate::vocabulary::TokenId;

/// A piece of ASCII that is not longer, in bytes, is merged as a whole: few cuts are in it, and its parts hardly ever
/// come again.
const MAX_WHOLE_LEN: usize = 32;

/// What one thread needs to encode.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) scratch: Scratch,
    pub(super) cache: PieceCache,
    pub(super) boundaries: Boundaries,
    pub(super) filling: Filling,
    /// Parts of a long piece.
    pub(super) block: Block,
    /// Of a call that hands out no row of its own. What is left in it counts no more.
    pub(super) ids: Vec<TokenId>,
    /// For texts that are not UTF-8 yet. What it holds counts no more.
    pub(super) utf8: Vec<u8>,
    /// Of the row of ids that it writes to.
    pub(super) ahead: Ahead,
    pub(super) recent: RecentTexts,
    /// Where others work beside it.
    pub(super) seat: Option<Seat>,
}

impl Worker {
    /// Tells the others what is new, and takes it from them, if much text was encoded since; so many bytes just now.
    #[inline]
    pub(super) fn exchange_after(&mut self, n_bytes: usize) {
        if let Some(seat) = &mut self.seat {
            seat.encoded(n_bytes, &mut self.cache);
        }
    }
}

/// Appends the ids of one piece, from the cache if it is there.
#[inline]
pub(super) fn append_ids(
    encoder: &Encoder,
    text: &[u8],
    piece: Range<usize>,
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let Worker { scratch, cache, block, .. } = worker;
    let is_long = piece.len() > MAX_KEY_LEN;
    // Text without spaces: its long pieces hardly ever come again, but their parts do.
    if is_long && encoder.has_parts() && !text[piece.clone()].is_ascii() {
        return append_ids_of_parts(encoder, text, (piece, false), ids, (cache, scratch, block));
    }
    let name = Name::new(text, piece.clone(), Whole::Piece);
    if name.is_some_and(|name| cache.append(name, ids)) {
        return Ok(());
    }
    let n_before = ids.len();
    if piece.len() > MAX_WHOLE_LEN {
        append_ids_of_parts(encoder, text, (piece.clone(), true), ids, (cache, scratch, block))?;
    } else {
        encoder.encode(&text[piece], scratch, ids)?;
    }
    if let Some(name) = name {
        cache.insert(name, &ids[n_before..]);
    }
    Ok(())
}

/// Appends the ids of a long piece, part by part; `is_asked` says whether the cache was asked for all of it, and will
/// be told.
///
/// What is known of the parts of a block is looked at before the first is asked for, so that it is at hand.
fn append_ids_of_parts(
    encoder: &Encoder,
    text: &[u8],
    (piece, is_asked): (Range<usize>, bool),
    ids: &mut Vec<TokenId>,
    (cache, scratch, block): (&mut PieceCache, &mut Scratch, &mut Block),
) -> Result<()> {
    if let Some(id) = encoder.whole_token(&text[piece.clone()]) {
        ids.push(id);
        return Ok(());
    }
    let whole = if encoder.takes_whole_pieces() { Whole::Part } else { Whole::Piece };
    let name = |part: &Part| {
        let place = piece.start + part.start..piece.start + part.end;
        let name = if is_asked && place == piece { None } else { Name::new(text, place, whole) };
        name.map(Name::rare)
    };
    let mut start = 0;
    while start < piece.len() {
        start = encoder.take_parts(&text[piece.clone()], start, block);
        let glance = |part: &Part| match part.characters {
            Few::One(code) => cache.glance_at_character(code),
            Few::Two(codes) => encoder.glance_at_two(codes),
            // To hash a longer one twice would take longer than waiting for it.
            Few::More if part.end - part.start > MAX_KEY_LEN => 0,
            Few::More => name(part).map_or(0, |name| cache.glance_at(name)),
        };
        std::hint::black_box(block.parts().iter().fold(0, |seen, part| seen ^ glance(part)));
        for part in block.parts() {
            let is_done = match part.characters {
                Few::One(code) => cache.append_character(code, ids),
                Few::Two(codes) => encoder.append_two(codes, ids),
                Few::More => false,
            };
            if is_done {
                continue;
            }
            let name = name(part);
            if name.is_some_and(|name| cache.append(name, ids)) {
                continue;
            }
            let n_before = ids.len();
            let bytes = &text[piece.start + part.start..piece.start + part.end];
            encoder.encode_part(bytes, scratch, ids)?;
            let found = &ids[n_before..];
            match (part.characters, name) {
                (Few::One(code), _) if cache.insert_character(code, found) => {}
                (_, Some(name)) => cache.insert(name, found),
                _ => {}
            }
        }
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside calls that can fail")]
pub(super) fn push(id: TokenId, ids: &mut Vec<TokenId>) -> Result<()> {
    ids.push(id);
    Ok(())
}
