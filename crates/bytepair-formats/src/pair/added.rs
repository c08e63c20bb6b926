//! The added tokens that settings name, in the order of their ids, and which of them has which role.
//!
//! `tokenizer_config.json` goes before `special_tokens_map.json`; a role that neither mentions is the class's. A token
//! that the vocabulary lacks gets the next free id; settings that list it with another id are refused. Takes O(n log n)
//! time for n tokens.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::classes::Class;
use super::{ADDED_TOKENS, CONFIG, FORMAT, Pair, SPECIAL_TOKENS};
use crate::gpt2::END_OF_TEXT;
use crate::huggingface::Added;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// The ids of tokens by their names.
pub(super) type Ids<'n> = HashMap<&'n str, TokenId>;

/// Roles in the order in which their tokens get ids.
const ROLES: [&str; 7] = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"];

/// A token as settings describe it, where they give more than its content.
#[derive(Deserialize)]
struct Described {
    content: String,
    single_word: Option<bool>,
    lstrip: Option<bool>,
    rstrip: Option<bool>,
    normalized: Option<bool>,
    special: Option<bool>,
}

/// The tokens of one tokenizer. Their ids are given last.
pub(super) struct AddedTokens {
    tokens: Vec<Added>,
    places: HashMap<String, usize>,
    roles: HashMap<&'static str, String>,
    /// The ids that settings give, and the file that gives them.
    listed: HashMap<String, u64>,
    listed_in: &'static str,
}

impl AddedTokens {
    /// The tokens that the settings of a pair and its class name. A class without roles has GPT-2's special token, if the
    /// vocabulary has it.
    pub(super) fn of(
        pair: &Pair<'_>,
        config: &Map<String, Value>,
        class: &Class,
        ids: &Ids<'_>,
    ) -> Result<Self> {
        let mut settings = pair.object(SPECIAL_TOKENS)?;
        settings.extend(config.iter().map(|(name, value)| (name.clone(), value.clone())));
        let listed = config.get("added_tokens_decoder").filter(|listed| !listed.is_null());
        let by_id = match listed {
            Some(listed) => listed_by_id(listed)?,
            None => named_by_id(&pair.object(ADDED_TOKENS)?)?,
        };
        let mut added = Self {
            tokens: Vec::new(),
            places: HashMap::new(),
            roles: HashMap::new(),
            listed: HashMap::new(),
            listed_in: if listed.is_some() { CONFIG } else { ADDED_TOKENS },
        };
        for (id, token) in &by_id {
            let token = listed_token(token, false)?;
            added.listed.insert(token.content.clone(), *id);
            added.replace(token);
        }
        for role in ROLES {
            let token = match settings.get(&format!("{role}_token")) {
                Some(token) => token.clone(),
                None => {
                    class.roles.get(role).map_or(Value::Null, |content| content.as_str().into())
                }
            };
            if token.is_null() {
                continue;
            }
            let takes_space = role == "mask" && class.mask_takes_space && token.is_string();
            let mut token = listed_token(&token, true)?;
            token.lstrip |= takes_space;
            added.roles.insert(role, token.content.clone());
            if listed.is_none() && added.contains(&token.content) {
                added.replace(Added { special: true, ..token });
            } else {
                added.make_special(token);
            }
        }
        for name in ["additional_special_tokens", "extra_special_tokens"] {
            for token in list_of(&settings, name)? {
                added.make_special(listed_token(token, true)?);
            }
        }
        if class.roles.is_empty() && ids.contains_key(END_OF_TEXT) {
            added.make_special(listed_token(&END_OF_TEXT.into(), true)?);
        }
        Ok(added)
    }

    /// Whether there is a token of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The token of a role.
    pub(super) fn of_role(&self, role: &str) -> Option<&str> {
        self.roles.get(role).map(String::as_str)
    }

