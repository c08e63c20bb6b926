//! Runs the engines of compiled stages one after another over a text, a block at a time.
//!
//! ```text
//! the engine of the first stage marks the pieces of a block; its behaviour joins or drops some of them
//! for each later stage:
//!     its engine marks the pieces of every piece that was not dropped, at once by windows or one by one
//! ```
//!
//! Left out: how a pattern becomes an engine (`engine::compile()`), and how an engine runs (`engine`).
//! Cost: that of the engines, and a few bits for each byte of a block.

use std::ops::Range;
use std::sync::Arc;

use crate::automaton::running::{Position, State};
use crate::automaton::scan::Task;
use crate::boundaries::Boundaries;
use crate::engine::one_character_runs::{Repeat, Repeats};
use crate::engine::{CompileOptions, Engine, backtrack, compile, parse};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::{Stage, Unmatched};
use crate::stages::Join;
use crate::stages::inside_pieces::Holding;
use crate::stages::step::{self, Step};
use crate::symbol;
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;

/// How far [`Splitter::safe_cut`] searches, in bytes.
const SAFE_CUT_SEARCH: usize = 64 * 1024;

/// What a cut of a text does to its pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing: the pieces are those of both parts.
    Border,
    /// At most, it divides one piece.
    Division,
}

/// The last piece of a text that may grow: the state of each stage at its end. [`Splitter::grow`] continues from it.
#[derive(Clone, Debug)]
pub struct OpenPiece(Box<[State]>);

/// Compiled stages; immutable and cheap to clone.
///
/// ```
/// use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched};
/// use bytepair_split::unicode::UnicodeTables;
///
/// let pattern = Pattern { source: r"\w+".to_owned(), flavour: Flavour::Rust };
/// let stage = Stage::matches(pattern, Unmatched::Drop);
/// let splitter = Splitter::new(vec![stage], &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"one, two")?, [b"one", b"two"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
#[derive(Clone)]
pub struct Splitter {
    compiled: Arc<Compiled>,
}

#[derive(Clone, Default)]
struct Compiled {
    stages: Vec<Stage>,
    /// Splitters made from another one share its steps.
    steps: Vec<Arc<Step>>,
    may_match_nothing: bool,
}

impl Splitter {
    /// Compiles stages with the character classes of one version of Unicode.
    ///
    /// Stages that can run at once are compiled to one automaton. Cost: up to some milliseconds for each stage.
    ///
    /// # Errors
    /// [`ErrorKind::Pattern`] with the place in the pattern, if a pattern is not understood or too large.
    pub fn new(stages: Vec<Stage>, unicode: &UnicodeTables) -> Result<Self> {
        let kernel = Kernel::fast();
        Self::with_options(stages, unicode, CompileOptions { kernel, ..Default::default() })
    }

    /// Compiles stages with this kernel for windows, which are built for the first text; or without windows.
    #[cfg(test)]
    pub(crate) fn with_kernel(
        stages: Vec<Stage>,
        unicode: &UnicodeTables,
        kernel: Option<Kernel>,
    ) -> Result<Self> {
        let options = CompileOptions { kernel, builds_windows_at_once: true, ..Default::default() };
        Self::with_options(stages, unicode, options)
    }

    /// Compiles every stage to the naive engine, with as many steps as it needs. This is the definition that all others
    /// follow.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    #[doc(hidden)]
    pub fn naive(stages: Vec<Stage>, unicode: &UnicodeTables) -> Result<Self> {
        Self::with_options(stages, unicode, CompileOptions { is_naive: true, ..Default::default() })
    }

    fn with_options(
        stages: Vec<Stage>,
        unicode: &UnicodeTables,
        options: CompileOptions,
    ) -> Result<Self> {
        let parse = |stage: &Stage| parse(&stage.pattern, unicode);
        let parsed = stages.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let may_match_nothing = parsed.iter().any(|parsed| parsed.root.is_nullable());
        let groups = match options.is_naive {
            true => (0..stages.len()).map(|at| at..at + 1).collect(),
            false => step::groups(&stages, &parsed),
        };
        let mut steps = Vec::new();
        for group in groups {
            let (stages, parsed) = (&stages[group.clone()], &parsed[group]);
            if let Some(step) = Step::of_several(stages, parsed, options) {
                steps.push(Arc::new(step));
                continue;
            }
            for (stage, parsed) in stages.iter().zip(parsed) {
                let engine = compile(parsed, &stage.pattern, options)?;
                steps.push(Arc::new(Step { stage: stage.clone(), n_stages: 1, engine }));
            }
        }
        Ok(Self { compiled: Arc::new(Compiled { stages, steps, may_match_nothing }) })
    }

