//! Tokenizers made from another: other lengths and templates, fewer merges, more added tokens.

use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::added::AddedToken;
use bytepair::template::Template;
use bytepair::template::{OffsetRules, Padding};
use bytepair::units::published_name;
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::convert::{self, Length, MaxLength, MultipleOf, Stride, TypeId, extract, number};
use crate::error::OrRaise;
use crate::template::{self, WrittenPiece, read_pieces};

#[pymethods]
impl CoreTokenizer {
    /// Return this tokenizer with truncation to a length; ``None`` takes it away.
    #[pyo3(signature = (max_length, *, stride=Stride(0), strategy="longest_first", side="right"), text_signature = "($self, max_length, *, stride=0, strategy='longest_first', side='right')")]
    fn _with_truncation(
        &self,
        max_length: Option<MaxLength>,
        stride: Stride,
        strategy: &str,
        side: &str,
    ) -> PyResult<Self> {
        let parts = self.0.parts();
        let truncation = template::truncation(max_length, stride, strategy, side)?;
        Self::made(self.0.with_lengths(parts.template.clone(), truncation, parts.padding.clone()))
    }

    /// Return this tokenizer with padding by the token of an id; ``None`` takes it away.
    #[pyo3(signature = (id, *, length=None, multiple_of=None, side="right", type_id=TypeId(0)), text_signature = "($self, id, *, length=None, multiple_of=None, side='right', type_id=0)")]
    fn _with_padding(
        &self,
        id: Option<&Bound<'_, PyAny>>,
        length: Option<Length>,
        multiple_of: Option<MultipleOf>,
        side: &str,
        type_id: TypeId,
    ) -> PyResult<Self> {
        let parts = self.0.parts();
        let padding = |id| {
            let token = parts.vocabulary.expect_token(id).or_raise()?;
            PyResult::Ok(Padding {
                length: length.map(|length| length.0),
                multiple_of: multiple_of.map(|multiple_of| multiple_of.0),
                side: template::side(side)?,
                id,
                type_id: type_id.0,
                token: published_name(&parts.units, token),
            })
        };
        let padding = id.map(|id| padding(convert::id(id)?)).transpose()?;
        Self::made(self.0.with_lengths(parts.template.clone(), parts.truncation.clone(), padding))
    }

    /// Return this tokenizer with other special tokens around one text and around two.
    fn _with_template(&self, single: Vec<WrittenPiece>, pair: Vec<WrittenPiece>) -> PyResult<Self> {
        let parts = self.0.parts();
        let template = Template { single: read_pieces(single), pair: read_pieces(pair) };
        Self::made(self.0.with_lengths(template, parts.truncation.clone(), parts.padding.clone()))
    }

    /// Return this tokenizer with spans that are the text of each token as it stands there.
    fn _with_plain_offsets(&self) -> Self {
        Self(Arc::new(self.0.with_offsets(OffsetRules::default())))
    }

    /// Return this tokenizer with fewer merges: so many, or those of a vocabulary of a size.
    fn _truncated(&self, vocab_size: Option<usize>, merges: Option<usize>) -> PyResult<Self> {
        let target = convert::target(vocab_size, merges)?;
        Self::made(self.0.truncated(target))
    }

    /// Return this tokenizer with more special tokens, each of which may name its id.
    fn _with_special_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let tokens = tokens.iter().map(|token| {
            let (name, id) = extract::<(String, Bound<'_, PyAny>)>("special token", token)?;
            let id =
                if id.is_none() { None } else { Some(number("the id of a special token", &id)?) };
            Ok((name, id))
        });
        let tokens = tokens.collect::<PyResult<Vec<(String, Option<TokenId>)>>>()?;
        Self::made(self.0.with_special_tokens(&tokens))
    }

    /// Each token with whether it is special, normalized, strips left and right, and is a word.
    fn _with_added_tokens(&self, tokens: Vec<(String, [bool; 5])>) -> PyResult<(Self, usize)> {
        let token = |(content, properties)| added_token(TokenId::default(), content, properties);
        let tokens: Vec<_> = tokens.into_iter().map(token).collect();
        let (changed, n_changed) = self.0.with_added_tokens(&tokens).or_raise()?;
        Ok((Self(Arc::new(changed)), n_changed))
    }

    /// Return this tokenizer with added tokens that have ids of their own, as other files name them.
    fn _with_tokens_at(&self, tokens: Vec<(TokenId, String, [bool; 5])>) -> PyResult<Self> {
        let token = |(id, content, properties)| added_token(id, content, properties);
        let tokens: Vec<_> = tokens.into_iter().map(token).collect();
        Self::made(self.0.with_tokens_at(&tokens))
    }

    /// The id, the content and the properties of each added token.
    #[getter]
    fn _added_tokens(&self) -> Vec<(TokenId, String, [bool; 5])> {
        let properties = |token: &AddedToken| {
            let AddedToken { special, normalized, lstrip, rstrip, single_word, .. } = *token;
            [special, normalized, lstrip, rstrip, single_word]
        };
        let tokens = self.0.parts().added.iter();
        tokens.map(|token| (token.id, token.content.clone(), properties(token))).collect()
    }
}

impl CoreTokenizer {
    /// The tokenizer that the core has made.
    pub(crate) fn made(tokenizer: bytepair::Result<Tokenizer>) -> PyResult<Self> {
        tokenizer.map(|tokenizer| Self(Arc::new(tokenizer))).or_raise()
    }
}

fn added_token(id: TokenId, content: String, properties: [bool; 5]) -> AddedToken {
    let [special, normalized, lstrip, rstrip, single_word] = properties;
    let own = AddedToken::default();
    AddedToken { id, content, special, normalized, lstrip, rstrip, single_word, ..own }
}
