"""``bytepair.compat.transformers`` beside answers of transformers that are stored.

``vectors/make_transformers.py`` asks for them: signatures, classes, keywords, settings, listed tokens, calls,
filling up, chats and added tokens. Left out: larger vocabularies and drawn calls, which the
tests beside the library itself compare.
"""

import json

import pytest
from tests.vectors.make_transformers import (
    PATH,
    answers,
    build,
    cases,
    signatures,
    write_folder,
)

from bytepair.compat.transformers import (
    AutoTokenizer,
    BatchEncoding,
    PreTrainedTokenizerFast,
)

STORED = json.loads(PATH.read_text())
CASES = list(zip(cases(), STORED["answers"], strict=True))


@pytest.mark.parametrize(
    ("case", "expected"), CASES, ids=[json.dumps(case[:3]) for case, _ in CASES]
)
def test_every_answer_is_that_of_transformers(case, expected, tmp_path):
    """Or an error, where the library has one."""
    pytest.importorskip("jinja2", reason="renders templates")
    vocabulary, files, keywords, steps = case
    write_folder(tmp_path, STORED["vocabularies"][vocabulary], files)
    ours = AutoTokenizer.from_pretrained(tmp_path, **keywords)
    for step, found, wanted in zip(steps, answers(ours, steps), expected, strict=True):
        assert found == wanted, step


@pytest.mark.parametrize("kind", [PreTrainedTokenizerFast, BatchEncoding])
def test_names_and_arguments_are_those_of_transformers(kind):
    """In the same order with the same defaults; ours may take more behind, by name."""
    ours = signatures(kind)
    for name, theirs in STORED["signatures"][kind is BatchEncoding].items():
        assert ours[name][: len(theirs)] == theirs, name
        behind = {(how, default) for _, how, default in ours[name][len(theirs) :]}
        assert behind <= {("KEYWORD_ONLY", "None")}, name


@pytest.mark.slow
def test_the_answers_are_those_that_transformers_gives(tmp_path):
    """And the vocabularies are those that are trained today."""
    pytest.importorskip("transformers")
    assert build(tmp_path) == STORED