    /// The splitter without a stage: the whole text is one piece.
    ///
    /// ```
    /// assert_eq!(bytepair_split::Splitter::whole().pieces(b"one two")?, [b"one two"]);
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn whole() -> Self {
        Self { compiled: Arc::default() }
    }

    /// Cuts out runs of some characters first. Each run, and each text between two runs, is one piece for the first
    /// stage of this splitter.
    #[must_use]
    pub fn behind(&self, repeats: &[Repeat]) -> Self {
        let stage = Repeats::stage(repeats);
        let engine = Engine::Repeats(Repeats::new(repeats));
        let first = Arc::new(Step { stage: stage.clone(), n_stages: 1, engine });
        let mut compiled = Compiled::clone(&self.compiled);
        compiled.stages.insert(0, stage);
        compiled.steps.insert(0, first);
        Self { compiled: Arc::new(compiled) }
    }

    /// The stages that the splitter was made from.
    pub fn stages(&self) -> &[Stage] {
        &self.compiled.stages
    }

    /// Splits `text` from `from`, which is 0 or where an earlier call stopped, until at least the block length of
    /// `boundaries` is covered or the text ends. Returns where it stopped. [`Boundaries`] has an example.
    ///
    /// # Errors
    /// [`ErrorKind::StepLimit`] with the place in the text, if a match needs too many steps. This happens only for
    /// patterns that do not run as an automaton.
    pub fn split_block(
        &self,
        text: &[u8],
        from: usize,
        boundaries: &mut Boundaries,
    ) -> Result<usize> {
        boundaries.begin(from);
        if from >= text.len() {
            return Ok(text.len());
        }
        let Some((first, later)) = self.compiled.steps.split_first() else {
            boundaries.marked.starts.insert(0);
            boundaries.end = text.len();
            return Ok(text.len());
        };
        let end = split_first(first, text, from, boundaries)?;
        // If the stage joins pieces, the last start begins the next block.
        boundaries.marked.starts.truncate(end - from);
        boundaries.finish_stage(end, &first.stage);
        later.iter().try_for_each(|step| split_pieces(step, text, boundaries))?;
        Ok(end)
    }

    /// Visits all pieces in order, as byte ranges of `text`, except dropped ones.
    ///
    /// ```
    /// use bytepair_split::{Error, Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("words").unwrap(), &UnicodeTables::latest())?;
    /// let mut ranges = Vec::new();
    /// splitter.for_each_piece(b"one two", |range| {
    ///     ranges.push(range);
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(ranges, [0..3, 4..7]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `visit`, and those of [`Self::split_block`].
    pub fn for_each_piece<E: From<Error>>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut boundaries = Boundaries::default();
        let mut from = 0;
        while from < text.len() {
            from = self.split_block(text, from, &mut boundaries)?;
            boundaries.pieces().try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// All pieces in order, except dropped ones.
    ///
    /// # Errors
    /// Those of [`Self::split_block`].
    pub fn pieces<'t>(&self, text: &'t [u8]) -> Result<Vec<&'t [u8]>> {
        let mut pieces = Vec::new();
        self.for_each_piece(text, |range| -> Result<()> {
            pieces.push(&text[range]);
            Ok(())
        })?;
        Ok(pieces)
    }

    /// The first place at or after `near` where cutting the text in two changes no piece; the end of the text counts.
    /// `None` if there is none within 64 KiB, or if none can be proven.
    ///
    /// Only neighbouring characters are considered ([`Self::is_safe_cut`]). A pattern for the backtracker has no such
    /// place, and neither has a splitter without stages.
    ///
    /// ```
    /// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
    /// // Between a letter and a space, whatever surrounds them.
    /// assert_eq!(splitter.safe_cut(b"one two", 1), Some(3));
    /// assert_eq!(Splitter::whole().safe_cut(b"one two", 1), None);
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn safe_cut(&self, text: &[u8], near: usize) -> Option<usize> {
        if !self.has_safe_cuts() {
            return None;
        }
        if near == 0 || near >= text.len() {
            return Some(near.min(text.len()));
        }
        let mut place = symbol::boundary_at_or_after(text, near);
        let limit = near.saturating_add(SAFE_CUT_SEARCH);
        while place < text.len() && place <= limit {
            if self.is_safe_cut(text, place) {
                return Some(place);
            }
            place += symbol::code_at(text, place).1;
        }
        (place >= text.len()).then_some(text.len())
    }

