import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from desktop_rag.answer.checking.answer_claims import claims_of, statements, with_claims
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Basis, CheckedClaim, Claim, Verdict, place_of_sign
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.parsed import Anchor

LAMP = "The lamp is lit at dusk by the keeper. It burns 20 litres of oil a night."
TOWER = "The tower was painted white by a painter from Hull."
ANSWER = "The lamp is lit at dusk by the keeper [1]. It burns 40 litres of oil a night [1]."


def source(n: int, text: str) -> SourceRef:
    return SourceRef(n, f"d{n}", f"/d{n}.md", "Manual", Anchor(), text, 1.0)


SOURCES = (source(1, LAMP), source(2, TOWER))
CITED = replace(SOURCES[0], is_cited=True)


def texts_of(answer: str) -> list[str]:
    return [statement.text for statement in statements(answer)]


def checked(answer: str, sources: Sequence[SourceRef] = SOURCES) -> list[Claim]:
    return list(claims_of(answer, sources, ClaimChecker().check, threading.Event()))


def test_a_statement_knows_where_it_stands_and_what_it_cites() -> None:
    found = statements(ANSWER)
    assert [ANSWER[s.start : s.end] for s in found] == [
        "The lamp is lit at dusk by the keeper [1].",
        "It burns 40 litres of oil a night [1].",
    ]
    assert texts_of(ANSWER)[0] == "The lamp is lit at dusk by the keeper."
    assert [s.numbers for s in found] == [(1,), (1,)]


def test_a_source_is_about_what_its_file_is_named_for() -> None:
    text = "INCOME\n(in millions) 2025 2024\nRevenue $ 9,840 $ 9,105\nGross profit 3,480 3,120\n"
    report = SourceRef(1, "d", "/reports/NORTHWIND_2025.pdf", "10-K", Anchor(), text, 1.0)
    answer = "{} revenue was $9,840 million in 2025 [1]."
    [own] = checked(answer.format("North Wind's"), [report])
    assert own.verdict is Verdict.SUPPORTED
    assert own.checked.evidence
    assert text[own.checked.evidence.start :].startswith("Revenue $ 9,840")
    [other] = checked(answer.format("South Wind's"), [report])
    assert other.verdict is not Verdict.SUPPORTED


def test_markers_behind_the_full_stop_belong_to_the_statement() -> None:
    answer = "The lamp is lit at dusk. [1][2] The tower was painted white."
    assert [answer[s.start : s.end] for s in statements(answer)] == [
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
        "$$lamp = dusk + keeper + oil + tower$$",
        "$$\\text{The lamp is lit. The tower is white by day.}$$ [1]",
        "\\[\nE = m c^2 + h f - \\frac{a}{b} \\cdot d\n\\].",
        "$f(a, b, c, d) = \\sin a + \\cos b$ [1].",
        "Yes.",
        "The sources do not say who cleans the lens of the lamp.",
        "Die Quellen enthalten keine Angaben zum Anstrich des Turms.",
        "Les documents ne disent rien sur la peinture de la tour.",
        "In the documents there isn't any information on the paint of the tower.",
    ],
)
def test_what_says_nothing_of_the_matter_is_no_claim(answer: str) -> None:
    assert texts_of(answer) == []


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (
            "- The **lamp** is lit at `dusk` by the keeper [1].\n\n> 2. It burns oil all night.",
            ["The lamp is lit at dusk by the keeper.", "It burns oil all night."],
        ),
        (
            "The lamp is lit by the [keeper](https://example.com/people/keeper.html).",
            ["The lamp is lit by the keeper."],
        ),
        ("> The lamp is lit at dusk\n> by the keeper.", ["The lamp is lit at dusk by the keeper."]),
        ("The lamp is `a | b` lit at dusk.", ["The lamp is a | b lit at dusk."]),
        ("## Lamp\nThe lamp is lit at dusk.", ["The lamp is lit at dusk."]),
    ],
)
def test_a_statement_is_read_without_the_marks_of_markdown(answer: str, texts: list[str]) -> None:
    assert texts_of(answer) == texts


