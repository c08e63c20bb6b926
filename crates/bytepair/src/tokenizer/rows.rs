//! Rows of a column to ids as files hold them.
//!
//! With one thread each row is laid out while its ids are at hand, so nothing but the result is as long as the batch;
//! with several, all are encoded first. Costs what encoding costs, and a pass over the ids.

use super::{AddedTokens, EncodeOptions, Tokenizer};
use crate::documents::rows::{Layout, Tokens};
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

impl Tokenizer {
    /// The ids of rows, special tokens being plain text, and all added tokens if so wanted, laid out with marks in the
    /// width of `T`.
    ///
    /// # Errors
    /// As for one text, where the error says which one, and where an id does not fit `T`.
    pub fn encode_rows<T: TryFrom<TokenId>>(
        &self,
        rows: &[&[u8]],
        mut layout: Layout<T, impl Fn(TokenId) -> T>,
        added_tokens: AddedTokens,
        n_threads: usize,
    ) -> Result<Tokens<T>> {
        let options = EncodeOptions { added_tokens, ..EncodeOptions::default() };
        if n_threads > 1 {
            let batch = self.encode_batch(rows, options, n_threads)?;
            let mut rows = batch.offsets.windows(2);
            rows.try_for_each(|row| layout.push(&batch.ids[row[0]..row[1]]))?;
            return layout.finish();
        }
        let call = self.call(options)?;
        let mut ids = Vec::new();
        call.tokenizer.with_team(1, |team| {
            rows.iter().enumerate().try_for_each(|(index, row)| {
                ids.clear();
                let encoded = call.encode(row, index as u64, &mut ids, team);
                encoded.map_err(|error| ErrorKind::InBatch { index, error })?;
                layout.push(&ids)
            })
        })?;
        layout.finish()
    }
}