    /// Where the last piece of a text starts, and the state of each stage at its end. `None` if that piece does not end
    /// with the text, or if that is not known.
    ///
    /// The last piece of each stage lies in that of the stage before, and all of them end with the text. Cost: a split
    /// of the text for each stage.
    ///
    /// ```
    /// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
    /// let (start, mut piece) = splitter.open_piece(b"one tw").unwrap();
    /// assert_eq!(start, 3);
    /// // Another letter makes the piece longer; a full stop does not.
    /// assert!(splitter.grow(b"one two", 6, &mut piece).is_some());
    /// assert!(splitter.grow(b"one two.", 7, &mut piece).is_none());
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn open_piece(&self, text: &[u8]) -> Option<(usize, OpenPiece)> {
        let (mut start, mut states) = (0, Vec::new());
        for step in &self.compiled.steps {
            let running = step.running()?;
            let rest = &text[start..];
            let mut block = Boundaries::new(rest.len());
            let end = split_first(step, rest, 0, &mut block).ok()?;
            block.finish_stage(end, &step.stage);
            let last = block.marked.starts.last_up_to(rest.len().checked_sub(1)?)?;
            start += Some(last).filter(|&last| !block.is_dropped(last))?;
            states.push(running.state_behind(text, Position::between_pieces(start))?);
        }
        Some((start, OpenPiece(states.into())))
    }

    /// Continues from `from` to the end of a text that has grown. `None` if the last piece of some stage does more than
    /// become longer, or if that is not known. Cost: linear in the added text.
    ///
    /// After `None` the piece must not be used again. [`Self::open_piece`] has an example.
    pub fn grow(&self, text: &[u8], from: usize, piece: &mut OpenPiece) -> Option<()> {
        for (step, state) in self.compiled.steps.iter().zip(&mut piece.0) {
            *state =
                step.running()?.state_behind(text, Position { offset: from, state: *state })?;
        }
        Some(())
    }

    /// Whether texts may have safe cuts, which is the case if the first stage is an automaton.
    pub fn has_safe_cuts(&self) -> bool {
        let first = self.compiled.steps.first();
        first.is_some_and(|step| matches!(step.engine, Engine::Automaton(_)))
    }

    /// Whether cutting the text in two at a place changes no piece, whatever surrounds the two characters next to it.
    pub fn is_safe_cut(&self, text: &[u8], place: usize) -> bool {
        self.cut_at(text, place) == Some(Cut::Border)
    }

    /// What cutting the text in two at a place does, whatever surrounds the two characters next to it. `None` if it
    /// may do more than divide a piece.
    ///
    /// It changes nothing if the first stage certainly ends a match there, or drops the text before it. If that stage
    /// at most divides one of its pieces, the next stage decides.
    ///
    /// ```
    /// use bytepair_split::{Cut, Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("qwen2").unwrap(), &UnicodeTables::latest())?;
    /// assert_eq!(splitter.cut_at(b"one two", 3), Some(Cut::Border));
    /// assert_eq!(splitter.cut_at(b"one two", 2), Some(Cut::Division));
    /// assert_eq!(splitter.cut_at(b"one two", 4), None);
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn cut_at(&self, text: &[u8], place: usize) -> Option<Cut> {
        if place == 0 || place >= text.len() {
            return (place <= text.len()).then_some(Cut::Border);
        }
        for Step { stage, engine, .. } in self.compiled.steps.iter().map(Arc::as_ref) {
            let Engine::Automaton(machine) = engine else { return None };
            let automaton = machine.automaton();
            let [before, after] = automaton.classes_around(text, place)?;
            let join = Join::by(stage);
            // A match ends at a safe cut, and it is not known whether a match follows.
            let ends_match =
                automaton.is_safe(before, after) && matches!(join, None | Some(Join::MatchToRest));
            let drops_before = automaton.is_never_matched(before)
                && join.is_none()
                && stage.unmatched() == Some(Unmatched::Drop);
            if ends_match || drops_before {
                return Some(Cut::Border);
            }
            if !automaton.divides_at_most(before, after) {
                return None;
            }
        }
        Some(Cut::Division)
    }

