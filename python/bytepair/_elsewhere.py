"""Names for features in other libraries or earlier versions, and what to use instead."""

import inspect
from collections.abc import Iterable
from typing import NoReturn

from ._core import Encoding, Tokenizer as CoreTokenizer

__all__ = [
    "INSTEAD_IN_MODULE",
    "INSTEAD_OF_OPTIONS",
    "NamesElsewhere",
    "without_elsewhere",
]

INSTEAD = {
    "add_special_tokens": "with_special_tokens(names), which returns a new tokenizer",
    "add_tokens": "with_added_tokens(tokens), which returns a new tokenizer",
    "added_tokens_decoder": "added_tokens",
    "added_tokens_encoder": "added_tokens",
    "all_special_ids": "special_tokens",
    "all_special_tokens": "special_tokens",
    "apply_chat_template": "bytepair.chat",
    "batch_decode": "decode_batch(batch)",
    "batch_encode": "encode_batch(texts)",
    "batch_encode_plus": "encode_full_batch(texts)",
    "bos_id": "special_tokens",
    "bos_token": "special_tokens",
    "bos_token_id": "special_tokens",
    "bpe_ranks": "merges",
    "bytes_to_token": "token_to_id(token)",
    "convert_ids_to_tokens": "token_bytes(id), or encode_full(text).tokens",
    "convert_tokens_to_ids": "token_to_id(token)",
    "count_tokens": "count(text)",
    "counter": "session(keep_ids=False)",
    "Decode": "decode(ids)",
    "decode_ids": "decode(ids)",
    "decode_pieces": "decode(ids)",
    "decode_single_token": "token_bytes(id)",
    "decode_single_token_bytes": "token_bytes(id)",
    "decode_stream": "bytepair.DecodeStream(tokenizer)",
    "decode_tokens": "decode(ids)",
    "decode_tokens_bytes": "token_bytes(id)",
    "decode_with_offsets": "encode_full(text), which has ids and offsets",
    "detokenize": "decode(ids)",
    "dialect": "inspect().description",
    "enable_padding": "with_padding(id), which returns a new tokenizer",
    "enable_truncation": "with_truncation(max_length), which returns a new tokenizer",
    "Encode": "encode(text)",
    "encode_as_ids": "encode(text)",
    "encode_as_pieces": "tokenize(text)",
    "encode_file_to_numpy": "encode_file(path, output)",
    "encode_iterable": "encode_batch(texts)",
    "encode_ordinary": "encode(text)",
    "encode_ordinary_batch": "encode_batch(texts)",
    "encode_plus": "encode_full(text)",
    "encode_single_token": "token_to_id(token)",
    "encode_text": "encode(text)",
    "encode_to_ids": "encode(text)",
    "encode_with_dropout": "encode_full(text, dropout=0.1)",
    "encode_with_offsets": "encode_full(text), which has ids and offsets",
    "encode_with_unstable": "bytepair.compat.tiktoken",
    "eos_id": "special_tokens",
    "eos_token": "special_tokens",
    "eos_token_id": "special_tokens",
    "eot_token": "special_tokens",
    "explain": "inspect().settings['stages']",
    "from_buffer": "from_bytes(data)",
    "from_directory": "from_file(folder)",
    "from_huggingface": "from_file(path), or from_hub(name)",
    "from_pretrained": "from_file(folder), or from_hub(name)",
    "from_sentencepiece": "from_file(path)",
    "from_str": "from_bytes(data)",
    "from_tiktoken": "from_file(path, encoding=...)",
    "get_added_tokens_decoder": "added_tokens",
    "get_added_vocab": "added_tokens",
    "get_encoding": "from_file(path, encoding=...), or bytepair.compat.tiktoken",
    "get_piece_size": "n_vocab",
    "get_vocab_size": "n_vocab",
    "id_to_bytes": "token_bytes(id)",
    "id_to_piece": "token_bytes(id)",
    "id_to_token": "token_bytes(id)",
    "is_fast": "bytepair.compat.transformers",
    "load": "from_file(path)",
    "max_token_value": "n_vocab",
    "merge_log": "inspect().merge_log",
    "merge_ranks": "merges",
    "_mergeable_ranks": "vocabulary",
    "model_max_length": "inspect().settings['truncation']",
    "n_merges": "merges",
    "n_tokens": "count(text), or n_vocab",
    "n_words": "n_vocab",
    "no_padding": "with_padding(None), which returns a new tokenizer",
    "no_truncation": "with_truncation(None), which returns a new tokenizer",
    "normalizer": "inspect().settings['stages']",
    "num_special_tokens_to_add": "inspect().settings['template']",
    "num_tokens": "count(text), or n_vocab",
    "pad_id": "inspect().settings['padding']",
    "pad_token": "inspect().settings['padding']",
    "pad_token_id": "inspect().settings['padding']",
    "padding": "inspect().settings['padding']",
    "pat_str": "inspect().description['split']",
    "pattern": "inspect().description['split']",
    "piece_to_id": "token_to_id(token)",
    "post_processor": "inspect().settings['template']",
    "pre_tokenizer": "inspect().settings['stages']",
    "push_to_hub": "save_pretrained(folder), then huggingface_hub.upload_folder",
    "sample_encode_as_ids": "encode_full(text, dropout=0.1)",
    "sample_encode_as_pieces": "encode_full(text, dropout=0.1)",
    "save_model": "save(path)",
    "save_vocabulary": "save(path)",
    "special_token_ids": "special_tokens",
    "special_tokens_map": "special_tokens",
    "special_tokens_set": "special_tokens",
    "stats": "bytepair.analyze.stats(tokenizer, corpus)",
    "stream": "bytepair.DecodeStream(tokenizer)",
    "template": "inspect().settings['template']",
    "to_json": "to_bytes(format='huggingface')",
    "to_str": "to_bytes(format='huggingface')",
    "token_byte_values": "vocabulary",
    "token_to_id_hf": "get_vocab()[token]",
    "tokens": "vocabulary",
    "train": "bytepair.train(files, vocab_size=...)",
    "train_from_iterator": "bytepair.train_from_iterator(texts, vocab_size=...)",
    "train_new_from_iterator": "bytepair.train_from_iterator(texts, vocab_size=...)",
    "truncated": "bytepair.surgery.shorten(tokenizer, vocab_size)",
    "truncation": "inspect().settings['truncation']",
    "unk_id": "inspect().settings['unknown']",
    "unk_token": "inspect().settings['unknown']",
    "unk_token_id": "inspect().settings['unknown']",
    "vocab": "vocabulary, or get_vocab()",
    "vocab_size": "n_vocab",
    "vocabulary_size": "n_vocab",
}
"""Attributes of a tokenizer."""

