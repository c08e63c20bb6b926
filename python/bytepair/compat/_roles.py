"""Tokens and their roles: what of a tokenizer in the shape of transformers is no encoding.

Special tokens by role, which may be set as attributes; tokens that are added; ids and
tokens; what a template puts around ids. A token that is added and that the vocabulary has
already keeps its id, and is found as a whole from then on.

A change derives a new tokenizer, which is compiled again. Tokens that are added one by one
wait until the next call needs them, so that they are compiled together; what has their ids
(the vocabulary, the added tokens) knows them at once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from bytepair import Tokenizer
from bytepair._added import AddedToken, added_token, added_tokens
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair.errors import EncodingError, TokenizerError

from ._classes import Class, as_asked
from ._lengths import NO_LIMIT, Side
from ._loading import check_claim, extra_of, roles_of, tokens_of
from ._settings import ROLES, check_settings, content, templates_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self

__all__ = ["Roles", "check_id"]


class IdRangeError(TokenizerError, OverflowError):
    """A number that no id can be; an ``OverflowError``, as in transformers."""


def check_id(id_: int) -> None:
    """Refuse a number that is no id, such as the -100 of labels that do not count."""
    if not 0 <= id_ < 1 << 32:
        message = f"{id_} is not an id: ids are 0 or more, and below 2**32"
        raise IdRangeError(message)


class _TokenOf:
    """The special token of a role, such as ``pad_token``; it may be set."""

    def __init__(self, role: str) -> None:
        self.role = role

    def __get__(self, owner: Roles | None, _: object) -> str | None:
        return owner._roles.get(self.role) if owner is not None else None

    def __set__(self, owner: Roles, token: object) -> None:
        owner._set_role(self.role, token)


class _IdOf:
    """The id of the special token of a role, such as ``pad_token_id``; it may be set."""

    def __init__(self, role: str) -> None:
        self.role = role

    def __get__(self, owner: Roles | None, _: object) -> int | None:
        token = owner._roles.get(self.role) if owner is not None else None
        return None if owner is None or token is None else owner._id(token)

    def __set__(self, owner: Roles, id_: int | None) -> None:
        owner._set_role(self.role, None if id_ is None else owner._tokens.get(int(id_)))


class Roles:
    """A tokenizer with special tokens by role, and settings."""

    is_fast = True
    kind: ClassVar[Class | None] = None
    padding_side: Side = "right"
    model_input_names: list[str] = ["input_ids", "attention_mask"]  # noqa: RUF012
    pad_token_type_id = 0
    SPECIAL_TOKENS_ATTRIBUTES: list[str] = list(ROLES)  # noqa: RUF012 -- a list there too
    bos_token, bos_token_id = _TokenOf("bos_token"), _IdOf("bos_token")
    eos_token, eos_token_id = _TokenOf("eos_token"), _IdOf("eos_token")
    unk_token, unk_token_id = _TokenOf("unk_token"), _IdOf("unk_token")
    sep_token, sep_token_id = _TokenOf("sep_token"), _IdOf("sep_token")
    pad_token, pad_token_id = _TokenOf("pad_token"), _IdOf("pad_token")
    cls_token, cls_token_id = _TokenOf("cls_token"), _IdOf("cls_token")
    mask_token, mask_token_id = _TokenOf("mask_token"), _IdOf("mask_token")

    def __init__(self, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
        self._begin(tokenizer, settings)

    @classmethod
    def _made(cls, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> Self:
        """Make one of a tokenizer and settings, of whatever class."""
        made = object.__new__(cls)
        made._begin(tokenizer, settings)
        return made

    def __copy__(self) -> Self:
        """Copy what a change of tokens changes, so that each has its own."""
        copied = object.__new__(type(self))
        for name, value in self.__dict__.items():
            is_own = isinstance(value, (dict, list))
            copied.__dict__[name] = value.copy() if is_own else value
        copied.__dict__.pop("backend_tokenizer", None)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Give what this is made of: not what was looked up, which is computed again."""
        looked_up = {
            name: found
            for kind in reversed(type(self).__mro__)
            for name, found in vars(kind).items()
            if isinstance(found, cached_property)
        }
        _ = self.tokenizer  # compiles tokens that wait, as the next call does
        own = self.__dict__.items()
        # Settings are looked up too, and may be set.
        return {
            name: value
            for name, value in own
            if name not in looked_up
            or not (
                name.startswith("_")
                or name == "backend_tokenizer"
                or value == looked_up[name].func(self)
            )
        }

    def _begin(self, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
        """Begin as a tokenizer with settings."""
        self._compiled = tokenizer
        self._waiting: dict[str, AddedToken] = {}
        self._source = tokenizer
        settings = {**_settings_of(tokenizer), **settings}
        self.init_kwargs = dict(settings)
        """The settings that this was made with, and those that its file implies."""
        check_settings(settings)
        given = roles_of(settings)
        self._roles = {role: str(content(token)) for role, token in given.items()}
        self._as_given = dict(given)
        self.SPECIAL_TOKENS_ATTRIBUTES = list(dict.fromkeys([*ROLES, *given]))
        self._extra = [str(content(token)) for token in extra_of(settings)]
        self._adds = {
            f"add_{role}_token": bool(settings.get(f"add_{role}_token"))
            for role in ("bos", "eos")
        }
        self.deprecation_warnings: dict[str, bool] = {}
        self.verbose = bool(settings.get("verbose"))
        self.split_special_tokens = bool(settings.get("split_special_tokens"))
        self.added_tokens: str = settings.get("added_tokens") or "find"
        """``"text"`` where calls find no added token in their texts; else ``"find"``."""
        self.clean_up_tokenization_spaces = bool(
            settings.get("clean_up_tokenization_spaces")
        )
        limit = settings.get("model_max_length", settings.get("max_len"))
        self.model_max_length = NO_LIMIT if limit is None else int(min(limit, NO_LIMIT))
        self.padding_side: Side = settings.get("padding_side", type(self).padding_side)
        self.truncation_side: Side = settings.get("truncation_side", "right")
        self.model_input_names: list[str] = list(
            settings.get("model_input_names") or type(self).model_input_names
        )
        self.name_or_path = str(settings.get("name_or_path", ""))
        self.chat_template: Any = templates_of(settings.get("chat_template"))
        self._add_tokens_of(settings)
        self._begin_template(settings)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer beneath; what it can do beyond this shape is here."""
        if self._waiting:
            waiting = list(self._waiting.items())
            pairs = [(text, token.flags()) for text, token in waiting]
            self._compiled = Tokenizer(self._compiled._with_added_tokens(pairs)[0])
            for text, token in waiting:
                if self._waiting.get(text) is token:
                    del self._waiting[text]
        return self._compiled

    def _add_tokens_of(self, settings: Mapping[str, Any]) -> None:
        """Put into the vocabulary what settings name and is not there, or not so."""
        for name in ("extra_special_tokens", "additional_special_tokens"):
            refuse_set(name, settings.get(name))
        known = {
            token.content: token for token in added_tokens(self.tokenizer).values()
        }
        listed = settings.get("added_tokens_decoder") or {}
        claimed = {content(token): int(id_) for id_, token in listed.items()}
        wanted = [
            token
            for token in map(partial(_as_special_as, known), tokens_of(settings))
            if token.content not in known
            or (token.content in claimed and token != known[token.content])
        ]
        if not wanted:
            return
        first = self.tokenizer.n_vocab
        self._compile(wanted)
        ids = {text: id_ for id_, text, _ in self.tokenizer._added_tokens}
        for text in dict.fromkeys(token.content for token in wanted):
            if text not in known and ids.get(text, 0) >= first:
                check_claim(text, claimed.get(text), ids[text], settings)

    def _begin_template(self, settings: Mapping[str, Any]) -> None:
        """Put the beginning and the end around texts, where settings passed ask for that."""
        if "add_bos_token" not in settings and "add_eos_token" not in settings:
            return
        kind = type(self).kind
        if kind is None or kind.pipeline is None:
            self.update_post_processor()
        self._drop_what_has_no_token()

    @property
    def add_bos_token(self) -> bool:
        """Whether texts begin with ``bos_token``.

        It is ``False`` until it is set, whatever the template of a file does; to set it
        replaces that template, as in transformers 5.
        """
        return self._adds["add_bos_token"]

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._adds["add_bos_token"] = bool(value)
        self.update_post_processor()

    @property
    def add_eos_token(self) -> bool:
        """Whether texts end with ``eos_token``; see ``add_bos_token``."""
        return self._adds["add_eos_token"]

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._adds["add_eos_token"] = bool(value)
        self.update_post_processor()

    def update_post_processor(self) -> None:
        """Put ``bos_token`` and ``eos_token`` around texts, as the two settings say."""
        self._drop_what_has_no_token()
        ends = {role.removesuffix("_token"): text for role, text in self._roles.items()}
        self._set_template(as_asked(ends, self._known_id, self._adds))

    def _drop_what_has_no_token(self) -> None:
        for role in ("bos", "eos"):
            self._adds[f"add_{role}_token"] &= f"{role}_token" in self._roles

    def _known_id(self, token: str) -> int:
        id_ = self._id(token)
        if id_ is None:
            message = f"{token!r} is put around texts, but has no id"
            raise TokenizerError(message)
        return id_

    def _set_template(self, written: Mapping[str, Any]) -> None:
        """Take a template as a ``tokenizer.json`` writes it."""

        def pieces(
            parts: Sequence[Mapping[str, Any]],
        ) -> list[tuple[int | None, list[int], int]]:
            found: list[tuple[int | None, list[int], int]] = []
            for part in parts:
                ((kind, one),) = part.items()
                if kind == "Sequence":
                    found.append(("AB".index(one["id"]), [], one["type_id"]))
                else:
                    ids = written["special_tokens"][one["id"]]["ids"]
                    found.append((None, ids, one["type_id"]))
            return found

        changed = self.tokenizer._with_template(
            pieces(written["single"]), pieces(written["pair"])
        )
        self._compiled = Tokenizer(changed._with_plain_offsets())

    def _replace(self, tokenizer: Tokenizer) -> None:
        self._compiled = tokenizer
        self._forget("_vocabulary", "_is_dense", "_tokens", "_added", "_added_by_text")

    def _forget(self, *names: str) -> None:
        for name in names:
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
        for name, several in found.items():
            refuse_set(name, several)
        extra: list[Any] = []
        for name in ("additional_special_tokens", "extra_special_tokens"):
            if name in found:
                extra += _list_of_tokens(name, found.pop(name))
        for role, token in found.items():
            if role not in self.SPECIAL_TOKENS_ATTRIBUTES:
                known = ", ".join(self.SPECIAL_TOKENS_ATTRIBUTES)
                message = f"{role} is not a role; known are {known}"
                raise TokenizerError(message)
            if not _is_token(token):
                message = f"{role} must be a token, not {token!r:.80}"
                raise TokenizerError(message)
        if not replace_extra_special_tokens:
            extra = [token for token in extra if content(token) not in self._extra]
        n_added = self._add([*found.values(), *extra], special=True)
        for role, token in found.items():
            self._set_role(role, token)
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
        refuse_set("new_tokens", new_tokens)
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
        wanted = [token for token in wanted if token.content]
        for token in wanted:
            _check_text(token)
        if not self._is_dense:
            return self._compile(wanted)
        return sum(self._is_new(token) for token in wanted)

    def _is_new(self, token: AddedToken) -> bool:
        """Note a token that is new, or new with these properties; the next call compiles it.

        Ids are those that :meth:`_compile` gives: that of the vocabulary, else the next.
        """
        text = token.content
        if self._added_by_text.get(text) == token:
            return False
        id_ = self._vocabulary.setdefault(text, len(self._vocabulary))
        if "_tokens" in self.__dict__:
            self._tokens[id_] = text
        self._added_by_text[text] = self._waiting[text] = token
        self._forget("_added")
        return True

    def _compile(self, tokens: Iterable[AddedToken]) -> int:
        """Add tokens at once, and tell how many were new, or new with these properties."""
        pairs = [(token.content, token.flags()) for token in tokens if token.content]
        if not pairs:
            return 0
        changed, n_changed = self.tokenizer._with_added_tokens(pairs)
        if n_changed:
            self._replace(Tokenizer(changed))
        return n_changed

    def _set_role(self, role: str, token: Any) -> None:  # noqa: ANN401 -- a caller's
        if token is None:
            self._roles.pop(role, None)
            self._as_given.pop(role, None)
            return
        if not _is_token(token):
            message = f"{role} must be a token, not {token!r:.80}"
            raise TokenizerError(message)
        self._roles[role] = str(content(token))
        self._as_given[role] = token
        order = [name for name in self.SPECIAL_TOKENS_ATTRIBUTES if name in self._roles]
        self._roles = {name: self._roles[name] for name in order}

    def _set_model_specific_special_tokens(
        self, special_tokens: Mapping[str, Any]
    ) -> None:
        """Give tokens roles of the model's own; none is added. Processors call it so."""
        for role, token in special_tokens.items():
            names = dict.fromkeys([*self.SPECIAL_TOKENS_ATTRIBUTES, role])
            self.SPECIAL_TOKENS_ATTRIBUTES = list(names)
            self._set_role(role, token)

    @property
    def _special_tokens_map(self) -> Mapping[str, Any]:
        """The tokens of all roles as they were given, under the name it has there; to read."""
        roles = self.SPECIAL_TOKENS_ATTRIBUTES
        return MappingProxyType({role: self._as_given.get(role) for role in roles})

    def _own_role(self, name: str) -> str | None:
        """Tell the role of the model's own that an attribute is, or is the id of."""
        names = self.__dict__.get("SPECIAL_TOKENS_ATTRIBUTES", ())
        role = name if name in names else name.removesuffix("_id")
        return role if role in names and role not in ROLES else None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- a token or an id
        """Find the tokens of a model's own roles, such as ``image_token``."""
        role = self._own_role(name)
        if role is None:
            message = f"{type(self).__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        token = self._roles.get(role)
        return token if name == role or token is None else self._id(token)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Give a model's own roles other tokens; else set an attribute."""
        role = self._own_role(name)
        if role is None:
            object.__setattr__(self, name, value)
        elif name == role or value is None:
            self._set_role(role, value)
        else:
            self._set_role(role, self._tokens.get(int(value)))

    # Tokens

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return self.tokenizer.get_vocab()

    @cached_property
    def _is_dense(self) -> bool:
        """Whether each id has a token that is written as no other is."""
        return len(self._vocabulary) == self.tokenizer.n_vocab

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id_: token for token, id_ in self._vocabulary.items()}

    def __len__(self) -> int:
        return len(self._vocabulary)

    def __bool__(self) -> bool:
        return True

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the model, without those that are only added to it."""
        return self._n_model_tokens

    @cached_property
    def _n_model_tokens(self) -> int:
        return self._source._n_model_tokens

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
        return dict(self._added)

    @cached_property
    def _added(self) -> dict[int, AddedToken]:
        found = added_tokens(self._compiled)
        for text, token in self._waiting.items():
            found[self._vocabulary[text]] = token
        return dict(sorted(found.items()))

    @cached_property
    def _added_by_text(self) -> dict[str, AddedToken]:
        return {token.content: token for token in self._added.values()}

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The ids of added tokens."""
        return {token.content: id_ for id_, token in self._added.items()}

    def get_added_vocab(self) -> dict[str, int]:
        """Map added tokens to ids."""
        return self.added_tokens_encoder

    @property
    def special_tokens_map(self) -> dict[str, Any]:
        """The special tokens by role."""
        return dict(self._roles)

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
        unknown = self._roles.get("unk_token")
        default = None if unknown is None else self._vocabulary.get(unknown)
        return self._vocabulary.get(token, default)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:  # noqa: ANN401 -- one or several
        """Look up ids; a token that is not there has that of the unknown token, or None."""
        if isinstance(tokens, str):
            return self._id(tokens)
        tokens = list(tokens)
        vocabulary = self._vocabulary
        try:
            return [vocabulary[token] for token in tokens]
        except KeyError:
            for token in tokens:
                if not isinstance(token, str):
                    message = f"expected a list of tokens, not {token!r:.80} in it"
                    raise TypeError(message) from None
        return [self._id(token) for token in tokens]

    def convert_ids_to_tokens(
        self,
        ids: Any,  # noqa: ANN401 -- one or several
        skip_special_tokens: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
    ) -> Any:  # noqa: ANN401
        """Look up tokens as they are written; ``None`` for an id that no token has."""
        if isinstance(ids, (int, np.integer)):
            return self._token(int(ids))
        ids = [int(id_) for id_ in ids]
        if skip_special_tokens:
            skipped = set(self.all_special_ids)
            ids = [id_ for id_ in ids if id_ not in skipped]
        return [self._token(id_) for id_ in ids]

    def _token(self, id_: int) -> str | None:
        token = self._tokens.get(id_)
        if token is None:
            check_id(id_)
        return token

    # What a template puts around ids

    def num_special_tokens_to_add(self, pair: bool = False) -> int:  # noqa: FBT001, FBT002
        """Count the special tokens that are put around a text, or a pair."""
        return sum(len(ids) for _, ids, _ in self._compiled.template[pair])

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
        for which, ids, type_id in self._compiled.template[second is not None]:
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
            message = "ids that already have their special tokens are one row; leave out the second"
            raise TokenizerError(message)
        special = set(self.all_special_ids)
        return [int(int(id_) in special) for id_ in token_ids_0]


