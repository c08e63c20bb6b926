//! A text to ids with their spans, and back.
//!
//! Encoding takes time and memory linear in the text; an id takes about sixty bytes while it lasts.

use bytepair::decode::DecodeErrors;
use bytepair::vocabulary::TokenId;
use bytepair::{Tokenizer, graphemes};
use serde_json::json;

use crate::message::{Answer, Problem, Special, numbers};

/// The ids of a text, where each begins and ends, and the first token of each group.
pub(crate) fn encode(
    tokenizer: &Tokenizer,
    text: &[u8],
    special: Special,
) -> Result<Answer, Problem> {
    let encoding = tokenizer.encode_full(text, None, special.options())?;
    let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let starts: Vec<u32> = encoding.offsets.iter().map(|span| place(span.0)).collect();
    let ends: Vec<u32> = encoding.offsets.iter().map(|span| place(span.1)).collect();
    let groups = groups(text, &encoding.offsets);
    Ok(Answer {
        fields: json!({ "n_tokens": encoding.ids.len(), "n_groups": groups.len() }),
        bytes: numbers(&[&encoding.ids, &starts, &ends, &groups]),
    })
}

/// The first token of each group: the fewest tokens that together have whole characters, as a reader sees them.
///
/// A group begins where no token before reaches further, and where a character begins.
fn groups(text: &[u8], spans: &[(usize, usize)]) -> Vec<u32> {
    let mut borders = std::iter::once(0).chain(graphemes(text).into_iter().map(|(end, _)| end));
    let (mut border, mut reached, mut found) = (0, 0, Vec::new());
    for (index, &(start, end)) in spans.iter().enumerate() {
        while border < start {
            border = borders.next().unwrap_or(usize::MAX);
        }
        if index == 0 || (border == start && reached <= start) {
            found.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        reached = reached.max(end);
    }
    found
}

/// The text of ids, which lie as numbers of four bytes; what is no text becomes U+FFFD.
pub(crate) fn decode(tokenizer: &Tokenizer, ids: &[u8]) -> Result<Answer, Problem> {
    let (ids, rest) = ids.as_chunks();
    if !rest.is_empty() {
        return Err(Problem::new("ids take four bytes each"));
    }
    let ids: Vec<TokenId> = ids.iter().map(|&id| TokenId::from_le_bytes(id)).collect();
    let text = tokenizer.decode(&ids, DecodeErrors::Replace, false)?;
    Ok(Answer { fields: json!({}), bytes: text.into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn a_group_holds_whole_characters() {
        // An e with an accent in two tokens, and a word of its own.
        assert_eq!(groups("e\u{301} no".as_bytes(), &[(0, 1), (1, 3), (3, 6)]), [0, 2]);
        // Three tokens for three bytes of one character, each with the span of the character.
        assert_eq!(groups("中a".as_bytes(), &[(0, 3), (0, 3), (0, 3), (3, 4)]), [0, 3]);
        // Each byte of one character, with its own span.
        assert_eq!(groups("中".as_bytes(), &[(0, 1), (1, 2), (2, 3)]), [0]);
        assert_eq!(groups(b"", &[]), [0_u32; 0]);
    }
}
