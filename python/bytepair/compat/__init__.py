"""Other libraries: programs that use them change an import, or accelerate their objects, and go on.

- ``bytepair.compat.tiktoken``: ``Encoding``, ``get_encoding``, ``encoding_for_model``, and
  the modules ``core``, ``load``, ``model`` and ``registry``
- ``bytepair.compat.tokenizers`` and ``bytepair.compat.transformers``: ``accelerate``, ``patch`` and ``explain``, with which
  the objects of these libraries encode and decode with bytepair; they need the library
- ``bytepair.compat.vllm`` and ``bytepair.compat.sglang``: the same for the tokenizers of these servers, which find them as
  plugins

Nothing here is imported by ``import bytepair``.
"""
