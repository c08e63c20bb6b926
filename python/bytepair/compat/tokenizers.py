"""``tokenizers.Tokenizer`` objects that encode and decode with bytepair.

The object stays one of Hugging Face's library, which reads, changes and saves it: vocabulary, parts, settings, added
tokens, padding. Only ``encode``, ``encode_batch``, ``decode`` and ``decode_batch`` are ours. They run on a
``bytepair.Tokenizer`` that is compiled from ``to_str()``, and again after each change. A call that bytepair refuses, or
that fails, is made by their library, so results and errors are theirs.

The methods are set on their class once, and do nothing new for an object that is not accelerated.

Costs, besides encoding: a few microseconds a call, to see whether a part was changed in place; after a change, the time
to write and to load a ``tokenizer.json``. Left out: training, ``post_process``, and ``DecodeStream``, which are theirs.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import tokenizers

from bytepair import Encoding, Tokenizer as Core, _core
from bytepair.errors import TokenizerError

__all__ = ["accelerate", "explain", "patch"]

Object = TypeVar("Object")

KEY = "_bytepair"
"""The entry of an object's ``__dict__`` that holds its :class:`Engine`."""
OLDEST, NEWEST = (0, 22), (0, 23)
"""The versions of tokenizers whose behaviour is known."""
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
SETTINGS_OF_MODELS = (
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
)
NO_LENGTHS = _core.Lengths()

theirs: dict[str, Any] = {}
"""The methods of their class that ours replace, by name; empty until the first object is accelerated."""
n_patches = 0
"""The number of :func:`patch` blocks that run."""


class Engine:
    """The compiled form of an object, and what it was compiled from."""

    def __init__(self, *, fallback: bool, is_patched: bool = False) -> None:
        self.fallback = fallback
        self.is_patched = is_patched
        self.forget()

    def forget(self) -> None:
        """Compile anew before the next call."""
        self.core: Core | None = None
        self.decoder: Core | None = None
        self.splits_special = False
        self.problem: str | None = None
        self.state: list[Any] | None = None

    def compiled(self, owner: Any) -> Core | None:
        """Return the tokenizer for an object as it is now; ``None`` if bytepair refuses it.

        Raises
        ------
        TokenizerError
            It refuses the object, and ``fallback`` is false.
        """
        state: list[Any] | None = None
        try:
            state = _state(owner)
            if state != self.state:
                self.forget()
                self.core = _compile(owner)
                self.decoder = self.core if _decodes_alike(owner, self.core) else None
                self.splits_special = _splits_special_alike(owner)
        except TokenizerError as error:
            self.forget()
            self.problem = str(error)
            if not self.fallback:
                raise
        self.state = state
        return self.core


def _state(owner: Any) -> list[Any]:
    """Return the parts and settings that a program can change in place.

    Raises
    ------
    TokenizerError
        A part is written in Python.
    """
    parts = [getattr(owner, name) for name in PARTS]
    model = owner.model
    settings = [getattr(model, name, None) for name in SETTINGS_OF_MODELS]
    try:
        # An empty sequence of parts is false, so parts are compared with None.
        states = [None if part is None else part.__getstate__() for part in parts]
    except Exception as error:  # tokenizers raises no class of its own
        raise TokenizerError(str(error)) from error
    return states + settings


def _compile(owner: Any) -> Core:
    if getattr(owner.model, "dropout", None):
        message = "merges are left out by chance (dropout)"
        raise TokenizerError(message)
    core = Core.from_bytes(owner.to_str().encode(), format="huggingface")
    ids = {
        token.content: id_ for id_, token in owner.get_added_tokens_decoder().items()
    }
    if ids != {token.content: id_ for id_, token in core.added_tokens.items()}:
        message = "a file of it would give other ids to its added tokens"
        raise TokenizerError(message)
    _check_template(owner)
    _check_normalized(owner)
    return core


