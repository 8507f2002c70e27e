"""A person asks for formulas: they are drawn while the answer is written, and none is doubted."""

from PySide6.QtGui import QGuiApplication

from desktop_rag.ui.messages.answer_body import SegmentView
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

DRAWN = "\ufffc"
ANSWER = (
    "The light of the lamp reaches $d = \\sqrt{2 r h}$ miles and costs $5 or $6 a night.\n\n"
    "\\[\nd = \\frac{a}{b}\n+ \\sum_{i=1}^n x_i\n\\]\n\nThe lamp is lit at dusk [1]."
)


def test_formulas_are_drawn_while_the_answer_is_written(asker: Person, server: ChatServer) -> None:
    server.answer, server.pause_s = ANSWER, 0.01
    seen: list[str] = []

    def is_complete() -> bool:
        seen.append(answer_on(asker))
        # The parts of an answer are shown one after the other.
        sentence = f"reaches {DRAWN} miles and costs $5 or $6 a night"
        return sentence in seen[-1] and "lit at dusk" in seen[-1]

    asker.asks("How far does the light of the lamp reach?")
    asker.waits_until(is_complete)
    assert not [text for text in seen if "\\" in text or "frac" in text or "sqrt" in text]
    asker.sees("test-model")
    asker.waits_until(lambda: "checking" not in asker.screen())
    assert "not in sources" not in answer_on(asker).rpartition(DRAWN)[2].partition("The lamp")[0]
    asker.clicks("Copy answer")
    assert "\\frac{a}{b}" in QGuiApplication.clipboard().text()


def answer_on(person: Person) -> str:
    views = person.window.findChildren(SegmentView)
    return "\n".join(view.toPlainText() for view in views if view.isVisible())
