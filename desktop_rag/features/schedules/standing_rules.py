"""The rows of scheduled questions and their runs that a backup may hold. Pure."""

from collections.abc import Mapping

from desktop_rag.backup.value_rules import (
    ANCHOR,
    LONGEST_PATH,
    MOST_NUMBER,
    MOST_WHOLE,
    SCOPE,
    Check,
    fields,
    flag,
    identifier,
    json_of,
    list_of,
    moment,
    number,
    one_of,
    text,
    whole,
)
from desktop_rag.features.schedules.values.standing_question import (
    LONGEST_NAME,
    LONGEST_QUESTION,
    Rhythm,
)
from desktop_rag.features.schedules.values.standing_run import SentenceChange

_STANDING = fields(
    {
        "question_id": identifier(), "name": text(LONGEST_NAME, is_needed=True),
        "question": text(LONGEST_QUESTION, is_needed=True), "rhythm": one_of(Rhythm),
        "minute": whole(0, 24 * 60 - 1), "weekday": whole(0, 6), "scope": SCOPE,
        "assistant_id": identifier(may_be_empty=True), "is_paused": flag, "changed_at": moment(),
    }
)  # fmt: skip
_SCHEDULE = fields(
    {
        "settled": text(), "failures": whole(), "failed_at": moment(), "retry_at": moment(),
        "error_title": text(), "error_hint": text(),
    },
    (),
)  # fmt: skip
_SOURCE = fields(
    {
        "n": whole(), "document_id": text(LONGEST_PATH), "path": text(LONGEST_PATH),
        "title": text(), "anchor": ANCHOR, "text": text(), "score": number(), "quote": text(),
        "start": whole(-MOST_WHOLE), "end": whole(-MOST_WHOLE), "is_cited": flag, "part": text(),
        "url": text(), "also_in": list_of(text()), "query": text(),
    }
)  # fmt: skip
# Runs of earlier versions have no numbers.
_COMPARED = fields(
    {
        "change": one_of(SentenceChange), "text": text(), "before": text(),
        "numbers": list_of(whole()),
    },
    ("change", "text", "before"),
)  # fmt: skip
_RUN = fields(
    {
        "run_id": identifier(), "question_id": identifier(), "ran_at": moment(), "question": text(),
        "answer": text(), "model": text(),
        "is_excerpts": flag, "seconds": number(), "sources": list_of(_SOURCE),
        "compared": list_of(_COMPARED), "note": text(),
    }
)  # fmt: skip

STANDING_RULES: Mapping[str, Mapping[str, Check]] = {
    "standing_questions": {
        "question_id": identifier(),
        "made_of": json_of(_STANDING),
        "state": json_of(_SCHEDULE),
        "is_deleted": flag,
    },
    "standing_runs": {
        "run_id": identifier(),
        "question_id": identifier(),
        "made_of": json_of(_RUN),
        "number": whole(-MOST_NUMBER, MOST_NUMBER),
    },
}
