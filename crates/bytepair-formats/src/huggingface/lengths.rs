//! Truncation and padding of a `tokenizer.json`.

use serde_json::{Value, json};

use super::node::Node;
use bytepair::Result;
use bytepair::template::{Padding, Side, Truncation, TruncationStrategy};

const STRATEGIES: &[(&str, TruncationStrategy)] = &[
    ("LongestFirst", TruncationStrategy::LongestFirst),
    ("OnlyFirst", TruncationStrategy::OnlyFirst),
    ("OnlySecond", TruncationStrategy::OnlySecond),
];

const SIDES: &[(&str, Side)] = &[("Left", Side::Left), ("Right", Side::Right)];

pub(super) fn truncation(node: &Node<'_>) -> Result<Truncation> {
    Ok(Truncation {
        max_length: node.required("max_length")?.whole()?,
        stride: node.required("stride")?.whole()?,
        strategy: node.required("strategy")?.one_of(STRATEGIES)?,
        side: node.get("direction")?.map_or(Ok(Side::Right), |field| field.one_of(SIDES))?,
    })
}

pub(super) fn padding(node: &Node<'_>) -> Result<Padding> {
    let multiple_of = node.optional("pad_to_multiple_of")?;
    Ok(Padding {
        length: length(&node.required("strategy")?)?,
        multiple_of: multiple_of.map(|field| field.whole()).transpose()?,
        side: node.required("direction")?.one_of(SIDES)?,
        id: node.required("pad_id")?.whole()?,
        type_id: node.required("pad_type_id")?.whole()?,
        token: node.required("pad_token")?.text()?.to_owned(),
    })
}

/// A length, or `None` for that of the longest text.
fn length(strategy: &Node<'_>) -> Result<Option<usize>> {
    match strategy.variant()? {
        ("BatchLongest", None) => Ok(None),
        ("Fixed", Some(length)) => length.whole().map(Some),
        _ => Err(strategy.problem(r#"expected "BatchLongest" or {"Fixed": …}"#)),
    }
}

/// A truncation as the file has it.
pub(super) fn truncation_value(truncation: &Truncation) -> Value {
    let Truncation { max_length, stride, strategy, side } = truncation;
    let strategy = match strategy {
        TruncationStrategy::LongestFirst => "LongestFirst",
        TruncationStrategy::OnlyFirst => "OnlyFirst",
        TruncationStrategy::OnlySecond => "OnlySecond",
    };
    json!({
        "direction": direction(*side),
        "max_length": max_length,
        "strategy": strategy,
        "stride": stride,
    })
}

/// A padding as the file has it.
pub(super) fn padding_value(padding: &Padding) -> Value {
    let Padding { length, multiple_of, side, id, type_id, token } = padding;
    json!({
        "strategy": length.map_or_else(|| json!("BatchLongest"), |length| json!({"Fixed": length})),
        "direction": direction(*side),
        "pad_to_multiple_of": multiple_of,
        "pad_id": id,
        "pad_type_id": type_id,
        "pad_token": token,
    })
}

fn direction(side: Side) -> &'static str {
    match side {
        Side::Left => "Left",
        Side::Right => "Right",
    }
}
