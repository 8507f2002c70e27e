"""A library is copied into another one, whole or in part, and arrives as it was."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.backup.library_copy import Copied, OpenHome, copy_library
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import open_engine
from tests.engines import UNTESTED, postgres_in
from tests.stored_rows import add, document, found, indexed, put, ranking, wait_again
from tests.unit.backup.filled_library import Place, fill, shown

DIMENSIONS = 8
OpenPlace = Callable[[str], Place]


@pytest.fixture
def open_place(tmp_path: Path) -> Iterator[OpenPlace]:
    with ExitStack() as stack:

        def opened(name: str) -> Place:
            home = Home(tmp_path / name)
            home.create()
            engine = open_engine(home, Settings())
            stack.callback(engine.close)
            return Place(home, engine, Backups(home, engine.precious, engine.sources.collections))

        yield opened


@pytest.fixture
def on_server(tmp_path: Path) -> Iterator[Place]:
    """An empty library on a PostgreSQL server."""
    if reason := UNTESTED.get("postgres"):
        pytest.skip(reason)
    home = Home(tmp_path / "on_server")
    home.create()
    with closing(postgres_in(home.root)) as engine:
        yield Place(home, engine, Backups(home, engine.precious, engine.sources.collections))


@pytest.fixture
def full(open_place: OpenPlace) -> Place:
    """One of everything, three documents of two collections, vectors of two models."""
    place = open_place("full")
    fill(place)
    engine = place.engine
    put(engine, "lamp.md", "the lamp is lit at dusk", "it burns oil", collection="Sea")
    put(engine, "boat.md", "the boat sails", collection="Land")
    mail = replace(document("mail.eml"), content_hash="m")
    add(engine, mail)
    row = replace(engine.documents.get(["mail.eml"])[0], state=DocumentState.WAITING)
    inner = indexed(replace(row, document_id="inner", part="attached.txt"), "a violin")
    engine.documents.settle([replace(indexed(row, "a letter"), parts=(inner,))])
    for number, name in enumerate(("english", "multilingual")):
        give_vectors(engine, name, number)
    sea = next(c for c in engine.sources.collections() if c.name == "Sea")
    [english, _] = engine.models.stored()
    engine.models.answer(english.model_id, [sea.collection_id])
    return place


def give_vectors(engine: Engine, model: str, seed: int) -> None:
    vectors = engine.models.vectors(model, DIMENSIONS, f"folder of {model}")
    rows = engine.chunks.without_vectors(vectors.model_id, 100)
    made = np.random.default_rng(seed).standard_normal((len(rows), DIMENSIONS)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    vectors.add([row[0] for row in rows], made)
    engine.chunks.finish_documents(vectors.model_id)
    some = engine.chunks.without_windows(vectors.model_id, 2)
    vectors.add_windows([key for key, _ in some], [made[:2], np.empty((0, DIMENSIONS), np.float32)])


def copied(here: Place, there: Place, collection: str = "", cancel: Event | None = None) -> Copied:
    return copy_library(
        OpenHome(here.home, here.engine),
        OpenHome(there.home, there.engine),
        collection=collection,
        tell=lambda _: None,
        cancel=cancel,
    )


def states(engine: Engine) -> dict[str, DocumentState]:
    return {d.document_id: d.state for d in engine.documents.documents()}


def test_everything_is_there_afterwards(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    done = copied(full, there)
    assert (done.documents, done.passages, done.vectors) == (3, 5, 10)
    assert shown(there) == shown(full)
    assert states(there.engine) == states(full.engine)
    assert found(there.engine, "dusk") == ["the lamp is lit at dusk"]
    assert found(there.engine, "violin") == ["a violin"]
    assert [m.name for m in there.engine.models.stored()] == ["english", "multilingual"]
    assert there.engine.models.answering() == full.engine.models.answering()
    for model in full.engine.models.stored():
        vectors = there.engine.models.vectors(model.name, model.dimensions)
        assert vectors.window_counts() == (5, 3)
    assert there.engine.inspection.discrepancies(lambda: True) == []


def test_the_same_passages_are_near(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    copied(full, there)
    query = np.eye(DIMENSIONS, dtype=np.float32)[0]

    def near(engine: Engine) -> list[str]:
        [english, _] = engine.models.stored()
        engine.models.vectors(english.name, english.dimensions)
        scores = dict(ranking(engine.models.search(english.model_id).nearest(query, 5)))
        return [p.text for p in engine.lexical.passages(scores)]

    assert near(there.engine) == near(full.engine)


def test_back_again_it_is_the_same_library(full: Place, open_place: OpenPlace) -> None:
    there, back = open_place("there"), open_place("back")
    copied(full, there)
    copied(there, back)
    assert shown(back) == shown(full)
    assert states(back.engine) == states(full.engine)
    assert found(back.engine, "dusk") == found(full.engine, "dusk")


def test_to_a_server_and_back_it_is_the_same_library(
    full: Place, on_server: Place, open_place: OpenPlace
) -> None:
    done = copied(full, on_server)
    assert (done.documents, done.passages, done.vectors) == (3, 5, 10)
    assert states(on_server.engine) == states(full.engine)
    assert found(on_server.engine, "dusk") == ["the lamp is lit at dusk"]
    assert copied(full, on_server).added == {}
    back = open_place("back")
    copied(on_server, back)
    assert shown(back) == shown(full)
    assert states(back.engine) == states(full.engine)
    assert found(back.engine, "violin") == ["a violin"]


def test_a_second_copy_changes_nothing(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    copied(full, there)
    before = there.engine.precious.change_number(), there.engine.documents.changes_since(0)
    again = copied(full, there)
    assert (again.added, again.documents) == ({}, 3)
    assert (
        there.engine.precious.change_number(),
        there.engine.documents.changes_since(0),
    ) == before


def test_it_goes_on_where_it_was_interrupted(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        copied(full, there, cancel=stop)
    assert found(there.engine, "dusk") == []
    # A crash between the two steps of a batch leaves a row that waits.
    row = full.engine.documents.get(["lamp.md"])[0]
    waiting = replace(row, state=DocumentState.WAITING)
    there.engine.documents.apply_changes(row.source_id, [waiting], {}, [])
    assert copied(full, there).documents == 3
    assert states(there.engine) == states(full.engine)


def test_what_changed_since_is_copied_anew(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    copied(full, there)
    wait_again(full.engine, "lamp.md")
    [row] = full.engine.documents.get(["lamp.md"])
    full.engine.documents.settle([indexed(row, "the lamp is blue")])
    copied(full, there)
    assert found(there.engine, "blue") == ["the lamp is blue"]
    assert found(there.engine, "dusk") == []


@pytest.mark.everyday
def test_only_a_collection_with_its_chats(full: Place, open_place: OpenPlace) -> None:
    there = open_place("there")
    done = copied(full, there, "sea")
    assert [c.name for c in there.engine.sources.collections()] == ["Sea"]
    assert done.documents == 1
    assert found(there.engine, "dusk") == ["the lamp is lit at dusk"]
    assert found(there.engine, "boat") == []
    assert {c.title for c in there.engine.conversations.all()} == {"Lamps — “sea”", "A copy"}


def test_a_collection_that_is_unknown_is_refused(full: Place, open_place: OpenPlace) -> None:
    with pytest.raises(AppError, match="no collection “Sky”"):
        copied(full, open_place("there"), "Sky")


def test_the_hosts_of_a_collection_come_along(full: Place, open_place: OpenPlace) -> None:
    sea = next(c for c in full.engine.sources.collections() if c.name == "Sea")
    full.engine.sources.set_intranet_hosts(sea.collection_id, ["wiki.example"])
    there = open_place("there")
    copied(full, there)
    assert there.engine.sources.collections() == full.engine.sources.collections()


def test_fetched_pages_lie_in_the_other_home(full: Place, open_place: OpenPlace) -> None:
    [links] = [s for s in full.engine.sources.sources() if s.links]
    page = links.path / "page.html"
    page.parent.mkdir(parents=True)
    page.write_text("a page")
    row = replace(document("page", links.source_id), path=page, url="https://example.com/a")
    add(full.engine, row)
    full.engine.documents.settle([indexed(row, "words of a page")])
    there = open_place("there")
    copied(full, there)
    [moved] = there.engine.documents.get(["page"])
    assert moved.path == there.home.pages / links.source_id / "page.html"
    assert moved.path.read_text() == "a page"


def test_a_folder_that_is_there_already_keeps_its_documents(
    full: Place, open_place: OpenPlace
) -> None:
    there = open_place("there")
    [row] = full.engine.documents.get(["lamp.md"])
    source = next(s for s in full.engine.sources.sources() if s.source_id == row.source_id)
    sea = there.engine.sources.add_collection("SEA")
    own = there.engine.sources.add_source(source.path, sea.collection_id)
    mine = replace(document("mine", own.source_id), path=row.path)
    add(there.engine, mine)
    there.engine.documents.settle([indexed(mine, "my own drum")])
    assert copied(full, there).documents == 2
    assert found(there.engine, "lamp") == []
    assert found(there.engine, "drum") == ["my own drum"]


def test_what_did_not_arrive_is_told(
    full: Place, open_place: OpenPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that loses a passage, as a damaged disk would, is not called the same."""
    there = open_place("there")
    settle = there.engine.documents.settle

    def lossy(outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        return settle([replace(o, text=o.text[:-1]) for o in outcomes])

    monkeypatch.setattr(there.engine.documents, "settle", lossy)
    with pytest.raises(AppError, match="not in the other library as they are here"):
        copied(full, there)
