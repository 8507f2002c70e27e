from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.search.candidates import FilenameMatcher
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from tests.engines import duckdb_in
from tests.stored_rows import add, document, indexed

FILES = [
    f"{firm}_{year}_10K.pdf" for firm in ("ADOBE", "BESTBUY", "NIKE") for year in range(2015, 2020)
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with closing(duckdb_in(tmp_path_factory.mktemp("reports"))) as engine:
        yield engine


@pytest.fixture(scope="module")
def names(reports: Engine) -> Callable[[str], list[str]]:
    return named_in(reports, FILES)


def named_in(engine: Engine, files: Sequence[str]) -> Callable[[str], list[str]]:
    """What tells the names of the files that a question names."""
    for name in files:
        row = replace(document(name), path=Path("/reports") / name)
        add(engine, row)
        engine.documents.settle([indexed(row, name)])
    by_id = {d.document_id: d.path.name for d in engine.documents.documents()}
    finder = FilenameMatcher(engine.names)
    return lambda question: [by_id[i] for i in finder.named_by(question, Scope())]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was the FY2016 revenue of Adobe?", ["ADOBE_2016_10K.pdf"]),
        ("How many stores did Best Buy have in 2019?", ["BESTBUY_2019_10K.pdf"]),
        ("What was the revenue of Adobe?", []),
        ("What was sold in 2016?", []),
        ("Who is the chief executive?", []),
        ("", []),
    ],
)
def test_words_that_few_names_hold_name_a_document(
    names: Callable[[str], list[str]], question: str, named: list[str]
) -> None:
    assert names(question) == named


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Wie hoch war der Umsatz von Adobe 2016?", "Wie hoch war der Umsatz von 2016?"),
        ("Was kostete „Best Buy“ 2019 die Miete?", "Was kostete 2019 die Miete?"),
        ("What was Nike's profit in 2018?", "What was profit in 2018?"),
        ("Wie hoch war der Umsatz von Adobe?", "Wie hoch war der Umsatz von Adobe?"),
        ("Adobe", "Adobe"),
        ("Wer ist  der Leiter?", "Wer ist  der Leiter?"),
    ],
)
def test_the_names_are_taken_from_a_question(reports: Engine, question: str, rest: str) -> None:
    assert FilenameMatcher(reports.names).without_names(question, Scope()) == rest


OTHERS = (
    "3M_2018_10K.pdf", "BOEING_2018_10K.pdf", "GENERALMILLS_2019_10K.pdf", "MCDONALDS_2020.pdf",
    "MGMRESORTS_2018_10K.pdf", "mortgage-2020.md", "partners.md", "manual.md", "phone-bill.md",
    "ÜbersichtKosten.txt", "U\u0308berweisung.txt", "Straße.md", "annualReport2021.txt",
    "XMLSchema.txt", "公司年度报告.txt", *(f"note{n}.txt" for n in range(20)),
)  # fmt: skip


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], list[str]]]:
    with closing(duckdb_in(tmp_path_factory.mktemp("others"))) as engine:
        yield named_in(engine, OTHERS)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was Boeing's revenue?", ["BOEING_2018_10K.pdf"]),
        ("What was Boeing’s revenue?", ["BOEING_2018_10K.pdf"]),
        ("How much debt does General Mills' group have?", ["GENERALMILLS_2019_10K.pdf"]),
        ("What is McDonald's margin?", ["MCDONALDS_2020.pdf"]),
        ("What does 3M sell?", ["3M_2018_10K.pdf"]),
        ("Is 3M's debt due?", ["3M_2018_10K.pdf"]),
        ("What does MGM's casino earn?", ["MGMRESORTS_2018_10K.pdf"]),
        ("What does the mortgage cost?", ["mortgage-2020.md"]),
        ("Wie hoch sind die Kosten laut U\u0308bersicht?", ["ÜbersichtKosten.txt"]),
        ("Wann kam die Überweisung?", ["U\u0308berweisung.txt"]),
        ("Was steht in der STRASSE?", ["Straße.md"]),
        ("What does the annual report of 2021 say?", ["annualReport2021.txt"]),
        ("Which schema is it?", ["XMLSchema.txt"]),
        ("年度报告 收入", ["公司年度报告.txt"]),
    ],
)
def test_names_are_met_in_whole_words_however_they_are_written(
    others: Callable[[str], list[str]], question: str, named: list[str]
) -> None:
    assert others(question) == named


@pytest.mark.parametrize(
    "question",
    [
        "What is his age?",
        "Who makes art?",
        "Is the man here?",
        "Which one is it?",
        "mgm",
        "PART ONE",
        "Is THE man OLD?",
    ],
)
def test_a_piece_of_a_word_names_nothing(others: Callable[[str], list[str]], question: str) -> None:
    assert others(question) == []
