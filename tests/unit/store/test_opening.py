"""The setting `store.engine` chooses the engine."""

from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings, StoreSettings
from desktop_rag.store.duckdb.duckdb_engine import database_of, library_file
from desktop_rag.store.opening import library_bytes, open_engine, repair_library

UNKNOWN = Settings(store=StoreSettings(engine="paper"))


def test_the_default_engine_keeps_the_library_in_one_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    engine = open_engine(home, Settings())
    assert database_of(engine).path == library_file(home)
    engine.close()
    assert library_bytes(home, Settings()) == library_file(home).stat().st_size


def test_the_engine_is_read_from_the_settings_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings.write_text('[store]\nengine = "paper"\n')
    settings, notices = load_settings(home.settings)
    assert (settings, notices) == (UNKNOWN, [])


def test_an_unknown_engine_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(AppError) as refused:
        open_engine(Home(tmp_path), UNKNOWN)
    assert "paper" in refused.value.title
    assert "duckdb" in refused.value.hint
    assert list(tmp_path.iterdir()) == []
    assert repair_library(Home(tmp_path), UNKNOWN, refused.value) is None


def test_only_a_damaged_library_is_repaired(tmp_path: Path) -> None:
    home = Home(tmp_path)
    library_file(home).write_bytes(b"\x5a" * 50_000)
    with pytest.raises(AppError) as damaged:
        open_engine(home, Settings())
    assert repair_library(home, Settings(), AppError("Something else.", "")) is None
    report = repair_library(home, Settings(), damaged.value)
    assert report is not None
    assert report.kept.read_bytes() == b"\x5a" * 50_000
    open_engine(home, Settings()).close()
