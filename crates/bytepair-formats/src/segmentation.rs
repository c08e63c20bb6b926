//! Text to text with its words cut apart, as subword-nmt and fastBPE write it: `lo@@ w`.
//!
//! Each line keeps the spaces around it; words are what stands between spaces, and runs of spaces become one.
//! A word is merged by [`Codes`]; with a vocabulary, parts that it lacks are taken apart again. A
//! separator follows every part but the last. Left out: glossaries, which are words of the caller, and
//! ids, which a [`Tokenizer`](bytepair::Tokenizer) of the same codes gives.
//!
//! Codes in which every merge builds on earlier ones are executed by the encoder; others, and all with dropout, in rounds,
//! as the programs do from which such codes come. The best pair of a round is the one whose merge comes first, among those
//! that chance does not leave out. Its occurrences are joined from left to right, except those that overlap with one just
//! joined. A round without any pair ends the word.
//!
//! Both take O(n log n) for a word of n characters, as pairs wait by rank and place; rounds, times 1 / (1 - p) if pairs are
//! left out with probability p. The definition, which looks at all pairs in each round, is in the tests.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::codes::{Codes, END_OF_WORD, Undone, ends_line};
use bytepair::Dropout;
use bytepair::Result;
use bytepair::for_formats::{Encoder, Scratch};
use bytepair::units::{EndMarkKind, Units};
use bytepair::vocabulary::{TokenId, Vocabulary};

/// Cuts words into parts.
///
/// ```
/// use bytepair_formats::{codes, segmentation::Segmenter};
///
/// let codes = codes::read_subword_nmt(b"#version: 0.2\nl o\nlo w</w>\n", None)?;
/// let segmenter = Segmenter::new(&codes, "@@", &[])?;
/// assert_eq!(segmenter.segment(" low  lower\n", Default::default())?, " low lo@@ w@@ e@@ r\n");
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
pub struct Segmenter {
    units: Units,
    vocabulary: Arc<Vocabulary>,
    /// For words without dropout, where every merge builds on earlier ones.
    encoder: Option<Box<Encoder>>,
    rounds: Rounds,
    separator: String,
    limit: Option<Limit>,
}

/// How a text is cut apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentOptions {
    /// Leaves merges out by chance. The seed and the number of a line decide which.
    pub dropout: Option<Dropout>,
    /// The number of the first line of the text.
    pub first_line: u64,
    /// Where lines end.
    pub line_ends: LineEnds,
}

/// Where lines end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// After each line feed.
    #[default]
    LineFeeds,
    /// Where `str.splitlines` of Python ends them, with which subword-nmt reads files.
    Python,
}

impl Segmenter {
    /// A segmenter by these codes. Without `allowed` tokens, separators included, all are allowed.
    ///
    /// # Errors
    /// If there are more symbols than ids.
    pub fn new(codes: &Codes, separator: &str, allowed: &[String]) -> Result<Self> {
        let (units, vocabulary) = (codes.units(), Arc::new(codes.vocabulary()?));
        let encoder = codes
            .first_disordered()
            .is_none()
            .then(|| Box::new(Encoder::new(Arc::clone(&vocabulary), &units, false)));
        let allowed: HashSet<String> = allowed.iter().cloned().collect();
        let limit = (!allowed.is_empty()).then(|| Limit::new(codes, allowed, separator));
        let (rounds, separator) = (Rounds::new(codes), separator.to_owned());
        Ok(Self { units, vocabulary, encoder, rounds, separator, limit })
    }

    /// A text of any number of lines with its words cut apart.
    ///
    /// # Errors
    /// If the probability of dropout is not from 0 to 1.
    pub fn segment(&self, text: &str, options: SegmentOptions) -> Result<String> {
        let dropout = checked(options.dropout)?;
        let mut words =
            Words { segmenter: self, dropout, known: HashMap::new(), scratch: Scratch::default() };
        let mut out = String::with_capacity(text.len() * 3 / 2);
        for (number, line) in
            (options.first_line..).zip(Lines { rest: text, ends: options.line_ends })
        {
            words.push_line(number, line, &mut out)?;
        }
        Ok(out)
    }

