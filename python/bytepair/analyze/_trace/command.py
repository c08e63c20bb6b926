"""``bytepair trace``: how a text becomes tokens, merge by merge."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from bytepair import FileError, Tokenizer, analyze
from bytepair._io.files import check_writable, write
from bytepair._plurals import amount
from bytepair.analyze import Reasons, Trace, Why, why
from bytepair.cli.command import Option, command
from bytepair.cli.options import ALLOWED_SPECIAL, JSON, TOKENIZER
from bytepair.cli.texts import TEXT, TEXT_OPTION, source_of
from bytepair.cli.writing import plain
from bytepair.views._runs import words
from bytepair.views._terminal import columns_of, print_lines

from .draw import folded_lines, sentence, trace_lines
from .trace import Added, Known, Piece, Segment, known

__all__ = ["trace"]

MAX_BYTES = 20_000
"""The maximum length of a text; each byte takes about a line of output."""


@command(
    TOKENIZER,
    TEXT,
    TEXT_OPTION,
    Option(
        "--why TOKEN",
        "Show which merge prevented this token, given as text or as written in published files.",
        name="asked",
    ),
    Option(
        "-o, --output FILE.svg",
        "Also save the drawing as a picture.",
        type=Path,
        writes=True,
    ),
    JSON,
    ALLOWED_SPECIAL,
)
def trace(
    tokenizer_path: Path,
    arguments: list[str] | None = None,
    *,
    text: str | None = None,
    asked: str | None = None,
    output: Path | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Show how a text becomes tokens: normalizing, splitting and each merge.

    $ bytepair trace tokenizer.json "lower"
    $ bytepair trace tokenizer.json "lower" --why low
    $ bytepair trace tokenizer.json "lower" -o lower.svg
    """
    if output is not None:
        if output.suffix != ".svg":
            message = f"{output}: the picture is an .svg file"
            raise FileError(message)
        check_writable(output.parent)
    content = source_of(arguments or [], text, output).read(MAX_BYTES, "trace")
    tokenizer = Tokenizer.from_file(tokenizer_path)
    found = analyze.trace(tokenizer, content, **options)
    answers = None if asked is None else why(tokenizer, found, asked)
    if output is not None:
        write(output, found.to_svg().encode())
    if as_json:
        print(json.dumps(as_object(tokenizer, found, answers)))
        return
    console = Console(highlight=False, soft_wrap=True)
    if answers is None:
        print_lines(console, folded_lines(trace_lines(found), columns_of(console)))
        return
    named = _known(tokenizer, answers)
    texts = [sentence(found, answer, asked or "", named) for answer in answers]
    if answers.n_reasons > len(answers):
        places = amount(answers.n_reasons, "place")
        texts.append(f"the first {len(answers)} of {places} are shown")
    print_lines(console, folded_lines(map(words, texts), columns_of(console), 0))


def _known(tokenizer: Tokenizer, answers: Iterable[Why]) -> dict[int, Known]:
    """Describe the tokens of answers."""
    ids: set[int] = set()
    for answer in answers:
        ids.update(id_ for id_ in answer.instead if id_ >= 0)
        ids.update(() if answer.token is None else (answer.token,))
        for step in (answer.step, answer.awaited):
            ids.update((step.left, step.right, step.token) if step else ())
    return known(tokenizer, ids)


def as_object(
    tokenizer: Tokenizer, found: Trace, answers: Reasons | None
) -> dict[str, Any]:
    """Return a trace as JSON values; spans are in bytes."""
    used = {**found.known, **_known(tokenizer, answers or ())}
    result: dict[str, Any] = {
        "text": _text(found.text),
        "ids": _ids(found.ids),
        "parts": [_part(part) for part in found.parts],
        "tokens": {
            str(id_): {"token": plain(token.name), "kind": token.kind}
            for id_, token in sorted(used.items())
            if id_ >= 0
        },
    }
    if answers is not None:
        result["n_reasons"] = answers.n_reasons
        result["n_shown"] = len(answers)
        result["why"] = [_answer(answer) for answer in answers]
    return result


def _part(part: Added | Piece | Segment) -> dict[str, Any]:
    if isinstance(part, Added):
        return {"added_token": part.id, "start": part.start, "end": part.end}
    if isinstance(part, Segment):
        return {
            "start": part.start,
            "end": part.end,
            "normalized": _text(part.normalized),
            "pieces": [_part(inner) for inner in part.parts],
        }
    return {
        "start": part.start,
        "end": part.end,
        "piece": _text(part.text),
        "is_whole": part.is_whole,
        "symbols": _ids([symbol.id for symbol in part.symbols]),
        "merges": [asdict(step) for step in part.steps],
        "ids": _ids(part.ids),
    }


def _ids(ids: Iterable[int]) -> list[int | None]:
    """Return ids as JSON values; a character without a token has ``None``."""
    return [None if id_ < 0 else id_ for id_ in ids]


def _answer(answer: Why) -> dict[str, Any]:
    found = asdict(answer)
    return {
        **found,
        "parts": [_text(part) for part in answer.parts],
        "instead": _ids(answer.instead),
    }


def _text(content: bytes) -> str:
    return content.decode(errors="backslashreplace")
