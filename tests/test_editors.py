"""What editors and notebooks show: names, types, docstrings and signatures."""

from pathlib import Path

import bytepair


def test_the_package_says_that_it_is_typed():
    """Type checkers read the annotations of a package with this file alone."""
    assert (Path(bytepair.__file__).parent / "py.typed").is_file()


def test_names_of_the_package_are_those_that_users_call():
    """Completion offers no module that functions come from."""
    assert set(dir(bytepair)) == {*bytepair.__all__, "__version__"}
    assert all(hasattr(bytepair, name) for name in dir(bytepair))
