//! Tokens for strings, by one rule: a string that encodes to two tokens gets a merge of these two.
//!
//! The merge ranks after all others. So the string is merged to its two tokens as before, then to the new one, and no
//! later merge precedes that. A string of more tokens needs helpers: tokens for its prefixes, which are added only on
//! request. If merges are ignored for pieces that are tokens, such a string needs no merge at all.
//!
//! A string is refused if the normalizer changes it, the pattern cuts it, it has units outside the alphabet, or
//! another token has its name. Each string and each helper is encoded once, and the vocabulary is copied.
//!
//! Another vocabulary is joined in the same way: the first stays as it is, and the tokens of the second are added in
//! the order of its merges, then those that no merge makes. They are taken as text: bytes or characters, with the
//! marks of the first vocabulary and its character for a space. The added tokens, the unknown token and the
//! byte-fallback tokens of the second are left out, and so are tokens that the normalizer of the first always changes
//! or its pattern always cuts.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::encode::{EditedMerges, Scratch};
use crate::error::{Error, Result};
use crate::normalize::SPACE_SYMBOL;
use crate::tokenizer::Tokenizer;
use crate::units::{EndMarkKind, published_name};
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

/// The outcome for a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was already one token.
    Known,
    /// A merge of two tokens makes it.
    Added,
    /// It is a token as a whole piece, which no merge makes.
    AddedWhole,
    /// It needs helpers, which were not requested.
    NeedsHelpers,
    /// The normalizer changes it.
    Changed,
    /// The split pattern cuts it, or it contains an added token.
    Cut,
    /// It has a unit outside the alphabet.
    OutsideAlphabet,
    /// Another token is written like it or like one of its helpers.
    NameTaken,
    /// It is empty.
    Empty,
}

impl Outcome {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Added => "added",
            Self::AddedWhole => "added_whole",
            Self::NeedsHelpers => "needs_helpers",
            Self::Changed => "changed",
            Self::Cut => "cut",
            Self::OutsideAlphabet => "outside_alphabet",
            Self::NameTaken => "name_taken",
            Self::Empty => "empty",
        }
    }
}

/// The outcome for a string, with details.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringReport {
    /// The outcome.
    pub outcome: Outcome,
    /// Its token, if it has one.
    pub id: Option<TokenId>,
    /// What it was encoded to before.
    pub parts: Vec<TokenId>,
    /// The tokens on the way to it that got a merge; these are usually new.
    pub helpers: Vec<TokenId>,
}

impl StringReport {
    fn refused(outcome: Outcome) -> Self {
        Self { outcome, id: None, parts: Vec::new(), helpers: Vec::new() }
    }
}

/// A tokenizer with more tokens, and the outcome for each string.
#[derive(Debug)]
#[non_exhaustive]
pub struct Extended {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// One for each string, in the given order.
    pub reports: Vec<StringReport>,
}

/// A string that should become one token.
struct Wanted<'w> {
    /// Its units.
    units: &'w [TokenId],
    /// Its bytes without marks.
    bytes: &'w [u8],
    /// Whether the bytes are a whole piece.
    is_piece: bool,
}

/// A vocabulary that is being extended.
struct Extension<'t> {
    tokenizer: &'t Tokenizer,
    vocabulary: Vocabulary,
    edit: EditedMerges,
    /// The names of all tokens in files.
    names: HashSet<String>,
    /// The form of pieces that are looked up as whole tokens, if merges are ignored for these.
    whole: Option<TokenKind>,
    next_priority: Option<u32>,
    scratch: Scratch,
    has_grown: bool,
}

