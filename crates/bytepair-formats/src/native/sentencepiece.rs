//! What SentencePiece does to a text and to tokens, as a `.bytepair` file says it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::FORMAT;
use super::schema::SentencePieceRecord;
use bytepair::normalize::{CharsMap, SentencePiece, SentencePieceRules};
use bytepair::{Error, Result};

impl From<&SentencePieceRules> for SentencePieceRecord {
    fn from(rules: &SentencePieceRules) -> Self {
        let SentencePieceRules {
            characters,
            verbatim,
            adds_space,
            removes_extra_spaces,
            escapes_spaces,
            space_is_suffix,
        } = rules.clone();
        let charsmap = characters.map(|map| STANDARD.encode(map.to_bytes())).unwrap_or_default();
        Self {
            charsmap,
            verbatim,
            adds_space,
            removes_extra_spaces,
            escapes_spaces,
            space_is_suffix,
        }
    }
}

impl SentencePieceRecord {
    pub(super) fn into_step(self) -> Result<SentencePiece> {
        let problem = |_| Error::format(FORMAT, "normalizer", "charsmap is not base64");
        let characters = match self.charsmap.as_str() {
            "" => None,
            digits => Some(CharsMap::parse(&STANDARD.decode(digits).map_err(problem)?)?),
        };
        SentencePiece::new(SentencePieceRules {
            characters,
            verbatim: self.verbatim,
            adds_space: self.adds_space,
            removes_extra_spaces: self.removes_extra_spaces,
            escapes_spaces: self.escapes_spaces,
            space_is_suffix: self.space_is_suffix,
        })
    }
}
