//! Codes: lists of merge operations in files of segmenters. An operation is two symbols, with their end marks, in order.
//!
//! In subword-nmt, each line holds a merge: two symbols with a space between them. Version 0.2 is stated in the first
//! line, and joins the end mark `</w>` to the last character. In version 0.1, which need not be stated, the end mark is a
//! symbol of its own. A vocabulary of subword-nmt has a line for each token: the token, a space or a tab, and its count.
//! Lines of fastBPE also have a count, and mean the same as those of version 0.2. If a vocabulary is given and two merges
//! make the same symbol, subword-nmt undoes the first, fastBPE the last. Not supported: the third version, of another
//! program (`v3;…`), which is refused.
//!
//! [`Codes`] become a [`Tokenizer`] or a [`Segmenter`](crate::segmentation::Segmenter). The ids of the tokenizer are the
//! single characters of all symbols in the order of their code points, then the merges. The segmenter writes text with
//! its words cut apart.
//!
//! The programs that read such files join every occurrence of the best pair in a word at each step, while a tokenizer
//! joins the leftmost one. Both give the same result unless a symbol is made by a later merge than one that needs it.
//! Codes with such a symbol have a segmenter but no tokenizer. Learned codes never contain such merges. Takes time linear
//! in the file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::assembly::NumberedMerge;
use super::{check_bare, inexpressible, quoted, require};
use bytepair::template::Template;
use bytepair::units::{EndMark, EndMarkKind, Units};
use bytepair::vocabulary::{Token, TokenId, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Splitter, Unmatched};

/// The name of subword-nmt's format in messages.
const SUBWORD_NMT: &str = "subword-nmt codes";

/// The name of a vocabulary in messages.
const VOCABULARY: &str = "subword-nmt vocabulary";

/// The name of fastBPE's format in messages.
const FASTBPE: &str = "fastBPE codes";

/// The mark at the end of a word in these programs.
pub(crate) const END_OF_WORD: &str = "</w>";

/// The name of the pattern of words, which are the text between spaces and line ends.
const WORDS: &str = "subword-nmt";

/// Simpler patterns. They cut the same words if a text has no other line ends.
const BETWEEN_SPACES: &str = "[^ ]+";
const BETWEEN_SPACES_AND_LINE_FEEDS: &str = r"[^\r\n ]+";

/// Merge operations in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codes {
    /// The left and right part of each merge, with end marks written out. No pair appears twice.
    pub merges: Vec<(String, String)>,
    /// Whether the end of a word is a symbol of its own or part of the last character.
    pub end_mark: EndMarkKind,
    /// Which merge is undone if two make the same symbol.
    pub(crate) undone: Undone,
}

/// Which merge a program undoes if several make the same symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// The first one.
    First,
    /// The last one.
    Last,
}

/// The name of the format of codes, recognised by the first line of a file.
///
/// That line states a version, or is the first merge, which can only join single characters.
///
/// ```
/// use bytepair_formats::codes::codes_format;
///
/// assert_eq!(codes_format(b"l o 12\n"), Some("fastbpe"));
/// assert_eq!(codes_format(b"hello world\n"), None);
/// ```
pub fn codes_format(file: &[u8]) -> Option<&'static str> {
    let file = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    let line = file.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
    if line.starts_with("#version:") || line.starts_with("v3;") {
        return Some("subword-nmt");
    }
    let fields: Vec<_> = line.split(' ').collect();
    let is_one = |symbol: &str| symbol.chars().count() == 1;
    let is_last = |symbol: &str| is_one(symbol.strip_suffix(END_OF_WORD).unwrap_or(symbol));
    match fields.as_slice() {
        [left, right] if is_one(left) && (is_last(right) || *right == END_OF_WORD) => {
            Some("subword-nmt")
        }
        [left, right, count] if is_one(left) && is_last(right) && count.parse::<u64>().is_ok() => {
            Some("fastbpe")
        }
        _ => None,
    }
}

