"""Without any one of its features the app starts, indexes, answers and shows its pages."""

from pathlib import Path

import pytest

from desktop_rag import registry
from desktop_rag.core.paths import HOME_VARIABLE
from tests.absent_wing import copy_without, run_in

pytestmark = pytest.mark.slow

_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from desktop_rag.app import build_services
from desktop_rag.cli.running import run_for_another
from desktop_rag.core.paths import find_home
from desktop_rag.window_app import WindowApp

qt = QApplication(sys.argv[:1])
opened = WindowApp(build_services(find_home()), run_for_another)
opened.open()
for position in range(4):
    opened.window.show_page(position)
# `quit` would ask the window first, which never closes by itself.
QTimer.singleShot(0, lambda: qt.exit(0))
qt.exec()
opened.shut_down()
"""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("wing", tuple(registry.wings()))
def test_the_core_works_without_a_wing(wing: str, tmp_path: Path) -> None:
    copy = copy_without(wing, tmp_path / "copy")
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lamp.md").write_text("The lamp is lit at dusk.", "utf-8")

    def run(*arguments: str) -> str:
        done = run_in(copy, *arguments, **{HOME_VARIABLE: str(tmp_path / "home")})
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    run("-m", "desktop_rag", "index", str(papers))
    assert "lit at dusk" in run("-m", "desktop_rag", "ask", "When is the lamp lit?")
    run("-c", _WINDOW)
