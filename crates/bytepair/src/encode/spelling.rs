//! A character that a normalizer writes otherwise in every text, as `▁` for a space, written so piece by piece.
//!
//! Where that is all that happens to a text, its pieces need not be rewritten: they are known as they stand there, and
//! only one that is new is written as the vocabulary has it. Costs a look at each new piece, and a copy of those that have
//! the character.

/// A character and what stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) from: u8,
    pub(crate) to: char,
}

impl Spelling {
    /// A piece as the vocabulary has it, if it is not written so.
    #[inline]
    pub(crate) fn of(&self, piece: &[u8]) -> Option<Vec<u8>> {
        if !piece.contains(&self.from) {
            return None;
        }
        let mut spelled = Vec::with_capacity(piece.len() + self.to.len_utf8());
        let mut bytes = [0; 4];
        let to = self.to.encode_utf8(&mut bytes).as_bytes();
        for &byte in piece {
            match byte == self.from {
                true => spelled.extend_from_slice(to),
                false => spelled.push(byte),
            }
        }
        Some(spelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_such_character_is_written_otherwise_and_nothing_else(piece in "[ab é▁]{0,20}") {
            let spelled = Spelling { from: b' ', to: '▁' }.of(piece.as_bytes());
            let expected = piece.contains(' ').then(|| piece.replace(' ', "▁").into_bytes());
            prop_assert_eq!(spelled, expected);
        }
    }
}
