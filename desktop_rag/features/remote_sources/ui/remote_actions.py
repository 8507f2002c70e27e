"""Adds places of servers, and changes how they are read. Qt thread."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.language.translation import translated
from desktop_rag.features.remote_sources.remote import RemoteKind
from desktop_rag.features.remote_sources.remote_sources import MOST_FILES
from desktop_rag.features.remote_sources.ui.remote_dialog import RemoteDialog
from desktop_rag.features.web_pages.ui.link_actions import follow_rounds
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.source_actions import FurtherKind, id_of
from desktop_rag.ui.widgets.forms import open_once


def kind_in_window(kind: RemoteKind, bridge: Bridge, library: Library) -> FurtherKind:
    """A kind of remote as a kind of source of the library page."""
    add, edit = partial(_add, kind, bridge, library), partial(_edit, kind, bridge, library)
    return FurtherKind(kind.name, translated(kind.words), add, edit, is_in_menu=True)


def _add(
    kind: RemoteKind, bridge: Bridge, library: Library, page: QWidget,
    collections: Sequence[Collection], changed: Callable[[], None],
) -> None:  # fmt: skip
    """Let the person enter a place, see what is there, and add it."""
    dialog = RemoteDialog(kind, MOST_FILES, collections, page)
    sources, closed = library.sources, threading.Event()

    def finish(_source: Source) -> None:
        dialog.accept()
        changed()

    def look(links: WebLinks, password: str) -> None:
        bridge.run(
            dialog,
            lambda: sources.preview_links(links, password, closed),
            lambda preview: dialog.show_preview(preview, links),
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
    dialog.begin()


def _edit(
    kind: RemoteKind, bridge: Bridge, library: Library, page: QWidget, source: Source,
    changed: Callable[[], None],
) -> None:  # fmt: skip
    """Let the person change address and password; shows the progress or result of a round."""
    dialog = RemoteDialog(kind, MOST_FILES, [], page, source)
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
