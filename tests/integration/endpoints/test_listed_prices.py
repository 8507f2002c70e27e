"""Prices that an endpoint lists count where the person entered none."""

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.core.domain import ListedModel
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.ports import ChatTurn
from desktop_rag.models.system_keyring import KeyStore
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer

LISTED = ListedModel("test-model", 8192, 1_000_000.0, 2_000_000.0)


def spent(endpoint: EndpointSettings, book: ProfileBook) -> float:
    """The cost of one question to this endpoint."""
    models = ChatModels(KeyStore(MemoryKeyring), Settings(endpoint=endpoint), book)
    model = models.main()
    assert model is not None
    list(model.stream([ChatTurn("user", "When is it lit?")], Event()))
    models.close()
    return models.spent_today(endpoint.base_url)


@pytest.mark.parametrize(
    ("listed", "is_priced"),
    [
        (LISTED, True),
        (replace(LISTED, price_in=0.0, price_out=0.0), False),
        (replace(LISTED, price_in=None, price_out=None), False),
        (replace(LISTED, name="another"), False),
    ],
)
def test_listed_prices_count(listed: ListedModel, is_priced: bool) -> None:
    book = ProfileBook()
    with ChatServer("At dusk.") as server:
        book.put_offer(server.base_url, (listed,))
        assert (spent(server.endpoint(), book) > 1) is is_priced


def test_entered_prices_go_before_listed_ones() -> None:
    book = ProfileBook()
    with ChatServer("At dusk.") as server:
        book.put_offer(server.base_url, (LISTED,))
        entered = replace(server.endpoint(), price_in=0.000_001)
        assert 0 < spent(entered, book) < 1


def test_lists_are_kept_and_those_of_earlier_versions_read(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    free = ListedModel("free", 0, 0.0, 0.0)
    ProfileBook(path).put_offer("http://localhost:1/v1", (LISTED, free))
    assert ProfileBook(path).offer("http://localhost:1/v1") == (LISTED, free)
    path.write_text('{"offered": {"http://localhost:1/v1": ["a", {"name": "b"}, 5]}}')
    names = [model.name for model in ProfileBook(path).offer("http://localhost:1/v1")]
    assert names == ["a", "b", "5"]
