"""Extending a vocabulary with tokens learned from a corpus.

Resumed training learns new merges on text that the base has encoded, and appends them behind all
others. Therefore:

- Old ids, merges and added tokens stay. New ids follow the largest one, including those of added
  tokens and of tokens that only the settings beside a file name.
- Encoding first does all that the base does, and then joins some neighbours. So no text gets longer,
  and a text without any new pair keeps its ids.
- Every new token is what its own units are merged to: it was made from them when it was learned.
- The first k additions do not depend on how many follow.
- With a scope, only tokens that cannot occur in other text are learned, so other text keeps its ids.

Left out: new units. A character that the base has no token for gets none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair._labels import argument
from bytepair._plurals import amount
from bytepair._ranges import check_index, check_range
from bytepair._results import Result
from bytepair._training.progress import Progress, reporter
from bytepair.analyze._compare.own_texts import own_texts
from bytepair.errors import TokenizerError, TrainingError

from ._corpus import CorpusOptions, given_options, learn
from ._reports import added_line
from ._scopes import GivenScope, Scope, scope_of
from ._surgery import Base, Given, Surgery
from ._tokens import names_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import Unpack

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair._training.vetoes import GivenCuts
    from bytepair._weights import Weight
    from bytepair.data._sources import Corpus

__all__ = ["ExtendOptions", "ExtensionReport", "extend"]

MOST_IDS = 1 << 32


class ExtendOptions(CorpusOptions, total=False):
    """Which tokens are learned, and the corpus; see :func:`extend`."""

    scope: GivenScope | None
    min_count: int | None
    min_piece_count: int | None
    max_token_bytes: int | None
    max_token_chars: int | None
    whole_characters: bool | None
    max_words: int | None
    one_script: bool
    forbid: str | Sequence[str] | None
    veto: Callable[[str, str], bool] | None
    cuts: GivenCuts | StrPath | None


@dataclass(frozen=True, repr=False)
class ExtensionReport(Result):
    """What :func:`bytepair.surgery.extend` did.

    Attributes
    ----------
    asked, added
        How many tokens were asked for, and how many were added.
    first_id
        The id of the first new token; the others follow.
    curve
        By number of added tokens, from 0 on: the tokens of the corpus. Since the first additions do
        not depend on later ones, this also holds for each smaller ``add``.
    n_bytes
        The size of the corpus in bytes.
    best_count_at_stop
        If fewer tokens were added than asked for: how often the most frequent remaining pair occurs.
    within_others
        New tokens whose own text is not encoded with them, since it lacks the rest of a character,
        of a word or of what the pattern looks at. They occur only within longer texts.
    scope
        What the new tokens are limited to, if anything.
    """

    asked: int
    added: int
    first_id: int
    curve: tuple[int | float, ...]
    n_bytes: int | float
    best_count_at_stop: int | float | None
    within_others: tuple[int, ...]
    scope: str | None = None

    @property
    def knee(self) -> int | None:
        """Where the curve bends: the point farthest from the line between its ends, as Kneedle defines it.

        ``None`` if it does not bend.
        """
        return knee_of(self.curve)

    @property
    def tokens_before(self) -> int | float:
        """The tokens of the corpus, encoded by the base; a special token in a text is one."""
        return self.curve[0]

    @property
    def tokens_after(self) -> int | float:
        """The tokens of the corpus with all new tokens."""
        return self.curve[-1]

    def saved(self, n_added: int) -> float:
        """Return the share of the tokens of the corpus that the first additions save.

        >>> report = ExtensionReport(2, 2, 258, (100, 80, 70), 400, None, ())
        >>> report.saved(1), report.saved(2)
        (0.2, 0.3)

        Raises
        ------
        TokenizerError
            There are fewer additions.
        """
        check_index(n_added=n_added)
        if not 0 <= n_added < len(self.curve):
            message = f"n_added must be between 0 and {len(self.curve) - 1:,}, not {n_added:,}"
            raise TokenizerError(message)
        before = self.tokens_before
        return (before - self.curve[n_added]) / before if before else 0.0

    def _texts(self) -> Iterable[str]:
        from ._draw import curve_lines

        return (*curve_lines(self), *self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes and their reasons in lines, for a reader."""
        first = added_line(self.first_id, self.added)
        if not self.added:
            return (first, *self._limit(), *self._stop())
        lines = [
            first,
            f"tokens of the corpus: {self.tokens_before:,} → {self.tokens_after:,}, "
            f"{100 * self.saved(self.added):.2f} % less",
        ]
        if self.knee is not None:
            share = 100 * self.saved(self.knee)
            lines.append(f"the curve bends at {self.knee:,} added: {share:.2f} % less")
        if self.within_others:
            lines.append(
                f"{amount(len(self.within_others), 'new token')} used only within longer texts"
            )
        return (*lines, *self._limit(), *self._stop())

    def _limit(self) -> list[str]:
        if self.scope is None:
            return []
        return [
            f"limited to {self.scope}: text that has none of its characters, once "
            "normalized, keeps its ids"
        ]

    def _stop(self) -> list[str]:
        if self.added == self.asked:
            return []
        count = self.best_count_at_stop or 0
        found = (
            "no pair is left that may be merged"
            if not count
            else f"the most frequent pair that is left occurs {amount(int(count), 'time')}"
        )
        return [f"fewer than the {self.asked:,} asked for: {found}"]

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "asked": self.asked,
            "added": self.added,
            "first_id": self.first_id,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "saved": round(self.saved(self.added), 6),
            "knee": self.knee,
            "bytes": self.n_bytes,
            "best_count_at_stop": self.best_count_at_stop,
            "within_others": list(self.within_others),
            "scope": self.scope,
            "curve": list(self.curve),
        }


