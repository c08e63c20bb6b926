//! A tokenizer with fewer merges than before, or with more.
//!
//! With more, every id stays. With fewer, tokens after the removed ones get smaller ids, such as unknown and special
//! tokens; added tokens, template and padding that refer to them are adapted. Compiles the tokenizer again.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Parts, Tokenizer};
use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::template::{Padding, Template, TemplatePiece};
use crate::train::{Target, truncated};
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

impl Tokenizer {
    /// The tokenizer that training up to `target` gives on the corpus that this one was trained on.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use bytepair::{Dialect, PieceCounts, Target, Tokenizer, train};
    /// # let mut counts = PieceCounts::new();
    /// # counts.add(b"low lower", 5, None)?;
    /// # let dialect = Dialect::named("gpt2").unwrap();
    /// # let trained = |target| -> bytepair::Result<Tokenizer> {
    /// #     let options = dialect.train_options(target, vec![]);
    /// #     let trained = train(&counts, &dialect.units, &options, |_| Ok(ControlFlow::Continue(())))?;
    /// #     dialect.tokenizer(trained, &options)
    /// # };
    /// let (large, small) = (trained(Target::Merges(4))?, trained(Target::Merges(2))?);
    /// let cut = large.truncated(Target::Merges(2))?;
    /// assert_eq!(cut.parts().vocabulary.merges(), small.parts().vocabulary.merges());
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where the ids are in another order than training gives them, `target` is more than there is or less than
    /// there must be, or the template or the padding uses a token that would go.
    pub fn truncated(&self, target: Target) -> Result<Self> {
        self.renumbered(truncated(&self.parts.vocabulary, target)?)
    }

    /// This tokenizer with a vocabulary that was learned from its own: it has the same tokens at the same ids, and
    /// more after them. `special_tokens` are special: an added token that is there already keeps its id.
    ///
    /// # Errors
    /// Where the vocabulary lacks a token that another part uses.
    pub fn with_learned(&self, vocabulary: Vocabulary, special_tokens: &[String]) -> Result<Self> {
        let mut added = self.parts.added.clone();
        let is_special: HashSet<_> = special_tokens.iter().collect();
        for token in &mut added {
            token.special |= is_special.contains(&token.content);
        }
        let known: HashSet<_> =
            self.parts.added.iter().map(|token| token.content.as_str()).collect();
        for content in special_tokens.iter().filter(|name| !known.contains(name.as_str())) {
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            if let Some(id) = vocabulary.id(token) {
                let content = content.clone();
                added.push(AddedToken { id, content, special: true, ..AddedToken::default() });
            }
        }
        Self::new(Parts { vocabulary: Arc::new(vocabulary), added, ..self.parts.clone() })
    }

    /// This tokenizer with a vocabulary that has other ids.
    fn renumbered(&self, vocabulary: Vocabulary) -> Result<Self> {
        let earlier = &self.parts.vocabulary;
        let new_id = |id: TokenId| {
            let found = earlier.token(id).and_then(|token| vocabulary.id(token));
            found.ok_or_else(|| missing(earlier, id))
        };
        let mut added = self.parts.added.clone();
        for token in &mut added {
            token.id = new_id(token.id)?;
        }
        let template = Template {
            single: renumbered(&self.parts.template.single, new_id)?,
            pair: renumbered(&self.parts.template.pair, new_id)?,
        };
        let padding = self.parts.padding.clone().map(|padding| -> Result<Padding> {
            Ok(Padding { id: new_id(padding.id)?, ..padding })
        });
        let padding = padding.transpose()?;
        let vocabulary = Arc::new(vocabulary);
        Self::new(Parts { vocabulary, added, template, padding, ..self.parts.clone() })
    }
}

fn renumbered(
    pieces: &[TemplatePiece],
    new_id: impl Fn(TokenId) -> Result<TokenId>,
) -> Result<Vec<TemplatePiece>> {
    let piece = |piece: &TemplatePiece| {
        Ok(match piece {
            TemplatePiece::Text { .. } => piece.clone(),
            TemplatePiece::Special { ids, type_id, names } => {
                let ids = ids.iter().map(|&id| new_id(id)).collect::<Result<_>>()?;
                TemplatePiece::Special { ids, type_id: *type_id, names: names.clone() }
            }
        })
    };
    pieces.iter().map(piece).collect()
}

fn missing(earlier: &Vocabulary, id: TokenId) -> Error {
    let bytes = earlier.token(id).map(|token| token.bytes).unwrap_or_default();
    let token = String::from_utf8_lossy(bytes);
    let problem =
        format!("the token {token:?} would be removed, but the template or the padding uses it");
    Error::option("vocab_size", problem)
}
