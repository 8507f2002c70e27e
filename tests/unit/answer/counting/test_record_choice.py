"""The records that a question asks for are found in documents of many structures."""

import pytest

from desktop_rag.answer.counting.count_answer import Choice, chosen
from desktop_rag.answer.counting.counting_question import counting_question
from desktop_rag.answer.counting.record_structures import Kind, ReadDocument, structures_in
from tests.unit.answer.counting.documents import document

NAMES = ("Apple pie", "Leek soup", "Rice pudding", "Bean stew", "Rye bread")


def choice_of(question: str, *documents: ReadDocument, around: str = "kitchen") -> Choice:
    asked = counting_question(question)
    assert asked
    found = chosen(asked, structures_in(documents), (around,))
    assert found
    return found


def titles(choice: Choice) -> tuple[str, ...]:
    return tuple(record.title for record in choice.records)


SECTIONS = "# Recipes\n\n" + "".join(f"## {name}\n\nTime: 5\nServes: 2\n\n" for name in NAMES)
TABLE = "| Nr | Recipe | Time |\n|---|---|---|\n" + "".join(
    f"| {n} | {name} | 5 |\n" for n, name in enumerate(NAMES)
)
BLOCKS = "\n".join(f"Name: {name}\nTime: 5\n" for name in NAMES)
ITEMS = "# Recipes\n\n" + "".join(f"- {name}\n  - Time: 5\n  - butter\n" for name in NAMES)
TASKS = "# Week\n\n" + "".join(f"- [ ] {name}\n" for name in NAMES)
CARDS = "\n---\n\n".join(f"**{name}**\n\nTime: 5\nServes: 2\n" for name in NAMES)
TERMS = "\n".join(f"{name}\n: A dish of the coast.\n" for name in NAMES)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SECTIONS, Kind.SECTION),
        (TABLE, Kind.ROW),
        (BLOCKS, Kind.ENTRY),
        (ITEMS, Kind.ITEM),
        (TASKS, Kind.TASK),
        (CARDS, Kind.PART),
        (TERMS, Kind.TERM),
    ],
)
def test_each_form_of_records_is_found(text: str, kind: Kind) -> None:
    choice = choice_of("How many recipes are there?", document(text))
    assert choice.structure.kind is kind
    assert titles(choice) == NAMES


def test_files_with_parts_of_the_same_titles_are_one_record_each() -> None:
    parts = "## Ingredients\n\n- butter\n- salt {}\n\n## Method\n\nStir.\n"
    files = [
        document(f"# {name}\n\n{parts.format(n)}", f"/l/recipes/{n}.md")
        for n, name in enumerate(NAMES)
    ]
    readme = document("# All of them\n\nSee below.\n", "/l/recipes/README.md")
    choice = choice_of("How many recipes are there?", *files, readme)
    assert choice.structure.kind is Kind.FILE
    assert titles(choice) == NAMES
    assert choice.left_out == ("All of them",)


def test_files_that_hold_several_records_are_not_records() -> None:
    half = len(NAMES) // 2
    parts = [
        "".join(f"## {name}\n\nTime: 5\nServes: 2\n\n" for name in some)
        for some in (NAMES[:half], NAMES[half:])
    ]
    files = [document(text, f"/l/recipes/recipes-{n}.md") for n, text in enumerate(parts)]
    assert titles(choice_of("How many recipes are there?", *files)) == NAMES


def test_sections_of_chapters_are_counted_and_the_introduction_is_not() -> None:
    text = "# Sweet\n\n## Introduction\n\nHow this book came about.\n\n" + "".join(
        f"{'# Salty' + chr(10) * 2 if n == 3 else ''}## {name}\n\nTime: 5\n\n### Note\n\nGood.\n\n"
        for n, name in enumerate(NAMES)
    )
    choice = choice_of("How many recipes are there?", document(text))
    assert titles(choice) == NAMES
    assert choice.left_out == ("Introduction",)


def test_only_what_is_below_the_named_heading_is_counted() -> None:
    text = "# Recipes\n\n- Pie\n- Soup\n- Stew\n\n# Books\n\n- Emma\n- Dune\n"
    assert titles(choice_of("How many books are there?", document(text))) == ("Emma", "Dune")
    assert len(choice_of("How many recipes are there?", document(text)).records) == 3


def test_what_is_in_code_or_a_comment_is_no_record() -> None:
    hidden = "```\n## Example\n\nTime: 1\nServes: 1\n```\n\n<!--\n- Time: 3\n-->\n\n"
    assert titles(choice_of("How many recipes?", document(hidden + SECTIONS))) == NAMES


def test_words_for_the_form_choose_it() -> None:
    text = SECTIONS + "\n## Left\n\nTime: 1\n\n- [ ] eggs\n- [x] milk\n"
    assert titles(choice_of("How many tasks are there?", document(text))) == ("eggs", "milk")
    assert choice_of("How many sections?", document(text)).structure.kind is Kind.SECTION


def test_a_word_before_the_records_may_be_a_condition() -> None:
    choice = choice_of("How many recipes are open?", document(f"All are open.\n\n{SECTIONS}"))
    assert choice.condition == ("open",)


def test_a_word_that_names_nothing_is_told() -> None:
    assert choice_of("How many recipes?", document(SECTIONS)).strength
    assert not choice_of("How many dragons?", document(SECTIONS)).strength


def test_rows_with_the_number_of_what_is_asked_for_are_not_counted() -> None:
    years = "".join(f"| {2019 + n} | {100 + 10 * n} | calm |\n" for n in range(6))
    table = document(f"| Year | Freshwater ducks | Weather |\n|---|---|---|\n{years}")
    asked = counting_question("How many ducks in 2022?")
    assert asked
    assert chosen(asked, structures_in([table]), ("pond",)) is None
    # A number may also name what is counted.
    orders = "".join(f"| {1_000 + n} | Hull | 5 |\n" for n in range(6))
    listed = document(f"| Order | Town | Weight |\n|---|---|---|\n{orders}")
    assert len(choice_of("How many orders are there?", listed).records) == 6
