import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import LONGEST_TAG, clean_tag, distinct_tags, typed_tags, with_changes


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        ("roof", "roof"),
        ("  ##To   do\n", "To do"),
        ("#", ""),
        ("öl\u200b\u0000", "öl"),
        ("a" * 200, "a" * LONGEST_TAG),
    ],
)
def test_a_tag_is_cleaned(written: str, tag: str) -> None:
    assert clean_tag(written) == tag


@given(st.lists(st.text()))
def test_cleaned_tags_stay_as_they_are(written: list[str]) -> None:
    tags = distinct_tags(written)
    assert distinct_tags(tags) == tags
    assert all(tag and "\n" not in tag for tag in tags)


def test_the_first_spelling_of_a_tag_stays() -> None:
    assert distinct_tags(["Roof", "oil", "ROOF", "#roof"]) == ("Roof", "oil")


def test_typed_tags_are_separated_by_commas() -> None:
    assert typed_tags("roof, to do; #oil,,") == ("roof", "to do", "oil")


def test_tags_are_added_and_removed_whatever_their_case() -> None:
    assert with_changes(("a", "B"), ("b", "c"), ("A",)) == ("B", "c")