def _check_template(owner: Any) -> None:
    """Refuse a template that contains a text twice, which is truncated in another way.

    Raises
    ------
    TokenizerError
        The template is one.
    """
    state = owner.post_processor and owner.post_processor.__getstate__().decode()
    processors = [json.loads(state)] if state else []
    while processors:
        processor = processors.pop()
        processors += processor.get("processors", ())
        for template in (processor.get("single"), processor.get("pair")):
            parts = template if isinstance(template, list) else []
            texts = [part["Sequence"]["id"] for part in parts if "Sequence" in part]
            if len(texts) > len(set(texts)):
                message = "its template contains a text twice"
                raise TokenizerError(message)


def _check_normalized(owner: Any) -> None:
    """Refuse added tokens that the normalizer makes equal: there, a hash table decides which of them is found.

    Raises
    ------
    TokenizerError
        Two are equal.
    """
    added = owner.get_added_tokens_decoder().values()
    texts = [token.content for token in added if token.normalized]
    if owner.normalizer is not None:
        texts = [owner.normalizer.normalize_str(text) for text in texts]
    if len(texts) > len(set(texts)):
        message = "its normalizer makes two added tokens equal"
        raise TokenizerError(message)


def _decodes_alike(owner: Any, core: Core) -> bool:
    """Whether both decode added tokens alike. Ours are decoded as they are; theirs may have letters that stand for bytes."""
    for id_ in owner.get_added_tokens_decoder():
        ours = core.decode([id_, id_], skip_special_tokens=False)
        if ours != theirs["decode"](owner, [id_, id_], skip_special_tokens=False):
            return False
    return True


def _splits_special_alike(owner: Any) -> bool:
    """Whether both take special tokens as text alike.

    Theirs are found first and then split, so no other added token is found in them; and a piece that is spelled like a
    token is that token if merges are ignored.
    """
    added = owner.get_added_tokens_decoder().values()
    return all(token.special for token in added) and not owner.model.ignore_merges


def _engine(owner: Any) -> Engine | None:
    """Return the engine of an object, if it is accelerated."""
    engine: Engine | None = owner.__dict__.get(KEY)
    if engine is None and n_patches:
        engine = owner.__dict__[KEY] = Engine(fallback=True, is_patched=True)
    return None if engine and engine.is_patched and not n_patches else engine


def _lengths(owner: Any) -> _core.Lengths:
    """Return how rows are truncated and padded."""
    truncation, padding = owner.truncation, owner.padding
    options: dict[str, Any] = {}
    if truncation is not None:
        options = {**truncation, "truncation_side": truncation["direction"]}
        del options["direction"]
    if padding is not None:
        options |= {
            "pad_id": padding["pad_id"],
            "pad_token": padding["pad_token"],
            "type_id": padding["pad_type_id"],
            "length": padding["length"],
            "multiple_of": padding["pad_to_multiple_of"],
            "padding_side": padding["direction"],
        }
    return _core.Lengths(**options) if options else NO_LENGTHS


def _sample(item: Any) -> str | tuple[str, str]:
    """Return a text or a pair of texts.

    Raises
    ------
    TypeError
        It is neither.
    """
    if type(item) is str:
        return item
    if isinstance(item, (tuple, list)) and len(item) == 2:
        first, second = item
        if type(first) is type(second) is str:
            return first, second
    raise TypeError


def _word_sample(item: Any) -> tuple[list[str], list[str] | None]:
    """Return the words of a text, or of a pair of texts.

    Raises
    ------
    TypeError
        It is neither.
    """
    if not isinstance(item, (tuple, list)):
        raise TypeError
    if len(item) == 2 and all(isinstance(part, (tuple, list)) for part in item):
        return _words(item[0]), _words(item[1])
    return _words(item), None


def _words(item: Sequence[Any]) -> list[str]:
    if not all(type(word) is str for word in item):
        raise TypeError
    return list(item)


