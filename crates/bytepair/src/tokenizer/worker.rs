//! What one thread needs to encode, and the ids of a piece through its cache.
//!
//! A piece that the cache does not know is encoded part by part if it is long, cut where no merge crosses; one of
//! ASCII only if it is longer still, and not a word. The cache never shows in a result. A piece that is known costs
//! one look-up, another one what the encoder takes.

use std::ops::Range;

use super::blocks::{Misses, PieceMarks};
use super::recent::RecentTexts;
use crate::encode::{ByParts, Encoder, PartsContext, PieceCache, Pieces, Query, Scratch};
use crate::error::Result;
use crate::piece::key::MAX_KEY_LEN;
use crate::vocabulary::TokenId;
use bytepair_split::Boundaries;

/// A piece of ASCII that is not longer, in bytes, is merged as a whole: few cuts are in it. As many symbols are
/// merged in blocks.
const MAX_WHOLE_LEN: usize = 256;

/// What one thread needs to encode.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) scratch: Scratch,
    pub(super) cache: PieceCache,
    /// These two are handed on beside it: behind pointers, as they are long.
    pub(super) boundaries: Option<Box<Boundaries>>,
    pub(super) misses: Option<Box<Misses>>,
    pub(super) by_parts: ByParts,
    /// Of a call that hands out no row of its own. What is left in it counts no more.
    pub(super) ids: Vec<TokenId>,
    pub(super) recent: RecentTexts,
    /// What is wanted of the pieces of blocks; nothing as a rule.
    pub(super) marks: PieceMarks,
}

/// Calls `work` with workers whose caches share what they learn meanwhile.
pub(super) fn sharing<R>(
    workers: &mut [Box<Worker>],
    work: impl FnOnce(&mut [Box<Worker>]) -> R,
) -> R {
    if workers.len() > 1 {
        PieceCache::begin_sharing(workers.iter_mut().map(|worker| &mut worker.cache));
    }
    let result = work(workers);
    workers.iter_mut().for_each(|worker| worker.cache.end_sharing());
    result
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
    let query = Query::new(text, piece.clone());
    if query.is_some_and(|query| worker.cache.append(query, ids)) {
        return Ok(());
    }
    let n_before = ids.len();
    append_new(encoder, text, piece, ids, worker)?;
    if let Some(query) = query {
        worker.cache.insert(query, &ids[n_before..]);
    }
    Ok(())
}

/// Appends the ids of a piece that the cache does not know.
pub(super) fn append_new(
    encoder: &Encoder,
    text: &[u8],
    piece: Range<usize>,
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let spelled = encoder.spelled(&text[piece.clone()]);
    let (text, piece) = spelled.as_deref().map_or((text, piece), |new| (new, 0..new.len()));
    let is_short = piece.len() <= MAX_WHOLE_LEN && !is_by_parts(text, &piece);
    if is_short
        || is_word(&text[piece.clone()])
        || !encoder.has_parts_for(&text[piece.clone()], &worker.scratch)
    {
        return encoder.encode(&text[piece], &mut worker.scratch, ids);
    }
    if let Some(id) = encoder.whole_token(&text[piece.clone()]) {
        ids.push(id);
        return Ok(());
    }
    append_by_parts(encoder, text, &[piece], (&mut Vec::new(), ids), worker)
}

/// Whether a piece is one word, perhaps with a space or a mark before it. Few cuts are in such a one, however long.
fn is_word(piece: &[u8]) -> bool {
    piece.iter().skip(1).all(u8::is_ascii_alphanumeric)
}

/// Whether a piece is long and text without spaces, which is done by its parts.
#[inline]
pub(super) fn is_by_parts(text: &[u8], piece: &Range<usize>) -> bool {
    piece.len() > MAX_KEY_LEN && !text[piece.clone()].is_ascii()
}

/// Appends the ids of long pieces that the cache does not know, part by part, and where those of each begin.
pub(super) fn append_by_parts(
    encoder: &Encoder,
    text: &[u8],
    places: &[Range<usize>],
    (begins, ids): (&mut Vec<usize>, &mut Vec<TokenId>),
    worker: &mut Worker,
) -> Result<()> {
    let Worker { scratch, by_parts, .. } = worker;
    let mut context = PartsContext { encoder, scratch };
    by_parts.append(&mut context, Pieces { text, places }, begins, ids)
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside calls that can fail")]
pub(super) fn push(id: TokenId, ids: &mut Vec<TokenId>) -> Result<()> {
    ids.push(id);
    Ok(())
}