    /// Gives the next ids to tokens that have none.
    ///
    /// # Errors
    /// If no ids are left, or a token is listed with another id than it has.
    pub(super) fn number<'n>(&'n self, ids: &mut Ids<'n>) -> Result<()> {
        let no_ids = || Error::format(FORMAT, "vocab.json", "leaves no id for an added token");
        let mut next = ids.values().max().map_or(Some(0), |last| last.checked_add(1));
        for token in &self.tokens {
            let content = token.content.as_str();
            let (id, origin) = match ids.get(content) {
                Some(id) => (*id, "is its id in vocab.json"),
                None => (next.ok_or_else(no_ids)?, "is the next free one"),
            };
            let listed = self.listed.get(content).filter(|listed| **listed != u64::from(id));
            if let Some(listed) = listed {
                let problem = format!(
                    "{content:?} is listed with the id {listed}, but {id} {origin}; correct the file, or write a \
                     tokenizer.json that has the token"
                );
                return Err(Error::format(FORMAT, self.listed_in, problem));
            }
            if ids.insert(content, id).is_none() {
                next = id.checked_add(1);
            }
        }
        Ok(())
    }

    /// The list of a `tokenizer.json`, with ids that [`Self::number`] gave.
    pub(super) fn written(&self, ids: &Ids<'_>) -> Vec<Added> {
        let id = |token: &Added| ids.get(token.content.as_str()).copied().unwrap_or_default();
        self.tokens.iter().map(|token| Added { id: id(token), ..token.clone() }).collect()
    }

    /// Puts a token in the place of the one of its name, or after all.
    fn replace(&mut self, token: Added) {
        if let Some(&place) = self.places.get(&token.content) {
            self.tokens[place] = token;
            return;
        }
        self.places.insert(token.content.clone(), self.tokens.len());
        self.tokens.push(token);
    }

    /// Makes the token of this name special, or puts this one after all.
    fn make_special(&mut self, token: Added) {
        match self.places.get(&token.content) {
            Some(&place) => self.tokens[place].special = true,
            None => self.replace(Added { special: true, ..token }),
        }
    }
}

/// The list of a setting. `extra_special_tokens` may also be an object, which names the tokens' roles.
fn list_of<'s>(settings: &'s Map<String, Value>, name: &str) -> Result<Vec<&'s Value>> {
    match settings.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(tokens)) => Ok(tokens.iter().collect()),
        Some(Value::Object(tokens)) if name == "extra_special_tokens" => {
            Ok(tokens.values().collect())
        }
        Some(other) => {
            let problem = format!("{name} is {other}; it must be a list");
            Err(Error::format(FORMAT, CONFIG, problem))
        }
    }
}

/// A token, which is special if `special` and it does not say otherwise.
fn listed_token(token: &Value, special: bool) -> Result<Added> {
    let problem = || {
        let problem =
            format!("{token} is not an added token: expected a string, or an object with content");
        Error::format(FORMAT, "added tokens", problem)
    };
    let described = match token {
        Value::String(content) => Value::from_iter([("content", content.as_str())]),
        other => other.clone(),
    };
    let described: Described = serde_json::from_value(described).map_err(|_| problem())?;
    let special = described.special.unwrap_or(special);
    Ok(Added {
        id: 0,
        content: described.content,
        single_word: described.single_word == Some(true),
        lstrip: described.lstrip == Some(true),
        rstrip: described.rstrip == Some(true),
        normalized: described.normalized.unwrap_or(!special),
        special,
    })
}

/// The tokens of an `added_tokens_decoder`, in the order of their ids.
fn listed_by_id(listed: &Value) -> Result<BTreeMap<u64, Value>> {
    let problem = |what: String| {
        Error::format(FORMAT, CONFIG, format!("added_tokens_decoder is not understood: {what}"))
    };
    let Some(listed) = listed.as_object() else {
        return Err(problem("expected an object of ids and tokens".to_owned()));
    };
    let token = |(id, token): (&String, &Value)| match id.parse() {
        Ok(id) => Ok((id, token.clone())),
        Err(_) => Err(problem(format!("{id:?} is not an id"))),
    };
    listed.iter().map(token).collect()
}

/// The tokens of `added_tokens.json`, in the order of their ids.
fn named_by_id(named: &Map<String, Value>) -> Result<BTreeMap<u64, Value>> {
    let token = |(name, id): (&String, &Value)| match id.as_u64() {
        Some(id) => Ok((id, Value::from(name.as_str()))),
        None => {
            Err(Error::format(FORMAT, ADDED_TOKENS, format!("{id} is not an id, for {name:?}")))
        }
    };
    named.iter().map(token).collect()
}
