"""A library of web links, and a site for it."""

from collections.abc import Iterator

import pytest

from desktop_rag.core.paths import Home
from desktop_rag.features.web_pages.crawler import WebAccess
from tests.servers.crawled_room import LIMITS, Crawled
from tests.servers.web_server import WebServer
from tests.web_room import Build, Room, loopback_access


@pytest.fixture
def build(home: Home) -> Iterator[Build]:
    """Builds rooms over the home, once per simulated start, and closes them all."""
    built: list[Room] = []

    def make(access: WebAccess | None = None, now: float = 1000.0) -> Room:
        room = Room(home, access or loopback_access(), now)
        built.append(room)
        return room

    yield make
    for room in built:
        room.close()


@pytest.fixture
def room(build: Build) -> Room:
    """The library with its threads running."""
    made = build()
    made.start()
    return made


@pytest.fixture
def crawled(build: Build, site: WebServer) -> Crawled:
    room = build(WebAccess(LIMITS))
    room.start()
    return Crawled(room, site)
