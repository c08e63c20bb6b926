//! Plain characters: those that a normalization form leaves as they are wherever they stand, and that join nothing before
//! them. Nearly all text is made of them, so a form only has to look for the others.
//!
//! Characters beyond the basic plane are not among them. What is no character is left alone by every form and may be
//! passed over with them or not, as is quicker.
//!
//! Cost: 8 KiB for each form. A step for each character and one for eight of ASCII.

/// Codes of the basic plane.
const N_CODES: usize = 1 << 16;

/// The plain characters of a form.
pub(super) struct Plain {
    /// By code. The 64 characters that differ in their last byte alone are one word.
    bits: Vec<u64>,
}

impl Plain {
    pub(super) fn of(is_plain: impl Fn(char) -> bool) -> Self {
        let is_plain = |code: usize| {
            let character = u32::try_from(code).ok().and_then(char::from_u32);
            character.is_some_and(&is_plain)
        };
        let word = |word: usize| {
            (0..64).fold(0, |bits, bit| bits | u64::from(is_plain(word * 64 + bit)) << bit)
        };
        Self { bits: (0..N_CODES / 64).map(word).collect() }
    }

    /// How long the plain characters are that a text begins with.
    pub(super) fn run_len(&self, text: &[u8]) -> usize {
        let mut rest = behind_ascii(text);
        while let Some(len) = self.len(rest) {
            rest = behind_ascii(&rest[len..]);
        }
        text.len() - rest.len()
    }

    /// How long the others are, and what is no character.
    pub(super) fn odd_len(&self, text: &[u8]) -> usize {
        (0..text.len()).find(|&place| self.len(&text[place..]).is_some()).unwrap_or(text.len())
    }

    /// The length of the character that a text begins with, if it is plain.
    #[inline]
    fn len(&self, text: &[u8]) -> Option<usize> {
        let is_set = |word: u8, next: u8, last: u8| {
            let word = self.bits[usize::from(word) << 6 | usize::from(next & 0x3F)];
            word >> (last & 0x3F) & 1 == 1
        };
        match *text {
            [..=0x7F, ..] => Some(1),
            [lead @ 0xC2..=0xDF, last @ 0x80..=0xBF, ..] if is_set(0, lead & 0x1F, last) => Some(2),
            [lead @ 0xE0..=0xEF, next @ 0x80..=0xBF, last @ 0x80..=0xBF, ..]
                if is_set(lead & 0x0F, next, last) =>
            {
                Some(3)
            }
            _ => None,
        }
    }
}

/// The rest of a text after the ASCII characters at its beginning, which are examined eight at a time.
#[inline]
fn behind_ascii(mut text: &[u8]) -> &[u8] {
    while let Some((eight, rest)) = text.split_first_chunk() {
        let bits = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        if bits != 0 {
            return &text[bits.trailing_zeros() as usize / 8..];
        }
        text = rest;
    }
    let n_ascii = text.iter().take_while(|byte| byte.is_ascii()).count();
    &text[n_ascii..]
}
