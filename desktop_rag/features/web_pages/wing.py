"""The hooks of web pages: links as sources, with sitemaps, feeds and links that are followed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop_rag.ingest.sources.source_kinds import LinkKind, MakeKind, SourceKit
    from desktop_rag.ui.library.source_actions import FurtherKind
    from desktop_rag.window_app import WindowApp


def sources() -> "Mapping[str, MakeKind]":
    """What fetches pages, imported when the first link is added."""

    def make(kit: "SourceKit") -> "LinkKind":
        from desktop_rag.features.web_pages.link_refresher import LinkRefresher

        return LinkRefresher(kit)

    return {"links": make}


def join_window(app: "WindowApp") -> None:
    """“Add web links” on the page of the library, and the options of those that are there."""

    def links() -> "FurtherKind":
        from desktop_rag.features.web_pages.ui.link_actions import links_in_window

        return links_in_window(app.bridge, app.services.library)

    app.window.pages.add_source_kind(links)
