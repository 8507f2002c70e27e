"""The verbs about endpoints: `endpoint list`, `add`, `test`, `use` and `remove`.

A key is typed, or read from standard input, never an argument, which other programs could see.
"""

import argparse
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_verb, here, not_empty, prints, running_services, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.kept_endpoints import KeptEndpoints, address_of
from desktop_rag.models.endpoint_address import host_of, is_near, key_in
from desktop_rag.models.system_keyring import KEY_VARIABLE

# --- lines for people ---------------------------------------------------------------------------

_STATES = {"no model": "no model is chosen", "no key": "it has no key"}


def listed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each endpoint, a star before the one in use, and its address below."""
    if not rows:
        return ["No endpoint: answers are excerpts. Add one: desktop-rag endpoint add NAME"]
    return [line for row in rows for line in _endpoint_row(row)]


def added(row: dict[str, Any]) -> list[str]:
    """The endpoint as it is now, and what is missing."""
    step = ""
    if row["state"] == "no model":
        step = "Choose a model of `endpoint test` with `endpoint use NAME --model MODEL`."
    return [*_endpoint_row(row), *([step] if step else [])]


def used(row: dict[str, Any]) -> list[str]:
    """The endpoint that answers now."""
    return [f"{row['name']} answers from now on, with {row['model']}."]


def removed(row: dict[str, Any]) -> list[str]:
    """What was removed, and what was not."""
    lines = [f"{row['name']} was removed."]
    if row["was_used"]:
        lines.append("Answers are excerpts until another endpoint is used.")
    if row["keeps_key"]:
        lines.append("Its key is still in the keyring; --forget-key removes it.")
    return lines


def tested(report: dict[str, Any]) -> list[str]:
    """The report as the window shows it, and the models."""
    lines = [f"{report['name']}: {report['title']}", report["hint"]]
    lines += [f"    {name}" for name in report["models"]]
    return [line for line in lines if line]


def _endpoint_row(row: dict[str, Any]) -> list[str]:
    mark = "*" if row["is_used"] else " "
    words = [row["model"] or "–", _STATES.get(row["state"], "ready")]
    words += [f"{row['context_tokens']:,} tokens"] if row["context_tokens"] else []
    words += ["in use"] if row["is_used"] else []
    return [f"{mark} {row['name']}: {', '.join(words)}", f"    {row['base_url']}"]


_ON_COMMAND_LINE = AppError(
    "A key on the command line can be seen by other programs, and stays in the shell's history.",
    "Leave it out: it is asked for, or read from standard input. Revoke this one if it is real.",
)


def add_endpoints(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `endpoint`."""
    verbs = parser.add_subparsers(required=True)
    text = "List the endpoints with their models, and which one answers."
    prints(add_verb(verbs, "list", text), _list, listed)
    text = (
        "Add an endpoint, or change the one at this address. Its key is asked for, or read from"
        " standard input, and kept in the keyring. The first endpoint answers from then on."
    )
    verb = add_verb(verbs, "add", text, "Add an endpoint.")
    verb.add_argument("endpoint", type=not_empty, help="the name of a provider, or an address")
    verb.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    verb.add_argument("--model", default="", help="the name of the model")
    verb.add_argument("--name", default="", help="what to call it")
    text = "ask for a key although it is on this computer or network"
    verb.add_argument("--key", nargs="?", const="", help=text)
    for option in ("--api-key", "--token"):
        verb.add_argument(option, dest="key", help=argparse.SUPPRESS)
    verb.add_argument("--use", action="store_true", help="use it for answers from now on")
    prints(verb, _add, added)
    text = "Test an endpoint: its list of models, and the first words of an answer."
    verb = add_verb(verbs, "test", text)
    text = "its name, address or a part of them; the one in use if left out"
    verb.add_argument("endpoint", nargs="?", default="", help=text)
    prints(verb, _test, tested, is_ok=lambda report: report["is_ok"])
    verb = add_verb(verbs, "use", "Use an endpoint for answers from now on.")
    verb.add_argument("endpoint", type=not_empty, help="its name, address or a part of them")
    verb.add_argument("--model", default="", help="the name of the model")
    prints(verb, _use, used)
    verb = add_verb(verbs, "remove", "Remove an endpoint from the settings.")
    verb.add_argument("endpoint", type=not_empty, help="its name, address or a part of them")
    verb.add_argument("--forget-key", action="store_true", help="remove its key as well")
    prints(verb, _remove, removed)


@contextmanager
def opened_models() -> Generator[KeptEndpoints]:
    """The endpoints of the running process, else those of the settings, without the library."""
    if services := running_services():
        yield KeptEndpoints(services.chat.models, services.settings_changes)
        return
    with app.opened_models(find_home()) as opened:
        yield opened


# --- the verbs ---------------------------------------------------------------------------------


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with opened_models() as opened:
        return opened.rows()


def _add(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.key or arguments.rest or key_in(arguments.endpoint):
        raise _ON_COMMAND_LINE
    base_url = address_of(arguments.endpoint)
    wants_key = arguments.key is not None or not is_near(base_url)
    key = _typed_key(base_url) if wants_key else ""
    with opened_models() as opened:
        row = opened.add(
            base_url, model=arguments.model.strip(), name=arguments.name.strip(), key=key,
            is_used=arguments.use,
        )  # fmt: skip
    if not row.pop("is_key_kept"):
        say(
            "The key is kept only while the app runs, because no keyring is available on this"
            f" computer. Set {KEY_VARIABLE} to have it each time."
        )
    return row


def _typed_key(base_url: str) -> str:
    prompt = f"Key for {host_of(base_url)} (Enter for none): "
    return here().typed(prompt, is_secret=True).strip()


def _test(arguments: argparse.Namespace) -> dict[str, Any]:
    with opened_models() as opened:
        return opened.test(arguments.endpoint)


def _use(arguments: argparse.Namespace) -> dict[str, Any]:
    with opened_models() as opened:
        return opened.use(arguments.endpoint, arguments.model.strip())


def _remove(arguments: argparse.Namespace) -> dict[str, Any]:
    with opened_models() as opened:
        return opened.remove(arguments.endpoint, forgets_key=arguments.forget_key)
