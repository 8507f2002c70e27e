"""Pictures of the window in all the states a newcomer meets, for eyes to judge.

python -m tests.looks.looks [OUT] [--only WORDS]

Each combination of colours, scale and direction is a process of its own, without a display. The
pictures are named STATE-COLOURS-SCALE-SIZE.png. `make looks` runs it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QSize, Qt
from PySide6.QtWidgets import QApplication

from desktop_rag.app import build_services
from desktop_rag.cli.running import run_for_another
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import WITHOUT_DOCUMENTS, QuestionScope, ScopeItem
from desktop_rag.core.settings import AppearanceSettings, ColourScheme, EndpointSettings, Settings
from desktop_rag.ui.search.filter_choices import FilterKind, SearchFilter, usual_dates
from desktop_rag.window_app import WindowApp
from tests.servers.chat_server import ChatServer

_SIZES = (QSize(900, 600), QSize(1366, 768), QSize(1600, 1000))
# The scale of the screen, and the size of text in percent.
_SCALES = (("1", "100"), ("2", "100"), ("2", "200"))
_SCHEMES = (ColourScheme.LIGHT, ColourScheme.DARK)
_DIRECTIONS = {"ltr": Qt.LayoutDirection.LeftToRight, "rtl": Qt.LayoutDirection.RightToLeft}
# Colours, scale, size of text and direction. No text is written from the right yet, but the
# window has to be ready for a translation that is: it is looked at mirrored once.
_COMBINATIONS = (
    *((scheme, *scale, "ltr") for scheme in _SCHEMES for scale in _SCALES),
    (ColourScheme.LIGHT, "1", "100", "rtl"),
)
_ANSWER = (
    "Smoke from the cable ducts sounds the alarm [1]. Then:\n\n"
    "1. The watch calls the harbour office [1].\n2. The lamp stays lit [2].\n\n"
    "| Who | Called first |\n|---|---|\n| Harbour office | yes |\n\n"
    "```python\nring(office)\n```\n\nThe moon is made of cheese."
)
_ARABIC = "متى يُضاء المصباح في المنارة؟"
_NOTE_IN_ARABIC = "# المنارة\n\nيُضاء المصباح عند الغروب."  # noqa: RUF001
_LONG_NAME = "A report with a name so long that no column of any table has room for it " * 2


@dataclass
class Look:
    """The window of one process, and where its pictures go. `words` selects states by name."""

    app: WindowApp
    out: Path
    suffix: str
    words: str

    def settle(self, until: Callable[[], bool] = lambda: False, *, at_most_ms: int = 400) -> None:
        """Let the window work until a condition holds, or for a while."""
        deadline = QDeadlineTimer(at_most_ms)
        while not deadline.hasExpired() and not until():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)

    def take(self, state: str) -> None:
        """A picture of the window in each size."""
        if self.words not in state:
            return
        for size in _SIZES:
            self.app.window.resize(size)
            self.settle()
            name = f"{state}-{self.suffix}-{size.width()}x{size.height()}.png"
            self.app.window.grab().save(str(self.out / name))


@contextmanager
def opened(
    appearance: AppearanceSettings, suffix: str, out: Path, words: str, endpoint: EndpointSettings
) -> Iterator[Look]:
    """The real app over an empty library of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.create()
        settings = Settings(endpoint=endpoint, appearance=appearance)
        save_settings(home.settings, settings)
        app = WindowApp(build_services(home), run_for_another)
        app.open()
        try:
            yield Look(app, out, suffix, words)
        finally:
            app.window.hide()
            app.shut_down()


