"""Adds folders of servers, and changes how they are read. Qt thread."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.language.translation import tr
from desktop_rag.features.remote_sources.remote_sources import MOST_FILES
from desktop_rag.features.remote_sources.ui.remote_dialog import RemoteDialog
from desktop_rag.features.remote_sources.webdav import WEBDAV
from desktop_rag.features.web_pages.ui.link_actions import follow_rounds
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.source_actions import FurtherKind, id_of
from desktop_rag.ui.widgets.forms import open_once


def webdav_in_window(bridge: Bridge, library: Library) -> FurtherKind:
    """Cloud folders as a kind of source of the library page."""
    add, edit = partial(_add, bridge, library), partial(_edit, bridge, library)
    return FurtherKind(WEBDAV.name, tr("Add a cloud folder (WebDAV)…"), add, edit)


def _add(
    bridge: Bridge, library: Library, page: QWidget, collections: Sequence[Collection],
    changed: Callable[[], None],
) -> None:  # fmt: skip
    """Let the person enter a place, see what is there, and add it."""
    dialog = RemoteDialog(WEBDAV.name, MOST_FILES, collections, page)
    sources, closed = library.sources, threading.Event()

    def finish(_source: Source) -> None:
        dialog.accept()
        changed()

    def look(links: WebLinks, password: str) -> None:
        bridge.run(
            dialog,
            lambda: sources.preview_links(links, password, closed),
            dialog.show_preview,
            dialog.show_error,
        )

    def add(collection: str, links: WebLinks, password: str) -> None:
        bridge.run(
            dialog,
            lambda: sources.add_links(links, id_of(library, collection), password=password),
            finish,
            dialog.show_error,
        )

    dialog.look_requested.connect(look)
    dialog.submitted.connect(add)
    dialog.finished.connect(closed.set)
    open_once(dialog)


def _edit(
    bridge: Bridge, library: Library, page: QWidget, source: Source, changed: Callable[[], None]
) -> None:
    """Let the person change address and password; shows the progress or result of a round."""
    dialog = RemoteDialog(WEBDAV.name, MOST_FILES, [], page, source)
    sources, source_id = library.sources, source.source_id

    def finish(_: object) -> None:
        dialog.accept()
        changed()

    def save(_collection: str, links: WebLinks, password: str) -> None:
        bridge.run(
            dialog,
            lambda: sources.set_links(source_id, links, password=password),
            finish,
            dialog.show_error,
        )

    dialog.submitted.connect(save)
    report, stop = dialog.show_report, dialog.stop_requested
    follow_rounds(dialog, bridge, library, source_id, report, stop)
    open_once(dialog)
