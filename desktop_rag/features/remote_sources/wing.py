"""The hooks of remote sources: files of servers, read as those of a folder are."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop_rag.features.remote_sources.remote import RemoteKind
    from desktop_rag.ingest.sources.source_kinds import MakeKind
    from desktop_rag.store.contract.precious import Kept
    from desktop_rag.ui.library.source_actions import FurtherKind
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """What adds places on servers, and lists and removes them."""
    text = "Add, list and remove sources on servers, such as cloud folders."
    return Verbs({"source": ("cli.source_verbs:add_sources", text)})


def kept() -> "Kept":
    """The journal, which can be made again: backups leave it out."""
    from desktop_rag.store.contract.precious import BackupRules, Kept

    return Kept({}, BackupRules, tables=Path(__file__).with_name("schema.sql"))


def sources() -> "Mapping[str, MakeKind]":
    """What fetches from each kind of remote."""
    from desktop_rag.features.remote_sources.remote_sources import RemoteSources, remote_kinds

    return {name: partial(RemoteSources, remote=kind) for name, kind in remote_kinds().items()}


def join_window(app: "WindowApp") -> None:
    """“Add from…” on the page of the library, and the options of sources that are there."""
    from desktop_rag.features.remote_sources.remote_sources import remote_kinds

    def in_window(kind: "RemoteKind") -> "FurtherKind":
        from desktop_rag.features.remote_sources.ui.remote_actions import kind_in_window

        return kind_in_window(kind, app.bridge, app.services.library)

    for kind in remote_kinds().values():
        app.window.pages.add_source_kind(partial(in_window, kind))