def _rows(
    owner: Any, core: Core, items: Any, is_pretokenized: bool, add_special_tokens: bool
) -> list[Encoding]:
    options: dict[str, Any] = {
        "allowed_special": () if owner.encode_special_tokens else "all",
        "add_special_tokens": add_special_tokens,
    }
    if is_pretokenized:
        words = [_word_sample(item) for item in items]
        return _core.encode_word_rows(core, words, _lengths(owner), **options)
    texts = [_sample(item) for item in items]
    return _core.encode_full_rows(core, texts, _lengths(owner), **options)


def _encode(
    self: Any,
    sequence: Any,
    pair: Any = None,
    is_pretokenized: bool = False,
    add_special_tokens: bool = True,
) -> Any:
    items = [sequence if pair is None else (sequence, pair)]

    def encode(core: Core) -> Encoding:
        return _rows(self, core, items, is_pretokenized, add_special_tokens)[0]

    return _run(
        self, "encode", encode, sequence, pair, is_pretokenized, add_special_tokens
    )


def _encoding_batch(name: str) -> Callable[..., Any]:
    """Return the method that encodes a batch in place of theirs of this name."""

    def encode_batch(
        self: Any,
        input: Any,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Any:
        def encode(core: Core) -> list[Encoding]:
            return _rows(self, core, input, is_pretokenized, add_special_tokens)

        return _run(self, name, encode, input, is_pretokenized, add_special_tokens)

    return encode_batch


def _decode(self: Any, ids: Any, skip_special_tokens: bool = True) -> Any:
    def decode(core: Core) -> str:
        return core.decode(ids, skip_special_tokens=skip_special_tokens)

    return _run(self, "decode", decode, ids, skip_special_tokens)


def _decode_batch(self: Any, sequences: Any, skip_special_tokens: bool = True) -> Any:
    def decode(core: Core) -> list[str]:
        return core.decode_batch(sequences, skip_special_tokens=skip_special_tokens)

    return _run(self, "decode_batch", decode, sequences, skip_special_tokens)


def _run(self: Any, name: str, ours: Callable[[Core], Any], *arguments: Any) -> Any:
    """Call ours; where that fails, or the object is not accelerated, the method that it replaces."""
    engine = _engine(self)
    core = engine and engine.compiled(self)
    if engine and name.startswith("decode"):
        core = engine.decoder
    elif engine and self.encode_special_tokens and not engine.splits_special:
        core = None
    if core:
        try:
            return ours(core)
        except (TokenizerError, TypeError):
            pass  # theirs has a result, or says what is wrong
    return theirs[name](self, *arguments)


def _waiting(name: str) -> Callable[..., Any]:
    """Return the method that runs ours of this name in a thread, and of an object that is not accelerated theirs."""

    async def wait(self: Any, *arguments: Any, **options: Any) -> Any:
        if _engine(self) is None:
            return await theirs[f"async_{name}"](self, *arguments, **options)
        return await asyncio.to_thread(getattr(self, name), *arguments, **options)

    return wait


def _changing(name: str) -> Callable[..., Any]:
    """Return a method that does what theirs of this name does, after which an object is compiled anew."""

    def change(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return theirs[name](self, *arguments, **options)
        finally:
            if engine := self.__dict__.get(KEY):
                engine.forget()

    return change


def _set_model(self: Any, model: Any) -> None:
    theirs["model"].__set__(self, model)
    if engine := self.__dict__.get(KEY):
        engine.forget()


def _reduce_ex(self: Any, protocol: Any) -> Any:
    engine = self.__dict__.get(KEY)
    if engine is None or engine.is_patched:
        return object.__reduce_ex__(self, protocol)
    return _restored, (self.to_str(), engine.fallback)


def _restored(data: str, fallback: bool) -> Any:
    return accelerate(tokenizers.Tokenizer.from_str(data), fallback=fallback)


OURS: dict[str, Any] = {
    "encode": _encode,
    "encode_batch": _encoding_batch("encode_batch"),
    "encode_batch_fast": _encoding_batch("encode_batch_fast"),
    "decode": _decode,
    "decode_batch": _decode_batch,
    **{
        f"async_{name}": _waiting(name)
        for name in ("encode", "encode_batch", "encode_batch_fast", "decode_batch")
    },
    "model": property(lambda self: theirs["model"].__get__(self), _set_model),
    "__reduce_ex__": _reduce_ex,
    **{
        name: _changing(name)
        for name in (
            *("add_tokens", "add_special_tokens", "train", "train_from_iterator"),
            "__setstate__",
        )
    },
}


def _install() -> None:
    """Set our methods on their class, once.

    Raises
    ------
    TokenizerError
        The version of tokenizers is not known.
    """
    if theirs:
        return
    version = tuple(int(part) for part in tokenizers.__version__.split(".")[:2])
    if not OLDEST <= version <= NEWEST:
        known = " to ".join(".".join(map(str, one)) for one in (OLDEST, NEWEST))
        message = f"tokenizers {tokenizers.__version__} is installed; bytepair accelerates versions {known}"
        raise TokenizerError(message)
    for name, ours in OURS.items():
        theirs[name] = getattr(tokenizers.Tokenizer, name)
        setattr(tokenizers.Tokenizer, name, ours)


def _backend(tokenizer: Any) -> Any:
    """Return the ``tokenizers.Tokenizer`` of an object.

    Raises
    ------
    TypeError
        It has none.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not isinstance(backend, tokenizers.Tokenizer):
        message = (
            f"{type(tokenizer).__name__} has no tokenizer of Hugging Face's library tokenizers; pass a "
            "tokenizers.Tokenizer or a fast tokenizer of transformers"
        )
        raise TypeError(message)
    return backend


def accelerate(tokenizer: Object, *, fallback: bool = True) -> Object:
    """Make a tokenizer of tokenizers or transformers encode and decode with bytepair, and return it.

    With ``fallback``, an object that bytepair refuses goes on with its own library; :func:`explain` says why.

    >>> import bytepair, tokenizers
    >>> own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> data = own.to_bytes(format="huggingface").decode()
    >>> tokenizer = accelerate(tokenizers.Tokenizer.from_str(data))
    >>> tokenizer.encode("lower").ids
    [257, 68, 81]

    Raises
    ------
    TypeError
        The object holds no ``tokenizers.Tokenizer``.
    TokenizerError
        ``fallback`` is false, and bytepair refuses the tokenizer; or the version of tokenizers is not known.
    """
    backend = _backend(tokenizer)
    _install()
    engine = Engine(fallback=fallback)
    backend.__dict__[KEY] = engine
    if not fallback:
        engine.compiled(backend)
    return tokenizer


def explain(tokenizer: Any) -> str:
    """Return which library encodes, and why.

    >>> import tokenizers
    >>> explain(tokenizers.Tokenizer(tokenizers.models.BPE()))
    'tokenizers encodes: the object is not accelerated'
    """
    backend = _backend(tokenizer)
    engine = _engine(backend)
    if engine is None:
        return "tokenizers encodes: the object is not accelerated"
    if engine.compiled(backend):
        decodes = "" if engine.decoder else ", tokenizers decodes: added tokens differ"
        return f"bytepair encodes{decodes}"
    return f"tokenizers encodes: {engine.problem}"


@contextmanager
def patch() -> Iterator[None]:
    """Accelerate all tokenizers of the process within a ``with`` block, those of transformers too.

    >>> import bytepair, tokenizers
    >>> own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer = tokenizers.Tokenizer.from_str(
    ...     own.to_bytes(format="huggingface").decode()
    ... )
    >>> with patch():
    ...     explain(tokenizer)
    'bytepair encodes'
    """
    global n_patches
    _install()
    n_patches += 1
    try:
        yield
    finally:
        n_patches -= 1