INSTEAD_IN_MODULE = {
    "apply_bpe": "bytepair.segmentation",
    "AutoTokenizer": "bytepair.compat.transformers.AutoTokenizer, or Tokenizer.from_file(folder)",
    "batch_encode": "Tokenizer.encode_batch(texts)",
    "BPE": "train(files, vocab_size=...)",
    "BPETokenizer": "Tokenizer.from_file(path), or train(files, vocab_size=...)",
    "BpeTrainer": "train(files, vocab_size=...)",
    "ByteLevelBPETokenizer": "train(files, vocab_size=...)",
    "compare": "bytepair.analyze.compare(first, second)",
    "count": "Tokenizer.count(text)",
    "count_tokens": "Tokenizer.count(text)",
    "decode": "Tokenizer.decode(ids)",
    "diagnose": "bytepair.analyze.diagnose(tokenizer)",
    "doctor": "bytepair.analyze.diagnose(tokenizer)",
    "encode": "Tokenizer.encode(text)",
    "encoding_for_model": "bytepair.compat.tiktoken.encoding_for_model",
    "encoding_name_for_model": "bytepair.compat.tiktoken.encoding_name_for_model",
    "extend": "bytepair.surgery.extend(tokenizer, files, add=...)",
    "from_file": "Tokenizer.from_file(path)",
    "from_hub": "Tokenizer.from_hub(name)",
    "from_pretrained": "Tokenizer.from_file(folder), or Tokenizer.from_hub(name)",
    "get_encoding": "bytepair.compat.tiktoken.get_encoding, or Tokenizer.from_file(path, encoding=...)",
    "learn_bpe": "train(files, vocab_size=..., dialect='sennrich')",
    "list_encoding_names": "encodings()",
    "load": "Tokenizer.from_file(path)",
    "measure": "bytepair.analyze.measure(tokenizer, corpus)",
    "Merges": "Tokenizer.merges",
    "PreTrainedTokenizer": "bytepair.compat.transformers.accelerate, or Tokenizer.from_file(folder)",
    "PreTrainedTokenizerFast": "bytepair.compat.transformers.accelerate, or Tokenizer.from_file(folder)",
    "prune": "bytepair.surgery.prune(tokenizer, files, to=...)",
    "remove": "bytepair.surgery.remove(tokenizer, tokens)",
    "report": "bytepair.analyze.describe(tokenizers), then bytepair.analyze.render",
    "save": "Tokenizer.save(path)",
    "SentencePieceProcessor": "Tokenizer.from_file(model)",
    "SentencePieceTrainer": "train(files, vocab_size=...)",
    "shard": "bytepair.scale.tokenize(tokenizer, corpus, folder)",
    "show": "Tokenizer.show(text)",
    "stats": "bytepair.analyze.stats(tokenizer, corpus)",
    "tokenize": "Tokenizer.tokenize(text)",
    "trace": "Tokenizer.trace(text)",
    "Trainer": "train(files, vocab_size=...)",
}
"""Names of the package."""


