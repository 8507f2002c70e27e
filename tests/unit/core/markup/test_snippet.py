from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.markup.snippet import snippet


def marked(text: str, query: str) -> list[str]:
    piece, spans = snippet(text, query)
    return [piece[start:end] for start, end in spans]


def test_the_words_of_the_question_are_marked_but_not_its_function_words() -> None:
    text = "The lamp is lit at dusk by the keeper."
    assert marked(text, "when is the lamp lit?") == ["lamp", "lit"]


def test_the_last_word_may_be_half_typed() -> None:
    assert marked("Keepers keep lamps.", "kee") == ["Keepers", "keep"]
    assert marked("A lamplighter and lamps.", "lamp lit") == ["lamps"]


def test_the_piece_begins_where_the_words_are_together() -> None:
    text = "lamp " + "filler " * 100 + "where the lamp is lit at dusk " + "filler " * 100
    piece, spans = snippet(text, "lamp lit dusk")
    assert piece.startswith("…")
    assert piece.endswith("…")
    assert [piece[a:b] for a, b in spans][:3] == ["lamp", "lit", "dusk"]


def test_lines_are_joined() -> None:
    assert snippet("a\n\n b\tc", "b")[0] == "a b c"


@given(st.text(max_size=600), st.text(max_size=40))
def test_spans_are_in_order_and_inside(text: str, query: str) -> None:
    piece, spans = snippet(text, query)
    ends = [0, *(place for span in spans for place in span), len(piece)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in spans)