def take_all(look: Look, folder: Path) -> None:
    """Go through the states of the first hour."""
    window, library = look.app.window, look.app.services.library
    look.settle(at_most_ms=1500)
    look.take("chat-empty")
    window.show_page(1)
    look.take("library-empty")
    window.show_page(2)
    look.take("search-empty")
    window.show_page(3)
    for position, part in enumerate(window.settings_page.parts):
        window.settings_page.show_part(part)
        look.take(f"settings-{position}-{part.name.lower().replace(' ', '-')}")
    library.sources.add(folder)
    look.app.start_demo()
    history = look.app.services.chat.history
    look.settle(lambda: bool(history.all()), at_most_ms=90_000)
    look.settle(at_most_ms=8000)
    look.take("chat-answer")
    take_search(look)
    window.show_page(0)
    window.chat_page.ask(_ARABIC)
    look.settle(at_most_ms=6000)
    look.take("chat-arabic")
    window.settings.use_model("", "")
    window.ask("Who has to be called in an emergency?")
    look.settle(at_most_ms=8000)
    look.take("chat-excerpt")
    window.settings.change(
        replace(
            window.settings.value,
            endpoint=EndpointSettings("http://127.0.0.1:9/v1", "gone", timeout_s=2.0),
        )
    )
    window.ask("What does the lantern survey say?")
    look.settle(at_most_ms=8000)
    look.take("chat-endpoint-fails")
    window.show_page(1)
    look.take("library")
    for view in window.library_page.views:
        window.library_page.show_view(view)
        look.settle()
        look.take(f"library-{view.lower()}")
    take_scopes(look, folder)


def take_scopes(look: Look, folder: Path) -> None:
    """A chat about a part of the library, with what is missing, and one without documents."""
    window, library = look.app.window, look.app.services.library
    files = [d for d in library.documents.all() if d.path.parent == folder][:8]
    gone = ScopeItem.of_folder(folder / "letters")
    window.ask_about(QuestionScope.of(gone, *map(ScopeItem.of_document, files)))
    look.settle(at_most_ms=1500)
    look.take("chat-scope-missing")
    window.ask_about(QuestionScope.of(ScopeItem.of_folder(folder)), "What is in it?")
    look.settle(at_most_ms=6000)
    look.take("chat-scope-asked")
    window.ask_about(WITHOUT_DOCUMENTS)
    look.settle()
    look.take("chat-without-documents")


def take_search(look: Look) -> None:
    """Results beside a document, with filters, in both ways of listing, and none at all."""
    window, library = look.app.window, look.app.services.library
    page = window.search_page
    documents = library.documents.all()
    library.tags.change([d.document_id for d in documents[:9]], add=["to do", "المنارة"])
    window.show_page(2)
    look.settle()
    look.take("search-start")
    page.field.setText("keeper lamp")
    look.settle(lambda: bool(page.results.results.passages), at_most_ms=8000)
    page.results.choose_first()
    look.settle(at_most_ms=1500)
    look.take("search-found")
    page.filters.add(SearchFilter(FilterKind.TAG, "to do", "to do"))
    page.filters.add(usual_dates(date.today())[3])
    look.settle(at_most_ms=1500)
    look.take("search-filtered")
    page.field.setText("zzyzx")
    look.settle(at_most_ms=1500)
    look.take("search-nothing")


def _take_one(out: Path, words: str, scheme: str, scale: str, text: str, direction: str) -> None:
    _qt = QApplication.instance() or QApplication([])
    QApplication.setLayoutDirection(_DIRECTIONS[direction])
    with tempfile.TemporaryDirectory() as folder, ChatServer(_ANSWER) as server:
        for number in range(12):
            (Path(folder) / f"{_LONG_NAME[:120]} {number}.md").write_text(
                f"# Note {number}\n\nText."
            )
        (Path(folder) / "المنارة.md").write_text(_NOTE_IN_ARABIC)
        (Path(folder) / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
        appearance = AppearanceSettings(ColourScheme(scheme), int(text))
        suffix = f"{scheme}-{scale}x" + (f"-text{text}" if text != "100" else "")
        suffix += f"-{direction}" if direction == "rtl" else ""
        with opened(appearance, suffix, out, words, server.endpoint()) as look:
            take_all(look, Path(folder))


def main() -> int:
    """Start a process for each combination of colours, scale and size of text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("build/looks"))
    parser.add_argument("--only", default="", help="only states with these words in their name")
    parser.add_argument(
        "--one", nargs=4, metavar=("COLOURS", "SCALE", "TEXT", "DIRECTION"), help=argparse.SUPPRESS
    )
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.one:
        _take_one(given.out, given.only, *given.one)
        return 0
    for combination in _COMBINATIONS:
        command = [sys.executable, "-m", "tests.looks.looks", str(given.out)]
        command += ["--only", given.only, "--one", *combination]
        display = {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": combination[1]}
        subprocess.run(command, env={**os.environ, **display}, check=True)
    sys.stdout.write(f"{len(list(given.out.glob('*.png')))} pictures in {given.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
