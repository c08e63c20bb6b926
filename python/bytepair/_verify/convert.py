"""Write a tokenizer in another format, and prove that nothing changed.

What is written goes to a folder of its own beside the target, is read again and compared
with the source (``verify``) on the built-in torture text, on the tokens of its vocabulary
and on the texts that are given.
Only then the files get their names. So a format that cannot express a part of the
tokenizer, or a file that would give another id, is an error that leaves nothing behind.

Codes of subword-nmt and fastBPE hold no ids: whoever reads them numbers the tokens anew.
That is an error as well, unless ``ids_may_change`` says that it is meant; then the proof
is that texts become the same tokens, under whatever ids, and come back as the same text;
the vocabulary may have lost what stands in no merge.

A ``tokenizer.json`` holds the ids of a SentencePiece model, but its character map normalizes a few
texts otherwise there. That is an error which shows such a text and its ids; with
``ids_may_change`` the file is written, ``changes`` says which texts these are, and the proof is
that all texts which are normalized alike have the same ids.

Left out: texts that the source refuses, since it has units of text that no token stands
for. It gives no ids for them, so none can change; ``n_refused`` tells how many there are.

Cost: two tokenizers in memory, and encoding the texts some ten times.
"""

from collections.abc import Iterable
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

from bytepair._expected import expect
from bytepair._io import saving
from bytepair._io.files import (
    StrPath,
    folder_beside,
    refuse_no_name,
    write_together,
)
from bytepair._io.overwriting import refuse_overwriting
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FormatError, TokenizerError

from . import torture
from .verify import Terms, compare, is_normalized_alike

__all__ = ["Conversion", "convert"]


N_TOKENS = 10_000
"""How many tokens of the vocabulary are written into texts of the proof."""


SPACES = ["  ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"]


class Conversion(NamedTuple):
    """What was written, and how it was proven."""

    format: str
    files: list[Path]
    n_texts: int
    """How many texts gave the same ids, tokens and decoded text, those built in included."""
    n_characters: int
    n_refused: int = 0
    """How many of the given texts, or of their lines, the source refuses."""
    has_ids: bool = True
    """Whether ids are the same; without, how tokens are written alone."""
    changes: tuple[str, ...] = ()
    """The kinds of texts that get other ids, as they are normalized otherwise."""
    n_changed: int = 0
    """How many of the texts are of these kinds; ``n_texts`` counts the others."""


def convert(
    source: Tokenizer | StrPath,
    target: StrPath,
    *,
    format: str | None = None,
    texts: Iterable[str] = (),
    ids_may_change: bool = False,
) -> Conversion:
    r"""Write ``source`` to ``target`` in the format that its ending, or ``format``, says.

    With ``ids_may_change`` texts must become the same tokens, but not the same ids, and
    texts may get other ids that the format can only normalize otherwise.

    >>> import bytepair, tempfile
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> folder = tempfile.mkdtemp()
    >>> done = bytepair.convert(tokenizer, f"{folder}/own.tiktoken")
    >>> [path.name for path in done.files]
    ['own.tiktoken', 'own.tiktoken.json']

    Raises
    ------
    FormatError
        The format cannot express a part of the tokenizer, or what was written would give
        something else; the message shows the difference. Nothing is written.
    FileError
        A file cannot be read or written.
    """
    refuse_no_name(target)
    expect("ids_may_change", ids_may_change, bool, "True or False")
    if not isinstance(source, Tokenizer):
        refuse_overwriting([source], [target])
    refuse_set("texts", texts, "the result")
    tokenizer = source if isinstance(source, Tokenizer) else Tokenizer.from_file(source)
    target = Path(target)
    name = saving.format_of(target, format)
    given = [part for text in texts for part in _parts(tokenizer, text)]
    own = [*given, *_texts_of_vocabulary(tokenizer)]
    with folder_beside(target) as folder:
        written = folder / target.name
        changes = saving.save(tokenizer, written, name, ids_may_change=True)
        again = _read_again(written, name)
        terms = _terms(name, has_ids=bool(changes) or not ids_may_change)
        terms = terms._replace(has_normal_texts=bool(changes) and ids_may_change)
        examples = [change.text for change in changes]
        _prove(tokenizer, again, name, [*own, *examples], terms)
        if changes and not ids_may_change:  # and no text showed it
            found = "\n".join(map(str, changes))
            raise FormatError(_refusal(name, found, _accepted(CHANGED)))
        files = _move(written, target)
    taken = [text for text in [*torture.TEXTS, *own] if _is_taken(tokenizer, text)]
    compared = [
        text
        for text in taken
        if not changes or is_normalized_alike(tokenizer, again, text)
    ]
    return Conversion(
        name,
        files,
        len(compared),
        sum(map(len, compared)),
        sum(not _is_taken(tokenizer, text) for text in given),
        terms.has_ids,
        tuple(map(str, changes)),
        len(taken) - len(compared),
    )


