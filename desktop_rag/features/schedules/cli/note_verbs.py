"""The verbs about notes: `note write`, `refresh` and `list`."""

import argparse
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import (
    add_verb,
    begin_reading,
    here,
    not_empty,
    open_services,
    path_given,
    prints,
    say,
    scope_given,
    waiting_for,
)
from desktop_rag.features.schedules.notes.notes import Notes
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.note_page import ProposedSection
from desktop_rag.waiting import Waiting


def add_notes(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `note`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Write a page about a topic, person or project from the library, with links to its sources,"
        " as a Markdown file of yours. Its folder becomes a part of the library."
    )
    added = add_verb(verbs, "write", text, "Write a note.")
    added.add_argument("topic", type=not_empty)
    text = "the folder for the file; that of earlier notes, or Notes in your home, without it"
    added.add_argument("--folder", default="", help=text)
    text = "a file or folder of the library: nothing else is read; may be repeated"
    added.add_argument("--about", action="append", default=[], metavar="PATH", help=text)
    prints(added, _write, lambda row: [f"Written: {row['file']}"])
    text = (
        "Show what a note would say now, and write what you accept. Sections that you wrote or"
        " changed stay unless you name them."
    )
    added = add_verb(verbs, "refresh", text, "Refresh a note.")
    added.add_argument("file")
    chosen = added.add_mutually_exclusive_group()
    text = "write all changes but those of your own sections, and remove none, without asking"
    chosen.add_argument("--yes", action="store_true", help=text)
    text = "write the change of this section, without asking; may be repeated"
    chosen.add_argument("--section", action="append", default=[], metavar="HEADING", help=text)
    prints(added, _refresh, _refresh_lines)
    prints(add_verb(verbs, "list", "List the notes with their files."), _list, _list_lines)


# --- the verbs ---------------------------------------------------------------------------------


def _write(arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services, waiting_for(services.library) as waiting:
        notes = _notes(services)
        folder = path_given(arguments.folder) if arguments.folder else notes.suggested_folder()
        scope, cancel = scope_given(arguments.about), here().interrupted
        draft = notes.write(arguments.topic, folder, scope, tell=say, cancel=cancel)
        done = {"topic": draft.page.topic, "file": str(notes.save(draft, draft.unasked))}
        _read_now(services, waiting)
    return done


def _refresh(arguments: argparse.Namespace) -> dict[str, Any]:
    file = path_given(arguments.file)
    with open_services() as services, waiting_for(services.library) as waiting:
        notes = _notes(services)
        fresh = notes.refresh(file, tell=say, cancel=here().interrupted)
        draft = {"file": str(file), "changes": [_change_json(change) for change in fresh.changes]}
        accepted = _chosen(arguments, draft)
        if accepted:
            notes.save(fresh, accepted)
            _read_now(services, waiting)
    return {**draft, "accepted": accepted}


def _read_now(services: app.Services, waiting: Waiting) -> None:
    """Have the note read before this process ends; one that runs for longer does so anyway."""
    if here().services is None:
        begin_reading(services)
        waiting.until_idle()


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [{"topic": n.topic, "file": str(n.path)} for n in _notes(services).all()]


def _chosen(arguments: argparse.Namespace, draft: Mapping[str, Any]) -> list[str]:
    """The headings to write: those of the arguments, else those the person agrees to."""
    changes: Sequence[Mapping[str, Any]] = draft["changes"]
    unasked = [str(change["heading"]) for change in changes if not change["is_asked_for"]]
    if arguments.section:
        return list(arguments.section)
    if arguments.yes or not changes:
        return unasked
    if not here().can_type:
        return []
    for line in _change_lines(draft):
        say(line)
    say("Write these changes? Yours stay, and nothing is removed. [y/N]")
    return unasked if here().typed().strip().casefold() in {"y", "yes"} else []


# --- the work ----------------------------------------------------------------------------------


def _notes(services: app.Services) -> Notes:
    return services.wing(ScheduleServices).notes


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
