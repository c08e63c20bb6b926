"""Files that belong together: on a full disk all appear under their names, or nothing changes."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.commands import run

import bytepair
from bytepair import FileError, surgery
from bytepair._io import files, saving

TEXTS = ["low lower lowest wide wider"] * 3


@pytest.fixture
def pairs(tmp_path):
    """Give two files, the first of which is there already."""
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes(b"before")
    return {first: b"one", second: b"two"}


def listed(folder):
    """Give each file of a folder with its bytes."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_all_appear(pairs, tmp_path):
    """With their bytes, the mode of what they replace, and nothing beside them."""
    (tmp_path / "a.txt").chmod(0o640)
    files.write_together(pairs)
    assert listed(tmp_path) == {"a.txt": b"one", "b.txt": b"two"}
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("n_before", [0, 1])
def test_a_full_disk_leaves_what_was_there(n_before, pairs, tmp_path, monkeypatch):
    """Whichever file is the first that cannot be brought to the disk."""
    broken_at(monkeypatch, n_before)
    with pytest.raises(FileError, match=r"[ab]\.txt: No space left on device"):
        files.write_together(pairs)
    assert listed(tmp_path) == {"a.txt": b"before"}


def test_a_folder_in_the_place_of_a_file_is_refused_first(pairs, tmp_path):
    """No file has changed by then."""
    (tmp_path / "b.txt").mkdir()
    with pytest.raises(FileError, match=r"b\.txt: this is a folder"):
        files.write_together(pairs)
    assert listed(tmp_path) == {"a.txt": b"before"}


def refused(_draft, _target):
    """Refuse a name, as in a folder whose files belong to somebody else."""
    raise OSError(1, "Operation not permitted")


def test_folders_are_made_if_asked_for_and_go_again_if_it_fails(tmp_path, monkeypatch):
    """A folder that is missing is an error otherwise."""
    pairs = {tmp_path / "new" / "deep" / name: b"x" for name in "ab"}
    with pytest.raises(FileError, match="No such file"):
        files.write_together(pairs)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refused)
        with pytest.raises(FileError, match="Operation not permitted"):
            files.write_together(pairs, makes_folders=True)
    assert list(tmp_path.iterdir()) == []
    files.write_together(pairs, makes_folders=True)
    assert len(listed(tmp_path)) == 2


def test_links_are_followed_and_devices_written_to(pairs, tmp_path):
    """As a single file is written."""
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    files.write_together({tmp_path / "link": b"x", Path(os.devnull): b"y"})
    assert (tmp_path / "link").is_symlink()
    assert listed(tmp_path)["a.txt"] == b"x"
    assert not Path(os.devnull).is_file()


def test_two_names_of_one_file_are_refused(pairs, tmp_path):
    """Of two contents only one would stay; a device takes both."""
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    with pytest.raises(FileError, match=r"link: this is the same file as .*a\.txt"):
        files.write_together({**pairs, tmp_path / "link": b"x"})
    assert listed(tmp_path)["a.txt"] == b"before"
    files.write_together({Path(os.devnull): b"y", Path("/dev", "null"): b"y"})


def test_files_that_are_opened_together_appear_together(pairs, tmp_path, monkeypatch):
    """Not before the block ends, and none if it fails or the disk is full."""
    with files.writing_together(*pairs) as opened:
        opened[0].write(b"one")
        opened[1].write(b"two")
        assert (tmp_path / "a.txt").read_bytes() == b"before"
        assert not (tmp_path / "b.txt").exists()
    assert listed(tmp_path) == {"a.txt": b"one", "b.txt": b"two"}
    with pytest.raises(ZeroDivisionError), files.writing_together(*pairs):
        raise ZeroDivisionError

    for n_before in (0, 1):
        with monkeypatch.context() as patch:
            broken_at(patch, n_before)
            told = pytest.raises(FileError, match=r"[ab]\.txt: No space")
            with told, files.writing_together(*pairs) as opened:
                for file in opened:
                    file.write(b"other")
        assert listed(tmp_path) == {"a.txt": b"one", "b.txt": b"two"}
    told = pytest.raises(FileError, match=r"a\.txt and .*b\.txt: Broken pipe")
    with told, files.writing_together(*pairs):
        raise OSError(32, "Broken pipe")
    assert listed(tmp_path) == {"a.txt": b"one", "b.txt": b"two"}


def broken_at(monkeypatch, n_before):
    """Let the disk be full after so many files."""
    brought = []
    fsync = os.fsync

    def full(handle):
        if len(brought) == n_before:
            raise OSError(28, "No space left on device")
        brought.append(handle)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)


