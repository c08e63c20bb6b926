"""Recognise the format of a file, and find the tokenizer of a folder.

The content of a file tells its format, and rarely its name; the core knows the formats. Only the
beginning of a file is read. Left out: loading it (``loading``).
"""

import os
from pathlib import Path

from bytepair import _core
from bytepair.errors import FormatError

# Formats that are not read whole: models may be larger than memory, and the core reads compiled
# tokenizers block by block into their final form.
FORMATS_OF_PATHS = ("gguf", "compiled")

# The tokenizer files of folders, best first: the file that says most about its tokenizer.
FOLDER_FILES = (
    "tokenizer.json",
    "tekken.json",
    "tokenizer.bytepair",
    "tokenizer.bytepair-compiled",
    "tokenizer.model",
    "tiktoken.model",
    "vocab.json",
    "encoder.json",
    "encoder_bpe_40000.json",
    "bpe_simple_vocab_16e6.txt.gz",
)

# If there is none of these: patterns, each for a single file.
FOLDER_PATTERNS = ("tekken*.json", "*.tiktoken", "*.model", "*.gguf")

# The files of a published model that are fetched.
HUB_FILES = [
    *FOLDER_FILES,
    "merges.txt",
    "vocab.bpe",
    "vocab_40000.bpe",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "tekken*.json",
    "*.model",
    "*.tiktoken",
    "*.tiktoken.json",
]

# The names of vocabularies, each with that of the merges that it needs beside it.
MERGES_OF = dict(_core.pair_names())

# Files of a model's folder that are no tokenizers.
SETTINGS_FILES = (
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
)

# Usual names of tokenizer files in a folder, without their extensions.
USUAL_NAMES = ("tokenizer", "tekken", "vocab", "merges")

GPT1_VOCAB = "encoder_bpe_40000.json"

NAMES_OF_PAIRS = (*MERGES_OF, *MERGES_OF.values())


def format_of_file(path: Path) -> str:
    """Return the format of a file, reading only its beginning."""
    pair = pair_of(path)
    if pair is not None:
        return "gpt1" if pair[0].name == GPT1_VOCAB else "gpt2"
    head = beginning(path, n_bytes=1 << 16)
    return format_of_name(path, head) or sniff(head, path.name)


def format_of_name(path: Path, head: bytes) -> str | None:
    """Return the format that the extension tells, if any; the content may be damaged.

    >>> format_of_name(Path("own.tiktoken"), b""), format_of_name(Path("own.json"), b"")
    ('tiktoken', None)
    """
    if path.suffix == ".tiktoken":
        return "tiktoken"
    is_model = path.suffix == ".model" and head.startswith(b"\n")
    return "sentencepiece" if is_model else None


def file_in(folder: Path) -> Path:
    """Return the file of a folder that says most about its tokenizer."""
    for name in FOLDER_FILES:
        path = folder / name
        if path.is_file() and (name not in MERGES_OF or pair_of(path) is not None):
            return path
    for pattern in FOLDER_PATTERNS:
        matches = sorted(folder.glob(pattern))
        if len(matches) > 1:
            names = ", ".join(path.name for path in matches)
            message = f"{folder}: there are several tokenizers, {names}; name the file"
            raise FormatError(message)
        if matches:
            return matches[0]
    message = (
        f"{folder}: no tokenizer in this folder; looked for {', '.join(FOLDER_FILES)} "
        f"(vocab.json with merges.txt beside it) and {', '.join(FOLDER_PATTERNS)}"
    )
    raise FormatError(message)


def has_ids(path: Path) -> bool:
    """Whether the file of a tokenizer has ids; codes have only merges."""
    if not path.is_file() or pair_of(path) is not None:
        return True
    with path.open("rb") as file:
        return sniff(file.read(4096)) not in ("subword-nmt", "fastbpe")


