"""The windows of passages: created, dropped and created again by a setting at run time."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.library_events import ProgressChanged, Stage
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings

pytestmark = [pytest.mark.usefixtures("slow_embedding"), pytest.mark.slow]
FILES = 30
FINE = Settings(index=IndexSettings(makes_windows=True))
COARSE = Settings(index=IndexSettings(makes_windows=False))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    for number in range(FILES):
        text = " ".join(
            f"In year {number}{n} the keeper of lighthouse {n} wrote letter {number} about oil,"
            " ropes and the weather of that week."
            for n in range(8)
        )
        (made / f"{number}.md").write_text(f"# Letters {number}\n\n{text}\n", "utf-8")
    return made


def windows(services: Services) -> tuple[int, int]:
    """(passages with a vector, passages without windows) of the single answering model."""
    [row] = services.engine.models.answering().values()
    return services.engine.models.vectors(row.name, row.dimensions).window_counts()


def rest(services: Services) -> None:
    assert services.library.indexing.wait_until_idle(60)


def test_the_third_stage_is_told_and_comes_to_an_end(services: Services, folder: Path) -> None:
    services.library.apply(COARSE)
    services.library.sources.add(folder)
    services.library.start(watch=False)
    rest(services)
    told: list[Stage] = []
    is_over = threading.Event()

    def listen(event: ProgressChanged) -> None:
        told.append(event.progress.stage)
        if event.progress.stage is Stage.IDLE and Stage.REFINING in told:
            is_over.set()

    services.changes.hear(ProgressChanged, listen)
    services.library.apply(FINE)
    assert is_over.wait(60), told
    assert services.library.indexing.progress().files_total == FILES


def test_switched_off_in_the_middle_nothing_is_left_of_it(services: Services, folder: Path) -> None:
    services.library.sources.add(folder)
    refining: list[Stage] = []

    def listen(event: ProgressChanged) -> None:
        if event.progress.stage is Stage.REFINING:
            refining.append(event.progress.stage)
            services.library.apply(COARSE)

    services.changes.hear(ProgressChanged, listen)
    services.library.start(watch=False)
    rest(services)
    assert refining
    total, missing = windows(services)
    assert missing == total


def test_what_an_earlier_run_made_is_dropped_at_the_next_start(
    build_services: Callable[[], Services], home: Home, folder: Path
) -> None:
    first = build_services()
    first.library.sources.add(folder)
    first.library.start(watch=False)
    rest(first)
    total, _ = windows(first)
    first.close()
    save_settings(home.settings, replace(Settings(), index=COARSE.index))
    again = build_services()
    again.library.start(watch=False)
    rest(again)
    assert windows(again) == (total, total)
    assert again.library.indexing.embedded_chunks == 0