impl<'t> Extension<'t> {
    fn new(tokenizer: &'t Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
        let mark = parts.units.end_mark_kind();
        let has_forms =
            mark == Some(EndMarkKind::Suffix) || parts.units.continuing_prefix.is_some();
        if parts.ignore_merges && has_forms {
            let problem = "a new token could take a piece from another: pieces that are tokens are \
                           looked up without their marks where merges are ignored";
            return Err(Error::option("ignore_merges", problem));
        }
        let ends = mark == Some(EndMarkKind::Unit);
        let whole = TokenKind::Text(Form::new(false, ends));
        let name = |(_, token)| published_name(&parts.units, token);
        let highest = parts.vocabulary.priorities().iter().copied().max();
        if highest.is_some_and(|highest| highest >> 30 == 3) {
            let problem = "the priorities of its merges leave no room behind the last";
            return Err(Error::option("tokenizer", problem));
        }
        Ok(Self {
            tokenizer,
            vocabulary: (*parts.vocabulary).clone(),
            edit: EditedMerges::default(),
            names: parts.vocabulary.iter().map(name).collect(),
            whole: parts.ignore_merges.then_some(whole),
            next_priority: highest.map(|highest| highest + 1),
            scratch: Scratch::default(),
            has_grown: false,
        })
    }

    /// Makes a text a single token.
    fn add_text(&mut self, text: &str, may_help: bool) -> Result<StringReport> {
        if text.is_empty() {
            return Ok(StringReport::refused(Outcome::Empty));
        }
        let tokenizer = self.tokenizer;
        let pieces = tokenizer.split(text.as_bytes())?;
        let [piece] = pieces.as_slice() else {
            return Ok(StringReport::refused(Outcome::Cut));
        };
        let encoder = tokenizer.encoder();
        let units = encoder.symbol_ids(piece)?;
        if !self.are_text_of(&units, piece) {
            return Ok(StringReport::refused(Outcome::OutsideAlphabet));
        }
        let ids = tokenizer.encode_ordinary(text.as_bytes())?;
        if ids != encoder.encode_by(&EditedMerges::default(), piece, &mut self.scratch)? {
            return Ok(StringReport::refused(Outcome::Cut));
        }
        if !is_written_so(tokenizer, text, (piece, &ids)) {
            return Ok(StringReport::refused(Outcome::Changed));
        }
        self.add(&Wanted { units: &units, bytes: piece, is_piece: true }, may_help)
    }

    /// Whether units are text, and together give these bytes.
    fn are_text_of(&self, units: &[TokenId], bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let is_next = |&id: &TokenId| {
            let Some(token) = self.vocabulary.token(id) else { return false };
            let behind = rest.strip_prefix(token.bytes);
            rest = behind.unwrap_or(rest);
            behind.is_some() && matches!(token.kind, TokenKind::Text(_))
        };
        units.iter().all(is_next) && rest.is_empty()
    }

    /// Makes a string a single token.
    fn add(&mut self, wanted: &Wanted<'_>, may_help: bool) -> Result<StringReport> {
        let mut parts = self.encode(wanted)?;
        let mut report =
            StringReport { parts: parts.clone(), ..StringReport::refused(Outcome::NeedsHelpers) };
        match parts[..] {
            [] => return Ok(StringReport::refused(Outcome::Empty)),
            [id] => (report.outcome, report.id) = (Outcome::Known, Some(id)),
            [_, _] => {}
            _ if self.is_whole(&parts, wanted)? => self.add_whole(wanted, &mut report)?,
            _ if may_help => {}
            _ => return Ok(report),
        }
        while let ([left, right, rest @ ..], Outcome::NeedsHelpers) = (&parts[..], report.outcome) {
            match (self.merge(*left, *right)?, rest) {
                (None, _) => report.outcome = Outcome::NameTaken,
                (Some(id), []) => (report.outcome, report.id) = (Outcome::Added, Some(id)),
                (Some(helper), _) => {
                    report.helpers.push(helper);
                    let encoder = self.tokenizer.encoder();
                    parts = encoder.merged_by(&self.edit, wanted.units, &mut self.scratch)?;
                }
            }
        }
        if let ([id], Outcome::NeedsHelpers) = (&parts[..], report.outcome) {
            // The last helper made it, or an old merge of that helper, which never applied before.
            report.helpers.retain(|helper| helper != id);
            (report.outcome, report.id) = (Outcome::Added, Some(*id));
        }
        Ok(report)
    }

