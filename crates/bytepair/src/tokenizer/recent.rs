//! The ids of very short texts, such as the names and marks that chats consist of: they recur often, and alone.
//!
//! A text of a few letters has one or two pieces, and the work around them takes longer than encoding them. So a call with
//! plain options first looks the whole text up. Each slot holds the last text that belongs there. A text of at most 15 bytes
//! costs one cache line, found or not; others cost nothing. 16 KB beside each worker.

use crate::piece::key::{key_hash, piece_key};
use crate::vocabulary::TokenId;

/// Places, a power of two.
const N_PLACES: usize = 256;

/// Texts with more ids are not kept; so a place is a cache line.
const MAX_IDS: usize = 11;

/// Ids by text.
#[derive(Default)]
pub(super) struct RecentTexts {
    /// Empty until a text is kept.
    places: Vec<Place>,
}

/// The key of a text that fits one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ShortText(u128);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Place {
    /// That of no text is 0.
    key: u128,
    n_ids: u32,
    ids: [TokenId; MAX_IDS],
}

const NOTHING: Place = Place { key: 0, n_ids: 0, ids: [0; MAX_IDS] };

impl ShortText {
    /// A text that is short enough, and not empty.
    #[inline]
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        piece_key(text, 0, text.len()).map(Self)
    }

    fn place(self) -> usize {
        key_hash(self.0) % N_PLACES
    }
}

impl RecentTexts {
    /// The ids of a text, if it is here.
    #[inline]
    pub(super) fn get(&self, text: ShortText) -> Option<&[TokenId]> {
        let place = self.places.get(text.place()).filter(|place| place.key == text.0)?;
        place.ids.get(..place.n_ids as usize)
    }

    /// Keeps the ids of a text, if they are few, instead of another's.
    pub(super) fn insert(&mut self, text: ShortText, ids: &[TokenId]) {
        let (Some(_), Ok(n_ids)) = (MAX_IDS.checked_sub(ids.len()), u32::try_from(ids.len()))
        else {
            return;
        };
        if self.places.is_empty() {
            self.places.resize(N_PLACES, NOTHING);
        }
        let place = &mut self.places[text.place()];
        (place.key, place.n_ids) = (text.0, n_ids);
        place.ids[..ids.len()].copy_from_slice(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    proptest::proptest! {
        #[test]
        fn a_text_has_the_ids_that_it_came_with_or_none(
            texts in proptest::collection::vec(("[ab\\x00]{0,17}", proptest::collection::vec(0..9_u32, 0..14)), 0..2000),
        ) {
            let (mut recent, mut all) = (RecentTexts::default(), HashMap::new());
            for (text, ids) in &texts {
                let Some(key) = ShortText::new(text.as_bytes()) else {
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
