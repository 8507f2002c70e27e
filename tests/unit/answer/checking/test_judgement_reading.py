"""Judgements of claims are read in the forms that models write, and nothing is made up."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.answer.checking.model_judge import LONGEST_REASON_CHARS, Judgement, read_judgements
from desktop_rag.core.claims import Verdict

IDS = (101, 102)
YES = Judgement(Verdict.SUPPORTED, "Passage 1 says so.")
NO = Judgement(Verdict.CONTRADICTED, "Passage 2 says 20.")
ROWS = [
    {"id": 101, "verdict": "supported", "why": "Passage 1 says so."},
    {"id": 102, "verdict": "contradicted", "why": "Passage 2 says 20."},
]
PLAIN = json.dumps(ROWS)
FENCED = f"```json\n{json.dumps(ROWS, indent=2)}\n```"
WITHOUT_IDS = json.dumps([{k: v for k, v in row.items() if k != "id"} for row in ROWS])
COUNTED = json.dumps([row | {"id": n} for n, row in enumerate(ROWS, 1)])
FROM_ZERO = json.dumps([row | {"id": n} for n, row in enumerate(ROWS)])
BY_ID = json.dumps({str(row["id"]): {k: v for k, v in row.items() if k != "id"} for row in ROWS})
OTHER_NAMES = json.dumps(
    [
        {"Claim": "[101]", "Label": "SUPPORTED", "Explanation": "Passage 1 says so."},
        {"Claim": "Sentence 102", "Label": "Contradiction", "Explanation": "Passage 2 says 20."},
    ]
)
LINES = "\n".join(json.dumps(row) for row in ROWS)


@pytest.mark.parametrize(
    "written",
    [
        PLAIN,
        FENCED,
        f"Here is my judgement of [101] and [102]:\n{PLAIN}\nI hope this helps {{:-)}}",
        json.dumps({"judgements": ROWS}),
        WITHOUT_IDS,
        COUNTED,
        FROM_ZERO,
        BY_ID,
        OTHER_NAMES,
        LINES,
    ],
)
def test_forms_of_two_judgements(written: str) -> None:
    assert read_judgements(written, IDS) == {101: YES, 102: NO}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('{"verdict": "Not in the passages"}', Judgement(Verdict.NOT_IN_SOURCES)),
        ('["contradicted"]', Judgement(Verdict.CONTRADICTED)),
        ('{"id": "7", "verdict": "missing"}', None),
    ],
)
def test_forms_of_one_judgement(written: str, found: Judgement | None) -> None:
    assert read_judgements(written, (101,)).get(101) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "written",
    [
        "",
        "[]",
        "null",
        "[1, 2]",
        '{"verdict": "supported|partly|contradicted|missing", "why": "x"}',
        '{"verdict": null, "id": 101}',
        '{"supported": false}',
        "Supported.",
        "I cannot tell.",
        "[" * 5_000,
        "{" * 5_000,
        '{"a":' * 5_000,
    ],
)
def test_what_is_no_judgement(written: str) -> None:
    assert read_judgements(written, (101,)) == {}


def test_a_list_that_breaks_off_keeps_what_is_whole() -> None:
    assert read_judgements(PLAIN[: PLAIN.index("contradicted")], IDS) == {101: YES}


def test_unknown_ids_are_left_out() -> None:
    rows = [ROWS[0], ROWS[1] | {"id": 3}, ROWS[1] | {"id": 777}]
    assert read_judgements(json.dumps(rows), IDS) == {101: YES}
    assert read_judgements(json.dumps([r | {"id": 3} for r in ROWS]), IDS) == {}


def test_an_id_that_is_judged_in_two_ways_is_left_out() -> None:
    rows = [ROWS[0], ROWS[0] | {"verdict": "missing"}, ROWS[1]]
    assert read_judgements(json.dumps(rows), IDS) == {102: NO}


def test_a_reason_is_one_line_of_bounded_length() -> None:
    row = {"id": 101, "verdict": "partly", "why": "**It\nsays\t" + "much " * 500}
    reason = read_judgements(json.dumps([row]), (101,))[101].reason
    assert reason.startswith("It says much much")
    assert len(reason) <= LONGEST_REASON_CHARS + 2


@given(st.text(alphabet=st.sampled_from('[]{}":,1 0supportedmissingwhy\n*|'), max_size=200))
def test_anything_is_read_without_an_error(written: str) -> None:
    assert set(read_judgements(written, IDS)) <= set(IDS)
