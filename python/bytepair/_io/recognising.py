"""Which format a file is of, and which file of a folder is its tokenizer.

A file is told by what it holds, not by its name; the core knows the formats. Costs the beginning
of a file. Left out: reading it as a whole (``loading``).
"""

import os
from pathlib import Path

from bytepair import _core
from bytepair.errors import FormatError

# Formats that are not read as a whole: models are many times larger than memory, and reading a
# compiled tokenizer takes no time but that of memory that is touched.
FORMATS_OF_PATHS = ("gguf", "compiled")

# What is looked for in a folder, best first: the file that says most about its tokenizer.
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

# And besides these, of any name, if there is one such file.
FOLDER_PATTERNS = ("tekken*.json", "*.tiktoken", "*.model", "*.gguf")

# What is fetched of a published model.
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

# Vocabularies that need a file of merges beside them, with its name.
MERGES_OF = dict(_core.pair_names())

GPT1_VOCAB = "encoder_bpe_40000.json"

NAMES_OF_PAIRS = (*MERGES_OF, *MERGES_OF.values())


def format_of_file(path: Path) -> str:
    """Return the format of a file, of which only the beginning is read."""
    pair = pair_of(path)
    if pair is not None:
        return "gpt1" if pair[0].name == GPT1_VOCAB else "gpt2"
    head = beginning(path, n_bytes=1 << 16)
    return format_of_name(path, head) or sniff(head, path.name)


def format_of_name(path: Path, head: bytes) -> str | None:
    """Return the format that the ending of a name says, where what the file holds may be damaged.

    >>> format_of_name(Path("own.tiktoken"), b""), format_of_name(Path("own.json"), b"")
    ('tiktoken', None)
    """
    if path.suffix == ".tiktoken":
        return "tiktoken"
    is_model = path.suffix == ".model" and head.startswith(b"\n")
    return "sentencepiece" if is_model else None


def file_in(folder: Path) -> Path:
    """Find the file of a folder that says most about its tokenizer."""
    for name in FOLDER_FILES:
        path = folder / name
        if path.is_file() and (name not in MERGES_OF or pair_of(path) is not None):
            return path
    for pattern in FOLDER_PATTERNS:
        found = sorted(folder.glob(pattern))
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            message = f"{folder}: there are several tokenizers, {names}; name the file"
            raise FormatError(message)
        if found:
            return found[0]
    message = (
        f"{folder}: no tokenizer in this folder; looked for {', '.join(FOLDER_FILES)} "
        f"(vocab.json with merges.txt beside it) and {', '.join(FOLDER_PATTERNS)}"
    )
    raise FormatError(message)


def has_ids(path: Path) -> bool:
    """Whether a tokenizer has ids of its own; codes are merges alone."""
    if not path.is_file() or pair_of(path) is not None:
        return True
    with path.open("rb") as file:
        return sniff(file.read(4096)) not in ("subword-nmt", "fastbpe")


def sniff(data: bytes, name: str = "") -> str:
    r"""Return the format of a file by what it holds.

    By its name, merges that need a vocabulary are told from codes of segmenters, which do not.

    >>> (
    ...     sniff(b'{"version": "1.0", "model": {}}'),
    ...     sniff(b"IQ== 0\n"),
    ...     sniff(b"l o 12\n"),
    ... )
    ('huggingface', 'tiktoken', 'fastbpe')

    Raises
    ------
    FormatError
        The file is of no format that is known, or half of a tokenizer; the message says what
        it looks like, or what is missing.
    """
    known_name = name if name in NAMES_OF_PAIRS else ""  # others may be no UTF-8
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

    found = signature(data[:CONTENT_LEN])
    if found is not None:
        return f"not a known tokenizer format: this file looks like {found}"
    return f"not a known tokenizer format: {known}; this file begins with {data[:24]!r}"


def sidecar_of(path: Path) -> Path:
    """Name the file beside a ``.tiktoken`` file that holds its pattern.

    >>> sidecar_of(Path("my/own.tiktoken")).name
    'own.tiktoken.json'
    """
    return path.with_name(f"{path.name}.json")


def pair_of(path: Path) -> tuple[Path, Path] | None:
    """Find the vocabulary and the merges that a path is one of."""
    for vocab_name, merges_name in MERGES_OF.items():
        vocab, merges = path.with_name(vocab_name), path.with_name(merges_name)
        if path in (vocab, merges) and vocab.exists() and merges.exists():
            return vocab, merges
    return None


def format_at(path: Path) -> str | None:
    """Return the format of a file that is not read as a whole."""
    name = _core.recognise_format(beginning(path))
    return name if name in FORMATS_OF_PATHS else None


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; reading says it if a name is too long."""
    return os.path.isdir(path)  # noqa: PTH112 -- of any length


def beginning(path: Path, n_bytes: int = 8) -> bytes:
    """Return the beginning of a file, nothing of a pipe: what is read of that is gone."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb", buffering=0) as file:
            return file.read(n_bytes)
    except OSError:  # reading says what is wrong
        return b""
