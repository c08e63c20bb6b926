//! Truncation and padding of a `tokenizer.json`.

use super::problem;
use crate::error::Result;
use crate::format::huggingface::schema;
use crate::template::{Padding, Side, Truncation, TruncationStrategy};

pub(super) fn truncation(truncation: schema::Truncation) -> Result<Truncation> {
    let schema::Truncation { direction, max_length, strategy, stride } = truncation;
    Ok(Truncation {
        max_length,
        stride,
        strategy: match strategy.as_str() {
            "LongestFirst" => TruncationStrategy::LongestFirst,
            "OnlyFirst" => TruncationStrategy::OnlyFirst,
            "OnlySecond" => TruncationStrategy::OnlySecond,
            _ => {
                let problem_is = format!("{strategy:?} is not understood");
                return Err(problem("truncation.strategy", problem_is));
            }
        },
        side: direction.map_or(Ok(Side::Right), |name| side(&name, "truncation.direction"))?,
    })
}

pub(super) fn padding(padding: schema::Padding) -> Result<Padding> {
    let schema::Padding { strategy, direction, pad_to_multiple_of, pad_id, pad_type_id, pad_token } =
        padding;
    Ok(Padding {
        length: match strategy {
            schema::PaddingStrategy::BatchLongest => None,
            schema::PaddingStrategy::Fixed(length) => Some(length),
        },
        multiple_of: pad_to_multiple_of,
        side: side(&direction, "padding.direction")?,
        id: pad_id,
        type_id: pad_type_id,
        token: pad_token,
    })
}

fn side(name: &str, field: &str) -> Result<Side> {
    match name {
        "Left" => Ok(Side::Left),
        "Right" => Ok(Side::Right),
        _ => Err(problem(field, format!("{name:?} is neither Left nor Right"))),
    }
}
