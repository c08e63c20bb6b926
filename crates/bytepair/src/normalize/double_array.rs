//! Keys with values to a double array, as `charsmap` walks it.
//!
//! Equal subtrees are laid out once: letters of many styles share what becomes of the marks after them. Each node gets a
//! base: the byte `b` of a key leads to the unit `base ^ b`, and a value is at `base ^ 0`. No two nodes share a base, so
//! that a unit's label says to which node it belongs. Unused units of a block of 256 get a label to which no base of the block
//! leads. Free units are searched for only in the last blocks, so the time is about linear.

use std::collections::HashMap;

/// Where a node's value or child lies.
const BLOCK: usize = 256;

/// How many blocks at the end are searched.
const N_OPEN: usize = 16;

/// The largest offset without a scale.
const MAX_OFFSET: usize = 1 << 21;

const VALUE_BIT: u32 = 1 << 31;
const ENDS_KEY: u32 = 1 << 8;

/// A node: its value, and its children by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    value: Option<u32>,
    children: Vec<(u8, usize)>,
}

/// The units of a map; `None` where it does not fit. The keys ascend and are neither empty nor have a NUL in them.
pub(super) fn double_array(keys: &[(&[u8], u32)]) -> Option<Vec<u32>> {
    let mut nodes = Nodes::default();
    let root = nodes.of(keys, 0);
    let mut rows = Rows::default();
    let mut bases = vec![None; nodes.all.len()];
    // The root's unit is the first.
    rows.grow();
    (rows.is_taken[0], rows.is_base[0]) = (true, true);
    let mut open = vec![root];
    bases[root] = Some(rows.place(&nodes.all[root])?);
    while let Some(parent) = open.pop() {
        for &(_, child) in &nodes.all[parent].children {
            if bases[child].is_none() {
                bases[child] = Some(rows.place(&nodes.all[child])?);
                open.push(child);
            }
        }
    }
    let base = |node: usize| bases[node].unwrap_or_default();
    rows.units[0] = offset_bits(base(root));
    for (parent, node) in nodes.all.iter().enumerate() {
        for &(byte, child) in &node.children {
            let place = base(parent) ^ usize::from(byte);
            let ends = if nodes.all[child].value.is_some() { ENDS_KEY } else { 0 };
            rows.units[place] = u32::from(byte) | ends | offset_bits(place ^ base(child));
        }
        if let Some(value) = node.value {
            rows.units[base(parent)] = VALUE_BIT | value;
        }
    }
    rows.label_the_rest();
    Some(rows.units)
}

#[expect(clippy::cast_possible_truncation, reason = "offsets are less than MAX_OFFSET")]
fn offset_bits(offset: usize) -> u32 {
    (offset as u32) << 10
}

/// Nodes that are all different.
#[derive(Default)]
struct Nodes {
    all: Vec<Node>,
    places: HashMap<Node, usize>,
}

impl Nodes {
    /// The node of keys that share their first bytes.
    fn of(&mut self, mut keys: &[(&[u8], u32)], n_shared: usize) -> usize {
        let mut node = Node::default();
        if let Some(((key, value), rest)) = keys.split_first()
            && key.len() == n_shared
        {
            node.value = Some(*value);
            keys = rest;
        }
        for group in keys.chunk_by(|one, other| one.0[n_shared] == other.0[n_shared]) {
            node.children.push((group[0].0[n_shared], self.of(group, n_shared + 1)));
        }
        if let Some(&place) = self.places.get(&node) {
            return place;
        }
        self.all.push(node.clone());
        self.places.insert(node, self.all.len() - 1);
        self.all.len() - 1
    }
}

/// Units in blocks, with what is taken of them.
#[derive(Default)]
struct Rows {
    units: Vec<u32>,
    is_taken: Vec<bool>,
    is_base: Vec<bool>,
}

impl Rows {
    fn grow(&mut self) {
        let n_units = self.units.len() + BLOCK;
        self.units.resize(n_units, 0);
        self.is_taken.resize(n_units, false);
        self.is_base.resize(n_units, false);
    }

    /// A base for a node, whose units are taken then.
    fn place(&mut self, node: &Node) -> Option<usize> {
        let bytes: Vec<usize> = std::iter::repeat_n(0, usize::from(node.value.is_some()))
            .chain(node.children.iter().map(|(byte, _)| usize::from(*byte)))
            .collect();
        let first = *bytes.first().unwrap_or(&0);
        let fits = |rows: &Self, base: usize| {
            !rows.is_base[base] && bytes.iter().all(|byte| !rows.is_taken[base ^ byte])
        };
        let start = self.units.len().saturating_sub(N_OPEN * BLOCK);
        let free = (start..self.units.len()).filter(|&place| !self.is_taken[place]);
        let found = free.map(|place| place ^ first).find(|&base| fits(self, base));
        let base = found.unwrap_or_else(|| {
            self.grow();
            self.units.len() - BLOCK
        });
        if base >= MAX_OFFSET - BLOCK {
            return None;
        }
        self.is_base[base] = true;
        bytes.iter().for_each(|byte| self.is_taken[base ^ byte] = true);
        Some(base)
    }

    /// Labels units that are left over, so that no base leads to them.
    fn label_the_rest(&mut self) {
        for block in (0..self.units.len()).step_by(BLOCK) {
            let Some(unused) = (0..BLOCK).find(|place| !self.is_base[block + place]) else {
                continue;
            };
            for place in (0..BLOCK).filter(|place| !self.is_taken[block + place]) {
                self.units[block + place] = u32::try_from(place ^ unused).unwrap_or_default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::CharsMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_map_has_its_keys_and_no_others(
            keys in prop::collection::btree_map("[abé가]{1,4}|[\u{1}-\u{10FFFF}]{1,3}", "[xyé]{0,3}", 0..300),
            texts in prop::collection::vec("[abé가\0]{0,6}", 20),
        ) {
            let map = CharsMap::of_keys(&keys).unwrap();
            let found = map.keys().unwrap();
            let expected: Vec<_> =
                keys.iter().map(|(key, value)| (key.clone().into_bytes(), value.as_str())).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(CharsMap::parse(&map.to_bytes()).unwrap(), map.clone());
            for text in texts.iter().chain(keys.keys()) {
                let ends = (1..=text.len()).filter(|&end| text.is_char_boundary(end));
                let longest = ends.rev().find_map(|end| Some((end, keys.get(&text[..end])?.as_str())));
                prop_assert_eq!(map.longest(text.as_bytes()), longest);
            }
        }
    }

    /// A block that is full has no base to spare, and a byte that no key has leads nowhere.
    #[test]
    fn full_blocks_and_odd_bytes_lead_nowhere() {
        let letters = '\u{1}'..'\u{80}';
        let pairs = letters.clone().flat_map(|one| letters.clone().map(move |other| [one, other]));
        let keys: BTreeMap<String, String> =
            pairs.map(|pair| (pair.iter().collect(), pair[1].to_string())).collect();
        let map = CharsMap::of_keys(&keys).unwrap();
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let is_key = (1..0x80).contains(&first) && (1..0x80).contains(&second);
                assert_eq!(map.longest(&[first, second]).is_some(), is_key);
            }
        }
        assert!(map.to_bytes().len() < 4096);
    }
}