def _is_token(token: object) -> bool:
    """Tell a token, a text or an ``AddedToken``, from all else."""
    return isinstance(token, str) or isinstance(getattr(token, "content", None), str)


def _check_text(token: AddedToken) -> None:
    """Refuse lone surrogates, which no tokenizer takes, before a token waits."""
    try:
        token.content.encode()
    except UnicodeEncodeError as error:
        message = f"{token.content!r:.80} has a lone surrogate and cannot be a token"
        raise EncodingError(message) from error


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


def _as_special_as(known: Mapping[str, AddedToken], token: AddedToken) -> AddedToken:
    """Keep special what was: the library forgets no token that was special once."""
    was = known.get(token.content)
    return token if was is None or not was.special else replace(token, special=True)


def _listed(name: str, tokens: Any) -> list[Any]:  # noqa: ANN401 -- a caller's
    if not isinstance(tokens, (list, tuple)):
        message = f"{name} must be a list of tokens, not {tokens!r:.80}"
        raise TokenizerError(message)
    return list(tokens)


def _settings_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Read the settings that the padding and truncation of a file imply.

    Lengths have no effect: as in transformers, a call says what it wants.
    """
    settings: dict[str, Any] = {}
    cut, fill = tokenizer.truncation, tokenizer.padding
    if fill is not None:
        settings |= {
            "pad_token": fill["token"],
            "pad_token_type_id": fill["type_id"],
            "padding_side": fill["side"],
            "max_length": fill["length"],
            "pad_to_multiple_of": fill["multiple_of"],
        }
    if cut is not None:
        settings |= {
            "max_length": cut["max_length"],
            "truncation_side": cut["side"],
            "stride": cut["stride"],
            "truncation_strategy": cut["strategy"],
        }
    return settings
