import numpy as np
import pytest

from proxy.memory.columns import FIRST_ROWS, Columns, room


@pytest.mark.parametrize("rows", [0, 1, FIRST_ROWS, FIRST_ROWS + 1, 5 * FIRST_ROWS])
def test_every_row_is_found_where_it_was_put_however_many_follow(rows: int) -> None:
    columns = Columns(number=np.int64, is_even=np.bool_)
    for number in range(rows):
        columns.append(number=number, is_even=number % 2 == 0)
    assert len(columns) == rows
    assert columns["number"].tolist() == list(range(rows))
    assert columns["is_even"].tolist() == [number % 2 == 0 for number in range(rows)]


def test_what_is_written_into_a_column_stays_when_it_grows() -> None:
    columns = Columns(number=np.int64)
    columns.append(number=1)
    columns["number"][0] = 7
    size = columns.nbytes
    for _ in range(FIRST_ROWS):
        columns.append(number=2)
    assert columns["number"][0] == 7
    assert columns.nbytes == 2 * size


def test_room_is_made_for_rows_of_any_width_and_only_where_it_is_needed() -> None:
    rows = np.arange(6).reshape(3, 2)
    assert room(rows, 3) is rows
    grown = room(rows, 4)
    assert grown.shape == (6, 2)
    assert grown[:3].tolist() == rows.tolist()
    assert not grown[3:].any()
    assert len(room(rows, 100)) == 100
