"""What is searched for a question besides itself, so that each part of it has its places."""

from desktop_rag.answer.sources.source_finder import further_searches

RATIO = "Has the quick ratio of Orre improved between FY2022 and FY2023? If it has not, say so."
NAMES = [("Orre",), ("FY2022",), ("FY2023",)]


def test_each_thing_is_searched_alone() -> None:
    asked = further_searches("Compare Orre and Vosk.", [("Orre",), ("Vosk",)], "", ())
    assert asked == [("Compare Orre and .", ""), ("Compare and Vosk.", "")]


def test_one_thing_takes_no_search_of_its_own() -> None:
    assert further_searches("Who leads Orre?", [("Orre",)], "", ()) == []


def test_a_file_that_is_named_is_searched_for_the_question_and_its_measures_alone() -> None:
    bare = RATIO.replace("Orre", "it")
    inside = further_searches(RATIO, NAMES, bare, ("a", "b"))[2:]
    assert [(text == bare, file) for text, file in inside] == [
        (True, "a"), (False, "a"), (True, "b"), (False, "b")
    ]  # fmt: skip


def test_periods_take_no_places_beside_the_files_that_are_named() -> None:
    everywhere = [text for text, file in further_searches(RATIO, NAMES, RATIO, ("a",)) if not file]
    assert everywhere == ["Has the quick ratio of Orre improved between FY2022 and FY2023?",
                          "If it has not, say so."]  # fmt: skip
