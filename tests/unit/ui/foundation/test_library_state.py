import pytest
from PySide6.QtWidgets import QApplication

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.library_state import LibraryFacts, LibraryState
from desktop_rag.ui.tray.app_icon import AppIcon


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (LibraryFacts(), LibraryState.UP_TO_DATE),
        (LibraryFacts(sources=0), LibraryState.NO_FOLDER),
        (LibraryFacts(sources=1), LibraryState.UP_TO_DATE),
        (LibraryFacts(sources=1, failed=3), LibraryState.UP_TO_DATE),
        (LibraryFacts(IndexProgress(Stage.READING), sources=1), LibraryState.INDEXING),
        (LibraryFacts(IndexProgress(Stage.PAUSED), sources=1, is_paused=True), LibraryState.PAUSED),
        (LibraryFacts(sources=1, is_paused=True), LibraryState.PAUSED),
        (LibraryFacts(IndexProgress(Stage.READING), sources=2, offline=1), LibraryState.FAILED),
        (LibraryFacts(sources=1, has_error=True), LibraryState.FAILED),
    ],
)
def test_the_most_urgent_thing_is_shown(facts: LibraryFacts, state: LibraryState) -> None:
    assert facts.state is state


def test_every_state_has_its_own_picture_at_every_size(qapp: QApplication) -> None:
    icon = AppIcon(resources_dir())
    for size in (16, 22, 48):
        pictures = {
            bytes(icon.tray_icon(state, 0.5).pixmap(size, size).toImage().constBits())
            for state in LibraryState
        }
        assert len(pictures) == len(LibraryState)


def test_progress_changes_the_picture(qapp: QApplication) -> None:
    icon = AppIcon(resources_dir())
    few, many = (icon.tray_icon(LibraryState.INDEXING, part).pixmap(16, 16) for part in (0.1, 0.9))
    assert few.toImage() != many.toImage()
