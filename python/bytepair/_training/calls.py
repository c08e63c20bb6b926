"""Learning a tokenizer: from files, from texts, from counts.

All three collect pieces and their counts, and then learn merges from these alone. Their options are declared once, as types.
Unknown keywords are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bytepair._expected import refuse_unknown
from bytepair._labels import argument
from bytepair._names import in_order, refuse_set
from bytepair._weights import Weight, whole_multipliers
from bytepair.errors import FileError, TrainingError

from .learning import Learner
from .options import FileOptions, TextOptions, TrainingOptions
from .parity import groups_of, refuse_without_order
from .superwords import learn_beyond_words, refuse_superwords

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair.data._counts import Counts
    from bytepair.data._sources import Corpus

__all__ = ["refuse_text_options", "train", "train_from_counts", "train_from_iterator"]

READING = ("input_format", "field", "lines", "separator", "skip_bad", "memory_limit")
"""Options that say how text is read, which counts have no use for."""
INTERNAL = ("on_counted", "on_log", "on_course", "scope")
"""Options of commands and of surgery, which users do not have."""


def train(
    files: Corpus | Mapping[StrPath, Weight], **options: Unpack[FileOptions]
) -> Tokenizer:
    r"""Train a tokenizer on files.

    Files are read block by block: memory is bounded by the distinct pieces of text,
    not by the size of the corpus. The result does not depend on ``threads``.

    Parameters
    ----------
    files
        Files, folders, globs and addresses that fsspec opens; ``-`` is standard input. Text,
        JSON lines, Parquet, CSV and TSV, compressed (``.gz``, ``.zst``, ``.xz``, ``.bz2``) or
        not, are read as by :func:`bytepair.scale.count`. A text file is one text. A single
        file of counts is trained on as by :func:`train_from_counts`. A
        mapping gives each path a weight: ``{"en.txt": 1.0, "fa.txt": 4.0}`` counts every
        piece of the second file four times. Weights are taken exactly, as decimal
        numbers; ``min_count`` and ``min_piece_count`` are compared with weighted counts.
    vocab_size, merges
        Where to stop; one of them, or neither to go on until no pair occurs
        ``min_count`` times. ``vocab_size`` counts the alphabet, the unknown token and
        the special tokens too.
    dialect
        One of :func:`bytepair.dialects`, by default ``"gpt4o"``: how text is normalized
        and split, what its units are, which pair is merged first.
    special_tokens
        They get the last ids, in their order; a set has no order and is refused. Where they
        occur in the corpus, they end a text and are not counted.
    input_format
        ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``: the format of all files,
        whatever their names are. ``"text"`` takes their bytes as they are. Without it,
        the name and the first bytes of a file must agree.
    field
        Where the text is: the keys in a line of JSON (``data.body``), or the column; by
        default ``text``.
    lines
        Whether each line of a text file is a text.
    separator
        A text between the documents of one text file, such as ``<|endoftext|>``.
    skip_bad
        Whether lines of JSON, CSV and TSV without a text are left out instead of refused;
        ``bad`` in the report is their number.
    threads
        The number of threads; by default that of the processors.
    memory_limit
        The memory for counting and learning, in bytes, within a fifth; the rest goes to
        temporary files (in ``TMPDIR``). The result is the same. What does not fit
        is an error: a document of more than a sixteenth, and more distinct pieces than can be
        learned from, which ``min_piece_count`` makes few (``docs/explanation/limits.md``).
    progress
        ``True`` shows a line on the terminal; a function is called with
        :class:`bytepair.Progress` a few times a second and at the end.
    **options
        Parts of the dialect set one by one, see ``DialectOptions``; then what is learned
        in it, see ``TrainingOptions``:

        ``pattern``
            A regular expression, the name of one (:func:`bytepair.patterns`), or a
            list of either: stages that split one after the other. ``""``: none.
        ``pattern_flavour``
            ``"rust"`` (tiktoken) or ``"oniguruma"`` (Hugging Face).
        ``unmatched``
            ``"keep"`` or ``"drop"`` what the pattern does not match.
        ``normalize``
            Steps: ``"nfc"``, ``"nfkc"``, ``"lowercase"``, ``"spaces"`` (each written as
            ``▁``), ``("replace", old, new)``, ``("prepend", text)`` before the text,
            ``("prepend_each", text)`` before each segment between added tokens. Lower case
            has an option of its own.
        ``lowercase``
            ``"always"``, ``"training"`` or ``"never"``.
        ``unit``, ``byte_ids``
            ``"byte"`` (ids ``"printable"`` or ``"value"``) or ``"character"``.
        ``end_mark``, ``end_mark_kind``, ``continuing_prefix``
            Marks of characters dialects.
        ``unknown_token``, ``fuse_unknown``, ``byte_fallback``
            How characters outside the alphabet are encoded.
        ``ties``, ``min_count``
            The order of equally frequent pairs, and how often a pair must occur.
        ``max_token_bytes``, ``max_token_chars``
            The length of the longest token that is learned, without marks.
        ``whole_characters``
            Learn no token that ends within a character, unless it is a part of one.
        ``max_words``, ``one_script``
            Learn no token of more words than this, where only spaces separate words; and no
            token with characters of several scripts.
        ``forbid``
            Learn no token in which this pattern matches: a regular expression,
            ``"colon-space"``, ``"letter-digit"``, or a list of these. The text of a token does
            not include marks.
        ``veto``
            A function that takes two tokens, with their marks, and returns whether they must
            not be merged. It is called once in each stage for each pair that is frequent enough.
        ``cuts``
            A function that takes a piece, such as ``" lower"``, and returns its parts as a list of
            texts, ``[" low", "er"]``. No merge crosses from one part to the next. Or a file of
            words, one in each line, with spaces where they are cut (``un happi ness``); they are
            cut where they are whole words of a piece. Cuts apply only to training. Functions get
            bytes that are not UTF-8 as lone surrogates, as from :func:`os.fsdecode`.
        ``superwords``, ``superword_pattern``, ``whole_words``
            Learn this many merges within words, which the pattern of the dialect separates.
            Then read the text again, split by the second pattern, and learn merges beyond
            words, up to the size. By default, the second pattern is ``"superwords"``, which splits
            off little but numbers and runs of punctuation. The tokenizer has the second pattern.
            With ``whole_words``, only words that are one token each are joined. ``superwords="auto"``
            does that too, and lets merges beyond words replace less frequent ones within words.
        ``parity``
            ``True`` or a :class:`bytepair.Parity`: each of ``files``, a file, a glob or a folder,
            is a group, such as a language, and the group most in need chooses the next merge.
            ``groups`` in the report has the length of the text of each, in tokens, before and after.
        ``min_piece_count``
            Leave out pieces that occur less often. The report says how many; characters
            and tokens are those of the pieces that stay.
        ``min_sources``
            Leave out pieces that occur in fewer documents than this, or in fewer of the chosen
            groups of counts by group, whatever their weights.
        ``character_coverage``, ``max_alphabet``
            For dialects of characters: which of them get ids. As few of the most frequent ones
            as make up this share of the text (``0.9995``, as in SentencePiece), and at most so
            many (as ``limit_alphabet`` of Hugging Face's trainers); of equally frequent ones
            those of smaller code points. No token contains a character that is left out. It is
            unknown in encoding too: its bytes, the unknown token or an error, as the dialect
            says. The report says in ``left_out`` what was. Where training goes on from a
            tokenizer, its alphabet stays as these options made it.
        ``resume``
            A tokenizer, or its path, to continue from. All of its ids stay: those of
            its tokens, of its added tokens and, for the path of a published folder or of
            a file in it, those that only ``tokenizer_config.json`` or
            ``added_tokens.json`` names. New tokens get the ids after the largest one.
            ``vocab_size`` and ``merges`` count existing ones, too. On the corpus and with
            the options of its own training it learns the merges that training at once
            learns, and without special tokens the result is the same. The dialect is that
            of the tokenizer; options that it does not store (``ties``, ``min_count``, lower case in
            training alone) are those of the call, or of the named dialect with the same
            parts.
        ``initial_merges``
            Merges to begin with, as pairs of tokens: ``tokenizer.merges`` or the first of them.
            Their tokens get the ids that they would get if they were learned.
        ``log``
            Where to write the merge log (:func:`bytepair.read_log`). Where training
            goes on and the file is the log so far, new steps follow the earlier ones.

    Raises
    ------
    TokenizerError
        A :class:`~bytepair.FileError` for a file that cannot be read, an
        :class:`~bytepair.EncodingError` for text that is not UTF-8 in a dialect of
        characters, a :class:`~bytepair.PatternError`, or a
        :class:`~bytepair.TrainingError` where there is nothing to learn from.
    TrainingInterrupted
        Ctrl-C; its ``tokenizer`` has what was learned until then.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("low lower lowest " * 100)
    >>> tokenizer = bytepair.train(folder / "*.txt", vocab_size=260)
    >>> tokenizer.tokenize("low lower")
    ['low', ' lowe', 'r']
    """
    _check("train", options, FileOptions)
    if isinstance(files, Iterator):
        files = list(files)
    if isinstance(files, str) and " " in files and not os.path.exists(files):  # noqa: PTH110
        message = f"{files!r}: no such file; to train on a text, pass [text] to train_from_iterator"
        raise FileError(message)
    if options.get("log") is not None:
        _refuse_overwriting(files, options)
    counts = counts_file(files)
    if counts is not None:
        given: dict[str, Any] = dict(options)
        idle = {name: given.pop(name, None) for name in READING}
        refuse_text_options(**{n: v for n, v in idle.items() if v is not False})
        return train_from_counts(counts, **given)
    from .reading import count_files, read_options

    reading = read_options(options)
    weights = list(files.values()) if isinstance(files, Mapping) else []
    multipliers, scale = whole_multipliers(weights)
    if isinstance(files, (str, bytes, os.PathLike)):
        files = [files]
    groups = groups_of(options, files)

    def learn(learner: Learner) -> Tokenizer:
        with learner.counting():
            count_files(learner, files, multipliers, reading)
        return learner.learn()

    if refuse_superwords(options, files):
        return learn_beyond_words(learn, options, scale)
    return learn(Learner(options, scale, groups=groups))


def train_from_iterator(
    texts: Iterable[str | bytes] | Mapping[str, Iterable[str | bytes]],
    **options: Unpack[TextOptions],
) -> Tokenizer:
    """Train a tokenizer on texts, each ``str`` or ``bytes``; see :func:`train`.

    With ``parity``, ``texts`` is a mapping from the name of each group to its texts.

    >>> import bytepair
    >>> texts = ["newer newer newer", "lower lower"]
    >>> tokenizer = bytepair.train_from_iterator(
    ...     texts, merges=3, dialect="jurafsky-martin"
    ... )
    >>> tokenizer.merges
    [('w', 'e'), ('we', 'r'), ('wer', '_')]
    """
    _check("train_from_iterator", options, TextOptions)
    refuse_set("texts", texts, "the result")
    by_name = texts if isinstance(texts, Mapping) else None
    groups = groups_of(options, by_name)
    if by_name is not None and groups.parity is None:
        message = "texts is a mapping, so its keys are groups; give parity=True, or a list of texts"
        raise TrainingError(message)
    corpora: list[Any] = [texts]
    if by_name is not None:
        corpora = [*by_name.values(), *groups.parallel]
    if any(isinstance(corpus, (str, bytes)) for corpus in corpora):
        message = "expected an iterable of texts, not one text; put it in a list"
        raise TypeError(message)

    def learn(learner: Learner) -> Tokenizer:
        with learner.counting():
            for place, corpus in enumerate(corpora):
                for batch in _batches(iter(corpus)):
                    learner.count_texts(batch, place)
        return learner.learn()

    if refuse_superwords(options, texts):
        return learn_beyond_words(learn, options, 1)
    return learn(Learner(options, groups=groups))


def train_from_counts(
    counts: Mapping[str, int]
    | Mapping[bytes, int]
    | Mapping[str | bytes, int]
    | Counts
    | StrPath,
    *,
    groups: Iterable[str] | Mapping[str, Weight] | None = None,
    **options: Unpack[TrainingOptions],
) -> Tokenizer:
    """Train a tokenizer on pieces that are already counted; see :func:`train`.

    ``counts`` gives for each piece how often it occurs. The pieces are taken as they
    are, neither normalized nor split; their order is that of their first occurrence.

    Or it is what :func:`bytepair.scale.count` gave, or its file. Then the dialect, the parts
    of it set one by one and the special tokens are those of the counting, unless others are
    named that prepare text in the same way; the result is that of training on the text.
    Where it was counted by group, ``groups`` chooses some or gives each a weight, as
    :func:`train` does for files; by default all are added up, or with ``parity`` kept apart
    in the order of their names. The report says how many
    pieces were left out of such counts.

    >>> import bytepair
    >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> tokenizer = bytepair.train_from_counts(
    ...     counts, merges=3, dialect="unknown-token"
    ... )
    >>> tokenizer.tokenize("thug")
    ['[UNK]', 'hug']
    """
    _check("train_from_counts", options, TrainingOptions)
    refuse_superwords(options, None)
    if isinstance(counts, Mapping):
        if groups is not None:
            message = "groups: a mapping of pieces has no groups"
            raise TrainingError(message)
        learner = Learner(options, groups=groups_of(options, None))
        learner.add_counts(counts)
        return learner.learn()
    if options.get("log") is not None:
        _refuse_overwriting([counts], options)
    stored = _stored(counts)
    dialect, parts = stored.parts(options.get("dialect"), options)
    special_tokens = in_order("special_tokens", options.get("special_tokens", ()))
    names = special_tokens or stored.info.special_tokens
    if groups is None and options.get("parity"):
        refuse_without_order(options["parity"])
        groups = sorted(stored.info.groups) or None
    multipliers, scale = stored.weights_of(groups)
    parts |= {"dialect": dialect, "special_tokens": names}
    learner = Learner(parts, scale, groups=groups_of(options, multipliers))
    learner.add_stored(stored, names, multipliers)
    if learner.groups.parallel:
        from .reading import count_files, read_options

        with learner.counting():
            count_files(learner, [], [], read_options({}))
    return learner.learn()


def _check(function: str, options: TrainingOptions, kind: type) -> None:
    """Refuse keywords that a function does not have, and two targets."""
    names = [name for name in options if name not in INTERNAL]
    refuse_unknown(function, names, kind.__annotations__)
    target = [options.get("vocab_size"), options.get("merges")]
    if None not in target:
        message = "give either vocab_size or merges, not both"
        raise TrainingError(message)


def _each(files: object) -> list[object]:
    """List files, which may be given as a single one."""
    if isinstance(files, (str, os.PathLike)) or not isinstance(files, Iterable):
        return [files]
    return list(files)


def _refuse_overwriting(files: object, options: TrainingOptions) -> None:
    """Refuse a log that would replace a file that is read."""
    from bytepair._io.overwriting import refuse_overwriting

    parallel = getattr(options.get("parity"), "parallel", None)
    if isinstance(parallel, Mapping):
        parallel = parallel.values()
    given = options.get("resume"), options.get("cuts")
    names = [*_each(files), *_each(parallel or []), *given]
    inputs = [getattr(name, "path", name) for name in names]
    paths = [path for path in inputs if isinstance(path, (str, os.PathLike))]
    refuse_overwriting(paths, [options["log"]])


def counts_file(files: object) -> StrPath | None:
    """Return the file of counts among some files, if there is one.

    Raises
    ------
    TrainingError
        There are other files beside it, or it has a weight.
    """
    names = _each(files)
    paths = [name for name in names if isinstance(name, (str, os.PathLike))]
    tables = [path for path in paths if str(path).endswith(".parquet")]
    if not tables:
        return None
    from bytepair.data._counts import is_counts

    counts = next((path for path in tables if is_counts(path)), None)
    if counts is not None and (len(names) > 1 or isinstance(files, Mapping)):
        message = (
            f"{os.fspath(counts)} holds counts: train on it alone, without a weight; "
            "bytepair count-pieces --merge adds up files of counts"
        )
        raise TrainingError(message)
    return counts


def refuse_text_options(**given: object) -> None:
    """Refuse options for reading text, if no text is read."""
    for name, value in given.items():
        if value is not None:
            message = f"{argument(name, '')} is for text; these are counts"
            raise TrainingError(message)


def _stored(counts: object) -> Counts:
    """Return the counts of a corpus, which may be in a file."""
    from bytepair.data._counts import Counts, read_counts

    if isinstance(counts, Counts):
        return counts
    if isinstance(counts, (str, os.PathLike)):
        return read_counts(counts)
    message = "counts must be a mapping of pieces to numbers, or a file of counts"
    raise TypeError(message)


def _batches(texts: Iterator[str | bytes]) -> Iterator[list[str | bytes]]:
    """Group texts so that threads have enough to do and memory stays bounded."""
    max_texts, max_length = 4096, 4 << 20
    batch: list[str | bytes] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text) if isinstance(text, (str, bytes)) else 0
        if len(batch) == max_texts or length >= max_length:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch
