"""For programs that serve and fine-tune models: growing text, segments, sampled ids, and bytes of tokens.

Every answer is exact: it is proven for the text at hand, or refused with the reason.
"""

from bytepair._core import Patch, Session

from ._grammars import GrammarVocabulary, grammar_vocabulary
from ._growing import stable_prefix
from ._tokens import KINDS, ByteTrie, Healed, TokenBytes, heal

__all__ = [
    "KINDS",
    "ByteTrie",
    "GrammarVocabulary",
    "Healed",
    "Patch",
    "Session",
    "TokenBytes",
    "grammar_vocabulary",
    "heal",
    "stable_prefix",
]
