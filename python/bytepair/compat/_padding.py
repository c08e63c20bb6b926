"""Fill up rows that are encoded already, as collators of data do with ``pad``.

Known columns get a value of their own; all others, such as ``labels``, stay as they are.
Left out: rows that are tensors on a device, and columns of more than one dimension.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

__all__ = ["columns", "kind_of_tensors", "padded"]


def columns(features: Any) -> dict[str, list[Any]]:  # noqa: ANN401 -- as callers pass them
    """Make columns of rows; arrays become lists.

    >>> columns([{"input_ids": [1]}, {"input_ids": [2, 3]}])
    {'input_ids': [[1], [2, 3]]}
    """
    if not isinstance(features, Mapping):
        names = features[0] if features else {}
        features = {name: [row[name] for row in features] for name in names}
    return {name: _plain(column) for name, column in features.items()}


def kind_of_tensors(features: Any, name: str) -> str | None:  # noqa: ANN401
    """Tell of what kind the rows of a column are: ``"np"``, ``"pt"``, or lists.

    >>> import numpy as np
    >>> kind_of_tensors([{"input_ids": np.array([1])}], "input_ids")
    'np'
    """
    is_rows = not isinstance(features, Mapping)
    row = features[0] if is_rows and features else features
    found = row.get(name) if isinstance(row, Mapping) else None
    if isinstance(found, (list, tuple)) and found:
        found = found[0]
    kinds = {"numpy": "np", "torch": "pt"}
    return kinds.get(type(found).__module__.partition(".")[0])


def padded(
    found: Mapping[str, list[Any]],
    length: int,
    values: Mapping[str, int],
    *,
    side: Literal["left", "right"] = "right",
) -> dict[str, list[Any]]:
    """Fill the rows of each column of ``values`` up to a length.

    >>> padded({"input_ids": [[1], [2, 3]], "labels": [0, 1]}, 2, {"input_ids": 9})
    {'input_ids': [[1, 9], [2, 3]], 'labels': [0, 1]}
    """
    return {
        name: [_filled(row, length, values[name], side) for row in column]
        if name in values
        else column
        for name, column in found.items()
    }


def _filled(row: Sequence[int], length: int, value: int, side: str) -> list[int]:
    filling = [value] * (length - len(row))
    return [*filling, *row] if side == "left" else [*row, *filling]


def _plain(column: Any) -> list[Any]:  # noqa: ANN401 -- lists or arrays
    if hasattr(column, "tolist"):
        return list(column.tolist())
    return [cell.tolist() if hasattr(cell, "tolist") else cell for cell in column]