/// A byte order mark, which some editors put before UTF-8. The programs read it as part of the first symbol.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file, which must not be empty.
fn text<'f>(format: &'static str, file: &'f [u8]) -> Result<&'f str> {
    if file.starts_with(BYTE_ORDER_MARK) {
        let problem = "begins with a byte order mark (EF BB BF), which the program takes for a part of the first \
                       symbol; save it as UTF-8 without one";
        return Err(Error::format(format, "the file", problem));
    }
    let text = std::str::from_utf8(file).map_err(|error| {
        Error::format(format, format!("byte {}", error.valid_up_to()), "not UTF-8")
    })?;
    match text.trim_matches(['\r', '\n', ' ']).is_empty() {
        true => Err(Error::format(format, "the file", "is empty")),
        false => Ok(text),
    }
}

impl Codes {
    /// Reads the codes of a file of either program, or the first `n_merges` of them.
    ///
    /// # Errors
    /// If the first line is neither a version nor a merge of two characters, and as for the readers of both formats.
    pub fn read(file: &[u8], n_merges: Option<usize>) -> Result<Self> {
        const FORMAT: &str = "codes";
        match codes_format(file) {
            Some("fastbpe") => read_fastbpe(file, n_merges),
            Some(_) => read_subword_nmt(file, n_merges),
            None => {
                text(FORMAT, file)?;
                let line = file.split(|&byte| byte == b'\n').next().unwrap_or_default();
                let problem = format!(
                    "{} is neither a version of subword-nmt nor a first merge, which joins two characters",
                    quoted(line)
                );
                Err(Error::format(FORMAT, "line 1", problem))
            }
        }
    }

    /// Codes of these pairs. Of equal pairs, the first counts.
    fn new(
        format: &'static str,
        lines: Vec<NumberedMerge<'_>>,
        kind: EndMarkKind,
        undone: Undone,
    ) -> Result<Self> {
        let mut seen = HashSet::new();
        let mut merges = Vec::with_capacity(lines.len());
        for NumberedMerge { line, left, right } in lines {
            if left.ends_with(END_OF_WORD) {
                let problem = "the left symbol ends a word, so nothing can follow it";
                return Err(Error::format(format, format!("line {line}"), problem));
            }
            if seen.insert((left, right)) {
                merges.push((left.to_owned(), right.to_owned()));
            }
        }
        Ok(Self { merges, end_mark: kind, undone })
    }

    /// The units in which words are merged.
    pub(crate) fn units(&self) -> Units {
        let text = END_OF_WORD.to_owned();
        Units { end_mark: Some(EndMark { text, kind: self.end_mark }), ..Units::characters() }
    }

    /// The index of the first merge with a part that a later merge makes.
    pub(crate) fn first_disordered(&self) -> Option<usize> {
        let mut last_made = HashMap::new();
        for (rank, (left, right)) in self.merges.iter().enumerate() {
            last_made.insert(format!("{left}{right}"), rank);
        }
        let is_late = |part: &String, rank| last_made.get(part).is_some_and(|&made| made >= rank);
        let mut ranked = self.merges.iter().enumerate();
        ranked
            .find(|(rank, (left, right))| is_late(left, *rank) || is_late(right, *rank))
            .map(|(rank, _)| rank)
    }

    /// The tokens and merges, in the order of their ids.
    pub(crate) fn vocabulary(&self) -> Result<Vocabulary> {
        let units = self.units();
        let mut vocabulary = Vocabulary::new();
        for symbol in self.alphabet(&units) {
            vocabulary.push(units.parse(symbol.as_bytes()))?;
        }
        for (left, right) in &self.merges {
            let left = vocabulary.push(units.parse(left.as_bytes()))?;
            let right = vocabulary.push(units.parse(right.as_bytes()))?;
            vocabulary.push_merge(left, right)?;
        }
        Ok(vocabulary)
    }

    /// The symbols of one character, sorted. If the end mark is a symbol of its own, it comes last.
    fn alphabet(&self, units: &Units) -> Vec<&str> {
        let is_single = |symbol: &&str| {
            let Token { bytes, .. } = units.parse(symbol.as_bytes());
            let n_characters = std::str::from_utf8(bytes).map_or(0, |text| text.chars().count());
            n_characters + usize::from(bytes.is_empty()) == 1
        };
        let symbols = self.merges.iter().flat_map(|(left, right)| [left.as_str(), right.as_str()]);
        let mut alphabet: Vec<_> = symbols.filter(is_single).collect();
        alphabet.sort_unstable_by_key(|symbol| (*symbol == END_OF_WORD, *symbol));
        alphabet.dedup();
        alphabet
    }

    /// The tokenizer of these merges.
    ///
    /// # Errors
    /// If a merge needs a symbol that a later merge makes. Joining the leftmost pair first could then differ from joining
    /// all equal pairs at once.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        if let Some(rank) = self.first_disordered() {
            let (left, right) = &self.merges[rank];
            let problem =
                "needs a symbol that a later merge makes; only a Segmenter can follow that";
            let part = format!("merge {rank}, {left:?} {right:?}");
            return Err(Error::format("merge operations", part, problem));
        }
        let words = bytepair_split::named(WORDS).unwrap_or_default();
        Tokenizer::new(Parts {
            pre_tokenizer: Splitter::new(words, &UnicodeTables::latest())?.into(),
            ..Parts::new(self.units(), Arc::new(self.vocabulary()?))
        })
    }

    /// The codes of a tokenizer that cuts texts into the same words as the program that reads the codes.
    ///
    /// Ids are not part of codes; only how words are cut apart is kept.
    fn of(format: &'static str, tokenizer: &Tokenizer, undone: Undone) -> Result<Self> {
        let parts = tokenizer.parts();
        let end_mark = checked_end_mark(format, parts)?;
        check_words(format, parts)?;
        check_pipeline(format, parts)?;
        let vocabulary = &parts.vocabulary;
        let written = |id: TokenId| {
            let token = vocabulary.expect_token(id)?;
            let name = parts.units.written(token).into_owned();
            String::from_utf8(name).map_err(|_| inexpressible(format, format!("the token {id}")))
        };
        let mut merges = Vec::with_capacity(vocabulary.merges().len());
        let mut seen = HashSet::new();
        for merge in vocabulary.merges() {
            let (left, right, result) =
                (written(merge.left)?, written(merge.right)?, written(merge.result)?);
            let has_space = |text: &str| text.contains([' ', '\r', '\n']) || text.is_empty();
            let is_new = seen.insert((merge.left, merge.right));
            if !is_new
                || has_space(&left)
                || has_space(&right)
                || result != format!("{left}{right}")
            {
                return Err(inexpressible(format, format!("the merge {left:?} {right:?}")));
            }
            merges.push((left, right));
        }
        let codes = Self { merges, end_mark, undone };
        match codes.first_disordered() {
            None => Ok(codes),
            Some(rank) => {
                Err(inexpressible(format, format!("merge {rank}, which needs a later one")))
            }
        }
    }
}

fn checked_end_mark(format: &'static str, parts: &Parts) -> Result<EndMarkKind> {
    let Some(EndMark { text, kind }) = parts.units.end_mark.clone() else {
        return Err(inexpressible(
            format,
            "words without an end mark (train with the dialect sennrich)",
        ));
    };
    let plain = Units {
        end_mark: Some(EndMark { text: END_OF_WORD.to_owned(), kind }),
        unknown: parts.units.unknown.clone(),
        fuse_unknown: parts.units.fuse_unknown,
        ..Units::characters()
    };
    match text == END_OF_WORD && parts.units == plain {
        true => Ok(kind),
        false => Err(inexpressible(format, "units other than characters with the end mark </w>")),
    }
}

/// Refuses a tokenizer unless its words are those of the reading program in every text that it has ids for.
///
/// A simpler pattern is accepted if a line end that it does not know is an error, that is, if no token contains it and
/// there is no unknown token. Words between any white space are refused: such a word never contains a tab, while a word
/// of the program may.
fn check_words(format: &'static str, parts: &Parts) -> Result<()> {
    let splitter = parts.pre_tokenizer.only_splitter().unwrap_or_else(Splitter::whole);
    if bytepair_split::named(WORDS).is_some_and(|words| words == splitter.stages()) {
        return Ok(());
    }
    let words = match splitter.stages() {
        [stage] if stage.unmatched() == Some(Unmatched::Drop) => stage.pattern.source.as_str(),
        _ => "",
    };
    let known_ends: &[char] = match words {
        BETWEEN_SPACES => &[],
        BETWEEN_SPACES_AND_LINE_FEEDS => &['\r', '\n'],
        _ => return Err(other_words(format, "pieces that are not words between spaces")),
    };
    if parts.units.unknown.is_some() {
        return Err(other_words(format, "an end of a line as an unknown character of a word"));
    }
    let has_line_end = |(_, token): &(TokenId, Token<'_>)| {
        let text = std::str::from_utf8(token.bytes).unwrap_or("");
        text.chars().any(|character| ends_line(character) && !known_ends.contains(&character))
    };
    match parts.vocabulary.iter().find(has_line_end) {
        None => Ok(()),
        Some((id, _)) => Err(other_words(format, &format!("the token {id}, in which a line ends"))),
    }
}

