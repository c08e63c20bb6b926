"""Write a tokenizer in another format, and prove that nothing changed.

The files are written to a temporary folder beside the target, read again, and compared
with the source (``verifying``) on torture texts, on texts made of its tokens, and on the user's texts.
Only then do they get their names. So a format that cannot express a part of the
tokenizer, or a file that would give another id, is an error that leaves nothing behind.

Codes of subword-nmt and fastBPE have no ids: their reader numbers the tokens anew.
That is an error as well, unless ``ids_may_change`` is set. Then the proof is that texts become the same
tokens, whatever their ids, and are decoded to the same text; tokens that are in no merge may be lost.

A ``tokenizer.json`` holds the ids of a SentencePiece model, but its character map normalizes a few
texts differently there. That is an error, which shows such a text and its ids. With
``ids_may_change``, the file is written, ``changes`` describes these texts, and the proof is
that all texts that are normalized alike have the same ids.

Left out: texts that the source refuses, since no token stands for some of their units.
They have no ids that could change; ``n_refused`` is their number.

Cost: two tokenizers in memory, and encoding the texts some ten times.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bytepair._expected import expect
from bytepair._io import saving
from bytepair._io.files import StrPath, folder_beside, refuse_no_name
from bytepair._io.overwriting import refuse_overwriting
from bytepair._labels import argument, harmless
from bytepair._names import refuse_set
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FormatError

from . import torture
from .made_texts import made_texts
from .pairing import Pairing
from .publishing import publish
from .verifying import Terms, find_difference, is_encodable, is_normalized_alike

__all__ = ["Conversion", "convert"]


@dataclass(frozen=True, repr=False)
class Conversion(Result):
    """The files that were written, and the extent of the proof.

    Attributes
    ----------
    format, files
        The format, and the files that were written.
    n_texts, n_characters
        The number of texts with the same ids, tokens and decoded text, with built-in ones.
    n_refused
        The number of the user's texts, or of their lines, that the source refuses.
    has_ids
        Whether ids are the same; otherwise only the texts of tokens are.
    changes
        The kinds of texts that get other ids, because they are normalized differently.
    n_changed
        The number of texts of these kinds; ``n_texts`` counts the others.
    """

    format: str
    files: list[Path]
    n_texts: int
    n_characters: int
    n_refused: int = 0
    has_ids: bool = True
    changes: tuple[str, ...] = ()
    n_changed: int = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The files and the proof in lines, for a reader."""
        same = (
            "ids, tokens and decoded text" if self.has_ids else "tokens (but not ids)"
        )
        lines = [f"wrote {path}" for path in self.files]
        lines.append(
            f"{self.format}: the same {same} for {amount(self.n_texts, 'text')} "
            f"of {amount(self.n_characters, 'character')}{self._rest()}"
        )
        lines += [f"different ids: {change}" for change in self.changes]
        if self.n_changed:
            texts = amount(self.n_changed, "text")
            lines.append(f"{texts} of these kinds not compared")
        return tuple(map(harmless, lines))

    def _rest(self) -> str:
        vocabulary = "; the same vocabulary and special tokens" if self.has_ids else ""
        if not self.n_refused:
            return vocabulary
        refused = amount(self.n_refused, "line")
        return (
            f"{vocabulary}; {refused} of your text not compared, since this tokenizer refuses "
            "characters outside its alphabet, which another library may drop"
        )


def convert(
    source: Tokenizer | StrPath,
    target: StrPath,
    *,
    format: str | None = None,
    texts: Iterable[str] = (),
    ids_may_change: bool = False,
) -> Conversion:
    r"""Write ``source`` to ``target``, in the format of its extension or in ``format``.

    With ``ids_may_change``, texts must become the same tokens, but not the same ids; and
    texts that the format normalizes differently may get other ids.

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
    with folder_beside(target) as folder:
        written = folder / target.name
        changes = saving.save(tokenizer, written, name, ids_may_change=True)
        again = _read_again(written, name)
        terms = _terms_of(name)._replace(
            has_ids=bool(changes) or not ids_may_change,
            has_normal_texts=bool(changes) and ids_may_change,
        )
        made = made_texts(Pairing(tokenizer, again))
        known = [*torture.TEXTS, *given, *made]
        examples = [change.text for change in changes]
        _prove(tokenizer, again, name, [*known, *examples], terms)
        if changes and not ids_may_change:  # and no text showed it
            found = "\n".join(map(str, changes))
            raise FormatError(_refusal(name, found, _accepted(CHANGED)))
        files = publish(written, target)
    taken = [text for text in known if is_encodable(tokenizer, text)]
    compared = [
        text
        for text in taken
        if not changes or is_normalized_alike(tokenizer, again, text)
    ]
    return Conversion(
        name,
        sorted(files),
        len(compared),
        sum(map(len, compared)),
        sum(not is_encodable(tokenizer, text) for text in given),
        terms.has_ids,
        tuple(map(str, changes)),
        len(taken) - len(compared),
    )


def _terms_of(format_name: str) -> Terms:
    """Return what must be the same in a format.

    A SentencePiece model needs an unknown token, and decodes control tokens to nothing.
    """
    is_model = format_name == "sentencepiece"
    return Terms(has_refusals=False, has_special_tokens=not is_model)


def _parts(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return a text, or its lines if the text is refused, since some of them may not be."""
    return [text] if is_encodable(tokenizer, text) else text.splitlines()


def _prove(
    tokenizer: Tokenizer, again: Tokenizer, name: str, texts: list[str], terms: Terms
) -> None:
    found = find_difference(tokenizer, again, texts, terms)
    if found is None:
        return
    hint = ""
    if terms.has_normal_texts or not terms.has_ids:
        pass
    elif not find_difference(
        tokenizer, again, texts, terms._replace(has_normal_texts=True)
    ):
        hint = _accepted(CHANGED)
    elif not find_difference(tokenizer, again, texts, terms._replace(has_ids=False)):
        hint = _accepted("Texts give the same tokens with different ids")
    raise FormatError(_refusal(name, str(found), hint))


CHANGED = "The file would normalize texts such as this one differently"


def _accepted(change: str) -> str:
    return f"{change}; {argument('ids_may_change', value=True)} accepts that"


def _refusal(name: str, found: str, hint: str) -> str:
    return (
        f"the format {name} cannot hold this tokenizer: the file would read back differently, "
        f"so nothing is written\n{found}\n{hint}"
    ).rstrip()


def _read_again(written: Path, name: str) -> Tokenizer:
    """Read a file by the name of its format, whatever its extension is."""
    if name in ("bytepair", "huggingface"):
        return Tokenizer.from_bytes(written.read_bytes(), format=name)
    return Tokenizer.from_file(written)
