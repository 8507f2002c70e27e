import pytest
from PySide6.QtWidgets import QApplication

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.tray.app_icon import AppIcon
from desktop_rag.ui.tray.tray_state import TrayFacts, TrayState


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (TrayFacts(), TrayState.NO_FOLDER),
        (TrayFacts(sources=1), TrayState.UP_TO_DATE),
        (TrayFacts(sources=1, failed=3), TrayState.UP_TO_DATE),
        (TrayFacts(IndexProgress(Stage.READING), sources=1), TrayState.INDEXING),
        (TrayFacts(IndexProgress(Stage.PAUSED), sources=1), TrayState.PAUSED),
        (TrayFacts(IndexProgress(Stage.READING), sources=2, offline=1), TrayState.FAILED),
        (TrayFacts(sources=1, has_error=True), TrayState.FAILED),
    ],
)
def test_the_most_urgent_thing_is_shown(facts: TrayFacts, state: TrayState) -> None:
    assert facts.state is state


def test_every_state_has_its_own_picture_at_every_size(qapp: QApplication) -> None:
    icon = AppIcon(resources_dir())
    for size in (16, 22, 48):
        pictures = {
            bytes(icon.tray_icon(state, 0.5).pixmap(size, size).toImage().constBits())
            for state in TrayState
        }
        assert len(pictures) == len(TrayState)


def test_progress_changes_the_picture(qapp: QApplication) -> None:
    icon = AppIcon(resources_dir())
    few, many = (icon.tray_icon(TrayState.INDEXING, part).pixmap(16, 16) for part in (0.1, 0.9))
    assert few.toImage() != many.toImage()
