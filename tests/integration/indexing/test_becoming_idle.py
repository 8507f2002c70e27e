"""The library becomes idle, whichever of its parts is the last to finish."""

from pathlib import Path

import pytest

from desktop_rag.app import build_services
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings

pytestmark = pytest.mark.slow

_ENOUGH_S = 20.0


def test_a_library_without_news_comes_to_rest_at_every_start(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("# Lamp\n\nThe lamp is lit.", encoding="utf-8")
    home = Home(tmp_path / "home")
    for start in range(6):
        services = build_services(home)
        try:
            if start == 0:
                services.library.sources.add(folder)
            services.library.start(watch=False)
            assert services.library.indexing.wait_until_idle(_ENOUGH_S)
        finally:
            services.close()


def test_a_model_that_does_not_answer_holds_nobody_up(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("# Lamp\n\nThe lamp is lit.", encoding="utf-8")
    home.create()
    index = IndexSettings(model_folder="http://localhost:9/v1#x")
    save_settings(home.settings, Settings(index=index))
    services = build_services(home)
    try:
        services.library.sources.add(folder)
        services.library.start(watch=False)
        assert services.library.indexing.wait_until_idle(_ENOUGH_S)
        assert services.library.documents.all()[0].state is DocumentState.SEARCHABLE_BY_WORDS
    finally:
        services.close()
