"""Folders of models as their publishers write them, for the tests of ``bytepair.compat``."""

import json
from functools import cache

from tests.parity.building import added, build
from tests.parity.components import template
from tests.parity.families import FAMILIES


def parts(name):
    """Give the parts of a file: a family, or Bert's template over bytes."""
    if name != "bert":
        return FAMILIES[name]()
    tokens = [added("[CLS]"), added("[SEP]")]
    return FAMILIES["gpt2"]()._replace(
        post_processor=template("[CLS]", "[SEP]"), added=tokens
    )


@cache
def content(name):
    """Give the content of a ``tokenizer.json``, which takes a tenth of a second to learn."""
    return json.dumps(build(parts(name)), ensure_ascii=False)


def write_tokenizer(folder, name):
    """Write the ``tokenizer.json`` of a family, or of Bert's template over bytes."""
    (folder / "tokenizer.json").write_text(content(name), encoding="utf-8")


def write_settings(folder, **settings):
    """Write settings as a model's publisher would."""
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def write_model(folder, family, **settings):
    """Write both files."""
    write_tokenizer(folder, family)
    write_settings(folder, **settings)
    return folder
