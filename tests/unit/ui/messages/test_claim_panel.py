"""Badges in an answer, and the panel that explains them."""

from collections import defaultdict
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.claims import (
    CheckedClaim,
    Claim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.conversation import ModelCheckOffered, SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.settings import ModelCheck
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.claim_marks import (
    MARK,
    badge_html,
    badges_in,
    summary,
    with_marks,
    worst,
)
from desktop_rag.ui.messages.answer_body import SegmentView
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.widgets.marked_text import MarkedText
from tests.claims import unchecked
from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import Room, ask, click, named, use
from tests.unit.ui.rooms import button, texts

SAID = "It burns 40 litres of oil a night."
SOURCE = SourceRef(
    1, "d", "/lamp.md", "Lamp & <b>oil</b>", Anchor(page=3),
    "The lamp is lit at dusk. It burns 20 litres of oil a night.", 1.0, "lit at dusk", 112, 123,
)  # fmt: skip
DIFFERENCES = (Difference(DifferenceKind.NUMBER, (9, 11), (34, 36)),)
WRONG = Claim(
    0,
    38,
    CheckedClaim(
        SAID, Verdict.CONTRADICTED, 0.1, Evidence(0, 25, 59), DIFFERENCES,
        "The source says 20, the answer <i>40</i>.",
    ),
    1,
)  # fmt: skip
NOTHING = "No source says anything similar."
RIGHT = Claim(
    39, 60, CheckedClaim("Lit at dusk.", Verdict.SUPPORTED, 0.9, Evidence(0, 0, 24), (), ""), 1
)
MISSING = Claim(61, 80, CheckedClaim("By the cook.", Verdict.NOT_IN_SOURCES, 0.1, None, (), ""))


@pytest.fixture
def panel(theme: Theme, qtbot: QtBot) -> ClaimPanel:
    panel = ClaimPanel(theme)
    qtbot.addWidget(panel)
    panel.show_claims((WRONG, RIGHT, MISSING), (SOURCE,))
    return panel


def marked(text: MarkedText) -> list[str]:
    """The highlighted words."""
    cursor, found = text.textCursor(), list[str]()
    for place in range(len(text.toPlainText())):
        cursor.setPosition(place + 1)
        if cursor.charFormat().background().style().value:
            found.append(text.toPlainText()[place])
    return "".join(found).split()


def marked_text(panel: ClaimPanel, name: str) -> MarkedText:
    """The text widget whose accessible name starts with `name`."""
    found = panel.findChildren(MarkedText)
    return next(text for text in found if text.accessibleName().startswith(name))


def press(panel: ClaimPanel, words: str) -> None:
    next(b for b in panel.findChildren(QPushButton) if b.text().startswith(words)).click()


def test_claim_and_evidence_are_side_by_side_with_differences_marked(panel: ClaimPanel) -> None:
    panel.show_claim(0)
    said, evidence = marked_text(panel, "Sentence of"), marked_text(panel, "Evidence")
    assert said.toPlainText() == SAID
    assert evidence.toPlainText() == "It burns 20 litres of oil a night."
    assert (marked(said), marked(evidence)) == (["40"], ["20"])
    shown = texts(panel)
    assert "Contradicted by a source" in shown
    found = marked_text(panel, "Result of the check").toPlainText()
    assert found == "The source says 20, the answer <i>40</i>."
    assert any("Lamp & <b>oil</b>" in text for text in shown)


def test_the_evidence_opens_at_its_place(panel: ClaimPanel, qtbot: QtBot) -> None:
    panel.show_claim(0)
    with qtbot.waitSignal(panel.view_requested) as asked:
        press(panel, "Show in document")
    assert asked.args is not None
    [place] = asked.args
    passage_start = 112 - SOURCE.text.index("lit at dusk")
    assert (place.start, place.end) == (passage_start + 25, passage_start + 59)
    assert place.quote == "It burns 20 litres of oil a night."


def test_an_unsupported_claim_requests_a_passage_to_verify_it(
    panel: ClaimPanel, qtbot: QtBot
) -> None:
    panel.show_claim(1)
    with qtbot.assertNotEmitted(panel.verification_requested, wait=10):
        panel.show_claim(1)
    with qtbot.waitSignal(panel.verification_requested):
        panel.show_claim(2)
    assert marked_text(panel, "Evidence").toPlainText() == NOTHING
    panel.show_best_passage(WRONG, SOURCE)
    verify = [b for b in panel.findChildren(QPushButton) if b.text().startswith("Verify in")]
    assert not verify, "that was asked for another claim"
    panel.show_best_passage(MISSING, SOURCE)
    with qtbot.waitSignal(panel.view_requested) as asked:
        press(panel, "Verify in Lamp && <b>")
    assert asked.args == [SOURCE]


@pytest.mark.parametrize(
    ("verdict", "support", "is_shown"),
    [
        (Verdict.NOT_IN_SOURCES, 0.04, False),
        (Verdict.NOT_IN_SOURCES, 0.2, True),
        (Verdict.CONTRADICTED, 0.04, True),
    ],
)
def test_unrelated_evidence_is_not_shown(
    panel: ClaimPanel, verdict: Verdict, support: float, is_shown: bool
) -> None:
    checked = replace(WRONG.checked, verdict=verdict, support=support, differences=())
    panel.show_claims((replace(WRONG, checked=checked),), (SOURCE,))
    panel.show_claim(0)
    assert (marked_text(panel, "Evidence").toPlainText() != NOTHING) is is_shown
    assert any(text.startswith("Source 1 (") for text in texts(panel)) is is_shown
    view = button(panel, "Show in document")
    assert view.isVisibleTo(panel) is is_shown


def test_steps_through_the_claims_and_follows_changes(panel: ClaimPanel) -> None:
    panel.show_claims((RIGHT, replace(MISSING, checked=unchecked("Not yet."))), (SOURCE,))
    panel.show_claim(1)
    assert "Not checked" in texts(panel)
    panel.show_claims((RIGHT, MISSING), (SOURCE,))
    assert "Not found in the sources" in texts(panel)
    panel.show_claims((), ())
    assert panel.isHidden()


def test_changes_of_other_claims_keep_the_open_one(panel: ClaimPanel, qtbot: QtBot) -> None:
    panel.show_claim(2)
    panel.show_best_passage(MISSING, SOURCE)
    judged = replace(RIGHT, checked=replace(RIGHT.checked, support=0.8))
    with qtbot.assertNotEmitted(panel.verification_requested, wait=10):
        panel.show_claims((WRONG, judged, MISSING), (SOURCE,))
    assert button(panel, "Verify in Lamp & <b>oil</b> · page 3").isVisibleTo(panel)
    panel.show_claims((judged, MISSING), (SOURCE,))
    assert panel.claim == MISSING
    assert "2 of 2" in texts(panel)
    panel.show_claims((judged,), (SOURCE,))
    assert panel.isHidden()


def test_an_outdated_badge_opens_nothing(panel: ClaimPanel) -> None:
    panel.show_claim(3)
    assert panel.isHidden()
    panel.show_claim(1)
    panel.show_claim(3)
    assert panel.claim == RIGHT


def test_no_long_word_widens_the_panel(panel: ClaimPanel, qtbot: QtBot) -> None:
    panel.show_claim(0)
    narrow = panel.minimumSizeHint().width()
    wide = "\N{FULLWIDTH LATIN CAPITAL LETTER W}" * 300
    checked = replace(WRONG.checked, claim=wide, explanation=f"So says {wide}, asked to compare.")
    claim = replace(WRONG, checked=checked)
    panel.show_claims((claim,), (replace(SOURCE, title=wide),))
    panel.show_claim(0)
    panel.show_best_passage(claim, replace(SOURCE, title=wide))
    panel.resize(narrow, 600)
    qtbot.waitUntil(lambda: panel.width() == narrow)
    assert panel.minimumSizeHint().width() == narrow
    [verify] = [b for b in panel.findChildren(QPushButton) if wide in b.accessibleName()]
    assert verify.geometry().right() <= panel.width()


def test_a_very_long_claim_is_cut(panel: ClaimPanel) -> None:
    differences = (Difference(DifferenceKind.WORD, (1_490, 1_600), None),)
    checked = replace(WRONG.checked, claim="word " * 1_000, differences=differences)
    panel.show_claims((replace(WRONG, checked=checked),), (SOURCE,))
    panel.show_claim(0)
    said = marked_text(panel, "Sentence of")
    assert len(said.toPlainText()) == 1_501
    assert marked(said) == ["word", "word"]


# "cook" is not in its source.
PARTLY = replace(
    MISSING,
    checked=replace(
        MISSING.checked,
        verdict=Verdict.PARTLY,
        differences=(Difference(DifferenceKind.NAME, (7, 11), None),),
    ),
)
UNKNOWN = Claim(0, 9, unchecked("Not yet."))


@pytest.mark.parametrize(
    ("claims", "words", "tone"),
    [
        ((), "", ""),
        ((RIGHT, RIGHT), "Backed by sources", "success"),
        ((RIGHT, MISSING, PARTLY), "1 of 3 sentences is backed by sources", "warning"),
        ((RIGHT, RIGHT, MISSING), "2 of 3 sentences are backed by sources", "warning"),
        ((MISSING,), "No sentence is backed by sources", "warning"),
        ((MISSING, PARTLY), "No sentence is backed by sources", "warning"),
        ((WRONG, MISSING), "1 sentence contradicts the sources", "danger"),
        ((WRONG, WRONG), "2 sentences contradict the sources", "danger"),
    ],
)
def test_the_summary_of_the_claims(claims: tuple[Claim, ...], words: str, tone: str) -> None:
    assert summary(claims) == (words, tone)


def test_a_running_check_is_shown_with_its_results_so_far() -> None:
    assert summary((), is_checking=True) == ("", "")
    assert summary((UNKNOWN,), is_checking=True) == ("Checking against the sources…", "muted")
    assert summary((RIGHT, UNKNOWN), is_checking=True) == (
        "Backed by sources · checking…", "success",
    )  # fmt: skip


NEAR = replace(
    PARTLY,
    checked=replace(
        PARTLY.checked, support=0.8, differences=(Difference(DifferenceKind.WORD, (7, 11), None),)
    ),
)


def test_what_is_nearly_in_the_sources_is_counted_apart_and_quiet() -> None:
    """Most true sentences of a model are in words of its own."""
    assert summary((RIGHT, NEAR, NEAR)) == (
        "1 of 3 sentences is backed by sources · 2 nearly", "muted",
    )  # fmt: skip
    assert summary((RIGHT, NEAR, MISSING)) == (
        "1 of 3 sentences is backed by sources · 1 nearly", "warning",
    )  # fmt: skip
    assert summary((WRONG, NEAR))[1] == "danger"
    assert NEAR.checked.is_near
    assert NEAR.checked.is_likely
    claims = (NEAR, PARTLY)
    text = with_marks("By the cook. By the cook.", [replace(NEAR, start=0, end=12),
                                                    replace(PARTLY, start=13, end=25)])  # fmt: skip
    colours = defaultdict(lambda: "#000")
    near, partly = (
        badge_html(mark, badges_in(text, claims), colours) for mark in MARK.findall(text)
    )
    assert "≈" in near
    assert "source" not in near
    assert "not\u00a0in\u00a0its\u00a0source:\u00a0cook" in partly


def test_sentences_that_could_not_be_checked_are_counted_and_not_green() -> None:
    assert summary((RIGHT, UNKNOWN, UNKNOWN)) == (
        "1 of 3 sentences is backed by sources · 2 could not be checked", "warning",
    )  # fmt: skip
    assert summary((WRONG, UNKNOWN)) == (
        "1 sentence contradicts the sources · 1 could not be checked", "danger",
    )  # fmt: skip
    assert summary((UNKNOWN, UNKNOWN)) == ("No sentence could be checked", "muted")


def test_of_a_sentence_that_was_not_checked_nothing_is_said_to_be_missing(
    panel: ClaimPanel,
) -> None:
    panel.show_claims((replace(MISSING, checked=unchecked("By the cook.")),), (SOURCE,))
    panel.show_claim(0)
    assert marked_text(panel, "Evidence").toPlainText() != NOTHING


def test_the_claim_with_the_worst_verdict() -> None:
    assert worst((RIGHT, MISSING, WRONG)) == 2
    assert worst((RIGHT, RIGHT)) == 0


@pytest.mark.slow
def test_an_answer_gets_its_badges_and_a_press_opens_the_panel(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.answer = (
        "The lamp is lit at dusk [1]. The lamp is lit at dusk by seven cooks from Vienna [1]."
    )
    use(room, server)
    ask(room, qtbot)
    view = next(v for v in room.page.findChildren(SegmentView) if v.isVisible())
    qtbot.waitUntil(lambda: "✓" in view.toPlainText())
    assert "…" not in view.toPlainText()
    [badge] = [b for b in room.page.findChildren(QPushButton, "claimSummary") if b.isVisible()]
    assert badge.accessibleName() == f"Answer check: {badge.text()}. Press for details."
    badge.click()
    [panel] = [p for p in room.page.findChildren(ClaimPanel) if p.isVisible()]
    assert panel.claim.checked.claim == "The lamp is lit at dusk by seven cooks from Vienna."
    qtbot.waitUntil(
        lambda: any("Verify in Lamp" in b.text() for b in panel.findChildren(QPushButton))
    )
    [close] = named(room, "Close")
    close.click()
    assert panel.isHidden()


def test_differing_words_are_shown_on_both_sides(panel: ClaimPanel) -> None:
    """The explanation of a barely supported claim may be “The source says 20, the answer 40”."""
    checked = replace(WRONG.checked, verdict=Verdict.NOT_IN_SOURCES, support=0.05)
    panel.show_claims((replace(WRONG, checked=checked),), (SOURCE,))
    panel.show_claim(0)
    shown = [text.toPlainText() for text in panel.findChildren(MarkedText)]
    assert "It burns 20 litres of oil a night." in shown
    assert NOTHING not in shown


def test_the_sentence_of_a_model_is_shown_word_for_word(panel: ClaimPanel) -> None:
    said = "Passage 1 says <b>20</b>, the sentence 40."
    told = replace(WRONG, judge="<i>model</i>", reason=said, judged=WRONG.verdict)
    panel.show_claims((told, RIGHT), (SOURCE,))
    panel.show_claim(0)
    assert "Read by <i>model</i>" in texts(panel)
    assert marked_text(panel, "What the model says").toPlainText() == said
    doubted = replace(told, judged=Verdict.SUPPORTED)
    panel.show_claims((doubted, RIGHT), (SOURCE,))
    assert "Read by the app. <i>model</i> says: Backed by sources" in texts(panel)
    panel.show_claim(1)
    assert "Read by the app" in texts(panel)
    assert marked_text(panel, "What the model says").isHidden()


@pytest.mark.everyday
def test_a_remote_model_checks_answers_only_once_the_person_agreed(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    model = room.page.sessions.current.model
    answer = model.turn(-1).message
    offer = ModelCheckOffered(answer, "big <b>model</b>", "ai.example.com", 1_234, 0.0025)
    model.show_offer(answer.message_id, offer)
    click(room, qtbot, "Check with big <b>model</b>…", 0)
    [box] = room.page.findChildren(QMessageBox)
    assert "They go to ai.example.com in one request for each answer" in box.text()
    assert "about 1,234 tokens for this one, 0.0025 at the known prices" in box.text()
    [never] = [each for each in box.buttons() if each.text() == "Never"]
    with qtbot.waitSignal(room.page.model_check_chosen) as chosen:
        never.click()
    assert chosen.args == [ModelCheck.NEVER]
    assert not named(room, "Check with big <b>model</b>…")
