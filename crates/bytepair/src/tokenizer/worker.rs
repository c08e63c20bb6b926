//! What one thread needs to encode, and the ids of a piece through its cache.
//!
//! A piece that the cache does not know goes through it part by part if it is long, cut where no merge crosses; one of
//! ASCII only if it is longer still. The cache never shows in a result. One look-up for a piece that is known; else
//! what the encoder takes.

use std::ops::Range;

use super::blocks::Filling;
use super::board::Seat;
use super::recent::RecentTexts;
use crate::encode::{Encoder, Name, PieceCache, Scratch, Whole};
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
    let Worker { scratch, cache, .. } = worker;
    let is_long = piece.len() > MAX_KEY_LEN;
    // Text without spaces: its long pieces hardly ever come again, but their parts do.
    if is_long && encoder.has_parts() && !text[piece.clone()].is_ascii() {
        return append_ids_of_parts(encoder, text, (piece, false), ids, (cache, scratch));
    }
    let name = Name::new(text, piece.clone(), Whole::Piece);
    if name.is_some_and(|name| cache.append(name, ids)) {
        return Ok(());
    }
    let n_before = ids.len();
    if piece.len() > MAX_WHOLE_LEN {
        append_ids_of_parts(encoder, text, (piece.clone(), true), ids, (cache, scratch))?;
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
fn append_ids_of_parts(
    encoder: &Encoder,
    text: &[u8],
    (piece, is_asked): (Range<usize>, bool),
    ids: &mut Vec<TokenId>,
    (cache, scratch): (&mut PieceCache, &mut Scratch),
) -> Result<()> {
    let whole = if encoder.takes_whole_pieces() { Whole::Part } else { Whole::Piece };
    encoder.for_each_part(&text[piece.clone()], ids, |part, ids| {
        let part = piece.start + part.start..piece.start + part.end;
        let bytes = &text[part.clone()];
        if cache.append_character(bytes, ids) {
            return Ok(());
        }
        let name = if is_asked && part == piece { None } else { Name::new(text, part, whole) };
        let name = name.map(Name::rare);
        if name.is_some_and(|name| cache.append(name, ids)) {
            return Ok(());
        }
        let n_before = ids.len();
        encoder.encode_part(bytes, scratch, ids)?;
        let found = &ids[n_before..];
        if !cache.insert_character(bytes, found)
            && let Some(name) = name
        {
            cache.insert(name, found);
        }
        Ok(())
    })
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside calls that can fail")]
pub(super) fn push(id: TokenId, ids: &mut Vec<TokenId>) -> Result<()> {
    ids.push(id);
    Ok(())
}
