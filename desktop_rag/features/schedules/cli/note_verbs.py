"""The verbs about notes: `note write`, `refresh` and `list`."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, not_empty, open_services, print_document, say
from desktop_rag.core.paths import find_home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.features.schedules.notes.notes import Notes
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.note_page import ProposedSection
from desktop_rag.running_app import ask_running_app
from desktop_rag.waiting import Waiting

Tell = Callable[[str], None]


def add_notes(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `note`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Write a page about a topic, person or project from the library, with links to its sources,"
        " as a Markdown file of yours. Its folder becomes a part of the library."
    )
    added = verbs.add_parser("write", help="Write a note.", description=text)
    added.set_defaults(run=_write)
    added.add_argument("topic", type=not_empty)
    text = "the folder for the file; that of earlier notes, or Notes in your home, without it"
    added.add_argument("--folder", default="", help=text)
    text = "a file or folder of the library: nothing else is read; may be repeated"
    added.add_argument("--about", action="append", default=[], metavar="PATH", help=text)
    add_json(added)
    text = (
        "Show what a note would say now, and write what you accept. Sections that you wrote or"
        " changed stay unless you name them."
    )
    added = verbs.add_parser("refresh", help="Refresh a note.", description=text)
    added.set_defaults(run=_refresh)
    added.add_argument("file")
    chosen = added.add_mutually_exclusive_group()
    text = "write all changes but those of your own sections, and remove none, without asking"
    chosen.add_argument("--yes", action="store_true", help=text)
    text = "write the change of this section, without asking; may be repeated"
    chosen.add_argument("--section", action="append", default=[], metavar="HEADING", help=text)
    add_json(added)
    text = "List the notes with their files."
    added = verbs.add_parser("list", help=text, description=text)
    added.set_defaults(run=_list)
    add_json(added)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app; arguments come from another process."""
    return {
        "note_write": _written,
        "note_refresh": lambda services, asked: _drafted(services, str(asked["file"])),
        "note_accept": _accepted,
        "note_list": lambda services, _: _listed(services),
    }


# --- the verbs ---------------------------------------------------------------------------------


def _write(arguments: argparse.Namespace) -> int:
    request = {
        "topic": arguments.topic,
        "folder": _absolute(arguments.folder) if arguments.folder else "",
        "about": [_absolute(path) for path in arguments.about],
    }
    is_answered, done = ask_running_app(find_home(), "note_write", request)
    if not is_answered:
        with open_services() as services, Waiting(services.library, say) as waiting:
            done = _written(services, request, say)
            services.library.start(watch=False)
            waiting.until_idle()
    print_document(done, lambda row: [f"Written: {row['file']}"], as_json=arguments.json)
    return 0


def _refresh(arguments: argparse.Namespace) -> int:
    request = {"file": _absolute(arguments.file)}
    is_answered, draft = ask_running_app(find_home(), "note_refresh", request)
    if is_answered:
        accepted = _chosen(arguments, draft)
        wanted = {**request, "headings": accepted}
        if accepted:
            ask_running_app(find_home(), "note_accept", wanted)
    else:
        with open_services() as services, Waiting(services.library, say) as waiting:
            draft = _drafted(services, request["file"], say)
            accepted = _chosen(arguments, draft)
            if accepted:
                _accepted(services, {**request, "headings": accepted})
                services.library.start(watch=False)
                waiting.until_idle()
    done = {**draft, "accepted": accepted}
    print_document(done, _refresh_lines, as_json=arguments.json)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    is_answered, rows = ask_running_app(find_home(), "note_list", {})
    if not is_answered:
        with open_services() as services:
            rows = _listed(services)
    print_document(rows, _list_lines, as_json=arguments.json)
    return 0


def _chosen(arguments: argparse.Namespace, draft: Mapping[str, Any]) -> list[str]:
    """The headings to write: those of the arguments, else those the person agrees to."""
    changes: Sequence[Mapping[str, Any]] = draft["changes"]
    unasked = [str(change["heading"]) for change in changes if not change["is_asked_for"]]
    if arguments.section:
        return list(arguments.section)
    if arguments.yes or not changes:
        return unasked
    if not sys.stdin.isatty():
        return []
    for line in _change_lines(draft):
        say(line)
    say("Write these changes? Yours stay, and nothing is removed. [y/N]")
    return unasked if sys.stdin.readline().strip().casefold() in {"y", "yes"} else []


# --- in this process or the running app ----------------------------------------------------------


def _notes(services: app.Services) -> Notes:
    return services.wing(ScheduleServices).notes


def _written(
    services: app.Services, asked: Mapping[str, Any], tell: Tell = lambda _heading: None
) -> dict[str, Any]:
    notes = _notes(services)
    folder = Path(asked["folder"]) if asked["folder"] else notes.suggested_folder()
    paths = [Path(path) for path in asked["about"]]
    items = (
        ScopeItem.of_folder(p) if p.is_dir() else ScopeItem.of_place("", str(p)) for p in paths
    )
    draft = notes.write(
        str(asked["topic"]), folder, QuestionScope.of(*items), tell=tell, cancel=Event()
    )
    return {"topic": draft.page.topic, "file": str(notes.save(draft, draft.unasked))}


def _drafted(
    services: app.Services, file: str, tell: Tell = lambda _heading: None
) -> dict[str, Any]:
    notes = _notes(services)
    draft = notes.keep(notes.refresh(Path(file), tell=tell, cancel=Event()))
    return {"file": file, "changes": [_change_json(change) for change in draft.changes]}


def _accepted(services: app.Services, asked: Mapping[str, Any]) -> dict[str, Any]:
    path = _notes(services).accept(Path(asked["file"]), [str(h) for h in asked["headings"]])
    return {"file": str(path)}


def _listed(services: app.Services) -> list[dict[str, Any]]:
    return [{"topic": note.topic, "file": str(note.path)} for note in _notes(services).all()]


def _change_json(change: ProposedSection) -> dict[str, Any]:
    return {
        "change": change.change.value,
        "heading": change.heading,
        "before": change.before,
        "after": change.after,
        "is_yours": change.is_yours,
        "is_asked_for": change.is_asked_for,
    }


# --- lines for people ----------------------------------------------------------------------------


def _refresh_lines(done: Mapping[str, Any]) -> list[str]:
    if not done["changes"]:
        return ["The note says the same as before."]
    if done["accepted"]:
        return [f"Written: {', '.join(done['accepted'])}."]
    end = "Nothing was written. Write them with --yes, or one with --section HEADING."
    return [*_change_lines(done), "", end]


def _change_lines(draft: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for change in draft["changes"]:
        yours = ", yours" if change["is_yours"] else ""
        lines.append(f"## {change['heading']} ({change['change']}{yours})")
        before, after = (str(change[side]).splitlines() for side in ("before", "after"))
        lines += list(unified_diff(before, after, lineterm="", n=1))[2:]
    return lines


def _list_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return ["No notes yet. Write one: desktop-rag note write TOPIC"]
    return [f"{row['topic']}  {row['file']}" for row in rows]


def _absolute(name: str) -> str:
    # The app that answers may run in another folder.
    return str(Path(name).expanduser().absolute())