INSTEAD_OF_OPTIONS = {
    "add_bos": "add_special_tokens=",
    "add_prefix_space": "dialect=; bytepair.dialects() lists them",
    "add_eos": "add_special_tokens=",
    "alpha": "encode_full(text, dropout=0.1)",
    "clean_up_tokenization_spaces": "decode(ids), which never changes spaces",
    "continuing_subword_prefix": "dialect=; bytepair.dialects() lists them",
    "enable_sampling": "encode_full(text, dropout=0.1)",
    "end_of_word_suffix": "dialect='sennrich'",
    "input": "the first argument, files",
    "limit_alphabet": "max_alphabet=",
    "max_length": "with_truncation(max_length), then encode_full(text), or truncate(text, max_tokens)",
    "max_token_length": "max_token_chars= or max_token_bytes=",
    "min_frequency": "min_count=",
    "model_prefix": "save(path) of the result",
    "model_type": "dialect=; bytepair.dialects() lists them",
    "num_merges": "merges=",
    "num_threads": "threads=",
    "out_type": "tokenize(text) for tokens, encode_to_numpy(text) for an array",
    "padding": "with_padding(id), then encode_full_batch(texts)",
    "pat_str": "pattern=",
    "output": "save(path) of the result",
    "pre_tokenizer": "pattern= or dialect=",
    "return_attention_mask": "encode_full(text).attention_mask",
    "return_offsets_mapping": "encode_full(text).offsets",
    "return_tensors": "encode_to_numpy(text), or bytepair.compat.transformers for tensors",
    "show_progress": "progress=",
    "size": "vocab_size=",
    "split_pattern": "pattern=",
    "text_pair": "encode_full(text, pair)",
    "truncation": "with_truncation(max_length), then encode_full(text), or truncate(text, max_tokens)",
    "unk_token": "unknown_token=",
    "user_defined_symbols": "special_tokens=, or with_added_tokens(tokens) of the result",
    "verbose": "progress=",
}
"""Keywords of functions and methods."""


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


for _name in [*INSTEAD]:
    # SentencePiece writes each name in two ways.
    INSTEAD.setdefault("".join(map(str.title, _name.split("_"))), INSTEAD[_name])
for _name in {*dir(Encoding)} - {*dir(CoreTokenizer)}:
    if not _name.startswith("_"):
        INSTEAD.setdefault(_name, f"encode_full(text).{_name}")
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