/// Whether `str.splitlines` of Python, with which these programs read files, ends a line at this character.
pub(crate) fn ends_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\x1C'..='\x1E' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn other_words(format: &'static str, problem: &str) -> Error {
    let words = bytepair_split::named(WORDS).unwrap_or_default();
    let source = words.first().map_or("", |stage| stage.pattern.source.as_str());
    inexpressible(
        format,
        format!("{problem} (train with the pattern {WORDS:?}, which is {source})"),
    )
}

fn check_pipeline(format: &'static str, parts: &Parts) -> Result<()> {
    check_bare(format, parts)?;
    let checks = [
        (parts.normalizer.steps().is_empty(), "a normalizer"),
        (parts.added.is_empty(), "added tokens"),
        (!parts.ignore_merges, "pieces that are tokens without being merged (ignore_merges)"),
        (parts.template == Template::default(), "the special tokens that are put around a text"),
    ];
    require(format, &checks)
}

/// Reads the codes of a file of subword-nmt, or the first `n_merges` of them.
///
/// ```
/// use bytepair_formats::codes;
///
/// let codes = codes::read_subword_nmt(b"#version: 0.2\nl o\nlo w</w>\n", None)?;
/// let tokenizer = codes.tokenizer()?;
/// assert_eq!(tokenizer.tokenize(b"low lox", Default::default())?, [&b"low</w>"[..], b"lo", b"x</w>"]);
/// # Ok::<(), bytepair::Error>(())
/// ```
///
/// # Errors
/// If the version is unknown, or a line is not two symbols.
pub fn read_subword_nmt(file: &[u8], n_merges: Option<usize>) -> Result<Codes> {
    let text = text(SUBWORD_NMT, file)?;
    let (end_mark, n_header_lines) = version(text.lines().next().unwrap_or(""))?;
    let mut pairs = Vec::new();
    let lines = text.trim_end_matches('\n').split('\n').enumerate().skip(n_header_lines);
    for (place, line) in lines.take(n_merges.unwrap_or(usize::MAX)) {
        let line = line.trim_matches(['\r', '\n', ' ']);
        let symbols = line.split_once(' ').filter(|(_, right)| !right.contains(' '));
        let (left, right) = symbols.ok_or_else(|| {
            let problem = format!("{} is not two symbols and a space", quoted(line.as_bytes()));
            Error::format(SUBWORD_NMT, format!("line {}", place + 1), problem)
        })?;
        pairs.push(NumberedMerge { line: place + 1, left, right });
    }
    Codes::new(SUBWORD_NMT, pairs, end_mark, Undone::First)
}

/// Writes a tokenizer as a file of subword-nmt: version 0.2 if the end mark is a suffix, 0.1 if it is a unit.
///
/// Only how words are cut apart is kept; ids are not part of codes.
///
/// # Errors
/// If the tokenizer does anything other than merge the characters of words. The error names the part.
pub fn write_subword_nmt(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let codes = Codes::of(SUBWORD_NMT, tokenizer, Undone::First)?;
    let version = if codes.end_mark == EndMarkKind::Suffix { "0.2" } else { "0.1" };
    let mut file = format!("#version: {version}\n");
    for (left, right) in &codes.merges {
        file.extend([left, " ", right, "\n"]);
    }
    Ok(file.into_bytes())
}