def extend(
    tokenizer: Given,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    add: int | None = None,
    **options: Unpack[ExtendOptions],
) -> Surgery[ExtensionReport]:
    """Add the tokens that save most tokens of a corpus.

    Old ids, merges and added tokens stay as they are. A text's new encoding is the old one with some
    neighbours joined. The first k new tokens do not depend on ``add``, so ``report.curve`` shows what
    each smaller number saves. :func:`add_strings` adds given tokens.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path. With a path, tokens that only ``tokenizer_config.json`` or
        ``added_tokens.json`` beside it names also keep their ids.
    corpus, texts, counts
        What to learn from; give one of these: files as :func:`bytepair.train` takes them, texts, or
        pieces with their counts as :func:`bytepair.train_from_counts` takes them.
    add
        How many tokens to learn from a corpus. Fewer are added once no pair occurs ``min_count``
        times; the report says so.
    scope
        Learn only tokens that occur in no text without certain characters, so that all other text
        keeps its ids: the name of a script (``"Devanagari"``), several separated by commas or in a list, single characters, and ranges (``"U+0900-U+097F"``,
        ``"a-z"``, ``range(0x900, 0x980)``). Characters are compared after normalization.
    min_count
        How often a pair must occur to become a token: 2 if not given.
    min_piece_count, cuts
        Which pieces are learned from, and where they are cut; see :func:`bytepair.train`.
    max_token_bytes, max_token_chars, whole_characters, max_words, one_script, forbid, veto
        Which tokens may be learned; see :func:`bytepair.train`.
    input_format, field, lines, separator, skip_bad, memory_limit
        How the files of ``corpus`` are read; see :func:`bytepair.train`.
    threads, progress
        Those of :func:`bytepair.train`. The result does not depend on ``threads``.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=3)
    >>> [found.tokenizer.decode([id_]) for id_ in range(258, 261)]
    ['de', 'ide', 'wide']
    >>> found.report.curve
    (153, 126, 99, 72)
    >>> texts = ["wide नमस्ते wide नमस्ते"] * 9
    >>> found = surgery.extend(base, texts=texts, add=3, scope="Devanagari")
    >>> found.tokenizer.encode("wide") == base.encode("wide")
    True

    Raises
    ------
    TrainingError
        There is nothing to learn from, or an option has an invalid value.
    TokenizerError
        The errors of :func:`bytepair.train`, and those of reading the tokenizer.
    TrainingInterrupted
        Ctrl-C; its ``tokenizer`` holds what has been learned so far.
    """
    given = given_options("extend", corpus, options, ExtendOptions)
    add = _checked(add)
    scope = given.pop("scope", None)
    within = None if scope is None else scope_of(scope)
    base = Base.of(tokenizer)
    first_id = base.tokenizer.n_vocab
    if first_id + add > MOST_IDS:
        message = f"{argument('add')}: {first_id:,} ids and {add:,} more exceed the largest number of ids"
        raise TrainingError(message)
    if within is not None:
        _check_alphabet(base.tokenizer, within)
        given["scope"] = within.ranges
    course: list[int | float] = []
    watch = _Watch(reporter(given.pop("progress", None)))
    learning = {
        **given,
        "vocab_size": first_id + add,
        "progress": watch,
        "on_course": course.extend,
    }
    extended = learn(base.tokenizer, learning)
    new = range(first_id, extended.n_vocab)
    report = ExtensionReport(
        asked=add,
        added=len(new),
        first_id=first_id,
        curve=tuple(course),
        n_bytes=watch.last.get("bytes", 0),
        best_count_at_stop=watch.last.get("best_count_at_stop"),
        within_others=tuple(i for i, text in own_texts(extended, new) if text is None),
        scope=within.name if within else None,
    )
    if "counts" in given:
        _check_pieces(extended, report.within_others)
    return base.extended(extended, report)


