"""Names of files in questions, in many spellings and languages."""

import pytest

from desktop_rag.answer.understanding.file_words import asks_about_all, asks_for_content, task_of
from desktop_rag.answer.understanding.scoping import (
    mentioned_collections,
    mentioned_files,
    mentioned_folders,
    singular,
    without,
)
from desktop_rag.core.domain import shown_name

PATHS = (
    "/d/money/workbook-2026.xlsx", "/d/handbook/emergency-plan.docx", "/d/governance/rules.docx",
    "/d/a/report.md", "/d/b/report.md", "/d/records/history-of-the-light.md", "/d/Excel.md",
    "/d/visit-us.html", "/d/fog-horn.md", "/d/annual-meeting-2025.md", "/d/annual-meeting-2026.md",
    "/d/年度报告.docx", "/d/README.md", "/d/ADOBE_2015_10K.pdf", "/d/Super_Bowl_50.md",
    "/d/covid-19.md", "/d/rules.pdf",
)  # fmt: skip


def named(question: str) -> list[str]:
    return [path.rsplit("/", 1)[1] for m in mentioned_files(question, PATHS) for path in m.paths]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is in workbook-2026.xlsx?", "workbook-2026.xlsx"),
        ("what's in WORKBOOK_2026.XLSX", "workbook-2026.xlsx"),
        ("Tell me about the file emergency-plan.docx", "emergency-plan.docx"),
        ("please summarise Emergency Plan", "emergency-plan.docx"),
        ("workbook-2026.xlsx", "workbook-2026.xlsx"),
        ("What does the README say?", "README.md"),
        ("What was the revenue in ADOBE_2015_10K?", "ADOBE_2015_10K.pdf"),
        ("According to the emergency plan, where does the helicopter land?", "emergency-plan.docx"),
        ("Was steht in der Datei emergency-plan?", "emergency-plan.docx"),
        ("Fasse bitte workbook-2026 zusammen", "workbook-2026.xlsx"),
        ("Worum geht es in „emergency plan“?", "emergency-plan.docx"),
        ("Que contient le fichier workbook-2026.xlsx ?", "workbook-2026.xlsx"),
        ("Qu'est-ce qu'il y a dans workbook-2026.xlsx ?", "workbook-2026.xlsx"),
        ("¿Qué hay en el archivo workbook-2026.xlsx?", "workbook-2026.xlsx"),
        ("ماذا يوجد في الملف workbook-2026.xlsx؟", "workbook-2026.xlsx"),
        ("workbook-2026.xlsx里有什么？", "workbook-2026.xlsx"),
        ("请总结年度报告", "年度报告.docx"),
        ("What is the main topic of workbook-2026.xlsx?", "workbook-2026.xlsx"),
        ("Was ist das Thema von workbook-2026.xlsx?", "workbook-2026.xlsx"),
        ("Quel est le sujet principal de workbook-2026.xlsx ?", "workbook-2026.xlsx"),
    ],
)
def test_a_file_is_named_and_nothing_else_is_asked(question: str, name: str) -> None:
    [mention] = mentioned_files(question, PATHS)
    assert named(question) == [name]
    rest = without(question, [(mention.start, mention.end)])
    assert bool(asks_for_content(rest)) == (
        "helicopter" not in question and "ADOBE" not in question
    )


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_file_that_a_program_sent_has_the_name_it_was_sent_by(separator: str) -> None:
    name = f"canteen-{'6fd9eefd7e3b353d'}.txt"
    path = separator.join(("/home", "sent", "9ebf7ed29ceb470590e80f1777b27c97", name))
    assert shown_name(path) == "canteen.txt"
    assert shown_name(f"/docs/{name}") == name
    [mention] = mentioned_files("What does canteen.txt say?", [path])
    assert mention.paths == (path,)


@pytest.mark.parametrize(
    "question",
    [
        "What are the rules for proxies?",
        "What is the history of the light?",
        "Who won Super Bowl 50?",
        "What is covid-19?",
        "What is an Excel file?",
        "How do I visit us?",
        "Tell me about the fog horn",
        "What is in unknown-2026.xlsx?",
        "Was ist der Notfallplan?",
    ],
)
def test_words_that_are_also_a_name_name_nothing(question: str) -> None:
    assert named(question) == []


