from desktop_rag.ui.reading.reading_pane import ReadingHistory, spans_around
from desktop_rag.ui.viewers.viewer import DocumentSpan

A, B, C = (DocumentSpan(name) for name in "abc")


def test_words_of_a_query_are_marked_near_the_passage_only() -> None:
    text = f"lamp {'x ' * 60_000}the lamps are lit {'y ' * 60_000}lamp"
    start = text.index("the lamps")
    spans = spans_around(text, "when are lamp lit?", (start, start + 17))
    assert [text[a:b] for a, b in spans] == ["lamps", "lit"]


def test_what_is_only_glanced_at_is_not_gone_back_to() -> None:
    history = ReadingHistory()
    history.replace(A)
    history.replace(B)
    assert history.current == B
    assert not history.can_go_back
    history.visit(C)
    history.go(-1)
    assert history.current == B
    history.replace(A)
    assert not history.can_go_forward
