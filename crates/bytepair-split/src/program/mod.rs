//! Compiles a tree to a graph of instructions, which both engines read.
//!
//! Instructions name their successors. A counted repeat is written out: `{n,m}` as `n` copies and `m - n` nested
//! optional ones. For the backtracker everything is compiled as it is. For the automaton, conditions are kept if the
//! next symbol decides them (see [`one_symbol`]), possessive repeats of one set are rewritten, and everything else is
//! refused (`None`). The rewriting, for a set `C`, where `(?!C)` also holds at the end of the text:
//!
//! * `C*+` = `C*(?!C)`, `C{m,}+` = `C{m,}(?!C)`: a possessive run stops only if no `C` follows. Of all runs that `C*`
//!   may take, exactly one, the longest, is followed by no `C`. So the condition leaves that run, and nothing can be
//!   given back.
//! * `C{m,n}+` = `C{n}|C{m,n-1}(?!C)`: the possessive run takes `n` if it can. If it takes fewer, no `C` follows. The
//!   two branches exclude each other (the second ends before a `C` whenever the first can match, because `n` of them
//!   follow), and each has at most one way to match. `C?+` is the case 0, 1.
//!
//! Left out: for the automaton, repeats whose inside may be empty. Such a repeat stops after an empty run, which is not a
//! property of a set of instructions.

pub(crate) mod alphabet;

use self::alphabet::{Alphabet, SymbolSet};
use crate::parser::tree::{Anchor, CharSet, Greed, Look, Node};

/// The most instructions of one pattern.
const MAX_INSTRUCTIONS: usize = 20_000;

/// The most distinct sets of one pattern.
const MAX_SETS: usize = 1000;

/// The number of an instruction.
pub(crate) type InstructionId = u32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Match,
    /// Takes one symbol of the set.
    Take(SymbolSet, InstructionId),
    /// Goes on if the next symbol, which may be the end of the text, is in the set.
    Next(SymbolSet, InstructionId),
    /// Tries the first successor, then the second.
    Either(InstructionId, InstructionId),
    Anchor(Anchor, InstructionId),
    /// The inside ends with [`Instruction::Match`]; a look-behind spans from `.0` to `.1` symbols.
    Look {
        look: Look,
        span: (u32, u32),
        inside: InstructionId,
        next: InstructionId,
    },
    /// A look-ahead of any length, with the automaton of this number.
    Ahead {
        number: usize,
        negative: bool,
        next: InstructionId,
    },
    Atomic {
        inside: InstructionId,
        next: InstructionId,
    },
    /// Stores the offset in a slot.
    LoopStart {
        slot: usize,
        next: InstructionId,
    },
    /// Goes on to `again` if the offset has moved since the slot was set, otherwise to `next`.
    LoopEnd {
        slot: usize,
        again: InstructionId,
        next: InstructionId,
    },
}

/// A compiled pattern.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) start: InstructionId,
    pub(crate) n_slots: usize,
    /// The programs of [`Instruction::Ahead`].
    pub(crate) aheads: Vec<Program>,
}

/// The engine a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Automaton,
    /// The automaton of a look-ahead, which may have word boundaries.
    Ahead,
    Backtracker,
    /// The backtracker without automatons for its look-aheads: the naive twin, and the engine for look-aheads that are
    /// too large.
    Naive,
}

impl Target {
    /// The backtracker serves patterns that the automaton cannot run.
    pub(crate) const BEST_FIRST: [Self; 3] = [Self::Automaton, Self::Backtracker, Self::Naive];

    fn is_automaton(self) -> bool {
        matches!(self, Self::Automaton | Self::Ahead)
    }
}

/// Compiles a tree; `None` if it is too large, or not possible for the automaton.
pub(crate) fn compile(root: &Node, alphabet: &Alphabet, target: Target) -> Option<Program> {
    let mut compiler = Compiler { program: Program::default(), alphabet, target };
    let end = compiler.push(Instruction::Match)?;
    compiler.program.start = compiler.node(root, end)?;
    Some(compiler.program)
}

/// Every set of characters that a tree reads; `None` if there are too many.
pub(crate) fn sets_of(root: &Node) -> Option<Vec<CharSet>> {
    let mut sets: Vec<CharSet> = Vec::new();
    let are_too_many = root.any(&mut |node| {
        let set = match node {
            Node::Set(set) => Some(set.clone()),
            Node::Anchor(_) => Some(CharSet::single('\n')),
            _ => None,
        };
        sets.extend(set.filter(|set| !sets.contains(set)));
        sets.len() > MAX_SETS
    });
    (!are_too_many).then_some(sets)
}

