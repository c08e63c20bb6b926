//! Parts of pieces that are one character, by its code: of text without spaces most are.
//!
//! Takes no hash and no comparison; 1 MiB when the first comes. Left out: characters of one byte, which nearly always
//! have neighbours, and of four.

use crate::vocabulary::TokenId;

/// Ids of a character of two or three bytes, at most.
const MAX_IDS: usize = 3;

/// Codes of characters of at most three bytes.
const N_CODES: usize = 1 << 16;

/// Ids by character.
#[derive(Default)]
pub(super) struct Characters {
    /// By code: how many ids there are, 0 where they are not known, and the ids.
    rows: Vec<(u32, [TokenId; MAX_IDS])>,
}

impl Characters {
    /// Appends the ids of a character, if they are known.
    #[inline]
    pub(super) fn append(&self, part: &[u8], ids: &mut Vec<TokenId>) -> bool {
        let Some((n_ids @ 1.., row)) = code(part).and_then(|code| self.rows.get(code)) else {
            return false;
        };
        let n_before = ids.len();
        ids.extend_from_slice(row);
        ids.truncate(n_before + *n_ids as usize);
        true
    }

    /// Remembers the ids of a character; returns whether the part is one.
    pub(super) fn insert(&mut self, part: &[u8], ids: &[TokenId]) -> bool {
        let (Some(code), 1..=MAX_IDS) = (code(part), ids.len()) else { return false };
        self.rows.resize(N_CODES, (0, [0; MAX_IDS]));
        let (n_ids, row) = &mut self.rows[code];
        *n_ids = u32::try_from(ids.len()).unwrap_or(0);
        row[..ids.len()].copy_from_slice(ids);
        true
    }
}

/// The code of a part that is one character of two or three bytes. Other bytes of this form have one that no
/// character has.
#[inline]
fn code(part: &[u8]) -> Option<usize> {
    let bits = |byte: u8| usize::from(byte & 0x3F);
    match *part {
        [lead @ 0xC2..=0xDF, second @ 0x80..=0xBF] => {
            Some(usize::from(lead & 0x1F) << 6 | bits(second))
        }
        [lead @ 0xE0..=0xEF, second @ 0x80..=0xBF, third @ 0x80..=0xBF] => {
            let code = usize::from(lead & 0x0F) << 12 | bits(second) << 6 | bits(third);
            // Three bytes that say what two or one say are no character.
            (code >= 0x800).then_some(code)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_its_own_ids_and_nothing_else_has_any() {
        let mut characters = Characters::default();
        let mut bytes = [0; 4];
        let all = || ('\u{80}'..='\u{FFFF}').enumerate();
        let id = |index: usize| TokenId::try_from(index).unwrap();
        for (index, character) in all() {
            let part = character.encode_utf8(&mut bytes).as_bytes();
            assert!(characters.insert(part, &[id(index), 7, 8][..=index % 3]));
        }
        for (index, character) in all() {
            let mut ids = vec![5];
            assert!(characters.append(character.encode_utf8(&mut bytes).as_bytes(), &mut ids));
            assert_eq!(ids[1..], [id(index), 7, 8][..=index % 3]);
        }
        for part in [
            &b"a"[..],
            b"",
            b"\xE0\x80\x80",
            b"\xE0\x9F\xBF",
            b"\xC1\x80",
            b"\xF0\x9F\x98\x80",
            b"ab",
            "\u{e9}a".as_bytes(),
        ] {
            assert!(!characters.insert(part, &[1]));
            assert!(!characters.append(part, &mut vec![]), "{part:?}");
        }
    }
}