def _terms(name: str, *, has_ids: bool) -> Terms:
    """Say what a format must hold.

    A SentencePiece model needs an unknown token, and decodes control tokens to nothing.
    """
    is_model = name == "sentencepiece"
    return Terms(
        has_ids=has_ids,
        has_refusals=False,
        has_names=False,
        has_special_text=not is_model,
        may_add_tokens=is_model,
    )


def _parts(tokenizer: Tokenizer, text: str) -> list[str]:
    """Give a text, or its lines, of which some may be taken, if the text is refused."""
    return [text] if _is_taken(tokenizer, text) else text.splitlines()


def _texts_of_vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Write the first tokens in rows, and some of them with every kind of space between.

    Where the torture texts have units that no token stands for, these texts have not.
    """
    tokens = enumerate(tokenizer.vocabulary)
    ids = [id_ for id_, token in tokens if token is not None][:N_TOKENS]
    rows = (ids[place : place + 50] for place in range(0, len(ids), 50))
    words = [tokenizer.decode([id_]).strip() for id_ in [*ids[:20], *ids[-20:]]]
    pairs = product(SPACES, pairwise(words))
    spaced = [f"{first}{space}{second}" for space, (first, second) in pairs]
    return [*(tokenizer.decode(row, skip_special_tokens=True) for row in rows), *spaced]


def _is_taken(tokenizer: Tokenizer, text: str) -> bool:
    try:
        tokenizer.count(text)
    except TokenizerError:
        return False
    return True


def _prove(
    tokenizer: Tokenizer, again: Tokenizer, name: str, texts: list[str], terms: Terms
) -> None:
    found = compare(tokenizer, again, texts, terms)
    if found is None:
        return
    hint = ""
    if terms.has_normal_texts or not terms.has_ids:
        pass
    elif not compare(tokenizer, again, texts, terms._replace(has_normal_texts=True)):
        hint = _accepted(CHANGED)
    elif not compare(tokenizer, again, texts, terms._replace(has_ids=False)):
        hint = _accepted("Texts give the same tokens with different ids")
    raise FormatError(_refusal(name, str(found), hint))


CHANGED = "The file would normalize texts such as this one differently"


def _accepted(change: str) -> str:
    return f"{change}; {argument('ids_may_change', value=True)} accepts that"


def _refusal(name: str, found: str, hint: str) -> str:
    lines = [
        f"the format {name} cannot hold this tokenizer: the file would read back differently, "
        "so nothing is written",
        found,
        *([hint] if hint else []),
    ]
    return "\n".join(lines)


def _read_again(written: Path, name: str) -> Tokenizer:
    """Read by the format's name: the ending of a file may say another."""
    if name in ("bytepair", "huggingface"):
        return Tokenizer.from_bytes(written.read_bytes(), format=name)
    return Tokenizer.from_file(written)


def _move(written: Path, target: Path) -> list[Path]:
    """Give what was written its place; the file that is named comes last."""
    if written.is_dir():
        pairs = [(path, target / path.name) for path in sorted(written.iterdir())]
    else:
        others = sorted(set(written.parent.iterdir()) - {written})
        pairs = [(path, target.parent / path.name) for path in [*others, written]]
    files = {there: here.read_bytes() for here, there in pairs}
    write_together(files, makes_folders=written.is_dir())
    return sorted(there for _, there in pairs)
