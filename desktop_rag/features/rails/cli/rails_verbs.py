"""The verbs below `rails`: `check`, `test` and `run` a folder; `sets`, `use`, `try` and `show`."""

import argparse
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from desktop_rag.cli.terminal import (
    add_json,
    add_verb,
    here,
    not_empty,
    open_services,
    path_given,
    print_document,
    prints,
    say,
)
from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.actions.action_calls import Action
from desktop_rag.features.rails.actions.own_actions import (
    installed_actions,
    load_confirmed,
    look_at,
)
from desktop_rag.features.rails.actions.rails_world import RailsWorld
from desktop_rag.features.rails.assistants.rail_names import BUILT_IN, is_built_in
from desktop_rag.features.rails.cli.opened_world import bundled_embeddings, open_world
from desktop_rag.features.rails.configuration.rails_configuration import read_rails
from desktop_rag.features.rails.rail_engine import Rails, transcript
from desktop_rag.features.rails.rail_events import RailEvent, event_json
from desktop_rag.features.rails.runtime.rail_loop import Conversation
from desktop_rag.features.rails.runtime.run_files import read_rows, read_run, shown_run, write_run

_NONE = "none"
# Chats that are looked through for the last answer with rails.
_MOST_CHATS = 50


def _add_assistant_rails(verbs: Any) -> None:  # noqa: ANN401  argparse's type is private
    added = add_verb(verbs, "sets", "List the sets of rails that come with the app.")
    prints(added, _sets, lambda rows: [f"{r['name']:16} {r['explanation']}" for r in rows])
    added = add_verb(verbs, "use", "Give an assistant rails: a set, a folder, or none.")
    added.add_argument("assistant", type=not_empty, help="its name")
    added.add_argument("rails", type=not_empty, metavar="SET|DIR|none")
    prints(added, _use, lambda f: [f"{f['assistant']}: {f['rails'] or _NONE}"])
    added = add_verb(verbs, "try", "Say what rails would do with a sentence; asks no model.")
    added.set_defaults(run=_try)
    added.add_argument("rails", type=not_empty, metavar="SET|DIR")
    added.add_argument("text", type=not_empty, metavar="SENTENCE")
    add_json(added)
    added = add_verb(
        verbs, "show", "Show what happened in the last answer that went through rails."
    )
    prints(added, _show, _show_lines)


