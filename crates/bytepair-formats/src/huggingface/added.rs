//! The added tokens of a `tokenizer.json`, as they are listed there. Which ids they get is found in `vocabulary`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::file::{File, tree};
use super::node::{Node, Repeated};
use bytepair::added::AddedToken;
use bytepair::vocabulary::TokenId;
use bytepair::{Parts, Result};

/// An added token as it is listed.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the format")]
pub(super) struct Added {
    #[serde(rename = "id")]
    pub(super) _id: TokenId,
    pub(super) content: String,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) normalized: bool,
    pub(super) special: bool,
}

impl Added {
    /// The added token at a place.
    pub(super) fn of(node: &Node<'_>) -> Result<Self> {
        let flag = |field: &str| node.required(field)?.flag();
        Ok(Self {
            _id: node.required("id")?.whole()?,
            content: node.required("content")?.text()?.to_owned(),
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
            normalized: flag("normalized")?,
            special: flag("special")?,
        })
    }
}

/// The entries of the added tokens, which may be many.
pub(super) fn listed(file: &File<'_>) -> Result<Vec<Added>> {
    let mut listed = Vec::new();
    for value in file.all("added_tokens") {
        if let Ok(tokens) = serde_json::from_str(value.get()) {
            listed = tokens;
            continue;
        }
        let tree = tree("added_tokens", value)?;
        let tokens = Node::new("added_tokens", &tree, Repeated::Refused).items()?;
        listed = tokens.iter().map(Added::of).collect::<Result<_>>()?;
    }
    Ok(listed)
}

/// The list of the added tokens of a tokenizer.
pub(super) fn added_tokens(parts: &Parts) -> Vec<Value> {
    let mut added: Vec<&AddedToken> = parts.added.iter().collect();
    added.sort_by_key(|token| token.id);
    let record = |token: &AddedToken| {
        json!({
            "id": token.id,
            "content": token.content,
            "single_word": token.single_word,
            "lstrip": token.lstrip,
            "rstrip": token.rstrip,
            "normalized": token.normalized,
            "special": token.special,
        })
    };
    added.into_iter().map(record).collect()
}
