//! The special tokens that a class puts around a text, as a `tokenizer.json` writes them.
//!
//! Left out: the language and the task of Whisper's prefix, which a call chooses. Costs a look-up for each token.

use serde_json::{Map, Value};

use super::added::{AddedTokens, Ids};
use super::classes::{Around, Class};
use super::{CONFIG, FORMAT, switch};
use crate::assembly::roberta;
use crate::huggingface::template_value;
use bytepair::template::{Sequence, Template, TemplatePiece};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// What Whisper's texts begin with.
const START: &str = "<|startoftranscript|>";

/// What follows if no time stamps are requested.
const NO_TIMESTAMPS: &str = "<|notimestamps|>";

/// The tokens that settings name, and the ids of all.
pub(super) struct Tokens<'t> {
    pub(super) added: &'t AddedTokens,
    pub(super) ids: &'t Ids<'t>,
}

impl<'t> Tokens<'t> {
    /// The token of a role, which must be there.
    fn role(&self, role: &str) -> Result<&'t str> {
        let missing = || Error::format(FORMAT, CONFIG, format!("{role}_token is missing"));
        self.added.of_role(role).ok_or_else(missing)
    }

    fn id(&self, name: &str) -> Result<TokenId> {
        let missing = || Error::format(FORMAT, CONFIG, format!("the token {name:?} has no id"));
        self.ids.get(name).copied().ok_or_else(missing)
    }

    /// The token of a role, with its id.
    fn role_with_id(&self, role: &str) -> Result<(&'t str, TokenId)> {
        let name = self.role(role)?;
        Ok((name, self.id(name)?))
    }

    fn special(&self, names: &[&str], type_id: u32) -> Result<Vec<TemplatePiece>> {
        let piece = |&name: &&str| {
            let (ids, names) = (vec![self.id(name)?], vec![name.to_owned()]);
            Ok(TemplatePiece::Special { ids, type_id, names })
        };
        names.iter().map(piece).collect()
    }

    /// A template, by the names of its special tokens.
    fn written(&self, around: &Names<'_>) -> Result<Value> {
        let text = |which, type_id| vec![TemplatePiece::Text { which, type_id }];
        let Names { begin, end, between } = around;
        let first = text(Sequence::First, 0);
        let single = [self.special(begin, 0)?, first.clone(), self.special(end, 0)?];
        let (behind_first, before_second) = *between;
        let pair = [
            self.special(begin, 0)?,
            first,
            self.special(behind_first, 0)?,
            self.special(before_second, 1)?,
            text(Sequence::Second, 1),
            self.special(end, 1)?,
        ];
        let template = Template { single: single.concat(), pair: pair.concat() };
        template_value(&template, |_| Ok(""))
    }
}

/// The names of special tokens before and behind one text or two, and between two: behind the first and before the second.
struct Names<'n> {
    begin: &'n [&'n str],
    end: &'n [&'n str],
    between: (&'n [&'n str], &'n [&'n str]),
}

/// The `post_processor` of a class; nothing where it puts nothing around a text.
pub(super) fn post_processor(
    class: &Class,
    config: &Map<String, Value>,
    tokens: &Tokens<'_>,
    prefix_space: bool,
) -> Result<Value> {
    match class.template {
        Around::Roberta => {
            let (cls, sep) = (tokens.role_with_id("cls")?, tokens.role_with_id("sep")?);
            Ok(roberta(cls, sep, true, prefix_space))
        }
        Around::Clip => {
            let (bos, eos) = (tokens.role_with_id("bos")?, tokens.role_with_id("eos")?);
            Ok(roberta(bos, eos, false, false))
        }
        Around::Deberta => {
            let (cls, sep) = ([tokens.role("cls")?], [tokens.role("sep")?]);
            let between = [sep[0], sep[0]];
            tokens.written(&Names { begin: &cls, end: &sep, between: (&between, &[]) })
        }
        Around::Whisper => {
            let prefix: &[&str] = match switch(config, "predict_timestamps")? {
                Some(true) => &[START],
                _ => &[START, NO_TIMESTAMPS],
            };
            let known =
                |&name| if tokens.ids.contains_key(name) { Ok(name) } else { tokens.role("unk") };
            let begin = prefix.iter().map(known).collect::<Result<Vec<_>>>()?;
            let end = [tokens.role("eos")?];
            tokens.written(&Names { begin: &begin, end: &end, between: (&[], &[]) })
        }
        Around::AsAsked => {
            let asked = |role| -> Result<_> {
                let is_asked = switch(config, &format!("add_{role}_token"))? == Some(true);
                Ok(tokens.added.of_role(role).filter(|_| is_asked))
            };
            let (begin, end) = (asked("bos")?, asked("eos")?);
            if begin.is_none() && end.is_none() {
                return Ok(Value::Null);
            }
            let (begin, end) = (begin.as_slice(), end.as_slice());
            tokens.written(&Names { begin, end, between: (end, begin) })
        }
    }
}
