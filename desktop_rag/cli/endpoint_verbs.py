"""The verbs about endpoints: `endpoint list`, `add`, `test`, `use` and `remove`.

A key is typed, or read from standard input, never an argument, which other programs could see.
"""

import argparse
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_verb, here, not_empty, prints, running_services, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoint_address import host_of, is_near, key_in, normalise_base_url
from desktop_rag.models.endpoints.providers import (
    Provider,
    blank_in,
    find_provider,
    model_at,
    programs,
    provider_at,
    services,
)
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
def opened_models() -> Generator[app.OpenedModels]:
    """The models of the running process, else those of the settings, without the library."""
    if services := running_services():
        yield app.OpenedModels(services.chat.models, services.settings_changes)
        return
    with app.opened_models(find_home()) as opened:
        yield opened


# --- the verbs ---------------------------------------------------------------------------------


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with opened_models() as opened:
        settings = opened.models.settings
        return [_row(opened, settings, known) for known in settings.endpoints]


def _add(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.key or arguments.rest or key_in(arguments.endpoint):
        raise _ON_COMMAND_LINE
    base_url = _address_of(arguments.endpoint)
    wants_key = arguments.key is not None or not is_near(base_url)
    with opened_models() as opened:
        row = _added(opened, arguments, base_url, _typed_key(base_url) if wants_key else "")
    if not row.pop("is_key_kept"):
        say(
            "The key is kept only while the app runs, because no keyring is available on this"
            f" computer. Set {KEY_VARIABLE} to have it each time."
        )
    return row


def _address_of(named: str) -> str:
    """The normalised address of a provider by its name, or the address itself."""
    provider = find_provider(named)
    address = provider.address if provider else named
    if not provider and not any(sign in named for sign in ".:/") and named != "localhost":
        raise AppError(f"There is no provider “{named}”.", _similar(named))
    if blank := blank_in(address):
        raise AppError(
            f"The address of {provider.name if provider else named} has a part that only you know.",
            f"Give it instead of the name, with {blank} replaced: {address}",
        )
    return normalise_base_url(address)


def _similar(named: str) -> str:
    known: Sequence[Provider] = (*services(), *programs())
    near = [p.name for p in known if named.casefold() in p.name.casefold()]
    return f"Known are {', '.join(near or [p.name for p in known])}. Or give an address."


def _typed_key(base_url: str) -> str:
    prompt = f"Key for {host_of(base_url)} (Enter for none): "
    return here().typed(prompt, is_secret=True).strip()


# --- the work ----------------------------------------------------------------------------------


def _row(
    opened: app.OpenedModels, settings: Settings, endpoint: EndpointSettings
) -> dict[str, Any]:
    base_url, has_key = endpoint.base_url, opened.models.has_key(endpoint.base_url)
    provider = provider_at(base_url)
    listed = next((m for m in opened.models.offer(base_url) if m.name == endpoint.model), None)
    is_keyless = not has_key and provider is not None and not provider.is_program
    return {
        "name": endpoint.label,
        "base_url": base_url,
        "provider": provider.name if provider else "",
        "model": endpoint.model,
        "is_used": base_url == settings.endpoint.base_url,
        "state": "no model" if not endpoint.model else "no key" if is_keyless else "ready",
        "has_key": has_key,
        "context_tokens": listed.context_tokens if listed else 0,
        "price_in": endpoint.price_in or (listed.price_in if listed else None),
        "price_out": endpoint.price_out or (listed.price_out if listed else None),
    }


def _added(
    opened: app.OpenedModels, arguments: argparse.Namespace, base_url: str, key: str
) -> dict[str, Any]:
    model, name = arguments.model.strip(), arguments.name.strip()

    def add(settings: Settings) -> Settings:
        known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
        before = known.get(base_url, EndpointSettings(base_url, name=_name_at(base_url)))
        endpoint = replace(
            before, model=model or before.model or model_at(base_url), name=name or before.name
        )
        place = base_url if base_url in known else ""
        changed = settings.with_endpoint(place, endpoint)
        return changed.using(base_url) if arguments.use else changed

    is_key_kept = opened.models.save_key(base_url, key) if key else True
    return _row_at(opened, opened.changes.change(add), base_url) | {"is_key_kept": is_key_kept}


def _name_at(base_url: str) -> str:
    provider = provider_at(base_url)
    return provider.name if provider else ""


def _test(arguments: argparse.Namespace) -> dict[str, Any]:
    with opened_models() as opened:
        settings, named = opened.models.settings, arguments.endpoint
        endpoint = find_endpoint(settings, named) if named else settings.endpoint
        report = opened.models.test_endpoint(endpoint)
    return {
        "name": endpoint.label,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "is_ok": report.is_ok,
        "is_reached": report.is_ok or report.is_reached,
        "title": report.title,
        "hint": report.hint,
        "seconds": round(report.seconds, 2),
        "models": list(report.models),
    }


def _use(arguments: argparse.Namespace) -> dict[str, Any]:
    model, chosen = arguments.model.strip(), ""

    def use(settings: Settings) -> Settings:
        nonlocal chosen
        endpoint = find_endpoint(settings, arguments.endpoint)
        if not (model or endpoint.model):
            hint = "Name one with --model. `desktop-rag endpoint test` lists what it offers."
            raise AppError(f"No model is chosen for {endpoint.label}.", hint)
        chosen = endpoint.base_url
        return settings.using(chosen, model)

    with opened_models() as opened:
        return _row_at(opened, opened.changes.change(use), chosen)


def _remove(arguments: argparse.Namespace) -> dict[str, Any]:
    with opened_models() as opened:
        settings, forgets_key = opened.models.settings, arguments.forget_key
        row = _row(opened, settings, endpoint := find_endpoint(settings, arguments.endpoint))
        opened.changes.change(lambda settings: settings.without(endpoint.base_url))
        if forgets_key:
            opened.models.save_key(endpoint.base_url, "")
    return {"name": row["name"], "base_url": row["base_url"], "was_used": row["is_used"],
            "keeps_key": row["has_key"] and not forgets_key}  # fmt: skip


def _row_at(opened: app.OpenedModels, settings: Settings, base_url: str) -> dict[str, Any]:
    known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
    return _row(opened, settings, known[base_url])


def find_endpoint(settings: Settings, named: str) -> EndpointSettings:
    """The endpoint with this name or address, or the only one that contains it; else AppError."""
    wanted, known = named.strip().casefold(), settings.endpoints
    same = [e for e in known if wanted in (e.label.casefold(), e.base_url.casefold())]
    near = [e for e in known if wanted in f"{e.label} {e.base_url}".casefold()]
    found = same or near
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"“{endpoint.label}”" for endpoint in found or known)
    if not known:
        raise AppError("There is no endpoint yet.", "Add one: desktop-rag endpoint add NAME")
    problem = "Several endpoints are called" if found else "There is no endpoint called"
    raise AppError(f"{problem} “{named}”.", f"Endpoints: {names}.")
