"""The embedder for endpoints, against a real server on this computer."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.models.embedding.remote_embedder import RemoteEmbedder, endpoint_of, is_address
from desktop_rag.models.ports import EmbedderFaultError
from tests.servers.embedding_server import EmbeddingServer

Body = dict[str, object]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture
def embedder(server: EmbeddingServer) -> Iterator[RemoteEmbedder]:
    made = RemoteEmbedder(endpoint_of(server.address), lambda _: "")
    yield made
    made.close()


@pytest.mark.parametrize("is_base64", [False, True])
def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(
    server: EmbeddingServer, embedder: RemoteEmbedder, is_base64: bool
) -> None:
    server.is_base64 = is_base64
    texts = ["the lamp", "the harbour", "lamp and harbour"]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (3, 32) == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    wanted = np.stack([server.vector(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, wanted, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("the lamp"), vectors[0], atol=1e-6)


def test_the_name_tells_model_and_host(server: EmbeddingServer, embedder: RemoteEmbedder) -> None:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert embedder.name == f"tiny-embed@{host}"
    assert server.requests == []


def test_the_length_of_vectors_is_asked_for_once(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    assert embedder.dimensions == embedder.dimensions == 32
    assert embedder.embed_passages([]).shape == (0, 32)
    assert len(server.requests) == 1


def test_many_texts_go_in_several_requests_and_none_of_them_is_empty(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    assert embedder.embed_passages([f"text {n}" for n in range(130)]).shape == (130, 32)
    assert [len(body["input"]) for body in server.chats] == [64, 64, 2]
    assert embedder.embed_passages([" ", ""]).shape == (2, 32)
    assert all(text.strip() for text in server.chats[-1]["input"])


def _mean(server: EmbeddingServer, parts: Sequence[str]) -> NDArray[np.float32]:
    """The expected vector of a text in these parts: their mean weighted by length, normalised."""
    vectors = np.stack([server.vector(part) for part in parts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = np.asarray([len(part) for part in parts], np.float32) @ vectors
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("word", ["lamp{} ", "灯{}"])
def test_a_long_text_is_sent_in_parts_of_which_it_gets_the_mean(
    server: EmbeddingServer, embedder: RemoteEmbedder, word: str
) -> None:
    long = "".join(word.format(n) for n in range(800)) + "harbour"
    short, found = embedder.embed_passages(["lamp", long])
    first, *parts = server.embedded
    assert (first, "".join(parts)) == ("lamp", long)
    assert len(parts) > 1
    assert max(map(len, parts)) <= 3 * embedder.max_tokens
    assert all(part.endswith((" ", "harbour")) for part in parts) or " " not in long
    np.testing.assert_allclose(found, _mean(server, parts), atol=1e-6)
    np.testing.assert_allclose(short, _mean(server, ["lamp"]), atol=1e-6)


def test_parts_that_are_too_long_for_the_server_are_halved_and_nothing_is_lost(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.longest_chars = 500
    long = "".join(f"漢字{n} " for n in range(400))
    short, found = embedder.embed_passages(["lamp", long])
    first, *parts = server.embedded
    assert (first, "".join(parts)) == ("lamp", long)
    assert max(map(len, parts)) <= 384
    np.testing.assert_allclose(found, _mean(server, parts), atol=1e-6)
    np.testing.assert_allclose(short, _mean(server, ["lamp"]), atol=1e-6)
    assert embedder.embed_query("lamp").shape == (32,)


def test_a_server_that_finds_everything_too_long_is_a_clear_error(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.longest_chars = 5
    with pytest.raises(EmbedderFaultError, match="too long for the embedding model"):
        embedder.embed_passages(["漢字 " * 1000])
    # It answers again: the next question reaches it.
    assert embedder.embed_query("lamp").shape == (32,)


@pytest.mark.slow
def test_a_text_without_end_goes_in_requests_of_bounded_size(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    assert embedder.embed_passages(["word " * 50_000]).shape == (1, 32)
    assert max(len(body["input"]) for body in server.chats) == 64
    assert "".join(server.embedded) == "word " * 50_000


def test_a_busy_server_is_asked_again_after_the_time_it_names(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.mode, server.status = "status", 429
    server.headers = {"Retry-After": "0"}
    server.misbehaves_times = 2
    assert embedder.embed_passages(["lamp"]).shape == (1, 32)
    assert len(server.requests) == 3


def test_a_server_that_wants_a_long_rest_is_left_alone(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.mode, server.status = "status", 429
    server.headers = {"Retry-After": "120"}
    with pytest.raises(EmbedderFaultError, match="limit of requests") as caught:
        embedder.embed_passages(["lamp"])
    assert caught.value.wait_s == 120
    with pytest.raises(EmbedderFaultError, match="limit of requests"):
        embedder.embed_query("lamp")
    assert len(server.requests) == 1


def test_questions_do_not_wait_for_a_server_that_was_away_just_now(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.mode = "close"
    for _ in range(3):
        with pytest.raises(EmbedderFaultError, match="closed the connection"):
            embedder.embed_query("lamp")
    assert len(server.requests) == 1
    server.mode = "answer"
    embedder.embed_passages(["lamp"])
    assert embedder.embed_query("lamp").shape == (32,)


def _with_vector(vector: object) -> Callable[[list[str]], object]:
    return lambda texts: {"data": [{"index": n, "embedding": vector} for n in range(len(texts))]}


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        (_with_vector([0.0, 0.0]), "gave a vector that is none"),
        (_with_vector([math.nan, 1.0]), "gave a vector that is none"),
        (_with_vector([]), "could not be read"),
        (_with_vector([[1.0]]), "could not be read"),
        (_with_vector("?"), "could not be read"),
        (_with_vector(None), "could not be read"),
        (_with_vector(["a"]), "could not be read"),
        (_with_vector([10**400]), "could not be read"),
        (_with_vector([1.0] * 20_000), "could not be read"),
        (lambda _: {"data": [{"index": math.inf, "embedding": [1.0]}]}, "could not be read"),
        (lambda _: {"data": [{"embedding": [1.0]}] * 5}, "could not be read"),
        (lambda _: {"data": [{"index": 7, "embedding": [1.0]}]}, "could not be read"),
        (lambda _: [1.0], "could not be read"),
        (lambda _: {"error": {"message": "Model not loaded"}}, "does not know the model"),
    ],
)
def test_what_is_no_vector_is_refused(
    server: EmbeddingServer,
    embedder: RemoteEmbedder,
    answer: Callable[[list[str]], object],
    title: str,
) -> None:
    server.embed = answer
    with pytest.raises(EmbedderFaultError, match=title):
        embedder.embed_passages(["lamp"])


def test_vectors_of_another_length_are_refused(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    embedder.embed_passages(["lamp"])
    server.dimensions = 64
    with pytest.raises(EmbedderFaultError, match="64 numbers, not 32"):
        embedder.embed_passages(["lamp"])


def test_the_key_is_sent_and_never_told(server: EmbeddingServer) -> None:
    server.wanted_key = "sk-right"
    server.is_echoing_key = True
    asked: list[str] = []
    wrong = RemoteEmbedder(endpoint_of(server.address), lambda url: asked.append(url) or "sk-wrong")
    with pytest.raises(EmbedderFaultError, match="key was not accepted") as caught:
        wrong.embed_passages(["lamp"])
    wrong.close()
    assert "sk-wrong" not in str(caught.value)
    assert set(asked) == {server.base_url}
    right = RemoteEmbedder(endpoint_of(server.address), lambda _: "sk-right")
    assert right.dimensions == 32
    right.close()


@pytest.mark.parametrize("first", ["", "sk-old"])
def test_a_key_that_is_stored_later_is_used_from_the_next_request_on(
    server: EmbeddingServer, first: str
) -> None:
    server.wanted_key = "sk-right"
    keys = {server.base_url: first}
    embedder = RemoteEmbedder(endpoint_of(server.address), lambda url: keys[url])
    with pytest.raises(EmbedderFaultError, match=r"requires a key|key was not accepted"):
        embedder.embed_query("lamp")
    keys[server.base_url] = "sk-right"
    assert embedder.embed_query("lamp").shape == (32,)
    assert embedder.embed_passages(["lamp"]).shape == (1, 32)
    embedder.close()
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {first or 'none'}", "Bearer sk-right", "Bearer sk-right"]


def test_a_key_that_was_replaced_by_another_is_no_fault(server: EmbeddingServer) -> None:
    server.wanted_key = "sk-1"
    keys = {server.base_url: "sk-1"}
    embedder = RemoteEmbedder(endpoint_of(server.address), lambda url: keys[url])
    assert embedder.embed_passages(["lamp"]).shape == (1, 32)
    keys[server.base_url] = server.wanted_key = "sk-2"
    assert embedder.embed_passages(["lamp"]).shape == (1, 32)
    embedder.close()


def test_closing_ends_a_request_under_way(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.mode = "silence"
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(embedder.embed_passages, ["lamp"])
        assert server.has_asked.wait(5)
        embedder.close()
        with pytest.raises(Cancelled):
            asked.result(5)
    with pytest.raises(Cancelled):
        embedder.embed_passages(["lamp"])


def test_an_address_is_told_from_a_folder_and_must_name_a_model() -> None:
    assert is_address("http://localhost:11434/v1#nomic-embed-text")
    assert not is_address("C:/models/e5")
    endpoint = endpoint_of("https://Host.example/v1/embeddings#BAAI/bge-m3")
    assert (endpoint.base_url, endpoint.model) == ("https://host.example/v1", "BAAI/bge-m3")
    with pytest.raises(AppError, match="does not name a model"):
        endpoint_of("https://host.example/v1")
