"""Counting and tokenizing corpora: whole jobs, on processes of this machine or on an engine.

An engine is an object with a function ``run``, such as :class:`bytepair.scale.ray_engine.RayEngine`.
Needs ``pip install 'bytepair[data]'``.
"""

from ._counting import count, merge_files
from ._tokenizing import TokenizeProgress, tokenize

__all__ = ["TokenizeProgress", "count", "merge_files", "tokenize"]
