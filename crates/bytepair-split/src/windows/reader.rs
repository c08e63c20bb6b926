//! Reads text as letters, one for each symbol.
//!
//! ```text
//! letters[byte] = ascii[byte], 64 bytes at a time            bytes of no character keep the letter of invalid bytes
//! for characters of two and three bytes: letters[first byte] = by Wide, as far as it knows them
//! for each character that is left: letters[first byte] = by its class, one by one
//! take out the bytes inside of characters, so that letters are adjacent
//! for each run that leads to a goal: walk it backwards from the goal, and give its letters the promise
//! ```
//!
//! [`Span::spread`] maps what is found for the letters back to the bytes.
//!
//! Invariant: the letters before the first symbol and after the last one are edges, so that every window of a span can
//! be read without a check.
//!
//! Cost: that of [`super::kernels`], and about eight CPU cycles for a character that is read by itself.

use std::ops::Range;

use super::kernels::{Kernel, Loop};
use super::letters::{Kinds, Letters, N_BEFORE};
use super::tables::{
    AsciiLetters, Characters, Cuts, Group, MAX_NUMBERS, Numbering, SPAN, WORD, Wide, Words,
    all_words, number_of,
};
use crate::bits::Bits;
use crate::program::alphabet::Alphabet;
use crate::symbol::code_at;

/// Edges before the first letter of a span.
const MARGIN: usize = 64;

/// Bytes before a span that are read with it. The first symbol in them may be cut; the last [`N_BEFORE`] symbols are whole.
const BEFORE: usize = 64;

/// The last symbol of a span and the one after it end within this many bytes.
const BEHIND: usize = 8;

/// Reads text as letters, and looks ahead past runs.
pub(super) struct Reader {
    ascii: AsciiLetters,
    /// By class.
    letter_of: Vec<u8>,
    wide: Wide,
    edge: u8,
    lookahead: Option<RunLookahead>,
}

struct RunLookahead {
    run: Group,
    goal: Group,
    /// By number of a run letter: the letter that promises a goal.
    promised: [Option<u8>; MAX_NUMBERS],
    /// Whether an edge is a goal.
    has_end: bool,
}

/// A text to read.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) text: &'t [u8],
    /// Edges inside the text, as offsets from `from`.
    pub(super) edges: Option<&'t Bits>,
    pub(super) alphabet: &'t Alphabet,
    /// Where the text begins: what precedes it is not shown.
    pub(super) from: usize,
}

/// A stretch of text as letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    /// Where the stretch begins in the text, a little before the first place to read.
    pub(super) first: usize,
    n_bytes: usize,
    /// The letters of the symbols, after a margin.
    letters: Vec<u8>,
    n_symbols: usize,
    /// The bytes that are inside a character, as bits.
    inner: Vec<u64>,
    words: Vec<u64>,
    goals: Vec<u64>,
    /// Edges inside the text, by letter, with the margin; empty if there are none.
    edges: Vec<u64>,
    cuts: Cuts,
}

impl Reader {
    pub(super) fn new(
        alphabet: &Alphabet,
        kinds: &Kinds,
        letters: &Letters,
        numbering: &Numbering,
    ) -> Self {
        let number = |letter: usize| numbering.written[letter];
        let letter_of = |class: u8| number(letters.of(kinds.kind_of[usize::from(class)], false));
        let lookahead = letters.lookahead.is_some().then(|| RunLookahead::new(letters, numbering));
        let by_class: Vec<u8> = alphabet.classes().map(letter_of).collect();
        let invalid = by_class.last().copied().unwrap_or(0);
        Self {
            wide: Wide::new(alphabet, &by_class),
            ascii: AsciiLetters { letters: alphabet.ascii().map(letter_of), other: invalid },
            letter_of: by_class,
            edge: number(letters.edge()),
            lookahead,
        }
    }

    /// Reads the bytes of `places` and those around them that windows show. Returns how far all windows are right: to
    /// the end of `places`, or less far if it is not known what follows a run. If no window is right, returns the start
    /// of `places`.
    pub(super) fn read(
        &self,
        kernel: Kernel,
        source: Source<'_>,
        places: Range<usize>,
        span: &mut Span,
    ) -> usize {
        let Source { text, from, .. } = source;
        let first = from.max(places.start.saturating_sub(BEFORE));
        let last = text.len().min(places.end + BEHIND);
        (span.first, span.n_bytes) = (first, last - first);
        span.letters.resize(MARGIN + BEFORE + SPAN + BEHIND + 3 * WORD, self.edge);
        span.letters[..MARGIN].fill(self.edge);
        self.read_symbols(kernel, source, &text[first..last], span);
        span.letters[MARGIN + span.n_symbols..][..2 * WORD].fill(self.edge);
        span.find_cuts(kernel, source, self.edge);
        let Some(lookahead) = &self.lookahead else { return places.end };
        let symbols =
            span.n_symbols_before(places.start - first)..span.n_symbols_before(places.end - first);
        match lookahead.look(kernel, span, symbols.clone()) {
            None => places.start,
            Some(known) if known == symbols.end => places.end,
            Some(known) => first + span.place_of(known),
        }
    }