def test_files_of_one_name_are_all_meant_unless_a_folder_is_typed() -> None:
    assert named("What is in report.md?") == ["report.md", "report.md"]
    assert [m.paths for m in mentioned_files("What is in b/report.md?", PATHS)] == [
        ("/d/b/report.md",)
    ]
    assert named("summarise the rules") == ["rules.docx", "rules.pdf"]
    assert named("What is in rules.pdf?") == ["rules.pdf"]


def test_several_files_are_named_together() -> None:
    question = "Compare annual-meeting-2025.md and annual-meeting-2026.md"
    assert named(question) == ["annual-meeting-2025.md", "annual-meeting-2026.md"]


@pytest.mark.parametrize(
    ("question", "folder"),
    [
        ("What is in the folder records?", "/d/records"),
        ("Was steht im Ordner „money“?", "/d/money"),
        ("Fasse handbook/ zusammen", "/d/handbook"),
        ("records 文件夹里有什么", "/d/records"),
        ("Which records are kept?", ""),
    ],
)
def test_a_folder_is_named_beside_its_word(question: str, folder: str) -> None:
    folders = ["/d", "/d/records", "/d/money", "/d/handbook", "/d/records/old/records"]
    found = [path for m in mentioned_folders(question, folders) for path in m.paths]
    assert found == ([folder] if folder else [])


COLLECTIONS = ("Papers", "HR", "R/D 2026", "stamp", "年度")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does the collection Papers say about proxies?", ["Papers"]),
        ("what is in the collection papers", ["Papers"]),
        ("What do the Papers collection and the collection “HR” say?", ["Papers", "HR"]),
        ("In the collection called R/D 2026, who leads?", ["R/D 2026"]),
        ("Was steht in der Sammlung Papers?", ["Papers"]),
        ("Que dit la collection « Papers » ?", ["Papers"]),
        ("Что в коллекции HR?", ["HR"]),
        ("集合年度里有什么？", ["年度"]),
        ("コレクション「年度」には何がありますか", ["年度"]),
        ("Who wrote the papers?", []),
        ("How large is his Stamp collection?", []),
        ("Is there a collection of papers?", []),
        ("This is my collection. Papers are read where?", []),
        ("Which collection holds HR?", []),
    ],
)
def test_a_collection_is_named_beside_the_word_for_one(question: str, names: list[str]) -> None:
    found = mentioned_collections(question, COLLECTIONS)
    assert sorted(name for m in found for name in m.paths) == sorted(names)


def test_what_is_left_of_a_question_about_a_collection_asks_for_its_content() -> None:
    for question in ("What is in the collection Papers?", "Was steht in der Sammlung Papers?"):
        [mention] = mentioned_collections(question, COLLECTIONS)
        assert asks_for_content(without(question, [(mention.start, mention.end)]))


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("Summarise the Orwin agreement", ["Orwin agreement"]),
        ("What is in ideas?", ["ideas"]),
        ("Was steht in Küche?", ["Küche"]),
        ("Compare budget v1 and the lease", ["budget v1", "lease"]),
        ("What changed between rules v1 and v2?", ["rules v1", "v2"]),
        ("Was hat sich an der Hausordnung geändert?", ["Hausordnung"]),
        ("Summarise the minutes of October", ["minutes", "October"]),
        ("Was steht im Protokoll vom 3. Oktober?", ["Protokoll vom 3. Oktober"]),
        ("What is the rent in the lease?", []),
        ("What is the lease?", []),
        ("What is in it?", []),
    ],
)
def test_the_things_of_a_task_are_the_words_that_are_no_part_of_it(
    question: str, things: list[str]
) -> None:
    task = task_of(question)
    assert [question[start:end] for start, end in (task.things if task else ())] == things


@pytest.mark.parametrize(
    ("question", "is_about_all"),
    [
        ("Summarise my documents", True),
        ("Give me an overview of all files.", True),
        ("Worum geht es in den Dokumenten?", True),
        ("Résume tous les documents", True),
        ("总结所有文件", True),
        ("Which documents are there?", False),
        ("How do I open a file?", False),
        ("Summarise the rent in the documents", False),
    ],
)
def test_a_question_may_be_about_all_documents(question: str, is_about_all: bool) -> None:
    assert asks_about_all(question) is is_about_all


@pytest.mark.parametrize(
    ("word", "expected"),
    [("leases", "leas"), ("agreements", "agreement"), ("agreed", "agreed"), ("leasing", "leasing")],
)
def test_a_plural_stands_for_a_name_and_no_other_form_does(word: str, expected: str) -> None:
    assert singular(word) == expected
