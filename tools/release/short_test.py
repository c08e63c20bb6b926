"""Run inside an environment that has the wheel and numpy alone: ``short_test.py REPOSITORY``.

Runs the Python of the README's quick start as it stands, then a little of everything: formats,
arrays, batches, threads, streams, texts that Python holds in each of its ways.
"""

import doctest
import re
import shutil
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import bytepair

TEXTS = [
    "the cat sat",
    "naïve café " * 300,
    "你好世界 " * 400,
    "👋🏽 and 𐍈𐌰𐌹 " * 300,
    "",
]
FORMATS = [".bytepair", ".bytepair-compiled", ".json", ".tiktoken"]


def main() -> int:
    """Run all of it; an error ends the program."""
    repository = Path(sys.argv[1])
    check_environment(repository)
    check_readme(repository / "README.md")
    tokenizer = bytepair.train_from_iterator(
        [*TEXTS, "low lower lowest"] * 5, vocab_size=600
    )
    check_encoding(tokenizer)
    check_formats(tokenizer)
    check_what_is_missing()
    return 0


def check_environment(repository: Path) -> None:
    """See that the package is the installed one, and that no compiler and no GIL came in."""
    installed = Path(bytepair.__file__).resolve()
    assert Path(sys.prefix).resolve() in installed.parents, installed
    assert repository.resolve() not in installed.parents, installed
    for tool in ("cargo", "rustc"):
        assert not shutil.which(tool), f"{tool} is within reach"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), (
            "importing bytepair or numpy turned the GIL on"
        )


def check_readme(path: Path) -> None:
    """Run the examples of the README, which print what they show."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{path} shows no Python"
    test = doctest.DocTestParser().get_doctest(
        "".join(blocks), {}, path.name, str(path), 0
    )
    flags = (
        doctest.ELLIPSIS
        | doctest.NORMALIZE_WHITESPACE
        | doctest.IGNORE_EXCEPTION_DETAIL
    )
    outcome = doctest.DocTestRunner(optionflags=flags).run(test)
    assert outcome.attempted, "the README shows no Python"
    assert not outcome.failed, outcome


def check_encoding(tokenizer: "bytepair.Tokenizer") -> None:
    """Compare lists, arrays, batches, threads, files and streams, and get the texts back."""
    one_by_one = [tokenizer.encode(text) for text in TEXTS]
    assert tokenizer.encode_batch(TEXTS) == one_by_one
    assert [tokenizer.encode(text.encode()) for text in TEXTS] == one_by_one
    assert [tokenizer.encode_to_numpy(text).tolist() for text in TEXTS] == one_by_one
    assert tokenizer.encode_to_numpy(TEXTS[1]).dtype == np.uint32
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(tokenizer.encode, TEXTS * 20)) == one_by_one * 20
    for text, ids in zip(TEXTS, one_by_one, strict=True):
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode(np.array(ids, dtype="uint32")) == text
        stream = bytepair.DecodeStream(tokenizer)
        assert "".join(map(stream.push, ids)) + stream.finish() == text
        assert tokenizer.count(text) == len(ids)
        session = tokenizer.session()
        [session.append(part) for part in text]
        assert session.ids.tolist() == ids
    Path("text.txt").write_text(TEXTS[2], encoding="utf-8")
    tokenizer.encode_file("text.txt", "ids.npy")
    assert np.load("ids.npy").tolist() == one_by_one[2]


def check_formats(tokenizer: "bytepair.Tokenizer") -> None:
    """Read again what was written, with the same ids."""
    for extension in FORMATS:
        path = Path(f"own{extension}")
        tokenizer.save(path)
        again = bytepair.Tokenizer.from_file(path)
        assert [again.encode(text) for text in TEXTS] == [
            *map(tokenizer.encode, TEXTS)
        ], path
    assert "gpt2" in bytepair.dialects()


def check_what_is_missing() -> None:
    """Ask for a library that is not installed: the error says how to get it."""
    message = ""
    try:
        bytepair.Tokenizer.from_hub("gpt2")
    except bytepair.TokenizerError as error:
        message = str(error)
    assert "pip install" in message, message


if __name__ == "__main__":
    sys.exit(main())