    /// Writes the letters of these bytes, adjacent to each other.
    #[inline]
    fn read_symbols(&self, kernel: Kernel, source: Source<'_>, bytes: &[u8], span: &mut Span) {
        let n_words = bytes.len().div_ceil(WORD);
        span.words.resize(n_words.max(span.words.len()), 0);
        let (_, letters) = span.letters.split_at_mut(MARGIN);
        let leads = &mut span.words[..n_words];
        kernel.run(Loop::Letters { text: bytes, ascii: &self.ascii, letters, leads: &mut *leads });
        span.n_symbols = bytes.len();
        if leads.iter().fold(0, |any, word| any | word) == 0 {
            return;
        }
        span.inner.clear();
        span.inner.resize(n_words + 1, 0);
        let inner = &mut *span.inner;
        let characters = Characters { leads: &mut *leads, inner: &mut *inner };
        kernel.run(Loop::Wide {
            text: bytes,
            wide: &self.wide,
            letters: &mut *letters,
            characters,
        });
        self.read_others(source, span.first, letters, Characters { leads, inner });
        // A character may continue after the last byte that is read.
        clip(&mut span.inner, 0..bytes.len());
        let n_letters = &mut span.n_symbols;
        kernel.run(Loop::Pack { letters, inner: &span.inner, n_letters });
    }

    /// Reads the characters whose first bytes are still marked, one by one.
    #[inline]
    fn read_others(
        &self,
        source: Source<'_>,
        first: usize,
        letters: &mut [u8],
        characters: Characters<'_>,
    ) {
        let Characters { leads, inner } = characters;
        for (index, &leads) in leads.iter().enumerate() {
            let start = index * WORD;
            // The inner bytes of characters, in this word and in the next one.
            let (mut here, mut next) = (0, 0);
            let mut left = leads;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let (code, length) = code_at(source.text, first + start + bit);
                let class = source.alphabet.class_of(code);
                letters[start + bit] = self.letter_of[usize::from(class)];
                let behind = (1_u64 << (length - 1)) - 1;
                here |= behind << bit << 1;
                next |= behind >> (WORD - 1 - bit);
            }
            inner[index] |= here;
            inner[index + 1] |= next;
        }
    }
}

impl RunLookahead {
    fn new(letters: &Letters, numbering: &Numbering) -> Self {
        let number = |letter: usize| numbering.written[letter];
        let all = || 0..letters.len();
        let set = |is_in: &dyn Fn(usize) -> bool| {
            let letters = all().filter(|&letter| is_in(letter));
            numbering.set(letters.fold(0, |set, letter| set | 1 << letter))
        };
        let mut promised = [None; MAX_NUMBERS];
        for letter in all() {
            let with_promise = letters.with_promise(letter, true).map(number);
            promised[number_of(number(letter))] = with_promise;
        }
        let run = set(&|letter| letters.is_in_run(letter));
        let goal = set(&|letter| letters.is_goal(letter));
        Self { run, goal, promised, has_end: letters.is_goal(letters.edge()) }
    }

    /// Gives the runs before a goal their promise. Returns the last of these places up to which windows show only right
    /// promises; `None` if that is the first place.
    fn look(&self, kernel: Kernel, span: &mut Span, symbols: Range<usize>) -> Option<usize> {
        let n_words = (MARGIN + span.n_symbols + 1).div_ceil(WORD);
        let Span { letters, words, goals, edges, .. } = span;
        let edges_at = |index: usize| {
            edges.get(index / WORD).is_some_and(|word| word >> (index % WORD) & 1 == 1)
        };
        words.clear();
        words.resize(n_words, 0);
        goals.clear();
        goals.resize(n_words, 0);
        for (group, bits) in [(&self.run, &mut *words), (&self.goal, &mut *goals)] {
            let words = Words { numbers: all_words(n_words), bits };
            kernel.run(Loop::Group { letters, group, cuts: None, words });
        }
        let mut before = 0;
        for (index, (&run, &goal)) in words.iter().zip(&*goals).enumerate() {
            let edges = edges.get(index).copied().unwrap_or(0);
            let goal = if self.has_end { goal | edges } else { goal & !edges };
            let mut reached = goal & (run << 1 | before >> 63);
            before = run;
            while reached != 0 {
                let bit = reached.trailing_zeros() as usize;
                reached &= reached - 1;
                self.promise(&mut letters[..index * WORD + bit], edges_at);
            }
        }
        let goes_on = |place: usize| {
            self.promised[number_of(letters[MARGIN + place])].is_some() && !edges_at(MARGIN + place)
        };
        (symbols.start + 1..=symbols.end).rev().find(|&place| !goes_on(place))
    }

