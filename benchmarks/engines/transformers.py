"""Tokenizers of transformers, over Hugging Face tokenizers: calls for short texts."""

from pathlib import Path
from typing import Any

import transformers

from . import Case


def in_shape(folder: Path, case: Case) -> Any:  # noqa: ANN401 -- of another library
    """Load a ``tokenizer.json``, and add the tokens of the case."""
    path = str(folder / "vocabulary.json")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=path)
    tokenizer.add_tokens(case["added"])
    return tokenizer