/// The next symbols, including the end of the text, before which a look-ahead for this tree holds. `None` if that
/// depends on more than the next symbol.
pub(crate) fn one_symbol(node: &Node, alphabet: &Alphabet) -> Option<SymbolSet> {
    match node {
        // A repeat that may run zero times needs no symbol.
        Node::Empty | Node::Repeat { min: 0, .. } => Some(SymbolSet::default().negated()),
        Node::Set(set) => Some(alphabet.mask(set)),
        Node::Anchor(Anchor::TextEnd) => Some(alphabet.end_mask()),
        Node::Anchor(Anchor::LineEnd) => {
            Some(alphabet.end_mask().union(&alphabet.mask(&CharSet::single('\n'))))
        }
        Node::Look(look, inside) if look.ahead => {
            let mask = one_symbol(inside, alphabet)?;
            Some(if look.negative { mask.negated() } else { mask })
        }
        Node::Alternate(nodes) => nodes.iter().try_fold(SymbolSet::default(), |union, node| {
            Some(union.union(&one_symbol(node, alphabet)?))
        }),
        Node::Concat(nodes) => one_symbol_in_a_row(nodes, alphabet),
        Node::Atomic(inside) | Node::Repeat { inside, min: 1, .. } => one_symbol(inside, alphabet),
        Node::Anchor(_) | Node::Look(..) | Node::Repeat { .. } => None,
    }
}

/// Conditions, followed by at most one tree that takes symbols: all must hold for the same next symbol.
fn one_symbol_in_a_row(nodes: &[Node], alphabet: &Alphabet) -> Option<SymbolSet> {
    let (last, conditions) = nodes.split_last()?;
    if conditions.iter().any(|node| node.length().1 != Some(0)) {
        return None;
    }
    conditions.iter().try_fold(one_symbol(last, alphabet)?, |mask, node| {
        Some(mask.intersection(&one_symbol(node, alphabet)?))
    })
}

struct Compiler<'a> {
    program: Program,
    alphabet: &'a Alphabet,
    target: Target,
}

