"""The categories of magikarp beside those of the doctor: ``python -m tests.parity.magikarp FILE …``.

magikarp (Land and Bartolo, 2024) decodes each token, encodes the text again by Hugging Face's
library, and sorts the tokens by what comes back. Here its definition is applied to files that
that library reads, and compared with ``bytepair.analyze.diagnose``. The exit code is 1 where
they differ in what the two definitions share: which tokens of whole characters are given back.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import tokenizers

import bytepair
from bytepair.analyze import diagnose
from bytepair.analyze.doctor._subject import Subject
from bytepair.analyze.doctor._texts import Texts

__all__ = ["categories", "main"]

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def categories(library: tokenizers.Tokenizer, ids: Iterable[int]) -> dict[int, str]:
    """Sort tokens as magikarp does; special ones, which it treats apart, are left out."""
    ids = list(ids)
    texts = library.decode_batch([[id_] for id_ in ids], skip_special_tokens=False)
    rows = library.encode_batch(texts, add_special_tokens=False)
    found = {}
    for id_, text, row in zip(ids, texts, rows, strict=True):
        if row.ids == [id_]:
            found[id_] = "ok"
        elif REPLACEMENT in text:
            found[id_] = "undecodable"
        else:
            found[id_] = "single" if len(row.ids) == 1 else "several"
    return found


def main(paths: list[str]) -> int:
    """Print a table for each file."""
    n_differing = 0
    for path in map(Path, paths):
        library = tokenizers.Tokenizer.from_file(str(path))
        tokenizer = bytepair.Tokenizer.from_file(path)
        subject = Subject(tokenizer)
        theirs = categories(library, subject.text_ids)
        partial = set(subject.partial)
        unreachable = {i for i, kind in theirs.items() if kind in ("single", "several")}
        ours = Texts(subject).not_given_back
        differing = (unreachable ^ ours) - partial
        print(f"{path}")
        for kind in ("ok", "undecodable", "single", "several"):
            print(f"  {kind:<12} {sum(found == kind for found in theirs.values()):>8,}")
        print(f"  differing    {len(differing):>8,}  {sorted(differing)[:5]}")
        for finding in diagnose(tokenizer, select=["BP1", "BP501", "BP502"]).findings:
            print(f"  {finding.code} {finding.name:<26} {finding.count:>8,}")
        n_differing += bool(differing)
    return 1 if n_differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
