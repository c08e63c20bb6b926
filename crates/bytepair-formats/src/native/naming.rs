//! Which field of a file its parser complains about.
//!
//! A parser of the whole file says where it stopped. So the fields are read one by one once more, which a file
//! that is sound never pays for. Left out: fields that are missing, unknown, or there twice, which the parser names itself.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::FORMAT;
use super::schema::{RoundRecord, StepRecord, TokenRecord};
use bytepair::Error;
use bytepair::added::AddedToken;
use bytepair::decode::Decode;
use bytepair::template::{OffsetRules, Padding, Template, Truncation};
use bytepair::units::Units;
use bytepair::vocabulary::TokenId;

/// The error of the first field whose value is not what it should be.
pub(super) fn bad_field(file: &[u8]) -> Option<Error> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(file) else { return None };
    fields.into_iter().find_map(|(name, value)| {
        let problem = problem(&name, value)?;
        Some(Error::format(FORMAT, name, problem.to_string()))
    })
}

fn problem(name: &str, value: Value) -> Option<serde_json::Error> {
    match name {
        "format" | "unicode" => problem_of::<String>(value),
        "version" => problem_of::<u32>(value),
        "normalizer" => problem_of::<Vec<StepRecord>>(value),
        "rounds" => problem_of::<Vec<RoundRecord>>(value),
        "units" => problem_of::<Units>(value),
        "ignore_merges" => problem_of::<bool>(value),
        "dropout" => problem_of::<Option<f64>>(value),
        "template" => problem_of::<Template>(value),
        "truncation" => problem_of::<Option<Truncation>>(value),
        "padding" => problem_of::<Option<Padding>>(value),
        "offsets" => problem_of::<OffsetRules>(value),
        "decode" => problem_of::<Decode>(value),
        "added_tokens" => problem_of::<Vec<AddedToken>>(value),
        "tokens" => problem_of::<Vec<Option<TokenRecord>>>(value),
        "merges" => problem_of::<Vec<[TokenId; 3]>>(value),
        "priorities" => problem_of::<Vec<u32>>(value),
        "merge_counts" => problem_of::<Vec<i64>>(value),
        _ => None,
    }
}

fn problem_of<T: DeserializeOwned>(value: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(value).err()
}
