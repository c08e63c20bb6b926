"""A fast tokenizer with the calls of transformers, over bytepair's core.

``from bytepair.compat.transformers import AutoTokenizer`` in place of the same from
``transformers``: texts, words and pairs, padding, truncation with overflow, masks,
offsets, tensors, special tokens by their roles, chat templates, collators of data, and
folders that both libraries read. Answers are those of transformers 5.

``AutoTokenizer`` gives the class that a folder names, with the rules of that class
(``classes``); ``PreTrainedTokenizerFast`` reads a ``tokenizer.json`` as it is. Classes are
imported by name as well: ``from bytepair.compat.transformers import GPT2TokenizerFast``.

This file has folders and chats; calls are in ``calls``, tokens in ``roles``.

Left out: schemas of tools that are functions, and programs that folders bring along.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from bytepair import Tokenizer
from bytepair._added import AddedToken, added_token
from bytepair._io.files import StrPath
from bytepair.errors import FormatError, TokenizerError

from ._batch import BatchEncoding
from ._calls import OF_DECODING, is_row
from ._chat import Messages, Rendered, is_chat, render
from ._classes import (
    ALIASES,
    CLASSES,
    FIRST_LANGUAGE,
    Class,
    language_ends,
    whisper_ends,
    whisper_prefix,
)
from ._extras import Extras
from ._keywords import NameOfMethodError, is_kept, split
from ._loading import Loaded, load, put_together, rebuilt
from ._locating import located
from ._pretrained import file_of_template, write_folder, write_templates
from ._settings import ROLES, check_settings

__all__ = ["AddedToken", "AutoTokenizer", "BatchEncoding", "PreTrainedTokenizerFast"]


class PreTrainedTokenizerFast(Extras):
    """A tokenizer in the shape of transformers' fast tokenizers.

    >>> import bytepair
    >>> own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer=own, pad_token="<pad>")
    >>> tokenizer(["low", "lower"], padding=True)["input_ids"]
    [[257, 258, 258], [257, 68, 81]]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Begin with a tokenizer of bytepair, ``tokenizer=``, or one of those below.

        ``tokenizer_file=`` is the path of a file of any format, and ``tokenizer_object=`` a
        tokenizer, of bytepair or of the library ``tokenizers``. All other keywords are
        settings.

        Raises
        ------
        TypeError
            None of the three is passed, or an argument has no name.
        """
        if args:
            message = f"PreTrainedTokenizerFast takes only keyword arguments, not {args[0]!r:.80}"
            raise TypeError(message)
        refuse_names_of_methods(type(self), kwargs)
        file, other = (
            kwargs.pop(name, None) for name in ("tokenizer_file", "tokenizer_object")
        )
        given = kwargs.pop("tokenizer", None)
        self._begin(_given(file, other) if given is None else given, kwargs)

    def __repr__(self) -> str:
        roles = ", ".join(f"{k}={v!r}" for k, v in self.special_tokens_map.items())
        return f"{type(self).__name__}({len(self)} tokens, {roles})"

    # Files

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: StrPath,
        *init_inputs: Any,
        cache_dir: StrPath | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> "PreTrainedTokenizerFast":
        """Load a folder, a tokenizer file, or a published model by its name.

        A name is looked for as a path, in the cache of ``huggingface_hub``, and on the Hub
        where that library is installed. ``subfolder``, ``revision``, ``cache_dir``,
        ``token``, ``force_download`` and ``local_files_only`` say where; all else is a
        setting, which goes before those of the folder. The file is read as it is; classes
        with rules of their own have names, such as ``GPT2Tokenizer``.

        Raises
        ------
        FileError
            There is no such folder or model; the message says where was looked.
        FormatError
            Files are damaged or not understood.
        TokenizerError
            A keyword that cannot act here, or one with a value that means nothing.
        """
        if init_inputs:
            message = f"from_pretrained takes one path or name; {init_inputs!r:.80} is too many"
            raise TypeError(message)
        keywords = {
            **kwargs,
            "cache_dir": cache_dir,
            "force_download": force_download,
            "local_files_only": local_files_only,
            "token": token,
            "revision": revision,
            "trust_remote_code": trust_remote_code,
        }
        kind = "TokenizersBackend" if cls.kind is None else cls.kind.name
        return _loaded(pretrained_model_name_or_path, keywords, kind)

    def save_pretrained(
        self,
        save_directory: StrPath,
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        save_format: str | None = None,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write a folder that ``AutoTokenizer.from_pretrained`` reads, here and there.

        Settings of the tokenizer are written, and nothing of how it was loaded: no access
        token, no path. Chat templates are files of their own, or settings with
        ``save_jinja_files=False``. Files of the same layout that would say something else
        at the next load are removed (``special_tokens_map.json``, ``added_tokens.json``,
        chat templates); other files stay as they are. Gives the paths.

        Raises
        ------
        FormatError
            A ``tokenizer.json`` cannot express a part of this tokenizer. Nothing is written.
        FileError
            The folder cannot be written.
        TokenizerError
            An option that cannot act here.
        """
        save_jinja_files = kwargs.pop("save_jinja_files", True)
        if kwargs:
            message = (
                f"save_pretrained does not take the argument {next(iter(kwargs))!r}"
            )
            raise TypeError(message)
        refused = {
            "legacy_format=True": bool(legacy_format),
            "push_to_hub=True": bool(push_to_hub),
            f"save_format={save_format!r}": save_format not in (None, "hf"),
        }
        for option, is_asked in refused.items():
            if is_asked:
                message = f"save_pretrained: {option} is not supported here"
                raise TokenizerError(message)
        folder = Path(save_directory)
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        data = self.tokenizer.to_bytes(format="huggingface")
        templates = self._named_templates()
        settings = self._settings_to_save(data)
        if not save_jinja_files and self.chat_template is not None:
            settings["chat_template"] = _as_setting(self.chat_template)
            templates = {}
        files = write_folder(folder, prefix, data, settings, templates)
        return tuple(map(str, files))

    def save_chat_templates(
        self,
        save_directory: StrPath,
        tokenizer_config: dict[str, Any],
        filename_prefix: str | None,
        save_jinja_files: bool,
    ) -> tuple[dict[str, Any], list[str]]:
        """Write the chat templates to files, or into settings; give both.

        Raises
        ------
        TokenizerError
            A name of a template would be no file name.
        """
        settings = {k: v for k, v in tokenizer_config.items() if k != "chat_template"}
        if save_jinja_files:
            paths = write_templates(
                Path(save_directory),
                f"{filename_prefix}-" if filename_prefix else "",
                self._named_templates(),
            )
            return settings, list(map(str, paths))
        if self.chat_template is not None:
            settings["chat_template"] = _as_setting(self.chat_template)
        return settings, []

    def _settings_to_save(self, data: bytes) -> dict[str, Any]:
        """List the tokenizer's own settings, as they are now."""
        left_out = {
            "added_tokens_decoder",
            "additional_special_tokens",
            "add_bos_token",
            "add_eos_token",
            "chat_template",
            "extra_special_tokens",
            "model_specific_special_tokens",
        }
        settings = {
            name: _plain(value)
            for name, value in self.init_kwargs.items()
            if name not in left_out
            and is_kept(name, value)
            and not (name.endswith("_token") and value is not None)
        }
        settings |= self._roles_to_save()
        if self._extra:
            settings["extra_special_tokens"] = list(self._extra)
        settings |= {
            "model_max_length": self.model_max_length,
            "padding_side": self.padding_side,
            "truncation_side": self.truncation_side,
            "model_input_names": self.model_input_names,
            "clean_up_tokenization_spaces": self.clean_up_tokenization_spaces,
        }
        settings["tokenizer_class"] = self._class_to_save(data, settings)
        return settings

    def _roles_to_save(self) -> dict[str, Any]:
        """List the special tokens by role; roles whose names say nothing have a list."""
        own = {role: k for role, k in self._roles.items() if role not in ROLES}
        if all(role.endswith("_token") for role in own):
            return self.special_tokens_map
        found = {role: k for role, k in self._roles.items() if role in ROLES}
        return {**found, "model_specific_special_tokens": own}

    def _class_to_save(self, data: bytes, settings: Mapping[str, Any]) -> str:
        """Name the class, if it makes the same of what is written; else none with rules."""
        if self.kind is None:
            return "PreTrainedTokenizerFast"
        if self.kind.pipeline is None:
            return self.kind.name
        document = json.loads(data)
        listed = {token["id"]: token for token in document["added_tokens"]}
        defaults = {f"{role}_token": token for role, token in self.kind.tokens.items()}
        settings = {**defaults, **settings, "added_tokens_decoder": listed}
        try:
            made, written = (
                Tokenizer.from_bytes(one, format="huggingface")
                for one in (rebuilt(document, self.kind, settings), data)
            )
            is_same = made == written
        except FormatError:
            is_same = False
        return self.kind.name if is_same else "PreTrainedTokenizerFast"

    def _named_templates(self) -> dict[str, str]:
        if self.chat_template is None:
            return {}
        if isinstance(self.chat_template, Mapping):
            return dict(self.chat_template)
        return {"default": str(self.chat_template)}

    def _place_of(self, template: str) -> str:
        """Say where a template stands, for errors: its file, or what else is known."""
        if template not in self._named_templates().values():
            return ""
        folder = self.name_or_path
        file = file_of_template(Path(folder), template) if folder else None
        return f"{file or folder or 'this tokenizer'}: "

    # Chats

    def get_chat_template(
        self,
        chat_template: str | None = None,
        tools: Sequence[Any] | None = None,
    ) -> str:
        """Find the template of chats: the one passed, one of that name, or the model's.

        Of several, ``tools`` choose the one named ``tool_use``, else ``default``.

        Raises
        ------
        TokenizerError
            There is none, or none of that name.
        """
        own = self._named_templates()
        if chat_template is not None:
            if chat_template in own:
                return own[chat_template]
            if not re.search(r"{[{%#]", chat_template):
                known = ", ".join(sorted(own)) or "none"
                message = (
                    f"there is no chat template {chat_template!r:.80}; this tokenizer has "
                    f"{known}. A template passed as text has {{{{ }}}} or {{% %}} in it"
                )
                raise TokenizerError(message)
            return chat_template
        if not own:
            message = "this tokenizer has no chat template; set chat_template"
            raise TokenizerError(message)
        if tools is not None and "tool_use" in own:
            return own["tool_use"]
        if "default" not in own:
            message = (
                f"there are several chat templates and no default; pass chat_template=, "
                f"one of {', '.join(sorted(own))}"
            )
            raise TokenizerError(message)
        return own["default"]

    def apply_chat_template(
        self,
        conversation: Messages | Sequence[Messages],
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        sanitize_control_tokens: bool = False,
        padding: bool | str = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Write messages as the model expects them, and encode them. Needs ``jinja2``.

        ``continue_final_message`` leaves the last message open; with
        ``return_assistant_tokens_mask`` the answer has ``assistant_masks``, 1 for the
        tokens of ``{% generation %}`` blocks. ``kwargs`` are variables of the template.

        Raises
        ------
        NotImplementedError
            ``sanitize_control_tokens=True``, or a tool that is a function.
        TokenizerError
            There is no template or no message, the template refuses the messages, or
            arguments do not fit together.
        """
        _check_chat(
            conversation,
            tools,
            masks=return_assistant_tokens_mask,
            is_encoded=tokenize and return_dict,
            continued=bool(continue_final_message),
            prompted=add_generation_prompt,
        )
        if sanitize_control_tokens:
            message = (
                "sanitize_control_tokens=True is not supported; encode each message with "
                "added_tokens='text', and put control tokens between"
            )
            raise NotImplementedError(message)
        text = self.get_chat_template(chat_template, tools)
        place = partial(self._place_of, text)
        is_batch = not is_chat(conversation)
        chats: Any = conversation if is_batch else [conversation]
        variables = {
            **self.special_tokens_map,
            "tools": tools,
            "documents": documents,
            "add_generation_prompt": add_generation_prompt,
            **kwargs,
        }
        chats = [getattr(chat, "messages", chat) for chat in chats]
        rendered = [
            render(text, chat, variables, continued=continue_final_message, place=place)
            for chat in chats
        ]
        texts = [one.text for one in rendered]
        asked: Any = texts if is_batch else texts[0]
        if not tokenize:
            return asked
        call: dict[str, Any] = {
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "return_tensors": return_tensors,
            **(tokenizer_kwargs or {}),
        }
        found = self(asked, add_special_tokens=False, **call)
        if return_assistant_tokens_mask:
            masks: Any = [_mask(found, row, one) for row, one in enumerate(rendered)]
            kind = call.get("return_tensors")
            found["assistant_masks"] = masks if is_batch or kind else masks[0]
            found.convert_to_tensors(kind)
        return found if return_dict else found["input_ids"]


class AutoTokenizer:
    """Loads the class that a folder names, as ``AutoTokenizer`` of transformers does."""

    def __init__(self) -> None:
        message = "AutoTokenizer cannot be instantiated; call AutoTokenizer.from_pretrained(folder)"
        raise TypeError(message)

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: StrPath,
        **settings: Any,
    ) -> PreTrainedTokenizerFast:
        """Load a folder, a tokenizer file, or a published model by its name.

        The class is the one that ``tokenizer_config.json`` names, else that of the model
        that ``config.json`` describes, or of ``tokenizer_type``. A class whose rules are
        not known here is refused. Keywords are those of
        :meth:`PreTrainedTokenizerFast.from_pretrained`.
        """
        return _loaded(pretrained_model_name_or_path, settings, None)


def _given(file: StrPath | None, given: Any) -> Tokenizer:
    """Load a file, or take a tokenizer: ours, or one of the library ``tokenizers``."""
    if given is None:
        if file is None:
            message = "pass tokenizer=, tokenizer_file= or tokenizer_object="
            raise TypeError(message)
        return Tokenizer.from_file(file)
    given = getattr(given, "tokenizer", given)
    if isinstance(given, Tokenizer):
        return given
    if not callable(getattr(given, "to_str", None)):
        message = (
            f"tokenizer_object= is {type(given).__name__}, which is not a tokenizer"
        )
        raise TypeError(message)
    return Tokenizer.from_bytes(given.to_str().encode(), format="huggingface")


def _loaded(
    name: StrPath, keywords: Mapping[str, Any], kind: str | None
) -> PreTrainedTokenizerFast:
    loading, settings = split(keywords)
    refuse_names_of_methods(PreTrainedTokenizerFast, settings)
    check_settings(settings)
    path = located(name, loading)
    try:
        return _made(load(path, loading, settings, kind=kind))
    except TokenizerError as error:
        if str(path) in str(error):
            raise
        message = f"{path}: {error}"
        raise type(error)(message) from error


def refuse_names_of_methods(
    kind: type[PreTrainedTokenizerFast], settings: Mapping[str, Any]
) -> None:
    """Refuse a setting that is named like a method: it would hide that, or do nothing."""
    for keyword in settings:
        if callable(getattr(kind, keyword, None)):
            message = f"{keyword}= is not a setting: it is the name of a method"
            raise NameOfMethodError(message)


def _made(found: Loaded) -> PreTrainedTokenizerFast:
    if found.kind is None:
        return PreTrainedTokenizerFast(tokenizer=found.tokenizer, **found.settings)
    return NAMED[found.kind.name]._made(found.tokenizer, found.settings)


class _Named(PreTrainedTokenizerFast):
    """A class with rules of its own, made of files or of tokens and merges."""

    def __init__(self, vocab: Any = None, merges: Any = None, **kwargs: Any) -> None:
        """Begin with tokens and their ids, and merges; or with the paths of their files.

        All other keywords are settings.

        Raises
        ------
        TypeError
            There is no vocabulary, or a file of another kind is passed.
        """
        name = type(self).__name__
        others = sorted(kwargs.keys() & OTHER_SOURCES)
        kind = type(self).kind
        if kind is None or vocab is None or others:
            found = (
                f"{others[0]}= is not one of its arguments"
                if others
                else "vocab= is missing"
            )
            message = (
                f"{found}: {name} is made by {name}.from_pretrained(folder), or of vocab= "
                "and merges=; PreTrainedTokenizerFast(tokenizer_file=...) takes a file as it is"
            )
            raise TypeError(message)
        refuse_names_of_methods(type(self), kwargs)
        made = put_together(kind, vocab, merges, kwargs)
        self._begin(made.tokenizer, made.settings)


# What is no argument of a class with rules of its own.
OTHER_SOURCES = {
    "merges_file",
    "tokenizer",
    "tokenizer_file",
    "tokenizer_object",
    "vocab_file",
}


class CLIPTokenizer(_Named):
    """CLIP's, which writes no marks of ends of words when it decodes."""

    kind: ClassVar[Class | None] = CLASSES["CLIPTokenizer"]

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        **options: Any,
    ) -> Any:
        """Decode ids; marks of ends of words become spaces."""
        found = super().decode(token_ids, skip_special_tokens, **options)
        if isinstance(found, list):
            return found
        return found.replace("</w>", " ").strip()


class WhisperTokenizer(_Named):
    """Whisper's, with a language and a task before texts, and no time stamps in them.

    Left out: normalizing, and time stamps as text.
    """

    kind: ClassVar[Class | None] = CLASSES["WhisperTokenizer"]

    def set_prefix_tokens(
        self,
        language: str | None = None,
        task: str | None = None,
        predict_timestamps: bool | None = None,
    ) -> None:
        """Say what stands before texts; what is not given stays as it is.

        Raises
        ------
        FormatError
            There is no such language or task.
        """
        given = {
            "language": language,
            "task": task,
            "predict_timestamps": predict_timestamps,
        }
        settings = self.init_kwargs | {k: v for k, v in given.items() if v is not None}
        begin = whisper_prefix(settings, self._known_id)
        self._set_template(whisper_ends(begin, str(self.eos_token), self._known_id))
        self.init_kwargs = settings

    @property
    def prefix_tokens(self) -> list[int]:
        """The ids that stand before a text."""
        return [
            self._known_id(token)
            for token in whisper_prefix(self.init_kwargs, self._known_id)
        ]

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        **options: Any,
    ) -> Any:
        """Decode ids, without time stamps; a prompt before the start is special, too."""
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        is_row = isinstance(ids, (list, tuple)) and not (
            ids and isinstance(ids[0], (list, tuple))
        )
        if skip_special_tokens and is_row and ids:
            start = self._id("<|startoftranscript|>")
            if ids[0] == self._id("<|startofprev|>"):
                ids = ids[ids.index(start) :] if start in ids else []
        found = super().decode(ids, skip_special_tokens, **options)
        if isinstance(found, list):
            return found
        return re.sub(r"<\|\d+\.\d+\|>", "", found)


