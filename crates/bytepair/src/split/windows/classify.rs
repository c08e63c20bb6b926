//! Text to letters.
//!
//! ASCII is looked up 64 bytes at a time; every other character is then read by itself and written over
//! what stands there, the same letter for all bytes behind its first. What is no character stays as it is:
//! bytes of no class. Then the runs that lead to a goal are walked backwards from it, each byte once.
//! Cost: see [`super::kernels`] for ASCII; about four CPU cycles for any other character.

use super::super::alphabet::Alphabet;
use super::super::symbol::code_at;
use super::kernels::{Kernel, WORD};
use super::letters::{Kinds, Letters};
use super::program::{Group, MAX_NUMBERS, Numbering};

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
    edge: u8,
    ahead: Option<Ahead>,
}

struct Ahead {
    run: Group,
    goal: Group,
    is_run: [bool; MAX_NUMBERS],
    /// The letter that promises the goal.
    promised: [u8; MAX_NUMBERS],
}

/// A stretch of text as letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    letters: Vec<u8>,
    words: Vec<u64>,
    goals: Vec<u64>,
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
                numbering.set(all().filter(|&letter| is_in(letter)).fold(0, |set, letter| set | 1 << letter))
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
            Ahead { run, goal, is_run, promised }
        });
        Self {
            ascii: alphabet.ascii().map(|class| number(first_of(class))),
            fills: alphabet.classes().map(fill).collect(),
            edge: number(letters.edge()),
            ahead,
        }
    }

    /// Reads the bytes of `start..end` and those around them that windows show, of a text that begins at
    /// `from`. Returns up to where all windows are right: `end`, or earlier if nothing is known of what
    /// follows a run; `start` if that is so from the start.
    pub(super) fn read(
        &self,
        kernel: Kernel,
        alphabet: &Alphabet,
        text: &[u8],
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
        for (index, &leads) in span.words[..n_words].iter().enumerate() {
            self.read_others(alphabet, (text, first), (index * WORD, leads), letters);
        }
        span.letters[begin + (last - first)..length].fill(self.edge);
        let Some(ahead) = &self.ahead else { return end };
        ahead.look(kernel, span, (end - start, length))+ start
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
        let Span { letters, words, goals } = span;
        words.clear();
        words.resize(n_words, 0);
        goals.clear();
        goals.resize(n_words, 0);
        kernel.group(letters, &self.run, words);
        kernel.group(letters, &self.goal, goals);
        let mut before = 0;
        for (index, (&run, &goal)) in words.iter().zip(&*goals).enumerate() {
            let mut reached = goal & (run << 1 | before >> 63);
            before = run;
            while reached != 0 {
                let bit = reached.trailing_zeros() as usize;
                reached &= reached - 1;
                self.promise(&mut letters[..index * WORD + bit]);
            }
        }
        let is_run = |place: usize| self.is_run[usize::from(letters[MARGIN + place])];
        (0..=n_places).rev().find(|&place| !is_run(place)).unwrap_or(0)
    }

    fn promise(&self, letters: &mut [u8]) {
        let run = letters.iter_mut().rev().take_while(|letter| self.is_run[usize::from(**letter)]);
        run.for_each(|letter| *letter = self.promised[usize::from(*letter)]);
    }
}

impl Span {
    /// The letters from the window of the first place on.
    pub(super) fn windows(&self) -> &[u8] {
        &self.letters[MARGIN - super::contexts::N_BEFORE..]
    }
}
