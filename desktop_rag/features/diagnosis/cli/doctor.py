"""`desktop-rag doctor`: prints what the diagnosis finds, and repairs when asked to.

Without options it reads only: it creates no home, no log and no library. Exit codes: 0 all is well,
1 something needs attention, 2 wrong usage.
"""

import argparse
from dataclasses import replace
from threading import Event
from typing import Any

from desktop_rag.app import Services
from desktop_rag.cli.terminal import open_services, prints, running_services
from desktop_rag.core.errors import AppError, LibraryHeldError
from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import Home, find_home
from desktop_rag.features.diagnosis.diagnosis import findings
from desktop_rag.features.diagnosis.finding import (
    Finding,
    State,
    Subject,
    closed_home,
    from_error,
    lines_of,
    subject_of,
)
from desktop_rag.features.diagnosis.repair import repair_home, repair_open


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    text = "repair the library; what is damaged is kept"
    parser.add_argument("--repair", action="store_true", help=text)
    text = "examine the chat model again"
    parser.add_argument("--examine", action="store_true", help=text)
    prints(parser, _doctor, _lines, is_ok=lambda rows: all(row["ok"] for row in rows))


def _doctor(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    repair, examine = arguments.repair, arguments.examine
    if services := running_services():
        found = _of_running(services, repair=repair, examine=examine)
    else:
        found = _of_closed(find_home(), repair=repair, examine=examine)
    return [each.to_json() for each in found]


def _of_running(services: Services, *, repair: bool, examine: bool) -> list[Finding]:
    """The findings of the running app, whose index can be repaired, but not its file."""
    examined = _examine(services) if examine else []
    found = [*examined, *_found(subject_of(services))]
    if repair and any(each.is_repairable for each in found):
        done = repair_open(services).finding()
        found = [done, *examined, *map(_to_do_when_closed, _found(subject_of(services)))]
    return found


def _of_closed(home: Home, *, repair: bool, examine: bool) -> list[Finding]:
    examined: list[Finding] = []
    if examine:
        with open_services() as services:
            examined = _examine(services)
    repaired = [_repaired(home)] if repair else []
    with closed_home(home) as subject:
        return [*repaired, *examined, *_found(subject)]


def _repaired(home: Home) -> Finding:
    home.create()
    start_logging(home.logs)
    try:
        return repair_home(home).finding()
    except LibraryHeldError:
        raise
    except AppError as error:
        return from_error("repair", error)


def _found(subject: Subject) -> list[Finding]:
    return list(findings(subject, Event()))


def _examine(services: Services) -> list[Finding]:
    models = services.chat.models
    if not models.endpoint.is_set:
        hint = "Choose an endpoint and a model in Settings first."
        return [Finding("examination", State.WARNING, "There is no chat model to examine.", hint)]
    try:
        models.examine(models.endpoint)
    except AppError as error:
        return [from_error("examination", error)]
    return []


def _to_do_when_closed(finding: Finding) -> Finding:
    if not finding.is_repairable:
        return finding
    return replace(finding, hint="Close the window, then run: desktop-rag doctor --repair")


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    return lines_of([Finding.from_json(row) for row in rows])
