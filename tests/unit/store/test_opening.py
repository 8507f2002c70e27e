"""The setting `store.engine` chooses the engine."""

import sys
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.store_settings import SharedLibrarySettings, StoreSettings
from desktop_rag.features.shared_library.services import check_shared_library
from desktop_rag.store.duckdb.duckdb_engine import database_of, library_file
from desktop_rag.store.opening import library_bytes, open_engine, repair_library
from tests.engines import UNTESTED
from tests.servers.postgres_server import address

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


@pytest.mark.parametrize(
    "store",
    [
        StoreSettings("postgres"),
        StoreSettings("postgres", "postgresql://server/db", "no name"),
        StoreSettings("postgres", "postgresql://server/db", 'x"; DROP SCHEMA public'),
    ],
)
def test_an_engine_on_a_server_needs_its_address(tmp_path: Path, store: StoreSettings) -> None:
    with pytest.raises(AppError, match="missing"):
        open_engine(Home(tmp_path), Settings(store=store))
    assert repair_library(Home(tmp_path), Settings(store=store), AppError("", "")) is None


def test_a_library_on_a_server_is_opened_by_the_settings(tmp_path: Path) -> None:
    if reason := UNTESTED.get("postgres"):
        pytest.skip(reason)
    store = StoreSettings("postgres", address(), "opened_by_settings")
    engine = open_engine(Home(tmp_path), Settings(store=store))
    assert engine.documents.documents() == []
    engine.close()


@pytest.mark.parametrize(
    ("is_package", "command"),
    [(False, "-m pip install 'psycopg"), (True, "pipx install '.[team]'")],
)
def test_without_what_connects_the_way_to_get_it_is_said(
    monkeypatch: pytest.MonkeyPatch, is_package: bool, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in [
        n for n in sys.modules if n.startswith("desktop_rag.features.shared_library.postgres")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "frozen", is_package, raising=False)
    with pytest.raises(AppError, match="not installed") as refused:
        check_shared_library(SharedLibrarySettings(host="localhost"), "")
    assert command in refused.value.hint


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
