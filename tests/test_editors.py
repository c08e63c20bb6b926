"""What editors and notebooks show: names, types, docstrings and signatures."""

import ast
import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import bytepair
from bytepair import _core, analyze, surgery
from bytepair._elsewhere import INSTEAD, INSTEAD_IN_MODULE, INSTEAD_OF_OPTIONS

PACKAGE = Path(bytepair.__file__).parent
STUB = PACKAGE / "_core.pyi"
BINDING = PACKAGE.parent.parent / "crates" / "bytepair-python" / "src"
OF_PYTHON = (object, BaseException, OSError, KeyError, ValueError, tuple, int)
NEEDS_THE_NETWORK = {"Tokenizer.from_hub"}


def reachable():
    """List what users reach from the package: its names, and the members of its classes."""
    classes = [name for name, value in vars(bytepair.errors).items() if is_own(value)]
    for name in dict.fromkeys([*bytepair.__all__, "MergeStep", *classes]):
        found = getattr(bytepair, name)
        yield name, found
        if inspect.isclass(found):
            members = {
                (member, owner)
                for owner in found.__mro__
                if owner not in OF_PYTHON and owner.__module__.startswith("bytepair")
                for member in vars(owner)
                if not member.startswith("_") and member in dir(found)
            }
            for member, owner in sorted(members, key=lambda pair: pair[0]):
                own = inspect.getattr_static(owner, member)
                if is_documented(own):
                    yield f"{name}.{member}", getattr(found, member)


def is_own(value):
    """Tell the errors of the package from what their module imports."""
    return inspect.isclass(value) and value.__module__.startswith("bytepair")


def is_documented(member):
    """Tell methods and properties from the fields of a record, which its class describes."""
    if isinstance(member, (classmethod, staticmethod, property)):
        return True
    return (inspect.isroutine(member) and not inspect.ismemberdescriptor(member)) or (
        inspect.isgetsetdescriptor(member)
    )


REACHABLE = dict(reachable())


def definitions():
    """List what the stub defines, by name, with what there is of it at run time."""
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name, node, getattr(_core, node.name)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    own = getattr(getattr(_core, node.name), member.name)
                    yield f"{node.name}.{member.name}", member, own


def test_modules_of_the_package_are_imported_when_they_are_named():
    """``bytepair.analyze`` needs no import of its own; a name that is nothing is an AttributeError."""
    for name in {*dir(bytepair)} - {*bytepair.__all__, "__version__"}:
        assert bytepair.__getattr__(name).__name__ == f"bytepair.{name}"
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        bytepair.analyse  # noqa: B018


def test_names_of_the_package_are_those_that_users_call():
    """Completion offers no module that functions come from, but methods of the compiled base class, with their types."""
    assert {*bytepair.__all__, "analyze", "chat", "surgery"} <= {*dir(bytepair)}
    assert len(bytepair.__all__) <= 20
    assert all(hasattr(bytepair, name) for name in dir(bytepair))
    assert {"Tokenizer.encode", "Tokenizer.merges", "Encoding.ids"} <= set(REACHABLE)
    assert {"train", "DecodeStream.push", "MergeLog.curve"} <= set(REACHABLE)
    assert (PACKAGE / "py.typed").is_file()  # which type checkers ask for


# Docstrings and signatures


@pytest.mark.parametrize("name", REACHABLE)
def test_everything_that_users_reach_has_an_example_that_runs(name):
    """Of classes, methods, properties and functions, as ``help`` shows them."""
    text = inspect.getdoc(REACHABLE[name])
    assert text
    assert text.splitlines()[0].endswith((".", ":")) or text.splitlines()[1]
    if name in NEEDS_THE_NETWORK:
        return
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert test.examples
    found = REACHABLE[name]
    module = inspect.getmodule(getattr(found, "fget", None) or found)
    test.globs = {**vars(module)} if module else {"bytepair": bytepair}
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    assert runner.run(test).failed == 0


def test_the_stub_says_what_the_core_says():
    """Docstrings are those of the doc comments, and every public thing has one."""
    documented = {}
    for name, node, found in definitions():
        documented[name] = documented.get(name) or ast.get_docstring(node)
        if not node.name.startswith("__"):
            assert ast.get_docstring(node) in (inspect.getdoc(found), None), name
    missing = [name for name, doc in documented.items() if not doc and "._" not in name]
    assert missing == []


def test_the_core_has_no_private_methods():
    """What another module needs is a method that users may call, or a function that takes the tokenizer."""
    for found in (_core.Tokenizer, _core.Inspection, _core.Token):
        names = [name for name in vars(found) if not name.startswith("__")]
        assert names
        assert [name for name in names if name.startswith("_")] == []


