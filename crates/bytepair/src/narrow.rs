//! Ids as numbers of two bytes, for vocabularies of at most 65,536 ids: half of the memory, and half of the time that a
//! system takes to hand it out.
//!
//! Takes a pass over the ids, several of them at once.

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// Appends ids to numbers of two bytes.
///
/// # Errors
/// Where an id is larger. Nothing was appended then.
pub fn append_narrow(ids: &[TokenId], numbers: &mut Vec<u16>) -> Result<()> {
    // Has a bit beyond sixteen if any id has one.
    let bits = ids.iter().fold(0, |bits, id| bits | id);
    if u16::try_from(bits).is_err() {
        let large = ids.iter().find(|&&id| u16::try_from(id).is_err()).unwrap_or(&bits);
        return Err(Error::option("dtype", format!("the id {large} does not fit uint16")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "all of them fit")]
    numbers.extend(ids.iter().map(|&id| id as u16));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_one_id_after_the_other(
            before: Vec<u16>,
            ids in prop::collection::vec(prop_oneof![60 => 0..65_536_u32, 1 => 65_530..70_000_u32], 0..200),
        ) {
            let mut numbers = before.clone();
            let expected: Option<Vec<u16>> = ids.iter().map(|&id| u16::try_from(id).ok()).collect();
            let appended = append_narrow(&ids, &mut numbers);
            prop_assert_eq!(appended.is_ok(), expected.is_some());
            prop_assert_eq!(numbers, [before, expected.unwrap_or_default()].concat());
            if let Err(error) = appended {
                let large = ids.iter().find(|&&id| id > 65_535).unwrap();
                prop_assert_eq!(error.to_string(), format!("dtype: the id {large} does not fit uint16"));
            }
        }
    }
}
