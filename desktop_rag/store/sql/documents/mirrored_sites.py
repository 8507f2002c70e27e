"""The addresses of files whose folders mirror a site. Inside a transaction or on an open cursor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.crawling.site_address import site_address
from desktop_rag.core.domain import Document
from desktop_rag.store.sql.sql_engine import Connection

# The folder and the base address of each source that has one, by the id of the source.
Sites = Mapping[str, tuple[Path, str]]


def read_sites(con: Connection) -> Sites:
    """The folders that mirror sites."""
    rows = con.execute(
        "SELECT source_id, path, base_address FROM sources WHERE base_address <> ''"
    ).fetchall()
    return {source_id: (Path(path), base) for source_id, path, base in rows}


def address_of(sites: Sites, source_id: str, path: str) -> str:
    """The address of a file on the site that its folder mirrors; "" if it mirrors none."""
    site = sites.get(source_id)
    return site_address(site[1], site[0], Path(path)) if site else ""


def with_sites(documents: Sequence[Document], sites: Sites) -> list[Document]:
    """The documents with their addresses on the sites that their folders mirror."""
    if not sites:
        return list(documents)
    return [
        replace(d, site_url=address_of(sites, d.source_id, str(d.path)))
        if d.source_id in sites
        else d
        for d in documents
    ]
