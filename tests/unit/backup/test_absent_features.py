"""Without a feature, what it keeps stays where it is, and the rest of a library is as with it."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup import archive_reader
from desktop_rag.features.backup.backups import Backups
from desktop_rag.store.contract import precious
from desktop_rag.store.opening import open_engine
from tests.unit.backup.conftest import OpenPlace
from tests.unit.backup.filled_library import Place, entries, fill

OF_FEATURES = {"standing", "standing_run", "experiment", "evaluation"}
CACHED = (
    precious.kinds, precious.kinds_of_features, precious.nouns_of_features, precious.backup_rules,
    archive_reader.column_rules,
)  # fmt: skip


@contextmanager
def without_features() -> Generator[None]:
    """The core alone."""
    try:
        with patch.object(precious, "kept", tuple):
            for function in CACHED:
                function.cache_clear()
            yield
    finally:
        for function in CACHED:
            function.cache_clear()


@contextmanager
def opened(home: Home) -> Iterator[Place]:
    engine = open_engine(home, Settings())
    try:
        yield Place(home, engine, Backups(home, engine.precious, engine.sources.collections))
    finally:
        engine.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """With a full library, which is closed."""
    home = Home(tmp_path / "home")
    home.create()
    with opened(home) as place:
        fill(place)
    return home


@pytest.mark.everyday
def test_a_backup_is_read_without_them(home: Home, open_place: OpenPlace, tmp_path: Path) -> None:
    with opened(home) as place:
        known = entries(place)
        place.backups.export(tmp_path / "x")
    with without_features():
        empty = open_place("empty")
        done = empty.backups.import_file(tmp_path / "x")
        assert not {*OF_FEATURES, "command"} & done.added.keys()
        assert entries(empty).keys() == {key for key in known if key[0] not in OF_FEATURES}
        assert empty.backups.export(tmp_path / "y")


@pytest.mark.slow
def test_rows_and_journal_stay_as_they_are(home: Home) -> None:
    with opened(home) as place:
        before = {key: entry for key, entry in entries(place).items() if key[0] in OF_FEATURES}
    with without_features():
        with opened(home) as place:
            place.engine.sources.add_collection("Meanwhile")
        # A journal that is older than the library is written anew.
        (home.root / "journal" / "generation").write_text("1\n")
        with opened(home):
            pass
    with opened(home) as place:
        assert before.items() <= entries(place).items()
    (home.root / "library.duckdb").unlink()
    with opened(home) as place:
        assert before.items() <= entries(place).items()