def _sets(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    return [{"name": s.name, "title": s.title, "explanation": s.explanation} for s in BUILT_IN]


def _use(arguments: argparse.Namespace) -> dict[str, Any]:
    wanted = "" if arguments.rails == _NONE else _rails(arguments.rails)
    with open_services() as services:
        assistants = services.chat.assistants
        kept = assistants.change(replace(assistants.find(arguments.assistant), rails=wanted))
    return {"assistant": kept.name, "rails": kept.rails}


def _rails(given: str) -> str:
    """A set by its name, else the whole path of a folder."""
    return given if is_built_in(given) else str(path_given(given))


def _try(arguments: argparse.Namespace) -> int:
    from desktop_rag.core.paths import find_home
    from desktop_rag.features.rails.services import AssistantRails

    rails = AssistantRails(*bundled_embeddings(), find_home().rails)
    tried = rails.answers.try_sentence(_rails(arguments.rails), arguments.text)
    lines = [*tried.in_words().splitlines(), *tried.events]
    print_document(asdict(tried), lambda _: lines, as_json=arguments.json)
    return 0


def _show(_arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services:
        history = services.chat.history
        for conversation in history.all()[:_MOST_CHATS]:
            for message in reversed(history.messages(conversation.conversation_id)):
                if message.notes and message.notes.rails:
                    return {
                        "conversation": conversation.title,
                        "answer": message.text,
                        "events": list(message.notes.rails),
                    }
    raise AppError("No answer went through rails yet.", "Ask an assistant that has some.")


def _show_lines(found: dict[str, Any]) -> list[str]:
    return [found["conversation"], *found["events"], found["answer"]]


_ENDED = ("", "/quit")


def add_rails(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `rails`."""
    verbs = parser.add_subparsers(required=True)
    text = "Read a folder of rails and say what is wrong with it, with line and column."
    added = add_verb(verbs, "check", text)
    _add_folder(added)
    prints(added, _check, _check_lines, is_ok=lambda found: not found["unknown_actions"])
    text = "Say the sentences of tests.jsonl and compare intents and answers; 1 if one differs."
    added = add_verb(verbs, "test", text)
    _add_folder(added)
    text = "lines {text, intent[, says]}; tests.jsonl of the folder without it"
    added.add_argument("--tests", type=path_given, metavar="FILE.jsonl", help=text)
    prints(added, _test, _test_lines, is_ok=lambda found: not found["wrong"])
    text = "Hold a conversation in the terminal. What has no given text needs a model."
    added = add_verb(verbs, "run", text)
    added.set_defaults(run=_run)
    _add_folder(added)
    text = "say this and end; may be repeated"
    added.add_argument("--say", action="append", default=[], metavar="TEXT", help=text)
    added.add_argument("--events", action="store_true", help="show the stream of events")
    added.add_argument(
        "--save", type=path_given, metavar="FILE", help="write the events into a file"
    )
    text = "show the events of a file instead, and whether they lead to the same conversation"
    added.add_argument("--replay", type=path_given, metavar="FILE", help=text)
    add_json(added)
    _add_assistant_rails(verbs)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=path_given, metavar="DIR", help="with *.co and config.yml")
    text = "a Python file with actions; it is run after you agreed"
    parser.add_argument("--actions", type=path_given, metavar="FILE.py", help=text)
    parser.add_argument("--yes", action="store_true", help="agree to the file of actions")
    text = "use the model of the settings and the documents of the library"
    parser.add_argument("--library", action="store_true", help=text)


@contextmanager
def _opened(arguments: argparse.Namespace) -> Generator[Rails]:
    configuration = read_rails(arguments.folder)
    with open_world(is_library_used=arguments.library) as world:
        yield Rails(configuration, world, _own_actions(arguments, configuration.program.actions))


def _own_actions(arguments: argparse.Namespace, wanted: Iterable[str]) -> list[Action]:
    found = installed_actions(set(wanted))
    if arguments.actions is None:
        return found
    if here().services:
        hint = "End the app first (desktop-rag quit), or leave out --actions."
        raise AppError("A file of actions does not run inside the running app.", hint)
    file = look_at(arguments.actions)
    if not arguments.yes:
        say(f"{file.path} is a program and may do anything. Its actions: {file.functions}.")
        if not here().can_type or here().typed("Run it? [y/N] ").strip().casefold() != "y":
            raise AppError("The file of actions was not run.", "Add --yes to agree to it.")
    return [*found, *load_confirmed(file)]


def _check(arguments: argparse.Namespace) -> dict[str, Any]:
    configuration = read_rails(arguments.folder)
    own = _own_actions(arguments, configuration.program.actions)
    with open_world(is_library_used=False) as world:
        held_out = Rails(configuration, world).held_out()
    return {
        "name": configuration.name,
        "flows": len(configuration.program.written_flows),
        "user_forms": len(configuration.program.user_forms),
        "unknown_actions": list(Rails(configuration, RailsWorld(), own).unknown_actions()),
        "left_out": list(configuration.left_out),
        "examples": [
            {"form": form, "accepted": accepted, "of": count}
            for form, (accepted, count) in held_out.items()
        ],
        "python_files_not_run": [path.name for path in configuration.python_files],
    }


def _check_lines(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['name']}: {found['flows']} flows, {found['user_forms']} forms of users."]
    lines += [f"No action is called “{name}”." for name in found["unknown_actions"]]
    lines += [f"Left out: {text}" for text in found["left_out"]]
    lines += [f"Not run: {name}" for name in found["python_files_not_run"]]
    # What was never seen, in other words, is recognised as seldom as an example by the others.
    few = [each for each in found["examples"] if 2 * each["accepted"] < each["of"]]
    lines += [
        f"“{each['form']}”: {each['accepted']} of {each['of']} examples would be recognised by the"
        " others, without a model. Add some in other words."
        for each in few
    ]
    return lines


def _test(arguments: argparse.Namespace) -> dict[str, Any]:
    path = arguments.tests or arguments.folder / "tests.jsonl"
    cases = read_rows(path, _case, "test")
    with _opened(arguments) as rails:
        results = [_tested(rails, case) for case in cases]
    wrong = [result for result in results if not result["is_right"]]
    return {"tests": len(results), "right": len(results) - len(wrong), "wrong": wrong}


def _case(row: dict[str, Any]) -> dict[str, str]:
    case = {name: str(row[name]) for name in ("text", "intent", "says") if name in row}
    if not {"text", "intent"} <= case.keys():
        raise ValueError("text and intent are needed")
    return case


def _tested(rails: Rails, case: dict[str, str]) -> dict[str, Any]:
    events = list(rails.say(rails.begin(), case["text"]))
    rows = [event_json(event) for event in events]
    intent = next((str(row["intent"]) for row in rows if row["type"] == "user_intent"), "")
    said = [text for who, text in transcript(events) if who == "bot"]
    is_right = intent == case["intent"] and case.get("says") in (None, "\n".join(said), *said)
    return {**case, "found": intent, "said": said, "is_right": is_right}


def _test_lines(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['right']} of {found['tests']} are right."]
    lines += [
        f"“{row['text']}”: {row['found']}, not {row['intent']}. Said: {row['said']}"
        for row in found["wrong"]
    ]
    return lines


def _run(arguments: argparse.Namespace) -> int:
    with _opened(arguments) as rails:
        if arguments.replay is not None:
            return _replay(rails, read_run(arguments.replay), as_json=arguments.json)
        conversation = rails.begin()
        for text in arguments.say or _typed():
            conversation = _turn(rails, conversation, text, arguments)
    if arguments.save is not None:
        write_run(arguments.save, conversation.events)
    return 0


def _typed() -> Iterable[str]:
    while True:
        try:
            text = here().typed("> ").strip()
        except EOFError:
            return
        if text in _ENDED:
            return
        yield text


def _turn(
    rails: Rails, conversation: Conversation, text: str, arguments: argparse.Namespace
) -> Conversation:
    before = len(conversation.events)
    turn = rails.say(conversation, text)
    events = list(turn)
    rows = [event_json(event) for event in events]
    said = [text for who, text in transcript(events) if who == "bot"]
    found = {"said": said, "events": rows, "model_calls": len(turn.model_calls)}
    lines = [*(shown_run(events) if arguments.events else ()), *said]
    print_document(found, lambda _: lines or ["(nothing)"], as_json=arguments.json)
    assert len(turn.conversation.events) == before + len(events)
    return turn.conversation


def _replay(rails: Rails, events: Sequence[RailEvent], *, as_json: bool) -> int:
    said = transcript(rails.replay(events).events)
    found = {"events": [event_json(event) for event in events], "said": said}
    print_document(found, lambda _: list(shown_run(events)), as_json=as_json)
    return 0
