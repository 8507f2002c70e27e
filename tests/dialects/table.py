"""Every dialect and failure that the tests and `benchmarks/dialects.py` play."""

from tests.dialects import (
    ending_rows,
    finish_rows,
    pace_rows,
    refusal_rows,
    shape_rows,
    thinking_rows,
    waiting_rows,
)

ROWS = (
    *ending_rows.ROWS,
    *finish_rows.ROWS,
    *pace_rows.ROWS,
    *refusal_rows.ROWS,
    *shape_rows.ROWS,
    *thinking_rows.ROWS,
    *waiting_rows.ROWS,
)
