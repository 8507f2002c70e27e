"""Every dialect and failure that the tests and `benchmarks/dialects.py` play."""

from tests.dialects import ending_rows, shape_rows

ROWS = (*ending_rows.ROWS, *shape_rows.ROWS)
