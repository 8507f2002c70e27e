from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.query import Filters, parse_query
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from tests.engines import Open
from tests.stored_rows import add, add_source, collection_id, document, ids, indexed

NAMES = ("taxes/report_2023.pdf", "taxes/letter.txt", "home/Report_2024.docx")
TEXTS = ("lamp oil", "lamp wick", "lamp lens")


def noon(day: str) -> int:
    return int(datetime.fromisoformat(day + "T12:00").astimezone(UTC).timestamp()) * 10**9


@pytest.fixture(scope="module")
def filled(open_engine: Open, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A library for those who only read."""
    with closing(open_engine(tmp_path_factory.mktemp("filled"))) as engine:
        yield fill(engine)


def fill(engine: Engine) -> Engine:
    """Add three documents, the first of them to the collection Other, the others to Work."""
    for number, (name, text) in enumerate(zip(NAMES, TEXTS, strict=True)):
        source_id = add_source(engine, f"{number}", "Work" if number else "Other")
        stat = FileStat(1, noon(f"2024-0{number + 1}-15"), number)
        row = replace(document(name, source_id), path=Path("/papers") / name, stat=stat)
        add(engine, row)
        engine.documents.settle([indexed(row, text)])
    return engine


def found(engine: Engine, scope: Scope) -> list[int]:
    """The numbers, from 1, of the texts that lie in the scope; all searches agree on them."""
    numbers = ids(engine, "lamp")
    inside = engine.lexical.in_scope([*numbers.values(), 10**9], scope)
    assert inside == {i for i, _ in engine.lexical.best([("lamp",)], 10, scope)}
    assert inside == set(engine.lexical.newest(10, scope))
    assert len(engine.lexical.documents_of([*inside, 10**9])) == len(inside)
    return sorted(TEXTS.index(text) + 1 for text, i in numbers.items() if i in inside)


@pytest.mark.parametrize(
    ("written", "chunks"),
    [
        ("", [1, 2, 3]),
        ("file:report", [1, 3]),
        ("file:letter file:2024", [2, 3]),
        ("file:taxes", []),
        ("file:/papers/taxes/letter.txt", [2]),
        ("file:taxes/ file:/papers/home/", [1, 2, 3]),
        ("type:pdf", [1]),
        ("type:docx type:txt", [2, 3]),
        ("type:text", [1, 2, 3]),
        ("folder:taxes", [1, 2]),
        ("folder:taxes file:report", [1]),
        ("folder:report", []),
        ("collection:work", [2, 3]),
        ("after:2024-02", [2, 3]),
        ("after:2024-02-15 before:2024-03-15", [2]),
        ("before:2024", []),
    ],
)
def test_filters_narrow_what_is_found(filled: Engine, written: str, chunks: list[int]) -> None:
    assert found(filled, Scope(filters=parse_query(f"lamp {written}").filters)) == chunks


@pytest.mark.parametrize(
    ("limits", "written", "chunks"),
    [
        ("type:pdf", "", [1]),
        ("file:report", "type:pdf", [1]),
        # Alternatives are those of one of them: both hold, and nothing gets wider.
        ("type:pdf", "type:docx", []),
        ("file:report", "file:letter", []),
        ("file:report", "file:2024 file:letter", [3]),
        ("folder:taxes", "folder:home", []),
        ("collection:work", "collection:other", []),
        ("after:2024-02", "after:2024-03", [3]),
        ("before:2024-03", "after:2024-02", [2]),
    ],
)
def test_limits_hold_beside_filters(
    filled: Engine, limits: str, written: str, chunks: list[int]
) -> None:
    always, asked = (parse_query(text).filters for text in (limits, written))
    assert found(filled, Scope(filters=asked, limits=always)) == chunks
    assert found(filled, Scope(filters=always, limits=asked)) == chunks


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("U\u0308bersicht.md", "Übersicht"),
        ("Übersicht.md", "u\u0308bersicht"),
        ("Straße.md", "STRASSE"),
        ("STRASSE.md", "straße"),
        ("ΟΔΟΣ.md", "οδος"),
        ("notes.md", "*.md"),
        ("notes.md", "x.y,notes"),
        ("the notes of 2024.md", "notes*2024"),
    ],
)
@pytest.mark.parametrize("key", ["file", "folder"])
def test_names_are_found_however_they_are_written(
    engine: Engine, name: str, written: str, key: str
) -> None:
    path = Path("/papers") / name / "lamp" if key == "folder" else Path("/papers/lamp") / name
    row = replace(document("a"), path=path)
    add(engine, row)
    engine.documents.settle([indexed(row, "lamp")])
    filters = parse_query(f"lamp {key}:{written}").filters
    assert len(engine.lexical.newest(9, Scope(filters=filters))) == 1


@pytest.mark.parametrize(
    ("format_name", "written"),
    [("Markdown", "markdown"), ("Word", "word"), ("spreadsheet", "Excel"), ("picture", "image")],
)
def test_types_go_by_what_a_format_is_called(
    engine: Engine, format_name: str, written: str
) -> None:
    row = replace(document("a.x"), format=format_name)
    add(engine, row)
    engine.documents.settle([indexed(row, "lamp")])
    filters = parse_query(f"lamp type:{written}").filters
    assert len(engine.lexical.newest(9, Scope(filters=filters))) == 1


@pytest.mark.parametrize(
    ("filters", "chunks"),
    [
        (Filters(types=("text/txt",)), [2]),
        (Filters(types=("text/txt", "text/pdf", "word/docx")), [1, 2]),
        (Filters(types=("text",), other_types=("text/txt", "pdf/pdf")), [1, 3]),
        (Filters(types=("docx", "txt"), other_types=("text/txt",)), [3]),
    ],
)
def test_a_type_can_be_a_format_with_an_ending(
    filled: Engine, filters: Filters, chunks: list[int]
) -> None:
    assert found(filled, Scope(filters=filters)) == chunks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "chunks"),
    [
        ("tag:roof", [1, 2]),
        ("tag:ROOF", [1, 2]),
        ("tag:#roof", [1, 2]),
        ("tag:roo", []),
        ("tag:roo*", [1, 2]),
        ("tag:*", [1, 2]),
        ("tag:roof/north", [2]),
        ("tag:north", []),
        ("tag:öl,roof/*", [1, 2]),
        ("tag:o*l", []),
        ("tag:%", []),
        ("tag:roof file:letter", [2]),
    ],
)
def test_a_tag_is_found_with_those_below_it(
    engine: Engine, written: str, chunks: list[int]
) -> None:
    described(engine, tags=[("o", "Roof", "Öl"), ("roof/north",), ()])
    assert found(engine, Scope(filters=parse_query(f"lamp {written}").filters)) == chunks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "chunks"),
    [
        ("after:2024-02", [1, 2, 3]),
        ("after:2026-05-01", [1]),
        ("after:2026-05-02", []),
        ("before:2026-05-02 after:2026", [1]),
        ("before:2026-05-01", [2, 3]),
        ("before:2024-02-16", [2]),
    ],
)
def test_a_date_that_a_file_states_holds_instead_of_its_own(
    engine: Engine, written: str, chunks: list[int]
) -> None:
    described(engine, dated=["2026-05-01", "", ""])
    assert found(engine, Scope(filters=parse_query(f"lamp {written}").filters)) == chunks


def described(
    engine: Engine,
    dated: Sequence[str] = ("", "", ""),
    tags: Sequence[tuple[str, ...]] = ((), (), ()),
) -> None:
    """Three documents of January, February and March 2024 that state these dates and tags."""
    for number, (name, text) in enumerate(zip(NAMES, TEXTS, strict=True)):
        stat = FileStat(1, noon(f"2024-0{number + 1}-15"), number)
        row = replace(document(name), path=Path("/papers") / name, stat=stat)
        add(engine, row)
        row = replace(row, dated=dated[number], tags=tags[number])
        engine.documents.settle([indexed(row, text)])


@pytest.mark.parametrize("sign", ["%", "_", "!", "\\", "[", "'"])
def test_signs_in_a_filter_mean_themselves(filled: Engine, sign: str) -> None:
    expected = [n for n, name in enumerate(NAMES, 1) if sign in Path(name).name]
    assert found(filled, Scope(filters=Filters(files=(sign,)))) == expected


def test_required_and_excluded_words(filled: Engine) -> None:
    assert found(filled, Scope(required=(("oil", "wick"),))) == [1, 2]
    assert found(filled, Scope(required=(("lamp",), ("oil",)))) == [1]
    assert found(filled, Scope(excluded=(("wick",), ("oil",)))) == [3]
    assert found(filled, Scope(required=(("lamp",),), excluded=(("oil",),))) == [2, 3]


def test_collections_and_documents(filled: Engine) -> None:
    work = collection_id(filled, "Work")
    assert found(filled, Scope(collection_ids=(work,))) == [2, 3]
    assert found(filled, Scope(collection_ids=())) == []
    assert found(filled, Scope(document_ids=(NAMES[0], NAMES[2]))) == [1, 3]
    assert found(filled, Scope(collection_ids=(work,), document_ids=(NAMES[0], NAMES[2]))) == [3]
    assert found(filled, Scope(document_ids=())) == []


def test_chunks(filled: Engine) -> None:
    numbers = ids(filled, "lamp")
    chosen = (numbers[TEXTS[0]], numbers[TEXTS[2]], 10**9)
    assert found(filled, Scope(chunk_ids=chosen)) == [1, 3]
    assert found(filled, Scope(chunk_ids=chosen, required=(("oil",),))) == [1]
    assert found(filled, Scope(chunk_ids=())) == []


def test_a_part_of_a_scope_is_never_wider(filled: Engine) -> None:
    scope = Scope(collection_ids=(collection_id(filled, "Other"),))
    assert found(filled, scope.within(None)) == [1]
    assert found(filled, scope.within(("another",))) == []
    assert found(filled, scope.within((collection_id(filled, "Other"), "another"))) == [1]
    assert Scope().of_documents(()) is None


@pytest.mark.slow
def test_what_is_gone_for_now_lies_in_no_scope(engine: Engine) -> None:
    filled = fill(engine)
    [row] = filled.documents.get([NAMES[0]])
    hide = {NAMES[0]: lambda d: replace(d, state=DocumentState.GONE, gone_at=1.0)}
    number = ids(filled, "oil")[TEXTS[0]]
    filled.documents.apply_changes(row.source_id, [], hide, [])
    assert found(filled, Scope()) == [2, 3]
    assert filled.lexical.in_scope([number], Scope()) == frozenset()


def test_the_newest_come_first(filled: Engine) -> None:
    numbers = ids(filled, "lamp")
    newest = filled.lexical.newest(5, Scope(filters=Filters(before=date(2024, 3, 1))))
    assert list(newest) == [numbers[TEXTS[1]], numbers[TEXTS[0]]]
    assert newest[numbers[TEXTS[1]]] == pytest.approx(noon("2024-02-15") / 1e9)
    assert list(filled.lexical.newest(1, Scope())) == [numbers[TEXTS[2]]]


def test_a_day_before_which_it_must_be_does_not_count(engine: Engine) -> None:
    midnight = int(datetime(2024, 3, 1).astimezone().timestamp()) * 10**9
    row = replace(document("a"), stat=FileStat(1, midnight, 1))
    add(engine, row)
    engine.documents.settle([indexed(row, "lamp")])
    assert len(engine.lexical.newest(9, Scope(filters=Filters(after=date(2024, 3, 1))))) == 1
    assert engine.lexical.newest(9, Scope(filters=Filters(before=date(2024, 3, 1)))) == {}


def _file(name: str) -> ScopeItem:
    return ScopeItem(ScopeKind.FILE, "another id", name, f"/papers/{name}")


def test_what_a_question_is_about_narrows_what_is_found(filled: Engine) -> None:
    first, second, third = (_file(name) for name in NAMES)
    assert found(filled, Scope(about=(first,))) == [1]
    assert found(filled, Scope(about=(second, third))) == [2, 3]
    stored = filled.documents.documents()
    by_id = ScopeItem(ScopeKind.FILE, stored[0].document_id, "it")
    assert found(filled, Scope(about=(by_id,))) == found(filled, Scope(about=(_named(stored[0]),)))
    assert found(filled, Scope(about=(ScopeItem(ScopeKind.FILE, "gone", "it"),))) == []


def _named(document: Document) -> ScopeItem:
    return ScopeItem(ScopeKind.FILE, "another id", "it", str(document.path))


def test_a_folder_is_compared_whole(filled: Engine) -> None:
    folder = ScopeItem(ScopeKind.FOLDER, "/papers", "papers")
    assert found(filled, Scope(about=(folder,))) == [1, 2, 3]
    for other in ("/pap", "/PAPERS", "/papers/%"):
        assert found(filled, Scope(about=(replace(folder, key=other),))) == []


def test_collections_and_sources_are_alternatives_within_the_other_limits(filled: Engine) -> None:
    [source] = [s for s in filled.sources.sources() if s.name == "0"]
    link = ScopeItem(ScopeKind.LINK, source.source_id, "it")
    work = ScopeItem(ScopeKind.COLLECTION, collection_id(filled, "Work"), "Work")
    assert found(filled, Scope(about=(link,))) == [1]
    assert found(filled, Scope(about=(work,))) == [2, 3]
    assert found(filled, Scope(about=(work, link))) == [1, 2, 3]
    filters = parse_query("file:report").filters
    assert found(filled, Scope(about=(work,), filters=filters)) == [3]
