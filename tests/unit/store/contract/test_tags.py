"""Tags that a person gives to files."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import MOST_TAGS, Document, DocumentState, TagCount
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from tests.stored_rows import add, add_source, document, indexed, put, ranked, remove

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(engine: Engine) -> Engine:
    for name in ("roof", "oven", "boat"):
        put(engine, name, f"lamp {name}")
    return engine


def given(engine: Engine) -> dict[str, tuple[str, ...]]:
    return {path.name: tags for path, tags in engine.tags.given().items()}


def found(engine: Engine, written: str) -> set[str]:
    scope = Scope(filters=parse_query(f"lamp {written}").filters)
    return {text.removeprefix("lamp ") for text in ranked(engine, [("lamp",)], scope=scope)}


def move(engine: Engine, **paths: str) -> None:
    """What a scan stores when files were moved, in one transaction."""
    rows = engine.documents.get(list(paths))
    changes = {
        name: lambda d, to=to: replace(d, path=Path("/docs") / to) for name, to in paths.items()
    }
    engine.documents.apply_changes(rows[0].source_id, [], changes, [])


def test_tags_are_added_to_several_files_and_removed(filled: Engine) -> None:
    assert filled.tags.change(["roof", "oven"], ["House", "2024"], []) == 2
    assert filled.tags.change(["roof"], ["slates"], ["house"]) == 1
    assert given(filled) == {"oven": ("House", "2024"), "roof": ("2024", "slates")}
    assert filled.tags.change(["oven"], ["HOUSE"], ["nothing"]) == 0
    assert filled.tags.change(["oven", "unknown"], [], ["house", "2024"]) == 1
    assert given(filled) == {"roof": ("2024", "slates")}


def test_the_tags_of_some_files_are_read_alone(filled: Engine) -> None:
    filled.tags.change(["roof", "oven"], ["house"], [])
    roof, boat = Path("/docs/roof"), Path("/docs/boat")
    assert filled.tags.given([roof, boat]) == {roof: ("house",)}
    assert filled.tags.given([]) == {}


def test_a_tag_is_one_line_without_the_number_sign(filled: Engine) -> None:
    filled.tags.change(["roof"], [" #to  do\n", "", "#"], [])
    assert given(filled) == {"roof": ("to do",)}


def test_a_filter_finds_given_and_stated_tags(engine: Engine) -> None:
    stated = replace(document("stated", add_source(engine, "s")), tags=("Roof",))
    add(engine, stated)
    engine.documents.settle([indexed(stated, "lamp stated")])
    put(engine, "given", "lamp given")
    put(engine, "other", "lamp other")
    engine.tags.change(["given"], ["roof/north"], [])
    assert found(engine, "tag:roof") == {"stated", "given"}
    assert found(engine, "tag:roof/north") == {"given"}
    assert found(engine, "tag:roo*") == {"stated", "given"}
    assert found(engine, "tag:oof") == set()
    assert found(engine, "tag:roof file:given") == {"given"}


def test_a_file_keeps_its_tags_when_it_is_read_again(filled: Engine) -> None:
    filled.tags.change(["roof"], ["house"], [])
    [row] = filled.documents.requeue(["roof"])
    filled.documents.settle([indexed(row, "lamp slates")])
    assert found(filled, "tag:house") == {"slates"}


def test_a_file_takes_its_tags_along(filled: Engine) -> None:
    filled.tags.change(["roof"], ["house"], [])
    move(filled, roof="attic")
    assert given(filled) == {"attic": ("house",)}
    assert found(filled, "tag:house") == {"roof"}


def test_two_files_that_change_places_keep_their_own(engine: Engine) -> None:
    source_id = add_source(engine, "both")
    for name in ("roof", "oven"):
        add(engine, row := document(name, source_id))
        engine.documents.settle([indexed(row, f"lamp {name}")])
        engine.tags.change([name], [f"{name}s"], [])
    move(engine, roof="oven", oven="roof")
    assert given(engine) == {"oven": ("roofs",), "roof": ("ovens",)}


def test_a_file_that_comes_back_has_its_tags_again(filled: Engine) -> None:
    filled.tags.change(["roof"], ["house"], [])
    remove(filled, "roof")
    assert filled.tags.counts() == []
    row = document("roof", add_source(filled, "again"))
    add(filled, replace(row, document_id="new"))
    filled.documents.settle([indexed(replace(row, document_id="new"), "lamp new")])
    assert found(filled, "tag:house") == {"new"}


def test_an_attachment_has_the_tags_of_its_file(engine: Engine) -> None:
    mail = document("mail", add_source(engine, "mail"))
    add(engine, mail)
    part = replace(mail, document_id="part", parent_id="mail", part="plan.pdf")
    engine.documents.settle(
        [replace(indexed(mail, "lamp mail"), parts=(indexed(part, "lamp plan"),))]
    )
    engine.tags.change(["part"], ["house"], [])
    assert found(engine, "tag:house") == {"mail", "plan"}
    assert engine.tags.counts() == [TagCount("house", 1)]


def test_counts_are_of_files_that_can_be_found(filled: Engine) -> None:
    stated = replace(document("stated", add_source(filled, "s")), tags=("house", "öl"))
    add(filled, stated)
    filled.tags.change(["roof", "oven"], ["House"], [])
    filled.tags.change(["boat"], ["Zinc"], [])
    assert [(c.name.casefold(), c.files) for c in filled.tags.counts()] == [
        ("house", 3), ("zinc", 1), ("öl", 1),
    ]  # fmt: skip
    gone(filled, "boat")
    assert "Zinc" not in {count.name for count in filled.tags.counts()}


def gone(engine: Engine, name: str) -> None:
    [row] = engine.documents.get([name])

    def vanish(now: Document) -> Document:
        return replace(now, state=DocumentState.GONE, gone_at=1.0)

    engine.documents.apply_changes(row.source_id, [], {name: vanish}, [])


def test_too_many_tags_are_refused_and_change_nothing(filled: Engine) -> None:
    filled.tags.change(["roof"], [str(n) for n in range(MOST_TAGS)], [])
    with pytest.raises(AppError, match="at most"):
        filled.tags.change(["oven", "roof"], ["one more"], [])
    assert set(given(filled)) == {"roof"}
