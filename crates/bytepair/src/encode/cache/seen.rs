//! Whether something was probably seen before: a byte of its hash, in a row that forgets.
//!
//! Most long pieces never come again. Those that come a second time are worth remembering; to know them costs one
//! byte each. A wrong answer is a piece that is remembered at once, or that has to come once more.

/// Pairs of a new row, and at most; 512 KiB.
const MIN_LEN: usize = 1 << 9;
const MAX_LEN: usize = 1 << 18;

/// Hashes that came.
pub(super) struct Seen {
    /// By some bits of a hash: other bits of the last two that came. The number of pairs is a power of two.
    tags: Vec<[u8; 2]>,
    n_new: usize,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self { tags: vec![[0; 2]; MIN_LEN], n_new: 0 }
    }

    /// Notes a hash; returns whether it is probably there.
    pub(super) fn note(&mut self, hash: u64) -> bool {
        let (index, tag) = self.place(hash);
        let pair = &mut self.tags[index];
        if pair.contains(&tag) {
            return true;
        }
        // By turns, so that of three that come again and again not each is forgotten before it does.
        pair[pair.iter().position(|&tag| tag == 0).unwrap_or(self.n_new % 2)] = tag;
        self.n_new += 1;
        if self.n_new > self.tags.len() / 2 && self.tags.len() < MAX_LEN {
            // Each hash is where it was, or as far behind in the second half.
            self.tags.extend_from_within(..);
        }
        false
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "some bits of a hash are used")]
    fn place(&self, hash: u64) -> (usize, u8) {
        (hash as usize & (self.tags.len() - 1), (hash >> 56) as u8 | 1)
    }
}
