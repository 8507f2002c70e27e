from collections.abc import Iterator

import pytest

from tests.servers.web_server import WebServer


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A web site, still empty."""
    with WebServer() as server:
        yield server
