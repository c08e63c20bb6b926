"""Names as matplotlib shows them."""

__all__ = ["label_of"]


def label_of(name: str) -> str:
    r"""Write a name so that matplotlib shows it as it is.

    >>> label_of("_a$b")
    'a\\$b'
    """
    return name.replace("$", r"\$").lstrip("_")
