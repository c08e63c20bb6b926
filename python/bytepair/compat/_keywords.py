"""What may be passed when a folder is loaded: ways of loading, and settings.

Ways of loading say where files are and how they are fetched. They are no settings of the
tokenizer, so they are never written with it: an access token least of all. Everything else
is a setting, kept and written again, whether it means something here or not.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from bytepair.errors import TokenizerError

__all__ = ["WAYS_OF_LOADING", "Loading", "NameOfMethodError", "is_kept", "split"]

# How files are found and fetched. Those that say nothing here are taken and left.
WAYS_OF_LOADING = frozenset(
    {
        "_commit_hash",
        "_from_auto",
        "_from_pipeline",
        "cache_dir",
        "code_revision",
        "config",
        "force_download",
        "from_slow",
        "gguf_file",
        "local_files_only",
        "mirror",
        "proxies",
        "resume_download",
        "revision",
        "subfolder",
        "token",
        "tokenizer_file",
        "tokenizer_type",
        "trust_remote_code",
        "use_auth_token",
        "use_fast",
        "user_agent",
    }
)

# What a file of settings may hold that describes a program or a place, not the tokenizer.
NOT_KEPT = WAYS_OF_LOADING | {
    "auto_map",
    "backend",
    "device_map",
    "fast_tokenizer_files",
    "files_loaded",
    "init_inputs",
    "is_local",
    "name_or_path",
    "slow_tokenizer_class",
    "special_tokens_map_file",
    "tokenizer_class",
    "vocab_file",
    "merges_file",
}

# What cannot act here, and what to do instead.
REFUSED = {
    "gguf_file": "load it with Tokenizer.from_file, and pass that as tokenizer=",
    "fix_mistral_regex": "change the pattern of the pre-tokenizer in tokenizer.json",
    "merges": "put vocab.json and merges.txt into a folder, and load that",
    "merges_file": "put it into the folder as merges.txt",
    "mistral_format": "load tekken.json with Tokenizer.from_file",
    "tokenizer_file": "pass it to PreTrainedTokenizerFast(...) itself",
    "tokenizer_object": "pass it to PreTrainedTokenizerFast(...) itself",
    "vocab": "put vocab.json and merges.txt into a folder, and load that",
    "vocab_file": "put it into the folder as vocab.json",
}

# How access tokens of the Hugging Face Hub begin, and names under which others are passed.
ACCESS_TOKEN = re.compile(r"(hf_|api_org_)[A-Za-z0-9]{6,}|Bearer .+")
SECRET_NAME = re.compile(
    r"(^|_)(auth|api|access|hf|hub|bearer)_(token|key)$|secret|password|credential"
)


class NameOfMethodError(TokenizerError, AttributeError):
    """A setting that is named like a method; an ``AttributeError``, as in transformers."""


class Loading(NamedTuple):
    """Where files are found and how they are fetched."""

    subfolder: str = ""
    revision: str | None = None
    cache_dir: Any = None
    token: Any = None
    proxies: Any = None
    force_download: bool = False
    local_files_only: bool = False
    tokenizer_type: str | None = None
    config: Any = None
    trust_remote_code: bool = False


def split(keywords: Mapping[str, Any]) -> tuple[Loading, dict[str, Any]]:
    """Tell ways of loading from settings.

    Raises
    ------
    TokenizerError
        A keyword that cannot act here, or holds what looks like an access token.
    """
    for name, instead in REFUSED.items():
        if keywords.get(name):
            message = f"{name}= is not supported here; {instead}"
            raise TokenizerError(message)
    settings = {
        name: value
        for name, value in keywords.items()
        if name not in WAYS_OF_LOADING and name not in REFUSED
    }
    for name, value in settings.items():
        _refuse_secret(name, value)
    found = {
        name: keywords[name]
        for name in Loading._fields
        if keywords.get(name) is not None
    }
    if "token" not in found and keywords.get("use_auth_token") is not None:
        found["token"] = keywords["use_auth_token"]
    return Loading(**found), settings


def is_kept(name: str, value: object) -> bool:
    """Tell whether a setting is the tokenizer's own, to be written with it."""
    if name in NOT_KEPT or SECRET_NAME.search(name):
        return False
    return not (isinstance(value, str) and ACCESS_TOKEN.fullmatch(value))


def _refuse_secret(name: str, value: object) -> None:
    if not isinstance(value, str):
        return
    if SECRET_NAME.search(name) or ACCESS_TOKEN.fullmatch(value):
        message = (
            f"{name}= looks like an access token, which would be saved with the "
            "settings of the tokenizer; pass it as token="
        )
        raise TokenizerError(message)