    /// Its encoding so far.
    fn encode(&mut self, wanted: &Wanted<'_>) -> Result<Vec<TokenId>> {
        let encoder = self.tokenizer.encoder();
        if wanted.is_piece
            && let Some(kind) = self.whole
        {
            let new = || self.vocabulary.id(Token { kind, bytes: wanted.bytes });
            if let Some(id) = encoder.whole_token(wanted.bytes).or_else(new) {
                return Ok(vec![id]);
            }
        }
        encoder.merged_by(&self.edit, wanted.units, &mut self.scratch)
    }

    /// Whether the whole piece is looked up as a token, without any merge.
    fn is_whole(&self, parts: &[TokenId], wanted: &Wanted<'_>) -> Result<bool> {
        let (Some(kind), [first, .., last]) = (self.whole, parts) else { return Ok(false) };
        Ok(wanted.is_piece && self.vocabulary.merged(*first, *last)?.0 == kind)
    }

    fn add_whole(&mut self, wanted: &Wanted<'_>, report: &mut StringReport) -> Result<()> {
        let Some(kind) = self.whole else { return Ok(()) };
        match self.push(Token { kind, bytes: wanted.bytes })? {
            Some(id) => (report.outcome, report.id) = (Outcome::AddedWhole, Some(id)),
            None => report.outcome = Outcome::NameTaken,
        }
        Ok(())
    }

    /// Appends a merge after all others; `None` if another token is written like its result.
    fn merge(&mut self, left: TokenId, right: TokenId) -> Result<Option<TokenId>> {
        let (kind, bytes) = self.vocabulary.merged(left, right)?;
        let Some(result) = self.push(Token { kind, bytes: &bytes })? else { return Ok(None) };
        let merge = Merge { left, right, result };
        if self.edit.push(merge).is_none() {
            return Err(Error::option("strings", "there are too many"));
        }
        match &mut self.next_priority {
            None => self.vocabulary.push_merge_to(merge),
            Some(next) => {
                self.vocabulary.push_merge_with_priority(merge, *next);
                *next += 1;
            }
        }
        Ok(Some(result))
    }

    /// The id of a token, which is added if it is missing; `None` if another one is written like it.
    fn push(&mut self, token: Token<'_>) -> Result<Option<TokenId>> {
        self.has_grown = true;
        if let Some(id) = self.vocabulary.id(token) {
            return Ok(Some(id));
        }
        let name = published_name(&self.tokenizer.parts().units, token);
        if !self.names.insert(name) {
            return Ok(None);
        }
        self.vocabulary.push(token).map(Some)
    }

    /// The tokenizer with everything that was added.
    fn finish(mut self) -> Result<Tokenizer> {
        if self.has_grown {
            self.vocabulary.set_merge_counts(Vec::new()); // those of the new merges are unknown
        }
        self.tokenizer.with_learned(self.vocabulary, &[])
    }
}

/// Whether a piece is the text, apart from how a space is written and from a space put before or after it. A text that
/// contains the character written for a space is refused.
fn is_written_so(tokenizer: &Tokenizer, text: &str, (piece, ids): (&[u8], &[TokenId])) -> bool {
    let decoded = tokenizer.decode_bytes(ids).ok();
    let spelling = tokenizer.spelling();
    if spelling.as_ref().is_some_and(|spelling| text.contains(spelling.to)) {
        return false; // it is meant as the token is written, but this text differs
    }
    // If the text has no mark, a mark in the piece stands for a space, even if other texts may be changed in other ways.
    let has_mark = text.contains(SPACE_SYMBOL);
    [text.to_owned(), format!(" {text}"), format!("{text} ")].into_iter().any(|given| {
        let spelled = spelling.as_ref().and_then(|spelling| spelling.of(given.as_bytes()));
        piece == given.as_bytes()
            || spelled.as_deref() == Some(piece)
            || decoded.as_deref() == Some(given.as_bytes())
            || !has_mark && given.replace(' ', SPACE_SYMBOL).as_bytes() == piece
    })
}

