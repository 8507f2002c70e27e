"""What a source says of itself in a prompt, over a real index."""

from dataclasses import replace

from desktop_rag.answer.sources.source_headings import SourceHeadings
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import ParsedDocument, TableHeader
from desktop_rag.core.places import places_to_json
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import add, add_source, document, indexed, put

REPORT = """# Report

The year was good.

(in millions of euros)

| Line | 2024 | 2023 |
|---|---|---|
| Sales | 512 | 498 |
| Costs | 400 | 390 |
"""
RULES = [f"Rule {n}: the tenant of room {n} keeps it clean and pays on day {n}." for n in range(9)]


def source(document: Document, n: int, text: str, start: int = 0) -> SourceRef:
    return SourceRef(
        n, document.document_id, str(document.path), document.title, text=text, score=-n,
        start=start, end=start + len(text),
    )  # fmt: skip


def test_each_version_stands_behind_the_newer_ones_at_the_place_of_the_best(engine: Engine) -> None:
    years = (2021, 2025, 2023)
    leases = [put(engine, f"lease {y}-01-01.txt", *RULES, f"The rent is {y}.") for y in years]
    other = put(engine, "ferry.txt", "The ferry sails at noon.")
    found = [
        source(document, n, "Rule 1") for n, document in enumerate([*leases[::2], other, leases[1]])
    ]
    headings = SourceHeadings(engine.documents, found)
    first = headings.newer_first(found)
    names = ["lease 2025-01-01.txt", "lease 2023-01-01.txt", "lease 2021-01-01.txt", "ferry.txt"]
    assert [s.document_id for s in first] == names
    assert [s.document_id for s in sorted(first, key=lambda s: -s.score)] == names
    assert [s.n for s in first] == [1, 2, 3, 4]
    assert "an older version of lease 2025-01-01.txt (2025-01-01)" in headings.of(first[2])
    assert "older version" not in headings.of(first[0])
    alone = [replace(s, n=1) for s in found[2:3]]
    assert SourceHeadings(engine.documents, alone).newer_first(alone) == tuple(alone)


def test_the_files_with_a_copy_are_told(engine: Engine) -> None:
    found = source(put(engine, "rules.txt", *RULES), 1, RULES[0])
    copied = replace(found, also_in=("/docs/copy.txt", "https://site.test/rules"))
    headings = SourceHeadings(engine.documents, [found])
    assert "also in copy.txt, https://site.test/rules" in headings.of(copied)
    assert "also in" not in headings.of(found)


def test_a_part_of_a_table_tells_its_columns_and_what_its_figures_are_in(engine: Engine) -> None:
    header = TableHeader(REPORT.index("| Sales"), len(REPORT), "Line | 2024 | 2023")
    add(engine, row := document("report.md", add_source(engine, "report.md")))
    places = places_to_json(ParsedDocument("md", "Report", REPORT, table_headers=(header,)))
    engine.documents.settle([replace(indexed(row, REPORT), places=places)])
    part = source(row, 1, "| Costs | 400 | 390 |", REPORT.index("| Costs"))
    whole = source(row, 2, REPORT[REPORT.index("(in") :], REPORT.index("(in"))
    headings = SourceHeadings(engine.documents, [part, whole])
    assert headings.of(part).splitlines()[1:] == [
        "Columns: Line | 2024 | 2023", "Figures: in millions of euros",
    ]  # fmt: skip
    assert headings.of(whole).splitlines()[1:] == []


STATEMENT = """Consolidated Statements of Cash Flows
(in millions) 2022 2021 2020
Net cash from operations 7,838 7,230 5,727
Purchases of equipment (442) (348) (419)

Payments for leases (12) (11) (10)
Taxes paid 778 843 469
"""


def test_rows_of_figures_tell_their_columns_and_scale_where_the_lines_above_have_them(
    engine: Engine,
) -> None:
    add(engine, row := document("report.pdf", add_source(engine, "report.pdf")))
    engine.documents.settle([indexed(row, STATEMENT)])
    begin = STATEMENT.index("Payments")
    part, whole = source(row, 1, STATEMENT[begin:], begin), source(row, 2, STATEMENT)
    headings = SourceHeadings(engine.documents, [part, whole])
    assert headings.of(part).splitlines()[1:] == [
        "Table: Consolidated Statements of Cash Flows",
        "Columns: 2022 | 2021 | 2020",
        "Figures: in millions",
    ]
    assert headings.of(whole).splitlines()[1:] == []
