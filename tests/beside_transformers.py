"""What the tests beside transformers share: a model's folder, and answers as lists."""

import json
import logging

import pytest
from parity.building import added, build, write_file
from parity.components import template
from parity.families import FAMILIES

from bytepair.compat.transformers import AutoTokenizer

transformers = pytest.importorskip("transformers", reason="compares with transformers")
logging.disable(logging.WARNING)


def parts(name):
    """Give the parts of a file: a family, or Bert's template over bytes."""
    if name != "bert":
        return FAMILIES[name]()
    tokens = [added("[CLS]"), added("[SEP]")]
    return FAMILIES["gpt2"]()._replace(
        post_processor=template("[CLS]", "[SEP]"), added=tokens
    )


def write_tokenizer(folder, name):
    """Write the ``tokenizer.json`` of a family, or of Bert's template over bytes."""
    write_file(folder / "tokenizer.json", build(parts(name)))


def write_settings(folder, **settings):
    """Write settings as a model's publisher would."""
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def load_both(folder):
    """Load a folder in both libraries, ours first."""
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder), theirs


def plain(answer):
    """Give an answer as a dictionary of lists."""
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in answer.items()}
