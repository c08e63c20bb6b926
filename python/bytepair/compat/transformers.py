"""A fast tokenizer with the calls of transformers, over bytepair's core.

``from bytepair.compat.transformers import AutoTokenizer`` in place of the same from
``transformers``: texts, words and pairs, padding, truncation with overflow, masks,
offsets, tensors, special tokens by their roles, chat templates, collators of data, and
folders that both libraries read. Answers are those of transformers 5.

This file has folders and chats; calls are in ``calls``, tokens in ``roles``.

Left out: downloads, schemas of tools that are functions, tensors of rows that differ in
length, and what the tokenizer classes of models change of a loaded file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair.added import AddedToken
from bytepair.errors import FileError, TokenizerError
from bytepair.files import StrPath, write

from .batch import BatchEncoding
from .chat import Messages, Rendered, render
from .extras import Extras
from .pretrained import content, read_settings, write_settings

__all__ = ["AddedToken", "AutoTokenizer", "BatchEncoding", "PreTrainedTokenizerFast"]


class PreTrainedTokenizerFast(Extras):
    """A tokenizer in the shape of transformers' fast tokenizers.

    >>> import bytepair
    >>> own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer=own, pad_token="<pad>")
    >>> tokenizer(["low", "lower"], padding=True)["input_ids"]
    [[257, 258, 258], [257, 68, 81]]
    """

    def __init__(
        self,
        *,
        tokenizer: Tokenizer | None = None,
        tokenizer_file: StrPath | None = None,
        **settings: Any,  # noqa: ANN401 -- of many kinds
    ) -> None:
        if tokenizer is None:
            if tokenizer_file is None:
                message = "pass tokenizer= or tokenizer_file="
                raise TypeError(message)
            tokenizer = Tokenizer.from_file(tokenizer_file)
        super().__init__(tokenizer, settings)

    def __repr__(self) -> str:
        roles = ", ".join(f"{k}={v!r}" for k, v in self.special_tokens_map.items())
        return f"PreTrainedTokenizerFast({len(self)} tokens, {roles})"

    # Files

    @classmethod
    def from_pretrained(
        cls,
        path: StrPath,
        **settings: Any,  # noqa: ANN401 -- of many kinds
    ) -> "PreTrainedTokenizerFast":
        """Load a folder with a ``tokenizer.json``, or any tokenizer file.

        Settings go before those of the folder.
        """
        path = Path(path)
        found = read_settings(path) if path.is_dir() else {}
        if not path.exists():
            message = f"{path}: no such folder; nothing is downloaded"
            raise FileError(message)
        known = {"name_or_path": str(path), **found, **settings}
        return cls(tokenizer=Tokenizer.from_file(path), **known)

    def save_pretrained(self, folder: StrPath) -> tuple[str, ...]:
        """Write a folder that ``AutoTokenizer.from_pretrained`` reads, here and there."""
        folder = Path(folder)
        data = self.tokenizer.to_bytes(format="huggingface")
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / "tokenizer.json", data)
        tokens = dict(self.special_tokens_map)
        if self._extra:
            tokens["additional_special_tokens"] = list(self._extra)
        dropped = {"added_tokens_decoder", "extra_special_tokens", "name_or_path"}
        dropped |= {"additional_special_tokens", "chat_template"}
        kept = {
            k: v
            for k, v in self.init_kwargs.items()
            if k not in dropped and not (k.endswith("_token") and content(v))
        }
        settings = {
            **kept,
            **tokens,
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": self.model_max_length,
            "padding_side": self.padding_side,
            "truncation_side": self.truncation_side,
            "model_input_names": self.model_input_names,
            "clean_up_tokenization_spaces": self.clean_up_tokenization_spaces,
        }
        if self.chat_template is not None:
            settings["chat_template"] = _named_templates(self.chat_template)
        files = [*write_settings(folder, settings, tokens), folder / "tokenizer.json"]
        return tuple(map(str, files))

    # Chats

    def get_chat_template(
        self,
        chat_template: str | None = None,
        tools: Sequence[Any] | None = None,
    ) -> str:
        """Find the template of chats: the one passed, one of that name, or the model's."""
        own = self.chat_template
        if isinstance(own, Mapping):
            default = (
                "tool_use" if tools is not None and "tool_use" in own else "default"
            )
            found = own.get(chat_template or default, chat_template)
        else:
            found = chat_template or own
        if found is None:
            message = "this tokenizer has no chat template; set chat_template"
            raise TokenizerError(message)
        return str(found)

    def apply_chat_template(
        self,
        conversation: Messages | Sequence[Messages],
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        *,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 -- those of a call, and variables of the template
    ) -> Any:  # noqa: ANN401 -- text or ids
        """Write messages as the model expects them, and encode them. Needs ``jinja2``.

        ``continue_final_message`` leaves the last message open; with
        ``return_assistant_tokens_mask`` the answer has ``assistant_masks``, 1 for the
        tokens of ``{% generation %}`` blocks.

        Raises
        ------
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
        template = self.get_chat_template(chat_template, tools)
        is_batch = not isinstance(conversation[0], Mapping)
        chats: Any = conversation if is_batch else [conversation]
        call = {name: options.pop(name) for name in CALL_OPTIONS if name in options}
        variables = {
            **self.special_tokens_map,
            "tools": tools,
            "documents": documents,
            "add_generation_prompt": add_generation_prompt,
            **options,
        }
        chats = [getattr(chat, "messages", chat) for chat in chats]
        rendered = [
            render(template, chat, continued=continue_final_message, **variables)
            for chat in chats
        ]
        texts = [one.text for one in rendered]
        asked: Any = texts if is_batch else texts[0]
        if not tokenize:
            return asked
        call = {**call, **(tokenizer_kwargs or {})}
        found = self(asked, add_special_tokens=False, **call)
        if return_assistant_tokens_mask:
            masks: Any = [_mask(found, row, one) for row, one in enumerate(rendered)]
            kind = call.get("return_tensors")
            found["assistant_masks"] = masks if is_batch or kind else masks[0]
            found.convert_to_tensors(kind)
        return found if return_dict else found["input_ids"]


CALL_OPTIONS = ("padding", "truncation", "max_length", "return_tensors")
AutoTokenizer = PreTrainedTokenizerFast


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
        "a chat has at least one message": not conversation,
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


def _named_templates(found: Any) -> Any:  # noqa: ANN401 -- as settings have them
    """Write one chat template, or several by name."""
    if not isinstance(found, Mapping):
        return found
    return [{"name": name, "template": text} for name, text in found.items()]
