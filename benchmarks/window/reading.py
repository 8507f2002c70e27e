"""How fast documents open at the cited words, and how long the window stands still meanwhile.

python benchmarks/window/reading.py [--pages N] [--rows N] [--rounds N]

A library gets a PDF of 1,000 pages, a sheet of 100,000 rows, and a long Markdown text and source
file. Each is opened in the reading pane at words near its end, then scrolled from end to end. A
timer in the Qt thread is due every 5 ms; its lateness is the time the window stood still. Prints
the seconds until the words were marked on the screen against the limit of 1 s, the longest
standstill while scrolling against the limit of 50 ms, and the load of the computer. Runs offscreen.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.features.evaluation.measures.metrics import percentile
from tests.unit.ingest.read.samples import make_pdf

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit

    from desktop_rag.ui.reading.reading_pane import ReadingPane
    from desktop_rag.ui.viewers.viewer import DocumentSpan

_TICK_MS = 5
_OPEN_LIMIT_S, _STANDSTILL_LIMIT_MS = 1.0, 50.0
_WAIT_S = 120.0
_SCROLL_STEPS = 60
_WORDS = "the keeper of the last lamp"


def main() -> None:
    """Parse the arguments, build the library, open the documents, print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "papers"
        folder.mkdir()
        write_documents(folder, arguments.pages, arguments.rows)
        print(json.dumps(measure(Path(scratch), folder, arguments.rounds), indent=1))


def write_documents(folder: Path, pages: int, rows: int) -> None:
    """The documents, with the words that are cited near the end of each."""
    lines = [f"line {n} of a page about wicks, oil and boats" for n in range(35)]
    texts = ["\n".join([f"Page {n}", *lines]) for n in range(pages)]
    texts[pages * 9 // 10] += f"\n{_WORDS}"
    (folder / "report.pdf").write_bytes(make_pdf(texts))
    table = [f"north,{n},{n * 3},wick {n},note on row {n}" for n in range(rows)]
    table[rows * 9 // 10] += f" {_WORDS}"
    (folder / "rows.csv").write_text("region,units,pounds,part,note\n" + "\n".join(table))
    sections = [
        f"## Section {n}\n\n" + "The **lamp** burns oil until dawn. " * 30 for n in range(900)
    ]
    sections[800] += _WORDS
    (folder / "guide.md").write_text("\n\n".join(sections))
    code = [
        f'def lamp_{n}(hour: int) -> str:\n    return "lit" if hour > {n} else ""\n'
        for n in range(9_000)
    ]
    code[8_000] += f"    # {_WORDS}\n"
    (folder / "lamps.py").write_text("\n".join(code))


def measure(scratch: Path, folder: Path, rounds: int) -> dict[str, Any]:
    """Open each document some times; the figures with their limits."""
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.ui.foundation.bridge import Bridge
    from desktop_rag.ui.foundation.theme import Theme
    from desktop_rag.ui.reading.reading_pane import ReadingPane
    from desktop_rag.ui.viewers.viewer import DocumentSpan

    home = Home(scratch / "home")
    home.create()
    qt = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(qt, QApplication), "it was made here"
    services = build_services(home)
    library = services.library
    library.start(watch=False)
    library.sources.add(folder)
    library.indexing.wait_until_searchable(600)
    library.indexing.pause()
    library.documents.prepare_pages()
    bridge, theme = Bridge(), Theme(qt, resources_dir())
    pane = ReadingPane(bridge, library, theme)
    pane.resize(640, 760)
    pane.show()
    figures: dict[str, Any] = {"load": os.getloadavg()[0], "limits": limits()}
    for document in library.documents.all():
        start = library.documents.text(document.document_id).index(_WORDS)
        places = [
            DocumentSpan(document.document_id, start, start + len(_WORDS), _WORDS, f"{n}")
            for n in range(rounds)
        ]
        seconds = [opened_in(qt, pane, place) for place in places]
        late_ms = scrolled(qt, pane)
        figures[document.name] = {
            "open_s": [round(s, 3) for s in seconds],
            "of_limit": round(sorted(seconds)[len(seconds) // 2] / _OPEN_LIMIT_S, 2),
            "scroll_p99_ms": round(percentile(late_ms, 0.99), 1),
            "scroll_longest_ms": round(max(late_ms), 1),
        }
    bridge.close()
    library.close()
    services.close()
    return figures


def limits() -> dict[str, float]:
    """The limits that the figures are held against."""
    return {"open_s": _OPEN_LIMIT_S, "standstill_ms": _STANDSTILL_LIMIT_MS}


def opened_in(qt: "QApplication", pane: "ReadingPane", place: "DocumentSpan") -> float:
    """Seconds from the request until the words are marked and on the screen."""
    pane.viewers.clear()
    began = time.perf_counter()
    pane.read(place)
    waits(qt, lambda: is_shown(pane))
    return time.perf_counter() - began


def _has_words(text: "QTextEdit | QPlainTextEdit") -> bool:
    return any(mark.cursor.selectedText() == _WORDS for mark in text.extraSelections())


def is_shown(pane: "ReadingPane") -> bool:
    """True once the cited words are marked in the open document."""
    from desktop_rag.ui.viewers.code_viewer import CodeViewer
    from desktop_rag.ui.viewers.page_viewer import PageViewer
    from desktop_rag.ui.viewers.pages_viewer import PagesViewer
    from desktop_rag.ui.viewers.sheet_viewer import SheetViewer

    match pane.viewers.viewer:
        case PageViewer() as viewer:
            return _has_words(viewer.page)
        case CodeViewer() as viewer:
            return _has_words(viewer.code)
        case PagesViewer() as viewer:
            return viewer.has_cited_words
        case SheetViewer() as viewer:
            return viewer.table.currentIndex().row() > 0
        case _:
            return False


def scrolled(qt: "QApplication", pane: "ReadingPane") -> list[float]:
    """Scroll up and down in steps; the lateness of each tick in ms."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QAbstractScrollArea

    assert pane.viewers.viewer is not None, "a document is open"
    area = max(pane.viewers.viewer.findChildren(QAbstractScrollArea), key=lambda a: a.height())
    bar = area.verticalScrollBar()
    late_ms: list[float] = []
    due_at = time.perf_counter() + _TICK_MS / 1000

    def tick() -> None:
        nonlocal due_at
        now = time.perf_counter()
        late_ms.append(max(0.0, 1000 * (now - due_at)))
        due_at = now + _TICK_MS / 1000

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start(_TICK_MS)
    for step in range(_SCROLL_STEPS):
        bar.setValue(bar.value() + (-1) ** (step // 20) * bar.pageStep() // 2)
        until = time.perf_counter() + 0.05
        waits(qt, lambda until=until: time.perf_counter() > until)
    timer.stop()
    return late_ms


def waits(qt: "QApplication", is_so: Callable[[], bool]) -> None:
    """Handle events until a condition holds."""
    give_up_at = time.perf_counter() + _WAIT_S
    while not is_so():
        if time.perf_counter() > give_up_at:
            raise TimeoutError("the document did not open")
        qt.processEvents()
        time.sleep(0.0005)


if __name__ == "__main__":
    main()
