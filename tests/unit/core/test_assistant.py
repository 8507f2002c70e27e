"""Assistants as values: what can be kept, and what cannot."""

from dataclasses import replace
from datetime import date

import pytest

from desktop_rag.core.assistant import (
    LONGEST_INSTRUCTIONS,
    LONGEST_NAME,
    Assistant,
    parse_filters,
    validated_assistant,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Room

PLAIN = Assistant("a", "Taxes")
FULL = Assistant(
    "b",
    "Contracts",
    "Answer as a lawyer would.",
    "http://localhost:1/v1",
    "tiny",
    ("c1", "c2"),
    "type:pdf",
    RetrievalSettings(Room.THOROUGH, 0.75, LaterSources.BOTH),
    is_open=True,
    uses_memory=False,
)


@pytest.mark.parametrize("assistant", [PLAIN, FULL])
def test_it_comes_back_from_json_as_it_was(assistant: Assistant) -> None:
    assert Assistant.from_json(assistant.to_json()) == assistant


def test_a_number_of_passages_that_an_earlier_version_kept_is_left_out() -> None:
    fields = FULL.to_json()
    del fields["retrieval"]["room"]
    fields["retrieval"] |= {"passages": 4, "source_tokens": 1200}
    found = Assistant.from_json(fields).retrieval
    assert found == RetrievalSettings(Room.BALANCED, 0.75, LaterSources.BOTH)


def test_what_was_added_since_has_its_default() -> None:
    fields = PLAIN.to_json()
    del fields["uses_memory"]
    assert Assistant.from_json(fields) == PLAIN


def test_texts_are_trimmed() -> None:
    untidy = replace(PLAIN, name=" My\n taxes\0", instructions=" Be brief.\n", filters=" type:pdf ")
    kept = validated_assistant(untidy)
    assert (kept.name, kept.instructions, kept.filters) == ("My taxes", "Be brief.", "type:pdf")


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"name": " \n"}, "The assistant has no name."),
        ({"name": "n" * (LONGEST_NAME + 1)}, "The name is too long."),
        ({"instructions": "i" * (LONGEST_INSTRUCTIONS + 1)}, "The instructions are too long."),
        ({"filters": "type:pdf invoices"}, "“invoices” is not a filter."),
        ({"filters": '"exact words"'}, "“exact words” is not a filter."),
        ({"filters": "after:2024-13"}, "“2024-13” is not a date."),
    ],
)
def test_what_cannot_be_kept_is_said_with_a_way_out(change: dict[str, str], title: str) -> None:
    with pytest.raises(AppError) as told:
        validated_assistant(replace(PLAIN, **change))  # pyright: ignore[reportArgumentType]
    assert told.value.title == title
    assert told.value.hint


def test_the_longest_texts_are_kept() -> None:
    longest = replace(PLAIN, name="n" * LONGEST_NAME, instructions="i" * LONGEST_INSTRUCTIONS)
    assert validated_assistant(longest) == longest


def test_filters_are_those_of_a_search() -> None:
    limits = parse_filters("type:pdf after:2024 -draft")
    assert (limits.filters.types, limits.filters.after) == (("pdf",), date(2024, 1, 1))
    assert limits.excluded == ("draft",)
    assert parse_filters("").filters.is_empty


def test_a_model_is_named_by_both_its_parts() -> None:
    assert not PLAIN.has_model
    assert not replace(PLAIN, model="tiny").has_model
    assert FULL.has_model