    /// The parts of one word, without separators; with dropout those of this word of this line.
    ///
    /// # Errors
    /// As for [`Segmenter::segment`].
    pub fn parts_of_word(
        &self,
        word: &str,
        dropout: Option<Dropout>,
        (line, number): (u64, u64),
    ) -> Result<Vec<String>> {
        let chance = checked(dropout)?.map(|dropout| Chance::new(dropout, line, number));
        self.parts(word, chance, &mut Scratch::default())
    }

    fn parts(
        &self,
        word: &str,
        chance: Option<Chance>,
        scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        if word.chars().nth(1).is_none() {
            return Ok(vec![word.to_owned()]);
        }
        let parts = match &self.encoder {
            Some(encoder) if chance.is_none() => self.encoded(encoder, word, scratch)?,
            _ => self.rounds.parts(word, chance).into_iter().map(str::to_owned).collect(),
        };
        Ok(self.limit.as_ref().map_or_else(|| parts.clone(), |limit| limit.apply(&parts)))
    }

    fn encoded(&self, encoder: &Encoder, word: &str, scratch: &mut Scratch) -> Result<Vec<String>> {
        let (mut ids, mut strangers) = (Vec::new(), Vec::new());
        let n_ids = self.vocabulary.len();
        encoder.encode_or(word.as_bytes(), scratch, &mut ids, |symbol| {
            strangers.push(symbol);
            Ok(TokenId::try_from(n_ids + strangers.len() - 1).unwrap_or(TokenId::MAX))
        })?;
        let written = |id: TokenId| {
            let token = self.vocabulary.token(id).unwrap_or_else(|| strangers[id as usize - n_ids]);
            String::from_utf8_lossy(&self.units.written(token)).into_owned()
        };
        let mut parts: Vec<String> = ids.into_iter().map(written).collect();
        if let Some(last) = parts.pop() {
            let last = last.strip_suffix(END_OF_WORD).unwrap_or(&last);
            parts.extend((!last.is_empty()).then(|| last.to_owned()));
        }
        Ok(parts)
    }
}

/// Dropout that leaves anything out.
fn checked(dropout: Option<Dropout>) -> Result<Option<Dropout>> {
    dropout.as_ref().map_or(Ok(()), Dropout::check)?;
    Ok(dropout.filter(|dropout| dropout.probability > 0.0))
}

/// The lines of a text, ends included.
struct Lines<'t> {
    rest: &'t str,
    ends: LineEnds,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = match self.ends {
            LineEnds::LineFeeds => self.rest.find('\n').map(|end| end + 1),
            LineEnds::Python => {
                self.rest.find(ends_line).map(|end| end + end_len(&self.rest[end..]))
            }
        };
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(line)
    }
}

/// The length of the end of a line that a text begins with.
fn end_len(text: &str) -> usize {
    match text.starts_with("\r\n") {
        true => 2,
        false => text.chars().next().map_or(0, char::len_utf8),
    }
}

/// The words of one text.
struct Words<'w> {
    segmenter: &'w Segmenter,
    dropout: Option<Dropout>,
    /// Words that were cut already without dropout, with their separators.
    known: HashMap<&'w str, String>,
    scratch: Scratch,
}

impl<'w> Words<'w> {
    fn push_line(&mut self, number: u64, line: &'w str, out: &mut String) -> Result<()> {
        let blank = ['\r', '\n', ' '];
        let content = line.trim_matches(blank);
        if content.is_empty() {
            out.push_str(line);
            return Ok(());
        }
        out.push_str(&line[..line.len() - line.trim_start_matches(blank).len()]);
        for (place, word) in (0..).zip(content.split(' ').filter(|word| !word.is_empty())) {
            out.push_str(if place == 0 { "" } else { " " });
            let chance = self.dropout.map(|dropout| Chance::new(dropout, number, place));
            self.push_word(word, chance, out)?;
        }
        out.push_str(&line[line.trim_end_matches(blank).len()..]);
        Ok(())
    }

