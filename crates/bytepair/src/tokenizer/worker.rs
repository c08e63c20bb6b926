//! The state that one thread needs to encode, and the ids of a piece through its cache.
//!
//! A piece that is not in the cache is encoded part by part if it is long, cut where no merge crosses; an ASCII piece
//! only if it is longer still and not a word. The cache never affects a result. A known piece costs one look-up, any
//! other one what the encoder takes.
//!
//! Very short texts, such as names and the marks of chats, recur often: their ids are cached whole. A text of a few
//! letters has one or two pieces, and the work around them takes longer than encoding them. So a call with plain
//! options first looks the whole text up. Each slot holds the last text that belongs there. A text of at most 15 bytes
//! costs one cache line, found or not; others cost nothing. This takes 16 KB per worker. A repeated name or mark takes
//! a third of the time (0.10 instead of 0.27 µs in Python); a row of different words takes five sixths.

use std::ops::Range;

use super::blocks::Misses;
use crate::encode::{ByParts, Encoder, PartsContext, PieceCache, Pieces, Query, Scratch};
use crate::error::Result;
use crate::piece::{MAX_KEY_LEN, key_hash};
use crate::vocabulary::TokenId;
use bytepair_split::Boundaries;

/// ASCII pieces of at most this many bytes are merged as a whole, since they have few cuts. This is also how many
/// symbols are merged in a block.
const MAX_WHOLE_LEN: usize = 256;

/// The state that one thread needs to encode.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) scratch: Scratch,
    pub(super) cache: PieceCache,
    /// These two are passed on separately from the worker, and boxed because they are large.
    pub(super) boundaries: Option<Box<Boundaries>>,
    pub(super) misses: Option<Box<Misses>>,
    pub(super) by_parts: ByParts,
    /// For calls that return no row of their own. Its content between calls is meaningless.
    pub(super) ids: Vec<TokenId>,
    pub(super) recent: RecentTexts,
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
    let n_before = ids.len();
    if !query.is_some_and(|query| worker.cache.append(query, ids)) {
        append_new(encoder, text, piece, ids, worker)?;
        if let Some(query) = query {
            worker.cache.insert(query, &ids[n_before..]);
        }
    }
    Ok(())
}

/// Appends the ids of a piece that is not in the cache.
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

/// Whether a piece is one word, perhaps with a space or a mark before it. A word has few cuts, however long it is.
fn is_word(piece: &[u8]) -> bool {
    piece.iter().skip(1).all(u8::is_ascii_alphanumeric)
}

/// Whether a piece is long and text without spaces, and so is encoded by its parts.
#[inline]
pub(super) fn is_by_parts(text: &[u8], piece: &Range<usize>) -> bool {
    piece.len() > MAX_KEY_LEN && !text[piece.clone()].is_ascii()
}

/// Appends the ids of long pieces that are not in the cache, part by part, and where the ids of each begin.
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

/// The number of slots, a power of two.
const N_PLACES: usize = 1024;

/// The most ids of a text that is kept, so that a slot is one cache line.
const MAX_IDS: usize = 11;

/// Ids by text, found by the key that the text has as a piece.
#[derive(Default)]
pub(super) struct RecentTexts {
    /// Empty until a text is kept.
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Place {
    /// The key of the text; 0 for no text.
    key: u128,
    n_ids: u32,
    ids: [TokenId; MAX_IDS],
}

const NOTHING: Place = Place { key: 0, n_ids: 0, ids: [0; MAX_IDS] };

impl RecentTexts {
    /// The ids of a text, if it is here.
    #[inline]
    pub(super) fn get(&self, key: u128) -> Option<&[TokenId]> {
        let place = self.places.get(key_hash(key) % N_PLACES).filter(|place| place.key == key)?;
        place.ids.get(..place.n_ids as usize)
    }

    /// Keeps the ids of a text, if they are few, replacing those of another.
    pub(super) fn insert(&mut self, key: u128, ids: &[TokenId]) {
        let (Some(_), Ok(n_ids)) = (MAX_IDS.checked_sub(ids.len()), u32::try_from(ids.len()))
        else {
            return;
        };
        if self.places.is_empty() {
            self.places.resize(N_PLACES, NOTHING);
        }
        let place = &mut self.places[key_hash(key) % N_PLACES];
        (place.key, place.n_ids) = (key, n_ids);
        place.ids[..ids.len()].copy_from_slice(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::piece_key;
    use std::collections::HashMap;

    proptest::proptest! {
        #[test]
        fn a_text_has_the_ids_that_it_came_with_or_none(
            texts in proptest::collection::vec(("[ab\\x00]{0,17}", proptest::collection::vec(0..9_u32, 0..14)), 0..2000),
        ) {
            let (mut recent, mut all) = (RecentTexts::default(), HashMap::new());
            for (text, ids) in &texts {
                let Some(key) = piece_key(text.as_bytes(), 0, text.len()) else {
                    proptest::prop_assert!(text.is_empty() || text.len() > 15);
                    continue;
                };
                let ids = all.entry(text).or_insert(ids);
                if let Some(found) = recent.get(key) {
                    proptest::prop_assert_eq!(found, ids.as_slice());
                }
                recent.insert(key, ids);
                let kept = Some(ids.as_slice()).filter(|ids| ids.len() <= MAX_IDS);
                proptest::prop_assert_eq!(recent.get(key), kept);
            }
        }
    }
}
