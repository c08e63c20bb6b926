"""Ask the commands of subword-nmt, and write what they give into ``subword-nmt.json``.

Run ``python -m tests.vectors.make_subword_nmt`` with subword-nmt installed.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PATH = Path(__file__).with_name("subword-nmt.json")
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
SPACES = [" ", "   ", "\n", "\n\n", "\r\n", " \r", "\t", "\xa0", *LINE_ENDS]
OPTIONS = [
    [],
    ["--separator", "￭"],
    ["--merges", "30"],
    ["--merges", "0"],
    ["--glossaries", "ab"],
    ["--glossaries", r"[ab]+c"],
]
LIMITS = {
    "merges": (["--merges", 60], ["-s", 60]),
    "count": (["--merges", 500, "--min-count", 9], ["-s", 500, "--min-frequency", 9]),
    "all": (["--merges", 5000], ["-s", 5000]),
    "size": (["--vocab-size", 90], ["-s", 90, "--total-symbols"]),
}
THRESHOLD = 20


def random_lines(seed, n_words, spaces):
    """Give words of few letters between random spaces and line ends."""
    chance = random.Random(seed)
    words = (
        "".join(chance.choices("abcdeä中", k=1 + chance.randrange(6)))
        for _ in range(n_words)
    )
    return "".join(word + chance.choice(spaces) for word in words)


def ask(*arguments, data=None):
    """Run a command of subword-nmt, and give what it writes."""
    code = "from subword_nmt.subword_nmt import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def build(folder):
    """Give the content of the file."""
    text = random_lines(1, 600, SPACES)
    source, codes, vocabulary = (folder / name for name in ("text", "codes", "vocab"))
    source.write_bytes(text.encode())
    learned = {k: ask("learn-bpe", "-i", source, *o) for k, (_, o) in LIMITS.items()}
    codes.write_bytes(learned["all"])
    segment = ["apply-bpe", "-c", codes, "-i", source]
    plain = random_lines(5, 600, [" ", "\n"])
    apart = ask("apply-bpe", "-c", codes, data=plain.encode())
    vocabulary.write_bytes(ask("get-vocab", data=apart))
    cut = ["--vocabulary", vocabulary, "--vocabulary-threshold", THRESHOLD]
    above = ask("apply-bpe", "-c", codes, *cut, data=plain.encode())
    return {
        "text": text,
        "codes": {name: content.decode() for name, content in learned.items()},
        "segmented": [ask(*segment, *options).decode() for options in OPTIONS],
        "plain text": plain,
        "vocabulary": vocabulary.read_text(encoding="utf-8"),
        "above the threshold": above.decode(),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        PATH.write_text(json.dumps(build(Path(name)), indent=0) + "\n")
