//! Text to letters.
//!
//! ASCII is looked up 64 bytes at a time, and then other characters that [`super::wide`] knows; what is left
//! is read by itself and written over what stands there, the same letter for all bytes behind its first. What is no character stays as it is:
//! bytes of no class. Then the runs that lead to a goal are walked backwards from it, each byte once.
//! Cost: see [`super::kernels`]; about eight CPU cycles for a character that is read by itself.

use std::cmp::Ordering;

use super::super::alphabet::Alphabet;
use super::super::bits::Bits;
use super::super::symbol::code_at;
use super::contexts::N_BEFORE;
use super::kernels::{Cuts, Kernel, WORD};
use super::letters::{Kinds, Letters};
use super::program::{Group, MAX_NUMBERS, Numbering};
use super::wide::Wide;

/// Letters in front of the first place of a span; those shown before it are right.
pub(super) const MARGIN: usize = 64;

/// A character that a window shows a byte of may start this much earlier, and end this much later.
const CONTEXT: usize = 8;

/// The bytes of a span at most.
pub(super) const SPAN: usize = 4096;

/// The numbers of the letters of a text, and how they look ahead.
pub(super) struct Reader {
    ascii: [u8; 128],
    /// By class: the letters of the first byte of a character and of those behind it.
    fills: Vec<[u8; 2]>,
    wide: Wide,
    edge: u8,
    ahead: Option<Ahead>,
}

struct Ahead {
    run: Group,
    goal: Group,
    is_run: [bool; MAX_NUMBERS],
    /// The letter that promises the goal.
    promised: [u8; MAX_NUMBERS],
    /// Whether an edge is a goal.
    has_end: bool,
}

/// A stretch of text as letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    letters: Vec<u8>,
    words: Vec<u64>,
    goals: Vec<u64>,
    /// Edges inside of the text, by letter; none if there are none.
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
        let number = |letter: usize| numbering.number_of[letter];
        let first_of = |class: u8| letters.first_of(kinds.kind_of[usize::from(class)], false);
        let fill = |class: u8| {
            let first = first_of(class);
            let next = if letters.is_long(first) { first + 1 } else { first };
            [number(first), number(next)]
        };
        let ahead = letters.foresight.is_some().then(|| {
            let all = || 0..letters.len();
            let set = |is_in: &dyn Fn(usize) -> bool| {
                numbering.set(
                    all().filter(|&letter| is_in(letter)).fold(0, |set, letter| set | 1 << letter),
                )
            };
            let mut promised = std::array::from_fn(|number| u8::try_from(number).unwrap_or(0));
            let mut is_run = [false; MAX_NUMBERS];
            for letter in all().filter(|&letter| letters.is_in_run(letter)) {
                is_run[usize::from(number(letter))] = true;
                let with_promise = letters.with_promise(letter, true).unwrap_or(letter);
                promised[usize::from(number(letter))] = number(with_promise);
            }
            let run = set(&|letter| letters.is_in_run(letter));
            let goal = set(&|letter| letters.is_goal(letter));
            Ahead { run, goal, is_run, promised, has_end: letters.is_goal(letters.edge()) }
        });
        let fills: Vec<[u8; 2]> = alphabet.classes().map(fill).collect();
        Self {
            wide: Wide::new(alphabet, &fills),
            ascii: alphabet.ascii().map(|class| number(first_of(class))),
            fills,
            edge: number(letters.edge()),
            ahead,
        }
    }

    /// Reads the bytes of `start..end` and those around them that windows show, of a text that begins at
    /// `from`. Returns up to where all windows are right: `end`, or earlier if nothing is known of what
    /// follows a run; `start` if that is so from the start. Edges are counted from the beginning.
    pub(super) fn read(
        &self,
        (kernel, alphabet): (Kernel, &Alphabet),
        (text, edges): (&[u8], Option<&Bits>),
        (from, start, end): (usize, usize, usize),
        span: &mut Span,
    ) -> usize {
        let first = from.max(start.saturating_sub(CONTEXT));
        let last = text.len().min(end + CONTEXT);
        let length = MARGIN + (end - start).next_multiple_of(WORD) + 2 * WORD;
        span.letters.resize(MARGIN + SPAN + 2 * WORD, self.edge);
        let begin = MARGIN - (start - first);
        span.letters[..begin].fill(self.edge);
        let n_words = (last - first).div_ceil(WORD);
        span.words.resize(n_words.max(length / WORD), 0);
        let bytes = &text[first..last];
        let invalid = self.fills.last().map_or(0, |fill| fill[0]);
        let letters = &mut span.letters[begin..];
        kernel.letters(bytes, (&self.ascii, invalid), letters, &mut span.words);
        kernel.wide(bytes, &self.wide, letters, &mut span.words[..n_words]);
        for (index, &leads) in span.words[..n_words].iter().enumerate() {
            self.read_others(alphabet, (text, first), (index * WORD, leads), letters);
        }
        span.letters[begin + (last - first)..length].fill(self.edge);
        span.find_cuts(edges, (start - from, length / WORD), self.edge);
        let Some(ahead) = &self.ahead else { return end };
        ahead.look(kernel, span, (end - start, length)) + start
    }

    /// Reads the characters whose first bytes are marked in a word.
    #[inline]
    fn read_others(
        &self,
        alphabet: &Alphabet,
        (text, first): (&[u8], usize),
        (index, mut leads): (usize, u64),
        letters: &mut [u8],
    ) {
        while leads != 0 {
            let offset = index + leads.trailing_zeros() as usize;
            leads &= leads - 1;
            let (code, length) = code_at(text, first + offset);
            let [lead, next] = self.fills[usize::from(alphabet.class_of(code))];
            let Some(letters) = letters.get_mut(offset..) else { return };
            match (length, &mut *letters) {
                (3, [a, b, c, ..]) => (*a, *b, *c) = (lead, next, next),
                (2, [a, b, ..]) => (*a, *b) = (lead, next),
                (4, [a, b, c, d, ..]) => (*a, *b, *c, *d) = (lead, next, next, next),
                _ => {}
            }
        }
    }
}

