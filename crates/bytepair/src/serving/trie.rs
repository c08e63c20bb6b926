//! All tokens as a trie over their bytes, in four flat arrays.
//!
//! Nodes are in depth-first order, and the children of a node in the order of their bytes, so a node is followed by its
//! subtree. The ids are in the order of their bytes, then by number; this is also the order in which a walk meets them.
//! So the tokens of a node and those of its whole subtree are both slices of the ids, and any number of ids may have the
//! same bytes. Tokens without bytes are left out.
//!
//! Costs sorting the tokens, and 9 bytes for each node and 4 for each id.

use crate::tokenizer::TokenBytes;
use crate::vocabulary::TokenId;

/// A trie over the bytes of tokens. Node 0 is the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteTrie {
    /// By node: the byte that leads to it. 0 for the root.
    pub bytes: Vec<u8>,
    /// By node: the first node after its subtree.
    pub ends: Vec<u32>,
    /// By node: where the tokens of its subtree begin in `ids`. Those of node `n` itself end where those of node `n + 1`
    /// begin. The last entry is the number of ids.
    pub starts: Vec<u32>,
    /// The ids of all tokens that have bytes, in the order of their bytes.
    pub ids: Vec<TokenId>,
}

impl ByteTrie {
    /// The trie of these tokens.
    pub fn new(tokens: &TokenBytes) -> Self {
        let ids = (0..).take(tokens.classes.len());
        let mut ids: Vec<TokenId> = ids.filter(|&id| !tokens.get(id).is_empty()).collect();
        ids.sort_by_key(|&id| tokens.get(id));
        let mut trie = Self { bytes: vec![0], ends: vec![1], starts: vec![0], ids: Vec::new() };
        let (mut path, mut last) = (vec![0], &[][..]);
        for (start, &id) in (0..).zip(&ids) {
            let token = tokens.get(id);
            let n_shared = token.iter().zip(last).take_while(|(byte, other)| byte == other).count();
            path.truncate(n_shared + 1);
            for &byte in &token[n_shared..] {
                path.push(trie.bytes.len());
                trie.bytes.push(byte);
                trie.ends.push(0);
                trie.starts.push(start);
            }
            let end = short(trie.bytes.len());
            path.iter().for_each(|&node| trie.ends[node] = end);
            last = token;
        }
        trie.starts.push(short(ids.len()));
        Self { ids, ..trie }
    }
}

/// Saturates. A vocabulary with so many bytes is refused when it is made.
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::TokenClass;
    use proptest::prelude::*;

    fn tokens_of(rows: &[Vec<u8>]) -> TokenBytes {
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        TokenBytes {
            bytes: rows.concat(),
            offsets: std::iter::once(0).chain(ends).collect(),
            classes: vec![TokenClass::Text; rows.len()],
        }
    }

    proptest! {
        #[test]
        fn a_node_has_the_tokens_that_begin_with_its_path(
            rows in prop::collection::vec(prop::collection::vec(0_u8..3, 0..5), 0..20),
        ) {
            let trie = ByteTrie::new(&tokens_of(&rows));
            let (mut path, mut n_met) = (Vec::new(), 0);
            let slice = |from: u32, to: u32| trie.ids[from as usize..to as usize].to_vec();
            let mut open: Vec<u32> = Vec::new();
            for node in 0..trie.bytes.len() {
                while open.last().is_some_and(|&end| end as usize <= node) {
                    open.pop();
                    path.pop();
                }
                open.push(trie.ends[node]);
                if node > 0 { path.push(trie.bytes[node]); }
                let with = |is_it: &dyn Fn(&[u8]) -> bool| {
                    let ids = (0..).zip(&rows).filter(|(_, row)| !row.is_empty() && is_it(row));
                    let mut ids: Vec<TokenId> = ids.map(|(id, _)| id).collect();
                    ids.sort_by_key(|&id| (&rows[id as usize], id));
                    ids
                };
                let own = slice(trie.starts[node], trie.starts[node + 1]);
                n_met += own.len();
                prop_assert_eq!(own, with(&|row| row == path));
                let all = slice(trie.starts[node], trie.starts[trie.ends[node] as usize]);
                prop_assert_eq!(all, with(&|row| row.starts_with(&path)));
            }
            prop_assert_eq!(n_met, trie.ids.len());
        }
    }
}
