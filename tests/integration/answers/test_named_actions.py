"""Summaries, contents and comparisons of what the words of a question tell."""

import os
from pathlib import Path

import pytest

from desktop_rag.app import Services
from tests.asking import ask
from tests.indexed import index

pytestmark = pytest.mark.slow

FILES = {
    "letters/Orwin supply agreement.md": "# Agreement\n\n## Fee\n\nThe fee is 4,000 euro.\n",
    "letters/Lease Quay Road 9.md": "# Lease\n\n## Rent\n\nThe rent is 900 euro a month.\n",
    "rules/leave rules 2023.md": "Leave is 25 days. Requests go to the office. Notes are due soon.",
    "rules/leave rules 2024.md": "Leave is 27 days. Requests go to the office. Notes are due soon."
    " Parents choose first.",
    "minutes/2024-09-12 minutes.md": "The well is cleaned by Easter. A new rope is bought.",
    "minutes/2024-10-03 minutes.md": "The mill is let to the baker for a year. The roof waits.",
    "thoughts.txt": "A bench beside the pond would be liked.",
}


@pytest.fixture
def indexed(services: Services, tmp_path: Path) -> Services:
    for number, (name, text) in enumerate(FILES.items()):
        path = tmp_path / "papers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (number, number))
    return index(services, tmp_path / "papers")


def read(services: Services, question: str) -> set[str]:
    return {Path(source.path).name for source in ask(services, question).sources}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Summarise the Orwin agreement", {"Orwin supply agreement.md"}),
        ("What is in the lease?", {"Lease Quay Road 9.md"}),
        ("Was steht in thoughts?", {"thoughts.txt"}),
        ("Summarise letters", {"Orwin supply agreement.md", "Lease Quay Road 9.md"}),
        ("Summarise the minutes of October", {"2024-10-03 minutes.md"}),
        ("Fasse die minutes vom Oktober zusammen", {"2024-10-03 minutes.md"}),
        ("Compare the agreements and the leases",
         {"Orwin supply agreement.md", "Lease Quay Road 9.md"}),
        ("Compare the lease and the agreement",
         {"Orwin supply agreement.md", "Lease Quay Road 9.md"}),
    ],
)  # fmt: skip
def test_the_file_or_folder_is_told_from_the_words(
    indexed: Services, question: str, names: set[str]
) -> None:
    assert read(indexed, question) == names


def test_a_question_about_something_in_a_file_is_searched(indexed: Services) -> None:
    assert "900 euro" in ask(indexed, "What is the rent in the lease?").text.split("\n")[0]


def test_two_versions_are_told_apart_sentence_by_sentence(indexed: Services) -> None:
    answer = ask(indexed, "What changed in the leave rules?")
    first, _, *others = answer.text.splitlines()
    assert first.startswith("**leave rules 2023.md** and **leave rules 2024.md** have 2 sentences")
    assert others == [
        "- Leave is 25 days. [1] → Leave is 27 days. [2]",
        "- Only in leave rules 2024.md: Parents choose first. [3]",
    ]
    assert [s.quote for s in answer.sources] == [
        "Leave is 25 days.", "Leave is 27 days.", "Parents choose first."
    ]  # fmt: skip