/// The tokens of a vocabulary that occur at least `threshold` times, in the order of the file.
///
/// # Errors
/// If a line is not a token and a number.
pub fn read_vocabulary(file: &[u8], threshold: Option<i64>) -> Result<Vec<String>> {
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text(VOCABULARY, file)?.lines()) {
        let line = line.trim_matches(['\r', '\n', ' ']);
        let fields = line.split_once([' ', '\t']);
        let count = fields.and_then(|(_, count)| count.parse::<i64>().ok());
        let Some(((token, _), count)) = fields.zip(count) else {
            let problem = format!("{} is not a token and a number", quoted(line.as_bytes()));
            return Err(Error::format(VOCABULARY, format!("line {number}"), problem));
        };
        if threshold.is_none_or(|threshold| count >= threshold) {
            tokens.push(token.to_owned());
        }
    }
    Ok(tokens)
}

/// The kind of end mark that the first line states, and how many lines the version takes up (0 or 1).
fn version(line: &str) -> Result<(EndMarkKind, usize)> {
    if line.starts_with("v3;") {
        let problem = "codes of OpenNMT's learner are not supported, only those of subword-nmt";
        return Err(Error::format(SUBWORD_NMT, "the header", problem));
    }
    let Some(version) = line.strip_prefix("#version:") else { return Ok((EndMarkKind::Unit, 0)) };
    let mut version = version.split_whitespace().next_back().unwrap_or("");
    while let Some(shorter) = version.trim_end_matches('0').strip_suffix('.') {
        version = shorter;
    }
    match version {
        "0.1" => Ok((EndMarkKind::Unit, 1)),
        "0.2" => Ok((EndMarkKind::Suffix, 1)),
        _ => {
            let problem = format!("{version:?} is not one of the versions 0.1 and 0.2");
            Err(Error::format(SUBWORD_NMT, "#version", problem))
        }
    }
}

/// Reads the codes of a file of fastBPE, or the first `n_merges` of them.
///
/// ```
/// use bytepair_formats::codes;
///
/// let codes = codes::read_fastbpe(b"l o 12\nlo w</w> 5\n", None)?;
/// assert_eq!(codes.merges[1], ("lo".to_owned(), "w</w>".to_owned()));
/// # Ok::<(), bytepair::Error>(())
/// ```
///
/// # Errors
/// If a line is not two symbols and a number, or a pair appears twice.
pub fn read_fastbpe(file: &[u8], n_merges: Option<usize>) -> Result<Codes> {
    let text = text(FASTBPE, file)?;
    let lines = (1..).zip(text.split_terminator('\n')).take(n_merges.unwrap_or(usize::MAX));
    let pairs: Vec<_> = lines
        .map(|(number, line)| {
            let (left, right) = counted_merge(line).ok_or_else(|| {
                let problem =
                    format!("{} is not two symbols and a number", quoted(line.as_bytes()));
                Error::format(FASTBPE, format!("line {number}"), problem)
            })?;
            Ok(NumberedMerge { line: number, left, right })
        })
        .collect::<Result<_>>()?;
    let n_lines = pairs.len();
    let codes = Codes::new(FASTBPE, pairs, EndMarkKind::Suffix, Undone::Last)?;
    match codes.merges.len() == n_lines {
        true => Ok(codes),
        false => Err(Error::format(FASTBPE, "the file", "a pair appears twice")),
    }
}

/// Writes a tokenizer as a file of fastBPE. Unknown counts are 0.
///
/// # Errors
/// If the tokenizer does anything other than merge the characters of words, with the end mark joined to the last of them.
/// The error names the part.
pub fn write_fastbpe(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let codes = Codes::of(FASTBPE, tokenizer, Undone::Last)?;
    if codes.end_mark != EndMarkKind::Suffix {
        return Err(inexpressible(FASTBPE, "an end mark that is a unit of its own"));
    }
    let counts = tokenizer.parts().vocabulary.merge_counts().iter().copied();
    let mut file = String::new();
    for ((left, right), count) in codes.merges.iter().zip(counts.chain(std::iter::repeat(0))) {
        file.extend([left, " ", right, " ", &count.to_string(), "\n"]);
    }
    Ok(file.into_bytes())
}

fn counted_merge(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.strip_suffix('\r').unwrap_or(line).split(' ');
    let (left, right, count) = (fields.next()?, fields.next()?, fields.next()?);
    let is_merge = !left.is_empty() && !right.is_empty() && count.parse::<u64>().is_ok();
    (is_merge && fields.next().is_none()).then_some((left, right))
}
