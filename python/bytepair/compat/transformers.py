"""Tokenizers of transformers that encode and decode with bytepair.

``AutoTokenizer`` loads with transformers and returns its object, accelerated: roles, chat templates, tensors and files are those
of transformers, and so is ``isinstance(tokenizer, PreTrainedTokenizerBase)``. ``accelerate`` takes an object that is loaded
already, and ``patch`` accelerates all that a process uses. See :mod:`bytepair.compat.tokenizers` for what is ours and when a
tokenizer is compiled anew.

Left out: tokenizers that transformers runs in Python or with SentencePiece, which go on as they are.
"""

from typing import Any

import tokenizers

from .tokenizers import accelerate, explain, patch

__all__ = ["AutoTokenizer", "accelerate", "explain", "patch"]


class AutoTokenizer:
    """``transformers.AutoTokenizer``, whose tokenizers are accelerated."""

    @staticmethod
    def from_pretrained(*arguments: Any, fallback: bool = True, **options: Any) -> Any:
        """Load a folder or a published model as ``transformers.AutoTokenizer`` does.

        Raises
        ------
        TypeError
            ``fallback`` is false, and the tokenizer has none of the library tokenizers.
        TokenizerError
            ``fallback`` is false, and bytepair refuses the tokenizer.
        """
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(*arguments, **options)
        return accelerate_fast(tokenizer, fallback=fallback)


def accelerate_fast(tokenizer: Any, *, fallback: bool = True) -> Any:
    """Accelerate a tokenizer of transformers; with ``fallback``, return one without a ``tokenizers.Tokenizer`` as it is."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if fallback and not isinstance(backend, tokenizers.Tokenizer):
        return tokenizer
    return accelerate(tokenizer, fallback=fallback)
