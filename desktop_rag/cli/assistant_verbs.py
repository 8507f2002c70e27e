"""The verbs about assistants: `assistant list`, `add`, `set`, `remove`, `export` and `import`."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_verb, not_empty, open_services, path_given, prints
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.records import checked
from desktop_rag.kept_endpoints import find_endpoint

# An exported assistant names its collections, since their ids mean nothing elsewhere.
_COLLECTIONS = "collections"
_OWN_FIELDS = ("assistant_id", "collection_ids", "own_collection_id", "changed_at")


def add_assistants(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `assistant`."""
    verbs = parser.add_subparsers(required=True)
    text = "List the assistants with their model, collections and rails."
    prints(add_verb(verbs, "list", text), _list, listed)
    verb = add_verb(verbs, "add", "Make an assistant.")
    _add_fields(verb)
    prints(verb, _add, listed)
    text = "Change an assistant; what is not given stays as it is."
    verb = add_verb(verbs, "set", text)
    _add_fields(verb)
    verb.add_argument("--rename", default="", metavar="NAME", help="call it this from now on")
    prints(verb, _set, listed)
    verb = add_verb(verbs, "remove", "Remove an assistant; its chats stay.")
    verb.add_argument("name", type=not_empty, help="the assistant")
    prints(verb, _remove, lambda row: [f"{row['name']} was removed."])
    text = "Print an assistant as JSON, to be imported elsewhere. Its own documents stay here."
    verb = add_verb(verbs, "export", text, "Print an assistant as JSON.")
    verb.add_argument("name", type=not_empty, help="the assistant")
    prints(verb, _export, lambda exported: [json.dumps(exported, ensure_ascii=False, indent=2)])
    text = (
        "Add an exported assistant, or change the one of its name. Its collections are found by"
        " their names, and have to be here."
    )
    verb = add_verb(verbs, "import", text, "Add an exported assistant.")
    verb.add_argument("file", help="the file, or - for standard input")
    prints(verb, _import, listed)


