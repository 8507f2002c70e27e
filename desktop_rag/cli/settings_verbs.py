"""The verbs about settings: `settings list` and `set`, each setting by its key."""

import argparse
from collections.abc import Sequence
from typing import Any

from desktop_rag.cli.endpoint_verbs import opened_models
from desktop_rag.cli.terminal import add_verb, not_empty, prints
from desktop_rag.settings_changes import settings_listed, with_setting


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `settings`."""
    verbs = parser.add_subparsers(required=True)
    verb = add_verb(verbs, "list", "List the settings with their keys and values.")
    verb.add_argument("words", nargs="*", help="only those that have these words")
    prints(verb, _list, listed)
    text = "Change a setting. A running app uses the new value at once, if not said otherwise."
    verb = add_verb(verbs, "set", text, "Change a setting.")
    verb.add_argument("key", type=not_empty, help="its key, as `settings list` has it")
    verb.add_argument("value", help="its value: on, off, a number, a text or one of its choices")
    prints(verb, _set, listed)


def listed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each setting, and its choices."""
    if not rows:
        return ["No setting has these words."]
    return [line for row in rows for line in _lines(row)]


def _lines(row: dict[str, Any]) -> list[str]:
    value = row["value"]
    said = ("on" if value else "off") if isinstance(value, bool) else value
    said = ", ".join(said) if isinstance(said, tuple) else said
    choices = f" ({', '.join(row['choices'])})" if row["choices"] else ""
    waits = ", from the next start on" if row["waits_for_start"] else ""
    return [f"{row['key']} = {said}", f"    {row['name']}{choices}{waits}"]


def _list(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with opened_models() as opened:
        return settings_listed(opened.models.settings, " ".join(arguments.words))


def _set(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with opened_models() as opened:
        changed = opened.changes.change(
            lambda settings: with_setting(settings, arguments.key, arguments.value)
        )
    return [row for row in settings_listed(changed) if row["key"] == arguments.key]