    fn push_word(&mut self, word: &'w str, chance: Option<Chance>, out: &mut String) -> Result<()> {
        if let Some(cut) = self.known.get(word) {
            out.push_str(cut);
            return Ok(());
        }
        let parts = self.segmenter.parts(word, chance, &mut self.scratch)?;
        let cut = parts.join(&format!("{} ", self.segmenter.separator));
        out.push_str(&cut);
        if chance.is_none() {
            self.known.insert(word, cut);
        }
        Ok(())
    }
}

/// Takes apart again what a vocabulary does not allow.
///
/// A part that the vocabulary lacks is undone to the two parts of its merge, and so on until each part is allowed or is not
/// the result of a merge. All parts except the last of a word are looked up with the separator after them. Costs one look-up
/// for each part that is tried; a part leads to at most as many as it has characters.
#[derive(Debug)]
struct Limit {
    /// Separators included.
    allowed: HashSet<String>,
    separator: String,
    /// By the symbol that a merge makes, end mark included: its parts.
    parts: HashMap<String, (String, String)>,
}

impl Limit {
    fn new(codes: &Codes, allowed: HashSet<String>, separator: &str) -> Self {
        let made = |(left, right): &(String, String)| {
            (format!("{left}{right}"), (left.clone(), right.clone()))
        };
        let parts = match codes.undone {
            Undone::First => codes.merges.iter().rev().map(made).collect(),
            Undone::Last => codes.merges.iter().map(made).collect(),
        };
        Self { allowed, separator: separator.to_owned(), parts }
    }

    /// The parts of a word, each allowed or a single character.
    fn apply(&self, word: &[String]) -> Vec<String> {
        let mut out = Vec::with_capacity(word.len());
        for (place, part) in (1..).zip(word) {
            self.push(part.clone(), place == word.len(), &mut out);
        }
        out
    }

    fn push(&self, part: String, is_last: bool, out: &mut Vec<String>) {
        let mut waiting = vec![(part, is_last)];
        while let Some((part, is_last)) = waiting.pop() {
            match self.parts_of(&part, is_last).filter(|_| !self.is_allowed(&part, is_last)) {
                None => out.push(part),
                Some((left, right)) => {
                    waiting.push((right.to_owned(), is_last));
                    waiting.push((left.to_owned(), false));
                }
            }
        }
    }

    fn is_allowed(&self, part: &str, is_last: bool) -> bool {
        match is_last {
            true => self.allowed.contains(part),
            false => self.allowed.contains(&format!("{part}{}", self.separator)),
        }
    }

    fn parts_of(&self, part: &str, is_last: bool) -> Option<(&str, &str)> {
        let mark = if is_last { END_OF_WORD } else { "" };
        let (left, right) = self.parts.get(&format!("{part}{mark}"))?;
        Some((left, right.strip_suffix(mark).unwrap_or(right)))
    }
}

/// The number of a symbol that is in no merge.
const UNKNOWN: u32 = u32::MAX;

/// The merges by the numbers of their symbols.
#[derive(Debug)]
struct Rounds {
    symbols: HashMap<String, u32>,
    /// By left and right symbol: the place of the merge, and the symbol that it makes.
    merges: HashMap<(u32, u32), (usize, u32)>,
    end_mark: EndMarkKind,
}

impl Rounds {
    fn new(codes: &Codes) -> Self {
        let (mut symbols, mut merges) = (HashMap::new(), HashMap::new());
        let mut number = |symbol: &str| {
            let next = u32::try_from(symbols.len()).unwrap_or(UNKNOWN);
            *symbols.entry(symbol.to_owned()).or_insert(next)
        };
        for (rank, (left, right)) in codes.merges.iter().enumerate() {
            let made = number(&format!("{left}{right}"));
            merges.insert((number(left), number(right)), (rank, made));
        }
        Self { symbols, merges, end_mark: codes.end_mark }
    }

