"""The verbs about scheduled questions: `schedule add`, `list`, `run`, `remove` and `history`."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, not_empty, open_services, print_document
from desktop_rag.core.errors import AppError, InterruptedAnswer
from desktop_rag.core.paths import find_home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.standing_questions import Standing
from desktop_rag.features.schedules.values.standing_question import (
    RUNS_KEPT,
    Rhythm,
    StandingQuestion,
    next_occasion,
)
from desktop_rag.features.schedules.values.standing_run import SentenceChange, StandingRun
from desktop_rag.running_app import ask_running_app

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SIGNS = {
    SentenceChange.ADDED: "+",
    SentenceChange.GONE: "-",
    SentenceChange.CHANGED: "~",
    SentenceChange.SAME: " ",
}


def add_schedules(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `schedule`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Have a question asked regularly while the app is open; what was missed is made up once."
        " Each time the endpoint of the settings is used, and only this computer without one."
    )
    added = verbs.add_parser("add", help="Schedule a question.", description=text)
    added.set_defaults(run=_add)
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
    add_json(added)
    text = "List the scheduled questions with the next time and the latest answer."
    added = verbs.add_parser("list", help=text, description=text)
    added.set_defaults(run=_list)
    add_json(added)
    for name, run, text in (
        ("run", _run, "Ask a scheduled question now, and print what changed."),
        ("remove", _remove, "Remove a scheduled question with its history."),
        (
            "history",
            _history,
            f"List its answers, the newest first; the last {RUNS_KEPT} are kept.",
        ),
    ):
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("name", help="the name of the scheduled question")
        add_json(added)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app; arguments come from another process."""
    return {
        "schedule_add": _added,
        "schedule_list": lambda services, _: _listed(services),
        "schedule_run": lambda services, asked: _ran(services, str(asked["name"])),
        "schedule_remove": lambda services, asked: _removed(services, str(asked["name"])),
        "schedule_history": lambda services, asked: _past(services, str(asked["name"])),
    }


# --- the verbs ---------------------------------------------------------------------------------


def _add(arguments: argparse.Namespace) -> int:
    rhythm = Rhythm.DAILY if arguments.weekly is None else Rhythm.WEEKLY
    request: dict[str, Any] = {
        "question": arguments.question,
        "name": arguments.name,
        "rhythm": (Rhythm.ON_CHANGE if arguments.on_change else rhythm).value,
        "minute": arguments.at,
        "weekday": arguments.weekly or 0,
        "about": [str(Path(name).expanduser().resolve()) for name in arguments.about],
        "assistant": arguments.assistant,
    }
    row = _answered("schedule_add", request, lambda services: _added(services, request))
    print_document(row, _row_lines, as_json=arguments.json)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    rows = _answered("schedule_list", {}, _listed)
    print_document(rows, _list_lines, as_json=arguments.json)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    request = {"name": arguments.name}
    done = _answered("schedule_run", request, lambda s: _ran(s, arguments.name))
    print_document(done, _run_lines, as_json=arguments.json)
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    request = {"name": arguments.name}
    done = _answered("schedule_remove", request, lambda s: _removed(s, arguments.name))
    print_document(done, lambda row: [f"Removed “{row['name']}”."], as_json=arguments.json)
    return 0


def _history(arguments: argparse.Namespace) -> int:
    request = {"name": arguments.name}
    runs = _answered("schedule_history", request, lambda s: _past(s, arguments.name))
    print_document(runs, _history_lines, as_json=arguments.json)
    return 0


def _answered(verb: str, request: dict[str, Any], do: Callable[[app.Services], Any]) -> Any:  # noqa: ANN401  a JSON value
    """The result of a verb in the running app, else in this process."""
    is_answered, result = ask_running_app(find_home(), verb, request)
    if not is_answered:
        with open_services() as services:
            result = do(services)
    return result


# --- in this process or the running app ----------------------------------------------------------


def _added(services: app.Services, asked: Mapping[str, Any]) -> dict[str, Any]:
    scope = _scope(services, asked["about"])
    name = str(asked["assistant"])
    assistant_id = services.chat.assistants.find(name).assistant_id if name else ""
    kept = services.wing(ScheduleServices).questions.add(
        StandingQuestion(
            "", str(asked["name"]), str(asked["question"]), Rhythm(asked["rhythm"]),
            int(asked["minute"]), int(asked["weekday"]), scope, assistant_id,
        )
    )  # fmt: skip
    services.wing(ScheduleServices).runner.wake()
    return _row(
        Standing(kept, services.wing(ScheduleServices).questions.state_of(kept.question_id))
    )


def _scope(services: app.Services, about: Sequence[str]) -> QuestionScope:
    """The files and folders; AppError when nothing in one of them can be read."""
    scope = QuestionScope.of(
        *(
            ScopeItem.of_folder(path) if path.is_dir() else ScopeItem.of_place("", str(path))
            for path in map(Path, about)
        )
    )
    for item, why in services.chat.scopes.missing(scope):
        raise AppError(f"{item.name}: {why}.", "Add it to the library first.")
    return scope


def _listed(services: app.Services) -> list[dict[str, Any]]:
    return [_row(standing) for standing in services.wing(ScheduleServices).questions.all()]


def _ran(services: app.Services, name: str) -> dict[str, Any]:
    question = services.wing(ScheduleServices).questions.find(name).question
    try:
        return _run_json(
            services.wing(ScheduleServices).questions.run(question, Event(), has_consent=True)
        )
    except InterruptedAnswer as exc:
        raise AppError("Other questions came first.", "Try again in a while.") from exc


def _removed(services: app.Services, name: str) -> dict[str, Any]:
    row = _row(services.wing(ScheduleServices).questions.find(name))
    services.wing(ScheduleServices).questions.delete(row["id"])
    return row


def _past(services: app.Services, name: str) -> list[dict[str, Any]]:
    found = services.wing(ScheduleServices).questions.find(name)
    return [
        _run_json(run)
        for run in services.wing(ScheduleServices).questions.runs(found.question.question_id)
    ]


def _row(standing: Standing) -> dict[str, Any]:
    question, state = standing.question, standing.state
    following = next_occasion(question, datetime.now())
    return {
        "id": question.question_id,
        "name": question.name,
        "question": question.question,
        "rhythm": question.rhythm.value,
        "next": "" if question.is_paused or not following else f"{following:%Y-%m-%d %H:%M}",
        "is_paused": question.is_paused,
        "about": question.scope.in_words(),
        "last": _run_json(standing.last) if standing.last else None,
        "error": f"{state.error_title} {state.error_hint}".strip(),
    }


def _run_json(run: StandingRun) -> dict[str, Any]:
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
