//! Templates and rules of spans to the post-processor of a `tokenizer.json`.

use serde_json::{Map, Value, json};

use super::Names;
use bytepair::Parts;
use bytepair::Result;
use bytepair::template::{OffsetRules, Sequence, Template, TemplatePiece};
use bytepair::vocabulary::TokenId;

pub(super) fn post_processor(parts: &Parts, names: &Names) -> Result<Value> {
    let OffsetRules { trim, prefix_space } = parts.offsets;
    let byte_level = json!({
        "type": "ByteLevel",
        "add_prefix_space": prefix_space,
        "trim_offsets": trim,
        "use_regex": false,
    });
    if parts.template == Template::default() {
        return Ok(if trim || parts.units.is_bytes() { byte_level } else { Value::Null });
    }
    let mut special_tokens = Map::new();
    let Template { single, pair } = &parts.template;
    let template = json!({
        "type": "TemplateProcessing",
        "single": pieces(single, names, &mut special_tokens)?,
        "pair": pieces(pair, names, &mut special_tokens)?,
        "special_tokens": special_tokens,
    });
    Ok(match trim {
        true => json!({"type": "Sequence", "processors": [byte_level, template]}),
        false => template,
    })
}

fn pieces(
    pieces: &[TemplatePiece],
    names: &Names,
    special_tokens: &mut Map<String, Value>,
) -> Result<Vec<Value>> {
    let piece = |piece: &TemplatePiece| {
        Ok(match piece {
            TemplatePiece::Text { which, type_id } => {
                let id = match which {
                    Sequence::First => "A",
                    Sequence::Second => "B",
                };
                json!({"Sequence": {"id": id, "type_id": type_id}})
            }
            TemplatePiece::Special { ids, type_id, names: own } => {
                let id = special(ids, own, names, special_tokens)?;
                json!({"SpecialToken": {"id": id, "type_id": type_id}})
            }
        })
    };
    pieces.iter().map(piece).collect()
}

/// Enters special tokens, and gives the name under which they stand.
///
/// Several together are named by their names, and where another row is named so, with a number behind.
fn special(
    ids: &[TokenId],
    own: &[String],
    names: &Names,
    entered: &mut Map<String, Value>,
) -> Result<String> {
    let tokens: Vec<&str> = match own {
        [] => ids.iter().map(|&id| names.get(id)).collect::<Result<_>>()?,
        own => own.iter().map(String::as_str).collect(),
    };
    let mut name = tokens.concat();
    loop {
        let entry = json!({"id": name, "ids": ids, "tokens": tokens});
        match entered.get(&name) {
            None => {
                entered.insert(name.clone(), entry);
                return Ok(name);
            }
            Some(known) if *known == entry => return Ok(name),
            Some(_) => name.push('+'),
        }
    }
}