    /// The parts of a word, without the end mark.
    fn parts<'w>(&self, word: &'w str, chance: Option<Chance>) -> Vec<&'w str> {
        let mut merging = Merging::new(self, self.symbols_of(word));
        for round in 0.. {
            let kept = merging.best(chance.map(|chance| chance.of_round(round)));
            if kept.is_empty() {
                break;
            }
            merging.join(&kept);
        }
        let starts = merging.starts();
        let ends = starts.iter().skip(1).copied().chain([word.len()]);
        let parts = starts.iter().zip(ends).map(|(&start, end)| &word[start..end]);
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// The symbols of a word: where each begins, and its number.
    fn symbols_of(&self, word: &str) -> Vec<(usize, u32)> {
        let number = |symbol: &str| self.symbols.get(symbol).copied().unwrap_or(UNKNOWN);
        let mut symbols: Vec<_> = word
            .char_indices()
            .map(|(start, character)| (start, number(character.encode_utf8(&mut [0; 4]))))
            .collect();
        match (self.end_mark, symbols.last_mut()) {
            (EndMarkKind::Unit, _) => symbols.push((word.len(), number(END_OF_WORD))),
            (EndMarkKind::Suffix, Some((start, last))) => {
                *last = number(&format!("{}{END_OF_WORD}", &word[*start..]));
            }
            (EndMarkKind::Suffix, None) => {}
        }
        symbols
    }
}

/// A symbol of a word in its row.
#[derive(Clone, Copy, Debug)]
struct Link {
    start: usize,
    symbol: u32,
    /// The neighbours; the number of symbols if there is none.
    previous: usize,
    next: usize,
    is_joined: bool,
}

/// A word while it is merged.
struct Merging<'r> {
    rounds: &'r Rounds,
    links: Vec<Link>,
    /// Places of pairs, by their left symbol, under the rank of their merge.
    waiting: BTreeMap<usize, BTreeSet<usize>>,
}

impl<'r> Merging<'r> {
    fn new(rounds: &'r Rounds, symbols: Vec<(usize, u32)>) -> Self {
        let n_symbols = symbols.len();
        let link = |(place, (start, symbol)): (usize, (usize, u32))| Link {
            start,
            symbol,
            previous: place.checked_sub(1).unwrap_or(n_symbols),
            next: place + 1,
            is_joined: false,
        };
        let links = symbols.into_iter().enumerate().map(link).collect();
        let mut merging = Self { rounds, links, waiting: BTreeMap::new() };
        (0..n_symbols).for_each(|place| merging.wait(place));
        merging
    }

    /// The places of the best pair that are not left out.
    fn best(&self, chance: Option<Chance>) -> Vec<usize> {
        let is_kept = |place: &usize| !chance.is_some_and(|chance| chance.leaves_out(*place));
        let kept_of = |places: &BTreeSet<usize>| -> Vec<usize> {
            places.iter().copied().filter(is_kept).collect()
        };
        self.waiting.values().map(kept_of).find(|places| !places.is_empty()).unwrap_or_default()
    }

    /// Joins the pair at each of these places, unless the one before it took its symbol.
    fn join(&mut self, places: &[usize]) {
        for &left in places {
            if self.links[left].is_joined {
                continue;
            }
            let Some((_, made)) = self.merge(left) else { continue };
            let Link { previous, next: right, .. } = self.links[left];
            for place in [previous, left, right] {
                self.forget(place);
            }
            let next = self.links[right].next;
            self.links[right].is_joined = true;
            self.links[left] = Link { symbol: made, next, ..self.links[left] };
            if let Some(link) = self.links.get_mut(next) {
                link.previous = left;
            }
            self.wait(previous);
            self.wait(left);
        }
    }

    /// The merge of the pair that begins at a place.
    fn merge(&self, place: usize) -> Option<(usize, u32)> {
        let left = self.links.get(place)?;
        let right = self.links.get(left.next)?;
        self.rounds.merges.get(&(left.symbol, right.symbol)).copied()
    }

    fn wait(&mut self, place: usize) {
        if let Some((rank, _)) = self.merge(place) {
            self.waiting.entry(rank).or_default().insert(place);
        }
    }

    fn forget(&mut self, place: usize) {
        let Some((rank, _)) = self.merge(place) else { return };
        let Some(places) = self.waiting.get_mut(&rank) else { return };
        places.remove(&place);
        if places.is_empty() {
            self.waiting.remove(&rank);
        }
    }

    fn starts(&self) -> Vec<usize> {
        self.links.iter().filter(|link| !link.is_joined).map(|link| link.start).collect()
    }
}

