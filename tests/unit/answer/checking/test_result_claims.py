"""Claims about the result of a query: right numbers in the right rows, and nothing else."""

import pytest

from desktop_rag.answer.checking.answer_claims import checked_by_result
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor

ROWS = """\
Result of a query over 336 rows, cells A2:E337:
Line | takings | tickets
East line | 1595.333 | 78
Night ferry | 476 | 76
West line | 416.5 | 71"""
QUERY = "SELECT x FROM t WHERE \"Day\" >= DATE '2026-06-01'"


def source(text: str) -> SourceRef:
    return SourceRef(1, "d", "/t.csv", "T", Anchor(cells="A2:E337"), text, 1.0, query=QUERY)


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The East line took 1,595.33 with 78 tickets.", "East line | 1595.333 | 78"),
        ("In 2026 the night ferry took 476 €.", "Night ferry | 476 | 76"),
        ("Die East line nahm 1.595,33 € ein.", "East line | 1595.333 | 78"),
        ("416.50 pounds were taken by the WEST LINE.", "West line | 416.5 | 71"),
        ("The least that any took is 416.5.", "West line | 416.5 | 71"),
        ("The East line sold 78 tickets and the West line 71.", "East line | 1595.333 | 78"),
        ("The East line took about 1,595.", "East line | 1595.333 | 78"),
        ("The East line took most: 1,595.33.", "East line | 1595.333 | 78"),
    ],
)
def test_a_number_in_the_row_of_what_is_named_is_supported(claim: str, line: str) -> None:
    checked = checked_by_result(claim, source(ROWS))
    assert checked is not None
    assert checked.verdict is Verdict.SUPPORTED
    assert checked.evidence is not None
    assert ROWS[checked.evidence.start : checked.evidence.end] == line


@pytest.mark.parametrize(
    "claim",
    [
        "The West line took 476.",  # another row
        "The East line took 1,596.33.",
        "The East line took 1,595.33 with 71 tickets.",
        "The East line took most.",  # no number to hold against the rows
        "It is the year 2026.",  # that was asked for, not found
        "Tickets were sold on 336 days.",  # above the rows
        "The East line took 2000.",
        "The EastXline took 416.5 and 476.2.",
        "About 8 in all.",
        "The East line did not take 1,595.33.",
        "The West line took more than 416.5.",
        "Die West line nahm weniger als 416,5 ein.",
        "The night ferry took most, 476.",  # it is in the middle
    ],
)
def test_whatever_else_is_left_to_the_checker(claim: str) -> None:
    assert checked_by_result(claim, source(ROWS)) is None


def test_a_single_number_is_the_answer() -> None:
    text = "Result of a query over 300 rows, cells A2:C301:\npounds\n1197"
    assert checked_by_result("The tickets brought 1,197 pounds in all.", source(text))
    assert not checked_by_result("The tickets brought 1,198 pounds in all.", source(text))
    assert not checked_by_result("The 300 rows are many.", source(text))