impl Compiler<'_> {
    fn push(&mut self, instruction: Instruction) -> Option<InstructionId> {
        if self.program.instructions.len() >= MAX_INSTRUCTIONS {
            return None;
        }
        self.program.instructions.push(instruction);
        InstructionId::try_from(self.program.instructions.len() - 1).ok()
    }

    /// Writes `node` so that it continues with `next`; returns where it starts.
    fn node(&mut self, node: &Node, next: InstructionId) -> Option<InstructionId> {
        match node {
            Node::Empty => Some(next),
            Node::Set(set) => {
                let mask = self.alphabet.mask(set);
                self.push(Instruction::Take(mask, next))
            }
            Node::Concat(nodes) => {
                nodes.iter().rev().try_fold(next, |next, node| self.node(node, next))
            }
            Node::Alternate(nodes) => self.alternate(nodes, next),
            Node::Repeat { inside, min, max, greed: Greed::Possessive } => {
                self.possessive(inside, *min, *max, next)
            }
            Node::Repeat { inside, min, max, greed } => {
                let rest = self.optional_runs(inside, (*min, *max), *greed, next)?;
                self.copies(inside, *min, rest)
            }
            Node::Atomic(inside) => self.atomic(inside, next),
            Node::Look(look, inside) => self.look(*look, inside, next),
            Node::Anchor(anchor) => self.anchor(*anchor, next),
        }
    }

    fn alternate(&mut self, nodes: &[Node], next: InstructionId) -> Option<InstructionId> {
        let (last, before) = nodes.split_last()?;
        let last = self.node(last, next)?;
        before.iter().rev().try_fold(last, |later, node| {
            let first = self.node(node, next)?;
            self.push(Instruction::Either(first, later))
        })
    }

    fn copies(
        &mut self,
        inside: &Node,
        n_copies: u32,
        next: InstructionId,
    ) -> Option<InstructionId> {
        (0..n_copies).try_fold(next, |next, _| self.node(inside, next))
    }

    /// Writes the runs of a repeat beyond its minimum.
    fn optional_runs(
        &mut self,
        inside: &Node,
        bounds: (u32, Option<u32>),
        greed: Greed,
        next: InstructionId,
    ) -> Option<InstructionId> {
        let (min, Some(max)) = bounds else { return self.star(inside, greed, next) };
        (min..max).try_fold(next, |later, _| {
            let run = self.node(inside, later)?;
            self.push(choice(run, next, greed))
        })
    }

    fn star(&mut self, inside: &Node, greed: Greed, next: InstructionId) -> Option<InstructionId> {
        let fork = self.push(Instruction::Match)?;
        let run = if inside.is_nullable() {
            self.guarded(inside, fork, next)?
        } else {
            self.node(inside, fork)?
        };
        self.program.instructions[fork as usize] = choice(run, next, greed);
        Some(fork)
    }

    /// Writes one run of a repeat that stops after an empty run.
    fn guarded(
        &mut self,
        inside: &Node,
        again: InstructionId,
        next: InstructionId,
    ) -> Option<InstructionId> {
        if self.target.is_automaton() {
            return None;
        }
        let slot = self.program.n_slots;
        self.program.n_slots += 1;
        let end = self.push(Instruction::LoopEnd { slot, again, next })?;
        let run = self.node(inside, end)?;
        self.push(Instruction::LoopStart { slot, next: run })
    }

    fn possessive(
        &mut self,
        inside: &Node,
        min: u32,
        max: Option<u32>,
        next: InstructionId,
    ) -> Option<InstructionId> {
        let greedy = |min, max| Node::Repeat {
            inside: Box::new(inside.clone()),
            min,
            max,
            greed: Greed::Greedy,
        };
        if !self.target.is_automaton() {
            return self.atomic(&greedy(min, max), next);
        }
        let Node::Set(set) = inside else { return None };
        let stop = self.alphabet.mask(set).negated();
        let stop = self.push(Instruction::Next(stop, next))?;
        let Some(max) = max else { return self.node(&greedy(min, None), stop) };
        let full = self.copies(inside, max, next)?;
        if min == max {
            return Some(full);
        }
        let fewer = self.node(&greedy(min, Some(max - 1)), stop)?;
        self.push(Instruction::Either(full, fewer))
    }

    fn atomic(&mut self, inside: &Node, next: InstructionId) -> Option<InstructionId> {
        if self.target.is_automaton() {
            return match inside {
                Node::Empty | Node::Set(_) => self.node(inside, next),
                Node::Repeat { inside, min, max, greed: Greed::Greedy | Greed::Possessive } => {
                    self.possessive(inside, *min, *max, next)
                }
                _ => None,
            };
        }
        let end = self.push(Instruction::Match)?;
        let inside = self.node(inside, end)?;
        self.push(Instruction::Atomic { inside, next })
    }

    fn look(&mut self, look: Look, inside: &Node, next: InstructionId) -> Option<InstructionId> {
        if self.target.is_automaton() {
            let mask = one_symbol(&Node::Look(look, Box::new(inside.clone())), self.alphabet)?;
            return self.push(Instruction::Next(mask, next));
        }
        let (shortest, longest) = inside.length();
        if look.ahead
            && longest.is_none()
            && self.target == Target::Backtracker
            && let Some(program) = compile(inside, self.alphabet, Target::Ahead)
        {
            self.program.aheads.push(program);
            let number = self.program.aheads.len() - 1;
            return self.push(Instruction::Ahead { number, negative: look.negative, next });
        }
        let bound = |length: u64| u32::try_from(length).unwrap_or(u32::MAX);
        let span = (bound(shortest), longest.map_or(u32::MAX, bound));
        let end = self.push(Instruction::Match)?;
        let inside = self.node(inside, end)?;
        self.push(Instruction::Look { look, span, inside, next })
    }

    fn anchor(&mut self, anchor: Anchor, next: InstructionId) -> Option<InstructionId> {
        let is_word = matches!(anchor, Anchor::WordBoundary | Anchor::NotWordBoundary);
        if !self.target.is_automaton() || self.target == Target::Ahead && is_word {
            return self.push(Instruction::Anchor(anchor, next));
        }
        let mask = one_symbol(&Node::Anchor(anchor), self.alphabet)?;
        self.push(Instruction::Next(mask, next))
    }
}

fn choice(run: InstructionId, next: InstructionId, greed: Greed) -> Instruction {
    if greed == Greed::Lazy {
        Instruction::Either(next, run)
    } else {
        Instruction::Either(run, next)
    }
}