/// Which pairs of a word are left out by chance (BPE-dropout), in a way that a seed decides.
///
/// Each round of merging draws for each pair of a word. A draw depends on the seed, the line, the word, the round and the
/// place of the pair, and on nothing else: neither threads nor the order in which pairs are looked at change it.
///
/// Source: Provilkov, Emelianenko and Voita, "BPE-Dropout" (2020). The numbers are not those of Python's generator, so one
/// seed gives other cuts than in subword-nmt, as probable as there.
#[derive(Clone, Copy, Debug)]
struct Chance {
    /// A draw below it leaves a pair out; of 2^53.
    bound: f64,
    state: u64,
}

impl Chance {
    /// For one word of a line.
    #[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
    fn new(dropout: Dropout, line: u64, word: u64) -> Self {
        let bound = dropout.probability * (1_u64 << 53) as f64;
        Self { bound, state: mixed(mixed(mixed(dropout.seed) ^ line) ^ word) }
    }

    /// The chance of the pairs of one round.
    fn of_round(self, round: u64) -> Self {
        Self { state: mixed(self.state ^ round), ..self }
    }

    /// Whether the pair at a place is left out.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    fn leaves_out(self, place: usize) -> bool {
        ((mixed(self.state ^ place as u64) >> 11) as f64) < self.bound
    }
}

