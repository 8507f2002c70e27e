"""An answer says that the search by meaning is not ready yet, for as long as that is so."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.question import Query, SearchScope
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.asking import ask
from tests.stored_rows import put

NOT_READY = "Search by meaning is not ready yet; answers get better when it is."
QUESTION = "When is the lamp of the lighthouse lit?"


def hints_of(services: Services) -> tuple[str, ...]:
    notes = ask(services, QUESTION).notes
    return notes.hints if notes else ()


@pytest.mark.everyday
def test_an_answer_says_so_until_all_files_have_vectors(services: Services) -> None:
    put(services.engine, "lamp.md", "The lamp of the lighthouse is lit at dusk by the keeper.")
    put(services.engine, "ferry.md", "The ferry leaves the northern pier at half past six.")
    assert hints_of(services) == (NOT_READY,)
    found = services.chat.look_up(QUESTION)
    assert found.notes is not None
    assert found.notes.hints == (NOT_READY,), "so do a search in a terminal, and a program's"


def test_what_a_question_is_about_by_its_words_is_compared_by_meaning_at_once(
    services: Services,
) -> None:
    put(services.engine, "rent.md", "The rent, the rent: a song about rent.")
    put(services.engine, "lease.md", "Each month the landlord receives 820 euros of rent from us.")
    query = Query("What does the rent cost us?")
    best = [
        services.retriever.search(query, mode=mode).passages[0].document_id
        for mode in ("lexical", "hybrid")
    ]
    assert best == ["rent.md", "lease.md"]


@pytest.mark.slow
def test_only_what_may_be_found_counts(services: Services) -> None:
    put(services.engine, "lamp.md", "The lamp is lit at dusk.", collection="Light")
    put(services.engine, "ferry.md", "The ferry leaves at six.", collection="Sea")
    [light] = [c for c in services.library.collections.all() if c.name == "Light"]
    readiness = services.library.readiness
    alone = Scope(collection_ids=(light.collection_id,))
    for scope in (EVERYWHERE, alone, Scope(document_ids=("ferry.md",))):
        assert readiness.missing(scope, "") == (NOT_READY,)
    [nothing] = readiness.missing(Scope(document_ids=("gone.md",)), "") or ("",)
    assert nothing != NOT_READY
    assert not readiness.missing(replace(EVERYWHERE, attached=("chat",)), "")


@pytest.mark.slow
def test_it_says_nothing_once_all_is_ready(services: Services, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    services.library.sources.add(papers)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)
    assert hints_of(services) == ()
    assert services.retriever.not_ready(SearchScope(), "Wann brennt die Lampe?") == ()
