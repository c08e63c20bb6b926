//! What one thread needs to encode, and the ids of a piece through its cache.
//!
//! A piece that is too long for the cache goes through it part by part, cut where no merge crosses. The cache
//! never shows in a result. One look-up for a piece that is known; else what the encoder takes.

use std::ops::Range;

use crate::encode::{Encoder, PieceCache, Scratch};
use crate::error::Result;
use crate::piece_key::{part_key, piece_key};
use crate::vocabulary::TokenId;

/// What one thread needs to encode.
pub(super) struct Worker {
    pub(super) scratch: Scratch,
    cache: PieceCache,
}

impl Worker {
    pub(super) fn new() -> Self {
        Self { scratch: Scratch::default(), cache: PieceCache::new() }
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
    let Some(key) = piece_key(text, piece.start, piece.end) else {
        return append_ids_of_long(encoder, &text[piece], ids, worker);
    };
    if worker.cache.append(key, ids) {
        return Ok(());
    }
    let n_before = ids.len();
    encoder.encode(&text[piece], &mut worker.scratch, ids)?;
    worker.cache.insert(key, &ids[n_before..]);
    Ok(())
}

/// Appends the ids of a piece that is too long for the cache, part by part.
fn append_ids_of_long(
    encoder: &Encoder,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let Worker { scratch, cache } = worker;
    let is_other = encoder.takes_whole_pieces();
    encoder.for_each_part(piece, ids, |part, ids| {
        let Some(key) = piece_key(piece, part.start, part.end) else {
            return encoder.encode_part(&piece[part], scratch, ids);
        };
        let key = if is_other { part_key(key) } else { key };
        if cache.append(key, ids) {
            return Ok(());
        }
        let n_before = ids.len();
        encoder.encode_part(&piece[part], scratch, ids)?;
        cache.insert(key, &ids[n_before..]);
        Ok(())
    })
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside calls that can fail")]
pub(super) fn push(id: TokenId, ids: &mut Vec<TokenId>) -> Result<()> {
    ids.push(id);
    Ok(())
}
