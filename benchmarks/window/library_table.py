"""How long the window stands still while a library of 50,000 files is scrolled and filtered.

python benchmarks/window/library_table.py [--files N] [--home FOLDER]

The real window over a library of small files. The table is scrolled from end to end by pages and
by drags, words are typed into the filter letter by letter, facets are chosen and left, columns are
sorted, all rows are selected, and the views are changed. A timer in the Qt thread is due every
5 ms; its lateness is the time the window stood still, which is what a person would notice. Prints
the delays of each part against the limits (p99.9 of 50 ms, none above 100 ms), the longest time
that the Qt thread itself worked between two ticks, whatever else the computer does, and the load of
the computer. With `--home` the library is kept there for another run. Runs offscreen.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.synthetic_library import fill_home
from benchmarks.window.event_loop import Tick, limits, report, settle, wait_until, watched
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.paths import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractButton, QWidget

    from desktop_rag.window_app import WindowApp

_LOAD_S = 120.0
_ROUNDS = 3
_FOLDERS = 60
_FORMATS = ("PDF", "PDF", "Word", "spreadsheet", "slides", "e-mail", "Markdown", "HTML", "JSON")
_STATES = (*[DocumentState.SEARCHABLE] * 17, DocumentState.FAILED, DocumentState.SKIPPED)


def main() -> None:
    """Parse the arguments, build the library, use the window, print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.home or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        fill_home(place, arguments.files, 1)
        print(json.dumps(measure(Home(place / "home"), arguments.files), indent=1))


def measure(home: Home, files: int) -> dict[str, Any]:
    """Use the library page; the delays of each part in ms."""
    from PySide6.QtCore import QSize
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.cli.running import run_for_another
    from desktop_rag.window_app import WindowApp

    qt = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(qt, QApplication), "it was made here"
    opened = WindowApp(build_services(home), run_for_another)
    opened.window.resize(QSize(1366, 768))
    opened.open()
    opened.window.show_page(1)
    use = Use(opened)
    wait_until(lambda: use.table.model().rowCount() == files, _LOAD_S)
    wait_until(lambda: opened.services.library.indexing.is_idle, _LOAD_S)
    use.vary()
    parts: dict[str, list[Tick]] = {}
    for _ in range(_ROUNDS):
        for name, act in use.parts().items():
            with watched() as ticks:
                act()
                settle(0.4)
            parts.setdefault(name, []).extend(ticks)
    opened.window.hide()
    opened.shut_down()
    every = [tick for ticks in parts.values() for tick in ticks]
    figures: dict[str, Any] = {"files": files, "load": round(os.getloadavg()[0], 1)}
    figures |= {name: report(ticks) for name, ticks in parts.items()}
    return figures | {"all": report(every), "limits": limits()}


class Use:
    """Uses the library page of an open window."""

    def __init__(self, opened: "WindowApp") -> None:
        from PySide6.QtWidgets import QLineEdit

        from desktop_rag.ui.library.documents_panel import DocumentsTable

        self._page = opened.window.library_page
        [self.table] = self._page.findChildren(DocumentsTable)
        fields = self._page.findChildren(QLineEdit)
        self._field = next(f for f in fields if f.accessibleName() == "Filter files")

    def vary(self) -> None:
        """Give the files folders, types and states as in a real library, in the table only."""
        from desktop_rag.ui.library.document_model import DocumentModel
        from desktop_rag.ui.library.document_rows import make_table

        model = self.table.model()
        assert isinstance(model, DocumentModel), "it is that of the table"
        documents = [model.document_at(row) for row in range(model.rowCount())]
        root = documents[0].path.parent
        varied = [
            replace(
                document,
                path=root / f"folder {n % _FOLDERS}" / document.path.name,
                format=_FORMATS[n % len(_FORMATS)],
                state=_STATES[n % len(_STATES)],
            )
            for n, document in enumerate(documents)
        ]
        model.set_table(make_table(varied, {documents[0].source_id: str(root)}))
        settle(1.0)

    def parts(self) -> "dict[str, Callable[[], None]]":
        """What a person does, by name."""
        return {
            "scroll": self._scroll,
            "type": self._type,
            "facets": self._choose_facets,
            "sort": self._sort,
            "select": self._select,
            "views": self._change_views,
        }

    def _scroll(self) -> None:
        bar = self.table.verticalScrollBar()
        for _ in range(40):
            bar.setValue(bar.value() + bar.pageStep())
            settle(0.02)
        for share in range(21):
            bar.setValue(bar.maximum() * share // 20)
            settle(0.02)
        bar.setValue(0)

    def _type(self) -> None:
        for text in ("document12", "txt files", "nothing like this"):
            for length in range(1, len(text) + 1):
                self._field.setText(text[:length])
                settle(0.08)
            settle(0.3)
            self._field.clear()
            settle(0.3)

    def _choose_facets(self) -> None:
        for name in ("Searchable", "Text, Markdown", "Failed"):
            self._press(name)
            settle(0.3)
        for name in ("Searchable", "Failed", "Text, Markdown"):
            self._press(name)
            settle(0.3)

    def _sort(self) -> None:
        from PySide6.QtCore import Qt

        header = self.table.horizontalHeader()
        for order in (Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder):
            header.setSortIndicator(0, order)
            settle(0.2)

    def _select(self) -> None:
        self.table.selectAll()
        settle(0.2)
        self._press("Searchable")
        settle(0.2)
        self._press("Searchable")
        self.table.clearSelection()

    def _change_views(self) -> None:
        from desktop_rag.ui.library.library_header import LibraryView

        for view in (*LibraryView, LibraryView.FILES):
            self._page.show_view(view)
            settle(0.3)

    def _press(self, name: str) -> None:
        _box(self._page, name).click()


def _box(page: "QWidget", name: str) -> "QAbstractButton":
    from desktop_rag.ui.library.facets.facet_list import FacetBox

    boxes = page.findChildren(FacetBox)
    return next(b for b in boxes if b.accessibleName().rpartition(" ")[0] == name)


if __name__ == "__main__":
    main()
