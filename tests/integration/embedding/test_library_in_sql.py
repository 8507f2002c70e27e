"""The query that the documentation shows, on a library."""

import re
from pathlib import Path

import duckdb

from desktop_rag.models.embedding.joined_embedding import BUNDLED, NAMES
from tests.indexed import GoldenLibraries

TEXTS = {
    "lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper.",
    "beacon.md": "The keeper lights the beacon in the evening.",
    "soup.md": "Onions are fried in butter before the broth is poured over them.",
}
DOCS = Path(__file__).parents[3] / "docs"


def test_the_nearest_passages_are_found_by_a_query_that_a_person_can_type(
    golden_libraries: GoldenLibraries, tmp_path: Path
) -> None:
    golden_libraries.copy(TEXTS, tmp_path / "home")
    (shown,) = re.findall(r"```sql\n(.*?)```", (DOCS / "extending.md").read_text("utf-8"), re.S)
    macro, query = shown.strip().split("\n\n", 1)
    with duckdb.connect(tmp_path / "home" / "library.duckdb", read_only=True) as library:
        models = dict(
            library.execute("SELECT split_part(name, '@', 1), model_id FROM models").fetchall()
        )
        library.execute(macro)
        query = query.replace("vectors_1", f"vectors_{models[NAMES[BUNDLED]]}")
        rows = library.execute(query).fetchall()
    assert [Path(path).name for _, path, _ in rows] == ["lamp.md", "beacon.md", "soup.md"]
    assert rows[0][0] == 1.0
