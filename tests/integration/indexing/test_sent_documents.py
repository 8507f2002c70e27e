"""Documents that other programs send: kept by the app, and in step with the program."""

from collections.abc import Callable, Sequence

import pytest

from desktop_rag.app import Services
from desktop_rag.core.crawling import Sending, SentOutcome
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError

pytestmark = pytest.mark.slow

_WAIT_S = 30
LAMP = "# Lamp\n\nThe lamp is lit at dusk."


@pytest.fixture
def running(services: Services) -> Services:
    """A running library without documents."""
    services.library.start(watch=False)
    return services


def collection_of(services: Services) -> str:
    return services.library.collections.find_or_add("Wiki").collection_id


def send(services: Services, *sent: Sending) -> Sequence[SentOutcome]:
    """Send documents and wait until they are indexed; what became of each."""
    taken = services.library.sent.take(collection_of(services), "wiki", sent)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    return [each.outcome for each in taken]


def page(
    own_id: str, text: str = LAMP, *, title: str = "", language: str = "", url: str = ""
) -> Sending:
    return Sending(own_id, text.encode(), f"{own_id}.md", title, language, url)


def source_id_of(services: Services) -> str:
    source = services.library.sent.source(collection_of(services), "wiki")
    assert source
    return source.source_id


def test_a_document_has_the_title_language_and_address_its_program_states(
    running: Services,
) -> None:
    sent = page("a", title="About lamps", language="de", url="https://wiki.example/a")
    assert send(running, sent) == [SentOutcome.NEW]
    [passage] = running.chat.search("lamp dusk")
    assert (passage.title, passage.url) == ("About lamps", "https://wiki.example/a")
    [row] = running.library.documents.all()
    assert (row.state, row.language) == (DocumentState.SEARCHABLE, "de")


def test_a_document_without_a_title_is_called_by_its_name_and_not_by_its_file(
    running: Services,
) -> None:
    send(running, Sending("x", b"The ferry leaves at noon.", "ferry times.txt"))
    assert [passage.title for passage in running.chat.search("ferry")] == ["ferry times.txt"]


def test_only_what_changed_is_embedded_again(running: Services) -> None:
    paragraphs = [
        f"## Part {n}\n\n" + " ".join(f"Lamp {n} is lit at {at}." for at in range(100))
        for n in range(12)
    ]
    pages = [page(name, "\n\n".join(paragraphs).replace("Lamp", name)) for name in "ab"]
    send(running, *pages)
    indexing = running.library.indexing
    chunks = sum(d.chunk_count for d in running.library.documents.all())
    assert indexing.embedded_chunks == chunks > 20
    assert send(running, *pages) == [SentOutcome.SAME] * 2
    assert indexing.embedded_chunks == chunks
    changed = [*paragraphs[:-1], "## Part 11\n\nThe last lamp is broken."]
    outcomes = send(running, page("a", "\n\n".join(changed).replace("Lamp", "a")), pages[1])
    assert outcomes == [SentOutcome.CHANGED, SentOutcome.SAME]
    assert 1 <= indexing.embedded_chunks - chunks <= 3


def test_another_address_reads_nothing_again(running: Services) -> None:
    send(running, page("a", url="https://wiki.example/a"))
    [before] = running.library.documents.all()
    assert send(running, page("a", url="https://wiki.example/b")) == [SentOutcome.DESCRIBED]
    [after] = running.library.documents.all()
    assert after.url == "https://wiki.example/b"
    assert (after.document_id, after.indexed_at) == (before.document_id, before.indexed_at)


def test_a_round_removes_what_was_not_named_since_it_began(running: Services) -> None:
    send(running, page("a"), page("b", "Old news."))
    number = running.library.sent.begin_round(collection_of(running), "wiki")
    send(running, page("a"), page("c", "Fresh news."))
    assert running.library.sent.end_round(source_id_of(running), number) == ["b"]
    assert set(running.library.sent.of(source_id_of(running))) == {"a", "c"}
    assert not running.chat.search("old news", mode="lexical", limit=1)[0].text.startswith("Old")
    running.library.sent.begin_round(collection_of(running), "wiki")
    with pytest.raises(AppError):
        running.library.sent.end_round(source_id_of(running), number)


def test_sent_documents_survive_a_restart_and_a_lost_index(running: Services) -> None:
    send(running, page("a"), page("b", "The ferry leaves at noon."))
    before = {d.document_id for d in running.library.documents.all()}
    source_id = source_id_of(running)
    # As after a repair: the row is gone, the folder is not.
    running.engine.documents.apply_changes(source_id, [], {}, list(before))
    assert not running.library.documents.all()
    running.library.sources.rescan(source_id)
    assert running.library.indexing.wait_until_idle(_WAIT_S)
    assert {d.document_id for d in running.library.documents.all()} == before
    assert running.chat.search("ferry")[0].text == "The ferry leaves at noon."


def test_removing_the_source_deletes_what_was_sent(running: Services) -> None:
    send(running, page("a"))
    folder = running.home.sent / source_id_of(running)
    assert any(folder.glob("a-*.md"))
    running.library.sources.remove(source_id_of(running))
    assert not folder.exists()
    assert not running.library.documents.all()


def test_a_removed_document_is_gone_from_search_and_disk(running: Services) -> None:
    send(running, page("a"), page("b", "The ferry leaves at noon."))
    source_id = source_id_of(running)
    assert running.library.sent.remove(source_id, ["b", "never"]) == ["b"]
    assert [d.title for d in running.library.documents.all()] == ["Lamp"]
    assert not list((running.home.sent / source_id).glob("b-*"))


def test_what_was_taken_in_but_not_read_is_read_at_the_next_start(
    build_services: Callable[[], Services],
) -> None:
    services = build_services()
    # Not started, so nothing is read.
    services.library.sent.take(collection_of(services), "wiki", [page("a")])
    services.close()
    again = build_services()
    again.library.start(watch=False)
    assert again.library.indexing.wait_until_idle(_WAIT_S)
    assert again.chat.search("lamp dusk")[0].title == "Lamp"
    assert send(again, page("a")) == [SentOutcome.SAME]