def test_a_formula_in_a_statement_is_checked_without_its_commands() -> None:
    answer = r"The light reaches $d = \sqrt{2 r h}$ far with \(\frac{1}{2}\) of the oil [1]."
    (text,) = texts_of(answer)
    assert "sqrt" not in text
    assert text.startswith("The light reaches d =")


def test_the_sign_stands_behind_a_formula_that_ends_a_statement() -> None:
    answer = r"The light of the lamp reaches \(d = \sqrt{2 r h}\)."
    (statement,) = statements(answer)
    checked = CheckedClaim("", Verdict.SUPPORTED, 1.0, None, (), "")
    claim = Claim(statement.start, statement.end, checked, 1)
    assert answer[place_of_sign(answer, claim) :] == "."


@pytest.mark.parametrize(
    "answer",
    [
        "The document is not valid without a signature of the keeper.",
        "The sources of the river do not freeze in winter.",
    ],
)
def test_what_only_sounds_like_the_sources_is_a_claim(answer: str) -> None:
    assert texts_of(answer) == [answer]


def test_a_statement_that_cannot_be_checked_is_there_without_a_verdict() -> None:
    contract = "Tarif Smart M, 20 GB, 19,99 Euro im Monat. Die Laufzeit ist 24 Monate."
    answer = (
        "Der Tarif Smart M hat 20 GB [1]. Die Mitnahme der Rufnummer ist immer kostenlos [1]. "
        "It is as it was."
    )
    found = checked(answer, [source(1, contract)])
    assert len(found) == 2
    assert found[1].verdict is Verdict.NOT_CHECKED


def test_claims_are_checked_against_all_sources() -> None:
    found = checked(f"{ANSWER} The tower was painted white by a painter from Hull [1].")
    assert found[0].verdict is Verdict.SUPPORTED
    assert found[1].verdict is not Verdict.SUPPORTED
    assert found[2].verdict is Verdict.SUPPORTED
    assert [c.n for c in found] == [1, 1, 2]


def test_the_answer_cites_the_source_that_says_a_claim_in_place_of_a_wrong_one() -> None:
    text = f"{ANSWER} The tower was painted white by a painter from Hull [1][3]. It is old."
    before = Message("a", "b", Role.ASSISTANT, text, 0.0, sources=(CITED, SOURCES[1]))
    told = with_claims(before, checked(text))
    assert told.text == text.replace("[1][3]", "[2]")
    painted, last = told.claims[2:]
    assert told.text[painted.start : painted.end].endswith("from Hull [2].")
    assert told.text[last.start : last.end] == "It is old."
    assert painted.checked.explanation.endswith("source 2 says it.")
    assert "cited another" not in told.claims[0].checked.explanation
    assert [s.n for s in told.sources if s.is_cited] == [1, 2]
    assert "painter from Hull" in told.sources[1].quote
    assert with_claims(told, told.claims) == told


def test_what_is_cited_is_the_evidence_where_it_supports_the_claim() -> None:
    """Passages that overlap say the same."""
    [found] = checked(
        "The lamp is lit at dusk by the keeper [2].", (source(1, LAMP), source(2, LAMP))
    )
    assert found.verdict is Verdict.SUPPORTED
    assert found.n == 2
    assert "does not cite" not in found.checked.explanation


def test_a_figure_of_another_part_of_the_cited_document_is_not_said_to_be_missing() -> None:
    lease = SourceRef(1, "lease", "/lease.md", "Lease", Anchor(), "It ends on 28 May 2028.", 1.0)
    rooms = replace(lease, n=2, text="The rooms are at 14 Canal Street, in Hull.")
    other = replace(lease, n=3, document_id="other", text="The rooms are at 31 Ferry Street.")
    [claim] = checked(
        "The lease of 14 Canal Street ends on 28 May 2028 [1].", (lease, rooms, other)
    )
    assert "14" not in claim.checked.explanation
    [claim] = checked(
        "The lease of 31 Ferry Street ends on 28 May 2028 [1].", (lease, rooms, other)
    )
    assert claim.checked.explanation.startswith("Not in its source: 31")


