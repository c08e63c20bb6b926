//! A quick checksum of bytes: four running hashes, each of every fourth word.
//!
//! Every step is a bijection of the hash for a given word and of the word for a given hash, so one changed
//! word always shows. It guards against damage, not against malice. About 10 GB a second.

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes that are taken at once.
const STEP_LEN: usize = 32;

/// The checksum of bytes that come in blocks, so that each is in a cache still.
pub(super) struct Checksum {
    lanes: [u64; 4],
    n_bytes: u64,
}

/// The checksum of bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.update(bytes);
    sum.value()
}

impl Checksum {
    pub(super) fn new() -> Self {
        Self { lanes: [1, 2, 3, 4], n_bytes: 0 }
    }

    /// Takes the next block. The length of all but the last is a multiple of 32.
    pub(super) fn update(&mut self, block: &[u8]) {
        debug_assert!(self.n_bytes.is_multiple_of(STEP_LEN as u64));
        let lanes = &mut self.lanes;
        let (steps, rest) = block.as_chunks::<STEP_LEN>();
        for bytes in steps {
            let (words, _) = bytes.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = step(*lane, u64::from_le_bytes(*word));
            }
        }
        for chunk in rest.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            lanes[0] = step(lanes[0], u64::from_le_bytes(word));
        }
        self.n_bytes += block.len() as u64;
    }

    pub(super) fn value(self) -> u64 {
        self.lanes.into_iter().fold(self.n_bytes, step)
    }
}

fn step(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(ODD);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts_and_so_does_the_length() {
        let bytes: Vec<u8> = (0..101).collect();
        let whole = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&changed), whole, "bit {bit}");
        }
        assert_ne!(checksum(&bytes[..100]), whole);
        assert_ne!(checksum(&[0; 8]), checksum(&[0; 9]));
    }

    #[test]
    fn blocks_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..101).collect();
        for len in [32, 64, 96] {
            let mut sum = Checksum::new();
            bytes.chunks(len).for_each(|block| sum.update(block));
            assert_eq!(sum.value(), checksum(&bytes));
        }
    }
}