    /// For each text, which must be UTF-8 and not empty: whether it is proven that no piece of any text contains it.
    ///
    /// Cost: the states times the symbols of these texts, for each stage.
    ///
    /// ```
    /// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
    /// assert_eq!(splitter.never_hold(&[b"a b", b" b"]), [true, false]);
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn never_hold(&self, texts: &[&[u8]]) -> Vec<bool> {
        let holding: Vec<_> =
            self.compiled.steps.iter().filter_map(|step| Holding::of(step)).collect();
        let is_cut = |text: &&[u8]| holding.iter().any(|holding| !holding.holds(text));
        texts.iter().map(is_cut).collect()
    }

    /// Whether a pattern may match the empty text. In the Oniguruma flavour such a match is a cut, as in Hugging Face
    /// tokenizers; in the Rust flavour it is no match.
    pub fn may_match_nothing(&self) -> bool {
        self.compiled.may_match_nothing
    }

    /// Whether it is proven that no text has an unmatched character and that every match is a piece. Then the pieces of
    /// a text, joined, are the text.
    pub fn covers_everything(&self) -> bool {
        self.compiled.steps.iter().all(|step| step.covers_everything())
    }

    /// One line per stage, or per group of stages that run at once: the engine and the size of its tables. Cost: a few
    /// milliseconds at most, since it builds the tables that splitting builds only when they pay.
    ///
    /// ```
    /// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
    ///
    /// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
    /// assert!(splitter.explain()[0].starts_with("automaton, "));
    /// # Ok::<(), bytepair_split::Error>(())
    /// ```
    pub fn explain(&self) -> Vec<String> {
        self.compiled.steps.iter().map(|step| step.in_words()).collect()
    }
}

/// Runs the first stage; returns where the block ends.
///
/// If the stage joins pieces, a block may not end inside a piece that a later join makes longer. So the block ends where
/// its last joined piece starts, and grows until it has two of them.
fn split_first(
    step: &Step,
    text: &[u8],
    from: usize,
    boundaries: &mut Boundaries,
) -> Result<usize> {
    let mut length = boundaries.block_len;
    loop {
        let limit = from.saturating_add(length).min(text.len());
        let task = Task { text, from, limit, shift: 0_usize.wrapping_sub(from) };
        let end = scan(step, task, 0, boundaries)?;
        let Some(join) = Join::by(&step.stage) else { return Ok(end) };
        boundaries.marked.join(0..end - from, join);
        if end >= text.len() {
            return Ok(end);
        }
        if let Some(last) = boundaries.marked.last_start(end - from) {
            return Ok(from + last);
        }
        boundaries.begin(from);
        length = length.saturating_mul(2);
    }
}

/// Runs a later stage on every piece of a block that was not dropped.
fn split_pieces(step: &Step, text: &[u8], boundaries: &mut Boundaries) -> Result<()> {
    let join = Join::by(&step.stage);
    let (start, end) = (boundaries.start, boundaries.end);
    let is_done = match &step.engine {
        Engine::Automaton(machine) if join.is_none() => {
            let Boundaries { marked, dropped, has_dropped, scratch, .. } = &mut *boundaries;
            let dropped = has_dropped.then_some(&*dropped);
            machine.run_pieces(&text[start..end], marked, dropped, scratch)
        }
        _ => false,
    };
    let mut next = boundaries.piece_from(start).filter(|_| !is_done);
    while let Some(piece) = next {
        if !boundaries.is_dropped(piece.start) {
            let shift = piece.start - start;
            let task = Task { text: &text[piece.clone()], from: 0, limit: piece.len(), shift };
            scan(step, task, piece.start, boundaries)?;
            join.inspect(|&join| boundaries.marked.join(shift..shift + piece.len(), join));
        }
        next = boundaries.piece_from(piece.end);
    }
    boundaries.finish_stage(end, &step.stage);
    Ok(())
}

/// Runs one stage; `text_start` is where the text of the task begins in the whole text.
fn scan(
    step: &Step,
    task: Task<'_>,
    text_start: usize,
    boundaries: &mut Boundaries,
) -> Result<usize> {
    let Boundaries { marked, scratch, .. } = boundaries;
    step.engine.scan(task, marked, scratch).map_err(|gave_up| {
        let pattern = step.stage.pattern.source.clone();
        let offset = text_start + gave_up.offset;
        ErrorKind::StepLimit { pattern, offset, limit: backtrack::STEP_LIMIT }.into()
    })
}

impl std::fmt::Debug for Splitter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Splitter").field("stages", &self.compiled.stages).finish()
    }
}

impl PartialEq for Splitter {
    fn eq(&self, other: &Self) -> bool {
        self.stages() == other.stages()
    }
}

impl Eq for Splitter {}
