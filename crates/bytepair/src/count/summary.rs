//! Piece counts in one number and in one word: how long the corpus is, and which one it is.

use sha2::{Digest, Sha256};

use super::PieceCounts;
use crate::shown::hexadecimal;

impl PieceCounts {
    /// The total length of all occurrences, in bytes. `i64::MAX` where it exceeds 63 bits.
    pub fn n_bytes(&self) -> i64 {
        let weighted = |(piece, count, _): (&[u8], i64, _)| {
            count.saturating_mul(i64::try_from(piece.len()).unwrap_or(i64::MAX))
        };
        self.iter().map(weighted).fold(0, i64::saturating_add)
    }

    /// A name for the pieces and their counts, whatever their order: 32 hexadecimal digits.
    ///
    /// The sum, modulo 2^128, of the first 16 bytes of the SHA-256 of each piece, its count before it.
    pub fn fingerprint(&self) -> String {
        let of_piece = |(piece, count, _): (&[u8], i64, _)| {
            let digest =
                Sha256::new().chain_update(count.to_le_bytes()).chain_update(piece).finalize();
            digest.iter().take(16).fold(0_u128, |number, &byte| number << 8 | u128::from(byte))
        };
        hexadecimal(&self.iter().map(of_piece).fold(0, u128::wrapping_add).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pieces: &[(&[u8], i64)]) -> PieceCounts {
        let mut counts = PieceCounts::new();
        pieces.iter().for_each(|(piece, count)| counts.add(piece, *count, None).unwrap());
        counts
    }

    #[test]
    fn a_fingerprint_tells_pieces_and_counts_but_not_their_order() {
        let fingerprint = counted(&[(b"a", 1), (b"bc", 2)]).fingerprint();
        assert_eq!(counted(&[(b"bc", 2), (b"a", 1)]).fingerprint(), fingerprint);
        assert_ne!(counted(&[(b"a", 2), (b"bc", 1)]).fingerprint(), fingerprint);
        assert_ne!(counted(&[(b"ab", 1), (b"c", 2)]).fingerprint(), fingerprint);
        assert_eq!(fingerprint.len(), 32);
    }

    #[test]
    fn the_length_is_that_of_all_occurrences() {
        assert_eq!(counted(&[(b"a", 3), (b"bc", 2)]).n_bytes(), 7);
        assert_eq!(counted(&[(b"bc", i64::MAX)]).n_bytes(), i64::MAX);
    }
}
