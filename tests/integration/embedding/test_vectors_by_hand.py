"""The query over vectors that decision 002 shows to people."""

import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import Home

pytestmark = pytest.mark.slow
_PAGE = Path(__file__).parents[3] / "docs/decisions/002-duckdb-and-one-write-lane.md"


def test_duckdb_compares_passages_as_the_app_does(
    home: Home, open_indexed: Callable[[dict[str, str]], Services]
) -> None:
    services = open_indexed({
        "lamp.md": "The lamp of the lighthouse is lit at dusk.",
        "light.md": "At dusk the light of the lighthouse is lit.",
        "soup.md": "Barley soup needs marrow and salt.",
    })  # fmt: skip
    services.close()
    found = re.search(r"```sql\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    with duckdb.connect(str(next(home.root.rglob("*.duckdb"))), read_only=True) as connection:
        rows = connection.execute(found[1]).fetchall()
    assert len(rows) == 3
    similarity, *pair = rows[0]
    assert {text.split()[0] for text in pair} == {"The", "At"}
    assert 0.5 < similarity < 1
