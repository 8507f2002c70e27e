"""Adds web links, and changes what is read of them. Qt thread.

The dialog shows what came of fetching them, and stays up to date while it is open.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.crawling.crawl_report import CrawlReport
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.dialogs.links_dialog import LinksDialog

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_LOOK_MS = 1_000


class LinkActions(QObject):
    """`changed` follows once the library has applied a change."""

    changed = Signal()

    def __init__(self, bridge: Bridge, library: "Library", page: QWidget) -> None:
        """Dialogs open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._page = page

    def add(self, collections: Sequence[Collection]) -> None:
        """Let the person enter and add web pages."""
        dialog = LinksDialog(collections, self._page)
        library, closed = self._library, threading.Event()

        def finish(_source: Source) -> None:
            dialog.accept()
            self.changed.emit()

        def add(collection: str, links: WebLinks) -> None:
            self._bridge.run(
                dialog,
                lambda: library.sources.add_links(links, id_of(library, collection)),
                finish,
                dialog.show_error,
            )

        def check(collection: str, links: WebLinks, is_wanted_anyway: bool) -> None:
            if is_wanted_anyway:
                add(collection, links)
                return
            self._bridge.run(
                dialog,
                lambda: library.sources.refused_links(
                    links, _known_id(library, collection), cancel=closed
                ),
                lambda refused: dialog.show_refused(refused) if refused else add(collection, links),
                dialog.show_error,
            )

        dialog.submitted.connect(check)
        dialog.finished.connect(closed.set)
        _show(dialog)

    def edit(self, source: Source) -> None:
        """Let the person change what is read of links, and see what was refused."""
        dialog = LinksDialog([], self._page, source)
        sources, source_id = self._library.sources, source.source_id

        def finish(_: object) -> None:
            dialog.accept()
            self.changed.emit()

        def save(_collection: str, links: WebLinks, _is_wanted_anyway: bool) -> None:
            self._bridge.run(
                dialog, lambda: sources.set_links(source_id, links), finish, dialog.show_error
            )

        def show(report: CrawlReport | None) -> None:
            if report:
                dialog.show_report(report)

        def look() -> None:
            self._bridge.run(dialog, lambda: sources.crawls().get(source_id), show)

        def stop() -> None:
            self._bridge.run(dialog, lambda: sources.stop_crawl(source_id), lambda _: look())

        timer = QTimer(dialog)
        timer.setInterval(_LOOK_MS)
        timer.timeout.connect(look)
        timer.start()
        dialog.submitted.connect(save)
        dialog.stop_requested.connect(stop)
        look()
        _show(dialog)


def id_of(library: "Library", collection: str) -> str:
    """The id of the named collection, created if missing; "" for the default one."""
    return library.collections.find_or_add(collection).collection_id if collection else ""


def _known_id(library: "Library", collection: str) -> str:
    """The id of the collection that links would go to; "" for one that is not there yet."""
    known = library.collections.all()
    wanted = collection.casefold()
    found = (c for c in known if not wanted or c.name.casefold() == wanted)
    return next((c.collection_id for c in found), "")


def _show(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
