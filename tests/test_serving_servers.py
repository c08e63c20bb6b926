"""vLLM and SGLang load accelerated tokenizers, which do what those of transformers do.

The servers are not installed here: modules of ours stand in for their registries, hooks and loaders.
"""

import copy
import importlib.metadata
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tests.model_folders import write_model

import bytepair

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
compat = pytest.importorskip("bytepair.compat.transformers")

pytestmark = pytest.mark.slow  # needs transformers
TEXT = "Hello <|endoftext|> wörld 12 </s>"
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "tool", "content": "1 2"}]
FAMILIES = ["gpt2", "tinyllama", "qwen2.5", "bert"]
IDS = [1, 2, 260, 3]
MEMBERS = {
    "__call__": lambda t: dict(t(TEXT, add_special_tokens=False)),
    "__call__, truncated": lambda t: dict(
        t([TEXT, "a"], truncation=True, max_length=3)
    ),
    "__call__, offsets": lambda t: dict(
        t(TEXT, add_special_tokens=False, return_offsets_mapping=True)
    ),
    "__call__, a pair": lambda t: dict(t(TEXT, text_pair="a b")),
    "__len__": len,
    "added_tokens_decoder": lambda t: t.added_tokens_decoder,
    "all_special_ids": lambda t: t.all_special_ids,
    "all_special_tokens": lambda t: t.all_special_tokens,
    "apply_chat_template, ids": lambda t: t.apply_chat_template(
        conversation=MESSAGES, tools=None, chat_template=TEMPLATE, tokenize=True
    ),
    "apply_chat_template, text": lambda t: t.apply_chat_template(
        MESSAGES, tools=None, tokenize=False, add_generation_prompt=True
    ),
    "bos_token_id": lambda t: t.bos_token_id,
    "convert_ids_to_tokens": lambda t: t.convert_ids_to_tokens(
        IDS, skip_special_tokens=True
    ),
    "convert_tokens_to_ids": lambda t: t.convert_tokens_to_ids(["a", "b", "no token"]),
    "convert_tokens_to_ids, one": lambda t: t.convert_tokens_to_ids("a"),
    "convert_tokens_to_string": lambda t: t.convert_tokens_to_string(
        t.convert_ids_to_tokens(t.encode(TEXT))
    ),
    "decode": lambda t: [t.decode(IDS), t.decode(t.encode(TEXT)), t.decode(65)],
    "decode, skipping": lambda t: t.decode(t.encode(TEXT), skip_special_tokens=True),
    "encode": lambda t: t.encode(TEXT),
    "encode, truncated": lambda t: t.encode(
        TEXT, truncation=True, max_length=4, add_special_tokens=False
    ),
    "eos_token_id": lambda t: t.eos_token_id,
    "get_added_vocab": lambda t: t.get_added_vocab(),
    "get_chat_template": lambda t: t.get_chat_template(None, tools=None),
    "get_vocab": lambda t: t.get_vocab(),
    "is_fast": lambda t: t.is_fast,
    "num_special_tokens_to_add": lambda t: t.num_special_tokens_to_add(),
    "pad_token_id": lambda t: t.pad_token_id,
    "truncation_side": lambda t: t.truncation_side,
    "vocab_size": lambda t: t.vocab_size,
    "its stream": lambda t: stepped(t, t.encode(TEXT)),
}
"""The members of vLLM's ``TokenizerLike``, called as vLLM calls them; its stream of text; offsets."""


def stepped(tokenizer, ids):
    """Decode step by step, after a prompt, as vLLM does."""
    stream = tokenizers.decoders.DecodeStream(ids=ids[:2], skip_special_tokens=True)
    return [stream.step(tokenizer._tokenizer, id_) for id_ in ids[2:]]


class Registry(dict):
    """Stand in for both registries of vLLM."""

    def register(self, mode, module, class_name):
        """Keep where the class of a mode is."""
        self[mode] = (module, class_name)

    def load_tokenizer(self, mode, *arguments, **options):
        """Load with the class of a mode."""
        module, class_name = self[mode]
        loader = getattr(sys.modules[module], class_name)
        return loader.from_pretrained(*arguments, **options)


class HfLoader:
    """Stand in for vLLM's loader of the mode ``hf``, which sets limits."""

    @classmethod
    def from_pretrained(cls, path, *, download_dir=None, **options):
        """Load with transformers."""
        options["cache_dir"] = download_dir
        loaded = transformers.AutoTokenizer.from_pretrained(path, **options)
        loaded.max_token_id = 7
        return loaded