class NllbTokenizer(_Named):
    """NLLB's, with the code of a language before texts: one for those read, one for targets.

    Both are set as settings or as attributes, ``src_lang`` and ``tgt_lang``.
    """

    kind: ClassVar[Class | None] = CLASSES["NllbTokenizer"]

    def _begin(self, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
        super()._begin(tokenizer, settings)
        self._lang: str | None = None
        self.legacy_behaviour = bool(settings.get("legacy_behaviour"))
        self.tgt_lang: str | None = settings.get("tgt_lang")
        self._src_lang = str(settings.get("src_lang") or FIRST_LANGUAGE)
        self.set_src_lang_special_tokens(self._src_lang)

    @property
    def src_lang(self) -> str:
        """The language of texts; to set it changes what is put around them."""
        return self._src_lang

    @src_lang.setter
    def src_lang(self, language: str) -> None:
        self._src_lang = language
        self.init_kwargs = {**self.init_kwargs, "src_lang": language}
        self.set_src_lang_special_tokens(language)

    def set_src_lang_special_tokens(self, src_lang: str) -> None:
        """Put the code of a language around texts, and the end."""
        self.set_tgt_lang_special_tokens(src_lang)

    def set_tgt_lang_special_tokens(self, lang: str) -> None:
        """Put the code of a language around texts, and the end."""
        if self._lang == lang:
            return
        end = str(self.eos_token)
        self._set_template(
            language_ends(lang, end, self._known_id, is_legacy=self.legacy_behaviour)
        )
        self._lang = lang
        self.cur_lang_code = self._known_id(lang)
        code, last = [self.cur_lang_code], [self._known_id(end)]
        self.prefix_tokens = [] if self.legacy_behaviour else code
        self.suffix_tokens = [*last, *code] if self.legacy_behaviour else last

    def update_post_processor(self) -> None:
        """Put ``bos_token`` and ``eos_token`` around texts, until the next call."""
        super().update_post_processor()
        self._lang = None

    def _switch_to_input_mode(self) -> None:
        self.set_src_lang_special_tokens(self._src_lang)

    def _switch_to_target_mode(self) -> None:
        self.tgt_lang = self.tgt_lang or self._src_lang
        self.set_tgt_lang_special_tokens(self.tgt_lang)

    def _build_translation_inputs(
        self,
        raw_inputs: Any,
        return_tensors: str,
        src_lang: str | None,
        tgt_lang: str | None,
        **extra_kwargs: Any,
    ) -> BatchEncoding:
        """Encode for a pipeline that translates; it looks for this name."""
        if src_lang is None or tgt_lang is None:
            message = "translation needs src_lang= and tgt_lang="
            raise TokenizerError(message)
        self.src_lang = src_lang
        found = self(raw_inputs, return_tensors=return_tensors, **extra_kwargs)
        found["forced_bos_token_id"] = self.convert_tokens_to_ids(tgt_lang)
        return found


class ParakeetTokenizer(_Named):
    """Parakeet's, which decodes what a model hears: ids that are repeated, and blanks.

    The file is read as it is.
    """

    kind: ClassVar[Class | None] = CLASSES["ParakeetTokenizer"]
    _of_decoding = OF_DECODING | {"group_tokens"}

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        **options: Any,
    ) -> Any:
        """Decode ids, those of ``pad_token`` left out.

        An id that follows itself counts once, unless ``group_tokens=False`` is passed.
        """
        if isinstance(token_ids, Mapping):
            token_ids = token_ids["input_ids"]
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        ids = [ids] if isinstance(ids, int) else list(ids)
        if ids and is_row(ids[0]):
            return [self.decode(one, skip_special_tokens, **options) for one in ids]
        if options.pop("group_tokens", True):
            ids = [id_ for id_, _ in groupby(ids)]
        ids = [id_ for id_ in ids if id_ != self.pad_token_id]
        return super().decode(ids, skip_special_tokens, **options)


