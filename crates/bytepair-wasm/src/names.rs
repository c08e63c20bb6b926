//! The names to choose from, the properties of a tokenizer, and the tokens of ids.

use bytepair::Tokenizer;
use bytepair::dialect::Dialect;
use bytepair::units::published_name;
use bytepair::vocabulary::{TokenId, TokenKind};
use bytepair_formats::encodings;
use serde_json::{Value, json};

use crate::message::Opened;

/// The dialects, patterns and published encodings that have names.
pub(crate) fn names() -> Value {
    let dialects = Dialect::names().filter_map(|name| {
        let dialect = Dialect::named(name)?;
        Some(json!({
            "name": name, "units": if dialect.units.is_bytes() { "bytes" } else { "characters" },
            "pattern": pattern_of(&dialect.split), "ties": dialect.ties, "min_count": dialect.min_count,
        }))
    });
    let patterns = bytepair::split::names().filter_map(|name| {
        let stages = bytepair::split::named(name)?;
        Some(json!({ "name": name, "pattern": pattern_of(&stages) }))
    });
    json!({
        "dialects": dialects.collect::<Vec<_>>(), "patterns": patterns.collect::<Vec<_>>(),
        "encodings": encodings::names().collect::<Vec<_>>(),
    })
}

/// The pattern of some stages, one line for each; `None` if nothing is cut.
fn pattern_of(stages: &[bytepair::split::Stage]) -> Option<String> {
    let sources: Vec<_> = stages.iter().map(|stage| stage.pattern.source.as_str()).collect();
    (!sources.is_empty()).then(|| sources.join("\n"))
}

/// The properties of a tokenizer.
pub(crate) fn info(opened: &Opened) -> Value {
    let Opened { tokenizer, name, format, .. } = opened;
    let vocabulary = &tokenizer.parts().vocabulary;
    let rows = tokenizer.describe();
    let is_lossless = rows.iter().any(|(part, words)| *part == "loses" && words == "nothing");
    let dialect = Dialect::of(tokenizer).ok();
    let n_tokens = vocabulary.iter().filter(|(_, token)| token.kind != TokenKind::Hole).count();
    json!({
        "name": name, "format": format, "n_vocab": vocabulary.len(), "n_tokens": n_tokens,
        "n_merges": vocabulary.n_merges(), "dialect": dialect.as_ref().and_then(Dialect::name),
        "pattern": dialect.and_then(|dialect| pattern_of(&dialect.split)),
        "rows": rows, "special": special(tokenizer), "lossless": is_lossless,
    })
}

fn special(tokenizer: &Tokenizer) -> Vec<(&str, u32)> {
    let added = tokenizer.parts().added.iter().filter(|token| token.special);
    added.map(|token| (token.content.as_str(), token.id)).collect()
}

/// The tokens of ids, by id. Ids without a token are left out.
pub(crate) fn by_id(tokenizer: &Tokenizer, ids: impl IntoIterator<Item = TokenId>) -> Value {
    let parts = tokenizer.parts();
    let known = |id| {
        let token = parts.vocabulary.token(id)?;
        let kind = match token.kind {
            TokenKind::Text(_) => "text",
            TokenKind::Byte => "byte",
            TokenKind::Unknown => "unknown",
            TokenKind::Added | TokenKind::Hole => "added",
        };
        let name = published_name(&parts.units, token);
        Some((id.to_string(), json!({ "bytes": token.bytes, "name": name, "kind": kind })))
    };
    Value::Object(ids.into_iter().filter_map(known).collect())
}
