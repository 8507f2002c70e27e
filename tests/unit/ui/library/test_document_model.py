"""The model of the documents table, without a view."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import Column, Row, make_table
from desktop_rag.ui.library.facets.facet_values import Facet, FileFilter, StateGroup, group_of
from tests.unit.ui.rooms import in_state, make_document

ROOTS = {"papers": "/docs/papers", "notes": "/docs/notes"}
THREE = (
    make_document("b.md", size_bytes=2),
    make_document("a.md", DocumentState.WAITING, size_bytes=3),
    make_document("c.pdf", DocumentState.FAILED, reason="Encrypted.", size_bytes=1),
)


@pytest.fixture
def model(qapp: object) -> DocumentModel:
    model = DocumentModel()
    model.set_table(make_table(THREE, ROOTS))
    return model


def names(model: DocumentModel) -> list[str]:
    return [model.document_at(row).path.name for row in range(model.rowCount())]


def test_shows_documents_by_name(model: DocumentModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)
    assert names(model) == ["a.md", "b.md", "c.pdf"]
    titles = [model.headerData(c, Qt.Orientation.Horizontal) for c in Column]
    assert titles == ["Name", "Folder", "State", "Reason", "Passages", "Size", "Indexed"]
    assert [model.index(2, c).data() for c in Column] == [
        "c.pdf", "papers", "Not read", "Encrypted.", "1", "1 byte", "",
    ]  # fmt: skip


def test_tooltips_show_the_full_text_without_html(model: DocumentModel) -> None:
    nasty = make_document("<img src=x>.md", DocumentState.FAILED, reason="<b>no</b>")
    model.apply_changes([nasty])
    tips = [model.index(0, c).data(Qt.ItemDataRole.ToolTipRole) for c in Column]
    named = "<qt>/docs/papers/&lt;img src=x&gt;.md<br>&lt;b&gt;no&lt;/b&gt;</qt>"
    assert tips[Column.NAME] == named
    assert tips[Column.REASON] == "<qt>&lt;b&gt;no&lt;/b&gt;</qt>"
    assert tips[Column.STATE] == tips[Column.REASON]


def test_a_changed_state_changes_its_row_in_place(model: DocumentModel, qtbot: QtBot) -> None:
    resets: list[object] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.layoutChanged.connect(lambda: resets.append(None))
    with qtbot.waitSignal(model.dataChanged) as told:
        model.apply_changes([in_state(THREE[1], DocumentState.SEARCHABLE)])
    assert told.args
    first, last = told.args[0], told.args[1]
    assert (first.row(), last.row(), last.column()) == (0, 0, Column.INDEXED)
    assert model.index(0, Column.STATE).data() == "Searchable"
    assert resets == []


def test_documents_are_added_and_removed(model: DocumentModel) -> None:
    model.apply_changes([make_document("aa.md"), in_state(THREE[0], DocumentState.GONE)])
    assert names(model) == ["a.md", "aa.md", "c.pdf"]
    model.apply_changes([in_state(make_document("never.md"), DocumentState.GONE)])
    assert model.rowCount() == 3


def test_the_last_state_in_a_batch_counts(model: DocumentModel) -> None:
    new = make_document("n.md")
    batch = [new, in_state(new, DocumentState.GONE), in_state(THREE[0], DocumentState.GONE)]
    model.apply_changes([*batch, THREE[0]])
    assert names(model) == ["a.md", "b.md", "c.pdf"]


def test_selection_follows_its_document(model: DocumentModel) -> None:
    kept = QPersistentModelIndex(model.index(1, Column.STATE))
    model.sort(Column.NAME, Qt.SortOrder.DescendingOrder)
    model.apply_changes([make_document("z.md"), make_document("0.md")])
    assert names(model) == ["z.md", "c.pdf", "b.md", "a.md", "0.md"]
    assert (kept.row(), kept.column()) == (2, Column.STATE)
    model.set_filter(in_group(StateGroup.SEARCHABLE))
    assert (kept.row(), names(model)) == (1, ["z.md", "b.md", "0.md"])
    model.set_filter(in_group(StateGroup.NOT_READ))
    assert not kept.isValid()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (FileFilter().with_values(Facet.STATE, ["Not read"]), ["c.pdf"]),
        (FileFilter("ENCRYPTED pdf"), ["c.pdf"]),
        (FileFilter("papers md"), ["a.md", "b.md"]),
        (FileFilter("docs/papers"), []),
        (FileFilter().with_values(Facet.FOLDER, ["notes"]), []),
        (
            FileFilter()
            .with_values(Facet.STATE, ["In progress"])
            .with_values(Facet.FOLDER, ["papers"]),
            ["a.md"],
        ),
        (
            FileFilter().with_values(Facet.KIND, ["PDF", "Text, Markdown"]),
            ["a.md", "b.md", "c.pdf"],
        ),
        (FileFilter("md").with_values(Facet.KIND, ["PDF"]), []),
    ],
)
def test_filters(model: DocumentModel, wanted: FileFilter, expected: list[str]) -> None:
    model.set_filter(wanted)
    assert names(model) == expected


def test_a_facet_counts_what_the_rest_of_the_filter_admits(model: DocumentModel) -> None:
    assert model.facet_counts()[Facet.KIND] == {"PDF": 1, "Text, Markdown": 2}
    model.set_filter(in_group(StateGroup.NOT_READ))
    counts = model.facet_counts()
    assert counts[Facet.KIND] == {"PDF": 1}
    assert counts[Facet.STATE][StateGroup.IN_PROGRESS] == 1, "itself it doesn't limit"
    model.set_filter(FileFilter("md"))
    assert model.facet_counts()[Facet.KIND] == {"Text, Markdown": 2}
    model.apply_changes([make_document("new.md")])
    assert model.facet_counts()[Facet.KIND] == {"Text, Markdown": 3}


def test_documents_inside_files_are_counted_apart(model: DocumentModel) -> None:
    mail = make_document("mail.eml")
    attached = replace(make_document("mail.eml#1"), parent_id=mail.document_id, part="fees.pdf")
    model.apply_changes([mail, replace(attached, format="PDF")])
    assert model.facet_counts()[Facet.KIND] == {"PDF": 1, "Text, Markdown": 2, "E-mail": 1}
    assert model.counts().total == 4
    assert model.shown_inside() == 1
    model.set_filter(FileFilter().with_values(Facet.KIND, ["Text, Markdown"]))
    assert model.shown_inside() == 0


def test_a_row_leaves_the_filter_it_no_longer_fits(model: DocumentModel) -> None:
    model.set_filter(in_group(StateGroup.NOT_READ))
    model.apply_changes([in_state(THREE[2], DocumentState.WAITING)])
    assert names(model) == []
    model.apply_changes([in_state(THREE[0], DocumentState.FAILED, "Gone wrong.")])
    assert names(model) == ["b.md"]


def test_a_row_moves_when_what_it_is_sorted_by_changes(model: DocumentModel) -> None:
    model.sort(Column.SIZE)
    assert names(model) == ["c.pdf", "b.md", "a.md"]
    model.apply_changes([make_document("c.pdf", size_bytes=99)])
    assert names(model) == ["b.md", "a.md", "c.pdf"]


def test_counts_by_source_and_of_all(model: DocumentModel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(model.counts_changed):
        model.apply_changes([make_document("n.md", source_id="notes")])
    assert model.counts().total == 4
    assert model.counts("notes").of(DocumentState.SEARCHABLE) == 1
    assert model.counts("papers").of(DocumentState.FAILED) == 1
    assert model.counts("unknown").total == 0


def test_a_removed_source_removes_its_documents(model: DocumentModel) -> None:
    model.apply_changes([make_document("n.md", source_id="notes")])
    model.set_roots({"notes": "/docs/notes"})
    assert names(model) == ["n.md"]
    assert model.counts().total == 1


def test_a_source_that_is_known_later_shortens_the_folders(model: DocumentModel) -> None:
    model.apply_changes([make_document("n.md", source_id="late")])
    row = names(model).index("n.md")
    assert model.index(row, Column.FOLDER).data() == "/docs/late"
    model.set_roots({**ROOTS, "late": "/docs/late"})
    assert model.index(row, Column.FOLDER).data() == "late"


@pytest.mark.slow
def test_many_scattered_changes_emit_few_signals(model: DocumentModel) -> None:
    documents = [make_document(f"{n:05}.md") for n in range(50_000)]
    model.set_table(make_table(documents, ROOTS))
    told: list[int] = []
    model.dataChanged.connect(lambda *_: told.append(1))
    model.apply_changes([in_state(d, DocumentState.FAILED) for d in documents[::100]])
    assert len(told) <= 64
    assert model.index(100, Column.STATE).data() == "Not read"
    assert model.counts().of(DocumentState.FAILED) == 500


def expected_names(
    documents: Iterable[Document], group: StateGroup | None, column: Column, *, falling: bool
) -> list[str]:
    rows = [
        Row(d, "/docs/papers")
        for d in documents
        if group in {None, group_of(d)} and not d.is_forgotten
    ]
    keys = {Column.NAME: lambda r: r.name_key, Column.SIZE: lambda r: (size(r), r.name_key)}
    return [row.name for row in sorted(rows, key=keys[column], reverse=falling)]


def in_group(group: StateGroup) -> FileFilter:
    return FileFilter().with_values(Facet.STATE, [group])


def size(row: Row) -> int:
    return row.document.stat.size_bytes


def random_batch(rnd: random.Random) -> list[Document]:
    """Two sets of documents: a few, and too many to be applied one by one."""
    states = list(DocumentState)
    return [
        make_document(f"{rnd.randrange(40)}.md", rnd.choice(states), size_bytes=rnd.randrange(9))
        for _ in range(rnd.choice([0, 3, 8, 20]))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_series_of_changes_ends_like_a_fresh_start(
    seed: int, qtmodeltester: ModelTester
) -> None:
    rnd = random.Random(seed)
    model = DocumentModel(max_single_changes=7)
    model.set_table(make_table([], ROOTS))
    qtmodeltester.check(model)
    truth: dict[str, Document] = {}
    for _ in range(30):
        batch = random_batch(rnd)
        followed = {
            model.document_at(row).document_id: QPersistentModelIndex(model.index(row, 1))
            for row in rnd.sample(range(model.rowCount()), min(5, model.rowCount()))
        }
        truth.update((d.document_id, d) for d in batch)
        model.apply_changes(batch)
        group = rnd.choice([None, None, StateGroup.SEARCHABLE])
        column, falling = rnd.choice([Column.NAME, Column.SIZE]), rnd.random() < 0.5
        model.set_filter(in_group(group) if group else FileFilter())
        model.sort(column, Qt.SortOrder(int(falling)))
        assert names(model) == expected_names(truth.values(), group, column, falling=falling)
        kept = [Row(d, ROOTS["papers"]) for d in truth.values() if not d.is_forgotten]
        assert model.totals() == Counter(row.facets for row in kept)
        for document_id, index in followed.items():
            assert not index.isValid() or document_id == model.document_at(index.row()).document_id
