"""A collection that follows links on a server on loopback, which only its list of hosts opens."""

from desktop_rag.core.domain import Source, WebLinks
from desktop_rag.features.web_pages.crawler import WebLimits
from tests.servers.web_server import Served, WebServer
from tests.web_room import WORDS, Room

LIMITS = WebLimits(seconds=2.0, delay_s=0, page_bytes=1 << 20, busy_s=0.01)


class Crawled:
    """A room whose one collection may reach the server on loopback."""

    def __init__(self, room: Room, site: WebServer, hosts: tuple[str, ...] = ()) -> None:
        self.room, self.site = room, site
        collection = room.sources.add_collection("Intranet")
        self.collection_id = collection.collection_id
        own = f"127.0.0.1:{site.port}"
        room.sources.set_intranet_hosts(self.collection_id, hosts or (own,))

    def links(self, *targets: str, depth: int = 5, limit: int = 50, path: str = "") -> Source:
        urls = tuple(t if "://" in t else self.site.url(t) for t in targets)
        links = WebLinks(urls, limit, 0.0, depth, path)
        source = self.room.sources.add_links(links, self.room.pages, self.collection_id)
        self.room.links.request(source)
        return source

    def crawl(self, *targets: str, depth: int = 5, limit: int = 50, path: str = "") -> list[str]:
        self.links(*targets, depth=depth, limit=limit, path=path)
        self.room.settle()
        return self.read

    def again(self) -> list[str]:
        self.room.links.request(self.room.sources.sources()[0])
        self.room.settle()
        return self.read

    @property
    def read(self) -> list[str]:
        states = self.room.states(self.site)
        return sorted(target for target, state in states.items() if state is WORDS)

    @property
    def refused(self) -> dict[str, str]:
        """The reasons of the report, by target."""
        [report] = self.room.links.reports.values()
        return {r.url.removeprefix(self.site.url("")): r.reason for r in report.refused}


def page(site: WebServer, target: str, *links: str, head: str = "", **options: object) -> None:
    """Serve a page of its own words with these links."""
    hrefs = "".join(f'<li><a href="{link}">to {n}</a></li>' for n, link in enumerate(links))
    words = f"Words of the page {target}. The keeper of the light writes down the weather."
    body = f"<html><head><title>{target}</title>{head}</head><body><main><h1>{target}</h1>"
    site.pages[target] = Served(f"{body}<p>{words}</p><ul>{hrefs}</ul></main></body></html>",
                                **options)  # type: ignore[arg-type] # fmt: skip
