//! Bytes as messages show them.

/// Bytes as two hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A text as messages quote it, long ones cut.
pub fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