def _check_pieces(extended: Tokenizer, within_others: Iterable[int]) -> None:
    """Refuse pieces that the tokenizer would cut, if what was learned of them can never occur."""
    from bytepair.analyze._compare.extension import unreached_of

    never = unreached_of(extended, dict.fromkeys(within_others))
    if not never:
        return
    first = quoted(*names_of(extended, [min(never)]))
    message = (
        f"counts: {amount(len(never), 'new token')} could never occur, such as {first}: the "
        "tokenizer does not cut text into the pieces that were counted; count those that its "
        "split() gives"
    )
    raise TrainingError(message)


def _check_alphabet(base: Tokenizer, scope: Scope) -> None:
    """Refuse a scope whose characters the tokenizer has no tokens for."""
    texts = [token for token in base.vocabulary if token is not None]
    if any(isinstance(text, bytes) or scope.holds_of(text) for text in texts):
        return
    message = (
        f"{argument('scope')}: the tokenizer has no token with a character of {scope.name}, and new "
        "characters cannot be added"
    )
    raise TrainingError(message)


def _checked(add: int | None) -> int:
    check_range(add=add)
    if add is None:
        message = "add must be a whole number, not None"
        raise TypeError(message)
    return add


class _Watch:
    """Keeps the last report of training, and passes all on."""

    def __init__(self, reporter: Any) -> None:  # noqa: ANN401 -- a function or None
        self.reporter = reporter
        self.last: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        self.last = progress.report or self.last
        if self.reporter:
            self.reporter(progress)


def knee_of(curve: Sequence[int | float]) -> int | None:
    """Find the point of a falling curve that is farthest below the line between its ends.

    >>> knee_of([100, 60, 50, 45, 41])
    1
    >>> knee_of([100, 90, 80])
    """
    last = len(curve) - 1
    if last < 1:
        return None
    fall = curve[0] - curve[last]

    # Both axes from 0 to 1, and multiplied by their lengths, so that whole numbers stay whole.
    def below(k: int) -> int | float:
        return (curve[0] - curve[k]) * last - k * fall

    best = max(range(last + 1), key=below)
    return best if below(best) > 0 else None
