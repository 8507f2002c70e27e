"""What is searched for a question besides itself, so that each part of it has its places."""

from desktop_rag.answer.sources.source_finder import further_searches

RATIO = "Has the quick ratio of Orre improved between FY2022 and FY2023? If it has not, say so."
NAMES = [("Orre",), ("FY2022",), ("FY2023",)]


def test_each_thing_is_searched_alone() -> None:
    asked = further_searches("Compare Orre and Vosk.", [("Orre",), ("Vosk",)], "", ())
    assert asked == [("Compare Orre and .", ""), ("Compare and Vosk.", "")]


def test_one_thing_takes_no_search_of_its_own() -> None:
    assert further_searches("Who leads Orre?", [("Orre",)], "", ()) == []


def test_each_file_that_is_named_is_searched_once() -> None:
    bare = RATIO.replace("Orre", "it")
    inside = [asked for asked in further_searches(RATIO, NAMES, bare, ("a", "b")) if asked[1]]
    assert inside == [(bare, "a"), (bare, "b")]


def test_beside_the_files_that_are_named_periods_take_no_places_and_measures_do() -> None:
    found = further_searches(RATIO, NAMES, RATIO, ("a",))
    one, two, measure = [text for text, file in found if not file]
    assert one == "Has the quick ratio of Orre improved between FY2022 and FY2023?"
    assert two == "If it has not, say so."
    assert measure.startswith("Orre FY2022 FY2023 cash, receivables")