def saver(way, folder):
    """Give a function that writes a tokenizer of several files."""
    dialect = "gpt2" if way in ("gpt2", "surgery gpt2") else "gpt4o"
    base = bytepair.train_from_iterator(TEXTS, merges=9, dialect=dialect)
    if way == "pretrained":
        return lambda: base.save_pretrained(folder / "out")
    if way == "convert":
        return lambda: bytepair.convert(base, folder / "t.tiktoken")
    target = folder / ("out" if dialect == "gpt2" else "t.tiktoken")
    if way.startswith("command"):
        return lambda: commanded(base, way.split()[1], folder)
    if way.startswith("surgery"):
        found = surgery.extend(base, texts=["widest hats"] * 3, add=2)
        return lambda: found.save(target)
    return lambda: base.save(target)


def commanded(base, suffix, folder):
    """Run a command that writes several files, such as an embedding map beside a tokenizer."""
    with TemporaryDirectory() as elsewhere:
        written = base.to_bytes(format="huggingface")
        Path(elsewhere, "base.json").write_bytes(written)
        Path(elsewhere, "text").write_text("\n".join(TEXTS))
        codes = bytepair.train_from_iterator(TEXTS, merges=9, dialect="subword-nmt")
        Path(elsewhere, "codes").write_bytes(codes.to_bytes(format="subword-nmt"))
        out = f"-o {folder}"
        remove = f"remove base.json low --numbering holes {out}/t.tiktoken"
        typed = {
            "segment": f"segment codes text {out}/text --write-vocabulary {folder}/words",
            "train": f"train text {out}/t.json --merges 9 --log {folder}/log",
            "stats": f"stats base.json text {out}/s.json {out}/s.csv",
        }.get(suffix, f"{remove} --embedding-map {folder}/rows{suffix}")
        found = run(*typed.split(), code=None, cwd=elsewhere)
    if found.exit_code:
        raise bytepair.TokenizerError(found.stderr)


N_FILES = {
    "gpt2": 2,
    "tiktoken": 2,
    "pretrained": 2,
    "convert": 4,  # a draft of each file, and each file
    "surgery gpt2": 4,
    "surgery tiktoken": 4,
    "command .npz": 7,  # drafts of two files when rehearsing and when saving, and three files
    "command .jsonl": 7,
    "command segment": 2,
    "command train": 3,  # a draft when rehearsing, and two files
    "command stats": 2,
}


@pytest.mark.parametrize("way", N_FILES)
def test_a_tokenizer_of_several_files_appears_whole_or_not_at_all(
    way, tmp_path, monkeypatch
):
    """Wherever the disk is full, nothing is left in the folder, not even a folder."""
    save = saver(way, tmp_path)
    for n_before in range(N_FILES[way]):
        with monkeypatch.context() as patch:
            broken_at(patch, n_before)
            with pytest.raises(bytepair.TokenizerError, match="No space left"):
                save()
        assert list(tmp_path.iterdir()) == []
    save()
    assert len(listed(tmp_path)) >= 2


@pytest.mark.parametrize(
    "typed",
    [
        "train text -o t.json --merges 3 --log t.json",
        "segment codes text -o words --write-vocabulary words",
    ],
)
def test_one_name_for_both_files_is_refused(typed, tmp_path, monkeypatch):
    """Before anything is read: only one of the two would stay."""
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("\n".join(TEXTS))
    Path("codes").write_text("#version: 0.2\nl o\n")
    before = listed(tmp_path)
    found = run(*typed.split(), code=None)
    assert found.exit_code in (1, 2)
    assert "name another" in found.stderr
    assert listed(tmp_path) == before


def test_a_log_stands_beside_what_is_saved_in_place_of_another_format(
    tmp_path, monkeypatch
):
    """What only the result shows to be no file of that format is saved as .bytepair, with its log."""

    def refusing(tokenizer, path, format_name, **options):
        if format_name != "bytepair" and path.parent == Path():
            message = "not in this format"
            raise bytepair.FormatError(message)
        return save(tokenizer, path, format_name, **options)

    save = saving.save
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(saving, "save", refusing)
    Path("text").write_text("\n".join(TEXTS))
    arguments = ["train", "text", "-o", "t.json", "--merges", "3", "--log", "log"]
    assert "saved as t.bytepair instead" in run(*arguments, code=1).stderr
    assert set(listed(tmp_path)) == {"text", "t.bytepair", "log"}
    steps = bytepair.read_log("log").steps
    assert len(steps) == len(bytepair.Tokenizer.from_file("t.bytepair").merges) == 3
