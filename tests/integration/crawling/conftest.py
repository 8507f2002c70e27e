import pytest

from desktop_rag.ingest.web.crawler import WebAccess
from tests.servers.crawled_room import LIMITS, Crawled
from tests.servers.web_server import WebServer
from tests.web_room import Build


@pytest.fixture
def crawled(build: Build, site: WebServer) -> Crawled:
    room = build(WebAccess(LIMITS))
    room.start()
    return Crawled(room, site)
