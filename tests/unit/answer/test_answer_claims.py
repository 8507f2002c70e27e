import threading
from collections.abc import Sequence

import pytest

from desktop_rag.answer.answer_claims import checked, claims_of
from desktop_rag.answer.claims.checker import ClaimChecker
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import SourceRef

LAMP = "The lamp is lit at dusk by the keeper. It burns 20 litres of oil a night."
TOWER = "The tower was painted white by a painter from Hull."
ANSWER = "The lamp is lit at dusk by the keeper [1]. It burns 40 litres of oil a night [1]."


def source(n: int, text: str) -> SourceRef:
    return SourceRef(n, f"d{n}", f"/d{n}.md", "Manual", Anchor(), text, 1.0)


SOURCES = (source(1, LAMP), source(2, TOWER))


def texts_of(answer: str) -> list[str]:
    return [claim.checked.claim for claim in claims_of(answer)]


def test_a_claim_knows_where_it_stands_with_its_citations() -> None:
    claims = claims_of(ANSWER)
    assert [ANSWER[c.start : c.end] for c in claims] == [
        "The lamp is lit at dusk by the keeper [1].",
        "It burns 40 litres of oil a night [1].",
    ]
    assert texts_of(ANSWER)[0] == "The lamp is lit at dusk by the keeper."
    assert {c.verdict for c in claims} == {Verdict.NOT_CHECKED}


def test_markers_behind_the_full_stop_belong_to_the_claim() -> None:
    answer = "The lamp is lit at dusk. [1][2] The tower was painted white."
    assert [answer[c.start : c.end] for c in claims_of(answer)] == [
        "The lamp is lit at dusk. [1][2]",
        "The tower was painted white.",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "## When the lamp is lit",
        "Who lights the lamp at dusk?",
        "| lamp | lit at dusk | keeper |\n|---|---|---|\n| one | two | three |",
        "```\nlamp.light(at='dusk', by='keeper')\n```",
        "Yes.",
        "The sources do not say who cleans the lens of the lamp.",
        "Die Quellen enthalten keine Angaben zum Anstrich des Turms.",
        "Les documents ne disent rien sur la peinture de la tour.",
        "In the documents there isn't any information on the paint of the tower.",
    ],
)
def test_what_says_nothing_of_the_matter_is_no_claim(answer: str) -> None:
    assert texts_of(answer) == []


def test_a_claim_is_read_without_the_marks_of_markdown() -> None:
    answer = "- The **lamp** is lit at `dusk` by the keeper [1].\n\n> 2. It burns oil all night."
    assert texts_of(answer) == [
        "The lamp is lit at dusk by the keeper.",
        "It burns oil all night.",
    ]


def test_claims_are_checked_against_all_sources() -> None:
    answer = f"{ANSWER} The tower was painted white by a painter from Hull [1]."
    check = ClaimChecker().check
    found = checked(claims_of(answer), answer, SOURCES, check, threading.Event())
    assert [c.verdict is Verdict.SUPPORTED for c in found] == [True, False, True]
    assert [c.n for c in found] == [1, 1, 2]
    assert found[2].checked.explanation.endswith(
        "It stands in source 2, which the answer does not cite here."
    )
    assert "does not cite" not in found[0].checked.explanation


def test_a_cancel_leaves_the_rest_unchecked() -> None:
    cancel = threading.Event()
    checker = ClaimChecker()

    def check_one(claim: str, sources: Sequence[str]) -> CheckedClaim:
        cancel.set()
        return checker.check(claim, sources)

    found = checked(claims_of(ANSWER), ANSWER, SOURCES, check_one, cancel)
    assert found[0].verdict is not Verdict.NOT_CHECKED
    assert found[1].verdict is Verdict.NOT_CHECKED


def test_what_says_nothing_that_can_be_checked_has_no_badge() -> None:
    answer = "It is what it is and that is that [1]. The lamp is lit at dusk by the keeper [1]."
    claims = claims_of(answer)
    found = checked(claims, answer, SOURCES, ClaimChecker().check, threading.Event())
    assert [c.checked.claim for c in found] == ["The lamp is lit at dusk by the keeper."]
