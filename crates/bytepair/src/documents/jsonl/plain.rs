//! Plain lines, read by searching for quotes and backslashes only.
//!
//! Nearly all lines are objects of a few fields. Such a line is passed once, many bytes at a time, and only the requested text
//! is copied. The result is that of `serde_json`. A line that is broken, has another type of value where the text should be, or
//! is only unusual (escapes in keys, deep nesting, half a surrogate pair) is left to `serde_json`, including its errors. The
//! line must be UTF-8.
//!
//! Costs a search for control characters, which strings must not contain, a search for quotes and backslashes, and the copy.

use memchr::memchr2;

/// What a line holds where the keys lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Nothing,
    Text,
    Null,
}

/// Deeper values are left to the parser, which has a limit of its own.
const MAX_DEPTH: usize = 32;

/// Appends the text that `keys` lead to, if it is sure what the line holds; if not, `text` may have grown.
pub(super) fn read<K: AsRef<str>>(line: &[u8], keys: &[K], text: &mut Vec<u8>) -> Option<Plain> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().copied().fold(u8::MAX, u8::min) < 0x20 {
        return None;
    }
    let mut line = Line { rest: line };
    line.skip_space();
    let found = line.object(keys, text)?;
    line.skip_space();
    (line.rest.is_empty() && found != Plain::Nothing).then_some(found)
}

/// What is left of a line.
struct Line<'l> {
    rest: &'l [u8],
}

impl<'l> Line<'l> {
    /// Other white space is rare, and a control character.
    fn skip_space(&mut self) {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn literal(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// An object, and what the keys lead to in it; of equal keys the last counts.
    fn object<K: AsRef<str>>(&mut self, keys: &[K], text: &mut Vec<u8>) -> Option<Plain> {
        let (wanted, further) = keys.split_first()?;
        let start = text.len();
        let mut found = Plain::Nothing;
        self.expect(b'{')?;
        self.skip_space();
        if let [b'}', rest @ ..] = self.rest {
            self.rest = rest;
            return Some(found);
        }
        loop {
            self.skip_space();
            let key = self.key()?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            if key == wanted.as_ref().as_bytes() {
                text.truncate(start);
                found = match (further, self.rest.first()?) {
                    ([], _) => self.wanted(text)?,
                    (further, b'{') => self.object(further, text)?,
                    _ => self.skip_value(0).map(|()| Plain::Nothing)?,
                };
            } else {
                self.skip_value(0)?;
            }
            self.skip_space();
            match self.next()? {
                b',' => {}
                b'}' => return Some(found),
                _ => return None,
            }
        }
    }

    /// The requested value.
    fn wanted(&mut self, text: &mut Vec<u8>) -> Option<Plain> {
        match self.rest.first()? {
            b'"' => self.append_string(text).map(|()| Plain::Text),
            _ => self.literal(b"null").map(|()| Plain::Null),
        }
    }

    /// A key without escapes.
    fn key(&mut self) -> Option<&'l [u8]> {
        self.expect(b'"')?;
        let key = self.plain_run();
        self.expect(b'"').map(|()| key)
    }

    /// What stands before the next quote or backslash.
    fn plain_run(&mut self) -> &'l [u8] {
        let (run, rest) = self.rest.split_at(plain_len(self.rest));
        self.rest = rest;
        run
    }

    fn append_string(&mut self, text: &mut Vec<u8>) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let run = self.plain_run();
            text.extend_from_slice(run);
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.append_escape(text)?,
                _ => return None,
            }
        }
    }

    /// Appends what an escape stands for, behind its backslash.
    fn append_escape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let byte = match self.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 0x08,
            b'f' => 0x0c,
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'u' => {
                let character = self.unicode_escape()?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        };
        text.push(byte);
        Some(())
    }

    /// The character of one `\u` or of a pair of them, behind the first `u`.
    fn unicode_escape(&mut self) -> Option<char> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.literal(b"\\u")?;
        let second = self.four_digits()?.checked_sub(0xdc00).filter(|&second| second < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        let value = |value, &digit: &u8| Some(value << 4 | char::from(digit).to_digit(16)?);
        digits.iter().try_fold(0, value)
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            self.plain_run();
            match (self.next()?, self.rest.first()) {
                (b'"', _) => return Some(()),
                (b'\\', Some(b'n' | b't' | b'r' | b'b' | b'f' | b'"' | b'\\' | b'/')) => {
                    self.next()?;
                }
                (b'\\', Some(b'u')) => {
                    self.next()?;
                    self.four_digits()?;
                }
                _ => return None,
            }
        }
    }

    fn skip_value(&mut self, depth: usize) -> Option<()> {
        match self.rest.first()? {
            b'"' => self.skip_string(),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            b'{' if depth < MAX_DEPTH => self.skip_items(b'}', depth + 1),
            b'[' if depth < MAX_DEPTH => self.skip_items(b']', depth + 1),
            b'N' => self.literal(b"NaN"),
            b'I' => self.literal(b"Infinity"),
            b'-' if self.rest.starts_with(b"-I") => self.literal(b"-Infinity"),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => None,
        }
    }

    /// A list, or an object, which ends with `end`.
    fn skip_items(&mut self, end: u8, depth: usize) -> Option<()> {
        self.next()?;
        self.skip_space();
        if *self.rest.first()? == end {
            return self.expect(end);
        }
        loop {
            self.skip_space();
            if end == b'}' {
                self.skip_string()?;
                self.skip_space();
                self.expect(b':')?;
                self.skip_space();
            }
            self.skip_value(depth)?;
            self.skip_space();
            match self.next()? {
                b',' => {}
                byte => return (byte == end).then_some(()),
            }
        }
    }

    fn skip_number(&mut self) -> Option<()> {
        if let [b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        match self.rest {
            [b'0', rest @ ..] => self.rest = rest,
            _ => self.skip_digits()?,
        }
        if let [b'.', rest @ ..] = self.rest {
            self.rest = rest;
            self.skip_digits()?;
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = rest.strip_prefix(b"+").or(rest.strip_prefix(b"-")).unwrap_or(rest);
            self.skip_digits()?;
        }
        Some(())
    }

    /// One digit or more.
    fn skip_digits(&mut self) -> Option<()> {
        let n_digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[n_digits..];
        (n_digits > 0).then_some(())
    }
}

/// The number of bytes before the first quote or backslash; one behind the other is found without a search.
fn plain_len(bytes: &[u8]) -> usize {
    match bytes {
        [b'"' | b'\\', ..] => 0,
        _ => memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len()),
    }
}
