"""Tries addresses before they are added, so that a wrong one is told at once. Worker thread."""

import threading
from collections.abc import Sequence

from desktop_rag.ingest.web.intranet_hosts import NO_HOSTS, IntranetHosts
from desktop_rag.ingest.web.page_address import parse_links
from desktop_rag.ingest.web.refusal import PageRefused
from desktop_rag.ingest.web.web_access import WebAccess

# Each address takes a request or two, and up to the time limit of a page.
MOST_CHECKED = 5


def refused_links(
    urls: Sequence[str],
    web: WebAccess,
    cancel: threading.Event,
    intranet: IntranetHosts = NO_HOSTS,
) -> list[tuple[str, str]]:
    """The addresses among the first MOST_CHECKED that can't be fetched, each with its reason.

    Raises:
        AppError: when a text is no address.
        Cancelled: soon after `cancel` was set.
    """
    refused: list[tuple[str, str]] = []
    with web.crawler(cancel, intranet) as crawler:
        for url in parse_links("\n".join(urls))[:MOST_CHECKED]:
            try:
                crawler.fetch(url)
            except PageRefused as refusal:
                refused.append((url, refusal.reason))
    return refused