def test_a_day_of_another_part_or_of_the_title_contradicts_nothing() -> None:
    fee = "The fixed fee is EUR 186,000, the first part on 30 September 2025."
    terms = SourceRef(1, "d", "/terms.md", "Consulting", Anchor(), fee, 1.0)
    head = replace(terms, n=2, text="between Anna Brandt and Meridian Foods, dated 12 May 2025.")
    said = "The agreement of 12 May 2025 has a fixed fee of EUR 186,000 [1]."
    [claim] = checked(said, (terms, head))
    assert claim.verdict is not Verdict.CONTRADICTED
    assert not claim.checked.named
    titled = replace(terms, title="Agreement of 12 May 2025")
    [claim] = checked(said, (titled,))
    assert not claim.checked.named
    [claim] = checked(said.replace("12 May", "19 May"), (titled, head))
    assert claim.verdict is Verdict.PARTLY
    assert "19 May 2025" in claim.checked.explanation


def test_what_a_right_calculation_gave_is_no_figure_without_a_source() -> None:
    lease = source(
        1, "The rent is EUR 4,250 a month. It rises by 2 per cent on 1 March of each year."
    )
    answer = (
        "With both rises the rent is 4,250 × 1.02 × 1.02 = 4,421.70 [1].\n\n"
        "So the rent will then be EUR {} a month [1]."
    )
    first, again = checked(answer.format("4,421.70"), [lease])
    assert (first.verdict, first.checked.basis) == (Verdict.SUPPORTED, Basis.COMPUTED)
    assert again.checked.is_near
    _, other = checked(answer.format("4,437.70"), [lease])
    assert other.verdict in (Verdict.NOT_IN_SOURCES, Verdict.CONTRADICTED)


def test_a_figure_that_a_rate_of_the_source_gives_is_not_said_to_be_missing() -> None:
    lease = source(
        1,
        "The rent is EUR 4,250, the service charges EUR 780.\n\nIt rises by 2 per cent each year.",
    )
    [right] = checked("In the third year the rent is EUR 4,510.13 [1].", [lease])
    [dated] = checked("So in April 2027 the rent will be EUR 4,510.13 [1].", [lease])
    [wrong] = checked("In the third year the rent is EUR 4,501.13 [1].", [lease])
    assert right.checked.is_near
    assert dated.checked.is_near
    assert wrong.verdict in (Verdict.NOT_IN_SOURCES, Verdict.CONTRADICTED)


def test_a_cancel_leaves_nothing_half_done() -> None:
    cancel = threading.Event()
    checker = ClaimChecker()

    def check_one(claim: str, sources: Sequence[str], _: str = "") -> CheckedClaim:
        cancel.set()
        return checker.check(claim, sources)

    assert claims_of(ANSWER, SOURCES, check_one, cancel) == ()


def test_what_says_nothing_that_can_be_checked_has_no_badge() -> None:
    answer = "It is what it is and that is that [1]. The lamp is lit at dusk by the keeper [1]."
    assert [c.checked.claim for c in checked(answer)] == ["The lamp is lit at dusk by the keeper."]


def test_of_a_very_long_answer_the_beginning_is_checked() -> None:
    assert len(statements("The lamp is lit at dusk [1]. " * 1000)) == 200


def test_a_piece_of_a_table_is_read_below_the_heads_of_its_columns() -> None:
    rows = "R-30 | Tern Ltd | 2025-08-10 | no\nR-31 | Halden AG | 2025-08-13 | yes"
    answer = "R-30 is unpaid [1]. R-31 is unpaid [1]."
    heads = "Invoice | Customer | Date | Paid"
    right, wrong = claims_of(
        answer, [source(1, rows)], ClaimChecker().check, threading.Event(), columns=lambda _: heads
    )
    assert (right.verdict, wrong.verdict) == (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    evidence = wrong.checked.evidence
    assert evidence
    assert rows[evidence.start : evidence.end] == "R-31 | Halden AG | 2025-08-13 | yes"
