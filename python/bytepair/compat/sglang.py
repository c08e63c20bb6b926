"""SGLang, whose tokenizers are accelerated: ``BYTEPAIR_SGLANG=1 sglang serve --model-path MODEL``.

SGLang calls :func:`register`, an entry point of this package, in each of its processes. With the variable set, what SGLang's
``get_tokenizer`` returns is accelerated, after all corrections that SGLang makes (:mod:`bytepair.compat.transformers`).

Left out: tokenizers that SGLang runs without transformers, which go on as they are.
"""

import os
from typing import Any

__all__ = ["accelerated", "register"]

VARIABLE = "BYTEPAIR_SGLANG"
LOADER = "sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer"


def register() -> None:
    """Have SGLang accelerate its tokenizers if the environment variable ``BYTEPAIR_SGLANG`` is 1."""
    if os.environ.get(VARIABLE) != "1":
        return
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(LOADER, accelerated, HookType.AFTER)


def accelerated(tokenizer: Any, *arguments: Any, **options: Any) -> Any:
    """Accelerate what ``get_tokenizer`` returned for these arguments, and return it."""
    from .transformers import accelerate_fast

    return accelerate_fast(tokenizer)
