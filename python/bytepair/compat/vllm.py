"""The tokenizer mode ``bytepair`` of vLLM: ``vllm serve MODEL --tokenizer-mode bytepair``.

vLLM calls :func:`register`, an entry point of this package, in each of its processes. The mode gives the object that vLLM's
mode ``hf`` gives, accelerated (:mod:`bytepair.compat.transformers`): chat templates, roles and the stream that decodes stay as
they are.

Left out: modes that vLLM has for single models, such as ``mistral``; and a few types of models that vLLM loads by itself in any
mode. The cost is that of the mode ``hf``, and compiling once.
"""

from pathlib import Path
from typing import Any

__all__ = ["BytepairTokenizer", "register"]

MODE = "bytepair"


def register() -> None:
    """Register the mode with vLLM; do nothing in a version that has no registry of tokenizers.

    vLLM looks up the class that renders chats by the same mode. Registering again changes nothing.
    """
    try:
        from vllm.renderers.registry import RENDERER_REGISTRY
        from vllm.tokenizers.registry import TokenizerRegistry
    except ImportError:
        return
    TokenizerRegistry.register(MODE, __name__, BytepairTokenizer.__name__)
    RENDERER_REGISTRY.register(MODE, "vllm.renderers.hf", "HfRenderer")


class BytepairTokenizer:
    """What vLLM loads tokenizers with in the mode ``bytepair``."""

    @classmethod
    def from_pretrained(
        cls,
        path_or_repo_id: str | Path,
        *arguments: Any,
        download_dir: str | None = None,
        fallback: bool = True,
        **options: Any,
    ) -> Any:
        """Load as vLLM's mode ``hf`` does, and accelerate the object.

        Where vLLM keeps its loader elsewhere, that of transformers is used, and the object gets ``max_token_id``, the largest
        id that has a token, and ``max_chars_per_token``, the length of the longest token as the file writes it.

        Raises
        ------
        TypeError
            ``fallback`` is false, and the tokenizer has none of the library tokenizers.
        TokenizerError
            ``fallback`` is false, and bytepair refuses the tokenizer.
        """
        from .transformers import AutoTokenizer, accelerate_fast

        try:
            from vllm.tokenizers.hf import CachedHfTokenizer
        except ImportError:
            options |= {"cache_dir": download_dir, "fallback": fallback}
            return _with_limits(
                AutoTokenizer.from_pretrained(path_or_repo_id, *arguments, **options)
            )
        options["download_dir"] = download_dir
        loaded = CachedHfTokenizer.from_pretrained(
            path_or_repo_id, *arguments, **options
        )
        return accelerate_fast(loaded, fallback=fallback)


def _with_limits(tokenizer: Any) -> Any:
    """Give an object the limits by which vLLM refuses ids and long prompts, added tokens included."""
    vocabulary = tokenizer.get_vocab()
    tokenizer.max_token_id = max(vocabulary.values())
    tokenizer.max_chars_per_token = max(map(len, vocabulary))
    return tokenizer
