"""The verbs about scheduled questions: `schedule add`, `list`, `run`, `remove` and `history`."""

import argparse
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_verb, here, not_empty, open_services, prints, scope_given
from desktop_rag.core.errors import AppError, InterruptedAnswer
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.features.schedules.scheduled_questions import Schedule, ScheduledQuestions
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.scheduled_question import (
    RUNS_KEPT,
    Rhythm,
    ScheduledQuestion,
    ScheduledRun,
    SentenceChange,
    next_occasion,
)

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SIGNS = {
    SentenceChange.ADDED: "+", SentenceChange.GONE: "-",
    SentenceChange.CHANGED: "~", SentenceChange.SAME: " ",
}  # fmt: skip


def add_schedules(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `schedule`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Have a question asked regularly while the app is open; what was missed is made up once."
        " Each time the endpoint of the settings is used, and only this computer without one."
    )
    added = add_verb(verbs, "add", text, "Schedule a question.")
    added.add_argument("question", type=not_empty)
    added.add_argument("--name", default="", help="its name; the question itself without one")
    when = added.add_mutually_exclusive_group()
    when.add_argument("--daily", action="store_true", help="every day, which is the default")
    when.add_argument("--weekly", metavar="DAY", type=_weekday, help="every week on this day")
    text = "once documents it is about have changed, and have stayed the same for a while"
    when.add_argument("--on-change", action="store_true", help=text)
    text = "time of the day, 08:00 without it"
    added.add_argument("--at", metavar="HH:MM", type=_minute, default=8 * 60, help=text)
    text = "a file or folder of the library: nothing else is read; may be repeated"
    added.add_argument("--about", action="append", default=[], metavar="PATH", help=text)
    added.add_argument("--assistant", default="", help="ask the assistant of this name")
    prints(added, _add, _row_lines)
    text = "List the scheduled questions with the next time and the latest answer."
    prints(add_verb(verbs, "list", text), _list, _list_lines)
    history = f"List its answers, the newest first; the last {RUNS_KEPT} are kept."
    for name, find, lines, text in (
        ("run", _ran, _run_lines, "Ask a scheduled question now, and print what changed."),
        ("remove", _removed, _removed_lines, "Remove a scheduled question with its history."),
        ("history", _past, _history_lines, history),
    ):
        added = add_verb(verbs, name, text)
        added.add_argument("name", help="the name of the scheduled question")
        prints(added, partial(_of_one, find), lines)


# --- the verbs ---------------------------------------------------------------------------------


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [_row(each) for each in _questions(services).all()]


def _of_one(find: Callable[[app.Services, str], Any], arguments: argparse.Namespace) -> Any:  # noqa: ANN401
    with open_services() as services:
        return find(services, arguments.name)


# --- the work ------------------------------------------------------------------------------------


def _questions(services: app.Services) -> ScheduledQuestions:
    return services.wing(ScheduleServices).questions


def _add(arguments: argparse.Namespace) -> dict[str, Any]:
    rhythm = Rhythm.DAILY if arguments.weekly is None else Rhythm.WEEKLY
    rhythm = Rhythm.ON_CHANGE if arguments.on_change else rhythm
    with open_services() as services:
        scope, name = _scope(services, arguments.about), arguments.assistant
        assistant_id = services.chat.assistants.find(name).assistant_id if name else ""
        kept = _questions(services).add(
            ScheduledQuestion(
                "", arguments.name, arguments.question, rhythm, arguments.at,
                arguments.weekly or 0, scope, assistant_id,
            )
        )  # fmt: skip
        services.wing(ScheduleServices).runner.wake()
        return _row(Schedule(kept, _questions(services).state_of(kept.question_id)))


def _scope(services: app.Services, about: Sequence[str]) -> QuestionScope:
    """The files and folders; AppError when nothing in one of them can be read."""
    scope = scope_given(about)
    for item, why in services.chat.scopes.missing(scope):
        raise AppError(f"{item.name}: {why}.", "Add it to the library first.")
    return scope


def _ran(services: app.Services, name: str) -> dict[str, Any]:
    questions = _questions(services)
    question = questions.find(name).question
    try:
        return _run_json(questions.run(question, here().interrupted, has_consent=True))
    except InterruptedAnswer as exc:
        raise AppError("Other questions came first.", "Try again in a while.") from exc


def _removed(services: app.Services, name: str) -> dict[str, Any]:
    row = _row(_questions(services).find(name))
    _questions(services).delete(row["id"])
    return row


def _past(services: app.Services, name: str) -> list[dict[str, Any]]:
    found = _questions(services).find(name)
    return [_run_json(run) for run in _questions(services).runs(found.question.question_id)]


def _row(schedule: Schedule) -> dict[str, Any]:
    question, state = schedule.question, schedule.state
    following = next_occasion(question, datetime.now())
    return {
        "id": question.question_id,
        "name": question.name,
        "question": question.question,
        "rhythm": question.rhythm.value,
        "next": "" if question.is_paused or not following else f"{following:%Y-%m-%d %H:%M}",
        "is_paused": question.is_paused,
        "about": question.scope.in_words(),
        "last": _run_json(schedule.last) if schedule.last else None,
        "error": f"{state.error_title} {state.error_hint}".strip(),
    }


def _run_json(run: ScheduledRun) -> dict[str, Any]:
    return run.to_json() | {"is_changed": run.is_changed}


# --- lines for people ----------------------------------------------------------------------------


def _list_lines(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ['No scheduled questions yet. Add one: desktop-rag schedule add "QUESTION" --daily']
    return [line for row in rows for line in _row_lines(row)]


def _row_lines(row: dict[str, Any]) -> list[str]:
    when = "paused" if row["is_paused"] else (f"next {row['next']}" if row["next"] else "")
    parts = [row["rhythm"], when, row["about"]]
    lines = [f"{row['name']} ({', '.join(part for part in parts if part)})"]
    if row["last"]:
        lines.append(f"  answered {_time(row['last'])}")
    return [*lines, *([f"  failed: {row['error']}"] if row["error"] else [])]


def _run_lines(run: dict[str, Any]) -> list[str]:
    compared = [
        f"{_SIGNS[SentenceChange(each['change'])]} {each['text']}" for each in run["compared"]
    ]
    said = "The answer changed:" if run["is_changed"] else "The answer says the same as before:"
    head = [said] if compared else [run["note"]] if run["note"] else []
    sources = [f"[{s['n']}] {s['url'] or s['path']}" for s in run["sources"]]
    return [*head, *(compared or [run["answer"]]), "", *sources]


def _removed_lines(row: dict[str, Any]) -> list[str]:
    return [f"Removed “{row['name']}”."]


def _history_lines(runs: list[dict[str, Any]]) -> list[str]:
    if not runs:
        return ["It has not been answered yet."]
    lines: list[str] = []
    for run in runs:
        mark = ", changed" if run["is_changed"] else ""
        lines += [f"{_time(run)}{mark}", f"  {' '.join(run['answer'].split())}"]
    return lines


def _time(run: dict[str, Any]) -> str:
    return f"{datetime.fromtimestamp(run['ran_at']):%Y-%m-%d %H:%M}"


def _weekday(text: str) -> int:
    found = [n for n, day in enumerate(_DAYS) if text and day.startswith(text.casefold())]
    if len(found) != 1:
        raise argparse.ArgumentTypeError("must be a day such as monday")
    return found[0]


def _minute(text: str) -> int:
    match = _TIME.fullmatch(text)
    if not match:
        raise argparse.ArgumentTypeError("must be a time such as 08:30")
    return int(match[1]) * 60 + int(match[2])