def _add_fields(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", type=not_empty, help="the assistant")
    verb.add_argument("--instructions", help="how it answers")
    text = "ask only this collection; may be given again; an empty one stands for all documents"
    verb.add_argument("--collection", action="append", metavar="NAME", help=text)
    text = "the name or address of the endpoint that answers; an empty one is that of the settings"
    verb.add_argument("--endpoint", help=text)
    verb.add_argument("--model", help="its model; that of the endpoint if left out")
    verb.add_argument("--filters", help="filters of every question, such as type:pdf after:2024")
    verb.add_argument("--rails", help="a bundled set of rails, or the folder of one")
    text = "whether it may answer from the model's knowledge where no document is relevant"
    verb.add_argument("--open", action=argparse.BooleanOptionalAction, dest="is_open", help=text)
    text = "whether liked answers serve as examples"
    verb.add_argument("--memory", action=argparse.BooleanOptionalAction, dest="memory", help=text)


def listed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each assistant, and what it asks below."""
    if not rows:
        return ["No assistant. Make one: desktop-rag assistant add NAME"]
    return [line for row in rows for line in _lines(row)]


def _lines(row: Mapping[str, Any]) -> list[str]:
    asked = ", ".join(row[_COLLECTIONS]) or "all documents"
    facts = [
        row["model"] or "the model of the settings",
        asked,
        row["filters"],
        f"rails {row['rails']}" if row["rails"] else "",
        "may answer without documents" if row["is_open"] else "",
    ]
    return [row["name"], f"    {'; '.join(filter(None, facts))}"]


# --- the verbs ---------------------------------------------------------------------------------


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [_row(services, assistant) for assistant in services.chat.assistants.all()]


def _add(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        given = _given(services, Assistant("", arguments.name), arguments)
        return [_row(services, services.chat.assistants.add(given))]


def _set(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        assistants = services.chat.assistants
        before = assistants.find(arguments.name)
        named = replace(before, name=arguments.rename.strip() or before.name)
        return [_row(services, assistants.change(_given(services, named, arguments)))]


def _remove(arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services:
        assistant = services.chat.assistants.find(arguments.name)
        services.chat.assistants.delete(assistant.assistant_id)
        return {"name": assistant.name}


def _export(arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services:
        return _row(services, services.chat.assistants.find(arguments.name))


def _import(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    written = _read(arguments.file)
    with open_services() as services:
        assistants = services.chat.assistants
        names = written.pop(_COLLECTIONS, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise _not_an_assistant(arguments.file)
        ids = [services.library.collections.find(name).collection_id for name in names]
        own = {"assistant_id": "new", "collection_ids": ids}
        known = {key: value for key, value in written.items() if key not in _OWN_FIELDS}
        try:
            read = checked(Assistant, known | own, "assistant")
        except ValueError as error:
            raise _not_an_assistant(arguments.file) from error
        same = [a for a in assistants.all() if a.name.casefold() == read.name.casefold()]
        if not same:
            return [_row(services, assistants.add(read))]
        own_id = same[0].own_collection_id
        kept = replace(
            read,
            assistant_id=same[0].assistant_id,
            own_collection_id=own_id,
            collection_ids=(*read.collection_ids, *([own_id] if own_id else [])),
        )
        return [_row(services, assistants.change(kept))]


# --- the work ----------------------------------------------------------------------------------


def _given(
    services: app.Services, assistant: Assistant, arguments: argparse.Namespace
) -> Assistant:
    """The assistant with what the command line gives."""
    given: dict[str, Any] = {
        "instructions": arguments.instructions,
        "filters": arguments.filters,
        "rails": _rails(arguments.rails),
        "is_open": arguments.is_open,
        "uses_memory": arguments.memory,
    }
    if arguments.collection is not None:
        names = [name for name in arguments.collection if name]
        collections = services.library.collections
        asked = [collections.find(name).collection_id for name in names]
        own = [assistant.own_collection_id] if assistant.own_collection_id else []
        given["collection_ids"] = (*asked, *own)
    if arguments.endpoint is not None or arguments.model is not None:
        given |= _model(services, assistant, arguments)
    return replace(assistant, **{key: value for key, value in given.items() if value is not None})


def _rails(given: str | None) -> str | None:
    """The whole path of a folder, else what is given."""
    folder = path_given(given) if given else None
    return str(folder) if folder and folder.is_dir() else given


def _model(
    services: app.Services, assistant: Assistant, arguments: argparse.Namespace
) -> dict[str, str]:
    settings = services.chat.models.settings
    named = assistant.base_url if arguments.endpoint is None else arguments.endpoint.strip()
    if not named and arguments.model:
        named = settings.endpoint.base_url
    if not named:
        return {"base_url": "", "model": ""}
    endpoint = find_endpoint(settings, named)
    return {"base_url": endpoint.base_url, "model": (arguments.model or endpoint.model).strip()}


def _read(name: str) -> dict[str, Any]:
    with os_error_as(f"{name} can't be read."):
        text = sys.stdin.read() if name == "-" else path_given(name).read_text(encoding="utf-8")
    try:
        written = json.loads(text)
    except ValueError as error:
        raise _not_an_assistant(name) from error
    if not isinstance(written, dict):
        raise _not_an_assistant(name)
    return written


def _not_an_assistant(name: str) -> AppError:
    return AppError(f"{name} is no exported assistant.", "Make one with `assistant export NAME`.")


def _row(services: app.Services, assistant: Assistant) -> dict[str, Any]:
    names = {c.collection_id: c.name for c in services.library.collections.all()}
    row = {key: value for key, value in assistant.to_json().items() if key not in _OWN_FIELDS}
    asked = [i for i in assistant.collection_ids if i != assistant.own_collection_id]
    return row | {_COLLECTIONS: [names[i] for i in asked if i in names]}
