//! What ids stand for.

use bytepair::units::published_name;
use bytepair::{TokenId, TokenKind, Tokenizer};
use serde_json::{Map, Value, json};

use crate::message::Answer;
use crate::problem::Problem;

/// The tokens of ids, in their order.
pub(crate) fn tokens(tokenizer: &Tokenizer, ids: &[TokenId]) -> Result<Answer, Problem> {
    let tokens = ids.iter().map(|&id| {
        let mut token = known(tokenizer, id)?;
        token["id"] = id.into();
        Ok(token)
    });
    let tokens = tokens.collect::<Result<Vec<_>, Problem>>()?;
    Ok(Answer::new(json!({ "tokens": tokens })))
}

/// The tokens of ids, by id. An id that stands for nothing is left out.
pub(crate) fn by_id(tokenizer: &Tokenizer, ids: impl IntoIterator<Item = TokenId>) -> Value {
    let mut tokens = Map::new();
    for id in ids {
        if let Ok(token) = known(tokenizer, id) {
            tokens.insert(id.to_string(), token);
        }
    }
    tokens.into()
}

fn known(tokenizer: &Tokenizer, id: TokenId) -> Result<Value, Problem> {
    let parts = tokenizer.parts();
    let token = parts.vocabulary.expect_token(id)?;
    let kind = match token.kind {
        TokenKind::Text(_) => "text",
        TokenKind::Byte => "byte",
        TokenKind::Unknown => "unknown",
        TokenKind::Added | TokenKind::Hole => "added",
    };
    let name = published_name(&parts.units, token);
    Ok(json!({ "bytes": token.bytes, "name": name, "kind": kind }))
}