impl Ahead {
    /// Gives the runs before a goal their promise; returns how many places from the first have windows in
    /// which all promises are right.
    fn look(&self, kernel: Kernel, span: &mut Span, (n_places, length): (usize, usize)) -> usize {
        let n_words = length / WORD;
        let Span { letters, words, goals, edges, .. } = span;
        let edges_at = |index: usize| {
            edges.get(index / WORD).is_some_and(|word| word >> (index % WORD) & 1 == 1)
        };
        words.clear();
        words.resize(n_words, 0);
        goals.clear();
        goals.resize(n_words, 0);
        kernel.group(letters, &self.run, None, words);
        kernel.group(letters, &self.goal, None, goals);
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
            self.is_run[usize::from(letters[MARGIN + place])] && !edges_at(MARGIN + place)
        };
        (0..=n_places).rev().find(|&place| !goes_on(place)).unwrap_or(0)
    }

    /// Walks a run backwards, up to an edge.
    fn promise(&self, letters: &mut [u8], is_edge: impl Fn(usize) -> bool) {
        for (index, letter) in letters.iter_mut().enumerate().rev() {
            if !self.is_run[usize::from(*letter)] {
                break;
            }
            *letter = self.promised[usize::from(*letter)];
            if is_edge(index) {
                break;
            }
        }
    }
}

impl Span {
    /// Finds the edges around the first place, which has this number in their set, and what they cut off.
    fn find_cuts(&mut self, edges: Option<&Bits>, (start, n_words): (usize, usize), edge: u8) {
        self.edges.clear();
        let Some(edges) = edges else { return };
        let words = (0..n_words).map(|word| word.cast_signed() * 64 + start.cast_signed() - 64);
        self.edges.extend(words.map(|first| edges.word_from(first)));
        self.cuts.edge = edge;
        for (distance, places) in self.cuts.places.iter_mut().enumerate() {
            places.clear();
            places.extend(self.edges.windows(3).map(|words| cut_off(words, distance)));
        }
    }

    /// What the edges inside of the text cut off, if there are any.
    pub(super) fn cuts(&self) -> Option<&Cuts> {
        (!self.edges.is_empty()).then_some(&self.cuts)
    }

    /// The letters from the window of the first place on.
    pub(super) fn windows(&self) -> &[u8] {
        &self.letters[MARGIN - N_BEFORE..]
    }
}

/// The places of the word in the middle from which an edge lies before what stands at a distance.
fn cut_off(words: &[u64], distance: usize) -> u64 {
    let &[before, word, behind] = words else { return 0 };
    match distance.cmp(&N_BEFORE) {
        Ordering::Less => (1..N_BEFORE - distance)
            .fold(word, |cut, shift| cut | word << shift | before >> (64 - shift)),
        Ordering::Equal => 0,
        Ordering::Greater => word >> 1 | behind << 63,
    }
}
