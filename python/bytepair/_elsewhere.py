"""Names for features in other libraries or earlier versions, and what to use instead."""

import inspect
from collections.abc import Iterable
from typing import NoReturn

__all__ = ["INSTEAD_IN_MODULE", "NamesElsewhere", "without_elsewhere"]

INSTEAD = {
    "add_special_tokens": "with_special_tokens(names), which returns a new tokenizer",
    "add_tokens": "with_added_tokens(tokens), which returns a new tokenizer",
    "added_tokens_decoder": "added_tokens",
    "added_tokens_encoder": "added_tokens",
    "all_special_ids": "special_tokens",
    "all_special_tokens": "special_tokens",
    "apply_chat_template": "bytepair.chat",
    "batch_decode": "decode_batch(batch)",
    "batch_encode_plus": "encode_full_batch(texts)",
    "bos_id": "special_tokens",
    "bos_token": "special_tokens",
    "bos_token_id": "special_tokens",
    "bpe_ranks": "merges",
    "convert_ids_to_tokens": "token_bytes(id), or encode_full(text).tokens",
    "convert_tokens_to_ids": "token_to_id(token)",
    "counter": "bytepair.TokenCounter(tokenizer)",
    "decode_ids": "decode(ids)",
    "decode_pieces": "decode(ids)",
    "decode_single_token_bytes": "token_bytes(id)",
    "decode_stream": "bytepair.DecodeStream(tokenizer)",
    "decode_tokens_bytes": "token_bytes(id)",
    "decode_with_offsets": "encode_full(text), which has ids and offsets",
    "enable_padding": "with_padding(id), which returns a new tokenizer",
    "enable_truncation": "with_truncation(max_length), which returns a new tokenizer",
    "encode_as_ids": "encode(text)",
    "encode_as_pieces": "tokenize(text)",
    "encode_ordinary": "encode(text)",
    "encode_ordinary_batch": "encode_batch(texts)",
    "encode_plus": "encode_full(text)",
    "encode_single_token": "token_to_id(token)",
    "encode_to_ids": "encode(text)",
    "encode_with_offsets": "encode_full(text), which has ids and offsets",
    "encode_with_unstable": "bytepair.compat.tiktoken",
    "EncodeAsIds": "encode(text)",
    "eos_id": "special_tokens",
    "eos_token": "special_tokens",
    "eos_token_id": "special_tokens",
    "eot_token": "special_tokens",
    "explain": "inspect().settings['stages']",
    "from_buffer": "from_bytes(data)",
    "from_directory": "from_file(folder)",
    "from_pretrained": "from_file(folder), or from_hub(name)",
    "from_str": "from_bytes(data)",
    "get_added_tokens_decoder": "added_tokens",
    "get_added_vocab": "added_tokens",
    "get_encoding": "from_file(path, encoding=...), or bytepair.compat.tiktoken",
    "get_piece_size": "n_vocab",
    "get_vocab_size": "n_vocab",
    "GetPieceSize": "n_vocab",
    "id_to_piece": "token_bytes(id)",
    "id_to_token": "token_bytes(id)",
    "max_token_value": "n_vocab",
    "merge_log": "inspect().merge_log",
    "_mergeable_ranks": "vocabulary",
    "model_max_length": "inspect().settings['truncation']",
    "n_words": "n_vocab",
    "no_padding": "with_padding(None), which returns a new tokenizer",
    "no_truncation": "with_truncation(None), which returns a new tokenizer",
    "normalizer": "inspect().settings['stages']",
    "pad_id": "inspect().settings['padding']",
    "pad_token": "inspect().settings['padding']",
    "pad_token_id": "inspect().settings['padding']",
    "padding": "inspect().settings['padding']",
    "piece_to_id": "token_to_id(token)",
    "post_processor": "inspect().settings['template']",
    "pre_tokenizer": "inspect().settings['stages']",
    "save_model": "save(path)",
    "save_vocabulary": "save(path)",
    "special_tokens_map": "special_tokens",
    "special_tokens_set": "special_tokens",
    "template": "inspect().settings['template']",
    "to_str": "to_bytes(format='huggingface')",
    "token_byte_values": "vocabulary",
    "token_to_id_hf": "get_vocab()[token]",
    "train": "bytepair.train(files, vocab_size=...)",
    "train_from_iterator": "bytepair.train_from_iterator(texts, vocab_size=...)",
    "truncated": "bytepair.surgery.shorten(tokenizer, vocab_size)",
    "truncation": "inspect().settings['truncation']",
    "unk_id": "inspect().settings['unknown']",
    "unk_token": "inspect().settings['unknown']",
    "unk_token_id": "inspect().settings['unknown']",
    "vocab": "vocabulary, or get_vocab()",
    "vocab_size": "n_vocab",
}
"""Attributes of a tokenizer."""

INSTEAD_IN_MODULE = {
    "apply_bpe": "bytepair.segmentation",
    "AutoTokenizer": "bytepair.compat.transformers.AutoTokenizer, or Tokenizer.from_file(folder)",
    "BPE": "train(files, vocab_size=...)",
    "BpeTrainer": "train(files, vocab_size=...)",
    "ByteLevelBPETokenizer": "train(files, vocab_size=...)",
    "decode": "Tokenizer.decode(ids)",
    "encode": "Tokenizer.encode(text)",
    "encoding_for_model": "bytepair.compat.tiktoken.encoding_for_model",
    "encoding_name_for_model": "bytepair.compat.tiktoken.encoding_name_for_model",
    "from_file": "Tokenizer.from_file(path)",
    "from_hub": "Tokenizer.from_hub(name)",
    "from_pretrained": "Tokenizer.from_file(folder), or Tokenizer.from_hub(name)",
    "get_encoding": "bytepair.compat.tiktoken.get_encoding, or Tokenizer.from_file(path, encoding=...)",
    "learn_bpe": "train(files, vocab_size=..., dialect='sennrich')",
    "list_encoding_names": "encodings()",
    "load": "Tokenizer.from_file(path)",
    "PreTrainedTokenizerFast": "bytepair.compat.transformers.accelerate, or Tokenizer.from_file(folder)",
    "SentencePieceProcessor": "Tokenizer.from_file(model)",
    "SentencePieceTrainer": "train(files, vocab_size=...)",
    "Trainer": "train(files, vocab_size=...)",
}
"""Names of the package."""


class Elsewhere:
    """An attribute for a name of the table; reading it raises an error that says what to use instead.

    A ``__getattr__`` could raise the same error, but it would make every call of a method slower.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: object, kind: type) -> NoReturn:
        subject = kind if owner is None else owner
        message = f"'Tokenizer' object has no attribute {self.name!r}; use {INSTEAD[self.name]}"
        raise AttributeError(message, name=self.name, obj=subject)


class NamesElsewhere:
    """A base class with an attribute for each name of the table."""

    __slots__ = ()


for _name in INSTEAD:
    setattr(NamesElsewhere, _name, Elsewhere(_name))
del _name


def without_elsewhere(kind: type, names: Iterable[str]) -> list[str]:
    """Return names without those that a class has only as :class:`Elsewhere`."""
    hidden = {
        name
        for name in INSTEAD
        if isinstance(inspect.getattr_static(kind, name, None), Elsewhere)
    }
    return sorted({*names} - hidden)
