"""The shapes of other libraries, so that a program changes an import and goes on.

- ``bytepair.compat.tiktoken``: ``Encoding``, ``get_encoding``, ``encoding_for_model``, and
  the modules ``core``, ``load``, ``model`` and ``registry``
- ``bytepair.compat.transformers``: ``AutoTokenizer``, ``PreTrainedTokenizerFast``
- ``bytepair.compat.tokenizers``: ``Tokenizer``, as Hugging Face tokenizers has it
- ``bytepair.compat.streaming``: text from ids that come one by one, for servers

Nothing here is imported by ``import bytepair``, and none of it needs the library whose
shape it has. Left out: downloads, training, and what is marked ``NotImplementedError``.
"""