/// Mixes a number: each of its 64 bits comes to depend on all others.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), with the constants
/// of Stafford's thirteenth variant.
fn mixed(number: u64) -> u64 {
    let state = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::read_subword_nmt;
    use proptest::prelude::*;

    const PLAIN: SegmentOptions =
        SegmentOptions { dropout: None, first_line: 0, line_ends: LineEnds::LineFeeds };

    fn segmenter(codes: &str, allowed: &[&str]) -> Segmenter {
        let codes = read_subword_nmt(codes.as_bytes(), None).unwrap();
        let allowed: Vec<String> = allowed.iter().map(|&token| token.to_owned()).collect();
        Segmenter::new(&codes, "@@", &allowed).unwrap()
    }

    proptest! {
        #[test]
        fn the_encoder_joins_what_rounds_join(picks: Vec<(u8, u8)>, text in "[abc ]{0,40}") {
            let mut symbols: Vec<String> = ["a", "b", "c", "a</w>", "b</w>", "c</w>"].map(str::to_owned).to_vec();
            let mut codes = "#version: 0.2\n".to_owned();
            for (left, right) in picks {
                let (left, right) =
                    (usize::from(left) % symbols.len(), usize::from(right) % symbols.len());
                let joined = format!("{}{}", symbols[left], symbols[right]);
                if !symbols[left].ends_with('>') && joined.len() < 16 && !symbols.contains(&joined) {
                    codes.extend([&symbols[left], " ", &symbols[right], "\n"]);
                    symbols.push(joined);
                }
            }
            let fast = segmenter(&codes, &[]);
            prop_assert!(fast.encoder.is_some());
            let slow = Segmenter { encoder: None, ..segmenter(&codes, &[]) };
            prop_assert_eq!(fast.segment(&text, PLAIN).unwrap(), slow.segment(&text, PLAIN).unwrap());
        }
    }

    #[test]
    fn chance_depends_on_the_seed_and_the_number_of_the_line_alone() {
        let segmenter = segmenter("#version: 0.2\na b\nab a\naba b</w>\n", &[]);
        let options = |seed, first_line| SegmentOptions {
            dropout: Some(Dropout { probability: 0.5, seed }),
            first_line,
            ..PLAIN
        };
        let line = "abab abab abab abab abab abab abab abab\n";
        let cut = |text: &str, seed, first| segmenter.segment(text, options(seed, first)).unwrap();
        let both = cut(&line.repeat(2), 1, 0);
        assert_eq!(both, format!("{}{}", cut(line, 1, 0), cut(line, 1, 1)));
        assert_ne!(cut(line, 1, 0), cut(line, 1, 1));
        assert_ne!(cut(line, 1, 0), cut(line, 2, 0));
        let dropout = Some(Dropout { probability: 0.5, seed: 1 });
        let first = segmenter.parts_of_word("abab", dropout, (1, 0)).unwrap().join("@@ ");
        assert!(cut(line, 1, 1).starts_with(&first));
    }

    /// The definition: all pairs are looked at in each round.
    fn by_definition(codes: &Codes, word: &str, chance: Option<Chance>) -> Vec<String> {
        let mut symbols: Vec<(usize, String)> =
            word.chars().map(String::from).enumerate().collect();
        match codes.end_mark {
            EndMarkKind::Unit => symbols.push((symbols.len(), END_OF_WORD.to_owned())),
            EndMarkKind::Suffix => symbols.last_mut().unwrap().1.push_str(END_OF_WORD),
        }
        for round in 0.. {
            let rank = |at: usize| {
                let pair = (symbols[at].1.clone(), symbols[at + 1].1.clone());
                codes.merges.iter().position(|merge| *merge == pair)
            };
            let is_left_out =
                |at: usize| chance.is_some_and(|c| c.of_round(round).leaves_out(symbols[at].0));
            let kept: Vec<(usize, usize)> = (0..symbols.len() - 1)
                .filter_map(|at| Some((rank(at)?, at)))
                .filter(|&(_, at)| !is_left_out(at))
                .collect();
            let Some(&(best, _)) = kept.iter().min() else { break };
            symbols = joined(&symbols, |at| kept.contains(&(best, at)));
        }
        let last = symbols.pop().unwrap().1;
        let texts = symbols.into_iter().map(|(_, text)| text);
        let last = last.strip_suffix(END_OF_WORD).unwrap().to_owned();
        texts.chain([last]).filter(|text| !text.is_empty()).collect()
    }

    /// The symbols with those that are kept joined to the next one, from left to right.
    fn joined(
        symbols: &[(usize, String)],
        is_kept: impl Fn(usize) -> bool,
    ) -> Vec<(usize, String)> {
        let (mut joined, mut at) = (Vec::new(), 0);
        while at < symbols.len() {
            let (place, mut text) = symbols[at].clone();
            if is_kept(at) {
                at += 1;
                text.push_str(&symbols[at].1);
            }
            joined.push((place, text));
            at += 1;
        }
        joined
    }

    /// Codes of merges of earlier symbols, in any order, from pairs of numbers.
    fn codes_of(version: &str, picks: &[(u8, u8)]) -> Codes {
        let mut symbols: Vec<String> =
            ["a", "b", "a</w>", "b</w>", "</w>"].map(String::from).into();
        let mut file = format!("#version: {version}\n");
        for &(left, right) in picks {
            let left = symbols[usize::from(left) % symbols.len()].clone();
            let right = symbols[usize::from(right) % symbols.len()].clone();
            if !left.ends_with('>') && left.len() + right.len() < 16 {
                file.extend([&left, " ", &right, "\n"]);
                symbols.push(format!("{left}{right}"));
            }
        }
        read_subword_nmt(file.as_bytes(), None).unwrap()
    }

    proptest! {
        #[test]
        fn rounds_give_what_the_definition_gives(
            is_old: bool, picks: Vec<(u8, u8)>, word in "[abü]{1,24}", seed: u64, tenths in 0_u8..11,
        ) {
            let codes = codes_of(if is_old { "0.1" } else { "0.2" }, &picks);
            let probability = f64::from(tenths) / 10.0;
            let chance = Chance::new(Dropout { probability, seed }, 3, 5);
            let rounds = Rounds::new(&codes);
            for chance in [None, Some(chance)] {
                prop_assert_eq!(rounds.parts(&word, chance), by_definition(&codes, &word, chance));
            }
        }
    }

    #[test]
    fn a_word_of_many_characters_takes_no_time_squared() {
        let rounds = Rounds::new(&codes_of("0.2", &[(0, 1), (5, 5), (6, 6)]));
        let word = "ab".repeat(20_000);
        let chance = Chance::new(Dropout { probability: 0.3, seed: 1 }, 0, 0);
        assert!(rounds.parts(&word, None).len() < rounds.parts(&word, Some(chance)).len());
    }
}
