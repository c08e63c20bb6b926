"""The tokenizer mode ``bytepair`` of vLLM: ``vllm serve MODEL --tokenizer-mode bytepair``.

vLLM calls :func:`register`, an entry point of this package, in each of its processes. The mode gives the object that vLLM's
mode ``hf`` gives, accelerated (:mod:`bytepair.compat.transformers`): chat templates, roles and the stream that decodes stay as
they are.

Left out: modes that vLLM has for single models, such as ``mistral``; and a few types of models that vLLM loads by itself in any
mode. The cost is that of the mode ``hf``, and compiling once.
"""

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

    @staticmethod
    def from_pretrained(*arguments: Any, fallback: bool = True, **options: Any) -> Any:
        """Load as vLLM's mode ``hf`` does, and accelerate the object.

        Raises
        ------
        TypeError
            ``fallback`` is false, and the tokenizer has none of the library tokenizers.
        TokenizerError
            ``fallback`` is false, and bytepair refuses the tokenizer.
        """
        from vllm.tokenizers.registry import TokenizerRegistry

        from .transformers import accelerate_fast

        loaded = TokenizerRegistry.load_tokenizer("hf", *arguments, **options)
        return accelerate_fast(loaded, fallback=fallback)