    /// Gives the promise to a run, backwards, up to an edge.
    fn promise(&self, letters: &mut [u8], is_edge: impl Fn(usize) -> bool) {
        for (index, letter) in letters.iter_mut().enumerate().rev() {
            let Some(promised) = self.promised[number_of(*letter)] else { break };
            *letter = promised;
            if is_edge(index) {
                break;
            }
        }
    }
}

impl Span {
    /// Finds the edges in the span and the letters that they cut off, which are shown as the letter of an edge.
    fn find_cuts(&mut self, kernel: Kernel, source: Source<'_>, edge: u8) {
        self.edges.clear();
        let Some(edges) = source.edges else { return };
        let first = self.first - source.from;
        let n_words = self.n_bytes.div_ceil(WORD) + 1;
        let words = (0..n_words).map(|word| edges.word_from((first + word * WORD).cast_signed()));
        self.edges.push(0);
        self.edges.extend(words);
        if self.edges.iter().all(|&word| word == 0) {
            return self.edges.clear();
        }
        if !self.is_dense() {
            kernel.run(Loop::Gather { words: &mut self.edges[1..], inner: &self.inner });
        }
        self.edges.push(0);
        self.cuts.edge = edge;
        let [first, second, third, fourth, at, behind] = &mut self.cuts.places;
        cut_off::<4>(&self.edges, first);
        cut_off::<3>(&self.edges, second);
        cut_off::<2>(&self.edges, third);
        cut_off::<1>(&self.edges, fourth);
        at.clear();
        at.resize(self.edges.len() - 2, 0);
        behind.clear();
        behind.extend(self.edges[1..].windows(2).map(|pair| pair[0] >> 1 | pair[1] << (WORD - 1)));
    }

    /// What the edges inside the text cut off, if there are any.
    pub(super) fn cuts(&self) -> Option<&Cuts> {
        (!self.edges.is_empty()).then_some(&self.cuts)
    }

    /// The letters from the window of the first symbol on.
    pub(super) fn windows(&self) -> &[u8] {
        &self.letters[MARGIN - N_BEFORE..]
    }

    /// The number of words that have a bit for each symbol.
    pub(super) fn n_words(&self) -> usize {
        self.n_symbols.div_ceil(WORD)
    }

    /// Whether each byte is a symbol.
    fn is_dense(&self) -> bool {
        self.n_symbols == self.n_bytes
    }

    /// From bits for symbols to bits for bytes, at which the symbols start.
    pub(super) fn spread(&self, kernel: Kernel, words: &mut Vec<u64>) {
        let n_words = self.n_bytes.div_ceil(WORD);
        if !self.is_dense() && words.iter().any(|&word| word != 0) {
            words.resize(n_words + 1, 0);
            kernel.run(Loop::Spread { words, inner: &self.inner });
        }
        words.resize(n_words, 0);
    }

    /// How many symbols start before a byte.
    fn n_symbols_before(&self, byte: usize) -> usize {
        if self.is_dense() {
            return byte;
        }
        let inner = self.inner[..byte / WORD].iter().map(|word| word.count_ones()).sum::<u32>();
        let rest = self.inner[byte / WORD] & ((1 << (byte % WORD)) - 1);
        byte - (inner + rest.count_ones()) as usize
    }

    /// The byte at which a symbol starts.
    fn place_of(&self, symbol: usize) -> usize {
        if self.is_dense() {
            return symbol;
        }
        let mut left = symbol;
        for (index, inner) in self.inner.iter().enumerate() {
            let n_here = inner.count_zeros() as usize;
            if left < n_here {
                let mut starts = !inner;
                (0..left).for_each(|_| starts &= starts - 1);
                return index * WORD + starts.trailing_zeros() as usize;
            }
            left -= n_here;
        }
        self.n_bytes
    }
}

/// In all words except the first and the last: the places that have an edge between them and the symbol `DISTANCE` symbols
/// before.
fn cut_off<const DISTANCE: usize>(edges: &[u64], places: &mut Vec<u64>) {
    const { assert!(DISTANCE <= N_BEFORE) };
    places.clear();
    places.extend(edges[..edges.len() - 1].windows(2).map(|pair| {
        let behind = |shift: usize| pair[1] << shift | pair[0] >> (WORD - shift);
        (1..DISTANCE).fold(pair[1], |cut, shift| cut | behind(shift))
    }));
}

/// Clears all bits outside `places`. Makes no call if no whole word is left to clear, which matters for texts of two words.
pub(super) fn clip(words: &mut [u64], places: Range<usize>) {
    if places.start > 0 {
        words[..places.start / WORD].fill(0);
        if let Some(word) = words.get_mut(places.start / WORD) {
            *word &= u64::MAX << (places.start % WORD);
        }
    }
    if let Some((word, behind)) =
        words.get_mut(places.end / WORD..).and_then(<[_]>::split_first_mut)
    {
        *word &= (1 << (places.end % WORD)) - 1;
        if !behind.is_empty() {
            behind.fill(0);
        }
    }
}
