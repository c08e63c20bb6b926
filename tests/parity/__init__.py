"""Compare vocabularies in their publishers' libraries and in bytepair.

``python -m tests.parity [VOCABULARY …]`` loads each vocabulary twice, encodes real text and
random strings with both and prints a table of differences, with the first difference of
each kind cut down to the few characters that cause it.

- ``libraries`` has one class per library, all with the same few methods; ``ours`` is
  bytepair in the same shape
- ``vocabularies`` finds files and says which library published each
- ``texts`` cuts corpora into documents, ``strings`` makes strings that love boundaries
- ``compare`` counts differences and makes the first of each kind small, ``table`` prints
- ``synthetic`` and ``families`` write ``tokenizer.json`` files to compare, put together from
  ``components`` and ``patterns`` by ``building``

Left out: speed (``benchmarks``), and training.
"""