impl Tokenizer {
    /// This tokenizer with a token for each of these strings that can have one, in the given order. Helpers for
    /// strings of more than two tokens are added if `may_help`.
    ///
    /// # Errors
    /// If a text cannot be split, or there are too many tokens.
    pub fn extend_with_strings(&self, strings: &[&str], may_help: bool) -> Result<Extended> {
        let mut extension = Extension::new(self)?;
        let reports = strings.iter().map(|text| extension.add_text(text, may_help));
        let reports = reports.collect::<Result<_>>()?;
        Ok(Extended { tokenizer: extension.finish()?, reports })
    }
}

impl Tokenizer {
    /// This tokenizer with the tokens of another that can be added, and a report for each id of the other; `None` for
    /// ids whose tokens are not text.
    ///
    /// # Errors
    /// If only one of the two marks the start or the end of words.
    pub fn merge_with(
        &self,
        other: &Self,
        may_help: bool,
    ) -> Result<(Self, Vec<Option<StringReport>>)> {
        let marks = |tokenizer: &Self| {
            let units = &tokenizer.parts().units;
            (units.end_mark.is_some(), units.continuing_prefix.is_some())
        };
        if marks(self) != marks(other) {
            let problem = "only one of the two has an end mark or a continuing prefix, so that \
                           tokens of the one are no tokens of the other";
            return Err(Error::option("other", problem));
        }
        let [from, to] = [other, self].map(|tokenizer| {
            let spelling = tokenizer.spelling().filter(|spelling| spelling.from == b' ');
            spelling.map_or(' ', |spelling| spelling.to)
        });
        let vocabulary = &other.parts().vocabulary;
        let texts: Vec<(_, _, Cow<'_, [u8]>)> = in_order(other)
            .into_iter()
            .filter_map(|id| {
                let token = vocabulary.token(id)?;
                let TokenKind::Text(form) = token.kind else { return None };
                let text = std::str::from_utf8(token.bytes).ok().filter(|_| from != to);
                let bytes = text.map(|text| text.replace(from, to.encode_utf8(&mut [0; 4])));
                Some((id, form, bytes.map_or(token.bytes.into(), |text| text.into_bytes().into())))
            })
            .collect();
        let is_text = |bytes: &[u8]| !bytes.is_empty() && std::str::from_utf8(bytes).is_ok();
        let checked: Vec<_> =
            texts.iter().map(|(.., bytes)| &**bytes).filter(|bytes| is_text(bytes)).collect();
        let changed = self.never_normalized(&checked)?;
        let mut never = changed.into_iter().zip(self.never_held(&checked));
        let mut extension = Extension::new(self)?;
        let mut reports = vec![None; vocabulary.len()];
        for (id, form, bytes) in &texts {
            let never = if is_text(bytes) { never.next() } else { None };
            let units = self.encoder().units_of(*form, bytes).unwrap_or_default();
            let report = match never {
                Some((true, _)) => StringReport::refused(Outcome::Changed),
                Some((_, true)) => StringReport::refused(Outcome::Cut),
                _ if units.is_empty() || !extension.are_text_of(&units, bytes) => {
                    StringReport::refused(Outcome::OutsideAlphabet)
                }
                // A token of the other vocabulary need not be a piece, and always gets a merge.
                _ => extension.add(&Wanted { units: &units, bytes, is_piece: false }, may_help)?,
            };
            reports[*id as usize] = Some(report);
        }
        Ok((extension.finish()?, reports))
    }
}

/// The ids of a tokenizer in the order of its merges, followed by the others.
fn in_order(tokenizer: &Tokenizer) -> Vec<TokenId> {
    let vocabulary = &tokenizer.parts().vocabulary;
    let (merges, priorities) = (vocabulary.merges(), vocabulary.priorities());
    let mut places: Vec<_> = (0..merges.len()).collect();
    places.sort_by_key(|&place| priorities.get(place).copied());
    let made = places.into_iter().map(|place| merges[place].result);
    let mut seen = vec![false; vocabulary.len()];
    let all = made.chain(vocabulary.iter().map(|(id, _)| id));
    all.filter(|&id| !std::mem::replace(&mut seen[id as usize], true)).collect()
}