@pytest.fixture
def vllm(monkeypatch):
    """Stand in for vLLM, which has the mode ``hf``."""
    tokenizer_registry, renderer_registry = Registry(), Registry()
    tokenizer_registry.register("hf", __name__, HfLoader.__name__)
    put(monkeypatch, "vllm.tokenizers.registry", TokenizerRegistry=tokenizer_registry)
    put(monkeypatch, "vllm.renderers.registry", RENDERER_REGISTRY=renderer_registry)
    return SimpleNamespace(tokenizers=tokenizer_registry, renderers=renderer_registry)


def put(monkeypatch, path, **names):
    """Let a module of some names, and the packages that it is in, be imported."""
    parts = path.split(".")
    for length in range(1, len(parts) + 1):
        name = ".".join(parts[:length])
        module = sys.modules.get(name) or ModuleType(name)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, name, module)
    vars(module).update(names)


def plugin(group):
    """Load what the package gives to a server."""
    tomllib = pytest.importorskip("tomllib")
    written = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text("utf-8")
    value = tomllib.loads(written)["project"]["entry-points"][group]["bytepair"]
    return importlib.metadata.EntryPoint("bytepair", value, group).load()


def folder_of(tmp_path, family):
    """Write a model with roles and a chat template."""
    roles = {"eos_token": "</s>", "pad_token": "<pad>", "chat_template": TEMPLATE}
    return write_model(tmp_path, family, **roles)


def load(registry, folder, **options):
    """Load with the class of the mode, as vLLM does."""
    options |= {"revision": None, "download_dir": None, "truncation_side": "left"}
    return registry.tokenizers.load_tokenizer(
        "bytepair", folder, trust_remote_code=False, **options
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_vllm_gets_what_transformers_gives(family, tmp_path, vllm):
    """All members of the protocol give the same, also of copies and pickles, and bytepair encodes; limits stay."""
    folder = folder_of(tmp_path, family)
    register = plugin("vllm.general_plugins")
    register()
    register()  # vLLM may
    assert vllm.renderers == {"bytepair": ("vllm.renderers.hf", "HfRenderer")}
    ours = load(vllm, folder)
    theirs = transformers.AutoTokenizer.from_pretrained(folder, truncation_side="left")
    assert isinstance(ours, transformers.PreTrainedTokenizerBase)
    for tokenizer in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        for name, call in MEMBERS.items():
            assert call(tokenizer) == call(theirs), name
        assert compat.explain(tokenizer).startswith("bytepair encodes")
        assert tokenizer.max_token_id == 7
        assert hash(tokenizer) is not None


def test_a_refused_tokenizer_goes_on_or_is_an_error(tmp_path, vllm):
    """It goes on with its own library, unless no fallback is allowed."""
    pieces = tokenizers.models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")
    tokenizers.Tokenizer(pieces).save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}'
    )
    plugin("vllm.general_plugins")()
    assert "WordPiece" in compat.explain(load(vllm, tmp_path))
    with pytest.raises(bytepair.errors.TokenizerError, match="WordPiece"):
        load(vllm, tmp_path, fallback=False)


def test_plugins_do_nothing_where_a_server_lacks_their_place(monkeypatch):
    """Without a registry of tokenizers in vLLM, and without the variable for SGLang."""
    monkeypatch.setitem(sys.modules, "vllm.tokenizers", None)
    plugin("vllm.general_plugins")()
    monkeypatch.delenv("BYTEPAIR_SGLANG", raising=False)
    monkeypatch.setitem(sys.modules, "sglang", None)
    plugin("sglang.srt.plugins")()


@pytest.mark.parametrize("family", FAMILIES)
def test_sglangs_loader_returns_accelerated_tokenizers(family, tmp_path, monkeypatch):
    """The hook takes what the loader returns; what has no tokenizer of tokenizers passes through."""
    hooks = []
    put(
        monkeypatch,
        "sglang.srt.plugins.hook_registry",
        HookRegistry=SimpleNamespace(register=lambda *hook: hooks.append(hook)),
        HookType=SimpleNamespace(AFTER="after"),
    )
    monkeypatch.setenv("BYTEPAIR_SGLANG", "1")
    plugin("sglang.srt.plugins")()
    [(target, hook, kind)] = hooks
    assert target == "sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer"
    assert kind == "after"
    folder = folder_of(tmp_path, family)
    options = {"clean_up_tokenization_spaces": False, "use_fast": True}
    made = [
        transformers.AutoTokenizer.from_pretrained(folder, **options) for _ in range(2)
    ]
    theirs, loaded = made
    ours = hook(loaded, str(folder), tokenizer_mode="auto", trust_remote_code=False)
    assert ours is loaded
    assert compat.explain(ours).startswith("bytepair encodes")
    rows = [ours.encode(TEXT), [1, 2]]
    assert [dict(ours([TEXT, "b"])), ours.batch_decode(rows)] == [
        dict(theirs([TEXT, "b"])),
        theirs.batch_decode(rows),
    ]
    other = object()
    assert hook(other) is other
