"""The rest of what tokenizers of transformers have: training anew, the backend, odd ends.

What is not built raises ``NotImplementedError`` with what to do instead, so that nobody
takes it for a name that is spelled wrong.

Left out: parsers of answers, uploads, and classes of tokenizers that a model's own code
defines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair._added import AddedToken, added_token
from bytepair.errors import FileError, TokenizerError

from ._calls import Calls
from ._lengths import Side, padding_of, truncation_of
from ._retraining import retrained
from .tokenizers import Tokenizer as Backend, write_model

if TYPE_CHECKING:
    from typing_extensions import Self

    from bytepair._io.files import StrPath

__all__ = ["Extras"]


class Extras(Calls):
    """A tokenizer that has every public name of those of transformers."""

    vocab_files_names = {  # noqa: RUF012 -- a constant there too
        "tokenizer_file": "tokenizer.json",
        "vocab_file": "tokenizer.model",
    }
    pretrained_vocab_files_map: dict[str, Any] = {}  # noqa: RUF012
    model_input_names: list[str] = ["input_ids", "attention_mask"]  # noqa: RUF012
    padding_side: Side = "right"
    truncation_side: Side = "right"
    model: Any = None
    slow_tokenizer_class: Any = None
    can_save_slow_tokenizer = False
    backend = "tokenizers"
    init_inputs: tuple[Any, ...] = ()
    files_loaded: Sequence[str] = ()

    @cached_property
    def add_prefix_space(self) -> bool:
        """Whether the setting of this name is set."""
        return bool(self.init_kwargs.get("add_prefix_space"))

    @cached_property
    def response_template(self) -> Any:
        """The setting of this name."""
        return self.init_kwargs.get("response_template")

    @cached_property
    def chat_control_tokens(self) -> Any:
        """The setting of this name."""
        return self.init_kwargs.get("chat_control_tokens")

    # The tokenizer beneath

    @property
    def _tokenizer(self) -> Backend:
        """The name under which servers look for ``backend_tokenizer``."""
        return self.backend_tokenizer

    @cached_property
    def backend_tokenizer(self) -> Backend:
        """Give this tokenizer the shape of ``tokenizers.Tokenizer``; they change together."""
        return Backend(self)

    @property
    def decoder(self) -> Any:
        """What turns written tokens into text, by ``decoder.decode(tokens)``."""
        return self.backend_tokenizer.decoder

    def set_truncation_and_padding(
        self,
        padding_strategy: Any,
        truncation_strategy: Any,
        max_length: int,
        stride: int,
        pad_to_multiple_of: int | None,
        padding_side: Side | None,
    ) -> None:
        """Set the lengths of ``backend_tokenizer``; calls of this tokenizer have their own."""
        cut, fill = truncation_of(truncation_strategy), padding_of(padding_strategy)
        backend = self.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        if cut:
            backend.enable_truncation(max_length, stride, cut, self.truncation_side)
        if fill:
            if self.pad_token is None or self.pad_token_id is None:
                message = "no padding token; set pad_token, for instance to eos_token"
                raise TokenizerError(message)
            backend.enable_padding(
                padding_side or self.padding_side,
                self.pad_token_id,
                self.pad_token_type_id,
                self.pad_token,
                max_length if fill == "max_length" else None,
                pad_to_multiple_of,
            )

    # Training and files

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[Any],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Sequence[Any] | None = None,
        special_tokens_map: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Train a tokenizer with the parts of this one on other texts.

        Special tokens get the first ids; ``special_tokens_map`` gives some of them another
        name, and ``new_special_tokens`` are more of them. ``kwargs`` are ``min_frequency``,
        ``show_progress``, and for tokenizers of characters ``initial_alphabet`` and
        ``limit_alphabet``. ``length`` has no effect: nothing is shown by it. As in
        transformers, a tokenizer of a folder gets all tokens again that were added to it,
        behind those that are learned.

        Raises
        ------
        TrainingError
            Nothing can be learned from the texts, or the vocabulary is too small.
        """
        trained = retrained(
            self.tokenizer,
            text_iterator,
            vocab_size,
            new_special_tokens,
            special_tokens_map,
            kwargs,
        )
        names = special_tokens_map or {}
        settings = dict(self.init_kwargs)
        settings.pop("added_tokens_decoder", None)
        trained = trained.with_added_tokens(self._added_by_folder())
        for name, token in self.special_tokens_map.items():
            settings[name] = names.get(token, token)
        extra = [names.get(token, token) for token in self._extra]
        extra += new_special_tokens or ()
        settings.pop("additional_special_tokens", None)
        settings["extra_special_tokens"] = extra
        return self._made(trained, settings)

    def _added_by_folder(self) -> list[AddedToken]:
        """List the added tokens of the folder that this tokenizer was loaded from."""
        if "name_or_path" not in self.init_kwargs:
            return []
        by_id = self.init_kwargs.get("added_tokens_decoder") or {}
        found = [added_token(by_id[id_]) for id_ in sorted(by_id, key=int)]
        roles = set(self.special_tokens_map.values())
        return [
            replace(token, special=True) if token.content in roles else token
            for token in found or self._source.added_tokens.values()
        ]

    def save_vocabulary(
        self, save_directory: StrPath, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write ``vocab.json`` and ``merges.txt``: tokens and merges, and no other part.

        Raises
        ------
        FileError
            The folder does not exist, or a file cannot be written.
        FormatError
            No ``tokenizer.json`` can hold the tokenizer.
        """
        folder = Path(save_directory)
        if not folder.is_dir():
            message = f"{folder}: no such folder; create it, or use save_pretrained"
            raise FileError(message)
        model = json.loads(self._source.to_bytes(format="huggingface"))["model"]
        return tuple(map(str, write_model(model, folder, filename_prefix)))

    # Odd ends

    @classmethod
    def convert_added_tokens(
        cls, obj: Any, save: bool = False, add_type_field: bool = True
    ) -> Any:
        """Read the added tokens in settings of any depth, or write them where ``save``."""
        if isinstance(obj, AddedToken):
            return _written(obj, add_type_field=add_type_field) if save else obj
        if isinstance(obj, (list, tuple)):
            return [cls.convert_added_tokens(one, save, add_type_field) for one in obj]
        if not isinstance(obj, Mapping):
            return obj
        if obj.get("__type") == "AddedToken":
            return AddedToken(**{k: v for k, v in obj.items() if k != "__type"})
        return {
            name: cls.convert_added_tokens(one, save, add_type_field)
            for name, one in obj.items()
        }

    def encode_message_with_chat_template(
        self,
        message: Mapping[str, Any],
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> list[int]:
        """Encode a message as it stands behind those before it.

        Given are the ids from the first on that are not those of the messages before alone.

        Raises
        ------
        TokenizerError
            ``add_generation_prompt`` is given: the message is there already.
        """
        if "add_generation_prompt" in kwargs:
            problem = (
                "add_generation_prompt has no effect here: the message is already given"
            )
            raise TokenizerError(problem)
        options = {**kwargs, "tokenize": True, "return_dict": False}
        before = list(conversation_history or [])
        ids: list[int] = self._chat([*before, message], options)
        ids_before = self._chat(before, options) if before else []
        pairs = zip(ids, ids_before, strict=False)
        n_same = next(
            (place for place, (one, other) in enumerate(pairs) if one != other),
            min(len(ids), len(ids_before)),
        )
        return ids[n_same:]

    def _chat(self, messages: Sequence[Any], options: Mapping[str, Any]) -> list[int]:
        apply: Any = self.apply_chat_template
        found: list[int] = apply(messages, **options)
        return found

    # What is not built

    def push_to_hub(
        self,
        repo_id: str,
        *,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: bool | str | None = None,
        revision: str | None = None,
        create_pr: bool = False,
        max_shard_size: int | str | None = "50GB",
        tags: list[str] | None = None,
    ) -> str:
        """Refuse: nothing is uploaded."""
        _refuse(
            "push_to_hub",
            "write a folder with save_pretrained, and upload it with "
            "huggingface_hub.upload_folder",
        )

    def parse_response(
        self,
        response: Any,
        schema: Mapping[str, Any] | None = None,
        *,
        prefix: Any = None,
        tools: Sequence[Any] | None = None,
    ) -> Any:
        """Refuse: answers of a model are not parsed."""
        _refuse("parse_response", PARSERS)

    def get_response_parser(
        self,
        response_template: Mapping[str, Any] | None = None,
        *,
        prefix: Any = None,
        tools: Sequence[Any] | None = None,
    ) -> Any:
        """Refuse: answers of a model are not parsed."""
        _refuse("get_response_parser", PARSERS)

    @classmethod
    def register_for_auto_class(cls, auto_class: str = "AutoTokenizer") -> None:
        """Refuse: there is one class for all tokenizers."""
        _refuse(
            "register_for_auto_class",
            "AutoTokenizer.from_pretrained reads the files, whatever class they name",
        )

    @classmethod
    def convert_to_native_format(
        cls, trust_remote_code: bool = False, **kwargs: Any
    ) -> Any:
        """Refuse: files are read by ``from_pretrained``."""
        _refuse(
            "convert_to_native_format",
            "from_pretrained reads files of every format, and bytepair.convert writes "
            "them in another",
        )


PARSERS = (
    "decode the answer, and parse the text with the class that transformers has for the "
    "model"
)


def _refuse(name: str, advice: str) -> NoReturn:
    message = f"{name} is not supported; {advice}"
    raise NotImplementedError(message)


def _written(token: AddedToken, *, add_type_field: bool) -> dict[str, Any]:
    """Write a token as settings have it."""
    found: dict[str, Any] = {"content": token.content, **token.properties()}
    if add_type_field:
        return {**found, "__type": "AddedToken"}
    del found["special"]
    return found
