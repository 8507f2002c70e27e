"""Words are found in the messages of a chat as they are shown, also in very many of them."""

import pytest

from desktop_rag.ui.chat.conversation_list import found_places, shown_words


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("The **wick** is `trimmed`", "The wick is trimmed"),
        ("## Head\n- *one*\n1. two", "Head\none\ntwo"),
        ("[the text](http://a.example) and ![image](b)", "the text and image"),
        ("snake_case and _emphasis_", "snake_case and emphasis"),
        (r"a \*star\* and $\frac{a}{b}$", "a *star* and \ufffc"),
    ],
)
def test_markdown_is_searched_as_it_is_shown(markdown: str, shown: str) -> None:
    assert shown_words(markdown) == shown


def test_places_are_messages_and_hits_in_order() -> None:
    texts = [("A wick and a WICK", False), ("none", True), ("the **wi**ck\nwick", True)]
    assert found_places(texts, "wick") == ((0, 0), (0, 1), (2, 0), (2, 1))
    assert found_places(texts, "  ") == ()
    assert found_places([("**wick** is", True)], "wick  is") == ((0, 0),)


def test_a_question_is_searched_as_it_was_written() -> None:
    assert found_places([("a **wick**", False)], "**wick") == ((0, 0),)
