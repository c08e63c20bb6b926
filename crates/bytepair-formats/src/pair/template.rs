//! The special tokens that a class puts around a text, as a `tokenizer.json` writes them.
//!
//! Left out: the language and the task of Whisper's prefix, which a call chooses. Costs a look-up for each token.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::added::{AddedTokens, Ids};
use super::classes::{Around, Class};
use super::{CONFIG, FORMAT, switch};
use crate::assembly::roberta;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// What Whisper's texts begin with.
const START: &str = "<|startoftranscript|>";

/// What follows where no time stamps are asked for.
const NO_TIMESTAMPS: &str = "<|notimestamps|>";

/// The `post_processor` of a class; nothing where it puts nothing around a text.
pub(super) fn post_processor(
    class: &Class,
    config: &Map<String, Value>,
    (added, ids): (&AddedTokens, &Ids<'_>),
    prefix_space: bool,
) -> Result<Value> {
    let role = |role: &str| {
        let missing = || Error::format(FORMAT, CONFIG, format!("{role}_token is missing"));
        added.of_role(role).ok_or_else(missing)
    };
    let with_id = |name: &str| -> Result<_> {
        let name = role(name)?;
        Ok((name, id(name, ids)?))
    };
    match class.template {
        Around::Roberta => {
            let ends = (with_id("cls")?, with_id("sep")?);
            Ok(roberta(ends, true, prefix_space))
        }
        Around::Clip => {
            let ends = (with_id("bos")?, with_id("eos")?);
            Ok(roberta(ends, false, false))
        }
        Around::Deberta => {
            let (cls, sep) = ([role("cls")?], [role("sep")?]);
            Template { single: (&cls, &sep), pair: (&cls, &[sep[0], sep[0]], &[], &sep) }
                .written(ids)
        }
        Around::Whisper => {
            let prefix: &[&str] = match switch(config, "predict_timestamps")? {
                Some(true) => &[START],
                _ => &[START, NO_TIMESTAMPS],
            };
            let known = |&name| if ids.contains_key(name) { Ok(name) } else { role("unk") };
            let begin = prefix.iter().map(known).collect::<Result<Vec<_>>>()?;
            let end = [role("eos")?];
            Template { single: (&begin, &end), pair: (&begin, &[], &[], &end) }.written(ids)
        }
        Around::AsAsked => {
            let asked = |role| -> Result<_> {
                let is_asked = switch(config, &format!("add_{role}_token"))? == Some(true);
                Ok(added.of_role(role).filter(|_| is_asked))
            };
            let (begin, end) = (asked("bos")?, asked("eos")?);
            if begin.is_none() && end.is_none() {
                return Ok(Value::Null);
            }
            let (begin, end) = (begin.as_slice(), end.as_slice());
            Template { single: (begin, end), pair: (begin, end, begin, end) }.written(ids)
        }
    }
}

fn id(name: &str, ids: &Ids<'_>) -> Result<TokenId> {
    let missing = || Error::format(FORMAT, CONFIG, format!("the token {name:?} has no id"));
    ids.get(name).copied().ok_or_else(missing)
}

/// The names of special tokens: before and behind one text; before, behind, before and behind two.
struct Template<'n> {
    single: (&'n [&'n str], &'n [&'n str]),
    pair: (&'n [&'n str], &'n [&'n str], &'n [&'n str], &'n [&'n str]),
}

impl Template<'_> {
    fn written(&self, ids: &Ids<'_>) -> Result<Value> {
        let Self { single: (begin, end), pair: (first, behind_first, second, behind_second) } =
            self;
        let special = |names: &[&str], type_id: u32| -> Vec<Value> {
            let token = |name| json!({"SpecialToken": {"id": name, "type_id": type_id}});
            names.iter().map(token).collect()
        };
        let text =
            |name: &str, type_id: u32| vec![json!({"Sequence": {"id": name, "type_id": type_id}})];
        let single = [special(begin, 0), text("A", 0), special(end, 0)].concat();
        let pair = [
            special(first, 0),
            text("A", 0),
            special(behind_first, 0),
            special(second, 1),
            text("B", 1),
            special(behind_second, 1),
        ];
        let names: BTreeSet<_> = [begin, end, first, behind_first, second, behind_second]
            .into_iter()
            .copied()
            .flatten()
            .collect();
        let listed = |name: &&str| {
            Ok((name.to_string(), json!({"id": name, "ids": [id(name, ids)?], "tokens": [name]})))
        };
        let special_tokens = names.into_iter().map(listed).collect::<Result<Map<_, _>>>()?;
        Ok(json!({
            "type": "TemplateProcessing", "single": single, "pair": pair.concat(),
            "special_tokens": special_tokens
        }))
    }
}
