"""The state of each connection by the settings, links, collections and assistants."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.settings import EndpointSettings, HelperSettings, IndexSettings, Settings
from desktop_rag.core.store_settings import SharedLibrarySettings
from desktop_rag.models.connection_states import Connection, ConnectionState, Facts, connections

REMOTE = EndpointSettings("https://api.example.org/v1", "large")
LOCAL = EndpointSettings("http://localhost:11434/v1", "small")


def found(facts: Facts) -> dict[str, Connection]:
    return {connection.kind.kind_id: connection for connection in connections(facts)}


def leaving(facts: Facts) -> set[str]:
    return {name for name, connection in found(facts).items() if connection.leaves_this_computer}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_nothing_leaves_a_new_installation() -> None:
    states = {name: connection.state for name, connection in found(Facts()).items()}
    assert leaving(Facts()) == set()
    assert states["answers"] is ConnectionState.OFF
    assert states["web-pages"] is ConnectionState.OFF
    assert states["links"] is ConnectionState.ON_REQUEST
    assert states["telemetry"] is ConnectionState.NEVER


def test_an_endpoint_switches_on_what_is_sent_to_it() -> None:
    facts = Facts(Settings(endpoint=REMOTE))
    assert leaving(facts) == {"answers", "helper", "examination", "names"}
    assert found(facts)["answers"].addresses == (REMOTE.base_url,)
    assert found(facts)["names"].addresses == ("api.example.org",)


def test_an_endpoint_on_this_computer_is_on_and_leaves_nothing() -> None:
    facts = Facts(Settings(endpoint=LOCAL))
    assert found(facts)["answers"].state is ConnectionState.ON
    assert leaving(facts) == set()


def test_a_helper_elsewhere_is_named_by_itself() -> None:
    settings = Settings(
        endpoint=LOCAL, other_endpoints=(REMOTE,), helper=HelperSettings(REMOTE.base_url, "helping")
    )
    assert leaving(Facts(settings)) == {"helper", "examination", "names"}


def test_an_assistant_brings_its_endpoint_only_while_that_exists() -> None:
    assistant = Assistant("a", "Lawyer", base_url=REMOTE.base_url, model="large")
    known = Settings(endpoint=LOCAL, other_endpoints=(REMOTE,))
    assert "assistants" in leaving(Facts(known, assistants=[assistant]))
    unknown = Settings(endpoint=LOCAL)
    assert leaving(Facts(unknown, assistants=[assistant])) == set()


def test_an_embedding_endpoint_counts_from_every_place_it_is_set() -> None:
    spec = "https://vectors.example.org/v1#small"
    chosen = Settings(index=IndexSettings(model_folder=spec))
    collection = Collection("c", "Letters", embedder=spec)
    for facts in (Facts(chosen), Facts(loaded_model=spec), Facts(collections=[collection])):
        assert found(facts)["embeddings"].addresses == ("https://vectors.example.org/v1",)
        assert "embeddings" in leaving(facts)
    assert leaving(Facts(loaded_model="https://without-a-model.example.org")) == set()


def test_links_name_their_sites_and_wait_for_a_request_without_a_schedule() -> None:
    links = WebLinks(("https://ada:secret@example.org/a", "https://example.org/b"))
    source = Source("s", "c", Path("pages"), 0.0, links=links)
    facts = Facts(sources=[source])
    assert found(facts)["web-pages"].addresses == ("https://example.org",)
    assert leaving(facts) == {"web-pages", "names"}
    on_request = replace(source, links=replace(links, refresh_hours=0.0))
    state = found(Facts(sources=[on_request]))["web-pages"].state
    assert state is ConnectionState.ON_REQUEST


def test_a_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://ada:pa55@proxy.example.org:3128")
    facts = Facts(Settings(endpoint=REMOTE))
    assert found(facts)["proxy"].addresses == ("http://proxy.example.org:3128",)
    assert "pa55" not in str([c.to_json() for c in connections(facts)])
    assert found(Facts(Settings(endpoint=LOCAL)))["proxy"].state is ConnectionState.OFF


def test_a_shared_library_is_contacted_once_it_is_named() -> None:
    assert found(Facts())["shared-library"].addresses == ()
    shared = SharedLibrarySettings("db.example.org", 5433, "documents", "reader")
    connection = found(Facts(Settings(shared_library=shared)))["shared-library"]
    assert connection.state is ConnectionState.ON
    assert connection.addresses == ("postgresql://db.example.org:5433",)
