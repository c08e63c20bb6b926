"""Tokenizers of transformers, over Hugging Face tokenizers: calls for short texts, and prompts."""

from pathlib import Path
from typing import Any

import transformers

from . import Case, Work


def in_shape(path: Path, case: Case) -> Any:  # noqa: ANN401 -- of another library
    """Load a ``tokenizer.json``, and add the tokens of the case."""
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    tokenizer.add_tokens(case.get("added", []))
    return tokenizer


def serve(name: str, options: dict[str, Any], texts: list[str]) -> Work:
    """Encode prompts."""
    return Work(in_shape(Path(options["path"]), {}).encode, texts)