def sniff(data: bytes, name: str = "") -> str:
    r"""Return the format of a file by its content.

    The name only distinguishes merges, which need a vocabulary, from codes, which do not.

    >>> (
    ...     sniff(b'{"version": "1.0", "model": {}}'),
    ...     sniff(b"IQ== 0\n"),
    ...     sniff(b"l o 12\n"),
    ... )
    ('huggingface', 'tiktoken', 'fastbpe')

    Raises
    ------
    FormatError
        The format is unknown, or the file is half of a tokenizer; the message says what the
        file looks like, or which file is missing.
    """
    if name in SETTINGS_FILES:
        message = "settings of a tokenizer or a model; name their folder or its tokenizer.json"
        raise FormatError(message)
    known_name = name if name in NAMES_OF_PAIRS else ""  # other names may not be UTF-8
    missing = _core.half_of_pair(known_name, data)
    if missing is not None:
        message = f"this file {missing}; put both into one folder and load that"
        raise FormatError(message)
    format_name = _core.recognise_format(data)
    if format_name is None:
        raise FormatError(_what_it_looks_like(data))
    return format_name


def _what_it_looks_like(data: bytes) -> str:
    known = "a tokenizer.json or a .bytepair file begins with {"
    if not data.strip():
        return f"not a known tokenizer format: the file is empty ({known})"
    if data.lstrip().startswith(b"{"):
        return (
            "not a known tokenizer format: JSON lines are a corpus; name the tokenizer "
            "before the files that it is for"
        )
    from .signatures import CONTENT_LEN, signature

    kind = signature(data[:CONTENT_LEN])
    if kind is not None:
        return f"not a known tokenizer format: this file looks like {kind}"
    if b"\0" not in data[:CONTENT_LEN]:
        return f"not a known tokenizer format: this file looks like a text; in a command, the tokenizer comes first ({known})"
    return f"not a known tokenizer format: {known}; this file begins with {data[:24]!r}"


def sidecar_of(path: Path) -> Path:
    """Return the path of the file beside a ``.tiktoken`` file that holds its pattern.

    >>> sidecar_of(Path("my/own.tiktoken")).name
    'own.tiktoken.json'
    """
    return path.with_name(f"{path.name}.json")


def pair_of(path: Path) -> tuple[Path, Path] | None:
    """Return the vocabulary and the merges of the pair that a path belongs to, if both exist."""
    for vocab_name, merges_name in MERGES_OF.items():
        vocab, merges = path.with_name(vocab_name), path.with_name(merges_name)
        if path in (vocab, merges) and vocab.exists() and merges.exists():
            return vocab, merges
    return None


def format_at(path: Path) -> str | None:
    """Return the format of a file that is not read whole; ``None`` for other files."""
    name = _core.recognise_format(beginning(path))
    return name if name in FORMATS_OF_PATHS else None


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; a name that is too long is an error only when it is read."""
    return os.path.isdir(path)  # noqa: PTH112 -- of any length


def beginning(path: Path, n_bytes: int = 8) -> bytes:
    """Return the beginning of a file; nothing of a pipe, whose bytes can be read only once."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb", buffering=0) as file:
            return file.read(n_bytes)
    except OSError:  # reading the file reports it
        return b""


def names_of(paths: list[Path]) -> list[str]:
    """Return short names of tokenizers: the part in which their paths differ.

    >>> names_of([Path("models/a/tokenizer.json"), Path("models/b/tokenizer.json")])
    ['a', 'b']
    >>> names_of([Path("a.json"), Path("b/c.json"), Path("d"), Path("vocab.json")])
    ['a.json', 'c.json', 'd', 'vocab.json']
    >>> names_of([Path("models/a/1/t.json"), Path("models/b/1/t.json")])
    ['a/1/t.json', 'b/1/t.json']
    """
    names = [_own_name(path) for path in paths]
    n_parts = 1
    while len(set(names)) < len(names) and n_parts < max(len(p.parts) for p in paths):
        n_parts += 1
        names = [str(Path(*path.parts[-n_parts:])) for path in paths]
    return names


def _own_name(path: Path) -> str:
    """Return the name of a tokenizer's file, or of its folder if the file has a usual name."""
    is_usual = path.name.partition(".")[0] in USUAL_NAMES and path.suffix
    return path.parent.name or path.name if is_usual else path.name