def _named_class(kind: Class) -> type[PreTrainedTokenizerFast]:
    members = {
        "kind": kind,
        "padding_side": kind.padding_side,
        "model_input_names": list(kind.inputs),
        "__module__": __name__,
        "__doc__": f"The rules of {kind.name} of transformers.",
    }
    return type(kind.name, (_Named,), members)


NAMED: dict[str, type[PreTrainedTokenizerFast]] = {
    **{name: _named_class(kind) for name, kind in CLASSES.items()},
    "CLIPTokenizer": CLIPTokenizer,
    "NllbTokenizer": NllbTokenizer,
    "ParakeetTokenizer": ParakeetTokenizer,
    "WhisperTokenizer": WhisperTokenizer,
}


def __getattr__(name: str) -> Any:
    """Find a class of transformers by name, with ``Fast`` behind it or without."""
    plain = name.removesuffix("Fast")
    found = NAMED.get(ALIASES.get(plain, plain))
    if found is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return found


def _check_chat(
    conversation: Sequence[Any],
    tools: Sequence[Any] | None,
    *,
    masks: bool,
    is_encoded: bool,
    continued: bool,
    prompted: bool,
) -> None:
    """Refuse arguments that do not fit together."""
    problems = {
        "a chat needs at least one message": not conversation,
        "return_assistant_tokens_mask needs tokenize=True and return_dict=True": masks
        and not is_encoded,
        "continue_final_message and add_generation_prompt exclude each other": continued
        and prompted,
        "continue_final_message and return_assistant_tokens_mask exclude each other": masks
        and continued,
    }
    for message, is_so in problems.items():
        if is_so:
            raise TokenizerError(message)
    if any(callable(tool) for tool in tools or ()):
        message = "a tool that is a function; pass its JSON schema"
        raise NotImplementedError(message)


def _mask(batch: BatchEncoding, row: int, rendered: Rendered) -> list[int]:
    """Mark the tokens of what the model itself writes."""
    mask = [0] * len(batch[row])
    for start, end in rendered.generated:
        first = batch.char_to_token(row, start)
        if first is None:  # the rest was cut off
            break
        last = batch.char_to_token(row, end - 1)
        stop = last + 1 if last else len(mask)
        mask[first:stop] = [1] * (stop - first)
    return mask


def _as_setting(found: Any) -> Any:
    """Write one chat template, or several by name."""
    if not isinstance(found, Mapping):
        return found
    return [{"name": name, "template": text} for name, text in found.items()]


def _plain(value: Any) -> Any:
    """Write tokens in settings as the objects that files have."""
    if hasattr(value, "content") and hasattr(value, "lstrip"):
        token = added_token(value)
        return {"__type": "AddedToken", "content": token.content, **token.properties()}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
