"""Tables of growing numpy columns, and the types of arrays that the index of a scope is made of."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32]
Flags: TypeAlias = npt.NDArray[np.bool_]

FIRST_ROWS = 64  # that an array has room for at first


class Columns:
    """A table of growing numpy columns, one row appended at a time."""

    def __init__(self, **types: Any) -> None:
        self._arrays = {name: np.zeros(FIRST_ROWS, dtype=kind) for name, kind in types.items()}
        self._length = 0

    @classmethod
    def of(cls, columns: Mapping[str, npt.NDArray[Any]]) -> "Columns":
        """Returns a table of these columns."""
        table = cls()
        table._arrays = dict(columns)
        table._length = len(next(iter(columns.values())))
        return table

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Returns the column, to read and to write into; valid until the next row is appended."""
        return self._arrays[name][: self._length]

    @property
    def nbytes(self) -> int:
        """Returns the size of the columns, in bytes."""
        return sum(column.nbytes for column in self._arrays.values())

    def append(self, **row: Any) -> None:
        """Appends a row."""
        for name, value in row.items():
            self._arrays[name] = room(self._arrays[name], self._length + 1)
            self._arrays[name][self._length] = value
        self._length += 1


def room(rows: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    """Returns `rows`, or a longer copy of it with room for `wanted` rows."""
    if wanted <= len(rows):
        return rows
    grown = np.zeros((max(wanted, 2 * len(rows)), *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown
