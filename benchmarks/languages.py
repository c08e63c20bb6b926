"""Parity between languages, before and after: ``python -m benchmarks.languages [FOLDER TEST_FOLDER]``.

A folder has a file for each language, and the lines of all files are translations of each other, as in FLORES-200
(``dev`` and ``devtest``). Without folders, the texts are the messages of programs in the catalogues of translations that
Debian and Ubuntu install in ``/usr/share/locale``. Of the messages that all languages have, a sixth is to balance by, and a
sixth to measure. All other English messages are learned from, and one in ten of each other language. English is
weighted to be 85 % of the text.
"""

import argparse
import gettext
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bytepair
from bytepair import Parity, analyze

CATALOGUES = Path("/usr/share/locale")
LANGUAGES = ["fr", "de", "ru", "tr", "zh_CN", "ja", "ko", "id", "ta", "pa", "mr"]
SIZES = (8_000, 16_000, 32_000)
ENGLISH = ("en", "eng_Latn")
SHARE = 0.85
"""The share of English in the text to learn from."""
N_PARTS = 6
RARE = 10
"""One message in so many of each other language is learned from."""


def messages(language: str) -> dict[tuple[str, str], str]:
    """Return the translated messages of all catalogues of a language, each on one line."""
    found = {}
    for path in sorted(CATALOGUES.glob(f"{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            try:
                catalogue = vars(gettext.GNUTranslations(file))["_catalog"]
            except (
                UnicodeDecodeError
            ):  # an old catalogue that does not say its encoding
                continue
        for message, translation in catalogue.items():
            if isinstance(message, str) and message and translation.strip():
                found[path.stem, message] = " ".join(translation.split())
    return found


def write_catalogues(folder: Path) -> None:
    """Write files of lines to learn from, to balance by, and to measure."""
    translated = {language: messages(language) for language in LANGUAGES}
    shared = sorted(set.intersection(*map(set, translated.values())))
    keys = {key for texts in translated.values() for key in texts}
    translated["en"] = {key: " ".join(key[1].split()) for key in keys}
    for language, texts in translated.items():
        parts = {
            "balanced": shared[0::N_PARTS],
            "measured": shared[1::N_PARTS],
            "learned": sorted(
                texts.keys() - {*shared[0::N_PARTS], *shared[1::N_PARTS]}
            )[:: 1 if language == "en" else RARE],
        }
        for part, chosen in parts.items():
            (folder / part).mkdir(exist_ok=True)
            lines = "".join(texts[key] + "\n" for key in chosen)
            (folder / part / language).write_text(lines, "utf-8")


def weights(texts: list[Path]) -> dict[Path, int]:
    """Return weights with which ``SHARE`` of the text is English."""
    sizes = {path: path.stat().st_size for path in texts}
    english = [path for path in texts if path.stem in ENGLISH]
    others = sum(sizes.values()) - sum(sizes[path] for path in english)
    factor = {
        path: round(others * SHARE / (1 - SHARE) / sizes[path]) for path in english
    }
    return {path: max(factor.get(path, 1), 1) for path in texts}


def rows(learned: Path, balanced: Path, measured: Path) -> Iterator[str]:
    """Train at each size with and without parity, and measure."""
    names = sorted(path.stem for path in measured.iterdir())
    files, parallel, held_out = (
        [one for name in names for one in folder.iterdir() if one.stem == name]
        for folder in (learned, balanced, measured)
    )
    english = next(path.name for path in held_out if path.stem in ENGLISH)
    texts = weights(files)
    for vocab_size in SIZES:
        for parity in (None, Parity(parallel=parallel)):
            tokenizer = bytepair.train(
                texts, vocab_size=vocab_size, lines=True, parity=parity
            )
            stats = analyze.stats(
                tokenizer, held_out, by_file=True, lines=True, baseline=english
            )
            values = [
                stats.row(name).values[0]
                for name in ("gini", "most_to_fewest", "bytes_per_token")
            ]
            text = next(path for path in held_out if path.stem in ENGLISH).read_bytes()
            values.append(len(text) / len(tokenizer.encode(text)))
            numbers = " | ".join(f"{value:.3f}" for value in values)
            yield f"| {vocab_size:,} | {'parity' if parity else 'default'} | {numbers} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    folders = parser.parse_args().folders
    with tempfile.TemporaryDirectory() as scratch:
        if not folders:
            write_catalogues(Path(scratch))
            parts = [
                Path(scratch) / part for part in ("learned", "balanced", "measured")
            ]
        else:
            parts = [folders[0], *folders[:2]]
        print(
            "| ids | training | Gini coefficient | longest to shortest text "
            "| bytes per token | bytes per token, English |"
        )
        print("|---:|---|---:|---:|---:|---:|")
        for row in rows(*parts):
            print(row, flush=True)


if __name__ == "__main__":
    main()
