"""Every dialect and failure that the tests and `benchmarks/dialects.py` play."""

from tests.dialects import ending_rows, refusal_rows, waiting_rows

ROWS = (*ending_rows.ROWS, *refusal_rows.ROWS, *waiting_rows.ROWS)