def test_defaults_are_values():
    """Neither ``help`` nor the stub shows ``...``, and both show the same."""
    n_defaults = 0
    for name, node, found in definitions():
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
            continue
        arguments = node.args
        pairs = [
            *zip(arguments.args[::-1], arguments.defaults[::-1], strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if default is not None:
                value = inspect.signature(found).parameters[argument.arg].default
                assert value is not ..., (name, argument.arg)
                assert ast.literal_eval(default) == value, (name, argument.arg)
                n_defaults += 1
    assert n_defaults > 50


def test_signatures_that_are_shown_are_those_that_are_taken():
    """Where the binding writes a signature a second time, for its defaults."""
    if not BINDING.is_dir():
        pytest.skip("the sources of the binding are not beside the package")
    pattern = re.compile(
        r'signature = \((.*)\),\s*text_signature = "\((?:\$self, )?(.*)\)"'
    )
    values = {"SpecialNames::None": "()", "true": "True"}
    values |= {"Added::FIND": "'find'"}
    values |= {"false": "False", '"': "'", "Vec::new()": "()", "String::new()": "''"}
    n_found = 0
    for path in sorted(BINDING.rglob("*.rs")):
        for taken, shown in pattern.findall(path.read_text(encoding="utf-8")):
            if "**" in taken:
                continue  # see the next test
            expected = re.sub(r"\b[A-Z]\w+\((\d+)\)", r"\1", taken)  # Stride(0)
            for written, value in values.items():
                expected = expected.replace(written, value)
            assert shown == expected, path
            n_found += 1
    assert n_found > 10


def test_keywords_that_are_shown_are_those_that_are_taken():
    """Methods that encode take the defaults that they show, and refuse any other keyword by name."""
    tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    values = {"self": tokenizer, "text": "ab", "texts": ["ab"], "max_tokens": 1}
    shown = {
        name: inspect.signature(found).parameters
        for name, found in vars(_core.Tokenizer).items()
        if callable(found) and not name.startswith("__")
    }
    encoding = {
        name: parameters
        for name, parameters in shown.items()
        if "allowed_special" in parameters
    }
    all_names = {name for parameters in encoding.values() for name in parameters}
    assert len(encoding) >= 10
    for name, parameters in encoding.items():
        method = getattr(_core.Tokenizer, name)
        given = [values[each] for each in parameters if each in values]
        defaults = {
            each: parameter.default
            for each, parameter in parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        method(*given, **defaults)
        if name.startswith("_"):
            continue
        for other in all_names - set(parameters):
            problem = rf"{name}\(\) got an unexpected keyword argument '{other}'"
            with pytest.raises(TypeError, match=problem):
                method(*given, **{other: None})


# Notebooks


def test_what_a_notebook_shows_is_short(tmp_path):
    """A log of many merges, a tokenizer and what it gives fit on a screen."""
    text = " ".join(f"word{place}" for place in range(3000))
    options = {"vocab_size": 1000, "log": tmp_path / "log"}
    tokenizer = bytepair.train_from_iterator([text], **options)
    log = bytepair.read_log(tmp_path / "log")
    shown = [repr(log), repr(tokenizer), repr(tokenizer.encode_full(text))]
    assert [len(text) < 600 for text in shown] == [True] * 3
    n_merges, n_vocab = len(tokenizer.merges), tokenizer.n_vocab
    assert repr(log) == f"<bytepair.MergeLog: {n_merges} merges, up to {n_vocab} ids>"


def test_names_of_other_libraries_are_answered_with_what_to_use():
    """Each name that is answered is missing, and what the answer names first is there."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    for name, instead in INSTEAD.items():
        for owner in (tokenizer, bytepair.Tokenizer):
            with pytest.raises(AttributeError, match=re.escape(f"use {instead}")):
                getattr(owner, name)
        first = re.match(r"(bytepair(?:\.\w+)+|\w+)", instead)[0]
        module, _, last = first.rpartition(".")
        owner = importlib.import_module(module) if module else tokenizer
        assert hasattr(owner, last) or importlib.import_module(first)
    for name, instead in INSTEAD_OF_OPTIONS.items():
        for call in (bytepair.train, tokenizer.encode_full, tokenizer.count):
            with pytest.raises(TypeError, match=re.escape(f"; use {instead}")):
                call("low", **{name: 1})
    assert len([n for n in dir(bytepair.Tokenizer) if not n.startswith("_")]) <= 39
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        tokenizer.nonsense  # noqa: B018


def test_names_of_other_packages_are_answered_with_what_to_use():
    """Each such name of the package is missing, and what the answer names first is there."""
    for name, instead in INSTEAD_IN_MODULE.items():
        with pytest.raises(AttributeError, match=re.escape(f"use {instead}")):
            getattr(bytepair, name)
        first = re.match(r"(?:bytepair\.)?((?:\w+\.)*)(\w+)", instead)
        folder, last = first[1].rstrip("."), first[2]
        if folder in ("", "Tokenizer"):
            assert hasattr(getattr(bytepair, folder, bytepair), last)
        else:
            assert importlib.util.find_spec(f"bytepair.{folder}")  # needs its library


def test_functions_that_take_a_tokenizer_take_its_path(tmp_path):
    """The results are those of the tokenizer that is loaded from the path."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    path, text = tmp_path / "own.bytepair", tmp_path / "text.txt"
    tokenizer.save(path)
    text.write_text("low lower")
    for call in (
        analyze.portrait,
        analyze.diagnose,
        lambda t: analyze.cut(t, "low"),
        lambda t: analyze.trace(t, "low"),
        lambda t: analyze.stats(t, [text]),
        lambda t: surgery.shorten(t, merges=1),
    ):
        assert str(call(path)) == str(call(tokenizer)) == str(call(str(path)))
    with pytest.raises(TypeError, match="expected a Tokenizer or a path, found int"):
        analyze.trace(3, "low")
