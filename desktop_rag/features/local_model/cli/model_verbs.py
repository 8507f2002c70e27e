"""The verbs about models on this computer: `model list`, `add`, `get`, `use` and `remove`.

`model serve` is no verb for people: the app starts the process of a model with it, so nothing that
this process doesn't need is imported at first.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from desktop_rag.cli.terminal import add_verb, not_empty, open_services, path_given, prints, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.features.local_model import model_child
from desktop_rag.features.local_model.catalogue import find_offered, offered_models

if TYPE_CHECKING:
    from desktop_rag.app import Verb
    from desktop_rag.features.local_model.catalogue import OfferedModel
    from desktop_rag.features.local_model.downloads import Download
    from desktop_rag.features.local_model.local_models import LocalModel, LocalModels

_GB = 1e9


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `model`."""
    verbs = parser.add_subparsers(required=True, metavar="{list,add,get,use,remove}")
    text = "List the models on this computer, and those that can be fetched."
    _add(verbs, "list", text, lambda _: {}, _listed)
    text = "Take a model file (.gguf) into the list, where it is."
    added = _add(verbs, "add", text, lambda a: {"path": str(path_given(a.file))}, _row_lines)
    added.add_argument("file", type=not_empty, help="the file of the model")
    text = "Fetch a model of the list over the network, or go on; prints host, size and folder."
    added = _add(verbs, "get", text, lambda a: {"name": a.name}, _row_lines)
    added.add_argument("name", type=not_empty, help="its name or a part of it")
    text = "Have a model answer from now on."
    added = _add(verbs, "use", text, lambda a: {"name": a.name}, _row_lines)
    added.add_argument("name", type=not_empty, help="its name or a part of it")
    text = "Take a model off the list; a fetched one is deleted."
    added = _add(verbs, "remove", text, lambda a: {"name": a.name}, _removed_lines)
    added.add_argument("name", type=not_empty, help="its name or a part of it")
    verbs.add_parser("serve").set_defaults(run=lambda _: sys.exit(model_child.main()))


def answers() -> "Mapping[str, Verb]":
    """What the server asks of the models."""
    from desktop_rag.features.local_model.local_models import LocalModelServices

    def handler(verb: Callable[..., Any]) -> "Verb":
        return lambda services, asked: verb(services.wing(LocalModelServices).models, **asked)

    return {f"model_{name}": handler(verb) for name, verb in _VERBS.items()}


def _add(
    verbs: Any,  # noqa: ANN401  argparse's type is private
    name: str,
    text: str,
    asked: Callable[[argparse.Namespace], dict[str, Any]],
    lines: Callable[[Any], Sequence[str]],
) -> argparse.ArgumentParser:
    def find(arguments: argparse.Namespace) -> Any:  # noqa: ANN401  JSON
        with open_services() as services:
            if name == "get":
                say(_fetching(find_offered(arguments.name)))
            return answers()[f"model_{name}"](services, asked(arguments))

    added = add_verb(verbs, name, text)
    prints(added, find, lines)
    return added


def _fetching(offered: "OfferedModel") -> str:
    from desktop_rag.features.local_model import fetcher

    place, folder = urlsplit(fetcher.host()).netloc, find_home().local_models
    return f"Fetching {offered.name}, about {offered.size_gb:.1f} GB, from {place} to {folder}."


# --- lines for people ---------------------------------------------------------------------------


def _listed(result: dict[str, Any]) -> list[str]:
    lines = [line for row in result["models"] for line in _row_lines(row)]
    lines = lines or ["No model on this computer. Fetch one: desktop-rag model get NAME"]
    lines += ["", "To fetch, over the network:"]
    for row in result["offered"]:
        words = [f"{row['size_gb']:.1f} GB", row["licence"]]
        words += ["makes things up"] if row["makes_things_up"] else []
        words += [row["reason"]] if row["reason"] else []
        lines.append(f"{'+' if row['reason'] else ' '} {row['name']}: {', '.join(words)}")
    return lines


def _row_lines(row: dict[str, Any]) -> list[str]:
    words = [f"{row['size_gb']:.1f} GB", row["quantisation"], row["licence"], row["program"]]
    words += ["" if row["fits"] else "too large for the memory that is free"]
    if speed := row["written_per_s"]:
        words.append(f"writes {speed:.0f} tokens a second on {row['device']}")
    words += ["in use"] if row["is_used"] else []
    mark = "*" if row["is_used"] else " "
    return [f"{mark} {row['name']}: {', '.join(filter(None, words))}", f"    {row['path']}"]


def _removed_lines(result: dict[str, Any]) -> list[str]:
    freed = result["freed_bytes"]
    return [f"{result['name']} was removed" + (f": {freed / _GB:.1f} GB." if freed else ".")]


# --- in this process or the running app ----------------------------------------------------------


def _row(model: "LocalModel") -> dict[str, Any]:
    return {
        "name": model.name,
        "path": str(model.path),
        "program": model.program,
        "size_gb": round(model.header.size_bytes / _GB, 2),
        "quantisation": model.header.quantisation,
        "context_tokens": model.context_tokens,
        "licence": model.header.licence,
        "fits": model.fits,
        "is_fetched": model.is_fetched,
        "is_used": model.is_used,
        "read_per_s": model.read_per_s,
        "written_per_s": model.written_per_s,
        "device": model.device,
    }


def _list(models: "LocalModels") -> dict[str, Any]:
    best = models.suggestion()
    offered = [
        {
            "name": model.name, "size_gb": model.size_gb, "memory_gb": model.memory_gb,
            "licence": model.licence, "languages": list(model.languages),
            "more_languages": model.more_languages,
            "calls_tools": model.calls_tools, "makes_things_up": model.makes_things_up,
            "reason": best.reason if model == best.model else "",
        }
        for model in offered_models()
    ]  # fmt: skip
    downloads = [_download_row(download) for download in models.downloads.all()]
    rows = [_row(model) for model in models.all()]
    return {"models": rows, "offered": offered, "downloads": downloads}


def _download_row(download: "Download") -> dict[str, Any]:
    return {
        "name": download.model.name, "state": download.state.value,
        "done_bytes": download.done_bytes, "total_bytes": download.total_bytes,
        "title": download.title, "hint": download.hint,
    }  # fmt: skip


def _fetch(models: "LocalModels", name: str) -> dict[str, Any]:
    offered = find_offered(name)
    models.downloads.fetch(offered)
    return next(_download_row(d) for d in models.downloads.all() if d.model == offered)


def _get(models: "LocalModels", name: str) -> dict[str, Any]:
    from desktop_rag.features.local_model.downloads import DownloadState

    offered = find_offered(name)
    models.downloads.fetch(offered)
    done = models.downloads.wait(offered.name)
    if done.state is not DownloadState.DONE:
        raise AppError(done.title or f"“{offered.name}” is not fetched to its end.", done.hint)
    return _row(models.add(models.downloads.folder / offered.file))


_VERBS: Mapping[str, Callable[..., Any]] = {
    "list": _list,
    "add": lambda models, path: _row(models.add(Path(path))),
    "get": _get,
    "fetch": _fetch,
    "use": lambda models, name: _row(models.use(name)),
    "remove": lambda models, name: {"name": name, "freed_bytes": models.remove(name)},
}
