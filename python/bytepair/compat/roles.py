"""Tokens and their roles: what of a tokenizer in the shape of transformers is no encoding.

Special tokens by role, which may be set as attributes; tokens that are added; ids and
tokens; what a template puts around ids. A token that is added and that the vocabulary has
already keeps its id, and is found as a whole from then on.

A change derives a new tokenizer, which is compiled again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bytepair import Tokenizer
from bytepair.added import AddedToken, added_token, added_tokens
from bytepair.errors import FormatError, TokenizerError

from .lengths import NO_LIMIT, Side
from .pretrained import TOKEN_NAMES, content

__all__ = ["Roles"]


class _TokenOf:
    """The special token of a role, such as ``pad_token``; it may be set."""

    def __init__(self, role: str) -> None:
        self.role = role

    def __get__(self, owner: "Roles | None", _: object) -> "str | None":
        return owner._roles.get(self.role) if owner is not None else None

    def __set__(self, owner: "Roles", token: object) -> None:
        owner._set_role(self.role, content(token))


class _IdOf:
    """The id of the special token of a role, such as ``pad_token_id``; it may be set."""

    def __init__(self, role: str) -> None:
        self.role = role

    def __get__(self, owner: "Roles | None", _: object) -> "int | None":
        token = owner._roles.get(self.role) if owner is not None else None
        return None if owner is None or token is None else owner._id(token)

    def __set__(self, owner: "Roles", id_: int | None) -> None:
        owner._set_role(self.role, None if id_ is None else owner._tokens.get(int(id_)))


class Roles:
    """A tokenizer with special tokens by role, and settings."""

    is_fast = True
    verbose = False
    clean_up_tokenization_spaces = False
    SPECIAL_TOKENS_ATTRIBUTES = tuple(f"{role}_token" for role in TOKEN_NAMES)
    bos_token, bos_token_id = _TokenOf("bos"), _IdOf("bos")
    eos_token, eos_token_id = _TokenOf("eos"), _IdOf("eos")
    unk_token, unk_token_id = _TokenOf("unk"), _IdOf("unk")
    sep_token, sep_token_id = _TokenOf("sep"), _IdOf("sep")
    pad_token, pad_token_id = _TokenOf("pad"), _IdOf("pad")
    cls_token, cls_token_id = _TokenOf("cls"), _IdOf("cls")
    mask_token, mask_token_id = _TokenOf("mask"), _IdOf("mask")

    def __init__(self, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
        self.tokenizer = tokenizer
        """The tokenizer beneath; what it can do beyond this shape is here."""
        self._source = tokenizer
        self._roles: dict[str, str] = {}
        self._extra: list[str] = []
        self.init_kwargs = dict(settings)
        """The settings that this was made with."""
        settings = {**_settings_of(tokenizer), **settings}
        self.add_bos_token = bool(settings.get("add_bos_token"))
        self.add_eos_token = bool(settings.get("add_eos_token"))
        self.deprecation_warnings: dict[str, bool] = {}
        self.split_special_tokens = bool(settings.get("split_special_tokens"))
        self.pad_token_type_id = int(settings.get("pad_token_type_id") or 0)
        self.model_max_length = int(settings.get("model_max_length") or NO_LIMIT)
        self.padding_side: Side = settings.get("padding_side", "right")
        self.truncation_side: Side = settings.get("truncation_side", "right")
        self.model_input_names: list[str] = list(
            settings.get("model_input_names") or ["input_ids", "attention_mask"]
        )
        self.chat_template: Any = _templates(settings.get("chat_template"))
        self.name_or_path = str(settings.get("name_or_path", ""))
        self._add_tokens_of(settings)

    def _add_tokens_of(self, settings: Mapping[str, Any]) -> None:
        """Take the roles, and put into the vocabulary what is not there."""
        decoder = settings.get("added_tokens_decoder") or {}
        placed = {content(token): int(id_) for id_, token in decoder.items()}
        missing = {k: v for k, v in placed.items() if k and k not in self._vocabulary}
        if missing:
            self._replace(self.tokenizer.with_special_tokens(missing))
        extra: Any = settings.get("extra_special_tokens") or []
        named = extra if isinstance(extra, Mapping) else {}
        extra = [] if named else list(extra)
        extra += settings.get("additional_special_tokens") or []
        named = {
            **{k: v for k, v in settings.items() if k.endswith("_token")},
            **named,
        }
        roles = {k.removesuffix("_token"): v for k, v in named.items() if content(v)}
        self._roles = {k: str(content(v)) for k, v in _in_order(roles).items()}
        self._extra = [token for token in map(content, extra) if token]
        known = {token.content for token in added_tokens(self.tokenizer).values()}
        tokens = [*_in_order(roles).values(), *extra]
        self._add([t for t in tokens if content(t) not in known], special=True)

    def _replace(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        for name in ("_vocabulary", "_tokens"):
            self.__dict__.pop(name, None)

    # Adding

    def add_special_tokens(
        self,
        special_tokens_dict: Mapping[str, Any],
        replace_extra_special_tokens: bool = True,  # noqa: FBT001, FBT002 -- transformers' own
    ) -> int:
        """Give tokens a role; tells how many are new as special tokens.

        Extra tokens are those passed from then on, or join those that there are; tokens
        that are no longer among them stay in the vocabulary.

        Raises
        ------
        TokenizerError
            There is no such role, a token is neither a text nor an ``AddedToken``, or extra
            tokens are not a list.
        """
        found = dict(special_tokens_dict)
        extra: list[Any] = []
        for name in ("additional_special_tokens", "extra_special_tokens"):
            if name in found:
                extra += _list_of_tokens(name, found.pop(name))
        roles = {k.removesuffix("_token"): v for k, v in found.items()}
        for role, token in roles.items():
            if role not in self._roles and role not in TOKEN_NAMES:
                message = f"{role}_token is no role; known are {', '.join(TOKEN_NAMES)}"
                raise TokenizerError(message)
            if not _is_token(token):
                message = f"{role}_token must be a token, not {token!r:.80}"
                raise TokenizerError(message)
        if not replace_extra_special_tokens:
            extra = [token for token in extra if content(token) not in self._extra]
        n_added = self._add([*roles.values(), *extra], special=True)
        for role, token in roles.items():
            self._set_role(role, content(token))
        names = [token for token in map(content, extra) if token]
        is_new = replace_extra_special_tokens and bool(names)
        self._extra = names if is_new else [*self._extra, *names]
        return n_added

    def add_tokens(
        self,
        new_tokens: Any,  # noqa: ANN401 -- a token or several
        special_tokens: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
    ) -> int:
        """Add a token or several, texts or ``AddedToken``; tells how many were new.

        One that the model's vocabulary has keeps its id, and counts as new.

        Raises
        ------
        TokenizerError
            A token is neither a text nor an ``AddedToken``.
        """
        if not new_tokens:
            return 0
        is_several = isinstance(new_tokens, (list, tuple))
        several = new_tokens if is_several else [new_tokens]
        for token in several:
            if not _is_token(token):
                message = f"expected tokens, texts or AddedToken, not {token!r:.80}"
                raise TokenizerError(message)
        return self._add(several, special=special_tokens)

    def _add(self, tokens: Iterable[Any], *, special: bool) -> int:
        wanted = [added_token(token, special=special) for token in tokens]
        pairs = [(token.content, token.flags()) for token in wanted if token.content]
        if not pairs:
            return 0
        changed, n_changed = self.tokenizer._with_added_tokens(pairs)
        if n_changed:
            self._replace(Tokenizer(changed))
        return n_changed

    def _set_role(self, role: str, token: str | None) -> None:
        if token is None:
            self._roles.pop(role, None)
        else:
            self._roles[role] = token
        self._roles = _in_order(self._roles)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- a token or an id
        """Find the tokens of a model's own roles, such as ``image_token``."""
        roles = self.__dict__.get("_roles", {})
        token = roles.get(name.removesuffix("_id").removesuffix("_token"))
        if token is None or not name.endswith(("_token", "_token_id")):
            message = f"{type(self).__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return self._id(token) if name.endswith("_id") else token

    # Tokens

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return self.tokenizer.get_vocab()

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id_: token for token, id_ in self._vocabulary.items()}

    def __len__(self) -> int:
        return len(self._vocabulary)

    def __bool__(self) -> bool:
        return True

    @cached_property
    def vocab_size(self) -> int:
        """The number of tokens that are not added to the model's.

        Where no ``tokenizer.json`` can tell, those that are not special.
        """
        document = _document(self._source)
        if document is None:
            return len(self._source.get_vocab()) - len(self._source.special_tokens)
        return len(document["model"]["vocab"])

    def get_vocab(self) -> dict[str, int]:
        """Map tokens as they are written to ids."""
        return dict(self._vocabulary)

    @property
    def vocab(self) -> dict[str, int]:
        """Tokens as they are written, and their ids."""
        return self.get_vocab()

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id, with their properties."""
        return added_tokens(self.tokenizer)

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The ids of added tokens."""
        return {token.content: id_ for id_, token in self.added_tokens_decoder.items()}

    def get_added_vocab(self) -> dict[str, int]:
        """Map added tokens to ids."""
        return self.added_tokens_encoder

    @property
    def special_tokens_map(self) -> dict[str, Any]:
        """The special tokens by role."""
        return {f"{role}_token": token for role, token in self._roles.items()}

    @property
    def extra_special_tokens(self) -> list[str]:
        """The special tokens without a role; they may be set, and are not added by that."""
        return list(self._extra)

    @extra_special_tokens.setter
    def extra_special_tokens(self, tokens: Iterable[Any] | None) -> None:
        found = _list_of_tokens("extra_special_tokens", tokens or [])
        self._extra = [token for token in map(content, found) if token]

    additional_special_tokens = extra_special_tokens

    @property
    def extra_special_tokens_ids(self) -> list[int]:
        """The ids of the special tokens without a role; they may be set."""
        found: list[int] = self.convert_tokens_to_ids(self._extra)
        return found

    @extra_special_tokens_ids.setter
    def extra_special_tokens_ids(self, ids: Iterable[int] | None) -> None:
        self.extra_special_tokens = self.convert_ids_to_tokens(list(ids or []))

    @property
    def all_special_tokens(self) -> list[str]:
        """The special tokens with a role, and the additional ones."""
        return list(dict.fromkeys([*self._roles.values(), *self._extra]))

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of ``all_special_tokens``."""
        found: list[int] = self.convert_tokens_to_ids(self.all_special_tokens)
        return found

    def _id(self, token: str) -> int | None:
        unknown = self._roles.get("unk")
        default = None if unknown is None else self._vocabulary.get(unknown)
        return self._vocabulary.get(token, default)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:  # noqa: ANN401 -- one or several
        """Look up ids; a token that is not there has that of the unknown token, or None."""
        if isinstance(tokens, str):
            return self._id(tokens)
        vocabulary = self._vocabulary
        try:
            return [vocabulary[token] for token in tokens]
        except KeyError:
            return [self._id(token) for token in tokens]

    def convert_ids_to_tokens(
        self,
        ids: Any,  # noqa: ANN401 -- one or several
        skip_special_tokens: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
    ) -> Any:  # noqa: ANN401
        """Look up tokens as they are written; ``None`` for an id that no token has."""
        if isinstance(ids, (int, np.integer)):
            return self._tokens.get(int(ids))
        tokens = self._tokens
        if not skip_special_tokens:
            return [tokens.get(int(id_)) for id_ in ids]
        skipped = set(self.all_special_ids)
        return [tokens.get(int(id_)) for id_ in ids if int(id_) not in skipped]

    # What a template puts around ids

    def num_special_tokens_to_add(self, pair: bool = False) -> int:  # noqa: FBT001, FBT002
        """Count the special tokens that are put around a text, or a pair."""
        return sum(len(ids) for _, ids, _ in self.tokenizer.template[pair])

    @property
    def max_len_single_sentence(self) -> int:
        """How many ids of a text the model takes beside special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add()

    @property
    def max_len_sentences_pair(self) -> int:
        """How many ids of two texts the model takes beside special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=True)

    def _arranged(
        self, first: Sequence[int], second: Sequence[int] | None
    ) -> list[tuple[int, int, int]]:
        """Put ids as the template says, each with its type and whether it is special."""
        texts = [first, second or []]
        found = []
        for which, ids, type_id in self.tokenizer.template[second is not None]:
            own = ids if which is None else texts[which]
            found += [(int(id_), type_id, int(which is None)) for id_ in own]
        return found

    def build_inputs_with_special_tokens(
        self, token_ids_0: Sequence[int], token_ids_1: Sequence[int] | None = None
    ) -> list[int]:
        """Put the special tokens around ids."""
        return [id_ for id_, _, _ in self._arranged(token_ids_0, token_ids_1)]

    def create_token_type_ids_from_sequences(
        self, token_ids_0: Sequence[int], token_ids_1: Sequence[int] | None = None
    ) -> list[int]:
        """Give the types that ids have with the special tokens around them."""
        return [type_id for _, type_id, _ in self._arranged(token_ids_0, token_ids_1)]

    def get_special_tokens_mask(
        self,
        token_ids_0: Any,  # noqa: ANN401 -- a list or an array
        token_ids_1: Any = None,  # noqa: ANN401
        already_has_special_tokens: bool = False,  # noqa: FBT001, FBT002
    ) -> list[int]:
        """Tell for each id whether it is special: of those passed, or once they are added."""
        if not already_has_special_tokens:
            arranged = self._arranged(token_ids_0, token_ids_1)
            return [is_special for _, _, is_special in arranged]
        if token_ids_1 is not None:
            message = "ids that have their special tokens are one row; pass no second"
            raise TokenizerError(message)
        special = set(self.all_special_ids)
        return [int(int(id_) in special) for id_ in token_ids_0]


def _is_token(token: object) -> bool:
    """Tell a token, a text or an ``AddedToken``, from all else."""
    return isinstance(token, str) or isinstance(getattr(token, "content", None), str)


def _list_of_tokens(name: str, tokens: Any) -> list[Any]:  # noqa: ANN401 -- a caller's
    """Read the tokens of an entry that has several.

    A text is refused: it would be taken for a list of its characters.
    """
    if not isinstance(tokens, (list, tuple)):
        message = f"{name} must be a list of tokens, not {tokens!r:.80}"
        raise TokenizerError(message)
    for token in tokens:
        if not _is_token(token):
            message = f"{name}: expected tokens, texts or AddedToken, not {token!r:.80}"
            raise TokenizerError(message)
    return list(tokens)


def _in_order(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Put the roles that all models have first."""
    order = [name for name in TOKEN_NAMES if name in roles]
    return {name: roles[name] for name in dict.fromkeys([*order, *roles])}


def _templates(found: Any) -> Any:  # noqa: ANN401 -- of settings
    """Read one chat template, or several by name."""
    if isinstance(found, (list, tuple)):
        return {one["name"]: one["template"] for one in found}
    return found


def _settings_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Read the settings that the padding and truncation of a file imply."""
    settings = {}
    if tokenizer.truncation is not None:
        settings["truncation_side"] = tokenizer.truncation["side"]
    if tokenizer.padding is not None:
        settings["pad_token"] = tokenizer.padding["token"]
        settings["pad_token_type_id"] = tokenizer.padding["type_id"]
        settings["padding_side"] = tokenizer.padding["side"]
    return settings


def _document(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """Give the ``tokenizer.json`` of a tokenizer, or ``None`` where there can be none."""
    try:
        found: dict[str, Any] = json.loads(tokenizer.to_bytes(format="huggingface"))
    except FormatError:
        return None
    return found
