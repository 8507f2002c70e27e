"""Every row of the table of dialects, played to the client over HTTP."""

import pytest

from tests.dialects.player import play
from tests.dialects.row import Row
from tests.dialects.table import ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_person_is_told_what_happened(row: Row) -> None:
    got = play(row)
    assert got.wrongs(row) == [], got


def test_the_names_of_the_rows_are_different() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
