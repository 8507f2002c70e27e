"""Adds web links, and changes what is read of them. Qt thread."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QTimer, SignalInstance
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import LINKS, Collection, Source, WebLinks
from desktop_rag.core.language.translation import tr
from desktop_rag.features.web_pages.ui.links_dialog import LinksDialog
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.source_actions import FurtherKind, id_of
from desktop_rag.ui.widgets.forms import open_once

_LOOK_MS = 1_000


def links_in_window(bridge: Bridge, library: Library) -> FurtherKind:
    """Web links as a kind of source of the library page."""
    add, edit = partial(_add, bridge, library), partial(_edit, bridge, library)
    return FurtherKind(LINKS, tr("Add web links…"), add, edit)


def _add(
    bridge: Bridge, library: Library, page: QWidget, collections: Sequence[Collection],
    changed: Callable[[], None],
) -> None:  # fmt: skip
    """Let the person enter and add web pages; `changed` is called after that."""
    dialog = LinksDialog(collections, page)
    closed = threading.Event()

    def finish(_source: Source) -> None:
        dialog.accept()
        changed()

    def add(collection: str, links: WebLinks) -> None:
        bridge.run(
            dialog,
            lambda: library.sources.add_links(links, id_of(library, collection)),
            finish,
            dialog.show_error,
        )

    def check(collection: str, links: WebLinks, is_wanted_anyway: bool) -> None:
        if is_wanted_anyway:
            add(collection, links)
            return
        bridge.run(
            dialog,
            lambda: library.sources.links.refused(
                links.urls, _known_id(library, collection), closed
            ),
            lambda refused: dialog.show_refused(refused) if refused else add(collection, links),
            dialog.show_error,
        )

    dialog.submitted.connect(check)
    dialog.finished.connect(closed.set)
    open_once(dialog)


def _edit(
    bridge: Bridge, library: Library, page: QWidget, source: Source, changed: Callable[[], None]
) -> None:
    """Let the person change what is read of links; shows the progress or result of fetching."""
    dialog = LinksDialog([], page, source)
    sources, source_id = library.sources, source.source_id

    def finish(_: object) -> None:
        dialog.accept()
        changed()

    def save(_collection: str, links: WebLinks, _is_wanted_anyway: bool) -> None:
        bridge.run(dialog, lambda: sources.set_links(source_id, links), finish, dialog.show_error)

    dialog.submitted.connect(save)
    report, stop = dialog.show_report, dialog.stop_requested
    follow_rounds(dialog, bridge, library, source_id, report, stop)
    open_once(dialog)


def follow_rounds(
    dialog: QDialog,
    bridge: Bridge,
    library: Library,
    source_id: str,
    show_report: Callable[[CrawlReport], None],
    stop_requested: SignalInstance,
) -> None:
    """Show the report on fetching a source while its dialog is open; `stop_requested` ends it."""

    def show(report: CrawlReport | None) -> None:
        if report:
            show_report(report)

    def look() -> None:
        bridge.run(dialog, lambda: library.sources.crawls().get(source_id), show)

    def stop() -> None:
        bridge.run(dialog, lambda: library.sources.stop_crawl(source_id), lambda _: look())

    timer = QTimer(dialog, interval=_LOOK_MS)
    timer.timeout.connect(look)
    timer.start()
    stop_requested.connect(stop)
    look()


def _known_id(library: Library, collection: str) -> str:
    """The id of the collection that links would go to; "" if it does not exist yet."""
    known = library.collections.all()
    wanted = collection.casefold()
    found = (c for c in known if not wanted or c.name.casefold() == wanted)
    return next((c.collection_id for c in found), "")
