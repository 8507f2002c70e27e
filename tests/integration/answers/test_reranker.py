"""A reranker that the endpoint lists orders the passages before a model reads them."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import MessageState
from desktop_rag.core.settings import Room, Settings
from tests.asking import ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

QUESTION = "When is the lamp lit?"
_FILES = 40

pytestmark = pytest.mark.slow


class RankingServer(ChatServer):
    """Turns the order around; `found` is what it answers in place of an order."""

    found: object = None

    def rerank(self, texts: list[str], /) -> object:
        if self.found is not None:
            return self.found
        return {"results": [{"index": n, "relevance_score": n} for n in range(len(texts))]}

    @property
    def rankings(self) -> int:
        """The number of requests for an order."""
        return sum(request.path.endswith("/rerank") for request in self.requests)


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    filler = "The lamp of ward {n} is lit by its keeper and cleaned on the day after. " * 40
    texts = {f"ward{n}.md": f"# Ward {n}\n\n{filler.format(n=n)}" for n in range(_FILES)}
    return open_indexed({**texts, "ferry.md": "# Ferry\n\nThe ferry tells when the lamp is lit."})


@pytest.fixture
def server(indexed: Services) -> Iterator[RankingServer]:
    with RankingServer("At dusk [1].") as running:
        running.models = ("test-model", "bge-reranker-v2-m3")
        settings = replace(Settings(), endpoint=running.endpoint())
        retrieval = replace(settings.retrieval, room=Room.FAST)
        indexed.chat.apply(replace(settings, retrieval=retrieval))
        indexed.chat.models.test_endpoint(running.endpoint())
        running.requests.clear()
        yield running


def first_source(server: ChatServer) -> str:
    """The first source of the last prompt, where the best document stands."""
    prompt = server.chats[-1]["messages"][-1]["content"]
    found = re.search(r"<source-(\w+)>\n(.*?)</source-\1>", prompt, re.DOTALL)
    assert found
    return found[2]


def test_the_best_by_the_reranker_is_sent_first_however_far_down_it_was(
    indexed: Services, server: RankingServer
) -> None:
    ask(indexed, QUESTION)
    [ranking] = [request.body for request in server.requests if request.path.endswith("/rerank")]
    assert ranking["model"] == "bge-reranker-v2-m3"
    assert ranking["query"] == QUESTION
    assert server.rankings == 1
    last = ranking["documents"][-1].strip()
    assert last in first_source(server)
    server.models = ("test-model",)
    indexed.chat.models.test_endpoint(server.endpoint())
    ask(indexed, QUESTION)
    assert last not in first_source(server)


@pytest.mark.parametrize(
    "found",
    [
        {"error": {"message": "no such model"}},
        {"results": []},
        {"results": [{"index": 999, "relevance_score": 1}]},
        {"results": [{"index": 0}]},
        [1, 2],
    ],
)
def test_without_a_usable_order_the_question_is_answered_and_none_is_asked_for_again(
    indexed: Services, server: RankingServer, found: object
) -> None:
    server.found = found
    for _ in range(2):
        assert ask(indexed, QUESTION).state is MessageState.DONE
    assert server.rankings == 1


def test_an_endpoint_that_lists_no_reranker_is_not_asked_for_an_order(
    indexed: Services, server: RankingServer
) -> None:
    server.models = ("test-model",)
    indexed.chat.models.test_endpoint(server.endpoint())
    ask(indexed, QUESTION)
    assert server.rankings == 0
