"""The verbs about sources on servers: `source add`, `list` and `remove`."""

import argparse
from collections.abc import Sequence
from datetime import date
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import (
    add_verb,
    begin_reading,
    here,
    not_empty,
    open_services,
    prints,
    waiting_for,
)
from desktop_rag.core.domain import Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.features.remote_sources.remote_sources import MOST_FILES, remote_kinds


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `source`."""
    verbs = parser.add_subparsers(required=True)
    kinds = remote_kinds()
    text = (
        "Read what is at a place on a server, and keep it up to date. The password is asked for, or"
        " read from standard input, and kept in the keyring."
    )
    added = add_verb(verbs, "add", text, "Add a place on a server.")
    added.add_argument("kind", choices=[*kinds], help="the kind of server")
    text = "; ".join(f"{kind.name}: {kind.example or kind.address}" for kind in kinds.values())
    added.add_argument("address", nargs="?", default="", help=text)
    added.add_argument("--user", default="", help="whose password is asked for")
    text = "only this folder, project or collection of it; may be repeated"
    added.add_argument("--only", action="append", default=[], metavar="NAME", help=text)
    text = "nothing older than this day"
    added.add_argument("--since", type=_day, metavar="YYYY-MM-DD", help=text)
    added.add_argument("--collection", default="", help="add it to this collection")
    text = "look for changes again after so many hours, 0 for never"
    added.add_argument("--refresh", type=float, default=24.0, metavar="HOURS", help=text)
    text = "only say how much is there; adds nothing"
    added.add_argument("--preview", action="store_true", help=text)
    prints(added, _add, _lines)
    prints(add_verb(verbs, "list", "List the places on servers."), _list, _listed)
    added = add_verb(verbs, "remove", "Remove a place on a server from the library.")
    added.add_argument("address", type=not_empty, help="its address")
    prints(added, _remove, lambda row: [f"{row['address']} was removed."])


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no day such as 2024-05-31") from None


def _add(arguments: argparse.Namespace) -> dict[str, Any]:
    kind = remote_kinds()[arguments.kind]
    links = WebLinks(
        (arguments.address or kind.address,), MOST_FILES, max(0.0, arguments.refresh),
        remote=kind.name, user=arguments.user, chosen=tuple(arguments.only),
        since=arguments.since or "",
    )  # fmt: skip
    asked = f"{kind.secret} of {arguments.user or kind.words}: "
    password = here().typed(asked, is_secret=True) if kind.takes_secret(arguments.user) else ""
    with open_services() as services, waiting_for(services.library) as waiting:
        sources = services.library.sources
        preview = sources.preview_links(links, password, here().interrupted)
        if arguments.preview:
            return _preview_json(preview)
        name = arguments.collection
        collection_id = services.library.collections.find_or_add(name).collection_id if name else ""
        source = sources.add_links(links, collection_id, password=password)
        begin_reading(services)
        waiting.until_idle()
        return _preview_json(preview) | _row(services, source)


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [_row(services, source) for source in _remotes(services)]


def _remove(arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services:
        wanted = arguments.address.rstrip("/")
        for source in _remotes(services):
            row = _row(services, source)
            if row["address"].rstrip("/") == wanted:
                services.library.sources.remove(source.source_id)
                return row
    raise AppError(f"{arguments.address} is not in the library.", "See: desktop-rag source list")


def _remotes(services: app.Services) -> list[Source]:
    kinds = remote_kinds()
    return [source for source in services.library.sources.all() if source.kind in kinds]


def _row(services: app.Services, source: Source) -> dict[str, Any]:
    counts = services.library.documents.counts(source.source_id)
    report = services.library.sources.crawls().get(source.source_id)
    refused = report.refused if report else ()
    return {
        "kind": source.kind,
        "address": source.links.urls[0] if source.links else "",
        "user": source.links.user if source.links else "",
        "state": report.state.value if report else "waiting",
        "documents": counts.total,
        "searchable": counts.searchable,
        "not_read": [{"path": each.url, "reason": each.reason} for each in refused],
    }


def _preview_json(preview: FolderPreview) -> dict[str, Any]:
    return {
        "files": preview.files,
        "bytes": preview.size_bytes,
        "seconds": round(preview.fetch_seconds, 1),
        "is_complete": preview.is_complete,
        "left_out": {each.reason: each.files for each in preview.left_out},
    }


def _lines(row: dict[str, Any]) -> Sequence[str]:
    more = "" if row["is_complete"] else " and more"
    size, seconds = f"{row['bytes'] / 1e6:,.1f} MB", f"about {row['seconds']:,.0f} s"
    lines = [f"{row['files']:,} files{more}, {size}, {seconds}"]
    lines += [f"left out: {number:,} {reason}" for reason, number in row["left_out"].items()]
    return lines + (_listed([row]) if "address" in row else [])


def _listed(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines.append(
            f"{row['address']} ({row['kind']}): {row['state']}, {row['searchable']:,} of"
            f" {row['documents']:,} files searchable"
        )
        lines += [f"  {each['path']}: {each['reason']}" for each in row["not_read"]]
    return lines
