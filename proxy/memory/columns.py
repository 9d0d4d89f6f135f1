"""Arrays of one length that grow together, one a column: a row is appended in constant time, all told."""

from typing import Any

import numpy as np
import numpy.typing as npt

FIRST_ROWS = 64


class Columns:
    def __init__(self, **types: Any) -> None:
        self._arrays = {name: np.zeros(FIRST_ROWS, dtype=kind) for name, kind in types.items()}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Any:
        """The column, to read and to write into; until the next row is appended."""
        return self._arrays[name][: self._length]

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._arrays.values())

    def append(self, **row: Any) -> None:
        for name, value in row.items():
            self._arrays[name] = room(self._arrays[name], self._length + 1)
            self._arrays[name][self._length] = value
        self._length += 1


def room(rows: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    """`rows`, or a longer copy of it that has room for as many as `wanted`."""
    if wanted <= len(rows):
        return rows
    grown = np.zeros((max(wanted, 2 * len(rows)), *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown
